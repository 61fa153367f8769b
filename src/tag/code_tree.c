/* Walks the leaves of tree-sitter's trees and gives them tags by a language's table. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tag/code_internal.h"
#include "tag/code_memory.h"

#define LG_CODE_TAG_ROW(constant, name, family, delimiter, prose)                                            \
    {name, LG_FAMILY_##family, LG_##delimiter, prose},
const lg_code_tag lg_code_tags[] = {LG_CODE_TAGS(LG_CODE_TAG_ROW){0}};

static const lg_code_language *const languages[LG_N_CODE_LANGUAGES] = {
    [LG_CODE_PYTHON] = &lg_code_python,         [LG_CODE_HTML] = &lg_code_html,
    [LG_CODE_JAVASCRIPT] = &lg_code_javascript, [LG_CODE_CSS] = &lg_code_css,
    [LG_CODE_LATEX] = &lg_code_latex,
};

enum {
    MAX_LEVELS = 2, /* a script inside a page */
    ERROR_SYMBOL = 0xFFFF,
    CHUNK = 1024,            /* bytes that the parser gets at a time */
    PIECE = 1 << 18,         /* bytes that are parsed together at most */
    MAX_DEPTH = 5000,        /* brackets inside each other */
    WORK_PER_BYTE = 40,      /* Python takes 2, its memory 30; more than this is too much */
    LONG_WORK_PER_BYTE = 10, /* of all pieces of a long text together */
    MEMORY_PER_BYTE = 160,
    MIN_WORK = 1 << 17,
    MIN_MEMORY = 1 << 24,
};

/* A rule for one symbol, its names resolved. */
typedef struct symbol_rule {
    const lg_code_rule *rule;
    TSSymbol parent; /* 0: any */
    TSFieldId field; /* 0: any */
    bool last;       /* of its symbol */
} symbol_rule;

typedef struct grammar {
    const TSLanguage *language;
    symbol_rule *rules;
    uint32_t *first; /* [n_symbols] index into rules plus one; 0: none */
    uint32_t n_symbols;
} grammar;

/* What one level of nested languages needs for itself. */
typedef struct level {
    lg_tree_heap heap;
    TSTreeCursor cursor;
    lg_code_node *path; /* [n_path] from the root to the parent of the node at the cursor */
    size_t n_path, path_room;
    char *seen;
    size_t seen_room;
    lg_spans fixed;
    size_t next_fixed;
    size_t resume; /* where the next piece begins */
} level;

struct lg_code {
    grammar grammars[LG_N_CODE_LANGUAGES];
    level levels[MAX_LEVELS];
    size_t n_levels; /* at work */
    lg_python_state python;
    lg_code_plain plain;
};

lg_code *lg_code_create(void) {
    return calloc(1, sizeof(lg_code));
}

void lg_code_free(lg_code *code) {
    if (!code) return;
    for (size_t i = 0; i < LG_N_CODE_LANGUAGES; i++) {
        free(code->grammars[i].rules);
        free(code->grammars[i].first);
    }
    for (size_t i = 0; i < MAX_LEVELS; i++) {
        level *l = &code->levels[i];
        lg_tree_free_heap(&l->heap);
        free(l->path);
        free(l->seen);
        lg_spans_free(&l->fixed);
    }
    free(code->python.columns);
    lg_spans_free(&code->plain.leaves);
    free(code->plain.seen);
    free(code);
}

/* Whether NAME is one of NAMES, which are separated by single blanks. */
static bool is_among(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* Resolves the table's names, once. */
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
    g->language = ts;
    if (!fine) {
        free(g->rules);
        free(g->first);
        *g = (grammar){0};
    }
    return fine;
}

bool lg_code_knows(const lg_code_language *language, const char *name, bool is_named) {
    const TSLanguage *ts = language->grammar();
    for (uint32_t s = 1; s < ts_language_symbol_count(ts); s++) {
        TSSymbolType type = ts_language_symbol_type(ts, (TSSymbol)s);
        if (type == (is_named ? TSSymbolTypeRegular : TSSymbolTypeAnonymous) &&
            !strcmp(ts_language_symbol_name(ts, (TSSymbol)s), name))
            return true;
    }
    return false;
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

/* Walks TREE, whose first byte is at BASE of the text, up to the root's child that begins at STOP. */
static void walk_tree(lg_code_walk *w, const grammar *g, level *l, const TSTree *tree, size_t base,
                      size_t stop) {
    l->cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    l->n_path = 0;
    for (;;) {
        TSNode at = ts_tree_cursor_current_node(&l->cursor);
        const lg_code_node *parent = l->n_path ? &l->path[l->n_path - 1] : NULL;
        lg_code_node node = {.symbol = ts_node_symbol(at),
                             .begin = base + ts_node_start_byte(at),
                             .end = base + ts_node_end_byte(at),
                             .context = parent ? parent->context : 0,
                             .gaps = LG_CODE_LEX};
        size_t end = node.end;
        if (l->n_path == 1 && node.begin == stop) break;
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
            put_gap(w, l, l->path[l->n_path - 1].end);
            l->n_path--;
        }
    }
}

/* What the parser reads. */
typedef struct source {
    const char *text;
    size_t n_bytes;
    lg_tree_heap *heap;
} source;

static const char *read_chunk(void *payload, uint32_t at, TSPoint point, uint32_t *n_read) {
    (void)point;
    const source *s = payload;
    size_t left = at < s->n_bytes ? s->n_bytes - at : 0;
    *n_read = left < CHUNK ? (uint32_t)left : CHUNK;
    lg_tree_work(s->heap, CHUNK / 8);
    return left ? s->text + at : "";
}

/* Parses the piece [begin, end) of the text, which the parser sees as SEEN, and puts its leaves. Where the
   text goes on behind it (MORE), the last child of the root is left out, for it may be cut short, unless that
   is most of the piece. What the parser makes too much of is left out too. All is well if the leaves then end
   at END, or where that child begins. */
static void parse_piece(lg_code_walk *w, const grammar *g, level *l, size_t begin, size_t end,
                        const char *seen, bool more, uint64_t *budget) {
    size_t n = end - begin;
    uint64_t max_work = MIN_WORK + (uint64_t)n * WORK_PER_BYTE;
    if (max_work > *budget) max_work = *budget;
    lg_tree_enter(&l->heap, max_work, MIN_MEMORY + n * MEMORY_PER_BYTE);
    int stopped = setjmp(l->heap.stop);
    if (!stopped) {
        source from = {seen, n, &l->heap};
        TSParser *parser = ts_parser_new();
        ts_parser_set_language(parser, g->language);
        TSTree *tree = ts_parser_parse(parser, NULL, (TSInput){&from, read_chunk, TSInputEncodingUTF8});
        TSNode root = ts_tree_root_node(tree);
        uint32_t n_children = ts_node_child_count(root);
        size_t stop = SIZE_MAX;
        if (more && n_children > 1 && ts_node_symbol(root) != ERROR_SYMBOL) {
            size_t last = begin + ts_node_start_byte(ts_node_child(root, n_children - 1));
            if (last - begin > n / 4) stop = last;
        }
        walk_tree(w, g, l, tree, begin, stop);
        l->resume = stop < end ? stop : end;
    } else if (stopped == LG_TREE_NO_MEMORY) w->failed = true;
    else l->resume = end;
    *budget -= l->heap.work < *budget ? l->heap.work : *budget;
    lg_tree_leave(&l->heap);
}

/* Where to cut [begin, end) for the parser: all of it if it is short; else in its second half, where it looks
   most like the end of something. */
static size_t piece_end(const lg_code_walk *w, size_t begin, size_t end) {
    if (end - begin <= PIECE) return end;
    size_t cut = 0, best = 0;
    for (size_t at = begin + PIECE; at > begin + PIECE / 2 && best < 4; at--) {
        bool white = (w->classes[at - 1] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
        size_t fit = (w->text[at] & 0xC0) != 0x80; /* between characters */
        if (white) fit = 2;
        if (w->text[at - 1] == '\n') fit = w->text[at] == ' ' || w->text[at] == '\t' ? 2 : 3;
        if (fit == 3 && (w->text[at - 2] == '\n' || w->text[at - 2] == '\r')) fit = 4; /* a blank line */
        if (fit > best) best = fit, cut = at;
    }
    return best ? cut : begin + PIECE;
}

/* Whether brackets go deeper than the parser should: some of its functions call themselves. */
static bool is_too_deep(const char *text, size_t n) {
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '(' || c == '[' || c == '{') {
            if (++depth > MAX_DEPTH) return true;
        } else if (c == ')' || c == ']' || c == '}') depth -= depth > 0;
    }
    return false;
}

/* Puts the leaves of [begin, end). */
static void walk_range(lg_code_walk *w, lg_code_language_id id, size_t begin, size_t end) {
    lg_code *code = w->code;
    grammar *g = &code->grammars[id];
    const lg_code_language *outer = w->language, *language = languages[id];
    if (w->failed) return;
    if (code->n_levels == MAX_LEVELS || (!g->language && !open_grammar(g, language))) {
        w->failed = true;
        return;
    }
    level *l = &code->levels[code->n_levels++];
    w->language = language;
    uint64_t budget =
        MIN_WORK + (uint64_t)PIECE * WORK_PER_BYTE + (uint64_t)(end - begin) * LONG_WORK_PER_BYTE;
    while (begin < end && !w->failed) {
        if (language->resume) begin = language->resume(w, begin, end);
        if (begin == end) break;
        size_t stop = piece_end(w, begin, end);
        bool sound = language->cut && stop < end; /* nothing is cut short */
        if (sound) stop = language->cut(w, begin, stop, end);
        const char *seen = w->text + begin;
        l->fixed.count = l->next_fixed = 0;
        l->resume = stop;
        if (language->prepare) {
            if (!lg_reserve(&l->seen, &l->seen_room, stop - begin, 1)) {
                w->failed = true;
                break;
            }
            memcpy(l->seen, seen, stop - begin);
            language->prepare(w, begin, stop, l->seen, &l->fixed);
            seen = l->seen;
        }
        size_t parsed = language->open_at ? language->open_at(w, begin, stop) : stop;
        if (parsed - begin <= 4 * (size_t)PIECE && !is_too_deep(seen, parsed - begin)) {
            parse_piece(w, g, l, begin, parsed, seen, stop < end && !sound, &budget);
            put_until(w, l->resume, LG_CODE_LEX);
        }
        if (parsed < stop) l->resume = stop;
        put_until(w, l->resume, LG_CODE_LEX);
        begin = l->resume;
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
                      .python = &code->python,
                      .plain = &code->plain};
    lg_code_language_id id = kind == LG_PYTHON  ? LG_CODE_PYTHON
                             : kind == LG_HTML  ? LG_CODE_HTML
                             : kind == LG_LATEX ? LG_CODE_LATEX
                                                : LG_CODE_NO_LANGUAGE;
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
