/*
 * The families of converters: each is one table of rows in the file of its name, which plugin.c
 * offers as it is. Below, what they share (shared.c). After a failure a call does nothing
 * (tenon/maker.h).
 */
#ifndef TENON_PARSER_CAFFE_CONVERTERS_FAMILIES_H_
#define TENON_PARSER_CAFFE_CONVERTERS_FAMILIES_H_

#include "tenon/maker.h"

/* X(name): the file converters/NAME.c, whose offering is tenon__caffe_NAME_family. */
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

/* One row: a type of layer, and what makes it (see tenon/maker.h). Layers have no versions; a
 * domain other than "" is the module of a Python layer. */
#define TENON__CAFFE_ROW(domain, type, function, op, attributes) \
  TENON_MAKE_ROW(convert, "caffe", domain, type, 1, 0, function, op, attributes)
#define TENON__CAFFE_FAMILY_DECLARATION(name) \
  extern const tenon_offering_t tenon__caffe_##name##_family;
TENON__CAFFE_FAMILIES(TENON__CAFFE_FAMILY_DECLARATION)
#undef TENON__CAFFE_FAMILY_DECLARATION

/* Ends the file of a family. Its array `rows` is on offer, and `convert`, which the file declares
 * before the rows, finds a node's row among them again. */
#define TENON__CAFFE_FAMILY(name)      \
  static TENON_MAKE_CONVERT(convert) { \
    return TENON_MAKE_BY(rows);        \
  }                                    \
  const tenon_offering_t tenon__caffe_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For a list of all families: plugin.c's offerings. */
#define TENON__CAFFE_FAMILY_ENTRY(name) &tenon__caffe_##name##_family,

/* Blob `index` of the layer with these extents, as f32, whatever the file has; its number of
 * elements must be theirs, its shape need not. Fails when the layer has no such blob. */
tenon_value_t tenon__caffe_weight(tenon_make_t* make, uint32_t index, uint32_t rank,
                                  const int64_t* dims);
/* Likewise with one extent. */
tenon_value_t tenon__caffe_vector(tenon_make_t* make, uint32_t index, int64_t count);
/* Whether the text `name` (its default `otherwise`) is `word`: of enumerations, by their names. */
bool tenon__caffe_is(tenon_make_t* make, const char* name, const char* otherwise, const char* word);
/* An extent that must be a known number; 0, and failed with UNSUPPORTED, when it is not. */
int64_t tenon__caffe_extent(tenon_make_t* make, tenon_value_t value, int64_t axis);
/* `value`, of which axis 0 belongs to axis `axis` of a tensor of that rank, so that it
 * broadcasts: axes of extent 1 are put behind. A bias [C] for axis 1 of rank 4 becomes [C, 1,
 * 1]. */
tenon_value_t tenon__caffe_align(tenon_make_t* make, tenon_value_t value, int64_t axis,
                                 uint32_t rank);

/* Windows. `message` is "convolution_param" or "pooling_param": the list `name` of it
 * ("kernel_size") with one entry for each of `count` spatial axes: given once for all, or for
 * each, or, of two axes, as name_h and name_w of `pair` ("kernel"). False, and nothing written,
 * when it is not given; an _h or _w alone leaves the other 0. */
bool tenon__caffe_spatial(tenon_make_t* make, const char* message, const char* name,
                          const char* pair, uint32_t count, int64_t* out_values);
/* Sets attribute "pads" of the node begun: the list twice, before and behind, for Caffe pads
 * both sides alike. */
void tenon__caffe_set_pads(tenon_make_t* make, const int64_t* pads, uint32_t count);

#endif
