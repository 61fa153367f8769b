/* The filter `state` (method, section 7): new tokens of those content tags on which B is ahead the most. To
   choose by the gap selects on the outcome, so one half of the documents chooses and the filter holds in the
   other one only. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/columns.h"
#include "stats/filter_internal.h"
#include "stats/where.h"

enum { BLOCK = LG_QUERY_BLOCK };

typedef struct tally {
    const char *tag;
    double sum;
    uint64_t tokens, documents;
    size_t last; /* the document counted last, + 1 */
} tally;

/* By gap, largest first; then by name. */
static int more_favoured(const void *a, const void *b) {
    const tally *x = a, *y = b;
    double gap_x = x->sum / (double)x->tokens, gap_y = y->sum / (double)y->tokens;
    return gap_x > gap_y ? -1 : gap_x < gap_y ? 1 : strcmp(x->tag, y->tag);
}

/* Sums over the tokens for which WHERE holds, by level of TAG. Without a PAIR only counts. */
static lg_status count_tags(const lg_dataset *data, const lg_scores *pair, const lg_group_column *tag,
                            lg_where *where, tally *tallies, lg_error *error) {
    uint8_t truth[BLOCK];
    uint32_t levels[BLOCK];
    size_t doc = 0;
    for (size_t first = 0, n; first < data->n_tokens; first += n) {
        n = data->n_tokens - first < BLOCK ? data->n_tokens - first : BLOCK;
        lg_status status = lg_where_read(where, first, n, truth, error);
        if (status) return status;
        lg_group_column_read(tag, 0, first, n, levels);
        for (size_t i = 0; i < n; i++) {
            size_t token = first + i;
            while (token >= data->doc_token_end[doc]) doc++;
            if (truth[i] != LG_QUERY_TRUE || (pair && isnan(pair[0].nll[token]))) continue;
            tally *t = &tallies[levels[i]];
            if (pair) t->sum += (double)pair[0].nll[token] - (double)pair[1].nll[token];
            t->tokens++;
            t->documents += t->last != doc + 1;
            t->last = doc + 1;
        }
    }
    return LG_OK;
}

/* A level as the query language reads it: in quotes, unless it is a plain word. */
static void put_level(lg_text *out, const char *level) {
    bool plain = strcmp(level, "in") != 0 && strcmp(level, "not") != 0 && strcmp(level, "and") != 0 &&
                 strcmp(level, "or") != 0 && *level;
    for (const char *p = level; *p && plain; p++)
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                (p > level && ((*p >= '0' && *p <= '9') || *p == '$' || *p == '+' || *p == '.'));
    if (plain) {
        lg_text_puts(out, level);
        return;
    }
    lg_text_puts(out, "'");
    for (const char *p = level; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) lg_text_printf(out, "\\x%02x", (unsigned char)*p);
        else lg_text_printf(out, *p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
    }
    lg_text_puts(out, "'");
}

static lg_status put_expression(lg_filters *f, bool half, lg_filter_definition *state, lg_error *error) {
    lg_text out = {0};
    lg_text_puts(&out, half ? "half = 1 and copy_len = 0 and tag in (" : "copy_len = 0 and tag in (");
    for (size_t i = 0; i < f->n_state; i++) {
        if (i) lg_text_puts(&out, ", ");
        put_level(&out, f->state[i].tag);
    }
    lg_text_puts(&out, ")");
    state->expression = out.failed ? NULL : lg_arena_copy(&f->arena, out.data, out.length);
    lg_text_free(&out);
    return state->expression ? LG_OK : lg_fail_memory(error);
}

static lg_status say(lg_filters *f, const char **where, const char *format, ...) LG_PRINTF(3, 4);
static lg_status say(lg_filters *f, const char **where, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *where = lg_arena_copy(&f->arena, text, strlen(text));
    return *where ? LG_OK : LG_FAILED;
}

/* The given tags, with their counts over all documents. A tag that there is not stays in: the language says
   what is wrong with it. */
static lg_status take_given(lg_filters *f, const char *const *given, const tally *tallies, size_t n_levels,
                            bool pair, lg_filter_definition *state, lg_error *error) {
    size_t n = 0;
    while (given[n]) n++;
    f->state = lg_arena_alloc(&f->arena, (n + 1) * sizeof *f->state);
    if (!f->state) return lg_fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        lg_state_tag *t = &f->state[f->n_state++];
        *t = (lg_state_tag){.tag = lg_arena_copy(&f->arena, given[i], strlen(given[i])), .gap = NAN};
        if (!t->tag) return lg_fail_memory(error);
        for (size_t l = 0; l < n_levels; l++) {
            if (strcmp(tallies[l].tag, t->tag) != 0) continue;
            t->tokens = tallies[l].tokens;
            t->documents = tallies[l].documents;
            if (pair && t->tokens) t->gap = tallies[l].sum / (double)t->tokens;
        }
    }
    if (say(f, &state->note, "%zu given tags, in all documents", n)) return lg_fail_memory(error);
    return put_expression(f, false, state, error);
}

static lg_status take_best(lg_filters *f, tally *tallies, size_t n_levels, size_t choosing,
                           lg_filter_definition *state, lg_error *error) {
    size_t seen = 0, n = 0, ahead = 0;
    for (size_t l = 0; l < n_levels; l++) {
        seen += tallies[l].tokens > 0;
        if (tallies[l].tokens >= LG_STATE_TOKENS && tallies[l].documents >= LG_STATE_DOCUMENTS)
            tallies[n++] = tallies[l];
    }
    if (!n) {
        if (say(f, &state->reason,
                "none of the %zu content tags has %d tokens in %d documents of the half that chooses "
                "(%zu of %zu documents); --state-tags takes a list",
                seen, LG_STATE_TOKENS, LG_STATE_DOCUMENTS, choosing, f->data->n_docs))
            return lg_fail_memory(error);
        return LG_OK;
    }
    qsort(tallies, n, sizeof *tallies, more_favoured);
    f->n_state = n < LG_STATE_TAGS ? n : LG_STATE_TAGS;
    f->state = lg_arena_alloc(&f->arena, f->n_state * sizeof *f->state);
    if (!f->state) return lg_fail_memory(error);
    for (size_t i = 0; i < f->n_state; i++) {
        const tally *t = &tallies[i];
        f->state[i] = (lg_state_tag){.tag = lg_arena_copy(&f->arena, t->tag, strlen(t->tag)),
                                     .gap = t->sum / (double)t->tokens,
                                     .tokens = t->tokens,
                                     .documents = t->documents};
        if (!f->state[i].tag) return lg_fail_memory(error);
        ahead += f->state[i].gap > 0;
    }
    char which[96], behind[96] = "";
    if (n < LG_STATE_TAGS)
        snprintf(which, sizeof which, "all %zu content tags (%d were wanted) that have", n, LG_STATE_TAGS);
    else snprintf(which, sizeof which, "the %d most B-favoured of %zu content tags with", LG_STATE_TAGS, n);
    if (ahead < f->n_state)
        snprintf(behind, sizeof behind, "; B is not ahead on %zu of them", f->n_state - ahead);
    if (say(f, &state->note,
            "%s %d tokens in %d documents of half 0 (%zu of %zu documents); the filter holds in half 1 "
            "only%s",
            which, LG_STATE_TOKENS, LG_STATE_DOCUMENTS, choosing, f->data->n_docs, behind))
        return lg_fail_memory(error);
    return put_expression(f, true, state, error);
}

lg_status lg_filter_choose_state(lg_filters *f, const lg_table *tags, const lg_scores *pair,
                                 const char *const *models, const char *const *given,
                                 lg_filter_definition *state, lg_error *error) {
    const lg_dataset *data = f->data;
    lg_arena arena = {0};
    lg_where where = {0};
    lg_group_column tag;
    tally *tallies = NULL;
    size_t choosing = 0;
    lg_status status = lg_group_column_open(data, tags, "tag", &arena, &tag, error);
    if (!status && !(tallies = calloc(tag.n_levels + 1, sizeof *tallies))) status = lg_fail_memory(error);
    if (status) goto done;
    for (size_t l = 0; l < tag.n_levels; l++) tallies[l].tag = tag.levels[l];
    status = lg_where_open(given ? NULL : "half = 0 and class = content", "state", data, pair, models,
                           pair ? 2 : 0, tags, &where, error);
    if (!status) status = count_tags(data, pair, &tag, &where, tallies, error);
    for (size_t d = 0; d < data->n_docs && !given; d++) choosing += !lg_half_of_document(data, d);
    if (!status)
        status = given ? take_given(f, given, tallies, tag.n_levels, pair, state, error)
                       : take_best(f, tallies, tag.n_levels, choosing, state, error);
done:
    lg_where_close(&where);
    free(tallies);
    lg_arena_free(&arena);
    return status;
}
