/*
 * The families of converters. Each family is one table of rows in the file of its name. A row gives
 * the nodes (domain, type, versions from `since` to before `until`; until 0: no end) and the
 * function that builds the same from standard operators.
 */
#ifndef MICROSOFT_FAMILIES_H_
#define MICROSOFT_FAMILIES_H_

#include "tenon/maker.h"

/* X(name): the file NAME.c, whose offering is microsoft_NAME_family. */
#define MICROSOFT_FAMILIES(X) \
  X(activation)               \
  X(attention)                \
  X(blocks)                   \
  X(convolution)              \
  X(experts)                  \
  X(group_query)              \
  X(integer)                  \
  X(inverse)                  \
  X(movement)                 \
  X(nchwc)                    \
  X(normalization)            \
  X(packed)                   \
  X(position)                 \
  X(product)                  \
  X(quantization)             \
  X(signal)

/* A row of com.microsoft, where all operators have version 1. `op` and `attributes` are as in
 * tenon/maker.h. */
#define MICROSOFT_ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(convert, "onnx", "com.microsoft", type, 1, 0, function, op, attributes)
#define MICROSOFT_FAMILY_DECLARATION(name) extern const tenon_offering_t microsoft_##name##_family;
MICROSOFT_FAMILIES(MICROSOFT_FAMILY_DECLARATION)
#undef MICROSOFT_FAMILY_DECLARATION

/* Ends the file of a family. It offers the array `rows`. The file declares `convert` before it. */
#define MICROSOFT_FAMILY(name)         \
  static TENON_MAKE_CONVERT(convert) { \
    return TENON_MAKE_BY(rows);        \
  }                                    \
  const tenon_offering_t microsoft_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For plugin.c's list of all families. */
#define MICROSOFT_FAMILY_ENTRY(name) &microsoft_##name##_family,

#endif
