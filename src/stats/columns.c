/* Grouping columns: a level per token, from the dataset or from tags. Numbers are binned: copy_len as 0, 1,
   2, 3, 4, 5-8, 9-16, 17+; others by powers of two: 0, 1, 2, 3-4, 5-8, 9-16 … */
#include "stats/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

enum { COPY_BINS = 8, POWER_BINS = 34 };

static inline uint32_t bin_of(uint32_t value, bool copy) {
    if (value <= 2) return value;
    if (copy && value <= 4) return value;
    uint32_t power = 32 - (uint32_t)__builtin_clz(value - 1); /* 3-4: 2, 5-8: 3 … */
    if (copy) return power < 5 ? power + 2 : COPY_BINS - 1;
    return power + 1;
}

static const char *bin_name(lg_arena *arena, uint32_t bin, bool copy) {
    char name[48];
    uint64_t high = bin <= 2 ? bin : copy && bin <= 4 ? bin : (uint64_t)1 << (copy ? bin - 2 : bin - 1);
    uint64_t low = bin <= 2 || (copy && bin <= 4) ? high : high / 2 + 1;
    if (copy && bin == COPY_BINS - 1) snprintf(name, sizeof name, "17+");
    else if (low == high) snprintf(name, sizeof name, "%llu", (unsigned long long)low);
    else snprintf(name, sizeof name, "%llu-%llu", (unsigned long long)low, (unsigned long long)high);
    return lg_arena_copy(arena, name, strlen(name));
}

void lg_group_column_read(const lg_group_column *c, size_t doc, size_t begin, size_t n, uint32_t *levels) {
    if (!c->values) {
        for (size_t i = 0; i < n; i++) levels[i] = c->of_document[doc];
        return;
    }
    if (c->dtype == LG_U8) {
        for (size_t i = 0; i < n; i++) levels[i] = ((const uint8_t *)c->values)[begin + i];
    } else if (c->dtype == LG_U16) {
        for (size_t i = 0; i < n; i++) levels[i] = ((const uint16_t *)c->values)[begin + i];
    } else {
        memcpy(levels, (const uint32_t *)c->values + begin, n * sizeof *levels);
    }
    if (c->binned)
        for (size_t i = 0; i < n; i++) levels[i] = bin_of(levels[i], c->copy_bins);
    if (c->map)
        for (size_t i = 0; i < n; i++) levels[i] = c->map[levels[i]];
}

lg_status lg_group_column_curve(lg_group_column *c, lg_arena *arena, lg_error *error) {
    if (c->dtype != LG_U16 || !c->values || !c->binned)
        return lg_fail(error, LG_BAD_INPUT, "column '%s' does not hold numbers of 16 bits", c->name);
    c->n_levels = 2 * LG_CURVE_MOST + 2;
    c->levels = lg_arena_alloc(arena, c->n_levels * sizeof *c->levels);
    if (!c->levels) return lg_fail_memory(error);
    for (size_t i = 0; i < c->n_levels; i++) {
        char name[16];
        size_t n = i <= LG_CURVE_MOST + 1 ? i : i - LG_CURVE_MOST - 1;
        snprintf(name, sizeof name,
                 i <= LG_CURVE_MOST       ? "=%zu"
                 : i == LG_CURVE_MOST + 1 ? "=%zu+"
                                          : ">=%zu",
                 n);
        c->levels[i] = lg_arena_copy(arena, name, strlen(name));
        if (!c->levels[i]) return lg_fail_memory(error);
    }
    c->curve = true;
    return LG_OK;
}

lg_status lg_group_column_sides(lg_group_column *c, lg_arena *arena, lg_error *error) {
    static const char *const sides[] = {"none", "open", "close"};
    const char **levels = lg_arena_alloc(arena, sizeof sides);
    uint8_t *map = lg_arena_alloc(arena, c->n_levels + 1);
    if (!levels || !map) return lg_fail_memory(error);
    memcpy(levels, sides, sizeof sides);
    for (size_t i = 0; i < c->n_levels; i++)
        map[i] = strncmp(c->levels[i], "open.", 5) == 0 ? 1 : strncmp(c->levels[i], "close.", 6) == 0 ? 2 : 0;
    c->name = "side";
    c->levels = levels;
    c->n_levels = 3;
    c->map = map;
    return LG_OK;
}

/* Columns of the dataset itself: one level per document. */
static lg_status open_document_column(const lg_dataset *data, lg_arena *arena, lg_group_column *c,
                                      lg_error *error) {
    bool domain = strcmp(c->name, "domain") == 0, kind = strcmp(c->name, "kind") == 0;
    c->n_levels = domain ? data->n_domains : kind ? LG_N_KINDS : data->n_docs;
    c->levels = lg_arena_alloc(arena, (c->n_levels + 1) * sizeof *c->levels);
    uint32_t *of_document = lg_arena_alloc(arena, (data->n_docs + 1) * sizeof *of_document);
    if (!c->levels || !of_document) return lg_fail_memory(error);
    if (c->n_levels > UINT32_MAX) return lg_fail(error, LG_FAILED, "too many documents to group by");
    c->of_document = of_document;
    for (size_t i = 0; i < c->n_levels; i++) {
        if (domain) {
            c->levels[i] = lg_arena_copy(arena, data->domains[i], strlen(data->domains[i]));
        } else if (kind) {
            c->levels[i] = lg_kind_name((lg_kind)i);
        } else {
            size_t begin = (size_t)lg_begin_of(data->doc_name_end, i);
            c->levels[i] =
                lg_arena_copy(arena, data->doc_name + begin, (size_t)data->doc_name_end[i] - begin);
            if (!c->levels[i]) return lg_fail_memory(error);
        }
    }
    for (size_t d = 0; d < data->n_docs; d++)
        of_document[d] = domain ? data->doc_domain[d] : kind ? data->doc_kind[d] : (uint32_t)d;
    return LG_OK;
}

static bool is_token_column(const lg_dataset *data, const lg_tensor *t) {
    bool type = t->dtype == LG_U8 || t->dtype == LG_U16 || t->dtype == LG_U32;
    return type && t->n_dims == 1 && t->count == data->n_tokens && !strchr(t->name, '.');
}

/* The object in the tags' settings that names the values of columns; NULL: there is none. */
static lg_status read_settings(const lg_table *tags, lg_arena *arena, const lg_json_value **levels,
                               lg_error *error) {
    lg_json_value *settings;
    const char *text = lg_table_provenance(tags)->settings;
    lg_status status = lg_json_parse(arena, text, strlen(text), lg_table_path(tags), &settings, error);
    *levels = status ? NULL : lg_json_get(settings, "levels");
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static lg_status column_names(const lg_dataset *data, const lg_table *tags, lg_arena *arena,
                              const char ***names, size_t *count, lg_error *error) {
    const lg_json_value *levels;
    lg_status status = read_settings(tags, arena, &levels, error);
    if (status) return status;
    size_t n = lg_table_n_columns(tags), k = 0;
    const char **list = lg_arena_alloc(arena, (n + 1) * sizeof *list);
    if (!list) return lg_fail_memory(error);
    for (const lg_json_value *v = levels ? levels->first : NULL; v && k < n; v = v->next) {
        const lg_tensor *t = lg_table_find(tags, v->key);
        if (t && is_token_column(data, t)) list[k++] = t->name;
    }
    size_t numbers = k;
    for (size_t i = 0; i < n && k < n; i++) {
        const lg_tensor *t = lg_table_at(tags, i);
        if (is_token_column(data, t) && !lg_json_get(levels, t->name)) list[k++] = t->name;
    }
    qsort(list + numbers, k - numbers, sizeof *list, by_name);
    *names = list;
    *count = k;
    return LG_OK;
}

/* Names of the values of a column from the tags' settings; none: the values are numbers. */
static lg_status read_levels(const lg_table *tags, lg_arena *arena, lg_group_column *c, lg_error *error) {
    const lg_json_value *levels;
    lg_status status = read_settings(tags, arena, &levels, error);
    if (status) return status;
    const lg_json_value *list = lg_json_get(levels, c->name);
    if (!list) {
        c->binned = true;
        c->copy_bins = strncmp(c->name, "copy_len", 8) == 0;
        c->n_levels = c->copy_bins ? COPY_BINS : POWER_BINS;
    } else {
        c->n_levels = list->length;
    }
    c->levels = lg_arena_alloc(arena, (c->n_levels + 1) * sizeof *c->levels);
    if (!c->levels) return lg_fail_memory(error);
    const lg_json_value *v = list ? list->first : NULL;
    for (size_t i = 0; i < c->n_levels; i++) {
        if (list && (!v || v->type != LG_JSON_STRING))
            return lg_fail(error, LG_BAD_INPUT, "%s: the levels of '%s' are not a list of names",
                           lg_table_path(tags), c->name);
        c->levels[i] = list ? v->string : bin_name(arena, (uint32_t)i, c->copy_bins);
        if (!c->levels[i]) return lg_fail_memory(error);
        if (v) v = v->next;
    }
    return LG_OK;
}

/* NAME_bits, where the tags have it. */
static lg_status open_bits(const lg_dataset *data, const lg_table *tags, lg_group_column *c,
                           lg_error *error) {
    char name[128];
    snprintf(name, sizeof name, "%s_bits", c->name);
    const lg_tensor *t = lg_table_find(tags, name);
    if (!t || (t->dtype != LG_U8 && t->dtype != LG_U32 && t->dtype != LG_U64)) return LG_OK;
    c->bits_dtype = t->dtype;
    lg_status status = lg_table_column(tags, name, t->dtype, data->n_tokens, &c->bits, error);
    uint64_t named = c->n_levels < 64 ? ((uint64_t)1 << c->n_levels) - 1 : UINT64_MAX;
    for (size_t i = 0; i < data->n_tokens && !status; i++) {
        uint64_t bits = lg_group_column_bits(c, i);
        if (!bits || (bits & ~named))
            status = lg_fail(error, LG_BAD_INPUT, "%s: column '%s' holds %llx, but has the bits 0 to %zu",
                             lg_table_path(tags), name, (unsigned long long)bits, c->n_levels - 1);
    }
    return status;
}

static lg_status open_tag_column(const lg_dataset *data, const lg_table *tags, const lg_tensor *t,
                                 lg_arena *arena, lg_group_column *c, lg_error *error) {
    lg_status status = lg_table_column(tags, t->name, t->dtype, data->n_tokens, &c->values, error);
    if (status) return status;
    c->dtype = t->dtype;
    status = read_levels(tags, arena, c, error);
    if (status || c->binned) return status;
    uint32_t largest = 0, block[1024]; /* a tag without a name would be counted nowhere */
    for (size_t i = 0; i < data->n_tokens; i += 1024) {
        size_t n = data->n_tokens - i < 1024 ? data->n_tokens - i : 1024;
        lg_group_column_read(c, 0, i, n, block);
        for (size_t k = 0; k < n; k++)
            if (block[k] > largest) largest = block[k];
    }
    if (data->n_tokens && largest >= c->n_levels)
        return lg_fail(error, LG_BAD_INPUT, "%s: column '%s' holds the value %u, but has %zu levels",
                       lg_table_path(tags), c->name, largest, c->n_levels);
    return open_bits(data, tags, c, error);
}

lg_status lg_group_column_multi(const lg_table *tags, lg_arena *arena, const char **multi, lg_error *error) {
    lg_json_value *settings;
    const char *text = lg_table_provenance(tags)->settings;
    lg_status status = lg_json_parse(arena, text, strlen(text), lg_table_path(tags), &settings, error);
    const lg_json_value *v = status ? NULL : lg_json_get(settings, "multi");
    *multi = v && v->type == LG_JSON_STRING ? v->string : "first";
    return status;
}

lg_status lg_group_column_open(const lg_dataset *data, const lg_table *tags, const char *name,
                               lg_arena *arena, lg_group_column *c, lg_error *error) {
    *c = (lg_group_column){.name = lg_arena_copy(arena, name, strlen(name))};
    if (!c->name) return lg_fail_memory(error);
    if (strcmp(name, "domain") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "document") == 0)
        return open_document_column(data, arena, c, error);
    const lg_tensor *t = tags ? lg_table_find(tags, name) : NULL;
    if (t && is_token_column(data, t)) return open_tag_column(data, tags, t, arena, c, error);
    char list[768] = "domain, kind, document";
    const char **names = NULL;
    size_t count = 0, used = strlen(list);
    lg_status status = tags ? column_names(data, tags, arena, &names, &count, error) : LG_OK;
    if (status) return status;
    for (size_t i = 0; i < count; i++) {
        int n = snprintf(list + used, sizeof list - used, ", %s", names[i]);
        if (n > 0 && (size_t)n < sizeof list - used) used += (size_t)n;
    }
    return lg_fail(error, LG_USAGE, "there is no column '%s' to group by; there are %s%s", name, list,
                   tags ? "" : " (and those of tags, with --tags)");
}
