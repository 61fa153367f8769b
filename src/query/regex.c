/* Regular expressions of queries: PCRE2, compiled to machine code where it can be, with limits on what a
   match may cost; answers are remembered by text, since texts of tokens and words come again and again. */
#include "query/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    LONGEST_PATTERN = 4096,
    MATCH_LIMIT = 1000000, /* backtracks of one match */
    HEAP_LIMIT = 1 << 16,  /* KiB */
    JIT_STACK = 1 << 20,   /* bytes, taken as needed */
    FIRST_SLOTS = 1 << 10,
    MAX_SLOTS =
        1 << 20, /* of remembered texts, half of them in use; what comes later is matched every time */
};

struct lg_query_regex {
    pcre2_code *code;
    bool jit;
    char pattern[LONGEST_PATTERN + 1];
};

typedef struct slot {
    const char *data; /* NULL: free */
    size_t length;
    uint32_t hash;
    int answer;
} slot;

struct lg_query_matcher {
    const lg_query_regex *regex;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    slot *slots;
    size_t n_slots, used;
};

lg_status lg_query_regex_compile(const char *pattern, size_t length, bool ignore_case, lg_query_regex **out,
                                 char message[256], size_t *at, lg_error *error) {
    *out = NULL;
    *at = 0;
    if (length > LONGEST_PATTERN) {
        snprintf(message, 256, "it is longer than %d bytes", LONGEST_PATTERN);
        return LG_OK;
    }
    lg_query_regex *regex = calloc(1, sizeof *regex);
    if (!regex) return lg_fail_memory(error);
    memcpy(regex->pattern, pattern, length);
    int code = 0;
    PCRE2_SIZE offset = 0;
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY |
                       PCRE2_NEVER_BACKSLASH_C | (ignore_case ? PCRE2_CASELESS : 0);
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context) return free(regex), lg_fail_memory(error);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF); /* not what PCRE2 happens to be built for */
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, length, options, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (regex->code) {
        regex->jit = pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0;
        *out = regex;
        return LG_OK;
    }
    free(regex);
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED) return lg_fail_memory(error);
    pcre2_get_error_message(code, (PCRE2_UCHAR *)message, 256);
    *at = offset < length ? offset : length;
    return LG_OK;
}

void lg_query_regex_free(lg_query_regex *regex) {
    if (!regex) return;
    pcre2_code_free(regex->code);
    free(regex);
}

const char *lg_query_regex_pattern(const lg_query_regex *regex) {
    return regex->pattern;
}

lg_query_matcher *lg_query_matcher_create(const lg_query_regex *regex) {
    lg_query_matcher *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->regex = regex;
    m->data = pcre2_match_data_create(1, NULL);
    m->context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL);
    m->n_slots = FIRST_SLOTS;
    m->slots = calloc(m->n_slots, sizeof *m->slots);
    if (!m->data || !m->context || !m->stack || !m->slots) {
        lg_query_matcher_free(m);
        return NULL;
    }
    pcre2_set_match_limit(m->context, MATCH_LIMIT);
    pcre2_set_heap_limit(m->context, HEAP_LIMIT);
    pcre2_jit_stack_assign(m->context, NULL, m->stack);
    return m;
}

void lg_query_matcher_free(lg_query_matcher *m) {
    if (!m) return;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_jit_stack_free(m->stack);
    free(m->slots);
    free(m);
}

int lg_query_match(lg_query_matcher *m, lg_string text) {
    PCRE2_SPTR subject = (PCRE2_SPTR)text.data;
    int code = PCRE2_ERROR_JIT_STACKLIMIT;
    if (m->regex->jit) code = pcre2_match(m->regex->code, subject, text.length, 0, 0, m->data, m->context);
    if (code == PCRE2_ERROR_JIT_STACKLIMIT)
        code = pcre2_match(m->regex->code, subject, text.length, 0, PCRE2_NO_JIT, m->data, m->context);
    if (code >= 0) return 1;
    if (code == PCRE2_ERROR_NOMATCH) return 0;
    return code == PCRE2_ERROR_NOMEMORY ? -2 : -1;
}

static slot *find_slot(slot *slots, size_t n_slots, lg_string text, uint32_t hash) {
    size_t i = hash & (n_slots - 1);
    while (slots[i].data && (slots[i].hash != hash || slots[i].length != text.length ||
                             memcmp(slots[i].data, text.data, text.length) != 0))
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

/* Twice the slots; without memory for them it goes on with those that it has. */
static void grow(lg_query_matcher *m) {
    size_t n = 2 * m->n_slots;
    slot *slots = calloc(n, sizeof *slots);
    if (!slots) return;
    for (size_t i = 0; i < m->n_slots; i++) {
        if (!m->slots[i].data) continue;
        size_t at = m->slots[i].hash & (n - 1);
        while (slots[at].data) at = (at + 1) & (n - 1);
        slots[at] = m->slots[i];
    }
    free(m->slots);
    m->slots = slots;
    m->n_slots = n;
}

int lg_query_match_again(lg_query_matcher *m, lg_string text) {
    uint32_t hash = (uint32_t)lg_hash_of(text.data, text.length).low;
    slot *s = find_slot(m->slots, m->n_slots, text, hash);
    if (s->data) return s->answer;
    int answer = lg_query_match(m, text);
    if (answer < 0) return answer;
    if (2 * (m->used + 1) > m->n_slots) {
        if (m->n_slots < MAX_SLOTS) grow(m);
        if (2 * (m->used + 1) > m->n_slots) return answer;
        s = find_slot(m->slots, m->n_slots, text, hash);
    }
    *s = (slot){.data = text.data, .length = text.length, .hash = hash, .answer = answer};
    m->used++;
    return answer;
}
