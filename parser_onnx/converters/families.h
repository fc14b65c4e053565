/* The families of converters: each is one table of rows in the file of its name.
 * X(name, number of rows). */
#ifndef TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_

#include "maker.h"

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
  X(classical, 4)

#define TENON__ONNX_FAMILY_DECLARATION(name, count) \
  extern const tenon__make_row_t tenon__make_##name##_rows[count];
TENON__ONNX_FAMILIES(TENON__ONNX_FAMILY_DECLARATION)
#undef TENON__ONNX_FAMILY_DECLARATION

/* Begins the table of a family. Too many rows do not compile; too few fail the family test. */
#define TENON__ONNX_FAMILY(name) const tenon__make_row_t tenon__make_##name##_rows[]

#endif
