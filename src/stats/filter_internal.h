/* Between the files that make filters: what is asked for, and what became of it. */
#ifndef LG_STATS_FILTER_INTERNAL_H
#define LG_STATS_FILTER_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "lossgap/filter.h"
#include "lossgap/table.h"

enum { LG_MOST_FILTERS = 256, LG_FILTER_NAME = 64 }; /* names have at most so many bytes */

struct lg_filters {
    lg_arena arena; /* names, expressions, notes */
    const lg_dataset *data;
    unsigned threads;
    lg_filter *filters; /* [n] */
    size_t n;
    uint8_t *masks; /* [n, n_tokens] */
    lg_filter_left_out *left_out;
    size_t n_left_out;
    lg_state_tag *state;
    size_t n_state;
    const char *command;
    lg_text inputs, settings;
};

/* A filter before it is made. */
typedef struct lg_filter_definition {
    const char *name, *expression;
    const char *what;   /* what errors call it: "filters.txt:12, filter x" */
    const char *reason; /* why it cannot be made; NULL: it can */
    const char *note;
    bool own; /* from the file */
} lg_filter_definition;

typedef struct lg_filter_list {
    lg_filter_definition *items; /* from the arena, room for LG_MOST_FILTERS and the built-in ones */
    size_t n;
} lg_filter_list;

/* filter_file.c: reads TEXT, called NAME in errors, onto the end of LIST; what has a name that is there
   already takes its place out. Memory is ARENA's. */
lg_status lg_filter_parse(const char *text, size_t length, const char *name, lg_arena *arena,
                          lg_filter_list *list, lg_error *error);

/* filter_state.c: the tags for `state` into FILTERS, and its definition: expression or reason, note. TAGS is
   not NULL and has the columns `tag`, `class` and `copy_len`. */
lg_status lg_filter_choose_state(lg_filters *filters, const lg_table *tags, const lg_scores *pair,
                                 const char *const *models, const char *const *given,
                                 lg_filter_definition *state, lg_error *error);

/* filter.c: memory for the masks of F->n filters, zeroed, and a count of what they hold once they are made.
 */
lg_status lg_filters_alloc(lg_filters *f, lg_error *error);
void lg_filters_count(lg_filters *f);
/* Processors, or 1 where there are no threads (fuzzers). */
unsigned lg_filter_threads(unsigned wanted);

#endif
