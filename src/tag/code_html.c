/* HTML: which node of tree-sitter's tree gets which tag.

   The plain lexer (code_html_lex.c) cuts the whole document before the parse; what the parser cannot be
   shown, or does not understand, keeps those leaves. Scripts and styles go on to JavaScript and CSS. */
#include "tag/code_html.h"

const TSLanguage *lg_grammar_html(void);

static void lex(lg_code_walk *w, size_t begin, size_t end) {
    const lg_code_language *html = w->language;
    while (begin < end && !w->failed) { /* a leaf at a time: a script's goes to its own language */
        uint16_t tag = lg_code_plain_tag(w, begin);
        size_t i = w->plain->hint, to = end;
        if (i < w->plain->leaves.count && w->plain->leaves.end[i] < end) to = (size_t)w->plain->leaves.end[i];
        if (tag == LG_HTML_RAW_JAVASCRIPT || tag == LG_HTML_RAW_CSS) {
            w->language = tag == LG_HTML_RAW_CSS ? &lg_code_css : &lg_code_javascript;
            w->language->lex(w, begin, to);
            w->language = html;
        } else lg_code_put(w, begin, to, tag == LG_CODE_NEXT ? LG_CODE_WHITESPACE : tag);
        begin = to;
    }
}

static void begin(lg_code_walk *w) {
    if (!lg_code_plain_room(w) || !lg_html_lex(w->text, w->n_bytes, w->plain->seen, &w->plain->leaves))
        w->failed = true;
}

static uint16_t choose_name(const lg_code_walk *w, const lg_code_node *node, size_t end,
                            const lg_code_node *parents, size_t n_parents) {
    (void)parents, (void)n_parents;
    return lg_html_is_void(w->text + node->begin, end - node->begin) ? LG_HTML_TAG_VOID : LG_HTML_TAG_OPENING;
}

/* A quote opens where its value begins. */
static uint16_t choose_quote(const lg_code_walk *w, const lg_code_node *node, size_t end,
                             const lg_code_node *parents, size_t n_parents) {
    (void)w, (void)end;
    return n_parents && node->begin == parents[n_parents - 1].begin ? LG_HTML_OPEN_QUOTE
                                                                    : LG_HTML_CLOSE_QUOTE;
}

/* The language of a script depends on its type, which the plain lexer has read. */
static uint16_t choose_script(const lg_code_walk *w, const lg_code_node *node, size_t end,
                              const lg_code_node *parents, size_t n_parents) {
    (void)end, (void)parents, (void)n_parents;
    return lg_code_plain_tag(w, node->begin) == LG_HTML_RAW_JAVASCRIPT ? LG_CODE_LEX : LG_CODE_NEXT;
}

static const lg_code_rule rules[] = {
    {.nodes = "text", .tag = LG_HTML_TEXT},
    {.nodes = "entity", .tag = LG_HTML_ENTITY},

    /* Tags. Those of elements without content, by their nature or by a slash, are `void`. */
    {.nodes = "tag_name", .parent = "start_tag", .choose = choose_name},
    {.nodes = "tag_name", .parent = "self_closing_tag", .tag = LG_HTML_TAG_VOID},
    {.nodes = "tag_name", .parent = "end_tag", .tag = LG_HTML_TAG_CLOSING},
    {.nodes = "erroneous_end_tag_name", .tag = LG_HTML_TAG_CLOSING},
    {.tokens = "< </ <!", .tag = LG_HTML_OPEN_ANGLE},
    {.tokens = "> />", .tag = LG_HTML_CLOSE_ANGLE},

    {.nodes = "attribute_name", .tag = LG_HTML_ATTRIBUTE_NAME},
    {.tokens = "=", .tag = LG_HTML_EQUALS},
    {.nodes = "attribute_value", .tag = LG_HTML_ATTRIBUTE_VALUE},
    {.tokens = "\" '", .choose = choose_quote},

    {.nodes = "comment", .tag = LG_HTML_COMMENT}, /* the plain lexer takes them first */
    {.nodes = "doctype", .inner = true, .gaps = LG_HTML_DOCTYPE},
    {.tokens = "doctype", .tag = LG_HTML_DOCTYPE},

    {.nodes = "raw_text",
     .parent = "script_element",
     .choose = choose_script,
     .inject = true,
     .language = LG_CODE_JAVASCRIPT},
    {.nodes = "raw_text", .parent = "style_element", .inject = true, .language = LG_CODE_CSS},
    {.nodes = "raw_text", .tag = LG_HTML_TEXT},
    {0},
};

/* The parser can begin anew with a tag or an entity, though not with the closing tag of a script or style. */
static bool begins_anew(const lg_code_walk *w, size_t leaf) {
    const lg_spans *leaves = &w->plain->leaves;
    uint16_t tag = leaves->tag[leaf], before = leaf ? leaves->tag[leaf - 1] & (uint16_t)~LG_CODE_FIXED : 0;
    return tag == LG_HTML_ENTITY ||
           (tag == LG_HTML_OPEN_ANGLE && before != LG_HTML_RAW_JAVASCRIPT && before != LG_HTML_RAW_CSS);
}

static size_t cut(const lg_code_walk *w, size_t begin, size_t wanted, size_t end) {
    return lg_code_plain_cut(w, begin, wanted, end, begins_anew);
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Pieces of one stretch are one leaf; white space at the ends of text is none of it. */
static void put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    if (tag == LG_HTML_TEXT) {
        size_t first = begin, last = end;
        while (first < end && is_space(w->text[first])) first++;
        while (last > first && is_space(w->text[last - 1])) last--;
        lg_code_extend(w, begin, first, LG_CODE_WHITESPACE);
        lg_code_extend(w, first, last, LG_HTML_TEXT);
        lg_code_extend(w, last, end, LG_CODE_WHITESPACE);
    } else if (tag == LG_HTML_DOCTYPE || tag == LG_CODE_WHITESPACE) lg_code_extend(w, begin, end, tag);
    else lg_code_add(w, begin, end, tag);
}

const lg_code_language lg_code_html = {
    .name = "html",
    .grammar = lg_grammar_html,
    .rules = rules,
    .lex = lex,
    .prepare = lg_code_plain_prepare,
    .put = put,
    .begin = begin,
    .cut = cut,
};
