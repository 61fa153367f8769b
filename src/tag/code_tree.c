/* Walks the leaves of tree-sitter's trees and gives them tags by a language's table. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tag/code_internal.h"

#define LG_CODE_TAG_ROW(constant, name, family, delimiter, prose)                                            \
    {name, LG_FAMILY_##family, LG_##delimiter, prose},
const lg_code_tag lg_code_tags[] = {LG_CODE_TAGS(LG_CODE_TAG_ROW){0}};

static const lg_code_language *const languages[LG_N_CODE_LANGUAGES] = {
    [LG_CODE_PYTHON] = &lg_code_python,
};

enum {
    MAX_LEVELS = 2, /* a script inside a page */
    ERROR_SYMBOL = 0xFFFF,
    CHUNK = 4096, /* bytes that the parser gets at a time */
};

/* A rule for one symbol, its names resolved. */
typedef struct symbol_rule {
    const lg_code_rule *rule;
    TSSymbol parent; /* 0: any */
    TSFieldId field; /* 0: any */
    bool last;       /* of its symbol */
} symbol_rule;

typedef struct grammar {
    TSParser *parser;
    symbol_rule *rules;
    uint32_t *first; /* [n_symbols] index into rules plus one; 0: none */
    uint32_t n_symbols;
} grammar;

/* What one level of nested languages needs for itself. */
typedef struct level {
    TSTreeCursor cursor;
    bool has_cursor;
    lg_code_node *path; /* [n_path] from the root to the parent of the node at the cursor */
    size_t n_path, path_room;
    char *seen;
    size_t seen_room;
    lg_spans fixed;
    size_t next_fixed;
} level;

struct lg_code {
    grammar grammars[LG_N_CODE_LANGUAGES];
    level levels[MAX_LEVELS];
    size_t n_levels; /* at work */
    lg_python_state python;
};

lg_code *lg_code_create(void) {
    return calloc(1, sizeof(lg_code));
}

void lg_code_free(lg_code *code) {
    if (!code) return;
    for (size_t i = 0; i < LG_N_CODE_LANGUAGES; i++) {
        ts_parser_delete(code->grammars[i].parser);
        free(code->grammars[i].rules);
        free(code->grammars[i].first);
    }
    for (size_t i = 0; i < MAX_LEVELS; i++) {
        level *l = &code->levels[i];
        if (l->has_cursor) ts_tree_cursor_delete(&l->cursor);
        free(l->path);
        free(l->seen);
        lg_spans_free(&l->fixed);
    }
    free(code->python.columns);
    free(code);
}

/* Whether NAME is one of NAMES, which are separated by single blanks. */
static bool is_among(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* Makes the parser and resolves the table's names, once. */
static bool open_grammar(grammar *g, const lg_code_language *language) {
    const TSLanguage *ts = language->grammar();
    g->n_symbols = ts_language_symbol_count(ts);
    g->first = calloc(g->n_symbols, sizeof *g->first);
    size_t n_rules = 0, room = 0;
    bool fine = g->first;
    for (uint32_t s = 1; s < g->n_symbols && fine; s++) {
        TSSymbolType type = ts_language_symbol_type(ts, (TSSymbol)s);
        if (type == TSSymbolTypeAuxiliary) continue;
        const char *name = ts_language_symbol_name(ts, (TSSymbol)s);
        for (const lg_code_rule *r = language->rules; (r->nodes || r->tokens) && fine; r++) {
            const char *names = type == TSSymbolTypeRegular ? r->nodes : r->tokens;
            if (!names || !is_among(names, name)) continue;
            fine = lg_reserve(&g->rules, &room, n_rules + 1, sizeof *g->rules);
            if (!fine) break;
            symbol_rule *row = &g->rules[n_rules++];
            *row = (symbol_rule){.rule = r, .last = true};
            if (r->parent)
                row->parent = ts_language_symbol_for_name(ts, r->parent, (uint32_t)strlen(r->parent), true);
            if (r->field)
                row->field = ts_language_field_id_for_name(ts, r->field, (uint32_t)strlen(r->field));
            if (g->first[s]) row[-1].last = false;
            else g->first[s] = (uint32_t)n_rules;
        }
    }
    if (fine) {
        g->parser = ts_parser_new();
        fine = ts_parser_set_language(g->parser, ts);
    }
    if (!fine) {
        free(g->rules);
        free(g->first);
        if (g->parser) ts_parser_delete(g->parser);
        *g = (grammar){0};
    }
    return fine;
}

/* Leaves. */

void lg_code_add(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    (void)begin; /* a hole would be a mistake: it goes to the leaf after it */
    if (end > w->n_bytes) end = w->n_bytes;
    if (w->failed || end <= w->at) return;
    if (lg_spans_add(w->leaves, w->at, end, tag)) w->at = end;
    else w->failed = true;
}

void lg_code_extend(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    lg_spans *s = w->leaves;
    if (!w->failed && end > w->at && end <= w->n_bytes && s->count && s->end[s->count - 1] == w->at &&
        s->tag[s->count - 1] == tag)
        s->end[s->count - 1] = w->at = end;
    else lg_code_add(w, begin, end, tag);
}

void lg_code_put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    if (begin >= end) return;
    if (w->language->put) w->language->put(w, begin, end, tag);
    else lg_code_add(w, begin, end, tag);
}

static bool is_white(const lg_code_walk *w, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if ((w->classes[i] & LG_CLASS_MASK) != LG_CLASS_WHITESPACE) return false;
    return true;
}

static void put_stretch(lg_code_walk *w, size_t end, uint16_t tag) {
    size_t begin = w->at;
    if (begin >= end) return;
    if (tag != LG_CODE_LEX) lg_code_put(w, begin, end, tag);
    else if (is_white(w, begin, end)) lg_code_put(w, begin, end, LG_CODE_WHITESPACE);
    else w->language->lex(w, begin, end);
    if (w->at < end) lg_code_add(w, w->at, end, LG_CODE_WHITESPACE); /* a hook that forgot some */
}

/* Puts all from the last leaf's end to END, as TAG (LG_CODE_LEX: what it is), around the fixed leaves. */
static void put_until(lg_code_walk *w, size_t end, uint16_t tag) {
    level *l = &w->code->levels[w->code->n_levels - 1];
    for (; l->next_fixed < l->fixed.count && l->fixed.begin[l->next_fixed] < end; l->next_fixed++) {
        put_stretch(w, (size_t)l->fixed.begin[l->next_fixed], tag);
        put_stretch(w, (size_t)l->fixed.end[l->next_fixed], l->fixed.tag[l->next_fixed]);
    }
    put_stretch(w, end, tag);
}

/* Puts the gap before a node that begins at BEGIN: it lies directly in the deepest node that holds its first
 * byte. */
static void put_gap(lg_code_walk *w, const level *l, size_t begin) {
    if (w->at >= begin) return;
    size_t owner = l->n_path;
    while (owner > 1 && l->path[owner - 1].begin > w->at) owner--;
    put_until(w, begin, owner ? l->path[owner - 1].gaps : LG_CODE_LEX);
}

/* What the table says about a node. */
typedef struct verdict {
    const lg_code_rule *rule; /* NULL: none */
    uint16_t tag;
    uint16_t enter, gaps;
} verdict;

static verdict judge(const lg_code_walk *w, const grammar *g, const level *l, const lg_code_node *node,
                     size_t end) {
    const lg_code_node *parent = l->n_path ? &l->path[l->n_path - 1] : NULL;
    verdict v = {.tag = LG_CODE_NEXT, .enter = node->context, .gaps = LG_CODE_LEX};
    if (node->symbol >= g->n_symbols || !g->first[node->symbol]) return v;
    for (const symbol_rule *r = &g->rules[g->first[node->symbol] - 1];; r++) {
        const lg_code_rule *rule = r->rule;
        if ((!r->parent || (parent && parent->symbol == r->parent)) &&
            (!rule->within || rule->within == node->context) &&
            (!r->field || ts_tree_cursor_current_field_id(&l->cursor) == r->field)) {
            if (rule->inner) {
                if (rule->enter) v.enter = rule->enter;
                if (rule->gaps) v.gaps = rule->gaps;
                return v;
            }
            v.tag = rule->choose ? rule->choose(w, node, end, l->path, l->n_path) : rule->tag;
            if (v.tag != LG_CODE_NEXT) {
                v.rule = rule;
                return v;
            }
        }
        if (r->last) return v;
    }
}

static void walk_range(lg_code_walk *w, lg_code_language_id id, size_t begin, size_t end);

/* Walks TREE, whose first byte is at BASE of the text. */
static void walk_tree(lg_code_walk *w, const grammar *g, level *l, const TSTree *tree, size_t base) {
    TSNode root = ts_tree_root_node(tree);
    if (l->has_cursor) ts_tree_cursor_reset(&l->cursor, root);
    else l->cursor = ts_tree_cursor_new(root);
    l->has_cursor = true;
    l->n_path = 0;
    for (;;) {
        TSNode at = ts_tree_cursor_current_node(&l->cursor);
        const lg_code_node *parent = l->n_path ? &l->path[l->n_path - 1] : NULL;
        lg_code_node node = {.symbol = ts_node_symbol(at),
                             .begin = base + ts_node_start_byte(at),
                             .context = parent ? parent->context : 0,
                             .gaps = LG_CODE_LEX};
        size_t end = base + ts_node_end_byte(at);
        bool in_error = parent && parent->symbol == ERROR_SYMBOL && !ts_node_child_count(at);
        if (end > w->at &&
            !in_error) { /* right below an error, a leaf is left to the lexer, with what is around it */
            verdict v = judge(w, g, l, &node, end);
            if (v.rule && v.rule->inject) {
                put_gap(w, l, node.begin);
                walk_range(w, v.rule->language, node.begin, end);
            } else if (v.rule) {
                put_gap(w, l, node.begin);
                put_until(w, end, v.tag);
            } else if (ts_tree_cursor_goto_first_child(&l->cursor)) {
                node.context = v.enter;
                node.gaps = v.gaps;
                if (!lg_reserve(&l->path, &l->path_room, l->n_path + 1, sizeof *l->path)) w->failed = true;
                else l->path[l->n_path++] = node;
                if (w->failed) return;
                continue;
            } else { /* unknown to the table */
                put_gap(w, l, node.begin);
                put_until(w, end, LG_CODE_LEX);
            }
        }
        while (!ts_tree_cursor_goto_next_sibling(&l->cursor)) {
            if (!l->n_path || w->failed) return;
            ts_tree_cursor_goto_parent(&l->cursor);
            put_gap(w, l, base + ts_node_end_byte(ts_tree_cursor_current_node(&l->cursor)));
            l->n_path--;
        }
    }
}

/* What the parser reads. */
typedef struct source {
    const char *text;
    size_t n_bytes;
} source;

static const char *read_chunk(void *payload, uint32_t at, TSPoint point, uint32_t *n_read) {
    (void)point;
    const source *s = payload;
    size_t left = at < s->n_bytes ? s->n_bytes - at : 0;
    *n_read = left < CHUNK ? (uint32_t)left : CHUNK;
    return left ? s->text + at : "";
}

/* Puts the leaves of [begin, end). */
static void walk_range(lg_code_walk *w, lg_code_language_id id, size_t begin, size_t end) {
    lg_code *code = w->code;
    grammar *g = &code->grammars[id];
    const lg_code_language *outer = w->language, *language = languages[id];
    if (w->failed || code->n_levels == MAX_LEVELS || (!g->parser && !open_grammar(g, language))) {
        w->failed = w->failed || code->n_levels != MAX_LEVELS;
        return;
    }
    level *l = &code->levels[code->n_levels++];
    l->fixed.count = l->next_fixed = 0;
    w->language = language;
    source from = {w->text + begin, end - begin};
    if (language->prepare) {
        if (lg_reserve(&l->seen, &l->seen_room, end - begin, 1)) {
            memcpy(l->seen, w->text + begin, end - begin);
            language->prepare(w, begin, end, l->seen, &l->fixed);
            from.text = l->seen;
        } else w->failed = true;
    }
    if (!w->failed) {
        TSTree *tree = ts_parser_parse(g->parser, NULL, (TSInput){&from, read_chunk, TSInputEncodingUTF8});
        if (tree) {
            walk_tree(w, g, l, tree, begin);
            ts_tree_delete(tree);
        } else ts_parser_reset(g->parser);
        put_until(w, end, LG_CODE_LEX);
    }
    w->language = outer;
    code->n_levels--;
}

bool lg_code_leaves(lg_code *code, lg_kind kind, const char *text, const uint8_t *classes, size_t n_bytes,
                    lg_spans *leaves) {
    lg_code_walk w = {.text = text,
                      .classes = classes,
                      .n_bytes = n_bytes,
                      .leaves = leaves,
                      .code = code,
                      .python = &code->python};
    lg_code_language_id id = kind == LG_PYTHON ? LG_CODE_PYTHON : LG_CODE_NO_LANGUAGE;
    if (id == LG_CODE_NO_LANGUAGE) {
        lg_code_add(&w, 0, n_bytes, LG_CODE_WHITESPACE);
        return !w.failed;
    }
    code->n_levels = 0;
    if (languages[id]->begin) {
        w.language = languages[id];
        languages[id]->begin(&w);
    }
    walk_range(&w, id, 0, n_bytes);
    return !w.failed;
}
