/* Patches: the only code of the optimiser that changes a network. */
#include "core/optimizer/patch.h"

#include <assert.h>
#include <stdio.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/verify_rules.h"

bool tenon__patch_begin(tenon__rewriter_t* rewriter, const char* label, uint32_t graph,
                        uint32_t about) {
  assert(!rewriter->is_open);
  const uint32_t limit = rewriter->options->patch_limit;
  if (limit != 0 && rewriter->patch_count >= limit) {
    return false;
  }
  const tenon__graph_t* tables = tenon__rewriter_graph(rewriter, graph);
  rewriter->is_open = true;
  rewriter->label = label;
  rewriter->patch_graph = graph;
  rewriter->patch_order = about == TENON_NONE ? tables->node_count : tables->nodes[about].order;
  rewriter->patch_node = about == TENON_NONE ? "" : tables->nodes[about].name;
  rewriter->first_new_node = tables->node_count;
  rewriter->first_new_value = tables->value_count;
  return true;
}

/* What was added is taken up; nodes get their place. */
static tenon_status_t added(tenon__rewriter_t* rewriter, tenon_status_t status) {
  const uint32_t graph = rewriter->patch_graph;
  const uint32_t before = rewriter->graphs[graph].node_count;
  if (status == TENON_ERROR_OUT_OF_MEMORY || !tenon__rewriter_take_up(rewriter, graph)) {
    rewriter->is_out_of_memory = true;
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t n = before; n < rewriter->graphs[graph].node_count; ++n) {
    tenon__rewriter_node(rewriter, graph, n)->order = rewriter->patch_order;
  }
  return status;
}

tenon_status_t tenon__patch_add_node(tenon__rewriter_t* rewriter,
                                     const tenon__node_request_t* request, uint32_t* out_node) {
  return added(rewriter, tenon__graph_add_node(rewriter->network, rewriter->patch_graph, request,
                                               rewriter->explain, out_node));
}

tenon_status_t tenon__patch_add_form(tenon__rewriter_t* rewriter,
                                     const tenon__form_request_t* request, uint32_t* out_node) {
  return added(rewriter, tenon__graph_add_form(rewriter->network, rewriter->patch_graph, request,
                                               NULL, out_node));
}

tenon_status_t tenon__patch_take_up(tenon__rewriter_t* rewriter) {
  return added(rewriter,
               tenon__rewriter_take_up_graphs(rewriter) ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY);
}

/* The node's own expression or move, or its text. */
static tenon_status_t add_form_again(tenon__rewriter_t* rewriter, uint32_t graph,
                                     const tenon__node_t* node, tenon__form_request_t* request,
                                     uint32_t* out_node) {
  if (node->source != NULL) {
    request->text = node->source->text.source;
    request->input_names = node->source->input_names;
    return tenon__patch_add_form(rewriter, request, out_node);
  }
  tenon__inferred_shape_t* shapes =
      tenon__arena_allocate(&rewriter->scratch, node->output_count + 1u, sizeof(*shapes));
  TENON_TRY_MEMORY(shapes != NULL);
  TENON_EACH_OUTPUT(i, node) {
    const tenon__type_t* type = &tenon__rewriter_value(rewriter, graph, node->outputs[i])->type;
    shapes[i] = (tenon__inferred_shape_t){type->rank, type->dims};
    request->dtype = type->dtype;
  }
  request->map = node->form == TENON_NODE_MOVE ? node->maps : NULL;
  request->expression = node->form == TENON_NODE_MOVE ? NULL : node->expression;
  request->shapes = shapes;
  return tenon__patch_add_form(rewriter, request, out_node);
}

tenon_status_t tenon__patch_add_again(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index,
                                      const uint32_t* inputs, uint32_t input_count,
                                      uint32_t* out_node) {
  const tenon__node_t node = *tenon__rewriter_node(rewriter, graph, index);
  const bool moves = graph != rewriter->patch_graph;
  const char* name = moves ? node.name : NULL;
  if (node.op == NULL && node.source == NULL && !moves) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (node.op == NULL) {
    tenon__form_request_t form = {.name = name, .inputs = inputs, .input_count = input_count};
    return add_form_again(rewriter, graph, &node, &form, out_node);
  }
  tenon__arena_t* arena = &rewriter->scratch;
  tenon__scope_attribute_t* attributes =
      tenon__arena_allocate(arena, node.attribute_count + 1u, sizeof(*attributes));
  bool* wanted = tenon__arena_allocate(arena, node.output_count + 1u, sizeof(*wanted));
  const char** names = tenon__arena_allocate(arena, node.output_count + 1u, sizeof(*names));
  TENON_TRY_MEMORY(attributes != NULL && wanted != NULL && names != NULL);
  tenon__node_request_t request = {.op = node.op,
                                   .name = name,
                                   .input_count = input_count,
                                   .inputs = inputs,
                                   .output_count = node.output_count,
                                   .output_names = names,
                                   .wanted = wanted,
                                   .attributes = attributes,
                                   .body_count = moves ? node.body_count : 0,
                                   .bodies = node.bodies};
  for (uint32_t i = 0; i < node.output_count; ++i) {
    wanted[i] = node.outputs[i] != TENON_NONE;
    names[i] = wanted[i] ? tenon__rewriter_value(rewriter, graph, node.outputs[i])->name : NULL;
  }
  for (uint32_t i = 0; i < node.attribute_count; ++i) {
    if (node.attributes[i].defined) {
      attributes[request.attribute_count++] = node.attributes[i];
    }
  }
  for (uint32_t b = 0; b < request.body_count; ++b) {
    tenon__rewriter_graph(rewriter, node.bodies[b])->parent = rewriter->patch_graph;
    tenon__rewriter_graph(rewriter, node.bodies[b])->owner = TENON_NONE;
  }
  return tenon__patch_add_node(rewriter, &request, out_node);
}

tenon_status_t tenon__patch_output_of(tenon__rewriter_t* rewriter, uint32_t value,
                                      uint32_t* out_value) {
  static const char* const names[] = {"x"};
  const uint32_t graph = rewriter->patch_graph;
  const tenon__value_node_t* source = tenon__rewriter_value(rewriter, graph, value);
  if (source->producer != TENON_NONE && !tenon__rewriter_leaves(rewriter, graph, value)) {
    *out_value = value;
    return TENON_OK;
  }
  uint32_t node = 0;
  if (source->type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon__form_request_t copy = {.name = source->name,
                                      .inputs = &value,
                                      .input_count = 1,
                                      .text = "y = x",
                                      .input_names = names};
  TENON_TRY(tenon__patch_add_form(rewriter, &copy, &node));
  *out_value = tenon__rewriter_node(rewriter, graph, node)->outputs[0];
  return TENON_OK;
}

tenon_status_t tenon__patch_add_value_of(tenon__rewriter_t* rewriter, const char* name,
                                         uint32_t weights, uint32_t* out_value) {
  return added(rewriter, tenon__graph_add_constant(rewriter->network, rewriter->patch_graph, name,
                                                   weights, out_value));
}

tenon_status_t tenon__patch_add_constant(tenon__rewriter_t* rewriter,
                                         const tenon__weights_t* weights, uint32_t* out_value) {
  uint32_t index = 0;
  const tenon_status_t status = tenon__network_add_weights(rewriter->network, weights, &index);
  return status != TENON_OK ? added(rewriter, status)
                            : tenon__patch_add_value_of(rewriter, NULL, index, out_value);
}

/* Outputs of the graph and updates of states. */
static void redirect_leaving(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__graph_t* tables = tenon__rewriter_graph(rewriter, graph);
  uint32_t moved = 0;
  for (uint32_t i = 0; i < tables->output_count; ++i) {
    if (tables->outputs[i] == old) {
      tables->outputs[i] = value;
      tables->values[value].flags |= TENON_VALUE_IS_OUTPUT;
      ++moved;
    }
  }
  const uint32_t state_count = graph == 0 ? rewriter->network->state_count : 0;
  for (uint32_t i = 0; i < state_count; ++i) {
    if (rewriter->network->states[i].update == old) {
      rewriter->network->states[i].update = value;
      ++moved;
    }
  }
  tables->values[old].flags &= ~(uint32_t)TENON_VALUE_IS_OUTPUT;
  tenon__value_uses_t* values = rewriter->graphs[graph].values;
  values[old].use_count -= moved;
  values[old].leave_count -= moved;
  values[value].use_count += moved;
  values[value].leave_count += moved;
}

static void set_input(tenon__rewriter_t* rewriter, uint32_t node, uint32_t input, uint32_t value) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__node_t* tables = tenon__rewriter_node(rewriter, graph, node);
  const uint32_t old = tables->inputs[input];
  tenon__rewriter_unlink(rewriter, graph, node, input);
  tables->inputs[input] = value;
  tenon__rewriter_link(rewriter, graph, node, input);
  tenon__rewriter_touch(rewriter, graph, node);
  if (old != TENON_NONE) {
    tenon__rewriter_touch_around(rewriter, graph, old);
  }
}

void tenon__patch_redirect(tenon__rewriter_t* rewriter, uint32_t old, uint32_t value) {
  uint32_t use = tenon__rewriter_first_use(rewriter, rewriter->patch_graph, old);
  while (use != TENON_NONE) {
    const tenon__use_t entry = rewriter->uses[use];
    set_input(rewriter, entry.node, entry.input, value);
    use = tenon__rewriter_first_use(rewriter, rewriter->patch_graph, old);
  }
}

bool tenon__patch_fits(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t old,
                       uint32_t value) {
  return tenon__type_agrees(rewriter->network->pool,
                            &tenon__rewriter_value(rewriter, graph, old)->type,
                            &tenon__rewriter_value(rewriter, graph, value)->type);
}

static void fix_symbol(tenon__dim_pool_t* pool, tenon__symbol_kind_t kind, uint32_t handle,
                       uint32_t index, tenon_dim_t dim) {
  const tenon_dim_t symbol = tenon__symbol_find(pool, kind, handle, index);
  int64_t value = 0;
  if (!tenon__dim_equal(symbol, TENON_DIM_INVALID) && tenon__dim_known(pool, dim, &value)) {
    tenon__symbol_set_range(pool, tenon__dim_get(pool, symbol).index, value, value);
  }
}

/* Symbols that were read from another value are read from this one: where its extents and elements
 * are numbers, so are they, and no run need learn them. */
static void fix_symbols(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index) {
  tenon__dim_pool_t* pool = rewriter->network->pool;
  const tenon__value_node_t* value = tenon__rewriter_value(rewriter, graph, index);
  const uint32_t rank = value->type.rank == TENON_NONE ? 0 : value->type.rank;
  uint32_t handle = rewriter->graphs[graph].values[index].handle;
  for (; handle != TENON_NONE; handle = rewriter->handle_next[handle]) {
    const uint32_t axis = rewriter->network->handles[handle].axis;
    for (uint32_t i = 0; i < value->type.content_count; ++i) {
      fix_symbol(pool, TENON_SYMBOL_CONTENT, handle, i, value->type.contents[i]);
    }
    for (uint32_t d = 0; d < rank; ++d) {
      if (axis == TENON_NONE || axis == d) {
        fix_symbol(pool, TENON_SYMBOL_EXTENT, handle, d, value->type.dims[d]);
      }
    }
  }
}

void tenon__patch_replace(tenon__rewriter_t* rewriter, uint32_t old_index, uint32_t index) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__value_node_t* old = tenon__rewriter_value(rewriter, graph, old_index);
  tenon__value_node_t* value = tenon__rewriter_value(rewriter, graph, index);
  assert(old_index != index && tenon__type_same_elements(&old->type, &value->type));
  assert(old->type.rank == value->type.rank || old->type.rank == TENON_NONE ||
         value->type.rank == TENON_NONE);
  tenon__patch_redirect(rewriter, old_index, index);
  if (tenon__rewriter_leaves(rewriter, graph, old_index)) {
    redirect_leaving(rewriter, old_index, index);
  }
  tenon__rewriter_move_handles(rewriter, graph, old_index, graph, index);
  if (value->handle == TENON_NONE) {
    value->handle = old->handle;
  }
  if (value->type.contents == NULL) {
    value->type.contents = old->type.contents;
    value->type.content_count = old->type.content_count;
  }
  fix_symbols(rewriter, graph, index);
  if (index >= rewriter->first_new_value) {
    const char* name = value->name;
    value->name = old->name;
    old->name = name;
  }
  tenon__rewriter_touch_around(rewriter, graph, old_index);
  tenon__rewriter_touch_around(rewriter, graph, index);
}

void tenon__patch_swap_names(tenon__rewriter_t* rewriter, uint32_t node, uint32_t other) {
  tenon__node_t* a = tenon__rewriter_node(rewriter, rewriter->patch_graph, node);
  tenon__node_t* b = tenon__rewriter_node(rewriter, rewriter->patch_graph, other);
  const char* name = a->name;
  a->name = b->name;
  b->name = name;
}

void tenon__patch_remove(tenon__rewriter_t* rewriter, uint32_t index) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  TENON_EACH_OUTPUT(i, node) {
    assert(tenon__rewriter_use_count(rewriter, graph, node->outputs[i]) == 0);
    tenon__rewriter_value(rewriter, graph, node->outputs[i])->alive = false;
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    tenon__rewriter_unlink(rewriter, graph, index, i);
  }
  node->alive = false;
  TENON_EACH_INPUT(i, node) {
    tenon__rewriter_touch_around(rewriter, graph, node->inputs[i]);
  }
}

void tenon__patch_drop_output(tenon__rewriter_t* rewriter, uint32_t index, uint32_t output) {
  tenon__node_t* node = tenon__rewriter_node(rewriter, rewriter->patch_graph, index);
  assert(tenon__rewriter_use_count(rewriter, rewriter->patch_graph, node->outputs[output]) == 0);
  tenon__rewriter_value(rewriter, rewriter->patch_graph, node->outputs[output])->alive = false;
  node->outputs[output] = TENON_NONE;
  tenon__rewriter_touch(rewriter, rewriter->patch_graph, index);
}

void tenon__patch_drop_captured(tenon__rewriter_t* rewriter, uint32_t index, uint32_t input,
                                uint32_t parameter) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  const uint32_t dropped = node->inputs[input];
  for (uint32_t i = input; i < node->input_count; ++i) {
    tenon__rewriter_unlink(rewriter, graph, index, i);
  }
  --node->input_count;
  for (uint32_t i = input; i < node->input_count; ++i) {
    node->inputs[i] = node->inputs[i + 1];
    tenon__rewriter_link(rewriter, graph, index, i);
  }
  for (uint32_t b = 0; b < node->body_count; ++b) {
    tenon__graph_t* body = tenon__rewriter_graph(rewriter, node->bodies[b]);
    const uint32_t value = body->inputs[parameter];
    assert(tenon__rewriter_use_count(rewriter, node->bodies[b], value) == 0 || body->fault != NULL);
    body->values[value].alive = false;
    body->values[value].flags &= ~(uint32_t)TENON_VALUE_IS_INPUT;
    --body->input_count;
    for (uint32_t i = parameter; i < body->input_count; ++i) {
      body->inputs[i] = body->inputs[i + 1];
    }
  }
  tenon__rewriter_touch(rewriter, graph, index);
  if (dropped != TENON_NONE) {
    tenon__rewriter_touch_around(rewriter, graph, dropped);
  }
}

void tenon__patch_take_handles(tenon__rewriter_t* rewriter, uint32_t from_graph, uint32_t from,
                               uint32_t value) {
  tenon__rewriter_move_handles(rewriter, from_graph, from, rewriter->patch_graph, value);
  fix_symbols(rewriter, rewriter->patch_graph, value);
}

static tenon_status_t record(tenon__rewriter_t* rewriter) {
  tenon__optimize_report_t* report = rewriter->report;
  if (report == NULL) {
    return TENON_OK;
  }
  const char* node = tenon__arena_copy_string(&report->arena, rewriter->patch_node);
  const char* label = tenon__arena_copy_string(&report->arena, rewriter->label);
  TENON_TRY_MEMORY(node != NULL && label != NULL &&
                   TENON_GROW(report->arena.allocator, report->patches, report->patch_capacity,
                              report->patch_count + 1u));
  report->patches[report->patch_count++] = (tenon__patch_record_t){label, node};
  return TENON_OK;
}

static tenon_status_t verify(tenon__rewriter_t* rewriter) {
  char prefix[256];
  (void)snprintf(prefix, sizeof(prefix), "after patch %u, %s at '%s': ", rewriter->patch_count,
                 rewriter->label, rewriter->patch_node);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, rewriter->sink, prefix);
  return tenon__network_verify(rewriter->network, &prefixed.sink);
}

tenon_status_t tenon__patch_end(tenon__rewriter_t* rewriter) {
  const uint32_t graph = rewriter->patch_graph;
  rewriter->is_open = false;
  ++rewriter->patch_count;
  for (uint32_t n = rewriter->first_new_node; n < rewriter->graphs[graph].node_count; ++n) {
    const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, n);
    const uint32_t input_count = node->alive ? node->input_count : 0;
    tenon__rewriter_touch(rewriter, graph, n);
    for (uint32_t i = 0; i < input_count; ++i) {
      if (node->inputs[i] != TENON_NONE) {
        tenon__rewriter_touch_around(rewriter, graph, node->inputs[i]);
      }
    }
  }
  TENON_TRY_MEMORY(!tenon__rewriter_failed(rewriter));
  TENON_TRY(record(rewriter));
  if (rewriter->options->verifies) {
    TENON_TRY(verify(rewriter));
  }
  return TENON_OK;
}

tenon_status_t tenon__patch_settle(tenon__rewriter_t* rewriter, tenon_status_t status) {
  if (status == TENON_OK) {
    return tenon__patch_end(rewriter);
  }
  tenon__patch_cancel(rewriter);
  return status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK;
}

void tenon__patch_cancel(tenon__rewriter_t* rewriter) {
  const uint32_t graph = rewriter->patch_graph;
  tenon__graph_t* tables = tenon__rewriter_graph(rewriter, graph);
  rewriter->is_open = false;
  for (uint32_t n = rewriter->graphs[graph].node_count; n > rewriter->first_new_node; --n) {
    tenon__node_t* node = &tables->nodes[n - 1];
    const uint32_t input_count = node->alive ? node->input_count : 0;
    for (uint32_t i = 0; i < input_count; ++i) {
      tenon__rewriter_unlink(rewriter, graph, n - 1, i);
    }
    node->alive = false;
  }
  for (uint32_t v = rewriter->first_new_value; v < tables->value_count; ++v) {
    tables->values[v].alive = false;
  }
}
