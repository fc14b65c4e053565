/*
 * tenon/maker.h - helpers for converters: reading the node of a model file, properties of values,
 * building.
 *
 * A helper over plugin.h for plugins that offer converters. It is source and no part of the binary
 * contract: all of it is static and inline, calls the tables that the host and the parser lend, and
 * links with nothing. This file is the manual. It includes the code, in maker/.
 *
 * The first failure is kept in `status`; after it nothing is built and values are absent (id 0), so
 * that a converter reads as what it makes and needs no checks between its steps:
 *
 *   static void swishish(tenon_make_t* make) {
 *     const tenon_value_t x = tenon_make_input(make, 0);
 *     const tenon_value_t gate = tenon_make_1(make, "sigmoid", x);
 *     tenon_make_output(make, 0, tenon_make_2(make, "mul", x, gate));
 *   }
 *
 *   static TENON_MAKE_CONVERT(convert);
 *   #define ROW(type, function, op, attributes) \
 *     TENON_MAKE_ROW(convert, "onnx", "", type, 1, 0, function, op, attributes)
 *   static const tenon_make_row_t rows[] = {
 *       ROW("Swishish", swishish, NULL, NULL),
 *       ROW("Leaky", tenon_make_same, "leaky_relu", "slope>alpha"),
 *   };
 *   static TENON_MAKE_CONVERT(convert) {
 *     return TENON_MAKE_BY(rows);
 *   }
 *   static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows)};
 *
 * Everything here is [parse]. Its results are valid until the converter returns. Lists of numbers
 * and blobs belong to the node and are valid until the parse ends.
 */
#ifndef TENON_MAKER_H_
#define TENON_MAKER_H_

#include <stdbool.h>

#include "tenon/plugin.h"

#if defined(__GNUC__)
#define TENON_MAKE_PRINTF __attribute__((format(printf, 3, 4)))
#else
#define TENON_MAKE_PRINTF
#endif

enum { TENON_MAKE_LIST_LIMIT = 64 }; /* ranks, and lists with one entry for each axis */

typedef struct tenon_make_t tenon_make_t;

/* One row of a table of converters: the nodes, and the function that converts them. `op` and
 * `attributes` are for tenon_make_same, and for functions that several rows share: the operator,
 * and the attributes that it takes: "name" or "name>its_name", each perhaps with "=default" where
 * the format's default is not the operator's: "alpha=1.0 axis keepdims group>groups". A default is
 * a float when it has a point, an integer when it has none, else a text. */
typedef struct tenon_make_row_t {
  tenon_converter_t converter; /* first: the offering's stride steps over the rest */
  void (*make)(tenon_make_t* make);
  const char* op;
  const char* attributes;
} tenon_make_row_t;

/* The node that is being converted. Converters read it, and let the functions below write it. */
struct tenon_make_t {
  const tenon_make_row_t* row;
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
  struct tenon_make_block_t* blocks;
};

/* A row: which nodes (since <= version < until; 0: no end), converted by what. */
#define TENON_MAKE_ROW(convert, format, domain, type, since, until, function, op, attributes) \
  {                                                                                           \
    {sizeof(tenon_converter_t), format, domain, type, since, until, convert}, function, op,   \
        attributes                                                                            \
  }

/* Declares the function that is every row's `convert`, and begins its definition. Its body finds
 * the node's row again, by domain, type and version, and runs it: one function serves rows of one
 * format. TENON_MAKE_BY takes an array of rows, TENON_MAKE_BY_OFFERINGS a list of offerings whose
 * items are rows, for plugins with rows in several files. */
#define TENON_MAKE_CONVERT(convert) tenon_status_t convert(const tenon_conversion_t* call)
#define TENON_MAKE_BY_OFFERINGS(list) \
  tenon_make_run(tenon_make_find_offered((list), sizeof(list) / sizeof((list)[0]), call), call)
#define TENON_MAKE_BY(array) \
  tenon_make_run(tenon_make_find_row((array), sizeof(array) / sizeof((array)[0]), call), call)

/* The row that takes the node; NULL: none. */
static inline const tenon_make_row_t* tenon_make_find_row(const tenon_make_row_t* rows,
                                                          size_t count,
                                                          const tenon_conversion_t* call);
static inline const tenon_make_row_t* tenon_make_find_offered(
    const tenon_offering_t* const* offerings, size_t count, const tenon_conversion_t* call);
/* Runs a row; INTERNAL for NULL. */
static inline tenon_status_t tenon_make_run(const tenon_make_row_t* row,
                                            const tenon_conversion_t* call);

/* The node as its row says: all inputs in their order, the row's attributes, all outputs. */
static inline void tenon_make_same(tenon_make_t* make);

/* ---- Failing ---- */

/* Keeps `status`, and writes "TYPE 'name': message" to the sink, unless it failed before. */
static inline void tenon_make_fail(tenon_make_t* make, tenon_status_t status, const char* format,
                                   ...) TENON_MAKE_PRINTF;
/* The same without failing: severity as in plugin.h. */
static inline void tenon_make_say(tenon_make_t* make, int32_t severity, const char* format,
                                  ...) TENON_MAKE_PRINTF;
static inline bool tenon_make_ok(const tenon_make_t* make);
/* Zero-filled; NULL, and failed, when there is none. */
static inline void* tenon_make_memory(tenon_make_t* make, size_t count, size_t size_bytes);

/* ---- Reading the node ----
 * Fields of nested messages are named by their path: "pooling_param.stride". A field of another
 * kind than asked for fails; an absent one gives the default. */

static inline tenon_value_t tenon_make_input(const tenon_make_t* make, uint32_t index); /* id 0:
                                                                                           absent */
static inline bool tenon_make_has_input(const tenon_make_t* make, uint32_t index);
static inline int64_t tenon_make_version(const tenon_make_t* make);
static inline bool tenon_make_has(const tenon_make_t* make, const char* name);
static inline int64_t tenon_make_get_int(tenon_make_t* make, const char* name, int64_t otherwise);
static inline double tenon_make_get_float(tenon_make_t* make, const char* name, double otherwise);
static inline const char* tenon_make_get_string(tenon_make_t* make, const char* name,
                                                const char* otherwise);
/* Lists: false, and a count of 0, when absent. */
static inline bool tenon_make_get_ints(tenon_make_t* make, const char* name,
                                       const int64_t** out_values, size_t* out_count);
static inline bool tenon_make_get_floats(tenon_make_t* make, const char* name,
                                         const double** out_values, size_t* out_count);
/* Weights at the node, where the format has them there. NULL, and failed, when there are not so
 * many; extents as the file gives them. */
static inline uint32_t tenon_make_blob_count(const tenon_make_t* make);
static inline const tenon_tensor_view_t* tenon_make_blob_view(tenon_make_t* make, uint32_t index);
/* As a constant with other extents of the same number of elements, or (dims NULL) its own. The
 * bytes stay where they are when the parser lets them be borrowed. Where extents are given, weights
 * that the file lacks may be made up (see tenon_source_table_t.make_blob). */
static inline tenon_value_t tenon_make_blob(tenon_make_t* make, uint32_t index, uint32_t rank,
                                            const int64_t* dims);

/* ---- Setting outputs ---- */

static inline bool tenon_make_wants(const tenon_make_t* make, uint32_t index);
static inline void tenon_make_output(tenon_make_t* make, uint32_t index, tenon_value_t value);

/* ---- Asking about values ---- */

static inline bool tenon_make_present(tenon_value_t value);
static inline tenon_value_type_t tenon_make_type(tenon_make_t* make, tenon_value_t value);
/* Fails unless the value is a tensor of known rank. */
static inline uint32_t tenon_make_rank(tenon_make_t* make, tenon_value_t value);
static inline tenon_dtype_t tenon_make_dtype(tenon_make_t* make, tenon_value_t value);
/* -1: varies, or there is no such axis. */
static inline int64_t tenon_make_dim(tenon_make_t* make, tenon_value_t value, uint32_t axis);
/* The product of extents of axes [begin, end); -1: varies. */
static inline int64_t tenon_make_elements(tenon_make_t* make, tenon_value_t value, uint32_t begin,
                                          uint32_t end);
static inline bool tenon_make_is_float(tenon_dtype_t dtype);
/* Elements where all are known numbers: writes at most `capacity`. False when one is not known, or
 * there are more. */
static inline bool tenon_make_known_ints(tenon_make_t* make, tenon_value_t value,
                                         int64_t* out_values, uint32_t capacity,
                                         uint32_t* out_count);
/* Likewise for constants of any number type. */
static inline bool tenon_make_known_floats(tenon_make_t* make, tenon_value_t value,
                                           double* out_values, uint32_t capacity,
                                           uint32_t* out_count);
/* Adds the rank to a negative axis; one outside of [-rank, rank) fails. */
static inline int64_t tenon_make_axis(tenon_make_t* make, int64_t axis, uint32_t rank);
/* Truncated and saturated; NaN is 0. */
static inline int64_t tenon_make_to_int64(double value);

/* ---- Constants, copied ---- */

static inline tenon_value_t tenon_make_int64(tenon_make_t* make, int64_t value); /* rank 0 */
static inline tenon_value_t tenon_make_int64s(tenon_make_t* make, const int64_t* values,
                                              size_t count); /* rank 1 */
/* Rank 0, of any number type. */
static inline tenon_value_t tenon_make_number(tenon_make_t* make, tenon_dtype_t dtype,
                                              double value);
/* Dense data. */
static inline tenon_value_t tenon_make_tensor(tenon_make_t* make, tenon_dtype_t dtype,
                                              uint32_t rank, const int64_t* dims, const void* data);

/* ---- Nodes ---- */

/* `op` is a standard operator without domain and version ("mat_mul"), or the whole identity of
 * anyone's ("acme.swish/1"). */
static inline void tenon_make_begin(tenon_make_t* make, const char* op);
static inline void tenon_make_set_int(tenon_make_t* make, const char* name, int64_t value);
static inline void tenon_make_set_float(tenon_make_t* make, const char* name, double value);
static inline void tenon_make_set_string(tenon_make_t* make, const char* name, const char* value);
static inline void tenon_make_set_ints(tenon_make_t* make, const char* name, const int64_t* values,
                                       size_t count);
static inline void tenon_make_set_floats(tenon_make_t* make, const char* name, const double* values,
                                         size_t count);
static inline void tenon_make_set_dtype(tenon_make_t* make, const char* name, tenon_dtype_t value);
/* The node's field `name`, if the node has it, as the operator's attribute `target`. */
static inline void tenon_make_pass(tenon_make_t* make, const char* name, const char* target);
/* Several: "axis keepdims group>groups alpha=0.5", see tenon_make_row_t. */
static inline void tenon_make_pass_all(tenon_make_t* make, const char* attributes);
static inline void tenon_make_add(tenon_make_t* make, tenon_value_t value);
/* All inputs of the node from `first` on. */
static inline void tenon_make_add_inputs(tenon_make_t* make, uint32_t first);
/* How many outputs a variadic output has. */
static inline void tenon_make_set_output_count(tenon_make_t* make, uint32_t count);
static inline void tenon_make_add_body(tenon_make_t* make, uint32_t body);
static inline tenon_value_t tenon_make_end(tenon_make_t* make);
static inline void tenon_make_end_many(tenon_make_t* make, tenon_value_t* out_values,
                                       uint32_t count);
/* Ends with as many outputs as the node has, and sets them. */
static inline void tenon_make_end_outputs(tenon_make_t* make);

/* Nodes of one output without attributes. */
static inline tenon_value_t tenon_make_1(tenon_make_t* make, const char* op, tenon_value_t a);
static inline tenon_value_t tenon_make_2(tenon_make_t* make, const char* op, tenon_value_t a,
                                         tenon_value_t b);
static inline tenon_value_t tenon_make_3(tenon_make_t* make, const char* op, tenon_value_t a,
                                         tenon_value_t b, tenon_value_t c);
/* An expression; its inputs, at most 8, are named a, b, c, ... in order. */
static inline tenon_value_t tenon_make_math(tenon_make_t* make, const char* text, uint32_t count,
                                            const tenon_value_t* inputs);
static inline tenon_value_t tenon_make_math_1(tenon_make_t* make, const char* text,
                                              tenon_value_t a);
static inline tenon_value_t tenon_make_math_2(tenon_make_t* make, const char* text, tenon_value_t a,
                                              tenon_value_t b);
/* An expression whose text is printed from a format, at most 511 characters. Numbers that may be
 * negative stand in parentheses: "y = a * (%.17g)". */
static inline tenon_value_t tenon_make_print_math(tenon_make_t* make, uint32_t count,
                                                  const tenon_value_t* inputs, const char* format,
                                                  ...) __attribute__((format(printf, 4, 5)));

/* ---- Subgraphs ---- */

/* The graph that is field `name`, as a body for a control form, made before the node that takes it
 * begins. Its first parameters have the types of `types` (NULL: as the file declares them), its
 * last take what the node's graphs capture: the values that tenon_make_add_captured adds as inputs.
 */
static inline tenon_converted_body_t tenon_make_body(tenon_make_t* make, const char* name,
                                                     const tenon_value_t* types, uint32_t count);
static inline void tenon_make_add_captured(tenon_make_t* make, const tenon_converted_body_t* body);

/* ---- Frequent nodes ---- */

/* `value` itself when it has that type. */
static inline tenon_value_t tenon_make_cast(tenon_make_t* make, tenon_value_t value,
                                            tenon_dtype_t to);
static inline tenon_value_t tenon_make_reshape(tenon_make_t* make, tenon_value_t value,
                                               const int64_t* dims, size_t count);
static inline tenon_value_t tenon_make_squeeze(tenon_make_t* make, tenon_value_t value,
                                               int64_t axis);
static inline tenon_value_t tenon_make_unsqueeze(tenon_make_t* make, tenon_value_t value,
                                                 const int64_t* axes, size_t count);
static inline tenon_value_t tenon_make_permute(tenon_make_t* make, tenon_value_t value,
                                               const int64_t* perm, size_t count);
static inline tenon_value_t tenon_make_slice(tenon_make_t* make, tenon_value_t value, int64_t axis,
                                             int64_t start, int64_t end);
/* Of one value: itself. */
static inline tenon_value_t tenon_make_concat(tenon_make_t* make, int64_t axis, uint32_t count,
                                              const tenon_value_t* values);
static inline tenon_value_t tenon_make_reduce(tenon_make_t* make, const char* op,
                                              tenon_value_t value, const int64_t* axes,
                                              size_t count, int64_t keepdims);
static inline tenon_value_t tenon_make_shape(tenon_make_t* make, tenon_value_t value);
/* The extents of axes [begin, end) as i64 of rank 1. */
static inline tenon_value_t tenon_make_extents(tenon_make_t* make, tenon_value_t value,
                                               int64_t begin, int64_t end);
/* The items at `indices` of an axis. */
static inline tenon_value_t tenon_make_gather(tenon_make_t* make, tenon_value_t value,
                                              tenon_value_t indices, int64_t axis);

#include "tenon/maker/nodes.h"
#include "tenon/maker/read.h"
#include "tenon/maker/values.h"

#endif /* TENON_MAKER_H_ */
