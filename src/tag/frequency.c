/* How frequent a token's type is: in the dataset itself, or in a table that was counted elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "lossgap/tag.h"
#include "store/table_writer.h"
#include "tag/tag_internal.h"

enum { VERSION = 1, MAX_TYPES = 1 << 28 };

typedef struct state {
    uint64_t *count; /* [n_types] tokens of each type */
    size_t n_types, room;
    uint64_t total;
    char identity[33]; /* of the table; "": the dataset's own */
} state;

static void close_state(void *opened) {
    state *s = opened;
    free(s->count);
    free(s);
}

static lg_status add_tokens(state *s, const lg_dataset *data, lg_error *error) {
    for (size_t i = 0; i < data->n_tokens; i++) {
        uint32_t id = data->token_id[i];
        if (id >= s->n_types) {
            if (id >= MAX_TYPES)
                return lg_fail(error, LG_BAD_INPUT, "%s: token %zu has the id %u; no vocabulary is so large",
                               lg_table_path(data->table), i, id);
            if (!lg_reserve(&s->count, &s->room, (size_t)id + 1, sizeof *s->count))
                return lg_fail_memory(error);
            memset(s->count + s->n_types, 0, (s->room - s->n_types) * sizeof *s->count);
            s->n_types = s->room;
        }
        s->count[id]++;
    }
    s->total += data->n_tokens;
    return LG_OK;
}

static lg_status check_tokenizer(const lg_table *table, const lg_dataset *data, lg_error *error) {
    lg_arena arena = {0};
    lg_json_value *inputs;
    const char *text = lg_table_provenance(table)->inputs;
    lg_status status = lg_json_parse(&arena, text, strlen(text), lg_table_path(table), &inputs, error);
    if (!status) {
        const lg_json_value *v = lg_json_get(inputs, "tokenizer");
        if (!v || v->type != LG_JSON_STRING || strcmp(v->string, data->tokenizer) != 0)
            status = lg_fail(error, LG_BAD_INPUT,
                             "%s counts the tokens of another tokenizer than that of %s: run `lossgap "
                             "frequency` on data of this one",
                             lg_table_path(table), lg_table_path(data->table));
    }
    lg_arena_free(&arena);
    return status;
}

static lg_status read_table(state *s, const char *path, const lg_dataset *data, lg_error *error) {
    lg_table *table = NULL;
    const void *count = NULL;
    lg_status status = lg_table_open(path, "frequency", &table, error);
    const lg_tensor *t = status ? NULL : lg_table_find(table, "count");
    if (!status) status = check_tokenizer(table, data, error);
    if (!status) status = lg_table_column(table, "count", LG_U64, SIZE_MAX, &count, error);
    if (!status) {
        s->n_types = t->count;
        s->count = lg_alloc(t->count + 1, sizeof *s->count);
        if (s->count) memcpy(s->count, count, t->count * sizeof *s->count);
        else status = lg_fail_memory(error);
        strcpy(s->identity, "");
        strncat(s->identity, lg_table_provenance(table)->identity, sizeof s->identity - 1);
    }
    for (size_t i = 0; i < s->n_types && !status; i++)
        if (__builtin_add_overflow(s->total, s->count[i], &s->total))
            status = lg_fail(error, LG_BAD_INPUT, "%s: the counts add up to more than 64 bits hold", path);
    lg_table_close(table);
    return status;
}

static lg_status open_counts(const lg_tag_maker *self, const lg_tag_context *context, void **opened,
                             lg_error *error) {
    (void)self;
    state *s = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    *opened = s;
    const char *path = context->options->frequency;
    if (!context->data) return LG_OK; /* only asked what columns there are */
    return path ? read_table(s, path, context->data, error) : add_tokens(s, context->data, error);
}

static void describe(const void *opened, lg_json_writer *settings) {
    const state *s = opened;
    lg_json_put_key(settings, "frequency");
    lg_json_put_text(settings, *s->identity ? s->identity : "dataset");
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)spans;
    const state *s = lg_tag_state(d->context, self);
    double *frequency = columns[0];
    for (size_t i = 0; i < d->n_tokens; i++)
        frequency[i] =
            d->ids[i] < s->n_types && s->total ? (double)s->count[d->ids[i]] / (double)s->total : 0;
    return true;
}

const lg_tag_maker lg_maker_frequency = {
    .name = "frequency",
    .help = "how frequent the token's type is",
    .columns = {{.name = "frequency",
                 .help = "of the type among all tokens of the dataset, or of --frequency; 0: not in it",
                 .dtype = LG_F64}},
    .open = open_counts,
    .close = close_state,
    .describe = describe,
    .fill = fill,
};

lg_status lg_frequency_count(const lg_dataset *datasets, size_t n, const char *out, const char *command,
                             const lg_monitor *monitor, lg_error *error) {
    state *s = calloc(1, sizeof *s);
    lg_table_writer *writer = NULL;
    lg_text inputs = {0};
    size_t column;
    lg_status status = s ? lg_table_may_replace(out, "frequency", error) : lg_fail_memory(error);
    lg_json_writer w = {.out = &inputs};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "tokenizer");
    lg_json_put_text(&w, n ? datasets[0].tokenizer : "");
    lg_json_put_key(&w, "datasets");
    lg_json_put_array(&w);
    for (size_t i = 0; i < n && !status; i++) {
        if (strcmp(datasets[i].tokenizer, datasets[0].tokenizer) != 0)
            status = lg_fail(error, LG_BAD_INPUT,
                             "%s and %s were made by different tokenizers: their ids mean different tokens",
                             lg_table_path(datasets[0].table), lg_table_path(datasets[i].table));
        lg_json_put_text(&w, lg_table_provenance(datasets[i].table)->identity);
        if (!status) status = lg_is_cancelled(monitor) ? LG_CANCELLED : add_tokens(s, &datasets[i], error);
        lg_progress(monitor, "datasets", i + 1, n);
    }
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    if (!status && inputs.failed) status = lg_fail_memory(error);
    while (!status && s->n_types && !s->count[s->n_types - 1]) s->n_types--;
    if (!status) status = lg_table_writer_create(out, &writer, error);
    if (!status) status = lg_table_writer_add(writer, "count", LG_U64, 1, &column, error);
    if (!status) status = lg_table_writer_append(writer, column, s->count, s->n_types, error);
    if (!status) {
        lg_provenance provenance = {.format = "frequency",
                                    .version = VERSION,
                                    .command = command,
                                    .inputs = inputs.data,
                                    .settings = "{}"};
        status = lg_table_writer_commit(writer, &provenance, NULL, error);
        writer = NULL;
    }
    lg_table_writer_discard(writer);
    lg_text_free(&inputs);
    if (s) close_state(s);
    return status;
}
