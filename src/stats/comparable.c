/* Whether scores and tags may be put side by side: the same tokens, under the same prefixes. */
#include "stats/comparable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

/* "token 17 of document NAME" (counted from 0) into OUT. */
static const char *place_of(const lg_dataset *data, size_t token, char *out, size_t size) {
    size_t low = 0, high = data->n_docs - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (data->doc_token_end[middle] <= token) low = middle + 1;
        else high = middle;
    }
    size_t name = (size_t)lg_begin_of(data->doc_name_end, low);
    snprintf(out, size, "token %zu of document '%.*s'", token - (size_t)lg_begin_of(data->doc_token_end, low),
             (int)(data->doc_name_end[low] - name < 200 ? data->doc_name_end[low] - name : 200),
             data->doc_name + name);
    return out;
}

static const char *prefix_name(int64_t prefix, char out[24]) {
    if (prefix < 0) return "none";
    snprintf(out, 24, "%lld", (long long)prefix);
    return out;
}

static lg_status check_pair(const lg_dataset *data, const lg_scores *a, const lg_scores *b,
                            const char *name_a, const char *name_b, lg_error *error) {
    char place[300], one[24], other[24];
    if (a->prefix != b->prefix)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s was scored with prefix %s, %s with prefix %s: score both with the same --prefix",
                       name_a, prefix_name(a->prefix, one), name_b, prefix_name(b->prefix, other));
    for (size_t i = 0; i < data->n_tokens; i++) {
        if (isnan(a->nll[i]) != isnan(b->nll[i]))
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s has a loss for %s, %s has none: they can be compared over the same tokens only%s",
                isnan(a->nll[i]) ? name_b : name_a, place_of(data, i, place, sizeof place),
                isnan(a->nll[i]) ? name_a : name_b,
                data->spans ? "; align the scores of all models in one go" : "");
        if (data->spans && !isnan(a->nll[i]) && a->context[i] != b->context[i])
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s and %s were aligned with other models, or with other windows, than each other: "
                "align the scores of all models in one go",
                name_a, name_b);
        if (!isnan(a->nll[i]) && a->context[i] != b->context[i])
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s had %u tokens of context in %s and %u in %s: score both with the same --windows, "
                "--context and --stride",
                place_of(data, i, place, sizeof place), a->context[i], name_a, b->context[i], name_b);
    }
    return LG_OK;
}

lg_status lg_check_scores(const lg_dataset *data, const lg_scores *scores, size_t n, const char *const *names,
                          lg_error *error) {
    for (size_t s = 0; s < n; s++) {
        if (scores[s].n_tokens != data->n_tokens)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s has %zu tokens, the dataset %zu: they do not belong together", names[s],
                           scores[s].n_tokens, data->n_tokens);
        for (size_t i = 0; i < data->n_tokens; i++) {
            char place[300];
            if (isinf(scores[s].nll[i]))
                return lg_fail(error, LG_BAD_INPUT,
                               "%s has an infinite loss for %s: a mean over it says nothing", names[s],
                               place_of(data, i, place, sizeof place));
        }
        lg_status status = s ? check_pair(data, &scores[0], &scores[s], names[0], names[s], error) : LG_OK;
        if (status) return status;
    }
    return LG_OK;
}

lg_status lg_check_tags(const lg_dataset *data, const lg_table *tags, lg_error *error) {
    lg_arena arena = {0};
    lg_json_value *inputs;
    const char *text = lg_table_provenance(tags)->inputs;
    lg_status status = lg_json_parse(&arena, text, strlen(text), lg_table_path(tags), &inputs, error);
    if (!status) {
        const lg_json_value *dataset = lg_json_get(inputs, "dataset");
        if (!dataset || dataset->type != LG_JSON_STRING ||
            strcmp(dataset->string, lg_table_provenance(data->table)->identity) != 0)
            status = lg_fail(error, LG_BAD_INPUT,
                             "%s was made of another dataset than %s: run `lossgap tag` on this one",
                             lg_table_path(tags), lg_table_path(data->table));
    }
    lg_arena_free(&arena);
    return status;
}

const char *const *lg_name_models(lg_arena *arena, const lg_scores *scores, size_t n) {
    const char **names = lg_arena_alloc(arena, n * sizeof *names);
    for (size_t i = 0; names && i < n; i++) {
        char name[256];
        size_t same = 1;
        for (size_t j = 0; j < i; j++) same += strcmp(scores[j].model_name, scores[i].model_name) == 0;
        if (same > 1) snprintf(name, sizeof name, "%.200s#%zu", scores[i].model_name, same);
        else snprintf(name, sizeof name, "%.250s", scores[i].model_name);
        names[i] = lg_arena_copy(arena, name, strlen(name));
        if (!names[i]) return NULL;
    }
    return names;
}

lg_scores *lg_pretend_scores(const lg_dataset *data, size_t n, unsigned columns) {
    static const uint32_t none;
    static const float no_loss;
    lg_scores *scores = calloc(n + 1, sizeof *scores);
    for (size_t i = 0; scores && i < n; i++)
        scores[i] = (lg_scores){.n_tokens = data->n_tokens,
                                .nll = &no_loss,
                                .context = &none,
                                .entropy = columns & LG_COLUMN_ENTROPY ? &no_loss : NULL,
                                .rank = columns & LG_COLUMN_RANK ? &none : NULL,
                                .top1 = columns & LG_COLUMN_TOP1 ? &none : NULL,
                                .tokens = data->spans ? &none : NULL};
    return scores;
}
