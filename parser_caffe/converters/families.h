/* The families of converters: each is one table of rows in the file of its name. X(name). Below,
 * what they share. */
#ifndef TENON_PARSER_CAFFE_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_CAFFE_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

#define TENON__CAFFE_FAMILIES(X) \
  X(elementwise)                 \
  X(convolution)                 \
  X(pooling)                     \
  X(product)                     \
  X(normalization)               \
  X(movement)                    \
  X(reduction)                   \
  X(sampling)                    \
  X(recurrent)                   \
  X(detection)                   \
  X(data)

/* One row: a type of layer, and what makes it (see tenon/maker.h). */
#define TENON__CAFFE_ROW(domain, type, function, op, attributes) \
  TENON_MAKE_ROW(tenon__caffe_convert_row, "caffe", domain, type, 1, 0, function, op, attributes)
TENON_MAKE_CONVERT(tenon__caffe_convert_row);

#define TENON__CAFFE_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__caffe_##name##_family;
TENON__CAFFE_FAMILIES(TENON__CAFFE_FAMILY_DECLARATION)
#undef TENON__CAFFE_FAMILY_DECLARATION

/* Ends the file of a family: its rows, which it counts, are on offer. */
#define TENON__CAFFE_FAMILY(name) \
  const tenon_offering_t tenon__caffe_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For lists of all families. */
#define TENON__CAFFE_FAMILY_ENTRY(name) &tenon__caffe_##name##_family,

/* Weights as f32, whatever the file has. */
tenon_value_t tenon__caffe_weight(tenon_make_t* make, uint32_t index, uint32_t rank,
                                  const int64_t* dims);
tenon_value_t tenon__caffe_vector(tenon_make_t* make, uint32_t index, int64_t count);
/* Whether the text `name` (its default `otherwise`) is `word`. */
bool tenon__caffe_is(tenon_make_t* make, const char* name, const char* otherwise, const char* word);
/* An extent that must be a known number. */
int64_t tenon__caffe_extent(tenon_make_t* make, tenon_value_t value, int64_t axis);
/* `value`, of which axis 0 belongs to axis `axis` of a tensor of that rank, so that it broadcasts:
 * axes of extent 1 are put behind. */
tenon_value_t tenon__caffe_align(tenon_make_t* make, tenon_value_t value, int64_t axis,
                                 uint32_t rank);

/* Windows. `message` is "convolution_param" or "pooling_param": the list `name` of it with one
 * entry for each of `count` axes: given once, or for each, or as name_h and name_w. `size` is the
 * name that the pair is made of ("kernel" of kernel_size). False, and nothing written, when it is
 * not given. */
bool tenon__caffe_spatial(tenon_make_t* make, const char* message, const char* name,
                          const char* pair, uint32_t count, int64_t* out_values);
/* An attribute of the node begun with the list twice: before and behind. */
void tenon__caffe_set_pads(tenon_make_t* make, const int64_t* pads, uint32_t count);

#endif
