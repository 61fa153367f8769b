/* Items of work over threads. */
#ifndef LG_STATS_REGRESS_TEAM_H
#define LG_STATS_REGRESS_TEAM_H

#include <stddef.h>

unsigned lg_team_threads(unsigned wanted); /* 0: all processors */

typedef void lg_team_work(void *context, unsigned thread, size_t item);
/* Items 0 … N - 1, each by whichever thread is free. */
void lg_team_for(unsigned threads, size_t n, lg_team_work *work, void *context);

#endif
