/*
 * Packed batches: only the tokens of each sequence, without padding, one after the other.
 *
 * token_offset, [batch, length], has the places of all tokens in the padded batch, then those of the
 * padding. Attention restores the padding, masks the keys that are padding, and packs the result.
 */
#include <inttypes.h>

#include "families.h"
#include "heads.h"
#include "steps.h"

/* token_offset of the tokens alone, as i64 of [tokens, 1]. `packed` is [tokens, ...]. */
static tenon_value_t places_of(tenon_make_t* make, tenon_value_t packed, uint32_t offsets) {
  static const int64_t flat[1] = {-1};
  static const int64_t last[1] = {1};
  const tenon_value_t all = tenon_make_reshape(
      make, tenon_make_cast(make, tenon_make_input(make, offsets), TENON_DTYPE_INT64), flat, 1);
  const tenon_value_t tokens =
      microsoft_first(make, all, 0, tenon_make_extents(make, packed, 0, 1));
  return tenon_make_unsqueeze(make, tokens, last, 1);
}

/* [tokens, width] as [batch, length, width], with zeros for padding. */
static tenon_value_t padded(tenon_make_t* make, tenon_value_t packed, tenon_value_t places,
                            uint32_t offsets) {
  const tenon_value_t width = tenon_make_extents(make, packed, 1, 2);
  const tenon_value_t batch = tenon_make_extents(make, tenon_make_input(make, offsets), 0, 2);
  const tenon_value_t shape[2] = {batch, width};
  const int64_t axis = 0;
  const tenon_value_t area[2] = {tenon_make_reduce(make, "reduce_prod", batch, &axis, 1, 1), width};
  const tenon_value_t zero = tenon_make_number(make, tenon_make_dtype(make, packed), 0);
  const tenon_value_t zeros =
      tenon_make_2(make, "filled", zero, tenon_make_concat(make, 0, 2, area));
  const tenon_value_t rows = tenon_make_3(make, "scatter_nd", zeros, places, packed);
  return tenon_make_2(make, "reshape", rows, tenon_make_concat(make, 0, 2, shape));
}

/* [batch, length, width] as [tokens, width]. */
static tenon_value_t repacked(tenon_make_t* make, tenon_value_t value, tenon_value_t places) {
  const int64_t dims[2] = {-1, tenon_make_dim(make, value, 2)};
  return tenon_make_2(make, "gather_nd", tenon_make_reshape(make, value, dims, 2), places);
}

/* mask_filter_value for keys behind the end of their sequence: [batch, 1, 1, length]. */
static tenon_value_t padding_mask(tenon_make_t* make, uint32_t sums, tenon_value_t padded_value) {
  static const int64_t axes[3] = {1, 2, 3};
  const tenon_value_t cumulated =
      tenon_make_cast(make, tenon_make_input(make, sums), TENON_DTYPE_INT64);
  const tenon_value_t pair[2] = {tenon_make_slice(make, cumulated, 0, 1, INT64_MAX),
                                 tenon_make_slice(make, cumulated, 0, 0, -1)};
  const tenon_value_t lengths = tenon_make_math(make, "y = a - b", 2, pair);
  const tenon_value_t operands[2] = {microsoft_counted(make, padded_value, 1),
                                     tenon_make_unsqueeze(make, lengths, axes, 3)};
  return tenon_make_print_math(make, 2, operands, "y = cast(a < b ? 0.0 : (%.9g), f32)",
                               tenon_make_get_float(make, "mask_filter_value", -10000.0));
}

/* Attends by heads to q, k and v, [tokens, width] each. The inputs of the node from `offsets` on are
 * token_offset, cumulative lengths and attention_bias. */
static void attend(tenon_make_t* make, const tenon_value_t parts[3], uint32_t offsets) {
  const int64_t count = microsoft_head_count(make, "num_heads");
  const tenon_value_t places = places_of(make, parts[0], offsets);
  tenon_value_t wide[3] = {{0}, {0}, {0}};
  for (uint32_t k = 0; k < 3; ++k) {
    wide[k] = padded(make, parts[k], places, offsets);
  }
  const microsoft_heads_t heads = {
      .q = microsoft_split_heads(make, wide[0], count),
      .k = microsoft_split_heads(make, wide[1], count),
      .v = microsoft_split_heads(make, wide[2], count),
      .mask = microsoft_both(make, padding_mask(make, offsets + 1, wide[0]),
                             tenon_make_input(make, offsets + 2)),
      .scale = tenon_make_get_float(make, "scale", 0),
  };
  tenon_make_output(make, 0, repacked(make, microsoft_attend(make, &heads).y, places));
}

static void packed_attention(tenon_make_t* make) {
  const tenon_value_t w = tenon_make_input(make, 1);
  const tenon_value_t all =
      microsoft_add_input(make, tenon_make_2(make, "mat_mul", tenon_make_input(make, 0), w), 2);
  int64_t widths[3] = {0, 0, 0};
  tenon_value_t parts[3] = {{0}, {0}, {0}};
  microsoft_widths(make, tenon_make_dim(make, w, 1), widths);
  microsoft_split_columns(make, all, widths, parts);
  attend(make, parts, 3);
}

/* The query may hold all three: [tokens, heads, 3, size]. */
static void packed_multi_head_attention(tenon_make_t* make) {
  tenon_value_t parts[3] = {tenon_make_input(make, 0), tenon_make_input(make, 1),
                            tenon_make_input(make, 2)};
  if (!tenon_make_present(parts[1])) {
    microsoft_split_packed(make, parts[0], 3, parts);
  }
  microsoft_add_biases(make, 3, 3, parts);
  attend(make, parts, 4);
}

static void restore_padding(tenon_make_t* make) {
  const tenon_value_t packed = tenon_make_input(make, 0);
  tenon_make_output(make, 0, padded(make, packed, places_of(make, packed, 1), 1));
}

/* Places of tokens, or of padding: [count], i64. */
static tenon_value_t found(tenon_make_t* make, tenon_value_t is_token, const char* text) {
  const int64_t flat = -1;
  const tenon_value_t row = tenon_make_reshape(make, is_token, &flat, 1);
  return tenon_make_squeeze(make, tenon_make_1(make, "nonzero", tenon_make_math_1(make, text, row)),
                            0);
}

static void remove_padding(tenon_make_t* make) {
  static const int64_t last[1] = {1};
  static const int64_t zero[1] = {0};
  const int64_t axis = 0;
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t counts = tenon_make_input(make, 1);
  const tenon_dtype_t dtype = tenon_make_dtype(make, counts);
  const tenon_value_t pair[2] = {
      microsoft_counted(make, x, 1),
      tenon_make_unsqueeze(make, tenon_make_cast(make, counts, TENON_DTYPE_INT64), last, 1)};
  const tenon_value_t is_token = tenon_make_math(make, "y = a < b", 2, pair);
  const tenon_value_t tokens = found(make, is_token, "y = a");
  const tenon_value_t offsets[2] = {tokens, found(make, is_token, "y = !a")};
  if (tenon_make_wants(make, 0)) {
    tenon_make_output(make, 0, repacked(make, x, tenon_make_unsqueeze(make, tokens, last, 1)));
  }
  if (tenon_make_wants(make, 1)) {
    const tenon_value_t all = tenon_make_cast(make, tenon_make_concat(make, 0, 2, offsets), dtype);
    tenon_make_output(make, 1,
                      tenon_make_2(make, "reshape", all, tenon_make_extents(make, x, 0, 2)));
  }
  if (tenon_make_wants(make, 2)) {
    const tenon_value_t sums =
        tenon_make_2(make, "cumulative_sum", counts, tenon_make_int64(make, 0));
    const tenon_value_t none = tenon_make_cast(make, tenon_make_int64s(make, zero, 1), dtype);
    const tenon_value_t cumulated[2] = {none, sums};
    tenon_make_output(make, 2, tenon_make_concat(make, 0, 2, cumulated));
  }
  if (tenon_make_wants(make, 3)) {
    tenon_make_output(make, 3, tenon_make_reduce(make, "reduce_max", counts, &axis, 1, 1));
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("PackedAttention", packed_attention, NULL, NULL),
    MICROSOFT_ROW("PackedMultiHeadAttention", packed_multi_head_attention, NULL, NULL),
    MICROSOFT_ROW("RemovePadding", remove_padding, NULL, NULL),
    MICROSOFT_ROW("RestorePadding", restore_padding, NULL, NULL),
};
MICROSOFT_FAMILY(packed);
