/* Training from files to a file: reads the texts, learns, lays the weights out in hash order, writes the
 * model.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "lossgap/tagger.h"
#include "store/table_writer.h"
#include "tag/pos_model.h"
#include "tag/pos_train.h"

enum { DEFAULT_EPOCHS = 8 };

/* ---- layout ---- */

/* Which entry lies in which slot. */
typedef struct layout {
    lg_pos_slots slots;
    size_t *entry; /* [homes + reach] index + 1; 0: empty */
} layout;

/* Lays N entries out, HASHES ascending. Of two that a lookup could not tell apart (WIDE: by 32 bits, else by
   16) the later one is left out. false: no memory. */
static bool lay_out(const uint64_t *hashes, size_t n, bool wide, layout *result) {
    for (size_t homes = n * 5 / 4 + 1;; homes += homes / 8 + 1) {
        lg_pos_slots slots = {homes, LG_POS_MAX_REACH};
        const size_t n_slots = homes + slots.reach;
        size_t *entry = calloc(n_slots, sizeof *entry);
        if (!entry) return false;
        size_t next = 0, reach = 1; /* the first slot behind the last entry; how far from home one lies */
        size_t i = 0;
        for (; i < n; i++) {
            const size_t home = lg_pos_home(slots, hashes[i]);
            if (next < home) next = home;
            bool twin = false;
            for (size_t k = home; k < next && !twin; k++) {
                const uint64_t other = hashes[entry[k] - 1];
                twin = wide ? lg_pos_word_check(other) == lg_pos_word_check(hashes[i])
                            : lg_pos_feature_check(other) == lg_pos_feature_check(hashes[i]);
            }
            if (twin) continue;
            if (next - home >= slots.reach) break; /* too crowded */
            entry[next++] = i + 1;
            if (next - home > reach) reach = next - home;
        }
        if (i == n) {
            *result = (layout){{homes, reach}, entry};
            return true;
        }
        free(entry);
    }
}

static int by_hash(const void *a, const void *b) {
    const lg_pos_learned_feature *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- columns ---- */

/* A column of one row per slot, given as bytes. */
static lg_status put_column(lg_table_writer *w, const char *name, lg_dtype dtype, const void *values,
                            size_t count, lg_error *error) {
    size_t column;
    lg_status status = lg_table_writer_add(w, name, dtype, 1, &column, error);
    return status ? status : lg_table_writer_append(w, column, values, count, error);
}

static lg_status put_features(lg_table_writer *w, lg_pos_learned *learned, lg_pos_slots *slots,
                              lg_error *error) {
    layout l = {0};
    const size_t n = learned->n_features;
    lg_status status = LG_OK;
    if (n) qsort(learned->features, n, sizeof *learned->features, by_hash);
    uint64_t *hashes = lg_alloc(n, sizeof *hashes);
    uint16_t *check = NULL, *weights = NULL;
    uint32_t *row = NULL;
    bool good = hashes != NULL;
    for (size_t i = 0; good && i < n; i++) hashes[i] = learned->features[i].hash;
    good = good && lay_out(hashes, n, false, &l);
    const size_t n_slots = good ? l.slots.homes + l.slots.reach : 0;
    good = good && (check = calloc(n_slots, sizeof *check)) != NULL &&
           (row = calloc(n_slots + 1, sizeof *row)) != NULL &&
           (weights = lg_alloc(learned->n_weights, sizeof *weights)) != NULL;
    if (!good) {
        status = lg_fail_memory(error);
        goto done;
    }
    size_t n_weights = 0;
    for (size_t i = 0; i < n_slots; i++) {
        if (l.entry[i]) {
            const lg_pos_learned_feature *f = &learned->features[l.entry[i] - 1];
            check[i] = lg_pos_feature_check(f->hash);
            memcpy(weights + n_weights, learned->weights + f->begin, f->count * sizeof *weights);
            n_weights += f->count;
        }
        row[i + 1] = (uint32_t)n_weights;
    }
    *slots = l.slots;
    status = put_column(w, "feature_check", LG_U16, check, n_slots, error);
    if (!status) status = put_column(w, "feature_row", LG_U32, row, n_slots + 1, error);
    if (!status) status = put_column(w, "weight", LG_U16, weights, n_weights, error);
done:
    free(l.entry);
    free(hashes);
    free(check);
    free(row);
    free(weights);
    return status;
}

static bool says_the_same(const lg_pos_lexicon *lexicon, uint64_t a, uint64_t b) {
    return lg_pos_lexicon_class(lexicon, a, LG_POS_PARTS) == lg_pos_lexicon_class(lexicon, b, LG_POS_PARTS);
}

static lg_status put_words(lg_table_writer *w, const lg_pos_lexicon *own, const lg_pos_lexicon *other,
                           lg_pos_slots *slots, lg_error *error) {
    const lg_pos_lexicon *const lexicons[] = {own, other};
    layout l = {0};
    uint64_t *hashes = lg_alloc(own->n_forms + other->n_forms, sizeof *hashes);
    uint32_t *check = NULL;
    uint16_t *own_class = NULL, *other_class = NULL;
    uint8_t *only = NULL;
    size_t n = 0;
    lg_status status = LG_OK;
    bool good = hashes != NULL;
    for (size_t k = 0; k < 2 && good; k++)
        for (size_t i = 0; i < lexicons[k]->capacity; i++) {
            const uint64_t form = lexicons[k]->forms[i].hash, lower = lexicons[k]->forms[i].lower;
            if (form && !(lower && says_the_same(own, form, lower) && says_the_same(other, form, lower)))
                hashes[n++] = form;
        }
    if (good && n) qsort(hashes, n, sizeof *hashes, by_number); /* one in both lexicons is its own twin */
    good = good && lay_out(hashes, n, true, &l);
    const size_t n_slots = good ? l.slots.homes + l.slots.reach : 0;
    good = good && (check = calloc(n_slots, sizeof *check)) != NULL &&
           (own_class = calloc(n_slots, sizeof *own_class)) != NULL &&
           (other_class = calloc(n_slots, sizeof *other_class)) != NULL &&
           (only = lg_alloc(n_slots, 1)) != NULL;
    if (!good) {
        status = lg_fail_memory(error);
        goto done;
    }
    memset(only, LG_POS_NOT_ONE, n_slots);
    for (size_t i = 0; i < n_slots; i++) {
        if (!l.entry[i]) continue;
        const uint64_t hash = hashes[l.entry[i] - 1];
        check[i] = lg_pos_word_check(hash);
        own_class[i] = lg_pos_lexicon_class(own, hash, LG_POS_PARTS);
        other_class[i] = lg_pos_lexicon_class(other, hash, LG_POS_PARTS);
        only[i] = lg_pos_lexicon_only(own, hash);
    }
    *slots = l.slots;
    status = put_column(w, "word_check", LG_U32, check, n_slots, error);
    if (!status) status = put_column(w, "word_own", LG_U16, own_class, n_slots, error);
    if (!status) status = put_column(w, "word_other", LG_U16, other_class, n_slots, error);
    if (!status) status = put_column(w, "word_only", LG_U8, only, n_slots, error);
done:
    free(l.entry);
    free(hashes);
    free(check);
    free(own_class);
    free(other_class);
    free(only);
    return status;
}

/* ---- provenance ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The hash of a file's bytes as a member of an object. */
static lg_status put_file(lg_json_writer *w, const char *path, lg_error *error) {
    lg_mapping mapping;
    char hex[33];
    lg_status status = lg_map(path, &mapping, error);
    if (status) return status;
    lg_hash_hex(lg_hash_of(mapping.size ? mapping.data : (const unsigned char *)"", mapping.size), hex);
    lg_unmap(&mapping);
    lg_json_put_key(w, base_name(path));
    lg_json_put_text(w, hex);
    return LG_OK;
}

static lg_status make_inputs(const char *const *files, size_t n_files, const lg_tagger_options *o,
                             lg_text *inputs, lg_error *error) {
    lg_json_writer w = {.out = inputs};
    lg_status status = LG_OK;
    lg_json_put_object(&w);
    for (size_t i = 0; i < n_files && !status; i++) status = put_file(&w, files[i], error);
    for (size_t i = 0; i < o->n_lexicons && !status; i++) {
        bool again = false; /* a file may be both */
        for (size_t k = 0; k < n_files; k++) again |= strcmp(files[k], o->lexicons[i]) == 0;
        if (!again) status = put_file(&w, o->lexicons[i], error);
    }
    lg_json_end_object(&w);
    return status;
}

static void make_settings(const lg_tagger_options *o, unsigned epochs, const lg_pos_corpus *corpus,
                          lg_pos_slots features, lg_pos_slots words, lg_text *settings) {
    const struct {
        const char *name;
        size_t value;
    } numbers[] = {
        {"feature_set", LG_POS_FEATURE_SET}, {"epochs", epochs},          {"feature_homes", features.homes},
        {"feature_reach", features.reach},   {"word_homes", words.homes}, {"word_reach", words.reach},
    };
    lg_json_writer w = {.out = settings};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "tagset");
    lg_json_put_text(&w, o->tagset);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        lg_json_put_key(&w, numbers[i].name);
        lg_json_put_unsigned(&w, numbers[i].value);
    }
    lg_json_put_key(&w, "lexicon");
    lg_json_put_bool(&w, o->n_lexicons > 0);
    lg_json_put_key(&w, "tags");
    lg_json_put_array(&w);
    for (size_t i = 0; i < corpus->tags.count; i++)
        lg_json_put_string(&w, corpus->tags.names[i], strlen(corpus->tags.names[i]));
    lg_json_end_array(&w);
    lg_json_end_object(&w);
}

static void make_about(const lg_tagger_options *o, const lg_pos_corpus *corpus, lg_text *about) {
    lg_json_writer w = {.out = about};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "words");
    lg_json_put_unsigned(&w, corpus->words.count);
    lg_json_put_key(&w, "sources");
    lg_json_put_array(&w);
    for (size_t i = 0; i < o->n_sources; i++) lg_json_put_text(&w, o->sources[i]);
    lg_json_end_array(&w);
    lg_json_end_object(&w);
}

/* ---- the whole ---- */

static lg_status write_model(const char *out, const char *const *files, size_t n_files,
                             const lg_tagger_options *o, unsigned epochs, const lg_pos_corpus *corpus,
                             const lg_pos_lexicon *own, const lg_pos_lexicon *other, lg_pos_learned *learned,
                             lg_error *error) {
    lg_table_writer *w = NULL;
    lg_text inputs = {0}, settings = {0}, about = {0};
    lg_pos_slots features = {0}, words = {0};
    lg_status status = make_inputs(files, n_files, o, &inputs, error);
    if (!status) status = lg_table_writer_create(out, &w, error);
    if (!status) status = put_features(w, learned, &features, error);
    if (!status) status = put_words(w, own, other, &words, error);
    if (!status) {
        make_settings(o, epochs, corpus, features, words, &settings);
        make_about(o, corpus, &about);
        if (inputs.failed || settings.failed || about.failed) status = lg_fail_memory(error);
    }
    if (!status) {
        lg_provenance p = {.format = LG_POS_FORMAT,
                           .version = 1,
                           .command = o->command ? o->command : "",
                           .inputs = inputs.data,
                           .settings = settings.data};
        lg_table_writer *ready = w;
        w = NULL;
        status = lg_table_writer_commit(ready, &p, about.data, error);
    }
    lg_table_writer_discard(w);
    lg_text_free(&inputs);
    lg_text_free(&settings);
    lg_text_free(&about);
    return status;
}

lg_status lg_tagger_train(const char *const *files, size_t n_files, const lg_tagger_options *o,
                          const char *out, const lg_monitor *monitor, lg_error *error) {
    lg_pos_corpus corpus = {0}, larger = {0};
    lg_pos_lexicon own = {0}, other = {0};
    lg_pos_learned learned = {0};
    const unsigned epochs = o->epochs ? o->epochs : DEFAULT_EPOCHS;
    bool known = false;
    for (size_t i = 0; lg_pos_tagsets[i]; i++) known |= strcmp(o->tagset, lg_pos_tagsets[i]) == 0;
    if (!known)
        return lg_fail(error, LG_USAGE, "there is no tagset '%s': brown, upos and penn are there", o->tagset);
    lg_status status = lg_table_may_replace(out, LG_POS_FORMAT, error);
    for (size_t i = 0; i < n_files && !status; i++)
        status = lg_pos_corpus_read(&corpus, files[i], o->tagset, error);
    for (size_t i = 0; i < o->n_lexicons && !status; i++)
        status = lg_pos_corpus_read(&larger, o->lexicons[i], NULL, error);
    if (!status && !corpus.words.count) status = lg_fail(error, LG_USAGE, "no text to learn from");
    if (!status && !(lg_pos_count_forms(&corpus, &own) && lg_pos_count_forms(&larger, &other)))
        status = lg_fail_memory(error);
    lg_pos_corpus_free(&larger);
    if (!status) status = lg_pos_learn(&corpus, o->tagset, &own, &other, epochs, &learned, monitor, error);
    if (!status) status = write_model(out, files, n_files, o, epochs, &corpus, &own, &other, &learned, error);
    lg_pos_learned_free(&learned);
    lg_pos_lexicon_free(&own);
    lg_pos_lexicon_free(&other);
    lg_pos_corpus_free(&corpus);
    return status;
}
