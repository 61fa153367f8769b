/* Opening a tagger's model: everything that a lookup follows is checked here, once. */
#include "tag/pos_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "store/table_memory.h"
#include "tag/pos_corpus.h"
#include "tag/pos_symbols.h"

const char *const lg_pos_tagsets[] = {"brown", "upos", "penn", NULL};

static lg_status damaged(const lg_table *table, const char *what, lg_error *error) {
    return lg_fail(error, LG_BAD_INPUT, "%s: %s: the file is damaged, make it again", lg_table_path(table),
                   what);
}

/* ---- settings ---- */

static lg_status read_tags(lg_pos_model *m, const lg_json_value *tags, lg_error *error) {
    if (!tags || tags->type != LG_JSON_ARRAY || tags->length < 1 || tags->length > LG_POS_MAX_TAGS)
        return damaged(m->table, "the settings hold no tags", error);
    m->n_tags = tags->length;
    if (!(m->tags = lg_arena_alloc(&m->arena, (m->n_tags + 1) * sizeof *m->tags)))
        return lg_fail_memory(error);
    size_t n = 0;
    for (const lg_json_value *t = tags->first; t; t = t->next) {
        if (t->type != LG_JSON_STRING || !t->length || t->length > LG_POS_MAX_TAG_BYTES ||
            strlen(t->string) != t->length)
            return damaged(m->table, "a tag in the settings is none", error);
        m->tags[n++] = t->string;
    }
    return LG_OK;
}

static void find_symbols(lg_pos_model *m) {
    m->has_symbols = strcmp(m->tagset, "brown") == 0;
    for (size_t i = 0; lg_pos_symbol_tags[i]; i++) {
        m->symbols[i] = LG_POS_NOT_ONE;
        for (size_t k = 0; k < m->n_tags; k++)
            if (strcmp(m->tags[k], lg_pos_symbol_tags[i]) == 0) m->symbols[i] = (uint8_t)k;
    }
}

static bool read_slots(const lg_json_value *settings, const char *homes, const char *reach,
                       lg_pos_slots *slots) {
    const lg_json_value *h = lg_json_get(settings, homes), *r = lg_json_get(settings, reach);
    if (!h || !r || h->type != LG_JSON_INTEGER || r->type != LG_JSON_INTEGER) return false;
    if (h->integer < 1 || h->integer > LG_POS_MAX_HOMES || r->integer < 1 || r->integer > LG_POS_MAX_REACH)
        return false;
    *slots = (lg_pos_slots){(size_t)h->integer, (size_t)r->integer};
    return true;
}

static lg_status read_settings(lg_pos_model *m, lg_error *error) {
    const char *text = lg_table_provenance(m->table)->settings;
    lg_json_value *settings;
    lg_status status =
        lg_json_parse(&m->arena, text, strlen(text), lg_table_path(m->table), &settings, error);
    if (status) return status;
    const lg_json_value *set = lg_json_get(settings, "feature_set"),
                        *tagset = lg_json_get(settings, "tagset");
    if (!set || set->type != LG_JSON_INTEGER || set->integer != LG_POS_FEATURE_SET)
        return lg_fail(
            error, LG_BAD_INPUT,
            "%s was made for another version of the tagger's features: train it again with this lossgap",
            lg_table_path(m->table));
    for (size_t i = 0; lg_pos_tagsets[i]; i++)
        if (tagset && tagset->type == LG_JSON_STRING && strcmp(tagset->string, lg_pos_tagsets[i]) == 0)
            m->tagset = lg_pos_tagsets[i];
    if (!m->tagset) return damaged(m->table, "the settings name no tagset", error);
    m->split = strcmp(m->tagset, "brown") == 0 ? LG_SPLIT_WHOLE : LG_SPLIT_TREEBANK;
    const lg_json_value *other = lg_json_get(settings, "lexicon");
    if (!other || other->type != LG_JSON_BOOL)
        return damaged(m->table, "the settings say of no lexicon", error);
    m->has_other = other->boolean;
    if (!read_slots(settings, "feature_homes", "feature_reach", &m->features) ||
        !read_slots(settings, "word_homes", "word_reach", &m->words))
        return damaged(m->table, "the settings have no sizes of the hash tables, or impossible ones", error);
    return read_tags(m, lg_json_get(settings, "tags"), error);
}

/* ---- columns ---- */

static lg_status read_columns(lg_pos_model *m, lg_error *error) {
    const size_t n_features = m->features.homes + m->features.reach,
                 n_words = m->words.homes + m->words.reach;
    const struct {
        const char *name;
        lg_dtype dtype;
        size_t count;
    } wanted[] = {
        {"feature_check", LG_U16, n_features}, {"feature_row", LG_U32, n_features + 1},
        {"weight", LG_U16, SIZE_MAX},          {"word_check", LG_U32, n_words},
        {"word_own", LG_U16, n_words},         {"word_other", LG_U16, n_words},
        {"word_only", LG_U8, n_words},
    };
    const void *values[sizeof wanted / sizeof *wanted];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        lg_status status =
            lg_table_column(m->table, wanted[i].name, wanted[i].dtype, wanted[i].count, &values[i], error);
        if (status) return status;
    }
    m->feature_check = values[0];
    m->feature_row = values[1];
    m->weights = values[2];
    m->word_check = values[3];
    m->word_own = values[4];
    m->word_other = values[5];
    m->word_only = values[6];
    const size_t n_weights = lg_table_find(m->table, "weight")->count;
    bool good = m->feature_row[0] == 0 && m->feature_row[n_features] == n_weights;
    for (size_t i = 0; i < n_features && good; i++)
        good = m->feature_row[i] <= m->feature_row[i + 1] &&
               m->feature_row[i + 1] - m->feature_row[i] <= m->n_tags;
    if (!good) return damaged(m->table, "feature_row does not cut the weights into rows", error);
    for (size_t i = 0; i < n_weights; i++) good &= (m->weights[i] & 0xFF) < m->n_tags;
    if (!good) return damaged(m->table, "a weight is of a tag that there is not", error);
    for (size_t i = 0; i < n_words; i++)
        good &= m->word_only[i] < m->n_tags || m->word_only[i] == LG_POS_NOT_ONE;
    return good ? LG_OK : damaged(m->table, "a word has a tag that there is not", error);
}

lg_status lg_pos_model_from_table(lg_table *table, lg_pos_model **result, lg_error *error) {
    *result = NULL;
    lg_pos_model *m = calloc(1, sizeof *m);
    if (!m) return lg_fail_memory(error);
    m->table = table;
    lg_status status = read_settings(m, error);
    if (!status) find_symbols(m);
    if (!status) status = read_columns(m, error);
    if (status) {
        m->table = NULL; /* stays the caller's */
        lg_pos_model_close(m);
    } else {
        *result = m;
    }
    return status;
}

static lg_status finish(lg_status status, lg_table *table, lg_pos_model **model, lg_error *error) {
    if (status) return status;
    status = lg_pos_model_from_table(table, model, error);
    if (status) lg_table_close(table);
    return status;
}

lg_status lg_pos_model_open(const char *path, lg_pos_model **model, lg_error *error) {
    lg_table *table;
    *model = NULL;
    lg_status status = lg_table_open(path, LG_POS_FORMAT, &table, error);
    return finish(status, table, model, error);
}

lg_status lg_pos_model_builtin(const char *tagset, lg_pos_model **model, lg_error *error) {
    static const struct {
        const char *tagset, *name;
        const unsigned char *begin, *end;
    } models[] = {
        {"brown", "the built-in model of brown", lg_pos_brown_begin, lg_pos_brown_end},
        {"upos", "the built-in model of upos", lg_pos_upos_begin, lg_pos_upos_end},
        {"penn", "the built-in model of penn", lg_pos_penn_begin, lg_pos_penn_end},
    };
    *model = NULL;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strcmp(tagset, models[i].tagset) != 0) continue;
        lg_table *table;
        lg_status status = lg_table_parse(models[i].begin, (size_t)(models[i].end - models[i].begin),
                                          models[i].name, LG_POS_FORMAT, &table, error);
        return finish(status, table, model, error);
    }
    return lg_fail(error, LG_USAGE, "there is no tagset '%s': brown, upos and penn are there", tagset);
}

void lg_pos_model_close(lg_pos_model *m) {
    if (!m) return;
    lg_table_close(m->table);
    lg_arena_free(&m->arena);
    free(m);
}

const char *lg_pos_model_tagset(const lg_pos_model *m) {
    return m->tagset;
}

lg_split lg_pos_model_split(const lg_pos_model *m) {
    return m->split;
}

const char *const *lg_pos_model_tags(const lg_pos_model *m) {
    return m->tags;
}

const char *lg_pos_model_identity(const lg_pos_model *m) {
    return lg_table_provenance(m->table)->identity;
}
