/*
 * The families of converters: each is one table of rows in the file of its name, which plugin.c
 * offers as it is. Below, what they share (shared.c). After a failure a call does nothing
 * (tenon/maker.h), so a converter asks at most once.
 */
#ifndef TENON_PARSER_UFF_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_UFF_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

/* X(name): the file converters/NAME.c, whose offering is tenon__uff_NAME_family. */
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

/* One row: an operation of UFF (domain "") or of TensorFlow, and what makes it. Neither has
 * versions: all are 1. */
#define TENON__UFF_ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(convert, "uff", "", type, 1, 0, function, op, attributes)
#define TENON__UFF_TF_ROW(type, function, op, attributes) \
  TENON_MAKE_ROW(convert, "uff", "tensorflow", type, 1, 0, function, op, attributes)
#define TENON__UFF_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__uff_##name##_family;
TENON__UFF_FAMILIES(TENON__UFF_FAMILY_DECLARATION)
#undef TENON__UFF_FAMILY_DECLARATION

/* Ends the file of a family. Its array `rows` is on offer, and `convert`, which the file declares
 * before the rows, finds a node's row among them again. */
#define TENON__UFF_FAMILY(name)        \
  static TENON_MAKE_CONVERT(convert) { \
    return TENON_MAKE_BY(rows);        \
  }                                    \
  const tenon_offering_t tenon__uff_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For a list of all families: plugin.c's offerings. */
#define TENON__UFF_FAMILY_ENTRY(name) &tenon__uff_##name##_family,

/* Output 0 is input 0 itself, without a node: Identity, and what checks or hints and computes
 * nothing. */
void tenon__uff_same_input(tenon_make_t* make);
/* False, and failed with INVALID_DATA, when there are fewer inputs than `input_count`. */
bool tenon__uff_needs(tenon_make_t* make, uint32_t input_count);

/* Input `index` as known numbers: where it decides about ranks or attributes it must be
 * constant. `what`: its name in the message. Up to TENON_MAKE_LIST_LIMIT of them. False, and
 * failed with UNSUPPORTED, when only the run knows them. */
bool tenon__uff_known(tenon_make_t* make, uint32_t index, const char* what, int64_t* out_values,
                      uint32_t* out_count);
/* Likewise one number: an axis. 0 after a failure. */
int64_t tenon__uff_known_one(tenon_make_t* make, uint32_t index, const char* what);
/* Input `index` as i64, a value: TensorFlow's shapes, axes and indices are i32 or i64, the
 * operators' are i64. */
tenon_value_t tenon__uff_operand(tenon_make_t* make, uint32_t index);
/* The value in the type that an attribute names, "DstT" say; `otherwise` when the node lacks it. */
tenon_value_t tenon__uff_as_type(tenon_make_t* make, tenon_value_t value, const char* attribute,
                                 tenon_dtype_t otherwise);

/* Of numbers that the file gives, none of them negative; 0, and failed with INVALID_DATA, where
 * 64 bits do not hold the result. */
int64_t tenon__uff_sum(tenon_make_t* make, int64_t a, int64_t b);
int64_t tenon__uff_times(tenon_make_t* make, int64_t a, int64_t b);

/* Where batch, channels and spatial axes lie in a tensor of `rank` axes. "NHWC": batch 0,
 * channel 3, spatial {1, 2}. Of weights "batch" is the axis of the outputs (UFF's K or N). */
typedef struct tenon__uff_layout_t {
  uint32_t rank;
  /* TENON_NONE: there is no such axis, which only a failed layout has. */
  uint32_t batch;
  uint32_t channel;
  /* In their order in the tensor: the first spatial_count of them. */
  uint32_t spatial[TENON_MAKE_LIST_LIMIT];
  uint32_t spatial_count;
} tenon__uff_layout_t;

/* From TensorFlow's data_format, or order `index` of UFF's inputs_orders ("N+C NC": a word an
 * input, "+" for all spatial axes). `otherwise`: an order for when there is none; `attribute`
 * NULL: always. INVALID_DATA when the order does not fit the rank, UNSUPPORTED when it has no
 * batch or no channels. */
tenon__uff_layout_t tenon__uff_layout(tenon_make_t* make, const char* attribute, uint32_t index,
                                      const char* otherwise, uint32_t rank);
/* [N, C, spatial...], which the operators take, and back. A permutation each, which cancel
 * between layers; no node where the axes stand that way. */
tenon_value_t tenon__uff_channels_first(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                        tenon_value_t value);
tenon_value_t tenon__uff_channels_back(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                       tenon_value_t value);

#endif
