/* The plain lexer of LaTeX: cuts a document into leaves by the rules of TeX's reader and a table of common
   commands, whatever is wrong with it, in one pass.

   It runs before tree-sitter and helps it: in a copy of the text, SEEN, everything is blanked that the
   grammar does not know (verbatim text, names with _ or :, keys with odd characters) or that would break it
   (braces, environments and math without a partner); the leaves of those bytes are marked LG_CODE_FIXED and
   win over the tree's. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tag/code_latex.h"

typedef enum frame_kind { BRACES, OPTION, DOLLAR, DOLLARS, ROUND_MATH, SQUARE_MATH, ENVIRONMENT } frame_kind;

/* Something open. */
typedef struct frame {
    uint8_t kind;
    uint8_t context;       /* outside of it */
    bool is_argument;      /* of a command: another may follow */
    const char *arguments; /* of the command, that follow after this one */
    size_t leaf;           /* of what opened it */
    size_t name, name_end; /* of an environment */
} frame;

enum {
    SEARCH_DEPTH = 64, /* frames that a closing command looks through for its partner */
    NAME_MAX = 100,    /* bytes of an environment's name */
    VERB_MAX = 2000,   /* bytes of a \verb and of options before one */
    MAX_FRAMES = 1 << 17,
    N_RECENTS = 256,
};

typedef struct recent {
    size_t name, length; /* in the text; no length: nothing */
    lg_latex_command command;
} recent;

typedef struct lexer {
    const char *text;       /* [n] */
    const uint8_t *classes; /* [n] */
    size_t n;
    char *seen; /* [n] */
    lg_spans *leaves;
    frame *frames;
    size_t n_frames, frames_room, n_braces;
    size_t n_too_deep; /* braces that are open beyond MAX_FRAMES */
    lg_latex_context context;
    size_t run;            /* where the text begins that has no leaf yet */
    const char *arguments; /* what the next arguments are; "" */
    bool after_command;    /* an argument may follow */
    bool after_begin;      /* of an environment: options may */
    bool expl;             /* names may hold _ and : */
    bool no_block;         /* no \fi for an \iffalse */
    bool failed;           /* no memory */
    recent recents[N_RECENTS];
} lexer;

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool starts(const lexer *l, size_t at, const char *word) {
    size_t length = strlen(word);
    return length <= l->n - at && memcmp(l->text + at, word, length) == 0;
}

/* ---- Leaves ---- */

static void put(lexer *l, size_t begin, size_t end, unsigned tag) {
    if (begin < end && !l->failed && !lg_spans_add(l->leaves, begin, end, (uint16_t)tag)) l->failed = true;
}

/* A leaf that the parser is not shown. */
static void put_hidden(lexer *l, size_t begin, size_t end, unsigned tag, char fill) {
    memset(l->seen + begin, fill, end - begin);
    put(l, begin, end, tag | LG_CODE_FIXED);
}

static void hide_leaf(lexer *l, size_t leaf) {
    if (leaf >= l->leaves->count) return;
    l->leaves->tag[leaf] |= LG_CODE_FIXED;
    size_t begin = (size_t)l->leaves->begin[leaf], end = (size_t)l->leaves->end[leaf];
    memset(l->seen + begin, ' ', end - begin);
}

/* [begin, end) by the class of its characters, as mathematics. */
static void put_math(lexer *l, size_t begin, size_t end) {
    for (size_t at = begin, next; at < end; at = next) {
        uint8_t class = l->classes[at] & LG_CLASS_MASK;
        char c = l->text[at];
        next = at + 1;
        unsigned tag = LG_LATEX_MATH_OPERATOR;
        if (class == LG_CLASS_WHITESPACE) tag = LG_CODE_WHITESPACE;
        else if (is_digit(c) || (c == '.' && next < end && is_digit(l->text[next])))
            tag = LG_LATEX_MATH_NUMBER;
        else if (class == LG_CLASS_WORD) tag = LG_LATEX_MATH_SYMBOL;
        if (tag == LG_LATEX_MATH_NUMBER)
            while (next < end && (is_digit(l->text[next]) ||
                                  (l->text[next] == '.' && next + 1 < end && is_digit(l->text[next + 1]))))
                next++;
        else if (tag == LG_LATEX_MATH_OPERATOR && (unsigned char)c < 128) next = at + 1;
        else
            while (next < end && (l->classes[next] & LG_CLASS_MASK) == class &&
                   (tag != LG_LATEX_MATH_OPERATOR || ((unsigned char)l->text[next] & 0xC0) == 0x80))
                next++;
        put(l, at, next, tag);
    }
}

/* Values: numbers, words, = and commas. */
static void put_option(lexer *l, size_t begin, size_t end) {
    for (size_t at = begin, next; at < end; at = next) {
        char c = l->text[at];
        next = at + 1;
        if (is_space(c)) {
            while (next < end && is_space(l->text[next])) next++;
            put(l, at, next, LG_CODE_WHITESPACE);
        } else if (c == '=' || c == ',') {
            put(l, at, next, LG_LATEX_OPERATOR | LG_CODE_FIXED);
        } else {
            while (next < end && !is_space(l->text[next]) && l->text[next] != '=' && l->text[next] != ',')
                next++;
            bool number = lg_latex_is_number(l->text + at, next - at);
            put_hidden(l, at, next, number ? LG_LATEX_NUMBER : LG_LATEX_OPTION,
                       number && is_digit(l->text[next - 1]) ? '1' : 'x');
        }
    }
}

/* Keys or paths, between commas. */
static void put_keys(lexer *l, size_t begin, size_t end, unsigned tag, bool commas) {
    for (size_t at = begin, next; at < end; at = next) {
        char c = l->text[at];
        next = at + 1;
        if (is_space(c)) {
            while (next < end && is_space(l->text[next])) next++;
            put(l, at, next, LG_CODE_WHITESPACE | LG_CODE_FIXED);
        } else if (commas && c == ',') {
            put(l, at, next, LG_LATEX_OPERATOR | LG_CODE_FIXED);
        } else {
            while (next < end && !is_space(l->text[next]) && !(commas && l->text[next] == ',')) next++;
            put_hidden(l, at, next, tag, 'x');
        }
    }
}

static void put_text(lexer *l, size_t begin, size_t end, unsigned tag) {
    size_t first = begin, last = end;
    while (first < end && is_space(l->text[first])) first++;
    while (last > first && is_space(l->text[last - 1])) last--;
    put(l, begin, first, LG_CODE_WHITESPACE);
    put(l, first, last, tag);
    put(l, last, end, LG_CODE_WHITESPACE);
}

/* Gives what lies between the last leaf and AT its leaves. */
static void end_run(lexer *l, size_t at) {
    size_t begin = l->run;
    l->run = at;
    if (begin >= at) return;
    switch (l->context) {
    case LG_LATEX_IN_MATH:
        put_math(l, begin, at);
        break;
    case LG_LATEX_IN_OPTION:
        put_option(l, begin, at);
        break;
    case LG_LATEX_IN_KEY:
        put_keys(l, begin, at, LG_LATEX_KEY, true);
        break;
    case LG_LATEX_IN_PATH:
        put_keys(l, begin, at, LG_LATEX_PATH, true);
        break;
    case LG_LATEX_IN_URI:
        put_keys(l, begin, at, LG_LATEX_PATH, false);
        break;
    default:
        put_text(l, begin, at, l->context == LG_LATEX_IN_GROUP ? LG_LATEX_GROUP_TEXT : LG_LATEX_TEXT);
    }
}

static size_t put_leaf(lexer *l, size_t at, size_t end, unsigned tag) {
    end_run(l, at);
    put(l, at, end, tag);
    return l->run = end;
}

static size_t put_hidden_leaf(lexer *l, size_t at, size_t end, unsigned tag, char fill) {
    end_run(l, at);
    put_hidden(l, at, end, tag, fill);
    return l->run = end;
}

/* ---- Frames ---- */

static frame *push(lexer *l, frame_kind kind, lg_latex_context inside) {
    if (l->n_frames == MAX_FRAMES) {
        hide_leaf(l, l->leaves->count - 1);
        l->n_too_deep += kind == BRACES;
        return NULL;
    }
    if (!lg_reserve(&l->frames, &l->frames_room, l->n_frames + 1, sizeof *l->frames)) {
        l->failed = true;
        return NULL;
    }
    frame *f = &l->frames[l->n_frames++];
    *f = (frame){
        .kind = (uint8_t)kind, .context = (uint8_t)l->context, .leaf = l->leaves->count - 1, .arguments = ""};
    l->n_braces += kind == BRACES;
    l->context = inside;
    return f;
}

static void pop(lexer *l) {
    frame *f = &l->frames[--l->n_frames];
    l->n_braces -= f->kind == BRACES;
    l->context = (lg_latex_context)f->context;
}

/* Drops frames until N are left: what opened them has no partner. */
static void abandon(lexer *l, size_t n) {
    while (l->n_frames > n) {
        hide_leaf(l, l->frames[l->n_frames - 1].leaf);
        pop(l);
    }
}

static const frame *top(const lexer *l) {
    return l->n_frames ? &l->frames[l->n_frames - 1] : NULL;
}

/* How many frames lie below the nearest one of KIND (and, for an environment, of this name), no braces
   between; SIZE_MAX: none. */
static size_t find_frame(const lexer *l, frame_kind kind, size_t name, size_t name_end) {
    size_t stop = l->n_frames > SEARCH_DEPTH ? l->n_frames - SEARCH_DEPTH : 0;
    for (size_t i = l->n_frames; i-- > stop;) {
        const frame *f = &l->frames[i];
        if (f->kind == kind &&
            (kind != ENVIRONMENT || (f->name_end - f->name == name_end - name &&
                                     !memcmp(l->text + f->name, l->text + name, name_end - name))))
            return i;
        if (f->kind == BRACES) break;
    }
    return SIZE_MAX;
}

static void no_arguments(lexer *l) {
    l->arguments = "";
    l->after_command = l->after_begin = false;
}

/* ---- Braces, brackets, dollars ---- */

static lg_latex_context context_of_argument(const lexer *l, char kind) {
    switch (kind) {
    case 'k':
        return LG_LATEX_IN_KEY;
    case 'p':
        return LG_LATEX_IN_PATH;
    case 'u':
        return LG_LATEX_IN_URI;
    case 'v':
        return LG_LATEX_IN_OPTION;
    case 'm':
        return LG_LATEX_IN_MATH;
    case 't':
        return LG_LATEX_IN_GROUP;
    default:
        return l->context == LG_LATEX_IN_TEXT ? LG_LATEX_IN_GROUP : l->context;
    }
}

static size_t open_brace(lexer *l, size_t at) {
    put_leaf(l, at, at + 1, LG_LATEX_OPEN_CURLY);
    frame *f =
        push(l, BRACES, context_of_argument(l, l->after_command && *l->arguments ? *l->arguments : 'x'));
    if (f) {
        f->is_argument = l->after_command;
        f->arguments = l->after_command && *l->arguments ? l->arguments + 1 : "";
    }
    no_arguments(l);
    return at + 1;
}

static size_t close_brace(lexer *l, size_t at) {
    end_run(l, at);
    if (!l->n_braces || l->n_too_deep) {
        l->n_too_deep -= l->n_too_deep > 0;
        put_hidden_leaf(l, at, at + 1, LG_LATEX_CLOSE_CURLY, ' ');
        no_arguments(l);
        return at + 1;
    }
    size_t n = l->n_frames;
    while (l->frames[n - 1].kind != BRACES) n--;
    abandon(l, n);
    frame f = l->frames[n - 1];
    pop(l);
    l->after_command = f.is_argument;
    l->after_begin = false;
    l->arguments = f.arguments;
    return put_leaf(l, at, at + 1, LG_LATEX_CLOSE_CURLY);
}

static size_t open_square(lexer *l, size_t at) {
    bool line_break = at && l->text[at - 1] == '\\', in_math = l->context == LG_LATEX_IN_MATH;
    bool option = l->after_command && (l->after_begin || !at || !is_space(l->text[at - 1])) &&
                  (!in_math || l->after_begin || line_break || *l->arguments);
    bool stays = in_math && !l->after_begin && !line_break; /* \sqrt[3]{x} */
    put_leaf(l, at, at + 1, LG_LATEX_OPEN_SQUARE);
    if (option) {
        const char *arguments = l->arguments;
        frame *f = push(l, OPTION, stays ? LG_LATEX_IN_MATH : LG_LATEX_IN_OPTION);
        if (f) {
            f->is_argument = true;
            f->arguments = arguments;
        }
        no_arguments(l);
    } else no_arguments(l);
    return at + 1;
}

static size_t close_square(lexer *l, size_t at) {
    const frame *f = top(l);
    end_run(l, at);
    if (f && f->kind == OPTION) {
        l->after_command = f->is_argument;
        l->arguments = f->arguments;
        l->after_begin = false;
        pop(l);
    } else no_arguments(l);
    return put_leaf(l, at, at + 1, LG_LATEX_CLOSE_SQUARE);
}

static size_t dollar(lexer *l, size_t at) {
    size_t open = find_frame(l, DOLLAR, 0, 0);
    if (open == SIZE_MAX) open = find_frame(l, DOLLARS, 0, 0);
    if (open != SIZE_MAX) { /* what is open within does not go beyond */
        end_run(l, at);
        while (l->n_frames > open + 1 && top(l)->kind == OPTION) abandon(l, l->n_frames - 1);
    }
    const frame *f = top(l);
    size_t length = at + 1 < l->n && l->text[at + 1] == '$' ? 2 : 1;
    no_arguments(l);
    if (f && f->kind == DOLLAR) {
        size_t opener = f->leaf;
        put_leaf(l, at, at + 1, LG_LATEX_CLOSE_MATH);
        pop(l);
        if (length == 2) { /* $a$$b$: the grammar would take the two in the middle for one */
            hide_leaf(l, opener);
            hide_leaf(l, l->leaves->count - 1);
            put_hidden_leaf(l, at + 1, at + 2, LG_LATEX_OPEN_MATH, ' ');
            push(l, DOLLAR, LG_LATEX_IN_MATH);
            return at + 2;
        }
        if (!l->failed && (l->leaves->tag[opener] & LG_CODE_FIXED)) hide_leaf(l, l->leaves->count - 1);
        return at + 1;
    }
    if (f && f->kind == DOLLARS) { /* a single one ends it too, if only one is there */
        put_leaf(l, at, at + length, LG_LATEX_CLOSE_MATH);
        if (length == 1) {
            hide_leaf(l, f->leaf);
            hide_leaf(l, l->leaves->count - 1);
        }
        pop(l);
        return at + length;
    }
    put_leaf(l, at, at + length, LG_LATEX_OPEN_MATH);
    push(l, length == 2 ? DOLLARS : DOLLAR, LG_LATEX_IN_MATH);
    return at + length;
}

/* A blank line, at AT, ends what TeX does not let go over it. Returns where to go on: behind a dollar without
   a partner, once more and as text. */
static size_t end_paragraph(lexer *l, size_t at) {
    const frame *f;
    no_arguments(l);
    while ((f = top(l)) &&
           (f->kind == DOLLAR || f->kind == DOLLARS || f->kind == ROUND_MATH || f->kind == OPTION)) {
        bool again = f->kind == DOLLAR && f->leaf < l->leaves->count;
        size_t leaf = f->leaf;
        abandon(l, l->n_frames - 1);
        if (!again) continue;
        l->leaves->count = leaf + 1;
        at = l->run = (size_t)l->leaves->end[leaf];
    }
    return at;
}

/* ---- Commands ---- */

/* Where the name that begins after the \ at AT ends: letters and @, in expl3 also _ and :, and a star; else
 * one character. */
static size_t name_end(const lexer *l, size_t at) {
    size_t end = at + 1;
    while (end < l->n && (is_letter(l->text[end]) || l->text[end] == '@' ||
                          (l->expl && (l->text[end] == '_' || l->text[end] == ':'))))
        end++;
    if (end == at + 1) {
        if (end < l->n && l->text[end] != '\n' && l->text[end] != '\r') {
            end++;
            while (end < l->n && ((unsigned char)l->text[end] & 0xC0) == 0x80) end++;
            if (l->text[at + 1] == '\\' && end < l->n && l->text[end] == '*') end++;
        }
        return end;
    }
    return end + (end < l->n && l->text[end] == '*');
}

static bool is_accent(const lexer *l, size_t at, size_t end) {
    if (end - at != 2) return false;
    char c = l->text[at + 1], after = end < l->n ? l->text[end] : '\0';
    if (memchr("'`^\"~=.", c, 7)) return is_letter(after) || after == '{' || after == '\\';
    return memchr("cvuHkrbdt", c, 9) && after == '{';
}

/* The environment's name after \begin or \end, whose leaf ends at *END; false: none. */
static bool environment_name(const lexer *l, size_t at, size_t *name, size_t *name_end, size_t *end) {
    while (at < l->n && (l->text[at] == ' ' || l->text[at] == '\t')) at++;
    if (at >= l->n || l->text[at] != '{') return false;
    *name = ++at;
    while (at < l->n && at - *name < NAME_MAX && l->text[at] != '}') {
        if (memchr("{\\\n$%", l->text[at], 5)) return false;
        at++;
    }
    if (at >= l->n || l->text[at] != '}' || at == *name) return false;
    *name_end = at;
    *end = at + 1;
    return true;
}

/* Options in brackets, on one line, that begin at AT: where they end; AT: none. */
static size_t option_end(const lexer *l, size_t at) {
    if (at >= l->n || l->text[at] != '[') return at;
    size_t depth = 0;
    for (size_t i = at; i < l->n && i - at < VERB_MAX && l->text[i] != '\n'; i++) {
        if (l->text[i] == '[') depth++;
        else if (l->text[i] == ']' && !--depth) return i + 1;
    }
    return at;
}

static size_t skip_braces(const lexer *l, size_t at) {
    size_t depth = 0;
    for (size_t i = at; i < l->n && i - at < VERB_MAX && l->text[i] != '\n'; i++) {
        if (l->text[i] == '{') depth++;
        else if (l->text[i] == '}' && (!depth || !--depth)) return i + 1;
        if (!depth) break;
    }
    return at;
}

static size_t lex_until(lexer *l, size_t at, size_t end);

/* What is between AT and END is verbatim (or a comment). */
static void put_verbatim(lexer *l, size_t at, size_t end, unsigned tag) {
    size_t first = at, last = end;
    while (first < last && is_space(l->text[first])) first++;
    while (last > first && is_space(l->text[last - 1])) last--;
    put_hidden(l, at, first, LG_CODE_WHITESPACE, ' ');
    put_hidden(l, first, last, tag, ' ');
    put_hidden(l, last, end, LG_CODE_WHITESPACE, ' ');
    l->run = end;
}

static size_t lex_verbatim_environment(lexer *l, size_t at, size_t name, size_t name_end, bool comment) {
    size_t options = option_end(l, at), end = l->n;
    if (name_end - name == 6 && !memcmp(l->text + name, "minted", 6)) options = skip_braces(l, options);
    if (name_end - name >= 12 && !memcmp(l->text + name, "filecontents", 12))
        options = skip_braces(l, options);
    at = lex_until(l, at, options);
    end_run(l, at);
    char closing[NAME_MAX + 8];
    memcpy(closing, "\\end{", 5);
    memcpy(closing + 5, l->text + name, name_end - name);
    closing[5 + name_end - name] = '}';
    const char *hit = memmem(l->text + at, l->n - at, closing, 6 + name_end - name);
    if (hit) end = (size_t)(hit - l->text);
    put_verbatim(l, at, end, comment ? LG_LATEX_COMMENT : LG_LATEX_VERBATIM);
    return end;
}

static size_t lex_begin(lexer *l, size_t at, size_t after) {
    size_t name, name_end, end;
    if (!environment_name(l, after, &name, &name_end, &end)) {
        l->after_command = true;
        l->arguments = "";
        return put_hidden_leaf(l, at, after, LG_LATEX_COMMAND, ' ');
    }
    bool comment, verbatim = lg_latex_is_verbatim_environment(l->text + name, name_end - name, &comment);
    bool math = lg_latex_is_math_environment(l->text + name, name_end - name);
    for (size_t i = name; i < name_end;
         i++) /* a plain name, that the grammar has no rule for if it is verbatim */
        if (verbatim || (!is_letter(l->text[i]) && l->text[i] != '*')) l->seen[i] = 'x';
    put_leaf(l, at, end, LG_LATEX_BEGIN | LG_CODE_FIXED);
    const char *arguments = lg_latex_environment_arguments(l->text + name, name_end - name);
    frame *f = push(l, ENVIRONMENT, math ? LG_LATEX_IN_MATH : l->context);
    if (!f) return end;
    f->name = name;
    f->name_end = name_end;
    l->arguments = arguments ? arguments : "";
    l->after_command = l->after_begin = true;
    return verbatim ? lex_verbatim_environment(l, end, name, name_end, comment) : end;
}

static size_t lex_end(lexer *l, size_t at, size_t after) {
    size_t name, name_end, end;
    no_arguments(l);
    if (!environment_name(l, after, &name, &name_end, &end))
        return put_hidden_leaf(l, at, after, LG_LATEX_COMMAND, ' ');
    size_t found = find_frame(l, ENVIRONMENT, name, name_end);
    end_run(l, at);
    if (found == SIZE_MAX) return put_hidden_leaf(l, at, end, LG_LATEX_END, ' ');
    abandon(l, found + 1);
    bool comment, verbatim = lg_latex_is_verbatim_environment(l->text + name, name_end - name, &comment);
    for (size_t i = name; i < name_end; i++)
        if (verbatim || (!is_letter(l->text[i]) && l->text[i] != '*')) l->seen[i] = 'x';
    pop(l);
    return put_leaf(l, at, end, LG_LATEX_END | LG_CODE_FIXED);
}

/* \verb|…| and the like: AFTER is where the command's name ends. Returns AFTER if it is none. */
static size_t lex_verb(lexer *l, size_t at, size_t after) {
    bool plain = starts(l, at, "\\verb") || starts(l, at, "\\Verb");
    size_t open = plain ? after : option_end(l, after);
    if (starts(l, at, "\\mintinline")) open = skip_braces(l, open);
    if (open >= l->n) return after;
    char c = l->text[open];
    if (is_letter(c) || is_space(c) || c == '\\' || c == '}' || c == '*' || c == '%' || (plain && c == '{') ||
        (unsigned char)c >= 128)
        return after;
    size_t end = open + 1;
    if (c == '{') {
        end = skip_braces(l, open);
        if (end == open) return after;
        end--;
    } else {
        while (end < l->n && end - open < VERB_MAX && l->text[end] != c && l->text[end] != '\n') end++;
        if (end >= l->n || l->text[end] != c) return after;
    }
    put_leaf(l, at, after, LG_LATEX_COMMAND);
    l->after_command = true;
    l->arguments = "vv";
    size_t reached = lex_until(l, after, open);
    if (reached > open) return reached;
    end_run(l, open);
    put_hidden(l, open, open + 1, c == '{' ? LG_LATEX_OPEN_CURLY : LG_LATEX_OPEN_QUOTE, ' ');
    put_hidden(l, open + 1, end, LG_LATEX_VERBATIM, ' ');
    put_hidden(l, end, end + 1, c == '{' ? LG_LATEX_CLOSE_CURLY : LG_LATEX_CLOSE_QUOTE, ' ');
    no_arguments(l);
    return l->run = end + 1;
}

/* \iffalse at the beginning of a line, up to its \fi. Returns where that is; 0: it is no such block. */
static size_t lex_block(lexer *l, size_t at, size_t after) {
    memset(l->seen + at + 1, 'x', after - at - 1);
    size_t line = at;
    while (line && (l->text[line - 1] == ' ' || l->text[line - 1] == '\t')) line--;
    if (l->no_block || (line && l->text[line - 1] != '\n')) return 0;
    size_t depth = 1;
    for (size_t i = after; i + 2 < l->n; i++) {
        if (l->text[i] != '\\') continue;
        if (starts(l, i, "\\fi") &&
            (i + 3 >= l->n || !(is_letter(l->text[i + 3]) || l->text[i + 3] == '@'))) {
            if (--depth) continue;
            put_leaf(l, at, after, LG_LATEX_COMMAND);
            put_verbatim(l, after, i, LG_LATEX_COMMENT);
            no_arguments(l);
            return i;
        }
        if (starts(l, i, "\\if")) depth++;
        else if (l->text[i + 1] == '\\') i++;
    }
    l->no_block = true;
    return 0;
}

/* What is known of the command whose name is [begin, end), from the last ones that were asked for if it is
 * among them. */
static lg_latex_command find_command(lexer *l, size_t begin, size_t end) {
    size_t length = end - begin, hash = length;
    for (size_t i = begin; i < end; i++) hash = hash * 31 + (unsigned char)l->text[i];
    recent *r = &l->recents[(hash ^ hash >> 8) % N_RECENTS];
    if (r->length != length || memcmp(l->text + r->name, l->text + begin, length)) {
        r->command = lg_latex_find_command(l->text + begin, length);
        r->name = begin;
        r->length = length;
    }
    return r->command;
}

/* \( \) \[ \] */
static size_t lex_formula(lexer *l, size_t at, size_t after) {
    char c = l->text[at + 1];
    frame_kind kind = c == '(' || c == ')' ? ROUND_MATH : SQUARE_MATH;
    no_arguments(l);
    if (c == '(' || c == '[') {
        put_leaf(l, at, after, LG_LATEX_OPEN_MATH);
        push(l, kind, LG_LATEX_IN_MATH);
        return after;
    }
    size_t found = find_frame(l, kind, 0, 0);
    end_run(l, at);
    if (found == SIZE_MAX) return put_hidden_leaf(l, at, after, LG_LATEX_CLOSE_MATH, ' ');
    abandon(l, found + 1);
    pop(l);
    return put_leaf(l, at, after, LG_LATEX_CLOSE_MATH);
}

/* A command that only has its leaf. */
static size_t put_command(lexer *l, size_t at, size_t after, const lg_latex_command *command) {
    const char *text = l->text;
    size_t length = after - at;
    bool line_break = length >= 2 && text[at + 1] == '\\';
    unsigned tag = LG_LATEX_COMMAND;
    if (line_break) tag = LG_LATEX_LINE_BREAK;
    else if (is_accent(l, at, after)) tag = LG_LATEX_ACCENT;
    if (l->context == LG_LATEX_IN_MATH && length > 2 && text[after - 1] == '*' && !line_break &&
        command->kind != LG_LATEX_STARRED) { /* \pi*r: a product */
        put_leaf(l, at, after - 1, tag | LG_CODE_FIXED);
        no_arguments(l);
        return put_hidden_leaf(l, after - 1, after, LG_LATEX_MATH_OPERATOR, ' ');
    }
    bool odd = line_break && length == 3; /* the grammar knows no such name */
    if (l->expl)
        for (size_t i = at + 1; i < after; i++) odd |= text[i] == '_' || text[i] == ':';
    if (odd) tag |= LG_CODE_FIXED;
    if (odd || command->kind == LG_LATEX_MISREAD) memset(l->seen + at + 1, 'x', length - 1);
    if (l->context == LG_LATEX_IN_KEY || l->context == LG_LATEX_IN_PATH || l->context == LG_LATEX_IN_URI)
        return put_hidden_leaf(l, at, after, tag, 'x'); /* as a part of the key */
    put_leaf(l, at, after, tag);
    l->arguments = command->arguments;
    l->after_command = true;
    l->after_begin = false;
    return after;
}

static size_t lex_command(lexer *l, size_t at) {
    size_t after = name_end(l, at), end = 0;
    if (after - at == 2 && memchr("()[]", l->text[at + 1], 4)) return lex_formula(l, at, after);
    lg_latex_command command = {LG_LATEX_ORDINARY, ""};
    bool named = after - at > 1 && (is_letter(l->text[at + 1]) || l->text[at + 1] == '@');
    if (named) command = find_command(l, at + 1, after - (l->text[after - 1] == '*'));
    switch (command.kind) {
    case LG_LATEX_BEGIN_COMMAND:
        return lex_begin(l, at, after);
    case LG_LATEX_END_COMMAND:
        return lex_end(l, at, after);
    case LG_LATEX_IF_FALSE:
        end = lex_block(l, at, after);
        break;
    case LG_LATEX_PATH_VERB:
        if (after >= l->n || l->text[after] != '|') break;
        /* fall through */
    case LG_LATEX_VERB:
        end = lex_verb(l, at, after);
        break;
    case LG_LATEX_EXPL_ON:
        l->expl = true;
        break;
    case LG_LATEX_EXPL_OFF:
        l->expl = false;
        break;
    default:
        break;
    }
    return end > after || (end && command.kind == LG_LATEX_IF_FALSE) ? end
                                                                     : put_command(l, at, after, &command);
}

/* ---- All of it ---- */

static size_t comment_end(const lexer *l, size_t at) {
    while (at < l->n && l->text[at] != '\n' && l->text[at] != '\r') at++;
    return at;
}

/* White space from AT on; sees to paragraphs. Returns where it ends. */
static size_t lex_space(lexer *l, size_t at) {
    size_t begin = at, lines = 0;
    while (at < l->n && is_space(l->text[at])) lines += l->text[at++] == '\n';
    if (lines > 1) {
        end_run(l, begin);
        put(l, begin, at, LG_CODE_WHITESPACE);
        l->run = at;
        return end_paragraph(l, at);
    }
    return at;
}

static size_t lex_one(lexer *l, size_t at) {
    char c = l->text[at];
    bool literal = l->context == LG_LATEX_IN_URI;
    bool name = literal || l->context == LG_LATEX_IN_KEY || l->context == LG_LATEX_IN_PATH;
    size_t end = at + 1;
    if (is_space(c)) return lex_space(l, at);
    switch (c) {
    case '\\':
        return lex_command(l, at);
    case '{':
        return open_brace(l, at);
    case '}':
        return close_brace(l, at);
    case '%':
        if (literal) break;
        return put_hidden_leaf(l, at, comment_end(l, at), LG_LATEX_COMMENT, ' ');
    case '[':
        if (name && !l->after_command) break;
        return open_square(l, at);
    case ']':
        if (name) break;
        return close_square(l, at);
    case '$':
        if (literal) break;
        return dollar(l, at);
    case '(':
    case ')':
        if (name) break;
        no_arguments(l);
        return put_leaf(l, at, end, c == '(' ? LG_LATEX_OPEN_ROUND : LG_LATEX_CLOSE_ROUND);
    case '#':
        if (literal) break;
        no_arguments(l);
        while (end < l->n && l->text[end] == '#') end++;
        if (end < l->n && is_digit(l->text[end])) {
            if (name) memset(l->seen + at, 'x', end + 1 - at);
            return put_leaf(l, at, end + 1, LG_LATEX_PARAMETER | (name ? LG_CODE_FIXED : 0));
        }
        return put_hidden_leaf(l, at, end, LG_LATEX_PARAMETER, ' ');
    case '^':
    case '_':
        if (name) break;
        no_arguments(l);
        return put_hidden_leaf(l, at, end, LG_LATEX_MATH_SCRIPT, ' ');
    case '&':
        if (name) break;
        no_arguments(l);
        return put_leaf(l, at, end, LG_LATEX_ALIGN);
    case '~':
        if (name) break;
        no_arguments(l);
        return put_hidden_leaf(l, at, end, LG_LATEX_TIE, ' ');
    case '\0':
        l->seen[at] = 'x';
        break;
    default:
        break;
    }
    no_arguments(l);
    return end;
}

/* What never is more than a part of a run. */
static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == ',' || c == '-' || (unsigned char)c >= 128;
}

/* Returns where it ends: behind END if something is across it. */
static size_t lex_until(lexer *l, size_t at, size_t end) {
    while (at < end && !l->failed) {
        if (is_word(l->text[at])) {
            no_arguments(l);
            do at++;
            while (at < end && is_word(l->text[at]));
        } else at = lex_one(l, at);
    }
    return at;
}

bool lg_latex_lex(const char *text, const uint8_t *classes, size_t n_bytes, char *seen, lg_spans *leaves) {
    if (n_bytes) memcpy(seen, text, n_bytes);
    lexer l = {
        .text = text, .classes = classes, .n = n_bytes, .seen = seen, .leaves = leaves, .arguments = ""};
    lex_until(&l, 0, n_bytes);
    end_run(&l, n_bytes);
    abandon(&l, 0);
    free(l.frames);
    return !l.failed;
}
