/* Attention with a projection, of separate or packed queries, keys and values, with caches. */
#include <inttypes.h>

#include "families.h"
#include "heads.h"
#include "quantized.h"
#include "steps.h"

/* Extents of axis 1 of x and of axis 3 before it, summed: [1]. */
static tenon_value_t key_count(tenon_make_t* make, tenon_value_t x, uint32_t axis,
                               tenon_value_t past, uint32_t past_axis) {
  const tenon_value_t own = tenon_make_extents(make, x, axis, axis + 1);
  return tenon_make_present(past)
             ? tenon_make_2(make, "add", tenon_make_extents(make, past, past_axis, past_axis + 1),
                            own)
             : own;
}

/* Half `index` of [2, batch, heads, length, size]. */
static tenon_value_t half_of(tenon_make_t* make, tenon_value_t both, int64_t index) {
  return tenon_make_present(both) ? microsoft_item(make, both, 0, index) : both;
}

static void refuse_cuda(tenon_make_t* make) {
  if (tenon_make_get_int(make, "do_rotary", 0) != 0) {
    microsoft_refuse(make, "do_rotary", "CUDA alone has it; use RotaryEmbedding");
  }
  if (tenon_make_get_int(make, "past_present_share_buffer", 0) != 0) {
    microsoft_refuse(make, "past_present_share_buffer",
                     "CUDA alone has it; export with growing caches");
  }
}

/* Attention of a projection [batch, length, width of q, k and v]. The last arguments are numbers of
 * inputs. */
static void attend_projection(tenon_make_t* make, tenon_value_t all, uint32_t mask_index,
                              uint32_t past_index, uint32_t bias_index) {
  const int64_t count = microsoft_head_count(make, "num_heads");
  const tenon_value_t past = tenon_make_input(make, past_index);
  int64_t widths[3] = {0, 0, 0};
  tenon_value_t parts[3] = {{0}, {0}, {0}};
  microsoft_widths(make, tenon_make_dim(make, all, 2), widths);
  microsoft_split_columns(make, all, widths, parts);
  const tenon_value_t mask = microsoft_key_mask(make, mask_index, key_count(make, all, 1, past, 3));
  const microsoft_heads_t heads = {
      .q = microsoft_split_heads(make, parts[0], count),
      .k = microsoft_split_heads(make, parts[1], count),
      .v = microsoft_split_heads(make, parts[2], count),
      .past_k = half_of(make, past, 0),
      .past_v = half_of(make, past, 1),
      .mask = microsoft_both(make, mask, tenon_make_input(make, bias_index)),
      .is_causal = tenon_make_get_int(make, "unidirectional", 0) != 0,
      .scale = tenon_make_get_float(make, "scale", 0),
  };
  const microsoft_attended_t attended = microsoft_attend(make, &heads);
  tenon_make_output(make, 0, attended.y);
  if (tenon_make_wants(make, 1) && widths[2] != widths[1]) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "output 1, present, holds keys of %" PRId64 " columns and values of %" PRId64,
                    widths[1], widths[2]);
  }
  if (tenon_make_wants(make, 1)) {
    static const int64_t front[1] = {0};
    const tenon_value_t presents[2] = {tenon_make_unsqueeze(make, attended.present_k, front, 1),
                                       tenon_make_unsqueeze(make, attended.present_v, front, 1)};
    tenon_make_output(make, 1, tenon_make_concat(make, 0, 2, presents));
  }
}

static void attention(tenon_make_t* make) {
  refuse_cuda(make);
  attend_projection(
      make,
      microsoft_add_input(
          make, tenon_make_2(make, "mat_mul", tenon_make_input(make, 0), tenon_make_input(make, 1)),
          2),
      3, 4, 5);
}

/* The projection is a product of 8-bit values. */
static void quantized_attention(tenon_make_t* make) {
  enum { NO_INPUT = 9 };
  refuse_cuda(make);
  const tenon_value_t sums =
      microsoft_integer_product(make, tenon_make_input(make, 0), tenon_make_input(make, 1),
                                microsoft_parameter(make, 6), microsoft_parameter(make, 7));
  attend_projection(make,
                    microsoft_scaled_sums(make, sums, microsoft_parameter(make, 3),
                                          microsoft_parameter(make, 4), tenon_make_input(make, 2)),
                    5, 8, NO_INPUT);
}

/* Sets q, k and v from inputs 0 to 2, with the bias. One input may hold several: q all three, or k both
 * k and v, by heads; with `is_packed`, q all three in columns. */
static void read_heads(tenon_make_t* make, int64_t count, uint32_t bias, bool is_packed,
                       microsoft_heads_t* out_heads) {
  tenon_value_t parts[3] = {tenon_make_input(make, 0), tenon_make_input(make, 1),
                            tenon_make_input(make, 2)};
  const tenon_value_t q = parts[0];
  const tenon_value_t k = parts[1];
  if (tenon_make_rank(make, q) == 5) {
    microsoft_split_packed(make, q, 3, parts);
  } else if (tenon_make_present(k) && tenon_make_rank(make, k) == 5) {
    microsoft_split_packed(make, k, 2, &parts[1]);
  } else if (is_packed && !tenon_make_present(k)) {
    int64_t widths[3] = {0, 0, 0};
    microsoft_widths(make, tenon_make_dim(make, q, 2), widths);
    microsoft_split_columns(make, q, widths, parts);
  }
  if (!tenon_make_present(parts[1]) || !tenon_make_present(parts[2])) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "keys or values are absent");
    return;
  }
  /* Keys and values of cross attention may be apart by heads already. They have no bias then. */
  const uint32_t joined = tenon_make_rank(make, parts[1]) == 4 ? 1 : 3;
  microsoft_add_biases(make, bias, joined, parts);
  for (uint32_t i = 0; i < joined; ++i) {
    parts[i] = microsoft_split_heads(make, parts[i], count);
  }
  out_heads->q = parts[0];
  out_heads->k = parts[1];
  out_heads->v = parts[2];
}

static void set_outputs(tenon_make_t* make, const microsoft_attended_t* attended) {
  const tenon_value_t values[3] = {attended->y, attended->present_k, attended->present_v};
  for (uint32_t k = 0; k < 3; ++k) {
    if (tenon_make_wants(make, k)) {
      tenon_make_output(make, k, values[k]);
    }
  }
  if (tenon_make_wants(make, 3)) { /* ONNX Runtime hides keys by the lowest number */
    tenon_make_output(
        make, 3, tenon_make_math_1(make, "y = max(a, -3.4028234663852886e38)", attended->scores));
  }
}

static void multi_head_attention(tenon_make_t* make) {
  microsoft_heads_t heads = {.scale = tenon_make_get_float(make, "scale", 0)};
  microsoft_refuse_input(make, 8, "past_sequence_length",
                         "the caches must grow; export without shared buffers");
  microsoft_refuse_input(make, 9, "cache_indirection", "beam search belongs to the application");
  read_heads(make, microsoft_head_count(make, "num_heads"), 3, false, &heads);
  heads.past_k = tenon_make_input(make, 6);
  heads.past_v = tenon_make_input(make, 7);
  heads.is_causal = tenon_make_get_int(make, "unidirectional", 0) != 0;
  if (tenon_make_ok(make)) {
    const tenon_value_t mask =
        microsoft_key_mask(make, 4, key_count(make, heads.k, 2, heads.past_k, 2));
    heads.mask = microsoft_both(make, mask, tenon_make_input(make, 5));
  }
  const microsoft_attended_t attended = microsoft_attend(make, &heads);
  set_outputs(make, &attended);
}

/* A mask of rank 4 with zeros behind the last axis, up to the extent of a cache. */
static tenon_value_t widened(tenon_make_t* make, tenon_value_t mask, tenon_value_t cache) {
  static const int64_t zeros[7] = {0};
  const tenon_value_t missing =
      tenon_make_math_2(make, "y = max(a - b, 0)", tenon_make_extents(make, cache, 2, 3),
                        tenon_make_extents(make, mask, 3, 4));
  const tenon_value_t pads[2] = {tenon_make_int64s(make, zeros, 7), missing};
  return tenon_make_2(make, "pad", mask, tenon_make_concat(make, 0, 2, pads));
}

/*
 * One new token for each sequence, written into a cache with room for more: place
 * past_sequence_length. Keys behind it are hidden.
 */
static void attend_in_cache(tenon_make_t* make, microsoft_heads_t* inout_heads) {
  static const int64_t flat[1] = {-1};
  const tenon_value_t past = tenon_make_reshape(
      make, tenon_make_cast(make, tenon_make_input(make, 7), TENON_DTYPE_INT64), flat, 1);
  const tenon_value_t begins =
      tenon_make_2(make, "broadcast_to", past, tenon_make_extents(make, inout_heads->q, 0, 1));
  inout_heads->k =
      tenon_make_3(make, "tensor_scatter", tenon_make_input(make, 5), inout_heads->k, begins);
  inout_heads->v =
      tenon_make_3(make, "tensor_scatter", tenon_make_input(make, 6), inout_heads->v, begins);
  const tenon_value_t operands[2] = {microsoft_counted(make, inout_heads->k, 2), past};
  const tenon_value_t behind =
      tenon_make_math(make, "y = cast(a <= b ? 0.0 : -inf, f32)", 2, operands);
  tenon_value_t mask = microsoft_key_mask(make, 3, tenon_make_extents(make, inout_heads->k, 2, 3));
  tenon_value_t bias = tenon_make_input(make, 4);
  if (tenon_make_present(mask)) {
    mask = widened(make, mask, inout_heads->k);
  }
  if (tenon_make_present(bias)) {
    bias = widened(make, bias, inout_heads->k);
  }
  inout_heads->mask = microsoft_both(make, microsoft_both(make, behind, mask), bias);
}

static void decoder_attention(tenon_make_t* make) {
  microsoft_heads_t heads = {.scale = tenon_make_get_float(make, "scale", 0)};
  int64_t beams = 0;
  uint32_t known = 0;
  const bool has_beams =
      tenon_make_has_input(make, 8) &&
      !(tenon_make_known_ints(make, tenon_make_input(make, 8), &beams, 1, &known) && beams == 1);
  if (has_beams) {
    microsoft_refuse_input(make, 8, "beam_width", "beam search belongs to the application");
  }
  if (!tenon_make_has_input(make, 8)) {
    microsoft_refuse_input(make, 9, "cache_indirection", "beam search belongs to the application");
  }
  read_heads(make, microsoft_head_count(make, "num_heads"), 10, true, &heads);
  if (!tenon_make_ok(make)) {
    return;
  }
  if (tenon_make_get_int(make, "past_present_share_buffer", 0) != 0 &&
      tenon_make_has_input(make, 5)) {
    attend_in_cache(make, &heads);
  } else {
    heads.past_k = tenon_make_input(make, 5);
    heads.past_v = tenon_make_input(make, 6);
    heads.mask = microsoft_both(
        make, microsoft_key_mask(make, 3, key_count(make, heads.k, 2, heads.past_k, 2)),
        tenon_make_input(make, 4));
  }
  const microsoft_attended_t attended = microsoft_attend(make, &heads);
  set_outputs(make, &attended);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("Attention", attention, NULL, NULL),
    MICROSOFT_ROW("DecoderMaskedMultiHeadAttention", decoder_attention, NULL, NULL),
    MICROSOFT_ROW("MultiHeadAttention", multi_head_attention, NULL, NULL),
    MICROSOFT_ROW("QAttention", quantized_attention, NULL, NULL),
};
MICROSOFT_FAMILY(attention);
