/* The layers of BERT. Sequences have the shape [S, B, E, 1, 1]. */
#include <float.h>

#include "families.h"
#include "steps.h"

static const double epsilon = FLT_EPSILON;

/* Refuses types other than f32 (0) and f16 (1). */
static void check_type(tenon_make_t* make) {
  if (tensorrt_int(make, "type_id", 0, 0, 2) == 2) {
    tensorrt_refuse(make, "type_id", "int8 is a type of CUDA kernels, use 0 (f32) or 1 (f16)");
  }
}

/* Layer norm of axis 2 of x. The axes after it have extent 1. */
static tenon_value_t layer_norm(tenon_make_t* make, tenon_value_t x, tenon_value_t gamma,
                                tenon_value_t beta) {
  const int64_t rank = tenon_make_ok(make) ? tenon_make_rank(make, x) : 3;
  const int64_t dims[3] = {-1, 1, 1};
  const size_t count = rank > 2 && rank <= 5 ? (size_t)rank - 2 : 1;
  const tenon_value_t scale = tenon_make_reshape(make, gamma, dims, count);
  const tenon_value_t shift = tenon_make_reshape(make, beta, dims, count);
  tenon_make_begin(make, "layer_norm");
  tenon_make_set_int(make, "axis", 2);
  tenon_make_set_float(make, "epsilon", epsilon);
  tenon_make_add(make, x);
  tenon_make_add(make, scale);
  tenon_make_add(make, shift);
  return tenon_make_end(make);
}

/* Reads an attribute of E numbers, for axis 2. If `usual` is not 0, E must be equal to it. */
static tenon_value_t row_weights(tenon_make_t* make, const char* name, size_t usual,
                                 size_t* out_count) {
  const size_t low = usual == 0 ? 1 : usual;
  return tensorrt_weights(make, name, low, usual == 0 ? TENSORRT_COUNT_MAX : usual, out_count);
}

/* Rank 3 or 5, and E extents of axis 2. */
static void check_rows(tenon_make_t* make, tenon_value_t x, size_t width) {
  const uint32_t rank = tenon_make_ok(make) ? tenon_make_rank(make, x) : 3;
  if (tenon_make_ok(make) && rank != 3 && rank != 5) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "the input has rank %u: it is [length, batch, size] or [.., .., .., 1, 1]",
                    rank);
  }
  const int64_t own = tenon_make_ok(make) ? tenon_make_dim(make, x, 2) : -1;
  if (own >= 0 && own != (int64_t)width) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "axis 2 of the input has extent %lld, the weights have %zu", (long long)own,
                    width);
  }
}

static void skip_layer_norm(tenon_make_t* make) {
  size_t width = 0;
  size_t count = 0;
  check_type(make);
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t skip = tenon_make_input(make, 1);
  const tenon_value_t gamma = row_weights(make, "gamma", 0, &width);
  const tenon_value_t beta = row_weights(make, "beta", width, &count);
  check_rows(make, x, width);
  const int64_t ld = tensorrt_int(make, "ld", (int64_t)width, 1, TENSORRT_COUNT_MAX);
  if (tenon_make_ok(make) && ld != (int64_t)width) {
    tensorrt_refuse(make, "ld", "gamma has another count");
  }
  tenon_value_t sum = tenon_make_2(make, "add", tensorrt_wide(make, x), tensorrt_wide(make, skip));
  if (tenon_make_ok(make) && tenon_make_has(make, "bias")) {
    const int64_t dims[3] = {-1, 1, 1};
    const tenon_value_t bias = row_weights(make, "bias", width, &count);
    sum = tenon_make_2(make, "add", sum,
                       tenon_make_reshape(make, bias, dims, tenon_make_rank(make, x) == 5 ? 3 : 1));
  }
  tensorrt_output_like(make, 0, layer_norm(make, sum, gamma, beta), x);
}

static void gelu(tenon_make_t* make) {
  check_type(make);
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_value_t sum = x;
  if (tenon_make_ok(make) && tenon_make_has(make, "bias")) {
    const int64_t dims[3] = {-1, 1, 1};
    size_t width = 0;
    const tenon_value_t bias = row_weights(make, "bias", 0, &width);
    check_rows(make, x, width);
    const tenon_value_t row =
        tenon_make_reshape(make, bias, dims, tenon_make_rank(make, x) == 5 ? 3 : 1);
    sum = tenon_make_2(make, "add", x, tenon_make_cast(make, row, tenon_make_dtype(make, x)));
  }
  tenon_make_begin(make, "gelu");
  tenon_make_set_string(make, "approximate", "tanh");
  tenon_make_add(make, sum);
  tenon_make_output(make, 0, tenon_make_end(make));
}

static void fully_connected(tenon_make_t* make) {
  size_t count = 0;
  check_type(make);
  tensorrt_require(make, "out_dims");
  const int64_t columns = tensorrt_int(make, "out_dims", 1, 1, TENSORRT_COUNT_MAX);
  const tenon_value_t x = tensorrt_input(make, 0, "x", 5, "[rows, batch, size, 1, 1]");
  const int64_t rows = tensorrt_known(make, x, 2, "x");
  const tenon_value_t weights = tensorrt_weights(make, "W", 1, SIZE_MAX, &count);
  if (tenon_make_ok(make) && (int64_t)count != rows * columns) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "attribute W has %zu numbers: %lld x %lld are needed", count, (long long)rows,
                    (long long)columns);
  }
  const int64_t dims[3] = {0, 0, rows};
  const int64_t weight_dims[2] = {rows, columns};
  static const int64_t axes[2] = {3, 4};
  const tenon_value_t matrix = tenon_make_cast(
      make, tenon_make_reshape(make, weights, weight_dims, 2), tenon_make_dtype(make, x));
  const tenon_value_t y =
      tenon_make_2(make, "mat_mul", tenon_make_reshape(make, x, dims, 3), matrix);
  tenon_make_output(make, 0, tenon_make_unsqueeze(make, y, axes, 2));
}

/* A table [rows, width] from an attribute. */
static tenon_value_t table_of(tenon_make_t* make, const char* name, size_t width) {
  size_t count = 0;
  const tenon_value_t weights = tensorrt_weights(make, name, 1, SIZE_MAX, &count);
  if (tenon_make_ok(make) && (width == 0 || count % width != 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "attribute %s has %zu numbers, which are no rows of %zu", name, count, width);
  }
  const int64_t dims[2] = {-1, (int64_t)width};
  return tenon_make_reshape(make, weights, dims, 2);
}

static void embedding_layer_norm(tenon_make_t* make) {
  static const char form[] = "[length, batch]";
  size_t width = 0;
  size_t count = 0;
  const tenon_value_t tokens = tensorrt_input(make, 0, "token_id", 2, form);
  const tenon_value_t segments = tensorrt_input(make, 1, "segment_id", 2, form);
  const tenon_value_t mask = tensorrt_input(make, 2, "input_mask", 2, form);
  const bool is_half = tensorrt_flag(make, "output_fp16", false);
  (void)tensorrt_flag(make, "full_mask", false);
  (void)tensorrt_int(make, "mha_type_id", 0, 0, 2);
  const tenon_value_t gamma = row_weights(make, "bert_embeddings_layernorm_gamma", 0, &width);
  const tenon_value_t beta = row_weights(make, "bert_embeddings_layernorm_beta", width, &count);
  const tenon_value_t words = table_of(make, "bert_embeddings_word_embeddings", width);
  const tenon_value_t types = table_of(make, "bert_embeddings_token_type_embeddings", width);
  const tenon_value_t places = table_of(make, "bert_embeddings_position_embeddings", width);
  if (!tenon_make_ok(make)) {
    return;
  }
  const tenon_value_t rows[3] = {
      tenon_make_gather(make, words, tokens, 0), tenon_make_gather(make, types, segments, 0),
      tensorrt_axis(make, tenon_make_gather(make, places, tensorrt_counted(make, tokens, 0), 0),
                    1)};
  static const int64_t axes[2] = {3, 4};
  static const int64_t column[2] = {-1, 1};
  const tenon_value_t sum = tenon_make_math(make, "y = a + b + c", 3, rows);
  tenon_make_output(
      make, 0,
      tenon_make_cast(make, tenon_make_unsqueeze(make, layer_norm(make, sum, gamma, beta), axes, 2),
                      is_half ? TENON_DTYPE_FLOAT16 : TENON_DTYPE_FLOAT32));
  if (tenon_make_wants(make, 1)) { /* the first place that is masked, or the length */
    const tenon_value_t ends =
        tenon_make_math_1(make, "y = cast(min(a == 0 ? index(0) : size(0), [0]), i32)", mask);
    tenon_make_output(make, 1, tenon_make_reshape(make, ends, column, 2));
  }
}

/* Which keys of each sequence are visible: bool [B, 1, 1, S]. */
static tenon_value_t visible(tenon_make_t* make, tenon_value_t qkv, tenon_value_t ends) {
  static const int64_t dims[4] = {-1, 1, 1, 1};
  return tenon_make_math_2(make, "y = a < cast(b, i64)", tensorrt_counted(make, qkv, 0),
                           tenon_make_reshape(make, ends, dims, 4));
}

/* The numbers of q (0), k (1) or v (2) as [B, heads, S, size]. */
static tenon_value_t heads_of(tenon_make_t* make, tenon_value_t qkv, int64_t which) {
  static const int64_t order[4] = {1, 2, 0, 3};
  return tenon_make_permute(
      make, tenon_make_squeeze(make, tenon_make_slice(make, qkv, 3, which, which + 1), 3), order,
      4);
}

static void qkv_to_context(tenon_make_t* make) {
  check_type(make);
  tensorrt_require(make, "hidden_size");
  tensorrt_require(make, "num_heads");
  const int64_t width = tensorrt_int(make, "hidden_size", 1, 1, TENSORRT_COUNT_MAX);
  const int64_t heads = tensorrt_int(make, "num_heads", 1, 1, TENSORRT_COUNT_MAX);
  const bool has_mask = tensorrt_flag(make, "has_mask", false);
  const tenon_value_t x = tensorrt_input(make, 0, "qkv", 5, "[length, batch, 3 * size, 1, 1]");
  if (tenon_make_ok(make) && width % heads != 0) {
    tensorrt_refuse(make, "hidden_size", "it is no multiple of num_heads");
  }
  if (tenon_make_ok(make) && tensorrt_known(make, x, 2, "qkv") != 3 * width) {
    tensorrt_refuse(make, "hidden_size", "axis 2 of the input has not 3 times its extent");
  }
  if (tenon_make_ok(make) && has_mask && !tenon_make_has_input(make, 1)) {
    tensorrt_refuse(make, "has_mask", "there is no input 1");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const int64_t dims[5] = {0, 0, heads, 3, width / heads};
  const tenon_value_t qkv = tenon_make_reshape(make, x, dims, 5);
  const tenon_value_t parts[3] = {heads_of(make, qkv, 0), heads_of(make, qkv, 1),
                                  heads_of(make, qkv, 2)};
  const tenon_value_t mask =
      has_mask ? visible(make, x, tenon_make_input(make, 1)) : tensorrt_absent();
  tenon_make_begin(make, "attention");
  for (int k = 0; k < 3; ++k) {
    tenon_make_add(make, parts[k]);
  }
  if (has_mask) {
    tenon_make_add(make, mask);
  }
  static const int64_t order[4] = {2, 0, 1, 3};
  const int64_t out_dims[5] = {0, 0, width, 1, 1};
  const tenon_value_t y = tenon_make_permute(make, tenon_make_end(make), order, 4);
  tenon_make_output(make, 0, tenon_make_reshape(make, y, out_dims, 5));
}

#define PACKED "others take sequences of varying length in one, or int8 in formats of CUDA kernels"

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("CustomEmbLayerNormPluginDynamic", embedding_layer_norm, "1 6", PACKED),
    TENSORRT_ROW("CustomFCPluginDynamic", fully_connected, "1", NULL),
    TENSORRT_ROW("CustomGeluPluginDynamic", gelu, "1", NULL),
    TENSORRT_ROW("CustomQKVToContextPluginDynamic", qkv_to_context, "1 4", PACKED),
    TENSORRT_ROW("CustomSkipLayerNormPluginDynamic", skip_layer_norm, "1 2 5 6", PACKED),
};
TENSORRT_FAMILY(bert);
