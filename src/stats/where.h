/* Which tokens count: a condition over the columns of tokens. */
#ifndef LG_STATS_WHERE_H
#define LG_STATS_WHERE_H

#include "stats/token_source.h"

typedef struct lg_where {
    lg_token_source *source;
    lg_query *query;           /* NULL: every token counts */
    lg_query_session *session; /* of one thread */
} lg_where;

/* Compiles TEXT (NULL: every token counts), called WHAT in errors; the rest as in lg_token_source_open. On
   error nothing is owned. */
lg_status lg_where_open(const char *text, const char *what, const lg_dataset *data, const lg_scores *scores,
                        const char *const *models, size_t n_scores, const lg_table *tags, lg_where *where,
                        lg_error *error);
void lg_where_close(lg_where *where);

/* LG_QUERY_FALSE, _UNKNOWN or _TRUE of the tokens FIRST … FIRST + N - 1. */
lg_status lg_where_read(lg_where *where, size_t first, size_t n, uint8_t *truth, lg_error *error);

#endif
