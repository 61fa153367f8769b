/* From a corpus to a dataset: passes over the documents, the sample, the artefact. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "corpus/batch.h"
#include "corpus/labels.h"
#include "corpus/sample.h"
#include "lossgap/dataset.h"
#include "store/table_writer.h"

enum { MAX_DOMAINS = 65535 };

/* HASH reads and hashes only; SAMPLE finds the documents that a limit leaves; WRITE makes the dataset. */
typedef enum pass { PASS_HASH, PASS_SAMPLE, PASS_WRITE } pass;

/* Of the documents in the dataset. */
typedef struct counts {
    uint64_t documents, tokens, empty, duplicates, invalid_utf8, lone_surrogates;
} counts;

typedef struct columns {
    size_t text, doc_text_end, doc_token_end, doc_kind, doc_domain, doc_name, doc_name_end, token_id,
        token_end;
} columns;

typedef struct builder {
    lg_dataset_options options;
    int kind; /* lg_kind or -1 */
    const lg_monitor *monitor;
    lg_corpus_files files;
    lg_tokenizer *tokenizer; /* NULL with input_ids */
    lg_team *team;
    lg_sample *sample; /* NULL without a limit */
    lg_table_writer *writer;
    columns columns;
    lg_labels domains;
    lg_batch batch;
    lg_hash *hashes; /* [n_hashes] of documents with content, to count the duplicates */
    size_t n_hashes, hashes_capacity;

    /* per pass */
    pass pass;
    lg_hasher *hasher; /* of the corpus */
    uint64_t n_read;   /* documents so far */
    uint64_t reported; /* bytes when progress was last told */
    counts counts;
    uint64_t text_end, token_end, name_end;
} builder;

/* ---- reading ---- */

static lg_status open_inputs(builder *b, const char *const *paths, size_t n_paths,
                             const lg_dataset_options *options, const lg_monitor *monitor, lg_error *error) {
    lg_kind kind = LG_PROSE;
    *b = (builder){.options = *options, .monitor = monitor};
    if (!n_paths) return lg_fail(error, LG_USAGE, "no corpus was named");
    if (options->kind && !lg_kind_parse(options->kind, &kind))
        return lg_fail(error, LG_USAGE, "there is no kind \"%s\": it is prose, python, html or latex",
                       options->kind);
    b->kind = options->kind ? (int)kind : -1;
    if (options->input_ids && options->tokenizer)
        return lg_fail(error, LG_USAGE, "already tokenised data (input_ids) need no tokenizer");
    if (options->input_ids && options->parse_special)
        return lg_fail(error, LG_USAGE, "already tokenised data (input_ids) have no special tokens to parse");
    if (!options->input_ids && !options->tokenizer)
        return lg_fail(error, LG_USAGE,
                       "a tokenizer is missing: a tokenizer.json or a folder that holds one");
    lg_status status =
        lg_corpus_files_find(paths, n_paths, options->kind != NULL, options->input_ids, &b->files, error);
    if (status) return status;
    for (size_t i = 0; i < b->files.n; i++)
        if (options->limit && !b->files.files[i].regular)
            return lg_fail(error, LG_USAGE,
                           "%s cannot be read twice, which a limit needs: save it as a file first",
                           b->files.files[i].path);
    if (!options->input_ids) status = lg_tokenizer_open(options->tokenizer, &b->tokenizer, error);
    if (!status && !(b->hasher = lg_hasher_create())) status = lg_fail_memory(error);
    return status;
}

static void close_all(builder *b) {
    lg_corpus_files_free(&b->files);
    lg_team_free(b->team);
    lg_tokenizer_close(b->tokenizer);
    lg_sample_free(b->sample);
    lg_table_writer_discard(b->writer);
    lg_labels_free(&b->domains);
    lg_batch_free(&b->batch);
    free(b->hashes);
    lg_hasher_free(b->hasher);
}

static void hash_string(lg_hasher *hasher, const void *data, size_t size) {
    uint64_t length = size;
    lg_hasher_add(hasher, &length, sizeof length);
    lg_hasher_add(hasher, data, size);
}

/* All that the dataset depends on, beside the settings. */
static void hash_document(lg_hasher *hasher, const lg_document *d, lg_hash content) {
    uint64_t fixed[4] = {content.high, content.low, d->size, (uint64_t)d->kind};
    lg_hasher_add(hasher, fixed, sizeof fixed);
    hash_string(hasher, d->name.data, d->name.length);
    hash_string(hasher, d->domain.data, d->domain.length);
}

/* Tells how far the reading is and asks whether to stop, every megabyte. */
static lg_status report(builder *b, const lg_reader *reader, lg_error *error) {
    enum { STEP = 1 << 20 };
    uint64_t consumed = lg_reader_consumed(reader), total = 0;
    if (consumed - b->reported < STEP) return LG_OK;
    b->reported = consumed;
    for (size_t i = 0; i < b->files.n; i++) total += b->files.files[i].size;
    if (b->sample) { /* two passes */
        if (b->pass == PASS_WRITE) consumed += total;
        total *= 2;
    }
    lg_progress(b->monitor, "bytes", consumed, total > consumed ? total : consumed);
    return lg_is_cancelled(b->monitor) ? lg_fail(error, LG_CANCELLED, "stopped; nothing was written") : LG_OK;
}

/* Takes the document at the end of the batch's content into the batch, or drops it. */
static lg_status take_document(builder *b, const lg_document *d, lg_error *error) {
    lg_batch *batch = &b->batch;
    size_t begin = batch->content.length - d->size, domain = 0;
    lg_hash hash = lg_hash_of(d->size ? batch->content.data + begin : "", d->size);
    uint64_t index = b->n_read++;
    hash_document(b->hasher, d, hash);
    bool wanted = b->pass == PASS_WRITE && (!b->sample || lg_sample_has(b->sample, index));
    if (wanted || b->pass == PASS_SAMPLE) {
        if (!lg_labels_add(&b->domains, d->domain, &domain)) return lg_fail_memory(error);
        if (b->domains.n > MAX_DOMAINS)
            return lg_fail(
                error, LG_BAD_INPUT,
                "more than %d domains (the last one in %.*s): are \"domain\" or \"source\" labels there?",
                MAX_DOMAINS, d->name.length < 200 ? (int)d->name.length : 200, d->name.data);
    }
    if (b->pass == PASS_SAMPLE) wanted = lg_sample_wants(b->sample, domain, hash, index);
    if (!wanted) batch->content.length = begin;
    return !wanted || lg_batch_add(batch, d, hash, index, domain) ? LG_OK : lg_fail_memory(error);
}

static lg_status fill_batch(builder *b, lg_reader *reader, bool *more, lg_error *error) {
    lg_batch_clear(&b->batch);
    *more = true;
    while (!lg_batch_full(&b->batch)) {
        lg_document document;
        lg_status status = lg_reader_next(reader, &b->batch.content, &document, more, error);
        if (status || !*more) return status;
        status = take_document(b, &document, error);
        if (!status) status = report(b, reader, error);
        if (status) return status;
    }
    return LG_OK;
}

/* ---- the dataset ---- */

static lg_status add_columns(builder *b, lg_error *error) {
    columns *c = &b->columns;
    const struct {
        const char *name;
        lg_dtype dtype;
        size_t *column;
    } all[] = {
        {"text", LG_U8, &c->text},
        {"doc_text_end", LG_U64, &c->doc_text_end},
        {"doc_token_end", LG_U64, &c->doc_token_end},
        {"doc_kind", LG_U8, &c->doc_kind},
        {"doc_domain", LG_U16, &c->doc_domain},
        {"doc_name", LG_U8, &c->doc_name},
        {"doc_name_end", LG_U64, &c->doc_name_end},
        {"token_id", LG_U32, &c->token_id},
        {"token_end", LG_U64, &c->token_end},
    };
    lg_status status = LG_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        status = lg_table_writer_add(b->writer, all[i].name, all[i].dtype, 1, all[i].column, error);
    return status;
}

/* Token ends over all text; 0 for already tokenised data. */
static lg_status put_token_ends(builder *b, const lg_batch_document *d, lg_error *error) {
    enum { CHUNK = 1024 };
    uint64_t ends[CHUNK];
    lg_status status = LG_OK;
    for (size_t i = 0; i < d->n_tokens && !status; i += CHUNK) {
        size_t n = d->n_tokens - i < CHUNK ? d->n_tokens - i : CHUNK;
        for (size_t k = 0; k < n; k++) ends[k] = d->ends ? b->text_end + d->ends[i + k] : 0;
        status = lg_table_writer_append(b->writer, b->columns.token_end, ends, n, error);
    }
    return status;
}

static lg_status write_document(builder *b, const lg_batch_document *d, lg_error *error) {
    const columns *c = &b->columns;
    const char *content = b->batch.content.data + d->begin, *name = b->batch.names.data + d->name_begin;
    const uint64_t text_end = b->options.input_ids ? 0 : b->text_end + d->size;
    const uint64_t token_end = b->token_end + d->n_tokens, name_end = b->name_end + d->name_size;
    const uint8_t kind = (uint8_t)d->kind;
    const uint16_t domain = (uint16_t)d->domain;
    const struct {
        size_t column;
        const void *values;
        size_t count;
    } all[] = {
        {c->text, content, b->options.input_ids ? 0 : d->size},
        {c->doc_text_end, &text_end, 1},
        {c->doc_token_end, &token_end, 1},
        {c->doc_kind, &kind, 1},
        {c->doc_domain, &domain, 1},
        {c->doc_name, name, d->name_size},
        {c->doc_name_end, &name_end, 1},
        {c->token_id, d->ids, d->n_tokens},
    };
    lg_status status = put_token_ends(b, d, error);
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        if (all[i].count)
            status = lg_table_writer_append(b->writer, all[i].column, all[i].values, all[i].count, error);
    if (status) return status;
    if (d->size) {
        if (!lg_reserve(&b->hashes, &b->hashes_capacity, b->n_hashes + 1, sizeof *b->hashes))
            return lg_fail_memory(error);
        b->hashes[b->n_hashes++] = d->hash;
    }
    b->text_end = text_end;
    b->token_end = token_end;
    b->name_end = name_end;
    b->counts.documents++;
    b->counts.tokens += d->n_tokens;
    b->counts.empty += d->size == 0;
    b->counts.invalid_utf8 += d->invalid_utf8;
    b->counts.lone_surrogates += d->lone_surrogates;
    return LG_OK;
}

static lg_status use_batch(builder *b, lg_error *error) {
    lg_status status = lg_team_tokenize(b->team, &b->batch, error);
    for (size_t i = 0; i < b->batch.n && !status; i++) {
        const lg_batch_document *d = &b->batch.documents[i];
        if (b->pass == PASS_WRITE) status = write_document(b, d, error);
        else if (!lg_sample_add(b->sample, d->domain, d->hash, d->index, d->n_tokens))
            status = lg_fail_memory(error);
    }
    return status;
}

/* One pass over the corpus; its hash is in b->hasher afterwards. */
static lg_status run_pass(builder *b, pass which, lg_error *error) {
    lg_reader *reader = NULL;
    bool more = true;
    b->pass = which;
    b->n_read = b->reported = 0;
    lg_hasher_reset(b->hasher);
    lg_labels_free(&b->domains);
    lg_status status =
        lg_reader_create(&b->files, b->kind, b->options.domain, b->options.input_ids, &reader, error);
    while (!status && more) {
        status = fill_batch(b, reader, &more, error);
        if (!status && b->batch.n) status = use_batch(b, error);
    }
    lg_reader_free(reader);
    return status;
}

/* ---- what is told ---- */

static int by_hash(const void *a, const void *b) {
    const lg_hash *x = a, *y = b;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->low < y->low ? -1 : x->low > y->low;
}

static void count_duplicates(builder *b) {
    if (b->n_hashes) qsort(b->hashes, b->n_hashes, sizeof *b->hashes, by_hash);
    for (size_t i = 1; i < b->n_hashes; i++)
        b->counts.duplicates += lg_hash_equal(b->hashes[i], b->hashes[i - 1]);
}

static const char *s_of(uint64_t n) {
    return n == 1 ? "" : "s";
}

static void note_skipped(const builder *b) {
    enum { SHOWN = 8 };
    const lg_corpus_files *f = &b->files;
    lg_text list = {0};
    uint64_t all = 0, rest = 0;
    for (size_t i = 0; i < f->n_skipped; i++) {
        all += f->skipped[i].count;
        if (i < SHOWN)
            lg_text_printf(&list, "%s %s %llu", i ? "," : "", f->skipped[i].ending,
                           (unsigned long long)f->skipped[i].count);
        else rest += f->skipped[i].count;
    }
    if (rest) lg_text_printf(&list, ", others %llu", (unsigned long long)rest);
    if (all)
        lg_note(b->monitor, "passed over %llu file%s by ending:%s", (unsigned long long)all, s_of(all),
                list.data ? list.data : "");
    lg_text_free(&list);
}

static void note_counts(const builder *b) {
    const counts *c = &b->counts;
    const struct {
        uint64_t n;
        const char *one, *many;
    } all[] = {
        {c->duplicates, "document has the content of an earlier one; it is kept",
         "documents have the content of an earlier one; they are kept"},
        {c->empty, "document is empty", "documents are empty"},
        {c->invalid_utf8, "document is not valid UTF-8; its bytes are kept",
         "documents are not valid UTF-8; their bytes are kept"},
        {c->lone_surrogates, "lone surrogate became U+FFFD", "lone surrogates became U+FFFD"},
    };
    lg_note(b->monitor, "%llu document%s, %llu tokens, %llu bytes", (unsigned long long)c->documents,
            s_of(c->documents), (unsigned long long)c->tokens, (unsigned long long)b->text_end);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n)
            lg_note(b->monitor, "%llu %s", (unsigned long long)all[i].n,
                    all[i].n == 1 ? all[i].one : all[i].many);
    if (b->sample)
        lg_note(b->monitor, "the limit of %llu tokens per domain left %llu of %llu documents",
                (unsigned long long)b->options.limit, (unsigned long long)c->documents,
                (unsigned long long)b->n_read);
}

/* Domains of the sampling pass whose first document is too long. */
static void note_empty_domains(const builder *b) {
    for (size_t d = 0; d < b->domains.n; d++) {
        uint64_t tokens = lg_sample_too_long(b->sample, d);
        if (tokens)
            lg_note(
                b->monitor,
                "domain %.200s has no documents under the limit of %llu tokens: its first by hash has %llu",
                b->domains.labels[d].data, (unsigned long long)b->options.limit, (unsigned long long)tokens);
    }
}

static void put_number(lg_json_writer *w, const char *key, uint64_t value) {
    lg_json_put_key(w, key);
    lg_json_put_unsigned(w, value);
}

static void put_settings(const builder *b, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "domains");
    lg_json_put_array(&w);
    for (size_t i = 0; i < b->domains.n; i++)
        lg_json_put_string(&w, b->domains.labels[i].data, b->domains.labels[i].length);
    lg_json_end_array(&w);
    lg_json_put_key(&w, "input_ids");
    lg_json_put_bool(&w, b->options.input_ids);
    lg_json_put_key(&w, "parse_special");
    lg_json_put_bool(&w, b->options.parse_special);
    put_number(&w, "limit", b->options.limit);
    lg_json_end_object(&w);
}

static void put_inputs(const builder *b, lg_text *out) {
    lg_json_writer w = {.out = out};
    char corpus[33];
    lg_hash_hex(lg_hasher_value(b->hasher), corpus);
    lg_json_put_object(&w);
    lg_json_put_key(&w, "corpus");
    lg_json_put_text(&w, corpus);
    lg_json_put_key(&w, "tokenizer");
    lg_json_put_text(&w, b->tokenizer ? lg_tokenizer_identity(b->tokenizer) : "");
    lg_json_end_object(&w);
}

static void put_about(const builder *b, lg_text *out) {
    const counts *c = &b->counts;
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    put_number(&w, "documents", c->documents);
    put_number(&w, "tokens", c->tokens);
    put_number(&w, "bytes", b->text_end);
    put_number(&w, "files", b->files.n);
    put_number(&w, "documents_read", b->n_read);
    put_number(&w, "left_out_by_limit", b->n_read - c->documents);
    put_number(&w, "duplicates", c->duplicates);
    put_number(&w, "empty", c->empty);
    put_number(&w, "invalid_utf8", c->invalid_utf8);
    put_number(&w, "lone_surrogates", c->lone_surrogates);
    lg_json_put_key(&w, "skipped");
    lg_json_put_object(&w);
    for (size_t i = 0; i < b->files.n_skipped; i++)
        put_number(&w, b->files.skipped[i].ending, b->files.skipped[i].count);
    lg_json_end_object(&w);
    if (b->tokenizer) {
        lg_json_put_key(&w, "tokenizer");
        lg_json_put_text(&w, lg_tokenizer_describe(b->tokenizer));
    }
    lg_json_end_object(&w);
}

/* ---- the whole ---- */

/* Writing over a file of the corpus would destroy what cannot be made again. */
static lg_status refuse_overwriting(const builder *b, const char *out, lg_error *error) {
    for (size_t i = 0; i < b->files.n; i++)
        if (lg_is_same_file(b->files.files[i].path, out))
            return lg_fail(error, LG_USAGE,
                           "%s belongs to the corpus and would be overwritten: choose another output", out);
    return lg_table_may_replace(out, "dataset", error);
}

static lg_status commit(builder *b, lg_error *error) {
    lg_text settings = {0}, inputs = {0}, about = {0};
    put_settings(b, &settings);
    put_inputs(b, &inputs);
    put_about(b, &about);
    lg_status status = LG_OK;
    if (settings.failed || inputs.failed || about.failed) {
        status = lg_fail_memory(error);
    } else {
        const lg_provenance provenance = {.format = "dataset",
                                          .version = 1,
                                          .command = b->options.command,
                                          .inputs = inputs.data,
                                          .settings = settings.data};
        lg_table_writer *writer = b->writer;
        b->writer = NULL;
        status = lg_table_writer_commit(writer, &provenance, about.data, error);
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    lg_text_free(&about);
    return status;
}

static lg_status find_sample(builder *b, lg_hash *corpus, lg_error *error) {
    b->sample = lg_sample_create(b->options.limit);
    if (!b->sample) return lg_fail_memory(error);
    lg_status status = run_pass(b, PASS_SAMPLE, error);
    if (status) return status;
    *corpus = lg_hasher_value(b->hasher);
    note_empty_domains(b);
    return lg_sample_finish(b->sample) ? LG_OK : lg_fail_memory(error);
}

lg_status lg_dataset_build(const char *const *paths, size_t n_paths, const lg_dataset_options *options,
                           const char *out, const lg_monitor *monitor, lg_error *error) {
    builder b;
    lg_hash corpus = {0};
    lg_status status = open_inputs(&b, paths, n_paths, options, monitor, error);
    if (!status) status = refuse_overwriting(&b, out, error);
    if (!status) status = lg_table_writer_create(out, &b.writer, error); /* early: a wrong place shows now */
    if (!status) status = add_columns(&b, error);
    if (!status)
        status = lg_team_create(b.tokenizer, options->parse_special, options->threads, &b.team, error);
    if (!status && options->limit) status = find_sample(&b, &corpus, error);
    if (!status) status = run_pass(&b, PASS_WRITE, error);
    if (status) goto done;
    if (b.sample && !lg_hash_equal(corpus, lg_hasher_value(b.hasher))) {
        status = lg_fail(error, LG_BAD_INPUT, "the corpus changed while it was read; run the command again");
        goto done;
    }
    note_skipped(&b);
    if (!b.n_read) {
        status = lg_fail(
            error, LG_BAD_INPUT,
            "%s%s: no documents; what is read are .txt .md .rst .py .html .htm .tex .ltx .latex .sty .jsonl "
            ".ndjson, and these with .gz or .zst",
            paths[0], n_paths > 1 ? " and the others" : "");
        goto done;
    }
    count_duplicates(&b);
    note_counts(&b);
    status = commit(&b, error);
done:
    close_all(&b);
    return status;
}

/* Whether the dataset says of itself what a build would say: the same inputs, the same settings but the
   domains, which follow from the inputs. */
static lg_status compare_provenance(const builder *b, const lg_provenance *p, bool *same, lg_error *error) {
    lg_arena arena = {0};
    lg_json_value *inputs = NULL, *settings = NULL;
    char corpus[33];
    lg_hash_hex(lg_hasher_value(b->hasher), corpus);
    lg_status status = lg_json_parse(&arena, p->inputs, strlen(p->inputs), "inputs", &inputs, error);
    if (!status)
        status = lg_json_parse(&arena, p->settings, strlen(p->settings), "settings", &settings, error);
    if (!status) {
        const lg_json_value *c = lg_json_get(inputs, "corpus"), *t = lg_json_get(inputs, "tokenizer");
        const lg_json_value *ids = lg_json_get(settings, "input_ids"),
                            *limit = lg_json_get(settings, "limit");
        const lg_json_value *special = lg_json_get(settings, "parse_special");
        *same = c && c->string && !strcmp(c->string, corpus) && t && t->string &&
                !strcmp(t->string, b->tokenizer ? lg_tokenizer_identity(b->tokenizer) : "") && ids &&
                ids->boolean == b->options.input_ids && special &&
                special->boolean == b->options.parse_special && limit && limit->type == LG_JSON_INTEGER &&
                (uint64_t)limit->integer == b->options.limit;
    }
    lg_arena_free(&arena);
    return status;
}

lg_status lg_dataset_is_current(const char *path, const char *const *paths, size_t n_paths,
                                const lg_dataset_options *options, const lg_monitor *monitor, bool *current,
                                lg_error *error) {
    builder b;
    lg_table *table = NULL;
    *current = false;
    lg_status status = open_inputs(&b, paths, n_paths, options, monitor, error);
    if (!status && lg_table_open(path, "dataset", &table, NULL) == LG_OK) {
        status = run_pass(&b, PASS_HASH, error);
        if (!status) status = compare_provenance(&b, lg_table_provenance(table), current, error);
    }
    lg_table_close(table);
    close_all(&b);
    return status;
}
