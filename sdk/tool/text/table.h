/*
 * Tables for a person: columns as wide as what is in them. On a terminal they are bounded by its
 * width: names lose their beginning, which is often a path that all share, and the last column goes
 * on in lines of its own. In a pipe nothing is cut.
 */
#ifndef TOOL_TEXT_TABLE_H_
#define TOOL_TEXT_TABLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct tool_column_t {
  const char* title;
  bool is_number; /* aligned to the right, never cut */
  size_t least;   /* characters that stay when there is too little room */
} tool_column_t;

/* On the caller's stack, from begin to free. Rows that are not whole are not printed. */
typedef struct tool_table_t {
  const tool_column_t* columns;
  size_t column_count;
  char** cells; /* by rows, owned */
  size_t cell_count;
  size_t cell_capacity;
} tool_table_t;

/* The columns are borrowed. */
void tool_table_begin(tool_table_t* table, const tool_column_t* columns, size_t column_count);
/* The next cell, copied and escaped; rows are filled from the left. */
void tool_table_add(tool_table_t* table, const char* text);
/* The heading and all rows; `width` 0: as wide as it is. After each row `after` (or NULL) may print
 * more. */
void tool_table_print(const tool_table_t* table, FILE* file, size_t width,
                      void (*after)(void* user, size_t row), void* user);
void tool_table_free(tool_table_t* table);

/* Columns of the terminal that standard output is; 0 when it is none. */
size_t tool_terminal_width(void);

#endif
