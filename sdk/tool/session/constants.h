/* Inputs whose value is known when building (--input-constant): constants of the network then. */
#ifndef TOOL_SESSION_CONSTANTS_H_
#define TOOL_SESSION_CONSTANTS_H_

#include "data/value.h"
#include "text/options.h"

typedef struct tool_constant_t {
  char* input;
  char* path;
  tool_value_t value;
} tool_constant_t;

typedef struct tool_constants_t {
  tool_constant_t* items;
  size_t count;
  size_t capacity;
} tool_constants_t;

/* Adds what the texts NAME=FILE say; the files are .npy or recorded tensors (.pb). */
tenon_status_t tool_constants_add(const tool_list_t* texts, tool_constants_t* constants);
void tool_constants_free(tool_constants_t* constants);
const tool_constant_t* tool_constants_find(const tool_constants_t* constants, const char* input);

/* As the library takes them. Freed by tool_constant_table_free; points into the constants. */
typedef struct tool_constant_table_t {
  tenon_input_value_t* values;
  tenon_argument_t* arguments;
  uint32_t count;
} tool_constant_table_t;
void tool_constant_table_make(const tool_constants_t* constants, tool_constant_table_t* out_table);
void tool_constant_table_free(tool_constant_table_t* table);

#endif
