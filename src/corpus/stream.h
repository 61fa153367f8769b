/* A file read front to back, unpacked on the way. */
#ifndef LG_CORPUS_STREAM_H
#define LG_CORPUS_STREAM_H

#include "lossgap/base.h"

typedef enum lg_packing { LG_PLAIN, LG_GZIP, LG_ZSTD } lg_packing;
typedef struct lg_stream lg_stream;

/* Opens PATH. gzip files of several members and zstd files of several frames read as one. */
lg_status lg_stream_open(const char *path, lg_packing packing, lg_stream **stream, lg_error *error);
/* Up to SIZE unpacked bytes (SIZE > 0); *GOT is 0 only at the end. A file that ends too early or is damaged
   is an error, even when all bytes before the damage were read. */
lg_status lg_stream_read(lg_stream *stream, void *data, size_t size, size_t *got, lg_error *error);
uint64_t lg_stream_consumed(const lg_stream *stream); /* bytes of the file so far, as stored */
void lg_stream_close(lg_stream *stream);              /* NULL is fine */

#endif
