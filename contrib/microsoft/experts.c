/* Mixtures of experts. Each expert computes all tokens, and each token has a weight for each expert:
 * 0 for those that it does not select. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "families.h"
#include "quantized.h"
#include "steps.h"

/* Each expert has nodes of its own. */
enum { MAX_EXPERTS = 4096 };

/* One layer of all experts: numbers of inputs. */
typedef struct layer_t {
  uint32_t weights; /* [experts, outputs, inputs], or bytes */
  uint32_t scales;  /* for bytes: [experts, outputs] or [experts, outputs, blocks] */
  uint32_t bias;    /* [experts, outputs]; may be absent */
  uint32_t zeros;   /* for bytes; may be absent */
  const char* bits; /* the attribute of bytes; NULL: floats */
} layer_t;

static tenon_value_t item(tenon_make_t* make, uint32_t input, int64_t expert) {
  return microsoft_item(make, tenon_make_input(make, input), 0, expert);
}

/* ---- Products with bytes ---- */

/* Zero points of one expert, as [outputs, blocks] of numbers or [outputs, bytes]. Those of whole
 * rows are packed along the outputs. */
static tenon_value_t expert_zeros(tenon_make_t* make, const layer_t* layer, int64_t expert,
                                  int64_t bits, int64_t outputs) {
  static const int64_t last[] = {1};
  const tenon_value_t zeros = item(make, layer->zeros, expert);
  if (tenon_make_rank(make, zeros) == 2) {
    return zeros;
  }
  const tenon_value_t numbers = microsoft_unpacked(make, zeros, bits, outputs, 1);
  return tenon_make_cast(make, tenon_make_unsqueeze(make, numbers, last, 1),
                         tenon_make_dtype(make, tenon_make_input(make, layer->scales)));
}

static tenon_value_t byte_product(tenon_make_t* make, const layer_t* layer, int64_t expert,
                                  tenon_value_t x) {
  const int64_t bits =
      tenon_make_get_int(make, layer->bits, tenon_make_get_int(make, "expert_weight_bits", 4));
  if (bits != 2 && bits != 4 && bits != 8) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "weights of %" PRId64 " bits are not supported: use 2, 4 or 8", bits);
    return x;
  }
  const tenon_value_t data = item(make, layer->weights, expert);
  const int64_t outputs = tenon_make_dim(make, data, 0);
  const int64_t depth = tenon_make_dim(make, data, 1) * 8 / bits;
  const int64_t size = tenon_make_get_int(make, "block_size", 0);
  const int64_t block = size > 0 ? size : depth;
  if (outputs < 0 || depth <= 0 || block < 16 || block % 16 != 0 || depth % block != 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "weights are not whole blocks of %" PRId64 ": use a multiple of 16", block);
    return x;
  }
  const int64_t b_dims[] = {outputs, depth / block, block * bits / 8};
  const int64_t scale_dims[] = {outputs, depth / block};
  const tenon_value_t operands[4] = {
      tenon_make_reshape(make, data, b_dims, 3),
      tenon_make_cast(make,
                      tenon_make_reshape(make, item(make, layer->scales, expert), scale_dims, 2),
                      tenon_make_dtype(make, x)),
      tenon_make_has_input(make, layer->zeros) ? expert_zeros(make, layer, expert, bits, outputs)
                                               : microsoft_absent(),
      tenon_make_has_input(make, layer->bias) ? item(make, layer->bias, expert)
                                              : microsoft_absent()};
  tenon_make_begin(make, "microsoft.mat_mul_nbits/1");
  tenon_make_set_int(make, "bits", bits);
  tenon_make_set_int(make, "block_size", block);
  tenon_make_set_int(make, "K", depth);
  tenon_make_set_int(make, "N", outputs);
  tenon_make_add(make, x);
  for (uint32_t k = 0; k < 4; ++k) {
    tenon_make_add(make, operands[k]);
  }
  return tenon_make_end(make);
}

static tenon_value_t product(tenon_make_t* make, const layer_t* layer, int64_t expert,
                             tenon_value_t x) {
  if (layer->bits != NULL) {
    return byte_product(make, layer, expert, x);
  }
  const tenon_value_t w = microsoft_transposed(make, item(make, layer->weights, expert));
  const tenon_value_t y = tenon_make_2(make, "mat_mul", x, w);
  return tenon_make_has_input(make, layer->bias)
             ? tenon_make_2(make, "add", y, item(make, layer->bias, expert))
             : y;
}

/* ---- Activations ---- */

/* The gate and the linear part of [tokens, outputs], one behind the other or interleaved. */
static tenon_value_t fused_swiglu(tenon_make_t* make, tenon_value_t both, bool is_interleaved,
                                  double limit) {
  static const int64_t dims[3] = {0, -1, 2};
  tenon_value_t parts[2] = {{0}, {0}};
  if (is_interleaved) {
    const tenon_value_t pairs = tenon_make_reshape(make, both, dims, 3);
    parts[0] = microsoft_item(make, pairs, 2, 0);
    parts[1] = microsoft_item(make, pairs, 2, 1);
  } else {
    microsoft_halves(make, both, parts);
  }
  return microsoft_swiglu(make, parts[0], parts[1], limit);
}

static tenon_value_t activated(tenon_make_t* make, const char* name, tenon_value_t x) {
  if (strcmp(name, "relu") == 0) {
    return tenon_make_1(make, "relu", x);
  }
  if (strcmp(name, "gelu") == 0) {
    return microsoft_tanh_gelu(make, x);
  }
  if (strcmp(name, "silu") == 0) {
    return tenon_make_1(make, "swish", x);
  }
  if (strcmp(name, "relu2") == 0) {
    return tenon_make_math_1(make, "y = max(a, 0) * max(a, 0)", x);
  }
  if (strcmp(name, "identity") != 0) {
    microsoft_refuse(make, "activation_type", "use relu, relu2, gelu, silu, swiglu or identity");
  }
  return x;
}

/* One expert: layers are fc1, fc2 and fc3. */
static tenon_value_t expert_of(tenon_make_t* make, const layer_t layers[3], int64_t expert,
                               tenon_value_t x) {
  const char* name = tenon_make_get_string(make, "activation_type", "relu");
  const int64_t fusion = tenon_make_get_int(make, "swiglu_fusion", 0);
  const bool has_third = tenon_make_has_input(make, layers[2].weights);
  const tenon_value_t first = product(make, &layers[0], expert, x);
  const tenon_value_t third = has_third ? product(make, &layers[2], expert, x) : microsoft_absent();
  tenon_value_t inner = {0};
  if (strcmp(name, "swiglu") == 0 && fusion == 0 && !has_third) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "swiglu without fusion has no fc3 weights");
  } else if (strcmp(name, "swiglu") == 0) {
    const double limit = tenon_make_get_float(make, "swiglu_limit", INFINITY);
    inner = fusion == 0 ? microsoft_swiglu(make, first, third, limit)
                        : fused_swiglu(make, first, fusion == 1, limit);
  } else {
    inner = activated(make, name, first);
    inner = has_third ? tenon_make_2(make, "mul", inner, third) : inner;
  }
  return product(make, &layers[1], expert, inner);
}

/* ---- Routing ---- */

/* The weight of each expert for each token: [tokens, experts]. */
static tenon_value_t routed(tenon_make_t* make, uint32_t weights) {
  const tenon_value_t scores = tenon_make_input(make, 1);
  const bool is_normalized = tenon_make_get_int(make, "normalize_routing_weights", 0) != 0;
  tenon_value_t top[2] = {{0}, {0}}; /* values, indices */
  const int64_t count = tenon_make_get_int(make, "k", 1);
  const tenon_value_t k = tenon_make_int64s(make, &count, 1);
  tenon_make_begin(make, "top_k");
  tenon_make_add(make, scores);
  tenon_make_add(make, k);
  tenon_make_end_many(make, top, 2);
  tenon_value_t values = is_normalized ? tenon_make_1(make, "softmax", top[0]) : top[0];
  if (!is_normalized || tenon_make_has_input(make, weights)) {
    const tenon_value_t from = tenon_make_has_input(make, weights)
                                   ? tenon_make_input(make, weights)
                                   : tenon_make_1(make, "softmax", scores);
    tenon_make_begin(make, "gather_elements");
    tenon_make_set_int(make, "axis", 1);
    tenon_make_add(make, from);
    tenon_make_add(make, top[1]);
    values = tenon_make_end(make);
  }
  if (is_normalized && tenon_make_has_input(make, weights)) {
    values = tenon_make_2(make, "div", values,
                          tenon_make_reduce(make, "reduce_sum", values, &(const int64_t){1}, 1, 1));
  }
  const tenon_value_t zeros =
      tenon_make_cast(make, tenon_make_math_1(make, "y = a == a ? 0.0 : 0.0", scores),
                      tenon_make_dtype(make, values));
  tenon_make_begin(make, "scatter_elements");
  tenon_make_set_int(make, "axis", 1);
  tenon_make_add(make, zeros);
  tenon_make_add(make, top[1]);
  tenon_make_add(make, values);
  return tenon_make_end(make);
}

static void mix(tenon_make_t* make, const layer_t layers[3], uint32_t router_weights) {
  const tenon_value_t input = tenon_make_input(make, 0);
  const int64_t experts = tenon_make_dim(make, tenon_make_input(make, layers[0].weights), 0);
  if (tenon_make_get_int(make, "use_sparse_mixer", 0) != 0) {
    microsoft_refuse(make, "use_sparse_mixer", "CUDA alone has it");
  }
  if (tenon_make_get_int(make, "swiglu_limit_after_activation", 0) != 0) {
    microsoft_refuse(make, "swiglu_limit_after_activation", "CUDA alone has it");
  }
  if (experts < 1 || experts > MAX_EXPERTS) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "%" PRId64 " experts are not supported: use 1 to %d, a known number", experts,
                    MAX_EXPERTS);
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const bool is_batched = tenon_make_rank(make, input) == 3;
  const int64_t rows[] = {-1, tenon_make_dim(make, input, 2)};
  const tenon_value_t x = is_batched ? tenon_make_reshape(make, input, rows, 2) : input;
  const tenon_value_t weights = routed(make, router_weights);
  tenon_value_t sum = {0};
  for (int64_t e = 0; e < experts && tenon_make_ok(make); ++e) {
    const tenon_value_t operands[3] = {expert_of(make, layers, e, x),
                                       tenon_make_slice(make, weights, 1, e, e + 1), sum};
    sum = e == 0 ? tenon_make_math_2(make, "y = a * b", operands[0], operands[1])
                 : tenon_make_math(make, "y = a * b + c", 3, operands);
  }
  tenon_make_output(
      make, 0,
      is_batched ? tenon_make_2(make, "reshape", sum, tenon_make_shape(make, input)) : sum);
}

static void floats(tenon_make_t* make) {
  static const layer_t layers[3] = {
      {.weights = 2, .bias = 3}, {.weights = 4, .bias = 5}, {.weights = 6, .bias = 7}};
  enum { NO_INPUT = 8 };
  mix(make, layers, NO_INPUT);
}

static void bytes(tenon_make_t* make) {
  static const layer_t layers[3] = {{2, 3, 4, 11, "fc1_expert_weight_bits"},
                                    {5, 6, 7, 12, "fc2_expert_weight_bits"},
                                    {8, 9, 10, 13, "fc3_expert_weight_bits"}};
  enum { ROUTER_WEIGHTS = 14 };
  if (strcmp(tenon_make_get_string(make, "quant_type", "int"), "int") != 0) {
    microsoft_refuse(make, "quant_type", "use 'int'");
  }
  if (tenon_make_get_int(make, "weights_prepacked", -1) > 0) {
    microsoft_refuse(make, "weights_prepacked", "the layout belongs to CUDA kernels");
  }
  mix(make, layers, ROUTER_WEIGHTS);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("MoE", floats, NULL, NULL),
    MICROSOFT_ROW("QMoE", bytes, NULL, NULL),
};
MICROSOFT_FAMILY(experts);
