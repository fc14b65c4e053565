/*
 * Shapes on the command line, as users of trtexec write them.
 *
 *   1x3x224x224                                  a shape; "scalar" has rank 0; ? stays open
 *   image:1x3x224x224,ids:1x128                  shapes of inputs
 *   image:1x3x224x224:4x3x224x224:8x3x224x224    minimum, optimum and maximum of one input in a
 * profile
 *
 * A name may hold colons ("input:0"): shapes are taken from the right. Quoted names ('a,b':1x3) may
 * hold commas.
 */
#ifndef TOOL_TEXT_SHAPE_TEXT_H_
#define TOOL_TEXT_SHAPE_TEXT_H_

#include "tenon/tenon.h"

/* Axes of any shape in the command. */
enum { TOOL_RANK_MAX = 64 };

typedef struct tool_shape_t {
  uint32_t rank;
  int64_t dims[TOOL_RANK_MAX]; /* -1: open */
} tool_shape_t;

/* One input with one shape (all three alike) or three. */
typedef struct tool_named_shape_t {
  char* name;
  tool_shape_t shapes[3]; /* minimum, optimum, maximum */
} tool_named_shape_t;

/* In the order in which they were given; names are owned. All zeros is empty. */
typedef struct tool_named_shapes_t {
  tool_named_shape_t* items;
  size_t count;
  size_t capacity;
} tool_named_shapes_t;

/* Appends what `text` says. `option` is named in messages. INVALID_ARGUMENT. */
tenon_status_t tool_named_shapes_parse(const char* option, const char* text,
                                       tool_named_shapes_t* inout_shapes);
tool_named_shape_t* tool_named_shapes_find(const tool_named_shapes_t* shapes, const char* name);
/* The entry of that name, made when there is none. */
tool_named_shape_t* tool_named_shapes_add(tool_named_shapes_t* shapes, const char* name);
void tool_named_shapes_free(tool_named_shapes_t* shapes);

/* "1x3x224x224", "scalar"; -1 is written "?". Cut when it does not fit. */
void tool_shape_print(uint32_t rank, const int64_t* dims, char* out_text, size_t size);

#endif
