/* Positions: rotary embeddings, and biases of scores by distance. */
#include <inttypes.h>

#include "families.h"
#include "heads.h"
#include "steps.h"

/* Positions [batch, length] from input 1: given, or an offset [1] for all sequences. */
static tenon_value_t positions_of(tenon_make_t* make, tenon_value_t x) {
  static const int64_t front[1] = {0};
  const uint32_t rank = tenon_make_rank(make, x);
  const tenon_value_t ids = tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_INT64);
  if (tenon_make_rank(make, ids) == 2) {
    return ids;
  }
  const tenon_value_t tokens = microsoft_counted(make, x, rank == 4 ? 2 : 1);
  const tenon_value_t row =
      tenon_make_unsqueeze(make, tenon_make_2(make, "add", ids, tokens), front, 1);
  const tenon_value_t dims[2] = {tenon_make_extents(make, x, 0, 1),
                                 tenon_make_extents(make, x, rank == 4 ? 2 : 1, rank == 4 ? 3 : 2)};
  return tenon_make_2(make, "broadcast_to", row, tenon_make_concat(make, 0, 2, dims));
}

static void rotary_embedding(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  const int64_t turned = tenon_make_get_int(make, "rotary_embedding_dim", 0);
  int64_t heads = tenon_make_get_int(make, "num_heads", 0);
  if (tenon_make_get_int(make, "is_packed_batching", 0) != 0) {
    microsoft_refuse(make, "is_packed_batching", "CUDA alone has it; pad the batch");
  }
  if (tenon_make_get_float(make, "scale", 1) != 1) {
    microsoft_refuse(make, "scale", "ONNX Runtime ignores it; multiply the input");
  }
  if (heads == 0 && rank == 3) {
    /* The caches have half the width of a head. */
    const int64_t width = 2 * tenon_make_dim(make, tenon_make_input(make, 2), 1);
    const int64_t all = tenon_make_dim(make, x, 2);
    if (all < 1 || width < 1 || all % width != 0) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "num_heads is absent, and %" PRId64 " columns are not heads of %" PRId64, all,
                      width);
      return;
    }
    heads = all / width;
  }
  const tenon_value_t positions = positions_of(make, x);
  tenon_make_begin(make, "rotary_embedding");
  tenon_make_set_int(make, "interleaved", tenon_make_get_int(make, "interleaved", 0));
  tenon_make_set_int(make, "num_heads", rank == 3 ? heads : 0);
  tenon_make_set_int(make, "rotary_dim", turned);
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_input(make, 2));
  tenon_make_add(make, tenon_make_input(make, 3));
  tenon_make_add(make, positions);
  tenon_make_end_outputs(make);
}

/* q cos(emb) + q_rot sin(emb), and the same of k. The angles are rounded to the type of q. */
static void gemma_rotary(tenon_make_t* make) {
  static const int64_t axes[1] = {1};
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 1));
  const tenon_value_t angles = tenon_make_unsqueeze(make, tenon_make_input(make, 0), axes, 1);
  const tenon_value_t sine = tenon_make_cast(make, tenon_make_1(make, "sin", angles), dtype);
  const tenon_value_t cosine = tenon_make_cast(make, tenon_make_1(make, "cos", angles), dtype);
  for (uint32_t k = 0; k < 2; ++k) {
    const tenon_value_t operands[4] = {tenon_make_input(make, 1 + 2 * k), cosine,
                                       tenon_make_input(make, 2 + 2 * k), sine};
    tenon_make_output(make, k, tenon_make_math(make, "y = a * b + c * d", 4, operands));
  }
}

/* Scalar input `index`, a length, as i64 of rank 0. */
static tenon_value_t length_of(tenon_make_t* make, uint32_t index) {
  return tenon_make_reshape(
      make, tenon_make_cast(make, tenon_make_input(make, index), TENON_DTYPE_INT64), NULL, 0);
}

/*
 * The bias of T5, [1, heads, queries, keys]: a table's entry for each distance. Small distances have
 * an entry each. Larger ones share entries, on a logarithmic scale up to max_distance. The table's
 * memory is [heads, entries], whatever its shape says.
 */
static void relative_position_bias(tenon_make_t* make) {
  static const int64_t front[1] = {0};
  static const int64_t back[1] = {1};
  const tenon_value_t table = tenon_make_input(make, 0);
  const int64_t entries = tenon_make_dim(make, table, 0);
  const int64_t heads = tenon_make_dim(make, table, 1);
  const int64_t farthest = tenon_make_get_int(make, "max_distance", 0);
  const bool both = tenon_make_get_int(make, "is_bidirectional", 0) != 0;
  const int64_t side = both ? entries / 2 : entries;
  if (entries < (both ? 4 : 2) || heads < 1 || farthest <= side / 2) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "a table of %" PRId64 " entries for %" PRId64 " heads and max_distance %" PRId64
                    " has no logarithmic scale",
                    entries, heads, farthest);
    return;
  }
  tenon_value_t places[2] = {{0}, {0}};
  for (uint32_t k = 0; k < 2; ++k) {
    places[k] = microsoft_below(make, length_of(make, k + 1));
  }
  const tenon_value_t operands[2] = {tenon_make_unsqueeze(make, places[0], back, 1),
                                     tenon_make_unsqueeze(make, places[1], front, 1)};
  const long long exact = side / 2;
  const tenon_value_t ahead = tenon_make_math(make, "y = b - a", 2, operands);
  const tenon_value_t distance =
      tenon_make_math_1(make, both ? "y = abs(a)" : "y = max(0 - a, 0)", ahead);
  tenon_value_t buckets =
      tenon_make_print_math(make, 1, &distance,
                            "let f = %lld + cast(log(cast(max(a, 1), f32) / %lld.0) / "
                            "log(%lld.0 / %lld.0) * %lld.0, i64);"
                            "y = a < %lld ? a : min(f, %lld)",
                            exact, exact, (long long)farthest, exact, (long long)side - exact,
                            exact, (long long)side - 1);
  if (both) {
    const tenon_value_t sides[2] = {buckets, ahead};
    buckets = tenon_make_print_math(make, 2, sides, "y = a + (b > 0 ? %lld : 0)", (long long)side);
  }
  const int64_t dims[2] = {heads, entries};
  const tenon_value_t by_head = tenon_make_reshape(make, table, dims, 2);
  tenon_make_output(
      make, 0, tenon_make_unsqueeze(make, tenon_make_gather(make, by_head, buckets, 1), front, 1));
}

/*
 * The bias of WavLM: rel_pos, scaled for each query by gates that a projection of it gives. Each of
 * the two gates is the sum of one half of the projection.
 */
static void gated_relative_position_bias(tenon_make_t* make) {
  const int64_t heads = microsoft_head_count(make, "num_heads");
  microsoft_refuse_input(make, 6, "token_offset", "packed tokens; restore the padding before");
  const tenon_value_t x = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  const tenon_value_t query = microsoft_split_heads(make, x, heads);
  const tenon_value_t projected =
      microsoft_add_input(make, tenon_make_2(make, "mat_mul", query, tenon_make_input(make, 3)), 4);
  const int64_t width = tenon_make_dim(make, tenon_make_input(make, 4), 0);
  if (width < 2 || width % 2 != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "the projection has %" PRId64 " columns",
                    width);
    return;
  }
  const int64_t last = 3;
  tenon_value_t gates[2] = {{0}, {0}};
  microsoft_halves(make, projected, gates);
  for (uint32_t k = 0; k < 2; ++k) {
    gates[k] =
        tenon_make_1(make, "sigmoid", tenon_make_reduce(make, "reduce_sum", gates[k], &last, 1, 1));
  }
  const tenon_value_t operands[4] = {gates[0], gates[1], tenon_make_input(make, 5),
                                     tenon_make_input(make, 2)};
  tenon_make_output(make, 0,
                    tenon_make_math(make, "y = (a * (b * c - 1.0) + 2.0) * d", 4, operands));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("GatedRelativePositionBias", gated_relative_position_bias, NULL, NULL),
    MICROSOFT_ROW("GemmaRotaryEmbedding", gemma_rotary, NULL, NULL),
    MICROSOFT_ROW("RelativePositionBias", relative_position_bias, NULL, NULL),
    MICROSOFT_ROW("RotaryEmbedding", rotary_embedding, NULL, NULL),
};
MICROSOFT_FAMILY(position);
