/* Between the files that make gaps: groups of tokens, their sums, and the walk over tokens that both passes
 * share. */
#ifndef LG_STATS_GAP_INTERNAL_H
#define LG_STATS_GAP_INTERNAL_H

#include <math.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "lossgap/gap.h"
#include "stats/cluster.h"
#include "stats/columns.h"
#include "stats/token_source.h"

/* What options of gaps and of profiles have in common; see lg_gap_options. */
typedef struct gap_selection {
    const char *const *by;
    size_t n_by;
    const char *multi, *where;
    const char *const *define;
    size_t n_define;
} gap_selection;

enum { MAX_BY = 32, BLOCK = 2048, MAX_GROUPINGS = 2 * MAX_BY + 2 };

/* Sums of one pair in one group. */
typedef struct sums {
    double a, b;                      /* of the documents before */
    double doc_a, doc_b, doc_gap;     /* of the document at hand */
    double bytes_gap;                 /* bytes x gap */
    double median, improved, trimmed; /* second pass */
    bool constant;                    /* all gaps are equal */
    uint64_t tokens_a, tokens_b, one; /* of spans: tokens of either model, spans that are one token in both */
} sums;

typedef struct group {
    uint64_t code;   /* levels in mixed radix; within one grouping */
    size_t grouping; /* which */
    size_t document; /* at hand; SIZE_MAX: none */
    size_t cells;    /* its first, of `documents` */
    uint64_t doc_tokens, doc_bytes, tokens, documents, bytes, vocabulary;
} group;

typedef struct grouping {
    uint32_t columns; /* bit i: by column i */
    uint64_t radix[MAX_BY];
    uint64_t n_codes;
    uint32_t *table; /* [n_codes] group + 1, 0: none yet; NULL: there are too many codes, see `slots` */
} grouping;

struct lg_gap {
    lg_arena arena; /* names, levels, rows */
    lg_text provenance;
    uint64_t several[MAX_BY];
    lg_group_column by[MAX_BY];
    size_t n_by;
    lg_gap_row *rows;
    size_t n_rows;
    lg_gap_contrast *contrasts;
    size_t n_contrasts, contrasts_room;
    lg_gap_about about;
};

/* A document that a group closed, in order of closing. */
typedef struct closed {
    size_t document;
    uint32_t group;
    double tokens, bytes;
} closed;

/* What is compared: indices of scores. */
typedef struct gap_pair {
    size_t a, b;
} gap_pair;

typedef struct collector {
    const lg_dataset *data;
    const lg_scores *scores;
    size_t n_scores;
    const gap_pair *pairs; /* [n_pairs] */
    size_t n_pairs;
    size_t n_ordered; /* pairs that the second pass looks at: the first ones */
    lg_gap *gap;
    uint8_t *keep; /* [n_tokens] 0: the token is left out of everything; NULL: all are kept */
    unsigned threads;
    grouping groupings[MAX_GROUPINGS];
    size_t n_groupings;
    group *groups;
    sums *sums; /* [n_groups, n_pairs] */
    size_t n_groups, groups_room, sums_room;
    uint32_t multi;  /* bit i: a token may carry several levels of column i, and that matters */
    bool drop;       /* such a token is in none of that column's groups; else under each of its levels */
    uint32_t *slots; /* hash of (grouping, code): group + 1, 0: free */
    size_t n_slots;
    uint64_t unscorable, kept, unknown;
    uint64_t cut;             /* of spans that count: some model did not see the whole document before it */
    lg_token_source *source;  /* of `query`; both are closed after tokens are chosen */
    lg_query *query;          /* definitions, then the condition */
    const char **definitions; /* [n_definitions] names */
    size_t n_definitions;
    size_t item[MAX_BY];   /* of the definition that column i is; SIZE_MAX: none */
    void *defined[MAX_BY]; /* owned values of such a column */
    closed *closed;        /* [n_cells] */
    double *closed_sums;   /* [n_cells, n_pairs] */
    size_t n_cells, closed_room, closed_sums_room;
    lg_cell *cells;              /* [n_pairs, n_cells] by group, then document */
    size_t *order;               /* [n_groups] the groups as rows show them */
    const struct gap_view *view; /* NULL: none */
} collector;

/* ---- gap_select.c ---- */

/* Compiles the definitions and the condition of OPTIONS over the scores and TAGS. */
lg_status gap_compile(collector *c, const lg_table *tags, const gap_selection *options, lg_error *error);
/* Which definition NAME is; SIZE_MAX: none. */
size_t gap_find_definition(const collector *c, const char *name);
/* Makes definition ITEM the grouping column B; its values come with gap_select. */
lg_status gap_open_definition(collector *c, size_t b, size_t item, lg_error *error);
/* One walk over all tokens: which count, and the values of defined columns. */
lg_status gap_select(collector *c, lg_error *error);

/* ---- gap_groups.c ---- */

/* First pass: groups, sums, cells. */
lg_status gap_collect(collector *c, lg_error *error);
/* Second pass, over one grouping and pair at a time: median, improved, trimmed. */
lg_status gap_order(collector *c, lg_error *error);
/* Counts the different tokens of each group of grouping K. */
lg_status gap_count_vocabulary(collector *c, size_t k, lg_error *error);
void gap_free_groups(collector *c);

/* The group of CODE in grouping WAY, or SIZE_MAX. */
size_t gap_find_group(const collector *c, size_t way, uint64_t code);

static inline const lg_cell *gap_cells(const collector *c, size_t pair, size_t g) {
    return c->cells + pair * c->n_cells + c->groups[g].cells;
}

/* ---- gap_views.c ---- */

typedef struct gap_view gap_view;
const gap_view *gap_find_view(const char *name); /* NULL: there is none */
const char *gap_view_name(const gap_view *view);
/* Opens the view's columns and adds its groupings. */
lg_status gap_open_view(collector *c, const gap_view *view, const lg_table *tags, lg_error *error);
/* Whether the view wants vocabularies counted, by gap_count_vocabulary. */
bool gap_wants_vocabulary(const gap_view *view);
/* The contrasts of PAIR. MEANS [n_groups, replicates] of the pair's groups; NULL: no bootstrap. */
lg_status gap_make_contrasts(collector *c, size_t pair, const double *means, size_t replicates,
                             lg_error *error);

/* ---- gap_rows.c ---- */

/* Rows, with bootstrap intervals where BOOTSTRAP > 0, and the view's contrasts. */
lg_status gap_make_rows(collector *c, size_t bootstrap, uint64_t seed, lg_error *error);
/* The names of the levels of group G, [n_by] from the gap's arena; NULL: no memory. */
const char **gap_levels_of(collector *c, const group *g);
size_t gap_level_of(const collector *c, const group *g, size_t column);

/* ---- gap.c ---- */

lg_status gap_add_grouping(collector *c, uint32_t columns, lg_error *error);
/* Opens what is compared and by what, and takes the first pass: C has data, scores, pairs, a gap and threads.
   VIEW: NULL, or the name of one. */
lg_status gap_open(collector *c, const lg_table *tags, const gap_selection *selection, const char *view,
                   lg_error *error);
/* Provenance: what every result says of its inputs, and of the tokens that it counted, into an open object.
 */
void gap_put_inputs(const collector *c, const lg_table *tags, lg_json_writer *w);
void gap_put_bootstrap(size_t replicates, uint64_t seed, lg_json_writer *w); /* nothing without replicates */
void gap_put_selection(const collector *c, const gap_selection *selection, lg_json_writer *w);
/* The counts in C's about; lets go of what ends with tables. */
void gap_finish_about(collector *c);

#endif
