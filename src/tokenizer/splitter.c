/* Hand-written matchers of well-known patterns, over a table of classes; each alternative is named where it
   is tried. An invalid byte has the class of U+FFFD, "other". */
#include "tokenizer/splitter.h"

#include <stdbool.h>
#include <string.h>

#include "tokenizer/unicode.h"

typedef const unsigned char *text_at;

/* The end of the run of characters with one of the classes (WANTED true) or with none of them. */
static inline text_at run(const lg_classes *classes, text_at at, text_at end, unsigned mask, bool wanted) {
    while (at < end) {
        size_t length;
        if (((lg_class_at(classes, at, end, &length) & mask) != 0) != wanted) break;
        at += length;
    }
    return at;
}

/* 's 't 're 've 'm 'll 'd: bytes matched at the apostrophe AT, or 0. */
static inline size_t contraction(text_at at, text_at end, bool any_case) {
    size_t left = (size_t)(end - at);
    if (left < 2) return 0;
    unsigned fold = any_case ? 0x20 : 0;
    unsigned a = at[1] | fold;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    if (any_case && left > 2 && at[1] == 0xC5 && at[2] == 0xBF) return 3; /* U+017F folds to s */
    if (left < 3) return 0;
    unsigned b = at[2] | fold;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* \s+(?!\S)|\s+ where a run of white space begins: all but the last character, if something follows. */
static inline size_t white_space(const lg_classes *classes, text_at text, text_at end) {
    text_at at = text, last = text;
    size_t length;
    while (at < end && lg_class_at(classes, at, end, &length) & LG_SPACE) {
        last = at;
        at += length;
    }
    return (size_t)((at == end || last == text ? at : last) - text);
}

static inline size_t gpt2(const lg_classes *classes, text_at text, text_at end) {
    size_t length, special;
    if (text[0] == '\'' && (special = contraction(text, end, false)) != 0) return special;
    unsigned class = lg_class_at(classes, text, end, &length);
    text_at at = text + 1;
    if (class & LG_BLANK && at < end) class = lg_class_at(classes, at, end, &length);
    else at = text;
    /* ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+` */
    if (class & LG_LETTER) return (size_t)(run(classes, at + length, end, LG_LETTER, true) - text);
    if (class & LG_NUMBER) return (size_t)(run(classes, at + length, end, LG_NUMBER, true) - text);
    if (!(class & LG_SPACE))
        return (size_t)(run(classes, at + length, end, LG_SPACE | LG_LETTER | LG_NUMBER, false) - text);
    return white_space(classes, text, end);
}

/* The family of cl100k: DIGITS at most go together. */
static inline size_t cl100k(const lg_classes *classes, text_at text, text_at end, unsigned digits) {
    size_t length, after;
    unsigned class = lg_class_at(classes, text, end, &length);
    text_at second = text + length;
    /* [^\r\n\p{L}\p{N}]?\p{L}+ */
    if (class & LG_LETTER) return (size_t)(run(classes, second, end, LG_LETTER, true) - text);
    /* \p{N}{1,DIGITS} */
    if (class & LG_NUMBER) {
        for (unsigned n = 1; n < digits && second < end; n++) {
            if (!(lg_class_at(classes, second, end, &after) & LG_NUMBER)) break;
            second += after;
        }
        return (size_t)(second - text);
    }
    if (text[0] == '\'' && (after = contraction(text, end, true)) != 0) return after;
    unsigned next = second < end ? lg_class_at(classes, second, end, &after) : LG_SPACE;
    if (next & LG_LETTER && !(class & LG_NEWLINE))
        return (size_t)(run(classes, second + after, end, LG_LETTER, true) - text);
    /* ` ?[^\s\p{L}\p{N}]+[\r\n]*` */
    enum { NO_SYMBOL = LG_SPACE | LG_LETTER | LG_NUMBER };
    if (!(class & LG_SPACE) || (class & LG_BLANK && !(next & NO_SYMBOL))) {
        text_at at = run(classes, second, end, NO_SYMBOL, false);
        while (at < end && (*at == '\r' || *at == '\n')) at++;
        return (size_t)(at - text);
    }
    /* \s*[\r\n]+ */
    text_at at = text, last = text, newline = NULL;
    while (at < end && (class = lg_class_at(classes, at, end, &length)) & LG_SPACE) {
        last = at;
        at += length;
        if (class & LG_NEWLINE) newline = at;
    }
    if (newline) return (size_t)(newline - text);
    /* \s+(?!\S)|\s+ */
    return (size_t)((at == end || last == text ? at : last) - text);
}

static size_t next_gpt2(const lg_classes *classes, text_at text, text_at end) {
    return gpt2(classes, text, end);
}

static size_t next_cl100k(const lg_classes *classes, text_at text, text_at end) {
    return cl100k(classes, text, end, 3);
}

static size_t next_qwen2(const lg_classes *classes, text_at text, text_at end) {
    return cl100k(classes, text, end, 1);
}

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|"

static const lg_splitter splitters[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", next_gpt2, "gpt2"},
    {CONTRACTIONS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
                  "\\s+(?!\\S)|\\s+",
     next_cl100k, "llama3"},
    /* the same matches, written with possessive quantifiers */
    {CONTRACTIONS "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|"
                  "\\s+(?!\\S)|\\s+",
     next_cl100k, "cl100k"},
    {CONTRACTIONS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
                  "\\s+(?!\\S)|\\s+",
     next_qwen2, "qwen2"},
};

const lg_splitter *lg_splitter_at(size_t index) {
    return index < sizeof splitters / sizeof *splitters ? &splitters[index] : NULL;
}

const lg_splitter *lg_splitter_find(const char *pattern, size_t length) {
    for (size_t i = 0; i < sizeof splitters / sizeof *splitters; i++)
        if (strlen(splitters[i].pattern) == length && memcmp(splitters[i].pattern, pattern, length) == 0)
            return &splitters[i];
    return NULL;
}

const lg_splitter *lg_splitter_gpt2(void) {
    return &splitters[0];
}
