/* Attention by heads, which several families build. */
#include "heads.h"

#include <inttypes.h>
#include <string.h>

#include "steps.h"

int64_t microsoft_head_count(tenon_make_t* make, const char* name) {
  const int64_t heads = microsoft_extent(make, name);
  if (heads < 1) {
    microsoft_refuse(make, name, "it must be at least 1");
    return 1;
  }
  return heads;
}

void microsoft_widths(tenon_make_t* make, int64_t width, int64_t out_widths[3]) {
  const int64_t* sizes = NULL;
  size_t count = 0;
  const bool is_given = tenon_make_get_ints(make, "qkv_hidden_sizes", &sizes, &count) && count == 3;
  bool is_valid = width >= 0;
  int64_t sum = 0;
  for (int k = 0; k < 3; ++k) {
    out_widths[k] = is_given ? sizes[k] : width / 3;
    is_valid = is_valid && out_widths[k] >= 0 && out_widths[k] <= width - sum;
    sum += is_valid ? out_widths[k] : 0;
  }
  if (!is_valid || sum != width) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "q, k and v have %" PRId64 ", %" PRId64 " and %" PRId64
                    " columns, all have %" PRId64,
                    out_widths[0], out_widths[1], out_widths[2], width);
    memset(out_widths, 0, 3 * sizeof(*out_widths));
  }
}

void microsoft_split_packed(tenon_make_t* make, tenon_value_t packed, uint32_t count,
                            tenon_value_t* out_parts) {
  const uint32_t rank = tenon_make_rank(make, packed);
  int64_t dims[3] = {0, 0, 0};
  if (rank < 4 || rank > 5 || tenon_make_dim(make, packed, rank - 2) != count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "packed queries, keys or values are not [..., heads, %u, size]", count);
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const tenon_value_t part = tenon_make_slice(make, packed, rank - 2, k, k + 1);
    dims[rank - 3] = tenon_make_elements(make, part, rank - 3, rank);
    out_parts[k] = tenon_make_reshape(make, part, dims, rank - 2);
  }
}

void microsoft_split_columns(tenon_make_t* make, tenon_value_t all, const int64_t widths[3],
                             tenon_value_t out_parts[3]) {
  const int64_t axis = (int64_t)tenon_make_rank(make, all) - 1;
  for (int64_t k = 0, begin = 0; k < 3; begin += widths[k], ++k) {
    out_parts[k] = tenon_make_slice(make, all, axis, begin, begin + widths[k]);
  }
}

void microsoft_add_biases(tenon_make_t* make, uint32_t index, uint32_t count,
                          tenon_value_t* inout_parts) {
  int64_t begin = 0;
  for (uint32_t k = 0; k < count && tenon_make_has_input(make, index); ++k) {
    const int64_t width =
        tenon_make_dim(make, inout_parts[k], tenon_make_rank(make, inout_parts[k]) - 1);
    if (width < 0) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "the last extents of q, k and v must be known to add a bias");
      return;
    }
    inout_parts[k] = tenon_make_2(
        make, "add", inout_parts[k],
        tenon_make_slice(make, tenon_make_input(make, index), 0, begin, begin + width));
    begin += width;
  }
}

tenon_value_t microsoft_split_heads(tenon_make_t* make, tenon_value_t value, int64_t heads) {
  tenon_make_begin(make, "split_heads");
  tenon_make_set_int(make, "heads", heads);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

tenon_value_t microsoft_both(tenon_make_t* make, tenon_value_t a, tenon_value_t b) {
  if (!tenon_make_present(a) || !tenon_make_present(b)) {
    return tenon_make_present(a) ? a : b;
  }
  const tenon_dtype_t dtype = tenon_make_dtype(make, a);
  return tenon_make_2(make, "add", a, tenon_make_cast(make, b, dtype));
}

microsoft_attended_t microsoft_attend(tenon_make_t* make, const microsoft_heads_t* heads) {
  tenon_value_t values[4] = {{0}, {0}, {0}, {0}};
  tenon_make_begin(make, "attention");
  tenon_make_set_int(make, "is_causal", heads->is_causal ? 1 : 0);
  tenon_make_set_float(make, "scale", heads->scale);
  tenon_make_set_int(make, "qk_mode", 2);
  tenon_make_add(make, heads->q);
  tenon_make_add(make, heads->k);
  tenon_make_add(make, heads->v);
  tenon_make_add(make, heads->mask);
  tenon_make_add(make, heads->past_k);
  tenon_make_add(make, heads->past_v);
  tenon_make_end_many(make, values, 4);
  return (microsoft_attended_t){.y = tenon_make_1(make, "join_heads", values[0]),
                                .present_k = values[1],
                                .present_v = values[2],
                                .scores = values[3]};
}

/* Ends, or ends and starts, of visible keys: [batch] or [2 batch]. */
static tenon_value_t range_mask(tenon_make_t* make, tenon_value_t bounds, tenon_value_t keys,
                                double hidden) {
  const tenon_value_t places = microsoft_below(make, tenon_make_squeeze(make, keys, 0));
  static const int64_t axes[3] = {1, 2, 3};
  const tenon_value_t wide = tenon_make_cast(make, bounds, TENON_DTYPE_INT64);
  /* How many rows of [batch] there are is a matter of extents, so it must be known here. */
  const int64_t batch = tenon_make_dim(make, tenon_make_input(make, 0), 0);
  const int64_t count = tenon_make_dim(make, bounds, 0);
  if (batch >= 0 && count >= 0 && count == 2 * batch) {
    const tenon_value_t operands[3] = {
        places, tenon_make_unsqueeze(make, tenon_make_slice(make, wide, 0, 0, batch), axes, 3),
        tenon_make_unsqueeze(make, tenon_make_slice(make, wide, 0, batch, count), axes, 3)};
    return tenon_make_print_math(make, 3, operands, "y = cast(a < b && a >= c ? 0.0 : (%.9g), f32)",
                                 hidden);
  }
  if (batch >= 0 && count >= 0 && count != batch) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "a mask of %" PRId64 " numbers for a batch of %" PRId64
                    " is a form of CUDA kernels; give a mask [batch, keys]",
                    count, batch);
  }
  const tenon_value_t operands[2] = {places, tenon_make_unsqueeze(make, wide, axes, 3)};
  return tenon_make_print_math(make, 2, operands, "y = cast(a < b ? 0.0 : (%.9g), f32)", hidden);
}

tenon_value_t microsoft_key_mask(tenon_make_t* make, uint32_t index, tenon_value_t keys) {
  static const int64_t two[2] = {1, 2};
  static const int64_t one[1] = {1};
  const tenon_value_t mask = tenon_make_input(make, index);
  const double hidden = tenon_make_get_float(make, "mask_filter_value", -10000.0);
  if (!tenon_make_present(mask)) {
    return mask;
  }
  const uint32_t rank = tenon_make_rank(make, mask);
  if (rank == 1) {
    return range_mask(make, mask, keys, hidden);
  }
  if (rank != 2 && rank != 3) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "a mask of rank %u is a form of CUDA kernels; give a mask [batch, keys]", rank);
    return mask;
  }
  const tenon_value_t added =
      tenon_make_print_math(make, 1, &mask, "y = cast(a > 0 ? 0.0 : (%.9g), f32)", hidden);
  return tenon_make_unsqueeze(make, added, rank == 2 ? two : one, rank == 2 ? 2 : 1);
}
