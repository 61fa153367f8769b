/* Files: mapped input, atomic output, folders. */
#ifndef LG_BASE_FILE_H
#define LG_BASE_FILE_H

#include <stdio.h>

#include "lossgap/base.h"

typedef struct lg_mapping {
    const unsigned char *data; /* NULL when the file is empty */
    size_t size;
} lg_mapping;

lg_status lg_map(const char *path, lg_mapping *mapping, lg_error *error);
void lg_unmap(lg_mapping *mapping);

/* Refuses a PATH that a file must not replace: a folder, a device, a pipe. */
lg_status lg_check_output(const char *path, lg_error *error);

/* A file that replaces PATH only at commit: written beside it (PATH.0.tmp), flushed to disk, renamed. Links
   are followed. A process that is killed leaves the temporary file behind; the next one that writes PATH
   takes it over. */
typedef struct lg_output {
    FILE *stream;
    char *path, *temporary;
} lg_output;

lg_status lg_output_open(const char *path, lg_output *output, lg_error *error);
lg_status lg_output_commit(lg_output *output, lg_error *error); /* also checks every earlier write */
void lg_output_discard(lg_output *output);                      /* after a commit: does nothing */

/* Writes the whole file atomically. */
lg_status lg_write_file(const char *path, const void *data, size_t size, lg_error *error);

char *lg_path_join(const char *folder, const char *name); /* free(); NULL: no memory */
lg_status lg_make_folders(const char *path, lg_error *error);
bool lg_is_folder(const char *path);
bool lg_exists(const char *path);
bool lg_is_same_file(const char *a, const char *b); /* also through links; false if either is missing */

#endif
