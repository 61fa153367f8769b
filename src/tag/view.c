/* A look at tags in memory: the columns with their levels and families, and the values of one document. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tag/code.h"
#include "tag/tag_internal.h"

struct lg_tag_view {
    lg_arena arena;
    lg_tag_context context;
    void *values[LG_MAX_TAG_MAKERS][LG_TAG_MAX_COLUMNS];
    lg_tag_view_column columns[LG_MAX_TAG_MAKERS * LG_TAG_MAX_COLUMNS];
    size_t n_columns;
};

void lg_tag_view_close(lg_tag_view *v) {
    if (!v) return;
    lg_tag_close_makers(&v->context);
    for (size_t m = 0; m < LG_MAX_TAG_MAKERS; m++)
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS; c++) free(v->values[m][c]);
    lg_arena_free(&v->arena);
    free(v);
}

/* The family of level I of a column of tags. */
static lg_family family_of(const char *column, const char *level, size_t i) {
    if (i == 0) return LG_FAMILY_NONE;
    if (i == 1) return LG_FAMILY_WHITESPACE; /* LG_TAG_BLANK */
    if (strcmp(column, "code") == 0) return (lg_family)lg_code_tags[i - 1].family;
    return lg_family_of_tag(column, level);
}

static bool add_column(lg_tag_view *v, size_t place, size_t c) {
    const lg_tag_maker *maker = lg_tag_makers[place];
    const lg_tag_column *column = &maker->columns[c];
    const char *before, *const *names = lg_tag_levels(maker, v->context.state[place], column, &before);
    lg_tag_view_column *out = &v->columns[v->n_columns++];
    *out = (lg_tag_view_column){.group = maker->name,
                                .group_help = maker->help,
                                .name = column->name,
                                .help = column->help,
                                .dtype = column->dtype,
                                .values = v->values[place][c]};
    if (!names) return true;
    size_t n = 0, shift = before != NULL;
    while (names[n]) n++;
    const char **levels = lg_arena_alloc(&v->arena, (n + shift) * sizeof *levels);
    uint8_t *families = lg_arena_alloc(&v->arena, n + shift);
    if (!levels || !families) return false;
    if (before) levels[0] = before;
    memcpy(levels + shift, names, n * sizeof *names);
    out->levels = levels;
    out->n_levels = n + shift;
    if (!column->tags) return true;
    for (size_t i = 0; i < out->n_levels; i++) families[i] = (uint8_t)family_of(column->name, levels[i], i);
    out->families = families;
    return true;
}

lg_status lg_tag_view_open(const lg_dataset *data, size_t doc, const lg_tag_options *options,
                           lg_tag_view **view, lg_error *error) {
    *view = NULL;
    lg_tag_view *v = calloc(1, sizeof *v);
    if (!v) return lg_fail_memory(error);
    lg_status status = lg_tag_open_makers(data, options, &v->context, error);
    if (!status && data) status = lg_tag_one(data, doc, options, v->values, error);
    for (size_t m = 0; lg_tag_makers[m] && !status; m++)
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && lg_tag_makers[m]->columns[c].name && !status; c++)
            if (lg_tag_applies(lg_tag_makers[m], &v->context) && !add_column(v, m, c))
                status = lg_fail_memory(error);
    if (status) lg_tag_view_close(v);
    else *view = v;
    return status;
}

size_t lg_tag_view_n_columns(const lg_tag_view *v) {
    return v->n_columns;
}

const lg_tag_view_column *lg_tag_view_at(const lg_tag_view *v, size_t i) {
    return &v->columns[i];
}

const lg_tag_view_column *lg_tag_view_find(const lg_tag_view *v, const char *name) {
    for (size_t i = 0; i < v->n_columns; i++)
        if (strcmp(v->columns[i].name, name) == 0) return &v->columns[i];
    return NULL;
}

const lg_tag_family *lg_tag_families(size_t *count) {
    *count = LG_N_FAMILIES;
    return lg_families;
}
