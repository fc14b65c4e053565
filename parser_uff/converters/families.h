/* The families of converters: each is one table of rows in the file of its name. X(name). Below,
 * what they share. */
#ifndef TENON_PARSER_UFF_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_UFF_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

#define TENON__UFF_FAMILIES(X) \
  X(data)                      \
  X(elementwise)               \
  X(windows)                   \
  X(product)                   \
  X(normalization)             \
  X(reduction)                 \
  X(movement)                  \
  X(indexing)                  \
  X(sampling)

/* One row: an operation of UFF (domain "") or of TensorFlow, and what makes it. */
#define TENON__UFF_ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(tenon__uff_convert_row, "uff", "", type, 1, 0, function, op, attributes)
#define TENON__UFF_TF_ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(tenon__uff_convert_row, "uff", "tensorflow", type, 1, 0, function, op, attributes)
TENON_MAKE_CONVERT(tenon__uff_convert_row);

#define TENON__UFF_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__uff_##name##_family;
TENON__UFF_FAMILIES(TENON__UFF_FAMILY_DECLARATION)
#undef TENON__UFF_FAMILY_DECLARATION

/* Ends the file of a family: its rows, which it counts, are on offer. */
#define TENON__UFF_FAMILY(name) \
  const tenon_offering_t tenon__uff_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For lists of all families. */
#define TENON__UFF_FAMILY_ENTRY(name) &tenon__uff_##name##_family,

/* The result of input 0 alone. */
void tenon__uff_same_input(tenon_make_t* make);
/* False, and failed, when a value is not there. */
bool tenon__uff_needs(tenon_make_t* make, uint32_t input_count);

/* Input `index` as known numbers: where it decides about ranks or attributes it must be constant.
 * `what`: its name in the message. False, and failed, when it is not. */
bool tenon__uff_known(tenon_make_t* make, uint32_t index, const char* what, int64_t* out_values,
                      uint32_t* out_count);
int64_t tenon__uff_known_one(tenon_make_t* make, uint32_t index, const char* what);
/* Input `index` as i64: an operand. */
tenon_value_t tenon__uff_operand(tenon_make_t* make, uint32_t index);
/* The value in the type that an attribute names. */
tenon_value_t tenon__uff_as_type(tenon_make_t* make, tenon_value_t value, const char* attribute,
                                 tenon_dtype_t otherwise);

/* Of numbers that the file gives, none of them negative; 0, and failed, where 64 bits do not hold
 * the result. */
int64_t tenon__uff_sum(tenon_make_t* make, int64_t a, int64_t b);
int64_t tenon__uff_times(tenon_make_t* make, int64_t a, int64_t b);

/* Where batch, channels and spatial axes lie in a tensor. */
typedef struct tenon__uff_layout_t {
  uint32_t rank;
  uint32_t batch; /* TENON_NONE: there is no such axis */
  uint32_t channel;
  uint32_t spatial[TENON_MAKE_LIST_LIMIT];
  uint32_t spatial_count;
} tenon__uff_layout_t;

/* From TensorFlow's data_format, or order `index` of UFF's inputs_orders ("N+C NC"). `otherwise`:
 * an order for when there is none; `attribute` NULL: always. */
tenon__uff_layout_t tenon__uff_layout(tenon_make_t* make, const char* attribute, uint32_t index,
                                      const char* otherwise, uint32_t rank);
/* [N, C, spatial...] and back. No node where the axes stand that way. */
tenon_value_t tenon__uff_channels_first(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                        tenon_value_t value);
tenon_value_t tenon__uff_channels_back(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                       tenon_value_t value);

#endif
