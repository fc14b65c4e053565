/* Attention and its company. */
#include <inttypes.h>
#include <math.h>

#include "convert.h"
#include "families.h"

static void attention(tenon_make_t* make) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, 0));
  tenon_make_begin(make, "attention");
  tenon_make_pass_all(make,
                      "is_causal q_num_heads kv_num_heads scale softcap "
                      "qk_matmul_output_mode>qk_mode left_window_size>left_window "
                      "right_window_size>right_window");
  tenon_make_set_dtype(make, "softmax_precision",
                       tenon__onnx_get_dtype(make, "softmax_precision", dtype));
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

/* Keys or values [batch, kv heads, length, size], each head as often as query heads share it. */
static tenon_value_t repeat_heads(tenon_make_t* make, tenon_value_t value, int64_t heads) {
  const int64_t own = tenon_make_dim(make, value, 1);
  const int64_t size = tenon_make_dim(make, value, 3);
  if (own == heads && own > 0) {
    return value;
  }
  if (own < 1 || size < 1 || heads % own != 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " query heads cannot share %" PRId64 " heads", heads, own);
    return value;
  }
  const int64_t axis = 2;
  const int64_t repeats[5] = {1, 1, heads / own, 1, 1};
  const int64_t dims[4] = {0, heads, -1, size};
  const tenon_value_t apart = tenon_make_unsqueeze(make, value, &axis, 1);
  const tenon_value_t times = tenon_make_int64s(make, repeats, 5);
  return tenon_make_reshape(make, tenon_make_2(make, "tile", apart, times), dims, 4);
}

/* What the subgraph `name` makes of a value; the value itself without one. */
static tenon_value_t modified(tenon_make_t* make, const char* name, tenon_value_t value) {
  tenon__onnx_captures_t captures = {0};
  tenon_value_t result = value;
  if (make->status == TENON_OK && tenon_make_has(make, name)) {
    make->status = tenon__onnx_find_captures(make->source, &captures);
    if (make->status == TENON_OK) {
      const tenon__onnx_inlining_t inlining = {.attribute = name,
                                               .inputs = &value,
                                               .input_count = 1,
                                               .result_count = 1,
                                               .captures = &captures,
                                               .captured = captures.values};
      make->status = tenon__onnx_inline_body(make->source, &inlining, &result);
    }
  }
  return result;
}

/* Attention whose scores and probabilities subgraphs may change: written out. */
static void flex_attention(tenon_make_t* make) {
  const tenon_value_t q = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, q);
  const tenon_dtype_t otherwise =
      dtype == TENON_DTYPE_FLOAT64 ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_FLOAT32;
  const tenon_dtype_t precision = tenon__onnx_get_dtype(make, "softmax_precision", otherwise);
  const int64_t heads = tenon_make_dim(make, q, 1);
  const int64_t size = tenon_make_dim(make, q, 3);
  if (tenon_make_rank(make, q) != 4 || heads < 1 || size < 1) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "heads and their size must be known");
    return;
  }
  const tenon_value_t k = repeat_heads(make, tenon_make_input(make, 1), heads);
  const tenon_value_t v = repeat_heads(make, tenon_make_input(make, 2), heads);
  const double scale = tenon_make_get_float(make, "scale", 1 / sqrt((double)size));
  static const int64_t swapped[4] = {0, 1, 3, 2};
  const tenon_value_t columns = tenon_make_permute(make, k, swapped, 4);
  const tenon_value_t product =
      tenon_make_cast(make, tenon_make_2(make, "mat_mul", q, columns), precision);
  const tenon_value_t factor = tenon_make_number(make, precision, scale);
  tenon_value_t scores = tenon_make_2(make, "mul", product, factor);
  scores = modified(make, "score_mod", scores);
  tenon_value_t parts = tenon_make_1(make, "softmax", scores);
  parts = tenon_make_cast(make, modified(make, "prob_mod", parts), dtype);
  tenon_make_output(make, 0, tenon_make_2(make, "mat_mul", parts, v));
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Attention", attention, NULL, NULL),
    TENON__ONNX_ROW("ai.onnx.preview", "FlexAttention", 1, 0, flex_attention, NULL, NULL),
    ROW("LinearAttention", tenon_make_same, "linear_attention",
        "q_num_heads kv_num_heads scale update_rule chunk_size"),
    ROW("RotaryEmbedding", tenon_make_same, "rotary_embedding",
        "interleaved num_heads rotary_embedding_dim>rotary_dim"),
};
TENON__ONNX_FAMILY(attention);
