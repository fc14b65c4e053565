/*
 * Attention whose query heads share key heads, with caches that may be longer than their contents.
 *
 * New keys and values are written behind the `begins` tokens that each sequence of the batch has in
 * its cache. The rows of all queries that share a key head form one product with its keys, so that
 * each key is read once. Only the first total_sequence_length keys of the cache are read.
 */
#include <inttypes.h>
#include <string.h>

#include "families.h"
#include "heads.h"
#include "steps.h"

/* Inputs of the node. */
enum {
  QUERY,
  KEY,
  VALUE,
  PAST_KEY,
  PAST_VALUE,
  LENGTHS, /* tokens of each sequence, minus 1 */
  TOTAL,   /* the largest number of tokens */
  COSINES,
  SINES,
  POSITIONS,
  BIAS,
  SINK,
  KEY_SCALE,
  VALUE_SCALE,
  QUERY_NORM,
  KEY_NORM,
  QUERY_LENGTHS,
};

typedef struct group_query_t {
  int64_t heads;
  int64_t key_heads;
  int64_t size;           /* of a head */
  tenon_value_t q;        /* [batch, heads, queries, size] */
  tenon_value_t parts[2]; /* new keys and values, [batch, key heads, queries, size] */
  tenon_value_t begins;   /* [batch], i64: tokens before the new ones */
  tenon_value_t total;    /* [1], i64 */
} group_query_t;

/* Refuses quantised caches and caches of a window. No standard operator computes them. */
static void check(tenon_make_t* make) {
  static const char* const quantised[2] = {"k_quant_type", "v_quant_type"};
  for (int i = 0; i < 2; ++i) {
    if (strcmp(tenon_make_get_string(make, quantised[i], "NONE"), "NONE") != 0) {
      microsoft_refuse(make, quantised[i], "quantised caches are not supported; use f16 caches");
    }
  }
  if (tenon_make_get_int(make, "sliding_window_cache", 0) != 0) {
    microsoft_refuse(make, "sliding_window_cache",
                     "the cache must hold all tokens; export with local_window_size alone");
  }
  microsoft_refuse_input(make, KEY_SCALE, "k_scale", "quantised caches are not supported");
  microsoft_refuse_input(make, VALUE_SCALE, "v_scale", "quantised caches are not supported");
}

/* RMS norm of each head, if the node has the weights. x is [batch, length, heads size]. */
static tenon_value_t normed(tenon_make_t* make, tenon_value_t x, uint32_t weight, const char* own,
                            int64_t size) {
  if (!tenon_make_has_input(make, weight)) {
    return x;
  }
  const int64_t apart[4] = {0, 0, -1, size};
  const int64_t joined[3] = {0, 0, -1};
  const double epsilon =
      tenon_make_get_float(make, own, tenon_make_get_float(make, "qk_norm_epsilon", 1e-6));
  const tenon_value_t heads = tenon_make_reshape(make, x, apart, 4);
  tenon_make_begin(make, "rms_norm");
  tenon_make_set_int(make, "axis", -1);
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, heads);
  tenon_make_add(make, tenon_make_input(make, weight));
  return tenon_make_reshape(make, tenon_make_end(make), joined, 3);
}

/* [batch, queries], i64: the position of each new token. */
static tenon_value_t positions_of(tenon_make_t* make, tenon_value_t begins) {
  static const int64_t back[1] = {1};
  static const int64_t front[1] = {0};
  if (tenon_make_has_input(make, POSITIONS)) {
    return tenon_make_input(make, POSITIONS);
  }
  const tenon_value_t tokens = microsoft_counted(make, tenon_make_input(make, QUERY), 1);
  return tenon_make_2(make, "add", tenon_make_unsqueeze(make, begins, back, 1),
                      tenon_make_unsqueeze(make, tokens, front, 1));
}

static tenon_value_t rotated(tenon_make_t* make, tenon_value_t x, int64_t heads, int64_t size,
                             tenon_value_t positions) {
  const int64_t turned = 2 * tenon_make_dim(make, tenon_make_input(make, COSINES), 1);
  tenon_make_begin(make, "rotary_embedding");
  tenon_make_set_int(make, "interleaved", tenon_make_get_int(make, "rotary_interleaved", 0));
  tenon_make_set_int(make, "num_heads", heads);
  tenon_make_set_int(make, "rotary_dim", turned > 0 && turned < size ? turned : 0);
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_input(make, COSINES));
  tenon_make_add(make, tenon_make_input(make, SINES));
  tenon_make_add(make, positions);
  return tenon_make_end(make);
}

/* Sets q, k, v and begins. */
static void read_inputs(tenon_make_t* make, group_query_t* out) {
  tenon_value_t q = tenon_make_input(make, QUERY);
  tenon_value_t k = tenon_make_input(make, KEY);
  tenon_value_t v = tenon_make_input(make, VALUE);
  const int64_t width = tenon_make_dim(make, q, 2);
  const int64_t all = tenon_make_present(k) ? out->heads : out->heads + 2 * out->key_heads;
  if (!tenon_make_ok(make)) {
    return;
  }
  if (width < 1 || width % all != 0 || out->heads % out->key_heads != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " columns for %" PRId64 " and %" PRId64 " heads", width, out->heads,
                    out->key_heads);
    return;
  }
  out->size = width / all;
  if (!tenon_make_present(k)) {
    const int64_t ends[3] = {out->heads * out->size, (out->heads + out->key_heads) * out->size,
                             width};
    k = tenon_make_slice(make, q, 2, ends[0], ends[1]);
    v = tenon_make_slice(make, q, 2, ends[1], ends[2]);
    q = tenon_make_slice(make, q, 2, 0, ends[0]);
  }
  static const int64_t flat[1] = {-1};
  const tenon_value_t lengths = tenon_make_cast(
      make, tenon_make_reshape(make, tenon_make_input(make, LENGTHS), flat, 1), TENON_DTYPE_INT64);
  const tenon_value_t added =
      tenon_make_has_input(make, QUERY_LENGTHS)
          ? tenon_make_cast(make, tenon_make_input(make, QUERY_LENGTHS), TENON_DTYPE_INT64)
          : tenon_make_extents(make, tenon_make_input(make, QUERY), 1, 2);
  out->begins = tenon_make_math_2(make, "y = max(a + 1 - b, 0)", lengths, added);
  q = normed(make, q, QUERY_NORM, "q_norm_epsilon", out->size);
  k = normed(make, k, KEY_NORM, "k_norm_epsilon", out->size);
  if (tenon_make_get_int(make, "do_rotary", 0) != 0) {
    const tenon_value_t positions = positions_of(make, out->begins);
    q = rotated(make, q, out->heads, out->size, positions);
    k = rotated(make, k, out->key_heads, out->size, positions);
  }
  out->q = microsoft_split_heads(make, q, out->heads);
  out->parts[0] = microsoft_split_heads(make, k, out->key_heads);
  out->parts[1] = microsoft_split_heads(make, v, out->key_heads);
}

/* The cache with the new tokens: as long as the past, or as the tokens if these are more. */
static tenon_value_t present(tenon_make_t* make, const group_query_t* group, uint32_t index) {
  tenon_value_t past = tenon_make_input(make, PAST_KEY + index);
  const tenon_value_t added = group->parts[index];
  if (!tenon_make_present(past) || tenon_make_dim(make, past, 2) == 0) {
    return added;
  }
  int64_t total = -1;
  uint32_t count = 0;
  const int64_t room = tenon_make_dim(make, past, 2);
  if (!tenon_make_known_ints(make, group->total, &total, 1, &count) || room < total) {
    const tenon_value_t growth = tenon_make_math_2(make, "y = max(a - b, 0)", group->total,
                                                   tenon_make_extents(make, past, 2, 3));
    const tenon_value_t dims[3] = {tenon_make_extents(make, past, 0, 2), growth,
                                   tenon_make_extents(make, past, 3, 4)};
    const tenon_value_t zero = tenon_make_number(make, tenon_make_dtype(make, past), 0);
    const tenon_value_t pieces[2] = {
        past, tenon_make_2(make, "filled", zero, tenon_make_concat(make, 0, 3, dims))};
    past = tenon_make_concat(make, 2, 2, pieces);
  }
  return tenon_make_3(make, "tensor_scatter", past, added, group->begins);
}

/* The first `total` keys or values of a cache: a view. */
static tenon_value_t used(tenon_make_t* make, const group_query_t* group, tenon_value_t cache) {
  int64_t total = -1;
  uint32_t count = 0;
  if (tenon_make_known_ints(make, group->total, &total, 1, &count) &&
      total == tenon_make_dim(make, cache, 2)) {
    return cache;
  }
  return microsoft_first(make, cache, 2, group->total);
}

/* [batch, heads, queries, a] as [batch, key heads, heads that share one times queries, a]. */
static tenon_value_t shared(tenon_make_t* make, const group_query_t* group, tenon_value_t value,
                            int64_t last) {
  const int64_t dims[4] = {0, group->key_heads, -1, last};
  return group->heads == group->key_heads ? value : tenon_make_reshape(make, value, dims, 4);
}

/* Its inverse. The last axis of `value` has the extent `last`, [1]. */
static tenon_value_t apart(tenon_make_t* make, const group_query_t* group, tenon_value_t value,
                           tenon_value_t last) {
  if (group->heads == group->key_heads) {
    return value;
  }
  const tenon_value_t dims[2] = {tenon_make_extents(make, group->q, 0, 3), last};
  return tenon_make_2(make, "reshape", value, tenon_make_concat(make, 0, 2, dims));
}

/* Probabilities [batch, heads, queries, keys] as [batch, key heads, rows, keys]. */
static tenon_value_t as_rows(tenon_make_t* make, const group_query_t* group, tenon_value_t parts,
                             tenon_value_t keys) {
  if (group->heads == group->key_heads) {
    return parts;
  }
  const int64_t counts[2] = {group->key_heads, -1};
  const tenon_value_t dims[3] = {tenon_make_extents(make, group->q, 0, 1),
                                 tenon_make_int64s(make, counts, 2),
                                 tenon_make_extents(make, keys, 2, 3)};
  return tenon_make_2(make, "reshape", parts, tenon_make_concat(make, 0, 3, dims));
}

/* -inf for keys after the tokens of their sequence, else 0. Causal attention needs no such mask. */
static tenon_value_t length_mask(tenon_make_t* make, tenon_value_t scores) {
  static const int64_t axes[3] = {1, 2, 3};
  const tenon_value_t lengths =
      tenon_make_cast(make, tenon_make_input(make, LENGTHS), TENON_DTYPE_INT64);
  const tenon_value_t operands[2] = {microsoft_counted(make, scores, 3),
                                     tenon_make_unsqueeze(make, lengths, axes, 3)};
  return tenon_make_math(make, "y = cast(a <= b ? 0.0 : -inf, f32)", 2, operands);
}

/* Scores with softcap and bias. Hidden keys have -inf. */
static tenon_value_t masked(tenon_make_t* make, const group_query_t* group, tenon_value_t scores) {
  static const int64_t axes[3] = {1, 2, 3};
  const int64_t window = tenon_make_get_int(make, "local_window_size", -1);
  const bool is_causal = tenon_make_get_int(make, "causal", 1) != 0;
  const tenon_value_t offset = tenon_make_unsqueeze(make, group->begins, axes, 3);
  tenon_value_t mask = tenon_make_input(make, BIAS);
  if (!is_causal) {
    mask = microsoft_both(make, mask, length_mask(make, scores));
  }
  tenon_make_begin(make, "masked_scores");
  tenon_make_set_int(make, "is_causal", is_causal ? 1 : 0);
  tenon_make_set_float(make, "softcap", tenon_make_get_float(make, "softcap", 0));
  if (window > 0) {
    tenon_make_set_int(make, "left_window", window - 1);
  }
  tenon_make_add(make, scores);
  tenon_make_add(make, mask);
  tenon_make_add(make, offset);
  return tenon_make_end(make);
}

/* Softmax of the last axis. A sink adds e^sink to the sum of each head. */
static tenon_value_t probabilities(tenon_make_t* make, tenon_value_t scores) {
  static const int64_t axes[2] = {1, 2};
  static const char* const with_sink =
      "let m = max(max(a, [-1]), %s); let e = exp(a - m); y = e / (sum(e, [-1]) + exp(%s - m))";
  if (tenon_make_has_input(make, SINK)) {
    const tenon_value_t sink = tenon_make_unsqueeze(make, tenon_make_input(make, SINK), axes, 2);
    const tenon_value_t operands[2] = {scores, sink};
    return tenon_make_print_math(make, 2, operands, with_sink, "b", "b");
  }
  if (tenon_make_get_int(make, "smooth_softmax", 0) > 0) {
    return tenon_make_print_math(make, 1, &scores, with_sink, "0", "0");
  }
  return tenon_make_1(make, "masked_softmax", scores);
}

static void group_query_attention(tenon_make_t* make) {
  static const int64_t swapped[4] = {0, 1, 3, 2};
  static const int64_t one[1] = {1};
  group_query_t group = {.heads = microsoft_head_count(make, "num_heads"),
                         .key_heads = microsoft_head_count(make, "kv_num_heads")};
  check(make);
  group.total = tenon_make_reshape(
      make, tenon_make_cast(make, tenon_make_input(make, TOTAL), TENON_DTYPE_INT64), one, 1);
  read_inputs(make, &group);
  const tenon_value_t caches[2] = {present(make, &group, 0), present(make, &group, 1)};
  const tenon_value_t keys = used(make, &group, caches[0]);
  const tenon_value_t values = used(make, &group, caches[1]);
  tenon_make_begin(make, "scaled_query");
  tenon_make_set_float(make, "scale", tenon_make_get_float(make, "scale", 0));
  tenon_make_add(make, group.q);
  const tenon_value_t q = shared(make, &group, tenon_make_end(make), group.size);
  const tenon_value_t product =
      tenon_make_2(make, "mat_mul", q, tenon_make_permute(make, keys, swapped, 4));
  const tenon_value_t scores = apart(make, &group, product, tenon_make_extents(make, keys, 2, 3));
  const tenon_value_t hidden = masked(make, &group, scores);
  const tenon_value_t parts = probabilities(make, hidden);
  const tenon_value_t size = tenon_make_int64s(make, &group.size, 1);
  const tenon_value_t rows = as_rows(make, &group, parts, keys);
  const tenon_value_t y = apart(make, &group, tenon_make_2(make, "mat_mul", rows, values), size);
  tenon_make_output(make, 0, tenon_make_1(make, "join_heads", y));
  for (uint32_t k = 0; k < 2; ++k) {
    if (tenon_make_wants(make, k + 1)) {
      tenon_make_output(make, k + 1, caches[k]);
    }
  }
  if (tenon_make_wants(make, 3)) { /* scores, zeros for hidden keys; or probabilities */
    tenon_make_output(make, 3,
                      tenon_make_get_int(make, "qk_output", 0) == 1
                          ? tenon_make_math_1(make, "y = a == -inf ? 0 : a", hidden)
                          : parts);
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("GroupQueryAttention", group_query_attention, NULL, NULL),
};
MICROSOFT_FAMILY(group_query);
