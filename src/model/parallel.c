/* Spreads the items of a region over the session's threads. */
#include <omp.h>

#include "base/error.h"
#include "model/session.h"

lg_status lg_for_each(lg_session *session, size_t n, lg_work *work, const void *context, lg_error *error) {
    lg_status status = LG_OK;
#pragma omp parallel num_threads((int)session->compute->threads)
    {
        lg_tile_room *room = &session->threads[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 1)
        for (size_t item = 0; item < n; item++) {
            lg_status seen;
#pragma omp atomic read
            seen = status;
            if (seen) continue;
            lg_error own = {0};
            lg_status result = work(session, room, item, context, &own);
            if (result) {
#pragma omp critical
                if (!status) {
                    if (error) *error = own;
#pragma omp atomic write
                    status = result;
                }
            }
        }
    }
    return status;
}
