/*
 * Nodes whose value is known become constants: where the contents of outputs came out as numbers,
 * and where all inputs are constants and the node is an expression, a move, or something that the
 * caller can compute.
 *
 * A fold may not make the network large: what it adds, less the inputs that nobody needs once all
 * such nodes are folded, stays within GROWTH_LIMIT. So a large table that is expanded from small
 * ones is computed when running. A reshape of a constant shares its bytes and is always folded.
 */
#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/dense.h"
#include "core/optimizer/evaluate_node.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"
#include "core/program/from_move.h"

enum { GROWTH_LIMIT = 64 * 1024, SIZE_LIMIT = 1 << 30, MOST_USES = 64 };

/* What was last found out about a node that reads a constant: one with many inputs is asked for
 * with each of them. */
typedef struct reader_t {
  bool is_known;
  uint32_t node;
  bool is_constant; /* all that it reads is */
  double expansion;
} reader_t;

typedef struct fold_t {
  tenon__rewriter_t* rewriter;
  uint32_t graph;
  uint32_t node;
  tenon__arena_t* arena; /* of the visit */
  reader_t readers[2];   /* the node itself, and another */
} fold_t;

static const tenon__node_t* node_of(const fold_t* fold) {
  return tenon__rewriter_node(fold->rewriter, fold->graph, fold->node);
}

static const char* derivation(fold_t* fold) {
  const tenon__node_t* node = node_of(fold);
  const char* text = tenon__arena_format(fold->arena, "fold of %s '%s'",
                                         node->op != NULL                      ? node->op->name
                                         : node->form == TENON_NODE_EXPRESSION ? "expression"
                                                                               : "move",
                                         node->name);
  return text == NULL ? "fold" : text;
}

/* An output becomes a constant. Adopts owned data. */
static tenon_status_t replace_output(fold_t* fold, uint32_t output,
                                     const tenon__weights_t* weights) {
  uint32_t constant = 0;
  TENON_TRY(tenon__patch_add_constant(fold->rewriter, weights, &constant));
  tenon__patch_replace(fold->rewriter, node_of(fold)->outputs[output], constant);
  return TENON_OK;
}

static tenon__weights_t weights_of(fold_t* fold, const tenon_tensor_view_t* view, size_t size) {
  return (tenon__weights_t){.name = "",
                            .dtype = view->dtype,
                            .rank = view->rank,
                            .dims = view->dims,
                            .data = view->data,
                            .size_bytes = size,
                            .owned = true,
                            .derivation = derivation(fold)};
}

static bool is_read(const fold_t* fold, uint32_t value) {
  return value != TENON_NONE && tenon__rewriter_use_count(fold->rewriter, fold->graph, value) > 0;
}

/* Are all elements of a value known numbers? Contents are whole numbers, and do not tell -0 from 0.
 */
static bool is_known(const fold_t* fold, uint32_t value) {
  const tenon__value_node_t* node = tenon__rewriter_value(fold->rewriter, fold->graph, value);
  const char type_class = tenon__dtype_class(node->type.dtype);
  if (node->type.contents == NULL || type_class == 's' || type_class == 'c' || type_class == 'x') {
    return false;
  }
  int64_t number = 0;
  for (uint32_t i = 0; i < node->type.content_count; ++i) {
    if (!tenon__dim_known(fold->rewriter->network->pool, node->type.contents[i], &number) ||
        (type_class == 'f' && number == 0)) {
      return false;
    }
  }
  return true;
}

static void write_contents(const fold_t* fold, uint32_t value, const tenon_tensor_view_t* view) {
  const tenon__value_node_t* node = tenon__rewriter_value(fold->rewriter, fold->graph, value);
  for (uint32_t i = 0; i < node->type.content_count; ++i) {
    tenon__scalar_t scalar = {0};
    (void)tenon__dim_known(fold->rewriter->network->pool, node->type.contents[i], &scalar.i);
    tenon__element_store(view->data, view->dtype, i, scalar, TENON_DTYPE_INT64);
  }
}

static tenon_status_t fold_known(fold_t* fold, uint32_t output) {
  tenon__rewriter_t* rewriter = fold->rewriter;
  const uint32_t value = node_of(fold)->outputs[output];
  tenon_tensor_view_t view;
  size_t size = 0;
  const tenon_status_t status = tenon__allocate_output(rewriter, fold->graph, value, &view, &size);
  if (status != TENON_OK) {
    return status == TENON_ERROR_UNSUPPORTED ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
  }
  if (!tenon__patch_begin(rewriter, "fold constants", fold->graph, fold->node)) {
    tenon__free(rewriter->network->allocator, view.data, size);
    return TENON_OK;
  }
  write_contents(fold, value, &view);
  const tenon__weights_t weights = weights_of(fold, &view, size);
  return tenon__patch_settle(rewriter, replace_output(fold, output, &weights));
}

static bool inputs_are_constant(const fold_t* fold, const tenon__node_t* node) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] != TENON_NONE &&
        tenon__rewriter_constant(fold->rewriter, fold->graph, node->inputs[i]) == NULL) {
      return false;
    }
  }
  return true;
}

/* Bytes of a value, or more than `limit` when it has more or its extents are not known. */
static uint64_t output_bytes(const fold_t* fold, uint32_t index, uint64_t limit) {
  const tenon__value_node_t* value = tenon__rewriter_value(fold->rewriter, fold->graph, index);
  uint64_t count = 0;
  size_t bytes = 0;
  return tenon__type_element_count(fold->rewriter->network->pool, &value->type, &count) &&
                 tenon__dtype_bytes(value->type.dtype, count, &bytes)
             ? bytes
             : limit + 1;
}

static uint64_t size_of_constant(const fold_t* fold, uint32_t value) {
  const tenon__weights_t* weights = tenon__rewriter_constant(fold->rewriter, fold->graph, value);
  return weights == NULL ? 0 : weights->size_bytes;
}

/* How many bytes of result a node of constants makes for each byte that it reads. */
static double expansion(const fold_t* fold, const tenon__node_t* node) {
  uint64_t read = 1;
  uint64_t made = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    read += size_of_constant(fold, node->inputs[i]);
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    made += node->outputs[i] == TENON_NONE ? 0 : output_bytes(fold, node->outputs[i], SIZE_LIMIT);
  }
  return (double)made / (double)read;
}

static const reader_t* reader_of(fold_t* fold, uint32_t user) {
  reader_t* reader = &fold->readers[user == fold->node ? 0 : 1];
  if (!reader->is_known || reader->node != user) {
    const tenon__node_t* node = tenon__rewriter_node(fold->rewriter, fold->graph, user);
    const bool is_constant = inputs_are_constant(fold, node);
    *reader = (reader_t){true, user, is_constant, is_constant ? expansion(fold, node) : 0};
  }
  return reader;
}

/* Are all who read a constant nodes of constants, whose results together are no larger? Then its
 * bytes go as soon as they are all folded: a matrix that is cut into gates, say. */
static bool goes_away(fold_t* fold, uint32_t value, uint64_t size) {
  const tenon__rewriter_t* rewriter = fold->rewriter;
  uint32_t count = 0;
  uint32_t last = TENON_NONE;
  double made = 0;
  uint32_t use = tenon__rewriter_first_use(rewriter, fold->graph, value);
  for (; use != TENON_NONE && count < MOST_USES; use = tenon__rewriter_use(rewriter, use)->next) {
    const uint32_t user = tenon__rewriter_use(rewriter, use)->node;
    const reader_t* reader = reader_of(fold, user);
    if (!reader->is_constant) {
      return false;
    }
    made += user == last ? 0 : reader->expansion * (double)size;
    last = user;
    ++count;
  }
  return count == tenon__rewriter_use_count(rewriter, fold->graph, value) &&
         made <= (double)(size + GROWTH_LIMIT);
}

/* Bytes of inputs that go with the node. */
static uint64_t vanishing_bytes(fold_t* fold) {
  const tenon__node_t* node = node_of(fold);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint64_t size = size_of_constant(fold, node->inputs[i]);
    bool is_first = true;
    for (uint32_t k = 0; k < i; ++k) {
      is_first = is_first && node->inputs[k] != node->inputs[i];
    }
    if (size > 0 && is_first && goes_away(fold, node->inputs[i], size)) {
      bytes += size;
    }
  }
  return bytes;
}

/* A move of one constant that is a view of it: its bytes, or a copy in another order. Else
 * UNSUPPORTED. */
static tenon_status_t fold_view(fold_t* fold, uint32_t output) {
  tenon__rewriter_t* rewriter = fold->rewriter;
  const tenon__index_map_t* map = &node_of(fold)->maps[output];
  const uint32_t value = node_of(fold)->inputs[map->sources[0].input];
  const tenon__weights_t source = *tenon__rewriter_constant(rewriter, fold->graph, value);
  tenon__dim_pool_t* pool = rewriter->network->pool;
  int64_t dims[TENON_RANK_LIMIT];
  tenon_tensor_view_t view = tenon__weights_view(&source);
  for (uint32_t i = 0; i < map->rank; ++i) {
    if (!tenon__dim_known(pool, map->dims[i], &dims[i])) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  if (map->kind == TENON_MAP_LINEAR && map->source_count == 1 && map->fill == TENON_FILL_NONE) {
    tenon__weights_t weights = source;
    weights.name = "";
    weights.rank = map->rank;
    weights.dims = dims;
    weights.owned = false;
    weights.digest_known = false;
    weights.derivation = derivation(fold);
    return replace_output(fold, output, &weights);
  }
  if (!tenon__view_of_constant(pool, map, &source, fold->arena, &view)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  uint32_t weights = 0;
  uint32_t constant = 0;
  TENON_TRY(tenon__weights_from_view(rewriter->network, "", &view, false, NULL, &weights));
  rewriter->network->weights[weights].derivation =
      tenon__arena_copy_string(&rewriter->network->arena, derivation(fold));
  TENON_TRY(tenon__patch_add_value_of(rewriter, NULL, weights, &constant));
  tenon__patch_replace(rewriter, node_of(fold)->outputs[output], constant);
  return TENON_OK;
}

/* The node's expression, or that of a move. */
static tenon_status_t expression_of(fold_t* fold, uint32_t output,
                                    const tenon__expression_t** out_expression) {
  const tenon__node_t* node = node_of(fold);
  *out_expression = node->expression;
  if (node->expression != NULL || node->maps == NULL) {
    return TENON_OK;
  }
  tenon__expression_t* expression = tenon__arena_allocate(fold->arena, 1, sizeof(*expression));
  tenon__type_t* inputs =
      tenon__arena_allocate(fold->arena, node->input_count + 1u, sizeof(*inputs));
  TENON_TRY_MEMORY(expression != NULL && inputs != NULL);
  TENON_EACH_INPUT(i, node) {
    inputs[i] = tenon__rewriter_value(fold->rewriter, fold->graph, node->inputs[i])->type;
  }
  TENON_TRY(tenon__expression_from_move(
      fold->rewriter->network->pool, &node->maps[output],
      tenon__rewriter_value(fold->rewriter, fold->graph, node->outputs[output])->type.dtype, inputs,
      node->input_count, fold->arena, NULL, expression));
  *out_expression = expression;
  return TENON_OK;
}

static tenon_status_t run_expression(fold_t* fold, const tenon__expression_t* expression,
                                     const tenon_tensor_view_t* outputs) {
  const tenon_program_t* program = &expression->program;
  tenon_tensor_view_t* tensors =
      tenon__arena_allocate(fold->arena, program->operand_count + 1u, sizeof(*tensors));
  TENON_TRY_MEMORY(tensors != NULL);
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    tensors[k] = tenon__weights_view(tenon__rewriter_constant(
        fold->rewriter, fold->graph, node_of(fold)->inputs[program->operands[k].index]));
  }
  return tenon__evaluate_expression(fold->rewriter->network->pool, expression, tensors, outputs,
                                    fold->arena);
}

/* Output `index` of a move that puts constants one after the other, which no expression needs to
 * choose from for each element. */
static bool join(fold_t* fold, uint32_t index, const tenon_tensor_view_t* view) {
  const tenon__node_t* node = node_of(fold);
  const tenon__index_map_t* map = &node->maps[index];
  tenon_tensor_view_t* sources =
      tenon__arena_allocate(fold->arena, map->source_count + 1u, sizeof(*sources));
  if (sources == NULL) {
    return false;
  }
  for (uint32_t s = 0; s < map->source_count; ++s) {
    sources[s] = tenon__weights_view(
        tenon__rewriter_constant(fold->rewriter, fold->graph, node->inputs[map->sources[s].input]));
  }
  return tenon__join_constants(fold->rewriter->network->pool, map, sources, fold->arena, view);
}

/* Computes all outputs into `views`. */
static tenon_status_t compute(fold_t* fold, const tenon_tensor_view_t* views) {
  const tenon__node_t* node = node_of(fold);
  const tenon__optimize_options_t* options = fold->rewriter->options;
  if (node->expression == NULL && node->maps == NULL) {
    return options->fold == NULL ? TENON_ERROR_UNSUPPORTED
                                 : options->fold(options->fold_user, fold->rewriter->network,
                                                 fold->graph, fold->node, views);
  }
  const tenon__expression_t* expression = NULL;
  if (node->expression != NULL) {
    return run_expression(fold, node->expression, views);
  }
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK && i < node->output_count; ++i) {
    if (views[i].data != NULL && !join(fold, i, &views[i])) {
      status = expression_of(fold, i, &expression);
      status = status == TENON_OK ? run_expression(fold, expression, &views[i]) : status;
    }
  }
  return status;
}

static void free_outputs(const fold_t* fold, tenon_tensor_view_t* views, const size_t* sizes) {
  for (uint32_t i = 0; i < node_of(fold)->output_count; ++i) {
    if (views[i].data != NULL) {
      tenon__free(fold->rewriter->network->allocator, views[i].data, sizes[i]);
    }
  }
}

/* Memory for all outputs: UNSUPPORTED when they would make the network too large. */
static tenon_status_t make_outputs(fold_t* fold, tenon_tensor_view_t* views, size_t* sizes) {
  const tenon__node_t* node = node_of(fold);
  const uint64_t limit = vanishing_bytes(fold) + GROWTH_LIMIT;
  uint64_t total = 0;
  TENON_EACH_OUTPUT(i, node) {
    if (tenon__rewriter_value(fold->rewriter, fold->graph, node->outputs[i])->type.dtype ==
        TENON_DTYPE_STRING) {
      return TENON_ERROR_UNSUPPORTED;
    }
    total += output_bytes(fold, node->outputs[i], limit);
    if (total > limit) {
      return TENON_ERROR_UNSUPPORTED;
    }
    TENON_TRY(tenon__allocate_output(fold->rewriter, fold->graph, node->outputs[i], &views[i],
                                     &sizes[i]));
  }
  return TENON_OK;
}

static tenon_status_t replace_all(fold_t* fold, tenon_tensor_view_t* views, size_t* sizes) {
  for (uint32_t i = 0; i < node_of(fold)->output_count; ++i) {
    if (views[i].data == NULL) {
      continue;
    }
    const tenon__weights_t weights = weights_of(fold, &views[i], sizes[i]);
    views[i].data = NULL; /* adopted, whatever happens */
    TENON_TRY(replace_output(fold, i, &weights));
  }
  return TENON_OK;
}

static tenon_status_t fold_computed(fold_t* fold) {
  tenon__rewriter_t* rewriter = fold->rewriter;
  const uint32_t count = node_of(fold)->output_count;
  tenon_tensor_view_t* views = tenon__arena_allocate(fold->arena, count + 1u, sizeof(*views));
  size_t* sizes = tenon__arena_allocate(fold->arena, count + 1u, sizeof(*sizes));
  TENON_TRY_MEMORY(views != NULL && sizes != NULL);
  tenon_status_t status = make_outputs(fold, views, sizes);
  if (status == TENON_OK) {
    status = compute(fold, views);
  }
  const bool begun =
      status == TENON_OK && tenon__patch_begin(rewriter, "fold constants", fold->graph, fold->node);
  if (begun) {
    status = replace_all(fold, views, sizes);
  }
  free_outputs(fold, views, sizes);
  if (begun) {
    return tenon__patch_settle(rewriter, status);
  }
  return status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK;
}

/* Moves of one constant, output by output. */
static tenon_status_t fold_views(fold_t* fold, bool* out_done) {
  tenon__rewriter_t* rewriter = fold->rewriter;
  const uint64_t limit = vanishing_bytes(fold) + GROWTH_LIMIT;
  for (uint32_t i = 0; i < node_of(fold)->output_count; ++i) {
    const tenon__node_t* node = node_of(fold);
    const uint32_t output = node->outputs[i];
    const tenon__index_map_t* map = &node->maps[i];
    if (!is_read(fold, output) || map->source_count != 1 || map->fill != TENON_FILL_NONE) {
      continue;
    }
    const bool fits = map->kind == TENON_MAP_LINEAR || output_bytes(fold, output, limit) <= limit;
    if (!fits || !tenon__patch_begin(rewriter, "fold constants", fold->graph, fold->node)) {
      continue;
    }
    const tenon_status_t status = fold_view(fold, i);
    *out_done = *out_done || status == TENON_OK;
    TENON_TRY(tenon__patch_settle(rewriter, status));
  }
  return TENON_OK;
}

/* Contents do not tell -0 from 0: floats that can be computed from constants are. */
static bool is_computed(const fold_t* fold, const tenon__node_t* node, uint32_t value) {
  const tenon_dtype_t dtype = tenon__rewriter_value(fold->rewriter, fold->graph, value)->type.dtype;
  return tenon__dtype_class(dtype) == 'f' && (node->expression != NULL || node->maps != NULL) &&
         inputs_are_constant(fold, node);
}

/* Folding may be what tells the new extents of a node. Those that hold another number of elements
 * are an error of the network: the node stays, and its rules say so with its name. */
static bool keeps_elements(const fold_t* fold, const tenon__node_t* node) {
  bool keeps = true;
  for (uint32_t i = 0; node->maps != NULL && i < node->output_count && keeps; ++i) {
    const tenon__index_map_t* map = &node->maps[i];
    keeps =
        map->source_count != 1 ||
        tenon__index_map_keeps_elements(
            fold->rewriter->network->pool, map,
            &tenon__rewriter_value(fold->rewriter, fold->graph, node->inputs[map->sources[0].input])
                 ->type);
  }
  return keeps;
}

static tenon_status_t fold_node(fold_t* fold) {
  const tenon__node_t* node = node_of(fold);
  if (!keeps_elements(fold, node)) {
    return TENON_OK;
  }
  const bool is_pure =
      node->op == NULL || (!node->op->traits.impure && !node->op->traits.not_foldable);
  const uint32_t known_count = is_pure ? node->output_count : 0;
  for (uint32_t i = 0; i < known_count; ++i) {
    const uint32_t value = node->outputs[i];
    if (is_read(fold, value) && is_known(fold, value) && !is_computed(fold, node, value)) {
      return fold_known(fold, i);
    }
  }
  const bool is_control = node->op != NULL && node->op->descriptor.control != NULL;
  bool any_read = false;
  for (uint32_t i = 0; i < node->output_count; ++i) {
    any_read = any_read || is_read(fold, node->outputs[i]);
  }
  if (!is_pure || is_control || !any_read || !inputs_are_constant(fold, node)) {
    return TENON_OK;
  }
  bool done = false;
  if (node->maps != NULL) {
    TENON_TRY(fold_views(fold, &done));
  }
  return done ? TENON_OK : fold_computed(fold);
}

tenon_status_t tenon__pass_fold_constants(tenon__rewriter_t* rewriter, uint32_t graph,
                                          uint32_t node) {
  fold_t fold = {.rewriter = rewriter, .graph = graph, .node = node, .arena = &rewriter->scratch};
  return fold_node(&fold);
}
