/* Parts of a run over a dataset: work spread over threads, and the columns of windows. */
#ifndef LG_TAG_RUN_H
#define LG_TAG_RUN_H

#include "store/table_writer.h"
#include "tag/tag_internal.h"

/* Item I, by thread THREAD. false: no memory. */
typedef bool lg_tag_item(const void *shared, unsigned thread, size_t i);
bool lg_tag_for_each(unsigned threads, size_t n, lg_tag_item *run, const void *shared);

/* windows.c: adds and fills the columns of `paper` windows of WINDOW elements. */
lg_status lg_tag_windows(const lg_dataset *data, size_t window, unsigned threads, lg_table_writer *writer,
                         const lg_monitor *monitor, lg_error *error);

#endif
