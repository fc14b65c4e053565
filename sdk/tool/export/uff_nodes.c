/* What each operator is called in UFF. */
#include <string.h>

#include "export/uff_node.h"

/* ---- Elementwise ---- */

static bool with_function(const tool_export_node_t* node, const char* operation, uint32_t count) {
  tool_wire_writer_t* writer = tool_uff_begin(node, operation, count);
  if (writer != NULL) {
    tool_uff_text(writer, "func", node->word);
  }
  return writer != NULL;
}

static bool unary(const tool_export_node_t* node) {
  return with_function(node, "Unary", 1);
}

static bool activation(const tool_export_node_t* node) {
  return with_function(node, "Activation", 1);
}

static bool binary(const tool_export_node_t* node) {
  return node->item->input_count == 2 ? with_function(node, "Binary", 2)
                                      : tool_export_refuse(node, "UFF takes two inputs at once");
}

static bool leaky_relu(const tool_export_node_t* node) {
  tool_wire_writer_t* writer = tool_uff_begin(node, "LeakyRelu", 1);
  if (writer != NULL) {
    tool_uff_double(writer, "alpha", tool_export_attribute_float(node, "alpha"));
  }
  return writer != NULL;
}

static bool identity(const tool_export_node_t* node) {
  return tool_uff_begin(node, "Identity", 1) != NULL;
}

/* ---- Products, reductions ---- */

static bool mat_mul(const tool_export_node_t* node) {
  const bool is_matrix = tool_export_rank(node, 0) == 2 && tool_export_rank(node, 1) == 2;
  if (tool_export_rank(node, 0) < 2 || tool_export_rank(node, 1) < 2) {
    return tool_export_refuse(node, "UFF multiplies matrices");
  }
  tool_wire_writer_t* writer =
      tool_uff_begin(node, is_matrix ? "FullyConnected" : "_BatchMatMulV2", 2);
  if (writer != NULL && is_matrix) {
    tool_uff_orders(node->network->file, writer, "NC CK");
  }
  return writer != NULL;
}

static bool reduce(const tool_export_node_t* node) {
  int64_t axes[TENON_RANK_LIMIT];
  uint32_t count = 0;
  if (!tool_export_operand(node, 1, "fixed_axes", axes, &count)) {
    return false;
  }
  if (count == 0 && tool_export_attribute_int(node, "noop_with_empty_axes") != 0) {
    return identity(node);
  }
  const uint32_t rank = tool_export_rank(node, 0);
  if (count == 0) {
    for (uint32_t i = 0; i < rank; ++i) {
      axes[i] = i;
    }
  }
  tool_wire_writer_t* writer = tool_uff_begin(node, "Reduce", 1);
  if (writer != NULL) {
    tool_uff_text(writer, "func", node->word);
    tool_uff_ints(writer, "axes", axes, count == 0 ? rank : count);
    tool_uff_bool(writer, "keepdims", tool_export_attribute_int(node, "keepdims") != 0);
  }
  return writer != NULL;
}

/* ---- The table ---- */

typedef struct row_t {
  const char* op; /* of the standard, or the text of an expression */
  bool (*write)(const tool_export_node_t* node);
  const char* word;
  const char* attributes; /* that it understands; NULL: there are none */
} row_t;

#define WINDOWS "strides pads auto_pad"
#define REDUCED "fixed_axes keepdims noop_with_empty_axes"

static const row_t rows[] = {
    {"abs", unary, "abs", NULL},
    {"acos", unary, "acos", NULL},
    {"acosh", unary, "acosh", NULL},
    {"add", binary, "add", NULL},
    {"asin", unary, "asin", NULL},
    {"asinh", unary, "asinh", NULL},
    {"atan", unary, "atan", NULL},
    {"atanh", unary, "atanh", NULL},
    {"average_pool", tool_uff_pool, "avg",
     WINDOWS " kernel_shape dilations=1 ceil_mode=0 count_include_pad=0"},
    {"batch_norm", tool_uff_batch_norm, NULL, "epsilon"},
    {"ceil", unary, "ceil", NULL},
    {"concatenate", tool_uff_concatenate, NULL, "axis"},
    {"convolution", tool_uff_convolution, NULL, WINDOWS " dilations groups"},
    {"cos", unary, "cos", NULL},
    {"cosh", unary, "cosh", NULL},
    {"div", binary, "div", NULL},
    {"elu", activation, "elu", "alpha=1"},
    {"exp", unary, "exp", NULL},
    {"flatten", tool_uff_reshape, NULL, "axis"},
    {"floor", unary, "floor", NULL},
    {"gather", tool_uff_gather, NULL, "axis"},
    {"leaky_relu", leaky_relu, NULL, "alpha"},
    {"log", unary, "log", NULL},
    {"lrn", tool_uff_lrn, NULL, "window alpha beta bias"},
    {"mat_mul", mat_mul, NULL, NULL},
    {"max", binary, "max", NULL},
    {"max_pool", tool_uff_pool, "max",
     WINDOWS " kernel_shape dilations=1 ceil_mode=0 storage_order"},
    {"min", binary, "min", NULL},
    {"mul", binary, "mul", NULL},
    {"neg", unary, "neg", NULL},
    {"pad", tool_uff_pad, NULL, "mode"},
    {"pass_through", identity, NULL, NULL},
    {"permute", tool_uff_permute, NULL, "perm"},
    {"pow", binary, "pow", NULL},
    {"reduce_max", reduce, "max", REDUCED},
    {"reduce_mean", reduce, "mean", REDUCED},
    {"reduce_min", reduce, "min", REDUCED},
    {"reduce_prod", reduce, "prod", REDUCED},
    {"reduce_sum", reduce, "sum", REDUCED},
    {"relu", activation, "relu", NULL},
    {"reshape", tool_uff_reshape, NULL, "fixed_dims allow_zero"},
    {"selu", activation, "selu", "alpha=1.6732632423543772 gamma=1.0507009873554805"},
    {"sigmoid", activation, "sigmoid", NULL},
    {"sin", unary, "sin", NULL},
    {"sinh", unary, "sinh", NULL},
    {"softmax", tool_uff_softmax, NULL, "axis"},
    {"softplus", activation, "softplus", NULL},
    {"softsign", activation, "softsign", NULL},
    {"sqrt", unary, "sqrt", NULL},
    {"squeeze", tool_uff_reshape, NULL, "fixed_axes"},
    {"strided_slice", tool_uff_strided_slice, NULL, NULL},
    {"sub", binary, "sub", NULL},
    {"tan", unary, "tan", NULL},
    {"tanh", activation, "tanh", NULL},
    {"unsqueeze", tool_uff_reshape, NULL, "fixed_axes"},
    {"y = a * a", unary, "square", NULL},
    {"y = clamp(a, 0, 6)", activation, "relu6", NULL},
    {"y = rsqrt(a)", unary, "rsqrt", NULL},
};

/* UFF's operations have one result. */
static bool has_one_output(const tenon_network_item_t* item) {
  bool has_one = item->output_count > 0 && item->body_count == 0;
  for (uint32_t i = 1; i < item->output_count; ++i) {
    has_one = has_one && item->outputs[i].id == 0;
  }
  return has_one;
}

bool tool_uff_write_node(tool_export_network_t* network, const tenon_network_item_t* item) {
  static const char domain[] = "standard.";
  const size_t skip = sizeof(domain) - 1;
  const bool is_standard = item->op != NULL && strncmp(item->op, domain, skip) == 0;
  if (!has_one_output(item)) {
    return false;
  }
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    const size_t length = strlen(rows[i].op);
    const bool is_this = is_standard ? strncmp(item->op + skip, rows[i].op, length) == 0 &&
                                           strcmp(item->op + skip + length, "/1") == 0
                                     : item->text != NULL && strcmp(item->text, rows[i].op) == 0;
    if (is_this) {
      const tool_export_node_t node = {network, item, rows[i].word};
      const char* attributes = rows[i].attributes;
      return tool_export_understands(&node, attributes == NULL ? "" : attributes) &&
             rows[i].write(&node);
    }
  }
  return false;
}
