/* Products with weights. */
#include <inttypes.h>

#include "families.h"

/* All axes from `axis` on are one vector. */
static void inner_product(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t axis =
      tenon_make_axis(make, tenon_make_get_int(make, "inner_product_param.axis", 1), rank);
  const int64_t outputs = tenon_make_get_int(make, "inner_product_param.num_output", 0);
  const bool is_transposed = tenon_make_get_int(make, "inner_product_param.transpose", 0) != 0;
  const int64_t features = tenon_make_elements(make, x, (uint32_t)axis, rank);
  int64_t flat[TENON_MAKE_LIST_LIMIT + 1] = {0};
  if (outputs < 1 || features < 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    outputs < 1 ? "num_output is missing"
                                : "extents from axis %" PRId64 " on must be known numbers",
                    axis);
    return;
  }
  flat[axis] = features;
  const int64_t dims[2] = {is_transposed ? features : outputs, is_transposed ? outputs : features};
  static const int64_t swapped[2] = {1, 0};
  const tenon_value_t blob = tenon__caffe_weight(make, 0, 2, dims);
  const tenon_value_t w = is_transposed ? blob : tenon_make_permute(make, blob, swapped, 2);
  const bool is_flat = axis + 1 == (int64_t)rank;
  const tenon_value_t rows = is_flat ? x : tenon_make_reshape(make, x, flat, (size_t)axis + 1);
  tenon_value_t y = tenon_make_2(make, "mat_mul", rows, w);
  if (tenon_make_get_int(make, "inner_product_param.bias_term", 1) != 0) {
    y = tenon_make_2(make, "add", y, tenon__caffe_vector(make, 1, outputs));
  }
  tenon_make_output(make, 0, y);
}

/* Rows of the weights, picked by whole numbers that come as floats. */
static void embed(tenon_make_t* make) {
  const int64_t dims[2] = {tenon_make_get_int(make, "embed_param.input_dim", 0),
                           tenon_make_get_int(make, "embed_param.num_output", 0)};
  if (dims[0] < 1 || dims[1] < 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "embed_param needs input_dim and num_output");
    return;
  }
  const tenon_value_t rows = tenon__caffe_weight(make, 0, 2, dims);
  const tenon_value_t picks = tenon_make_cast(make, tenon_make_input(make, 0), TENON_DTYPE_INT64);
  tenon_value_t y = tenon_make_2(make, "gather", rows, picks);
  if (tenon_make_get_int(make, "embed_param.bias_term", 1) != 0) {
    y = tenon_make_2(make, "add", y, tenon__caffe_vector(make, 1, dims[1]));
  }
  tenon_make_output(make, 0, y);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__CAFFE_ROW("", "Embed", embed, NULL, NULL),
    TENON__CAFFE_ROW("", "InnerProduct", inner_product, NULL, NULL),
};
TENON__CAFFE_FAMILY(product);
