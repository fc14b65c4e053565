/*
 * A choice whose condition is known becomes the nodes of the branch that is taken. They are added
 * anew, so that shapes which were open, because the branches differed, become what the branch says.
 * Bodies inside the branch move to the graph that it dissolves into.
 */
#include "core/base/status.h"
#include "core/network/control.h"
#include "core/network/fault.h"
#include "core/network/order.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

typedef struct inlining_t {
  tenon__rewriter_t* rewriter;
  uint32_t graph;
  uint32_t taken;   /* the body */
  uint32_t* values; /* for each value of the branch: the value here, or TENON_NONE */
} inlining_t;

/* A constant of the branch is repeated here when first read. */
static tenon_status_t value_here(inlining_t* inlining, uint32_t value, uint32_t* out_value) {
  *out_value = TENON_NONE;
  if (value == TENON_NONE) {
    return TENON_OK;
  }
  if (inlining->values[value] == TENON_NONE) {
    const tenon__value_node_t* source =
        tenon__rewriter_value(inlining->rewriter, inlining->taken, value);
    TENON_TRY(tenon__patch_add_value_of(inlining->rewriter, source->name, source->weights,
                                        &inlining->values[value]));
    tenon__patch_take_handles(inlining->rewriter, inlining->taken, value, inlining->values[value]);
  }
  *out_value = inlining->values[value];
  return TENON_OK;
}

static tenon_status_t add_again(inlining_t* inlining, uint32_t index) {
  tenon__rewriter_t* rewriter = inlining->rewriter;
  const tenon__node_t node = *tenon__rewriter_node(rewriter, inlining->taken, index);
  uint32_t* inputs =
      tenon__arena_allocate(&rewriter->scratch, node.input_count + 1u, sizeof(*inputs));
  uint32_t made = 0;
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t i = 0; i < node.input_count; ++i) {
    TENON_TRY(value_here(inlining, node.inputs[i], &inputs[i]));
  }
  TENON_TRY(
      tenon__patch_add_again(rewriter, inlining->taken, index, inputs, node.input_count, &made));
  const tenon__node_t* here = tenon__rewriter_node(rewriter, inlining->graph, made);
  TENON_EACH_OUTPUT(i, &node) {
    inlining->values[node.outputs[i]] = here->outputs[i];
    tenon__patch_take_handles(rewriter, inlining->taken, node.outputs[i], here->outputs[i]);
  }
  return TENON_OK;
}

/* A result that leaves the graph may have to be a copy. */
static tenon_status_t result_here(inlining_t* inlining, uint32_t choice, uint32_t index,
                                  uint32_t* out_value) {
  tenon__rewriter_t* rewriter = inlining->rewriter;
  const uint32_t result = tenon__rewriter_graph(rewriter, inlining->taken)->outputs[index];
  const uint32_t output = tenon__rewriter_node(rewriter, inlining->graph, choice)->outputs[index];
  TENON_TRY(value_here(inlining, result, out_value));
  return tenon__rewriter_leaves(rewriter, inlining->graph, output)
             ? tenon__patch_output_of(rewriter, *out_value, out_value)
             : TENON_OK;
}

/* The nodes of the branch, then copies of results that may not leave the graph as they are. */
static tenon_status_t add_branch(inlining_t* inlining, uint32_t choice, uint32_t* results) {
  tenon__rewriter_t* rewriter = inlining->rewriter;
  const uint32_t* order = NULL;
  uint32_t count = 0;
  TENON_TRY(tenon__graph_order(rewriter->network, inlining->taken, &rewriter->scratch, NULL, &order,
                               &count));
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(add_again(inlining, order[i]));
  }
  TENON_EACH_OUTPUT(i, tenon__rewriter_node(rewriter, inlining->graph, choice)) {
    TENON_TRY(result_here(inlining, choice, i, &results[i]));
  }
  return TENON_OK;
}

/* The choice takes what does not infer, now that more is known: so much for the graph it is in. */
static tenon_status_t fail_to_inline(const inlining_t* inlining, tenon_status_t status,
                                     const char* message) {
  tenon__rewriter_t* rewriter = inlining->rewriter;
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  const char* text = tenon__arena_format(
      &rewriter->network->arena, "'%s' takes its branch '%s', which cannot be put in its place: %s",
      rewriter->patch_node, tenon__rewriter_graph(rewriter, inlining->taken)->name, message);
  return text == NULL ? TENON_ERROR_OUT_OF_MEMORY
                      : tenon__network_fail_in(rewriter->network, inlining->graph, status, text,
                                               rewriter->sink);
}

static tenon_status_t inline_branch(inlining_t* inlining, uint32_t choice,
                                    const tenon__control_layout_t* layout) {
  tenon__rewriter_t* rewriter = inlining->rewriter;
  const tenon__graph_t* body = tenon__rewriter_graph(rewriter, inlining->taken);
  inlining->values =
      tenon__arena_allocate(&rewriter->scratch, body->value_count + 1u, sizeof(uint32_t));
  uint32_t* results =
      tenon__arena_allocate(&rewriter->scratch, body->output_count + 1u, sizeof(*results));
  TENON_TRY_MEMORY(inlining->values != NULL && results != NULL);
  for (uint32_t i = 0; i < body->value_count; ++i) {
    inlining->values[i] = TENON_NONE;
  }
  if (!tenon__patch_begin(rewriter, "choose branch", inlining->graph, choice)) {
    return TENON_OK;
  }
  const tenon__node_t* node = tenon__rewriter_node(rewriter, inlining->graph, choice);
  for (uint32_t i = 0; i < layout->captured_count; ++i) {
    const uint32_t captured = node->inputs[layout->first_value + i];
    inlining->values[body->inputs[i]] = captured;
    tenon__patch_take_handles(rewriter, inlining->taken, body->inputs[i], captured);
  }
  tenon__keeping_sink_t kept;
  tenon__keeping_sink_initialize(&kept);
  rewriter->explain = &kept.sink;
  const tenon_status_t status = add_branch(inlining, choice, results);
  rewriter->explain = NULL;
  if (status != TENON_OK) {
    tenon__patch_cancel(rewriter);
    return fail_to_inline(inlining, status, kept.message);
  }
  TENON_EACH_OUTPUT(i, tenon__rewriter_node(rewriter, inlining->graph, choice)) {
    tenon__patch_replace(
        rewriter, tenon__rewriter_node(rewriter, inlining->graph, choice)->outputs[i], results[i]);
  }
  tenon__patch_remove(rewriter, choice);
  return tenon__patch_end(rewriter);
}

/* What would have to be copied to leave the graph is of a type that an expression copies. */
static bool can_leave(const tenon__rewriter_t* rewriter, uint32_t graph,
                      const tenon__node_t* node) {
  TENON_EACH_OUTPUT(i, node) {
    const tenon__value_node_t* value = tenon__rewriter_value(rewriter, graph, node->outputs[i]);
    const char type_class = tenon__dtype_class(value->type.dtype);
    if (tenon__rewriter_leaves(rewriter, graph, node->outputs[i]) &&
        (value->type.kind != TENON_ARGUMENT_TENSOR || type_class == 's' || type_class == 'c')) {
      return false;
    }
  }
  return true;
}

tenon_status_t tenon__pass_choose_branch(tenon__rewriter_t* rewriter, uint32_t graph,
                                         uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  tenon__control_layout_t layout;
  if (node->body_count != 2 ||
      tenon__control_layout_of(rewriter->network, graph, index, NULL, &layout) != TENON_OK ||
      layout.form != TENON_CONTROL_CHOOSE || !can_leave(rewriter, graph, node)) {
    return TENON_OK;
  }
  const uint32_t taken = tenon__control_taken(rewriter->network, graph, &layout, node->inputs);
  if (taken == TENON_NONE || !tenon__graph_can_run(rewriter->network, node->bodies[taken])) {
    return TENON_OK;
  }
  inlining_t inlining = {.rewriter = rewriter, .graph = graph, .taken = node->bodies[taken]};
  return inline_branch(&inlining, index, &layout);
}
