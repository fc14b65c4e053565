/*
 * Inputs whose value is known when building (--input-constant): constants of the network then, and
 * no inputs of the plan. For models whose shapes depend on a value, such as the axes of a
 * reduction.
 */
#ifndef TOOL_SESSION_CONSTANTS_H_
#define TOOL_SESSION_CONSTANTS_H_

#include "data/value.h"
#include "text/options.h"

/* One option; all three are owned. */
typedef struct tool_constant_t {
  char* input;
  /* For messages, and for the key of a cached plan. */
  char* path;
  tool_value_t value;
} tool_constant_t;

/* A list; all zeros is empty. */
typedef struct tool_constants_t {
  tool_constant_t* items;
  size_t count;
  size_t capacity;
} tool_constants_t;

/* Adds what the texts NAME=FILE say (the last '=' divides); the files are .npy or recorded
 * tensors (.pb). A misuse for another form or a second value of one input. On failure those
 * before it have been added. */
tenon_status_t tool_constants_add(const tool_list_t* texts, tool_constants_t* constants);
void tool_constants_free(tool_constants_t* constants);
/* NULL: the input is none. */
const tool_constant_t* tool_constants_find(const tool_constants_t* constants, const char* input);

/* As the library takes them: [count], both in step. It points into the constants, which must
 * outlive it. */
typedef struct tool_constant_table_t {
  tenon_input_value_t* values;
  tenon_argument_t* arguments;
  uint32_t count;
} tool_constant_table_t;
/* Only tensors: a constant is none of the containers. */
void tool_constant_table_make(const tool_constants_t* constants, tool_constant_table_t* out_table);
void tool_constant_table_free(tool_constant_table_t* table);

#endif
