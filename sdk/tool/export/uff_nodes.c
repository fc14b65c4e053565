/* What each operator is called in UFF. */
#include <inttypes.h>
#include <string.h>

#include "export/uff_network.h"
#include "text/memory.h"

typedef struct node_t {
  tool_uff_network_t* network;
  const tenon_network_item_t* item;
  const char* word; /* of the table: a func, an operation */
} node_t;

static bool refuse(const node_t* node, const char* reason) {
  node->network->reason = reason;
  return false;
}

/* ---- Attributes ---- */

static const tenon_attribute_t* find(const node_t* node, const char* name) {
  for (uint32_t i = 0; i < node->item->attribute_count; ++i) {
    if (strcmp(node->item->attributes[i].name, name) == 0) {
      return &node->item->attributes[i];
    }
  }
  return NULL;
}

static int64_t get_int(const node_t* node, const char* name) {
  const tenon_attribute_t* attribute = find(node, name);
  return attribute == NULL ? 0 : attribute->integer;
}

static double get_float(const node_t* node, const char* name) {
  const tenon_attribute_t* attribute = find(node, name);
  return attribute == NULL ? 0 : attribute->number;
}

static bool is_text(const node_t* node, const char* name, const char* value) {
  const tenon_attribute_t* attribute = find(node, name);
  return attribute != NULL && attribute->string != NULL && strcmp(attribute->string, value) == 0;
}

/* A list of spatial values: empty is `otherwise` everywhere. */
static void get_list(const node_t* node, const char* name, uint32_t count, int64_t otherwise,
                     int64_t* out_values) {
  const tenon_attribute_t* attribute = find(node, name);
  for (uint32_t i = 0; i < count; ++i) {
    out_values[i] =
        attribute != NULL && attribute->count == count ? attribute->integers[i] : otherwise;
  }
}

static uint32_t rank_of(const node_t* node, uint32_t index) {
  const tenon_value_type_t type = index < node->item->input_count
                                      ? tool_uff_type_of(node->network, node->item->inputs[index])
                                      : (tenon_value_type_t){.rank = TENON_NONE};
  return type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE &&
                 type.rank <= TOOL_UFF_RANK_LIMIT
             ? type.rank
             : 0;
}

static int64_t positive(int64_t axis, uint32_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/* ---- Writing ---- */

/* A node of this operation over the first `count` inputs, under the target's name. NULL when one of
 * them is lacking. Constants come before it. */
static tool_wire_writer_t* begin(const node_t* node, const char* operation, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (tool_uff_source(node->network, node->item, i) == NULL) {
      return NULL;
    }
  }
  tool_wire_writer_t* writer =
      tool_uff_node(&node->network->file, tool_uff_target(node->network, node->item), operation);
  for (uint32_t i = 0; i < count; ++i) {
    tool_uff_input(writer, tool_uff_source(node->network, node->item, i));
  }
  return writer;
}

/* A list as a Const of its own; the name is freed by tool_free. */
static char* write_list(const node_t* node, const char* what, uint32_t rank, const int64_t* dims,
                        const int64_t* values) {
  int32_t narrow[2 * TOOL_UFF_RANK_LIMIT];
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    count *= (uint32_t)dims[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    narrow[i] = values[i] > INT32_MAX   ? INT32_MAX
                : values[i] < INT32_MIN ? INT32_MIN
                                        : (int32_t)values[i];
  }
  char* name = tool_uff_aside(node->network, node->item, what);
  tool_uff_const(&node->network->file, name, TENON_DTYPE_INT32, rank, dims, narrow,
                 count * sizeof(*narrow));
  return name;
}

/* Input `index`, or attribute `fixed` in its place, as numbers. */
static bool get_operand(const node_t* node, uint32_t index, const char* fixed, int64_t* out_values,
                        uint32_t* out_count) {
  const tenon_attribute_t* attribute = fixed == NULL ? NULL : find(node, fixed);
  if (index < node->item->input_count && node->item->inputs[index].id != 0) {
    return tool_uff_contents(node->network, node->item->inputs[index], out_values, out_count) ||
           refuse(node, "a list that UFF needs is not constant");
  }
  *out_count =
      attribute == NULL || attribute->count > TOOL_UFF_RANK_LIMIT ? 0 : (uint32_t)attribute->count;
  for (uint32_t i = 0; i < *out_count; ++i) {
    out_values[i] = attribute->integers[i];
  }
  return true;
}

/* ---- Elementwise ---- */

static bool with_function(const node_t* node, const char* operation, uint32_t count) {
  tool_wire_writer_t* writer = begin(node, operation, count);
  if (writer != NULL) {
    tool_uff_text(writer, "func", node->word);
  }
  return writer != NULL;
}

static bool unary(const node_t* node) {
  return with_function(node, "Unary", 1);
}

static bool activation(const node_t* node) {
  return with_function(node, "Activation", 1);
}

static bool elu(const node_t* node) {
  return get_float(node, "alpha") == 1.0 ? activation(node) : refuse(node, "UFF's elu has alpha 1");
}

static bool binary(const node_t* node) {
  return node->item->input_count == 2 ? with_function(node, "Binary", 2)
                                      : refuse(node, "UFF takes two inputs at once");
}

static bool leaky_relu(const node_t* node) {
  tool_wire_writer_t* writer = begin(node, "LeakyRelu", 1);
  if (writer != NULL) {
    tool_uff_double(writer, "alpha", get_float(node, "alpha"));
  }
  return writer != NULL;
}

static bool identity(const node_t* node) {
  return begin(node, "Identity", 1) != NULL;
}

/* ---- Windows: [N, C, spatial...] ---- */

/* Padding that differs before and behind is a node of its own, where it is of zeros. */
static char* pad_before(const node_t* node, const int64_t* pads, uint32_t spatial,
                        const char* source) {
  const int64_t dims[2] = {spatial + 2, 2};
  int64_t pairs[2 * TOOL_UFF_RANK_LIMIT] = {0};
  for (uint32_t i = 0; i < spatial; ++i) {
    pairs[4 + 2 * i] = pads[i];
    pairs[5 + 2 * i] = pads[spatial + i];
  }
  char* list = write_list(node, "border", 2, dims, pairs);
  char* name = tool_uff_aside(node->network, node->item, "padded");
  tool_wire_writer_t* writer = tool_uff_node(&node->network->file, name, "Pad");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return name;
}

static bool is_symmetric(const int64_t* pads, uint32_t spatial) {
  return memcmp(pads, pads + spatial, spatial * sizeof(*pads)) == 0;
}

static void write_padding(const node_t* node, tool_wire_writer_t* writer, const int64_t* pads,
                          uint32_t spatial) {
  if (is_text(node, "auto_pad", "same_upper")) {
    tool_uff_text(writer, "implicit_padding", "same");
  } else if (is_symmetric(pads, spatial)) {
    tool_uff_ints(writer, "padding", pads, spatial);
  }
}

static bool read_padding(const node_t* node, uint32_t spatial, int64_t* out_pads) {
  get_list(node, "pads", 2 * spatial, 0, out_pads);
  return spatial >= 1 && spatial <= 3 && !is_text(node, "auto_pad", "same_lower")
             ? true
             : refuse(node, "UFF has one to three spatial axes, and the odd pixel behind");
}

/* The bias of a convolution is a sum of its own: [C] beside [N, C, spatial...]. */
static bool add_bias(const node_t* node, const char* convolved, uint32_t spatial) {
  const tenon_value_t bias = node->item->inputs[2];
  const tenon_value_type_t type = tool_uff_type_of(node->network, bias);
  if (type.constant_data == NULL || tool_uff_dtype(type.dtype) == 0) {
    return refuse(node, "its bias is not constant");
  }
  const int64_t dims[4] = {type.dims[0], 1, 1, 1};
  char* name = tool_uff_aside(node->network, node->item, "bias");
  tool_uff_const(&node->network->file, name, type.dtype, 1 + spatial, dims, type.constant_data,
                 (size_t)dims[0] * (tool_uff_dtype(type.dtype) & 0xFFu) / 8);
  tool_wire_writer_t* writer =
      tool_uff_node(&node->network->file, tool_uff_target(node->network, node->item), "Binary");
  tool_uff_input(writer, convolved);
  tool_uff_input(writer, name);
  tool_uff_text(writer, "func", "add");
  tool_free(name);
  return true;
}

static bool convolution(const node_t* node) {
  const uint32_t spatial = rank_of(node, 0) < 2 ? 0 : rank_of(node, 0) - 2;
  int64_t pads[2 * TOOL_UFF_RANK_LIMIT];
  int64_t strides[TOOL_UFF_RANK_LIMIT];
  int64_t dilations[TOOL_UFF_RANK_LIMIT];
  const char* x = tool_uff_source(node->network, node->item, 0);
  const char* w = tool_uff_source(node->network, node->item, 1);
  if (x == NULL || w == NULL || !read_padding(node, spatial, pads)) {
    return false;
  }
  const bool has_bias = node->item->input_count > 2 && node->item->inputs[2].id != 0;
  get_list(node, "strides", spatial, 1, strides);
  get_list(node, "dilations", spatial, 1, dilations);
  char* padded = is_symmetric(pads, spatial) ? NULL : pad_before(node, pads, spatial, x);
  char* convolved = has_bias ? tool_uff_aside(node->network, node->item, "convolved") : NULL;
  tool_wire_writer_t* writer =
      tool_uff_node(&node->network->file,
                    has_bias ? convolved : tool_uff_target(node->network, node->item), "Conv");
  tool_uff_input(writer, padded != NULL ? padded : x);
  tool_uff_input(writer, w);
  tool_uff_ints(writer, "strides", strides, spatial);
  tool_uff_ints(writer, "dilation", dilations, spatial);
  tool_uff_int(writer, "number_groups", get_int(node, "groups"));
  write_padding(node, writer, pads, spatial);
  tool_uff_orders(&node->network->file, writer, "NC+ KC+");
  const bool is_done = !has_bias || add_bias(node, convolved, spatial);
  tool_free(padded);
  tool_free(convolved);
  return is_done;
}

static bool pool(const node_t* node) {
  const uint32_t spatial = rank_of(node, 0) < 2 ? 0 : rank_of(node, 0) - 2;
  int64_t pads[2 * TOOL_UFF_RANK_LIMIT];
  int64_t kernel[TOOL_UFF_RANK_LIMIT];
  int64_t strides[TOOL_UFF_RANK_LIMIT];
  if (!read_padding(node, spatial, pads)) {
    return false;
  }
  const tenon_attribute_t* dilations = find(node, "dilations");
  for (size_t i = 0; dilations != NULL && i < dilations->count; ++i) {
    if (dilations->integers[i] != 1) {
      return refuse(node, "UFF's pools have no dilation");
    }
  }
  get_list(node, "kernel_shape", spatial, 1, kernel);
  get_list(node, "strides", spatial, 1, strides);
  if (!is_symmetric(pads, spatial) || get_int(node, "ceil_mode") != 0 ||
      get_int(node, "count_include_pad") != 0) {
    return refuse(node, "UFF's pools are padded alike on both sides, and do not count the border");
  }
  tool_wire_writer_t* writer = begin(node, "Pool", 1);
  if (writer == NULL) {
    return false;
  }
  tool_uff_text(writer, "func", node->word);
  tool_uff_ints(writer, "kernel", kernel, spatial);
  tool_uff_ints(writer, "strides", strides, spatial);
  write_padding(node, writer, pads, spatial);
  tool_uff_orders(&node->network->file, writer, "NC+");
  return true;
}

/* ---- Normalisation ---- */

static bool batch_norm(const node_t* node) {
  tool_wire_writer_t* writer = begin(node, "BatchNorm", 5);
  if (writer != NULL) {
    tool_uff_double(writer, "epsilon", get_float(node, "epsilon"));
    tool_uff_orders(&node->network->file, writer, "NC+");
  }
  return writer != NULL;
}

static bool lrn(const node_t* node) {
  const int64_t window = get_int(node, "window");
  tool_wire_writer_t* writer = window % 2 == 0 ? NULL : begin(node, "LRN", 1);
  if (writer == NULL) {
    return window % 2 == 0 ? refuse(node, "UFF's windows reach as far to both sides") : false;
  }
  tool_uff_int(writer, "window_size", window / 2);
  tool_uff_double(writer, "alpha", get_float(node, "alpha") / (double)window);
  tool_uff_double(writer, "beta", get_float(node, "beta"));
  tool_uff_double(writer, "k", get_float(node, "bias"));
  tool_uff_orders(&node->network->file, writer, "NC+");
  return true;
}

/* Along the channels: those are the second axis, or the last. */
static bool softmax(const node_t* node) {
  const uint32_t rank = rank_of(node, 0);
  const int64_t axis = positive(get_int(node, "axis"), rank);
  const bool is_last = axis == (int64_t)rank - 1;
  if (rank < 2 || (!is_last && axis != 1)) {
    return refuse(node, "UFF's softmax is along the second axis, or the last");
  }
  tool_wire_writer_t* writer = begin(node, "Softmax", 1);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", axis);
    tool_uff_orders(&node->network->file, writer, is_last ? "N+C" : "NC+");
  }
  return writer != NULL;
}

/* ---- Products, reductions ---- */

static bool mat_mul(const node_t* node) {
  const bool is_matrix = rank_of(node, 0) == 2 && rank_of(node, 1) == 2;
  tool_wire_writer_t* writer =
      rank_of(node, 0) < 2 || rank_of(node, 1) < 2
          ? NULL
          : begin(node, is_matrix ? "FullyConnected" : "_BatchMatMulV2", 2);
  if (writer != NULL && is_matrix) {
    tool_uff_orders(&node->network->file, writer, "NC CK");
  }
  return writer != NULL;
}

static bool reduce(const node_t* node) {
  int64_t axes[TOOL_UFF_RANK_LIMIT];
  uint32_t count = 0;
  if (!get_operand(node, 1, "fixed_axes", axes, &count)) {
    return false;
  }
  const uint32_t rank = rank_of(node, 0);
  for (uint32_t i = 0; count == 0 && i < rank; ++i) {
    axes[i] = i;
  }
  tool_wire_writer_t* writer = begin(node, "Reduce", 1);
  if (writer != NULL) {
    tool_uff_text(writer, "func", node->word);
    tool_uff_ints(writer, "axes", axes, count == 0 ? rank : count);
    tool_uff_bool(writer, "keepdims", get_int(node, "keepdims") != 0);
  }
  return writer != NULL;
}

/* ---- Movement ---- */

static bool permute(const node_t* node) {
  const tenon_attribute_t* perm = find(node, "perm");
  int64_t axes[TOOL_UFF_RANK_LIMIT];
  const uint32_t rank = rank_of(node, 0);
  for (uint32_t i = 0; i < rank; ++i) {
    axes[i] = perm != NULL && perm->count == rank ? perm->integers[i] : (int64_t)rank - 1 - i;
  }
  tool_wire_writer_t* writer = begin(node, "Transpose", 1);
  if (writer != NULL) {
    tool_uff_ints(writer, "permutation", axes, rank);
  }
  return writer != NULL;
}

/* The extents of the result, of which one may be open. */
static bool reshape(const node_t* node) {
  const tenon_value_type_t type = tool_uff_type_of(node->network, node->item->outputs[0]);
  const char* source = tool_uff_source(node->network, node->item, 0);
  uint32_t open = 0;
  for (uint32_t i = 0; type.rank != TENON_NONE && i < type.rank; ++i) {
    open += type.dims[i] < 0 ? 1 : 0;
  }
  if (source == NULL) {
    return false;
  }
  if (type.rank == TENON_NONE || type.rank > TOOL_UFF_RANK_LIMIT || open > 1) {
    return refuse(node, "more than one extent of its result is open (see --shapes)");
  }
  const int64_t dims[1] = {type.rank};
  char* list = write_list(node, "shape", 1, dims, type.dims);
  tool_wire_writer_t* writer =
      tool_uff_node(&node->network->file, tool_uff_target(node->network, node->item), "Reshape");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return true;
}

static bool concatenate(const node_t* node) {
  tool_wire_writer_t* writer = begin(node, "Concat", node->item->input_count);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", get_int(node, "axis"));
  }
  return writer != NULL;
}

/* Zeros around every axis. */
static bool pad(const node_t* node) {
  int64_t pads[2 * TOOL_UFF_RANK_LIMIT] = {0};
  int64_t pairs[2 * TOOL_UFF_RANK_LIMIT];
  uint32_t count = 0;
  const uint32_t rank = rank_of(node, 0);
  const char* source = tool_uff_source(node->network, node->item, 0);
  if (source == NULL || !get_operand(node, 1, NULL, pads, &count)) {
    return false;
  }
  if (!is_text(node, "mode", "constant") || count != 2 * rank || node->item->input_count > 2) {
    return refuse(node, "UFF pads all axes, with zeros");
  }
  for (size_t i = 0; i < rank; ++i) {
    pairs[2 * i] = pads[i];
    pairs[2 * i + 1] = pads[rank + i];
  }
  const int64_t dims[2] = {rank, 2};
  char* list = write_list(node, "border", 2, dims, pairs);
  tool_wire_writer_t* writer =
      tool_uff_node(&node->network->file, tool_uff_target(node->network, node->item), "Pad");
  tool_uff_input(writer, source);
  tool_uff_input(writer, list);
  tool_free(list);
  return true;
}

/* Entries for all axes up to the last that is sliced: of others the masks say that they are whole.
 */
typedef struct slice_t {
  int64_t starts[TOOL_UFF_RANK_LIMIT];
  int64_t ends[TOOL_UFF_RANK_LIMIT];
  int64_t steps[TOOL_UFF_RANK_LIMIT];
  int64_t mask;
} slice_t;

static bool read_slice(const node_t* node, uint32_t rank, slice_t* out) {
  int64_t lists[4][TOOL_UFF_RANK_LIMIT];
  uint32_t counts[4] = {0};
  for (uint32_t i = 0; i < 4; ++i) {
    if (!get_operand(node, i + 1, NULL, lists[i], &counts[i])) {
      return false;
    }
  }
  for (uint32_t i = 0; i < rank; ++i) {
    out->ends[i] = INT32_MAX;
    out->steps[i] = 1;
  }
  out->mask = ((int64_t)1 << rank) - 1;
  for (uint32_t i = 0; i < counts[0]; ++i) {
    const int64_t axis = positive(counts[2] > 0 ? lists[2][i] : i, rank);
    out->starts[axis] = lists[0][i];
    out->ends[axis] = lists[1][i];
    out->steps[axis] = counts[3] > 0 ? lists[3][i] : 1;
    out->mask &= ~((int64_t)1 << axis);
  }
  return true;
}

static bool strided_slice(const node_t* node) {
  slice_t slice = {.mask = 0};
  const uint32_t rank = rank_of(node, 0);
  const char* source = tool_uff_source(node->network, node->item, 0);
  if (source == NULL || rank == 0 || rank > 32 || !read_slice(node, rank, &slice)) {
    return false;
  }
  const int64_t dims[1] = {rank};
  char* lists[3] = {write_list(node, "begin", 1, dims, slice.starts),
                    write_list(node, "end", 1, dims, slice.ends),
                    write_list(node, "strides", 1, dims, slice.steps)};
  tool_wire_writer_t* writer = tool_uff_node(
      &node->network->file, tool_uff_target(node->network, node->item), "StridedSlice");
  tool_uff_input(writer, source);
  for (uint32_t i = 0; i < 3; ++i) {
    tool_uff_input(writer, lists[i]);
    tool_free(lists[i]);
  }
  tool_uff_int(writer, "begin_mask", slice.mask);
  tool_uff_int(writer, "end_mask", slice.mask);
  return true;
}

static bool gather(const node_t* node) {
  tool_wire_writer_t* writer = begin(node, "GatherV2", 2);
  if (writer != NULL) {
    tool_uff_int(writer, "axis", get_int(node, "axis"));
  }
  return writer != NULL;
}

/* ---- The table ---- */

typedef struct row_t {
  const char* op; /* of the standard, or the text of an expression */
  bool (*write)(const node_t* node);
  const char* word;
} row_t;

static const row_t rows[] = {
    {"abs", unary, "abs"},
    {"acos", unary, "acos"},
    {"acosh", unary, "acosh"},
    {"add", binary, "add"},
    {"asin", unary, "asin"},
    {"asinh", unary, "asinh"},
    {"atan", unary, "atan"},
    {"atanh", unary, "atanh"},
    {"average_pool", pool, "avg"},
    {"batch_norm", batch_norm, NULL},
    {"ceil", unary, "ceil"},
    {"concatenate", concatenate, NULL},
    {"convolution", convolution, NULL},
    {"cos", unary, "cos"},
    {"cosh", unary, "cosh"},
    {"div", binary, "div"},
    {"elu", elu, "elu"},
    {"exp", unary, "exp"},
    {"flatten", reshape, NULL},
    {"floor", unary, "floor"},
    {"gather", gather, NULL},
    {"leaky_relu", leaky_relu, NULL},
    {"log", unary, "log"},
    {"lrn", lrn, NULL},
    {"mat_mul", mat_mul, NULL},
    {"max", binary, "max"},
    {"max_pool", pool, "max"},
    {"min", binary, "min"},
    {"mul", binary, "mul"},
    {"neg", unary, "neg"},
    {"pad", pad, NULL},
    {"pass_through", identity, NULL},
    {"permute", permute, NULL},
    {"pow", binary, "pow"},
    {"reduce_max", reduce, "max"},
    {"reduce_mean", reduce, "mean"},
    {"reduce_min", reduce, "min"},
    {"reduce_prod", reduce, "prod"},
    {"reduce_sum", reduce, "sum"},
    {"relu", activation, "relu"},
    {"reshape", reshape, NULL},
    {"selu", activation, "selu"},
    {"sigmoid", activation, "sigmoid"},
    {"sin", unary, "sin"},
    {"sinh", unary, "sinh"},
    {"softmax", softmax, NULL},
    {"softplus", activation, "softplus"},
    {"softsign", activation, "softsign"},
    {"sqrt", unary, "sqrt"},
    {"squeeze", reshape, NULL},
    {"strided_slice", strided_slice, NULL},
    {"sub", binary, "sub"},
    {"tan", unary, "tan"},
    {"tanh", activation, "tanh"},
    {"unsqueeze", reshape, NULL},
    {"y = a * a", unary, "square"},
    {"y = clamp(a, 0, 6)", activation, "relu6"},
    {"y = rsqrt(a)", unary, "rsqrt"},
};

bool tool_uff_write_node(tool_uff_network_t* network, const tenon_network_item_t* item) {
  static const char domain[] = "standard.";
  const size_t skip = sizeof(domain) - 1;
  const bool is_standard = item->op != NULL && strncmp(item->op, domain, skip) == 0;
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    const size_t length = strlen(rows[i].op);
    const bool is_this = is_standard ? strncmp(item->op + skip, rows[i].op, length) == 0 &&
                                           strcmp(item->op + skip + length, "/1") == 0
                                     : item->text != NULL && strcmp(item->text, rows[i].op) == 0;
    if (is_this) {
      const node_t node = {network, item, rows[i].word};
      return rows[i].write(&node);
    }
  }
  return false;
}
