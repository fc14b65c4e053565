/* A value in the command's memory: a dense tensor, a sequence or an optional. What files hold and
 * networks take. */
#ifndef TOOL_DATA_VALUE_H_
#define TOOL_DATA_VALUE_H_

#include "data/element.h"

typedef struct tool_value_t {
  uint32_t kind; /* as tool_kind_name knows them; TENON_ARGUMENT_ABSENT: nothing yet */
  char* name;    /* as the file has it, or NULL */
  /* TENSOR: dense, row-major, bits of short elements packed from the lowest. Strings are views into
   * `text`. */
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t* dims;
  uint64_t count; /* of elements */
  uint64_t size_bytes;
  void* data;
  char* text;
  /* The other kinds; of the optional ones 0 or 1 */
  struct tool_value_t* items;
  size_t item_count;
} tool_value_t;

/* TENON_ARGUMENT_TENSOR, _SEQUENCE, _OPTIONAL, _OPTIONAL_SEQUENCE as words; else "nothing". */
const char* tool_kind_name(uint32_t kind);

/* A tensor of zeros; INVALID_DATA with `what` in the message when the extents are no tensor's. */
tenon_status_t tool_value_make(const char* what, tenon_dtype_t dtype, uint32_t rank,
                               const int64_t* dims, tool_value_t* out_value);
void tool_value_free(tool_value_t* value);

/* Room for the items of a sequence or optional. */
void tool_value_make_items(uint32_t kind, size_t count, tool_value_t* out_value);

/* Copies what the library lends (any strides, any layout that strides describe). */
tenon_status_t tool_value_copy_argument(const char* what, const tenon_argument_t* argument,
                                        tool_value_t* out_value);

/* The value as the library takes it. Freed by tool_argument_free; points into the value. */
void tool_argument_make(const tool_value_t* value, tenon_argument_t* out_argument);
void tool_argument_free(tenon_argument_t* argument);

void tool_value_copy(const tool_value_t* value, tool_value_t* out_value);
/* `times` copies one after the other along axis 0. */
tenon_status_t tool_value_repeat(const char* what, const tool_value_t* value, int64_t times,
                                 tool_value_t* out_value);
/* What a conversion changed: numbers that integers do not have, floats that overflow or vanish;
 * rounding from a float to a shorter one does not count. */
typedef struct tool_loss_t {
  uint64_t count;
  double from; /* of the first */
  double to;
} tool_loss_t;
/* The largest of the `count` elements from `begin` on, less those that are `taken` (NULL: none is);
 * `count` where there is none, for NaN is no number. */
uint64_t tool_value_largest(const tool_value_t* value, uint64_t begin, uint64_t count,
                            const bool* taken);
/* Another numeric type; INVALID_DATA for strings and complex numbers. */
tenon_status_t tool_value_convert(const char* what, const tool_value_t* value, tenon_dtype_t dtype,
                                  tool_value_t* out_value, tool_loss_t* out_loss);
/* Seeded numbers from `min` to `max`, both included, which may be infinite. Integers and floats are
 * evenly spread over a range with two ends. Without any end floats are normal and integers 0 or 1,
 * for they often choose or count something. Strings are short words. */
void tool_value_randomize(tool_value_t* value, uint64_t seed, double min, double max);

#endif
