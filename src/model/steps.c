/* Steps and tokens in the names of checkpoints. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lossgap/runs.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return isalpha((unsigned char)c) != 0;
}

/* Thousands for k, millions for M … ; 1: C is no such letter. */
static uint64_t scale_of(char c) {
    switch (c) {
    case 'k':
    case 'K':
        return 1000;
    case 'm':
    case 'M':
        return 1000000;
    case 'b':
    case 'B':
        return 1000000000;
    case 't':
    case 'T':
        return 1000000000000;
    default:
        return 1;
    }
}

/* A number at TEXT with its letter, as in "4.5B"; where it ends, or NULL: none, or not a whole one, or beyond
   int64. LETTER: whether it had one. */
static const char *read_number(const char *text, uint64_t *value, bool *letter) {
    uint64_t whole = 0, fraction = 0, unit = 1;
    if (!is_digit(*text)) return NULL;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
            return NULL;
    if (*text == '.' && is_digit(text[1])) {
        const char *p = text + 1;
        for (; is_digit(*p) && unit < 1000000000000; p++) {
            fraction = fraction * 10 + (uint64_t)(*p - '0');
            unit *= 10;
        }
        if (scale_of(*p) % unit == 0) text = p; /* "1.5k"; else the point ends a whole number: "step100.2" */
        else fraction = 0, unit = 1;
    }
    uint64_t scale = scale_of(*text);
    *letter = scale > 1;
    if (__builtin_mul_overflow(whole, scale, &whole) || whole > INT64_MAX - scale) return NULL;
    *value = whole + fraction * (scale / unit);
    return text + *letter;
}

/* Length of the word for a step that begins at TEXT; 0: none. */
static size_t step_word(const char *text) {
    static const char *const words[] = {"checkpoint", "iteration", "steps", "step", "ckpt", "iter"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(text, words[i], strlen(words[i])) == 0) return strlen(words[i]);
    return 0;
}

static bool begins_word(const char *name, const char *at) {
    if (at == name || !is_letter(at[-1])) return true;
    return at - name >= 6 && strncasecmp(at - 6, "global", 6) == 0;
}

static const char *skip_joint(const char *p) {
    return *p && strchr("-_=.", *p) ? p + 1 : p;
}

/* "tokens4B", "tokens-4.5B", "4Btokens", "4B-tokens" anywhere in NAME. */
static bool find_tokens(const char *name, uint64_t *tokens) {
    for (const char *p = name; *p; p++) {
        const char *end;
        bool letter;
        if (strncasecmp(p, "tokens", 6) == 0 && (p == name || !is_letter(p[-1]) || scale_of(p[-1]) > 1)) {
            end = read_number(skip_joint(p + 6), tokens, &letter);
            if (end && !isalnum((unsigned char)*end)) return true;
        }
        if (is_digit(*p) && (p == name || (!is_digit(p[-1]) && p[-1] != '.'))) {
            end = read_number(p, tokens, &letter);
            if (end && letter && strncasecmp(skip_joint(end), "tokens", 6) == 0 &&
                !isalnum((unsigned char)skip_joint(end)[6]))
                return true;
        }
    }
    return false;
}

bool lg_step_of_name(const char *name, lg_step_name *step) {
    bool found = false;
    *step = (lg_step_name){0};
    for (const char *p = name; *p; p++) {
        size_t length = begins_word(name, p) ? step_word(p) : 0;
        if (!length) continue;
        uint64_t value;
        bool letter;
        const char *end = read_number(skip_joint(p + length), &value, &letter);
        /* What sticks to a number makes another word of it: step1e5, step3b2. */
        if (!end || isalnum((unsigned char)*end)) continue;
        if (found && value != step->step) step->several = true;
        step->step = value;
        found = true;
        p = end - 1;
    }
    if (found) step->has_tokens = find_tokens(name, &step->tokens);
    return found;
}

const char *lg_tokens_from_name(lg_tokens_from from) {
    static const char *const names[] = {NULL, "given", "tokens_per_step", "trainer_state.json", "name"};
    return names[from];
}
