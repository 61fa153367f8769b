/* Oniguruma's Ruby syntax put into PCRE2's, and matching that has limits and always moves on. */
#include "tokenizer/pattern.h"

#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "base/memory.h"
#include "tokenizer/unicode.h"

/* ---- translation ---- */

/* Oniguruma's \w (Unicode 16), inside a bracket; outside it takes superscripts and fractions too. */
#define BRACKET_WORD                                                                                         \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}"         \
    "\\x{1f170}-\\x{1f189}"
#define WORD BRACKET_WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

enum { MAX_GROUPS = 250 }; /* what PCRE2 allows too */

typedef struct translation {
    const char *at, *end;
    lg_text *out;
    size_t atom; /* where, in OUT, the last atom begins; SIZE_MAX: a quantifier has nothing to repeat */
    size_t groups[MAX_GROUPS]; /* where the open ones begin */
    size_t depth;
    size_t
        options[MAX_GROUPS + 1]; /* how many (?i) each of them holds: they are put as (?i:…) up to its end */
} translation;

static const char out_of_memory[] = "out of memory";

static bool looking_at(const translation *t, const char *text) {
    size_t n = strlen(text);
    return (size_t)(t->end - t->at) >= n && memcmp(t->at, text, n) == 0;
}

static void put_char(translation *t) {
    lg_text_put(t->out, t->at++, 1);
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* At a backslash. */
static const char *escape(translation *t, bool in_class) {
    if (t->end - t->at < 2) return "it ends in a backslash";
    char c = t->at[1];
    const char *replacement = NULL;
    switch (c) {
    case 'h':
        replacement = in_class ? "0-9A-Fa-f" : "[0-9A-Fa-f]";
        break;
    case 'H':
        replacement = in_class ? "" : "[^0-9A-Fa-f]";
        break;
    case 'w':
        replacement = in_class ? BRACKET_WORD : "[" WORD "]";
        break;
    case 'W':
        replacement = in_class ? "" : "[^" WORD "]";
        break;
    case 'b':
        replacement = in_class ? "\\x08" : "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))";
        break;
    case 'B':
        replacement = in_class ? "" : "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))";
        break;
    case 'v':
        replacement = "\\x0b";
        break;
    case 'R':
    case 'X':
        if (in_class) replacement = "";
        break;
    case 'u':
        if (t->end - t->at < 6 || !is_hex(t->at[2]) || !is_hex(t->at[3]) || !is_hex(t->at[4]) ||
            !is_hex(t->at[5]))
            return "\\u wants four hexadecimal digits";
        lg_text_printf(t->out, "\\x{%.4s}", t->at + 2);
        t->at += 6;
        return NULL;
    case 'C':
    case 'M':
    case 'c':
    case 'y':
    case 'Y':
    case 'O':
    case 'N':
    case 'g':
    case 'Q':
    case 'E':
    case 'K':
        return "it has an escape that is not supported (\\C \\M \\c \\y \\Y \\O \\N \\g \\Q \\E \\K)";
    }
    if (replacement) {
        if (!*replacement) return "it has a negated escape inside brackets";
        lg_text_puts(t->out, replacement);
        t->at += 2;
        return NULL;
    }
    put_char(t);
    size_t n = 1;
    while (t->at + n < t->end && (t->at[n] & 0xC0) == 0x80) n++;
    bool braced = (c == 'p' || c == 'P' || c == 'x') && t->at + 1 < t->end && t->at[1] == '{';
    lg_text_put(t->out, t->at, n);
    t->at += n;
    if (braced) {
        while (t->at < t->end && *t->at != '}') put_char(t);
        if (t->at < t->end) put_char(t);
    } else if (c == 'x') {
        for (int i = 0; i < 2 && t->at < t->end && is_hex(*t->at); i++) put_char(t);
    }
    return NULL;
}

/* At '['. Brackets inside brackets are a union. */
static const char *bracket(translation *t) {
    put_char(t);
    if (looking_at(t, "^")) put_char(t);
    size_t depth = 1;
    for (bool first = true; depth; first = false) {
        if (t->at == t->end) return "a bracket is not closed";
        const char *problem = NULL;
        if (*t->at == '\\') {
            problem = escape(t, true);
        } else if (*t->at == ']' && first) {
            lg_text_puts(t->out, "\\]");
            t->at++;
        } else if (*t->at == ']') {
            if (--depth == 0) put_char(t);
            else t->at++;
        } else if (looking_at(t, "[:")) {
            return "it has a POSIX bracket such as [:alpha:], which is not supported; use \\p{…}";
        } else if (looking_at(t, "[^")) {
            return "it has a negated bracket inside a bracket, which is not supported";
        } else if (*t->at == '[') {
            depth++;
            t->at++;
        } else if (looking_at(t, "&&")) {
            return "it has an intersection (&&), which is not supported";
        } else {
            put_char(t);
        }
        if (problem) return problem;
    }
    return NULL;
}

/* At '('. */
static const char *open_group(translation *t) {
    if (looking_at(t, "(?#")) {
        while (t->at < t->end && *t->at != ')') t->at++;
        if (t->at == t->end) return "a comment is not closed";
        t->at++;
        return NULL;
    }
    if (looking_at(t, "(*")) return "it has a (*VERB), which is not supported";
    size_t begin = t->out->length;
    put_char(t);
    if (looking_at(t, "?")) {
        static const char *const heads[] = {"?:", "?=", "?!", "?>", "?<=", "?<!", "?<", NULL};
        const char *const *head = heads;
        while (*head && !looking_at(t, *head)) head++;
        if (*head) {
            for (size_t n = strlen(*head); n--;) put_char(t);
        } else { /* options */
            put_char(t);
            bool colon = false, closed = false;
            while (t->at < t->end && !colon && !closed) {
                char c = *t->at++;
                colon = c == ':';
                closed = c == ')';
                if (t->out->failed) return out_of_memory;
                if (c == 'm') c = 's'; /* "." matches \n */
                else if (c == 'x') return "it has the option x, which is not supported";
                else if (c != 'i' && c != '-' && !colon && !closed)
                    return "it has an unknown group or option";
                lg_text_put(t->out, &c, 1);
            }
            if (closed) {
                t->out->data[t->out->length - 1] = ':';
                t->options[t->depth]++;
                t->atom = SIZE_MAX;
                return NULL;
            }
        }
    }
    if (t->depth == MAX_GROUPS) return "its groups are nested too deeply";
    t->groups[t->depth++] = begin;
    t->options[t->depth] = 0;
    t->atom = SIZE_MAX;
    return NULL;
}

static void close_options(translation *t) {
    for (; t->options[t->depth]; t->options[t->depth]--) lg_text_puts(t->out, ")");
}

/* Puts (?:…) around the last atom with its quantifiers, so that the next quantifier repeats it all. */
static void wrap(translation *t) {
    lg_text_puts(t->out, "(?:)");
    if (t->out->failed) return;
    size_t length = t->out->length - 4 - t->atom;
    char *at = t->out->data + t->atom;
    memmove(at + 3, at, length);
    memcpy(at, "(?:", 3);
    at[3 + length] = ')';
}

/* At '{', which begins a quantifier in both syntaxes, or an ordinary character. {n,m}+ repeats again, {n}?
   makes it optional: in PCRE2 they would be possessive and lazy. */
static void interval(translation *t) {
    const char *p = t->at + 1;
    const char *low = p;
    while (p < t->end && *p >= '0' && *p <= '9') p++;
    size_t low_length = (size_t)(p - low);
    bool comma = p < t->end && *p == ',';
    const char *high = comma ? ++p : p;
    while (p < t->end && *p >= '0' && *p <= '9') p++;
    size_t high_length = (size_t)(p - high);
    if (p == t->end || *p != '}' || low_length + high_length == 0 || low_length > 6 || high_length > 6 ||
        t->atom == SIZE_MAX) {
        lg_text_puts(t->out, "\\{");
        t->atom = t->out->length - 2;
        t->at++;
        return;
    }
    lg_text_printf(t->out, "{%.*s%s%.*s}", low_length ? (int)low_length : 1, low_length ? low : "0",
                   comma ? "," : "", (int)high_length, high);
    t->at = p + 1;
    if (looking_at(t, "+") || (looking_at(t, "?") && !comma)) wrap(t);
    else if (looking_at(t, "?")) put_char(t);
}

const char *lg_pattern_translate(const char *pattern, size_t length, lg_text *out) {
    translation t = {.at = pattern, .end = pattern + length, .out = out, .atom = SIZE_MAX};
    while (t.at < t.end) {
        size_t begin = out->length;
        const char *problem = NULL;
        switch (*t.at) {
        case '\\':
            problem = escape(&t, false);
            t.atom = begin;
            break;
        case '[':
            problem = bracket(&t);
            t.atom = begin;
            break;
        case '(':
            problem = open_group(&t);
            break;
        case ')':
            if (!t.depth) return "a parenthesis is closed that was not opened";
            close_options(&t);
            put_char(&t);
            t.atom = t.groups[--t.depth];
            break;
        case '|':
            put_char(&t);
            t.atom = SIZE_MAX;
            break;
        case '{':
            interval(&t);
            break;
        case '*':
        case '+':
        case '?':
            if (t.atom == SIZE_MAX) return "a quantifier has nothing to repeat";
            put_char(&t);
            if (looking_at(&t, "+") || looking_at(&t, "?"))
                put_char(&t); /* possessive, lazy: in both syntaxes */
            if (looking_at(&t, "*") || looking_at(&t, "+") || looking_at(&t, "?")) wrap(&t);
            break;
        default:
            do put_char(&t);
            while (t.at < t.end && (*t.at & 0xC0) == 0x80);
            t.atom = begin;
        }
        if (problem) return problem;
    }
    if (t.depth) return "a parenthesis is not closed";
    close_options(&t);
    return out->failed ? out_of_memory : NULL;
}

/* ---- compilation ---- */

struct lg_pattern {
    pcre2_code *code;
    bool jit;
};

lg_status lg_pattern_compile(const char *pattern, size_t length, const char *name, lg_pattern **out,
                             lg_error *error) {
    *out = NULL;
    lg_text translated = {0};
    lg_status status = LG_OK;
    lg_pattern *p = calloc(1, sizeof *p);
    const char *problem = p ? lg_pattern_translate(pattern, length, &translated) : out_of_memory;
    char message[256];
    if (!problem) {
        int code = 0;
        PCRE2_SIZE offset = 0;
        uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
        pcre2_compile_context *context = pcre2_compile_context_create(NULL);
        if (context) {
            pcre2_set_newline(context, PCRE2_NEWLINE_LF);
            p->code = pcre2_compile((PCRE2_SPTR)(translated.data ? translated.data : ""), translated.length,
                                    options, &code, &offset, context);
            if (p->code) p->jit = pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0;
            pcre2_compile_context_free(context);
        }
        if (!p->code) {
            if (!context || code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED) {
                problem = out_of_memory;
            } else {
                pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof message);
                problem = message;
            }
        }
    }
    if (!problem) {
        *out = p;
        p = NULL;
    } else if (problem == out_of_memory) {
        status = lg_fail_memory(error);
    } else {
        status = lg_fail(error, LG_BAD_INPUT, "%s: pre_tokenizer: the pattern %.*s cannot be used: %s", name,
                         length > 200 ? 200 : (int)length, pattern, problem);
    }
    lg_pattern_free(p);
    lg_text_free(&translated);
    return status;
}

void lg_pattern_free(lg_pattern *pattern) {
    if (!pattern) return;
    pcre2_code_free(pattern->code);
    free(pattern);
}

/* ---- subjects ---- */

bool lg_subject_is_plain(const lg_classes *classes, const char *text, size_t length) {
    const unsigned char *s = (const unsigned char *)text, *end = s + length;
    while (s < end) {
        if (*s < 0x80) {
            s++;
            continue;
        }
        uint32_t c;
        size_t size = lg_decode(s, end, &c);
        if (size == 1 || lg_class_of(classes, c) & LG_NEWER) return false;
        s += size;
    }
    return true;
}

/* A character of the same class and as many bytes that Unicode 14 has. */
static const char *stand_in(unsigned class, size_t size) {
    if (class & LG_LETTER) return size == 3 ? "\xE4\xB8\x80" : "\xF0\xA0\x80\x80"; /* U+4E00, U+20000 */
    if (class & LG_NUMBER) return size == 3 ? "\xEF\xBC\x90" : "\xF0\x9D\x9F\x8E"; /* U+FF10, U+1D7CE */
    return size == 3 ? "\xE2\x80\x8B"
                     : "\xF0\x9F\x98\x80"; /* U+200B (for U+180E, no white space any more), U+1F600 */
}

bool lg_subject_set(lg_subject *subject, const lg_classes *classes, const char *text, size_t length,
                    bool plain) {
    subject->text = text;
    subject->length = length;
    subject->count = subject->seen = 0;
    if (plain || lg_subject_is_plain(classes, text, length)) return true;
    lg_text *copy = &subject->copy;
    copy->length = 0;
    const unsigned char *s = (const unsigned char *)text, *end = s + length;
    while (s < end) {
        uint32_t c;
        size_t size = lg_decode(s, end, &c);
        if (size == 1 && *s >= 0x80) {
            lg_text_put(copy, "\xEF\xBF\xBD", 3);
            if (!lg_reserve(&subject->widened, &subject->capacity, subject->count + 1, sizeof(size_t)))
                return false;
            subject->widened[subject->count++] = copy->length;
        } else {
            lg_text_put(copy,
                        lg_class_of(classes, c) & LG_NEWER ? stand_in(lg_class_of(classes, c), size)
                                                           : (const char *)s,
                        size);
        }
        s += size;
    }
    subject->text = copy->data;
    subject->length = copy->length;
    return !copy->failed;
}

size_t lg_subject_original(lg_subject *subject, size_t at) {
    while (subject->seen < subject->count && subject->widened[subject->seen] <= at) subject->seen++;
    return at - 2 * subject->seen;
}

void lg_subject_free(lg_subject *subject) {
    lg_text_free(&subject->copy);
    free(subject->widened);
    *subject = (lg_subject){0};
}

/* ---- matching ---- */

struct lg_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

enum {
    MATCH_LIMIT = 10000000, /* backtracks of one match */
    HEAP_LIMIT = 1 << 19,   /* KiB */
    JIT_STACK = 16 << 20,   /* bytes, taken as needed */
};

lg_matcher *lg_matcher_create(void) {
    lg_matcher *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->data = pcre2_match_data_create(1, NULL);
    m->context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL);
    if (!m->data || !m->context || !m->stack) {
        lg_matcher_free(m);
        return NULL;
    }
    pcre2_set_match_limit(m->context, MATCH_LIMIT);
    pcre2_set_heap_limit(m->context, HEAP_LIMIT);
    pcre2_jit_stack_assign(m->context, NULL, m->stack);
    return m;
}

void lg_matcher_free(lg_matcher *matcher) {
    if (!matcher) return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_jit_stack_free(matcher->stack);
    free(matcher);
}

lg_match lg_pattern_next(const lg_pattern *pattern, lg_matcher *matcher, const lg_subject *subject,
                         lg_match_state *state, size_t *start, size_t *end) {
    PCRE2_SPTR text = (PCRE2_SPTR)subject->text;
    while (state->from <= subject->length) {
        int code = pattern->jit ? pcre2_jit_match(pattern->code, text, subject->length, state->from, 0,
                                                  matcher->data, matcher->context)
                                : PCRE2_ERROR_JIT_STACKLIMIT;
        if (code == PCRE2_ERROR_JIT_STACKLIMIT)
            code = pcre2_match(pattern->code, text, subject->length, state->from,
                               PCRE2_NO_JIT | PCRE2_NO_UTF_CHECK, matcher->data, matcher->context);
        if (code == PCRE2_ERROR_NOMATCH) return LG_MATCH_NONE;
        if (code == PCRE2_ERROR_NOMEMORY) return LG_MATCH_MEMORY;
        if (code < 0) return LG_MATCH_LIMIT;
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(matcher->data);
        if (ends[0] < state->from || ends[1] < ends[0]) return LG_MATCH_LIMIT; /* not without \K */
        if (ends[0] == ends[1] && state->matched && state->last_end == ends[1]) {
            state->from += 1; /* to the next character */
            while (state->from < subject->length && (text[state->from] & 0xC0) == 0x80) state->from++;
            continue;
        }
        *start = ends[0];
        *end = state->from = state->last_end = ends[1];
        state->matched = true;
        return LG_MATCH_FOUND;
    }
    return LG_MATCH_NONE;
}
