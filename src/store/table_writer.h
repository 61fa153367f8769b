/* Writing tables: columns grow independently, each spooled to an unnamed file, and are joined at commit,
   widest dtype first (so that every column is aligned). Memory is a buffer per column. The result appears
   atomically. */
#ifndef LG_STORE_TABLE_WRITER_H
#define LG_STORE_TABLE_WRITER_H

#include "lossgap/table.h"

typedef struct lg_table_writer lg_table_writer;

/* Refuses a PATH where something is that a table of FORMAT must not replace: anything but such a table or an
   empty file. A slip of the keyboard does not cost a checkpoint or a dataset. */
lg_status lg_table_may_replace(const char *path, const char *format, lg_error *error);

lg_status lg_table_writer_create(const char *path, lg_table_writer **writer, lg_error *error);
/* A column of rows of WIDTH values (1: a plain vector). Returns its index through COLUMN. */
lg_status lg_table_writer_add(lg_table_writer *writer, const char *name, lg_dtype dtype, size_t width,
                              size_t *column, lg_error *error);
/* COUNT values (a whole number of rows by commit). */
lg_status lg_table_writer_append(lg_table_writer *writer, size_t column, const void *values, size_t count,
                                 lg_error *error);
/* Stores FORMAT, VERSION, COMMAND, INPUTS and SETTINGS of PROVENANCE (JSON objects; NULL: {}); program and
   identity are filled in. ABOUT (a JSON object or NULL) is stored beside them and, like inputs and command,
   does not count for the identity. Consumes the writer, whatever the result. */
lg_status lg_table_writer_commit(lg_table_writer *writer, const lg_provenance *provenance, const char *about,
                                 lg_error *error);
void lg_table_writer_discard(lg_table_writer *writer); /* NULL is fine */

#endif
