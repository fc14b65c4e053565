/*
 * The families of converters: each is one table of rows in the file of its name, which plugin.c
 * offers as it is. A row says which nodes (domain, type, versions from since to before until; until
 * 0: no end) become which operator, with what attributes; where that is not all, a function builds
 * it. A type may have several rows, of versions that do not overlap.
 */
#ifndef TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_ONNX_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

/* X(name): the file converters/NAME.c, whose offering is tenon__onnx_NAME_family. */
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

/* One row: the node of the file, the versions of its operator set, the function that makes it
 * (tenon_make_same: one node of `op` with the inputs and outputs as they are), and attributes to
 * pass, as tenon/maker.h writes them. */
#define TENON__ONNX_ROW(domain, type, since, until, function, op, attributes) \
  TENON_MAKE_ROW(convert, "onnx", domain, type, since, until, function, op, attributes)
#define TENON__ONNX_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__onnx_##name##_family;
TENON__ONNX_FAMILIES(TENON__ONNX_FAMILY_DECLARATION)
#undef TENON__ONNX_FAMILY_DECLARATION

/* Einsum as moves and a product where it is one (einsum.c). */
void tenon__onnx_einsum(tenon_make_t* make);

/* Ends the file of a family. Its array `rows` is on offer, and `convert`, which the file declares
 * before the rows, finds a node's row among them again. */
#define TENON__ONNX_FAMILY(name)       \
  static TENON_MAKE_CONVERT(convert) { \
    return TENON_MAKE_BY(rows);        \
  }                                    \
  const tenon_offering_t tenon__onnx_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For a list of all families: plugin.c's offerings. */
#define TENON__ONNX_FAMILY_ENTRY(name) &tenon__onnx_##name##_family,

/* An attribute that is a number of TensorProto.DataType, "to" say; unknown numbers fail with
 * INVALID_DATA. `otherwise` when the node lacks it. */
tenon_dtype_t tenon__onnx_get_dtype(tenon_make_t* make, const char* name, tenon_dtype_t otherwise);

/* Output 0 is input 0 as another element type. Between numbers a cast, between numbers and text
 * their decimal form; of the same type the input itself, without a node. */
void tenon__onnx_cast_input(tenon_make_t* make, tenon_dtype_t to);

/* gradient.c: derivatives by the chain rule. */
void tenon__onnx_gradient(tenon_make_t* make);

/* What an optional holds; what is none stands for itself. */
tenon_value_t tenon__onnx_optional_get(tenon_make_t* make, tenon_value_t o);

#endif
