/*
 * What converters are written with: reading the node, asking about values, building. The first
 * failure is kept in `status`; after it nothing is built and values are absent, so that a converter
 * reads as what it makes and needs no checks between its steps.
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_MAKER_H_
#define TENON_PARSER_ONNX_CONVERTERS_MAKER_H_

#include <stdbool.h>

#include "tenon/plugin.h"

enum { TENON__MAKE_LIST_LIMIT = 64 }; /* ranks, and lists with one entry for each axis */

typedef struct tenon__make_t {
  const struct tenon__make_row_t* row;
  const tenon_source_t* source;
  const tenon_source_table_t* table;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  const tenon_value_t* inputs;
  uint32_t input_count;
  tenon_value_t* outputs;
  uint32_t output_count;
  tenon_status_t status;
  bool is_open; /* a node was begun and not ended */
} tenon__make_t;

/* One row of a family's table: which nodes, and what makes them. `op` and `attributes` are for
 * tenon__make_same: the operator, and the attributes that it takes: "name", "name>its_name", each
 * perhaps with
 * "=default" where ONNX's differs from the operator's: "alpha=1.0 axis keepdims group>groups". */
typedef struct tenon__make_row_t {
  tenon_converter_t converter; /* first: the offering's stride steps over the rest */
  void (*make)(tenon__make_t* make);
  const char* op;
  const char* attributes;
} tenon__make_row_t;

/* What every row's `convert` is: finds the row again and runs it. */
tenon_status_t tenon__make_convert(void* state, const tenon_source_t* source,
                                   const tenon_source_table_t* table, tenon_builder_t* builder,
                                   const tenon_builder_table_t* build, const tenon_value_t* inputs,
                                   uint32_t input_count, tenon_value_t* outputs,
                                   uint32_t output_count);

#define TENON__MAKE_ROW(domain, type, since, until, function, op, attributes)             \
  {                                                                                       \
    {sizeof(tenon_converter_t), "onnx", domain, type, since, until, tenon__make_convert}, \
        function, op, attributes                                                          \
  }

/* The node as the row says: all inputs in their order, the row's attributes, all outputs. */
void tenon__make_same(tenon__make_t* make);

/* Failing. The message gets the node's name. */
void tenon__make_fail(tenon__make_t* make, tenon_status_t status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
bool tenon__make_ok(const tenon__make_t* make);
/* Zero-filled memory that lives until the parse ends; NULL (and failed) when there is none. */
void* tenon__make_memory(tenon__make_t* make, size_t count, size_t size_bytes);

/* Reading the node. Absent inputs have id 0. Absent attributes give the default. */
tenon_value_t tenon__make_input(const tenon__make_t* make, uint32_t index);
bool tenon__make_has_input(const tenon__make_t* make, uint32_t index);
int64_t tenon__make_version(const tenon__make_t* make);
bool tenon__make_has(const tenon__make_t* make, const char* name);
int64_t tenon__make_get_int(tenon__make_t* make, const char* name, int64_t otherwise);
double tenon__make_get_float(tenon__make_t* make, const char* name, double otherwise);
const char* tenon__make_get_string(tenon__make_t* make, const char* name, const char* otherwise);
/* False when absent: the count is 0. */
bool tenon__make_get_ints(tenon__make_t* make, const char* name, const int64_t** out_values,
                          size_t* out_count);
/* An attribute that is a number of TensorProto.DataType; unknown numbers fail. */
tenon_dtype_t tenon__make_get_dtype(tenon__make_t* make, const char* name, tenon_dtype_t otherwise);

/* Setting outputs. */
bool tenon__make_wants(const tenon__make_t* make, uint32_t index);
void tenon__make_output(tenon__make_t* make, uint32_t index, tenon_value_t value);

/* Asking about values. */
bool tenon__make_present(tenon_value_t value);
tenon_value_type_t tenon__make_type(tenon__make_t* make, tenon_value_t value);
uint32_t tenon__make_rank(tenon__make_t* make, tenon_value_t value);
tenon_dtype_t tenon__make_dtype(tenon__make_t* make, tenon_value_t value);
int64_t tenon__make_dim(tenon__make_t* make, tenon_value_t value, uint32_t axis); /* -1: varies */
bool tenon__make_is_float(tenon_dtype_t dtype);
/* Elements, where all are known numbers: writes at most `capacity`. False when one is not known, or
 * more. */
bool tenon__make_known_ints(tenon__make_t* make, tenon_value_t value, int64_t* out_values,
                            uint32_t capacity, uint32_t* out_count);
/* Likewise for constants of any number type. */
bool tenon__make_known_floats(tenon__make_t* make, tenon_value_t value, double* out_values,
                              uint32_t capacity, uint32_t* out_count);
/* Adds the rank to a negative axis; one outside of [-rank, rank) fails. */
int64_t tenon__make_axis(tenon__make_t* make, int64_t axis, uint32_t rank);

/* Truncated and saturated; NaN is 0. */
int64_t tenon__make_to_int64(double value);

/* Constants. */
tenon_value_t tenon__make_int64(tenon__make_t* make, int64_t value); /* rank 0 */
tenon_value_t tenon__make_int64s(tenon__make_t* make, const int64_t* values,
                                 size_t count); /* rank 1 */
tenon_value_t tenon__make_number(tenon__make_t* make, tenon_dtype_t dtype,
                                 double value); /* rank 0 */
tenon_value_t tenon__make_tensor(tenon__make_t* make, tenon_dtype_t dtype, uint32_t rank,
                                 const int64_t* dims, const void* data);

/* Nodes. `op` is a standard operator without domain and version: "mat_mul". */
void tenon__make_begin(tenon__make_t* make, const char* op);
void tenon__make_set_int(tenon__make_t* make, const char* name, int64_t value);
void tenon__make_set_float(tenon__make_t* make, const char* name, double value);
void tenon__make_set_string(tenon__make_t* make, const char* name, const char* value);
void tenon__make_set_ints(tenon__make_t* make, const char* name, const int64_t* values,
                          size_t count);
void tenon__make_set_dtype(tenon__make_t* make, const char* name, tenon_dtype_t value);
/* The node's attribute `name`, if it is there, as the operator's `target`. */
void tenon__make_pass(tenon__make_t* make, const char* name, const char* target);
/* Several: "axis keepdims group>groups alpha=0.5", see tenon__make_row_t. */
void tenon__make_pass_all(tenon__make_t* make, const char* attributes);
void tenon__make_add(tenon__make_t* make, tenon_value_t value);
/* All inputs of the node from `first` on. */
void tenon__make_add_inputs(tenon__make_t* make, uint32_t first);
/* How many outputs a variadic output has. */
void tenon__make_set_output_count(tenon__make_t* make, uint32_t count);
void tenon__make_add_body(tenon__make_t* make, uint32_t body);
tenon_value_t tenon__make_end(tenon__make_t* make);
void tenon__make_end_many(tenon__make_t* make, tenon_value_t* out_values, uint32_t count);
/* Ends with as many outputs as the node has, and sets them. */
void tenon__make_end_outputs(tenon__make_t* make);

/* Nodes of one output without attributes. */
tenon_value_t tenon__make_1(tenon__make_t* make, const char* op, tenon_value_t a);
tenon_value_t tenon__make_2(tenon__make_t* make, const char* op, tenon_value_t a, tenon_value_t b);
tenon_value_t tenon__make_3(tenon__make_t* make, const char* op, tenon_value_t a, tenon_value_t b,
                            tenon_value_t c);
/* An expression; its inputs are named a, b, c, ... in order. */
tenon_value_t tenon__make_math(tenon__make_t* make, const char* text, uint32_t count,
                               const tenon_value_t* inputs);
tenon_value_t tenon__make_math_1(tenon__make_t* make, const char* text, tenon_value_t a);
tenon_value_t tenon__make_math_2(tenon__make_t* make, const char* text, tenon_value_t a,
                                 tenon_value_t b);

/* Frequent ones. */
tenon_value_t tenon__make_cast(tenon__make_t* make, tenon_value_t value,
                               tenon_dtype_t to); /* or as it is */
tenon_value_t tenon__make_reshape(tenon__make_t* make, tenon_value_t value, const int64_t* dims,
                                  size_t count);
tenon_value_t tenon__make_squeeze(tenon__make_t* make, tenon_value_t value, int64_t axis);
tenon_value_t tenon__make_unsqueeze(tenon__make_t* make, tenon_value_t value, const int64_t* axes,
                                    size_t count);
tenon_value_t tenon__make_permute(tenon__make_t* make, tenon_value_t value, const int64_t* perm,
                                  size_t count);
tenon_value_t tenon__make_slice(tenon__make_t* make, tenon_value_t value, int64_t axis,
                                int64_t start, int64_t end);
tenon_value_t tenon__make_concat(tenon__make_t* make, int64_t axis, uint32_t count,
                                 const tenon_value_t* values);
tenon_value_t tenon__make_reduce(tenon__make_t* make, const char* op, tenon_value_t value,
                                 const int64_t* axes, size_t count, int64_t keepdims);
tenon_value_t tenon__make_shape(tenon__make_t* make, tenon_value_t value);

#endif
