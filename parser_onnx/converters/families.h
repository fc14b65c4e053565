/* The families of converters: each is one table of rows in the file of its name.
 * X(name, number of rows). */
#ifndef TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

#define TENON__ONNX_FAMILIES(X) \
  X(elementwise)                \
  X(conversion)                 \
  X(reduction)                  \
  X(movement)                   \
  X(generator)                  \
  X(random)                     \
  X(convolution)                \
  X(product)                    \
  X(pooling)                    \
  X(sampling)                   \
  X(normalization)              \
  X(quantization)               \
  X(recurrent)                  \
  X(indexing)                   \
  X(signal)                     \
  X(attention)                  \
  X(loss)                       \
  X(training)                   \
  X(text)                       \
  X(sequence)                   \
  X(control)                    \
  X(classical)                  \
  X(maps)                       \
  X(trees)                      \
  X(linear_models)

/* One row of them: which nodes, and what makes them (see tenon/maker.h). */
#define TENON__ONNX_ROW(domain, type, since, until, function, op, attributes)               \
  TENON_MAKE_ROW(tenon__onnx_convert_row, "onnx", domain, type, since, until, function, op, \
                 attributes)
TENON_MAKE_CONVERT(tenon__onnx_convert_row);

#define TENON__ONNX_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__onnx_##name##_family;
TENON__ONNX_FAMILIES(TENON__ONNX_FAMILY_DECLARATION)
#undef TENON__ONNX_FAMILY_DECLARATION

/* Ends the file of a family: its rows, which it counts, are on offer. */
#define TENON__ONNX_FAMILY(name) \
  const tenon_offering_t tenon__onnx_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For lists of all families. */
#define TENON__ONNX_FAMILY_ENTRY(name) &tenon__onnx_##name##_family,

/* An attribute that is a number of TensorProto.DataType; unknown numbers fail. */
tenon_dtype_t tenon__onnx_get_dtype(tenon_make_t* make, const char* name, tenon_dtype_t otherwise);

/* Output 0 is input 0 as another element type, of numbers and of text. */
void tenon__onnx_cast_input(tenon_make_t* make, tenon_dtype_t to);

#endif
