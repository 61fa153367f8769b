/* A table that lies in memory instead of a file: what is built into the program. */
#ifndef LG_STORE_TABLE_MEMORY_H
#define LG_STORE_TABLE_MEMORY_H

#include "lossgap/table.h"

/* As lg_table_open, over bytes that are borrowed until the table is closed; NAME stands for the file in
   errors. */
lg_status lg_table_parse(const unsigned char *data, size_t size, const char *name, const char *format,
                         lg_table **table, lg_error *error);

#endif
