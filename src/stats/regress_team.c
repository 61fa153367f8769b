/* Items of work over threads. */
#include "stats/regress_team.h"

#ifdef _OPENMP
#include <omp.h>
#endif

unsigned lg_team_threads(unsigned wanted) {
    if (wanted) return wanted;
#ifdef _OPENMP
    return (unsigned)omp_get_num_procs();
#else /* fuzzers */
    return 1;
#endif
}

void lg_team_for(unsigned threads, size_t n, lg_team_work *work, void *context) {
#ifdef _OPENMP
    if (threads > 1 && n > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads)
        for (size_t i = 0; i < n; i++) work(context, (unsigned)omp_get_thread_num(), i);
        return;
    }
#endif
    (void)threads;
    for (size_t i = 0; i < n; i++) work(context, 0, i); /* without a team, whose making cannot fail softly */
}
