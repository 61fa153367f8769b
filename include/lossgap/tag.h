/* Tags: what each token is. Span layers over the text, and token columns derived from them. */
#ifndef LOSSGAP_TAG_H
#define LOSSGAP_TAG_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"

/* What a token that overlaps several words is where one value is needed. */
typedef enum lg_multi {
    LG_MULTI_FIRST, /* what the word is that holds its first byte that is not white space */
    LG_MULTI_ALL,   /* the same in columns; tables count the token under each of its families */
    LG_MULTI_DROP,  /* nothing */
} lg_multi;
LG_API extern const char *const lg_multi_names[]; /* "first", "all", "drop", NULL */
enum { LG_N_TAGSETS = 3 };                        /* Brown, UPOS, Penn */

typedef struct lg_tag_options {
    size_t window;         /* L of the window variant of positions and copy features; 0: 8192 */
    lg_multi multi;        /* kept in the tags; `lossgap gap` takes it from there */
    const char *frequency; /* file from lg_frequency_count; NULL: of the dataset's own tokens */
    const char *tagger[3]; /* files from `lossgap tagger train` in place of the program's own; NULL ends */
    const char *const
        *without;     /* groups of columns to leave out, as lg_tag_view names them; NULL ends; NULL: none */
    unsigned threads; /* 0: all processors */
    const char *command;
} lg_tag_options;

/* Tags DATA into OUT, atomically (docs/formats/tags.md). */
LG_API lg_status lg_tag_run(const lg_dataset *data, const lg_tag_options *options, const char *out,
                            const lg_monitor *monitor, lg_error *error);

/* Whether PATH is what lg_tag_run would write now. A file that is missing, or holds something else, is not.
 */
LG_API lg_status lg_tag_is_current(const char *path, const lg_dataset *data, const lg_tag_options *options,
                                   bool *current, lg_error *error);

/* A look at tags in memory: what columns there are, and their values for one document. */
typedef struct lg_tag_view lg_tag_view;
typedef struct lg_tag_view_column {
    const char *group, *group_help; /* what makes it: "brown", "copy" … */
    const char *name, *help;        /* help: NULL if the group's says it all */
    const char *const *levels;      /* [n_levels] names of the values; NULL: they are numbers */
    const uint8_t *families;        /* [n_levels] of tags: lg_tag_families; NULL: no tags */
    size_t n_levels;
    lg_dtype dtype;
    const void *values; /* [n_tokens]; NULL without a document */
} lg_tag_view_column;
typedef struct lg_tag_family {
    const char *name;
    const char *class; /* "content", "function", "other"; "none": code, markup, white space */
    bool open;         /* an open class */
} lg_tag_family;

/* Of document DOC of DATA; DATA may be NULL: then columns and levels only. */
LG_API lg_status lg_tag_view_open(const lg_dataset *data, size_t doc, const lg_tag_options *options,
                                  lg_tag_view **view, lg_error *error);
LG_API void lg_tag_view_close(lg_tag_view *view); /* NULL is fine */
LG_API size_t lg_tag_view_n_columns(const lg_tag_view *view);
LG_API const lg_tag_view_column *lg_tag_view_at(const lg_tag_view *view, size_t i);
LG_API const lg_tag_view_column *lg_tag_view_find(const lg_tag_view *view, const char *name); /* NULL: none */
/* The families, in the order of column `family` and the bits of `family_bits`. */
LG_API const lg_tag_family *lg_tag_families(size_t *count);

/* Counts the token types of DATASETS [n], which must come from one tokenizer, into OUT
 * (docs/formats/frequency.md). */
LG_API lg_status lg_frequency_count(const lg_dataset *datasets, size_t n, const char *out,
                                    const char *command, const lg_monitor *monitor, lg_error *error);
#endif
