/* A dataset of another one's documents, with other tokens: the same text, names, kinds and domains, whatever
   has become of the corpus, and whichever documents a limit left. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "corpus/batch.h"
#include "lossgap/dataset.h"
#include "store/table_writer.h"

/* What the new dataset has from the old one's provenance. */
typedef struct origin {
    lg_arena arena;
    const char *corpus; /* its hash; NULL: not said */
    bool parse_special;
    uint64_t limit;
} origin;

static lg_status read_origin(const lg_dataset *data, origin *o, lg_error *error) {
    const lg_provenance *p = lg_table_provenance(data->table);
    const char *path = lg_table_path(data->table);
    lg_json_value *settings = NULL, *inputs = NULL;
    *o = (origin){0};
    lg_status status = lg_json_parse(&o->arena, p->settings, strlen(p->settings), path, &settings, error);
    if (!status) status = lg_json_parse(&o->arena, p->inputs, strlen(p->inputs), path, &inputs, error);
    if (status) return status;
    const lg_json_value *corpus = lg_json_get(inputs, "corpus"), *limit = lg_json_get(settings, "limit"),
                        *special = lg_json_get(settings, "parse_special");
    if (corpus && corpus->type == LG_JSON_STRING) o->corpus = corpus->string;
    if (limit && limit->type == LG_JSON_INTEGER && limit->integer > 0) o->limit = (uint64_t)limit->integer;
    o->parse_special = special && special->type == LG_JSON_BOOL && special->boolean;
    return LG_OK;
}

/* As lg_dataset_build writes them: with no limit, the file says of itself what it would say if it came from
   the corpus. */
static void put_settings(const lg_dataset *data, const origin *o, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "domains");
    lg_json_put_array(&w);
    for (size_t i = 0; i < data->n_domains; i++) lg_json_put_text(&w, data->domains[i]);
    lg_json_end_array(&w);
    lg_json_put_key(&w, "input_ids");
    lg_json_put_bool(&w, false);
    lg_json_put_key(&w, "parse_special");
    lg_json_put_bool(&w, o->parse_special);
    lg_json_put_key(&w, "limit");
    lg_json_put_unsigned(&w, o->limit);
    lg_json_end_object(&w);
}

static void put_inputs(const lg_dataset *data, const origin *o, const lg_tokenizer *tokenizer, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    if (o->corpus) {
        lg_json_put_key(&w, "corpus");
        lg_json_put_text(&w, o->corpus);
    }
    lg_json_put_key(&w, "tokenizer");
    lg_json_put_text(&w, lg_tokenizer_identity(tokenizer));
    lg_json_put_key(&w, "documents");
    lg_json_put_text(&w, lg_table_provenance(data->table)->identity);
    lg_json_end_object(&w);
}

static void put_about(const lg_dataset *data, const lg_tokenizer *tokenizer, uint64_t tokens, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "documents");
    lg_json_put_unsigned(&w, data->n_docs);
    lg_json_put_key(&w, "tokens");
    lg_json_put_unsigned(&w, tokens);
    lg_json_put_key(&w, "bytes");
    lg_json_put_unsigned(&w, data->n_bytes);
    lg_json_put_key(&w, "tokenizer");
    lg_json_put_text(&w, lg_tokenizer_describe(tokenizer));
    lg_json_end_object(&w);
}

typedef struct columns {
    size_t doc_token_end, token_id, token_end;
} columns;

/* Adds all columns, and writes those that stay as they are. */
static lg_status write_documents(const lg_dataset *d, lg_table_writer *writer, columns *c, lg_error *error) {
    const struct {
        const char *name;
        lg_dtype dtype;
        const void *values;
        size_t count;
        size_t *column; /* of those that change */
    } all[] = {
        {"text", LG_U8, d->text, d->n_bytes, NULL},
        {"doc_text_end", LG_U64, d->doc_text_end, d->n_docs, NULL},
        {"doc_token_end", LG_U64, NULL, 0, &c->doc_token_end},
        {"doc_kind", LG_U8, d->doc_kind, d->n_docs, NULL},
        {"doc_domain", LG_U16, d->doc_domain, d->n_docs, NULL},
        {"doc_name", LG_U8, d->doc_name, d->n_docs ? (size_t)d->doc_name_end[d->n_docs - 1] : 0, NULL},
        {"doc_name_end", LG_U64, d->doc_name_end, d->n_docs, NULL},
        {"token_id", LG_U32, NULL, 0, &c->token_id},
        {"token_end", LG_U64, NULL, 0, &c->token_end},
    };
    lg_status status = LG_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
        size_t column;
        status = lg_table_writer_add(writer, all[i].name, all[i].dtype, 1, &column, error);
        if (all[i].column) *all[i].column = column;
        if (!status && all[i].count)
            status = lg_table_writer_append(writer, column, all[i].values, all[i].count, error);
    }
    return status;
}

static lg_status fill_batch(const lg_dataset *data, size_t *doc, lg_batch *batch, lg_error *error) {
    lg_batch_clear(batch);
    for (; *doc < data->n_docs && !lg_batch_full(batch); ++*doc) {
        const size_t begin = (size_t)lg_begin_of(data->doc_text_end, *doc),
                     name = (size_t)lg_begin_of(data->doc_name_end, *doc);
        const lg_document d = {.name = {data->doc_name + name, (size_t)data->doc_name_end[*doc] - name},
                               .kind = (lg_kind)data->doc_kind[*doc],
                               .size = (size_t)data->doc_text_end[*doc] - begin};
        lg_text_put(&batch->content, data->text + begin, d.size);
        if (batch->content.failed || !lg_batch_add(batch, &d, (lg_hash){0}, *doc, 0))
            return lg_fail_memory(error);
    }
    return LG_OK;
}

/* OFFSET: of the document's text. */
static lg_status write_tokens(const lg_batch_document *d, uint64_t offset, lg_table_writer *writer,
                              const columns *c, uint64_t *tokens, lg_error *error) {
    enum { CHUNK = 1024 };
    uint64_t ends[CHUNK];
    *tokens += d->n_tokens;
    lg_status status = lg_table_writer_append(writer, c->doc_token_end, tokens, 1, error);
    if (!status && d->n_tokens)
        status = lg_table_writer_append(writer, c->token_id, d->ids, d->n_tokens, error);
    for (size_t i = 0; i < d->n_tokens && !status; i += CHUNK) {
        size_t n = d->n_tokens - i < CHUNK ? d->n_tokens - i : CHUNK;
        for (size_t k = 0; k < n; k++) ends[k] = offset + d->ends[i + k];
        status = lg_table_writer_append(writer, c->token_end, ends, n, error);
    }
    return status;
}

static lg_status tokenize_all(const lg_dataset *data, lg_team *team, lg_table_writer *writer,
                              const columns *c, uint64_t *tokens, const lg_monitor *monitor,
                              lg_error *error) {
    lg_batch batch = {0};
    lg_status status = LG_OK;
    for (size_t doc = 0; doc < data->n_docs && !status;) {
        const size_t first = doc;
        status = fill_batch(data, &doc, &batch, error);
        if (!status) status = lg_team_tokenize(team, &batch, error);
        for (size_t i = 0; i < batch.n && !status; i++)
            status = write_tokens(&batch.documents[i], lg_begin_of(data->doc_text_end, first + i), writer, c,
                                  tokens, error);
        if (status) break;
        lg_progress(monitor, "bytes", data->doc_text_end[doc - 1], data->n_bytes);
        if (lg_is_cancelled(monitor)) status = lg_fail(error, LG_CANCELLED, "stopped; nothing was written");
    }
    lg_batch_free(&batch);
    return status;
}

/* Consumes the writer. */
static lg_status commit(const lg_dataset *data, const origin *o, const lg_tokenizer *tokenizer,
                        uint64_t tokens, lg_table_writer *writer, const char *command, lg_error *error) {
    lg_text settings = {0}, inputs = {0}, about = {0};
    put_settings(data, o, &settings);
    put_inputs(data, o, tokenizer, &inputs);
    put_about(data, tokenizer, tokens, &about);
    lg_status status;
    if (settings.failed || inputs.failed || about.failed) {
        lg_table_writer_discard(writer);
        status = lg_fail_memory(error);
    } else {
        const lg_provenance provenance = {.format = "dataset",
                                          .version = 1,
                                          .command = command ? command : "",
                                          .inputs = inputs.data,
                                          .settings = settings.data};
        status = lg_table_writer_commit(writer, &provenance, about.data, error);
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    lg_text_free(&about);
    return status;
}

lg_status lg_dataset_retokenize(const lg_dataset *data, const char *folder, unsigned threads,
                                const char *command, const char *out, const lg_monitor *monitor,
                                lg_error *error) {
    lg_tokenizer *tokenizer = NULL;
    lg_team *team = NULL;
    lg_table_writer *writer = NULL;
    origin o = {0};
    columns c;
    uint64_t tokens = 0;
    if (!data->has_text)
        return lg_fail(error, LG_BAD_INPUT, "%s came already tokenised: there is no text to tokenize again",
                       lg_table_path(data->table));
    if (lg_is_same_file(out, lg_table_path(data->table)))
        return lg_fail(error, LG_USAGE, "%s is read and would be overwritten: choose another output", out);
    lg_status status = lg_table_may_replace(out, "dataset", error);
    if (status || (status = read_origin(data, &o, error)) ||
        (status = lg_tokenizer_open(folder, &tokenizer, error)) ||
        (status = lg_team_create(tokenizer, o.parse_special, threads, &team, error)) ||
        (status = lg_table_writer_create(out, &writer, error)) ||
        (status = write_documents(data, writer, &c, error)) ||
        (status = tokenize_all(data, team, writer, &c, &tokens, monitor, error)))
        goto done;
    status = commit(data, &o, tokenizer, tokens, writer, command, error);
    writer = NULL;
    if (!status)
        lg_note(monitor, "%zu documents, %llu tokens, %zu bytes", data->n_docs, (unsigned long long)tokens,
                data->n_bytes);
done:
    lg_table_writer_discard(writer);
    lg_team_free(team);
    lg_tokenizer_close(tokenizer);
    lg_arena_free(&o.arena);
    return status;
}

lg_status lg_dataset_is_retokenized(const char *path, const lg_dataset *data, const char *folder,
                                    bool *current, lg_error *error) {
    lg_tokenizer *tokenizer = NULL;
    lg_table *table = NULL;
    lg_text settings = {0}, inputs = {0};
    lg_error unread = {0};
    origin o;
    *current = false;
    lg_status status = read_origin(data, &o, error);
    if (!status) status = lg_tokenizer_open(folder, &tokenizer, error);
    if (status) goto done;
    put_settings(data, &o, &settings);
    put_inputs(data, &o, tokenizer, &inputs);
    if (settings.failed || inputs.failed) {
        status = lg_fail_memory(error);
        goto done;
    }
    status = lg_table_open(path, "dataset", &table, &unread);
    if (!status) {
        const lg_provenance *p = lg_table_provenance(table);
        *current = strcmp(p->settings, settings.data) == 0 && strcmp(p->inputs, inputs.data) == 0;
    } else if (status == LG_BAD_INPUT) {
        status = LG_OK;
    } else if (error) {
        *error = unread;
    }
done:
    lg_table_close(table);
    lg_tokenizer_close(tokenizer);
    lg_text_free(&settings);
    lg_text_free(&inputs);
    lg_arena_free(&o.arena);
    return status;
}
