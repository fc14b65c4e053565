/*
 * The families of converters: each is one table of rows in the file of its name, which plugin.c
 * offers as it is. A row says which nodes (domain, type, versions from since to before until; until
 * 0: no end) become which operator, with what attributes; where that is not all, a function builds
 * it. A type may have several rows, of versions that do not overlap.
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

/* X(name, number of rows): here, so that the tables can be offered without a count of their own. */
#define TENON__ONNX_FAMILIES(X) \
  X(elementwise, 83)            \
  X(conversion, 3)              \
  X(reduction, 22)              \
  X(movement, 20)               \
  X(generator, 11)              \
  X(random, 6)                  \
  X(convolution, 6)             \
  X(product, 5)                 \
  X(pooling, 9)                 \
  X(sampling, 9)                \
  X(normalization, 14)          \
  X(quantization, 5)            \
  X(recurrent, 3)               \
  X(indexing, 10)               \
  X(signal, 2)                  \
  X(attention, 4)               \
  X(loss, 2)                    \
  X(training, 3)                \
  X(text, 4)                    \
  X(sequence, 12)               \
  X(control, 4)                 \
  X(classical, 8)               \
  X(maps, 3)                    \
  X(trees, 3)                   \
  X(linear_models, 4)

/* One row: the node of the file, the versions of its operator set, the function that makes it
 * (NULL: one node of `op` with the inputs and outputs as they are), and attributes to pass, as
 * tenon/maker.h writes them. */
#define TENON__ONNX_ROW(domain, type, since, until, function, op, attributes)               \
  TENON_MAKE_ROW(tenon__onnx_convert_row, "onnx", domain, type, since, until, function, op, \
                 attributes)
/* What the host calls for every row; finds the row again by domain, type and version (rows.c). */
TENON_MAKE_CONVERT(tenon__onnx_convert_row);

#define TENON__ONNX_FAMILY_DECLARATION(name, count) \
  extern const tenon_make_row_t tenon__onnx_##name##_rows[count];
TENON__ONNX_FAMILIES(TENON__ONNX_FAMILY_DECLARATION)
#undef TENON__ONNX_FAMILY_DECLARATION

/* Begins the table of a family. Too many rows do not compile; too few leave rows of zeros, and
 * fail the family test. */
#define TENON__ONNX_FAMILY(name) const tenon_make_row_t tenon__onnx_##name##_rows[]

/* An attribute that is a number of TensorProto.DataType, "to" say; unknown numbers fail with
 * INVALID_DATA. `otherwise` when the node lacks it. */
tenon_dtype_t tenon__onnx_get_dtype(tenon_make_t* make, const char* name, tenon_dtype_t otherwise);

/* Output 0 is input 0 as another element type. Between numbers a cast, between numbers and text
 * their decimal form; of the same type the input itself, without a node. */
void tenon__onnx_cast_input(tenon_make_t* make, tenon_dtype_t to);

#endif
