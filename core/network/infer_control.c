/*
 * Control forms: what bodies' parameters are follows from the node's inputs; what its outputs are
 * follows from the bodies' results. A body whose parameters change is inferred again.
 *
 * A repetition: carried parameters begin with the types of their initial values. An extent that
 * comes out of the body different from how it went in becomes a symbol of the parameter, found when
 * running, and the body is inferred again; each round widens at least one extent, so this ends.
 * Carried values have no contents in the body. Extents of results that a body alone knows become
 * symbols of the node's outputs.
 */
#include "core/network/infer.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/fault.h"
#include "core/network/infer_bodies.h"

static tenon_status_t layout_of(const tenon__inference_t* inference,
                                tenon__control_layout_t* out_layout) {
  const tenon__control_request_t request = {
      inference->graph,       inference->op,     inference->attribute_count, inference->attributes,
      inference->input_count, inference->inputs, inference->body_count,      inference->bodies};
  return tenon__control_layout(inference->network, &request, inference->sink, out_layout);
}

static bool is_inside(const tenon__network_t* network, uint32_t graph, uint32_t body) {
  while (graph != TENON_NONE && graph != body) {
    graph = network->graphs[graph]->parent;
  }
  return graph == body;
}

/* Does the dimension refer to a value of that body? After many steps: assumed so. */
static bool is_local(const tenon__network_t* network, tenon_dim_t dim, uint32_t body,
                     uint32_t* inout_steps) {
  if (++*inout_steps > 10000 || dim.id == TENON_NONE) {
    return true;
  }
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  if (view.kind == TENON_DIM_SYMBOL) {
    uint32_t graph = 0;
    uint32_t value = 0;
    uint32_t index = 0;
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    return tenon__symbol_source(network, symbol, &graph, &value, &index) &&
           is_inside(network, graph, body);
  }
  for (uint32_t i = 0; i < view.operand_count; ++i) {
    if (is_local(network, view.operands[i], body, inout_steps)) {
      return true;
    }
  }
  return false;
}

static bool dim_is_local(const tenon__network_t* network, tenon_dim_t dim, uint32_t body) {
  uint32_t steps = 0;
  return (tenon__dim_mentions(network->pool, dim, TENON_SYMBOL_EXTENT) ||
          tenon__dim_mentions(network->pool, dim, TENON_SYMBOL_CONTENT)) &&
         is_local(network, dim, body, &steps);
}

/* Sets an output to a type of which the extents known to a body alone are left open. */
static tenon_status_t set_output(const tenon__control_work_t* control, uint32_t output,
                                 const tenon__type_t* type) {
  tenon__type_t* own_type = &control->inference->outputs[output].type;
  own_type->kind = type->kind;
  own_type->is_vacant = type->is_vacant;
  own_type->dtype = type->dtype;
  tenon_dim_t own[TENON_RANK_LIMIT + 1];
  const bool is_open = type->rank == TENON_NONE;
  const tenon__inferred_shape_t shape = {type->rank, is_open ? NULL : own};
  const uint32_t rank = is_open ? 0 : type->rank;
  for (uint32_t d = 0; d < rank; ++d) {
    own[d] = type->dims[d];
    for (uint32_t b = 0; b < control->layout.body_count; ++b) {
      if (dim_is_local(control->network, own[d], control->inference->bodies[b])) {
        int64_t min = 0;
        int64_t max = INT64_MAX;
        tenon__dim_range(control->network->pool, own[d], &min, &max);
        const tenon_dim_t bound =
            max == INT64_MAX ? TENON_DIM_INVALID : tenon__dim_constant(control->network->pool, max);
        own[d] = tenon__infer_fresh(control->inference, output, d, bound);
      }
    }
  }
  return tenon__infer_set_shape(control->inference, output, &shape);
}

/* The output takes the contents over if no element depends on a symbol of the body and the number of
 * elements is the same. Branches without elements can differ in their extents. */
static void set_contents(const tenon__control_work_t* control, uint32_t output, uint32_t body,
                         const tenon__type_t* type) {
  uint64_t count = 0;
  bool is_free = type->contents != NULL &&
                 tenon__type_element_count(control->network->pool,
                                           &control->inference->outputs[output].type, &count) &&
                 count == type->content_count;
  for (uint32_t e = 0; is_free && e < type->content_count; ++e) {
    is_free = !dim_is_local(control->network, type->contents[e], body);
  }
  if (is_free) {
    control->inference->outputs[output].type.contents = type->contents;
    control->inference->outputs[output].type.content_count = type->content_count;
  }
}

/* The extent of either branch's result. */
static tenon_dim_t unify_extent(const tenon__control_work_t* control, uint32_t output,
                                uint32_t axis, tenon_dim_t a, tenon_dim_t b) {
  tenon__dim_pool_t* pool = control->network->pool;
  if (tenon__dim_equal(a, b)) {
    return a;
  }
  const uint32_t* bodies = control->inference->bodies;
  tenon_dim_t bound;
  if (dim_is_local(control->network, a, bodies[0]) ||
      dim_is_local(control->network, b, bodies[1])) {
    int64_t min = 0;
    int64_t max_a = 0;
    int64_t max_b = 0;
    tenon__dim_range(pool, a, &min, &max_a);
    tenon__dim_range(pool, b, &min, &max_b);
    const int64_t max = max_a > max_b ? max_a : max_b;
    bound = max == INT64_MAX ? TENON_DIM_INVALID : tenon__dim_constant(pool, max);
  } else {
    bound = tenon__dim_combine(pool, TENON_OPCODE_MAX, a, b);
  }
  return tenon__infer_fresh(control->inference, output, axis, bound);
}

/* The types and extents that one branch gives. Its contents are the outputs' only if it is taken: a
 * run may take the other branch, if only to fail. */
static tenon_status_t infer_from(const tenon__control_work_t* control, uint32_t body,
                                 bool is_taken) {
  for (uint32_t i = 0; i < control->layout.output_count; ++i) {
    const tenon__type_t* type = &tenon__control_result(control, body, i)->type;
    TENON_TRY(set_output(control, i, type));
    if (is_taken) {
      set_contents(control, i, body, type);
    }
  }
  return TENON_OK;
}

/* A branch that does not infer cannot run, until it is inferred again and does. */
static tenon_status_t resolve_branch(const tenon__control_work_t* control, uint32_t body) {
  tenon__graph_t* graph = control->network->graphs[body];
  bool changed = graph->fault != NULL; /* it was left half inferred */
  TENON_TRY(tenon__control_adopt(control, body, &changed));
  const bool is_empty = graph->fault != NULL && graph->output_count == 0;
  if (!changed || is_empty) {
    return TENON_OK;
  }
  tenon__keeping_sink_t kept;
  tenon__keeping_sink_initialize(&kept);
  const tenon_status_t status = control->inference->infer_graph(control->network, body, &kept.sink);
  if (status == TENON_OK) {
    graph->fault = NULL;
    return TENON_OK;
  }
  if (status == TENON_ERROR_OUT_OF_MEMORY || status == TENON_ERROR_INTERNAL) {
    return kept.message[0] == '\0'
               ? status
               : tenon__fail(control->inference->sink, status, "%s", kept.message);
  }
  return tenon__graph_fail(control->network, body, status, kept.message);
}

/* A condition that is known when building: nor do the other branch's faults matter. */
static tenon_status_t infer_known(const tenon__control_work_t* control, uint32_t taken) {
  const uint32_t* bodies = control->inference->bodies;
  const tenon__graph_t* branch = control->network->graphs[bodies[taken]];
  TENON_TRY(resolve_branch(control, bodies[1 - taken]));
  TENON_TRY(resolve_branch(control, bodies[taken]));
  return branch->fault == NULL ? infer_from(control, bodies[taken], true)
                               : tenon__fail(control->inference->sink, branch->fault_status,
                                             "its branch '%s' is taken, which cannot run: %s",
                                             branch->name, branch->fault);
}

/* Values of a network have one kind, element type and rank, whichever branch they come from. */
static tenon_status_t check_result(const tenon__control_work_t* control, uint32_t output,
                                   const tenon__type_t* a, const tenon__type_t* b) {
  const tenon__network_t* network = control->network;
  const uint32_t* bodies = control->inference->bodies;
  tenon__arena_t* scratch = control->inference->scratch;
  const bool is_alike = tenon__type_same_elements(a, b);
  if (is_alike && (a->rank == b->rank || a->kind != TENON_ARGUMENT_TENSOR)) {
    return TENON_OK;
  }
  return tenon__fail(
      control->inference->sink, is_alike ? TENON_ERROR_UNSUPPORTED : TENON_ERROR_INVALID_DATA,
      "output %u is %s from branch '%s' and %s from branch '%s', and only a run knows which is "
      "taken: give what its condition follows from when building (the value of an input, or the "
      "extents of inputs), so that one branch is left",
      output, tenon__type_text(network->pool, a, scratch), network->graphs[bodies[0]]->name,
      tenon__type_text(network->pool, b, scratch), network->graphs[bodies[1]]->name);
}

static tenon_status_t unify_result(const tenon__control_work_t* control, uint32_t output) {
  const uint32_t* bodies = control->inference->bodies;
  const tenon__type_t* a = &tenon__control_result(control, bodies[0], output)->type;
  const tenon__type_t* b = &tenon__control_result(control, bodies[1], output)->type;
  TENON_TRY(check_result(control, output, a, b));
  if (a->is_vacant || b->is_vacant) {
    return set_output(control, output, a->is_vacant ? b : a);
  }
  tenon_dim_t dims[TENON_RANK_LIMIT + 1];
  const tenon__type_t type = {.kind = a->kind,
                              .dtype = a->dtype,
                              .rank = a->rank == b->rank ? a->rank : TENON_NONE,
                              .dims = dims};
  const uint32_t rank = type.rank == TENON_NONE ? 0 : type.rank;
  for (uint32_t d = 0; d < rank; ++d) {
    dims[d] = unify_extent(control, output, d, a->dims[d], b->dims[d]);
  }
  TENON_TRY(set_output(control, output, &type));
  if (tenon__type_same_contents(a, b)) {
    set_contents(control, output, bodies[0], a);
  }
  return TENON_OK;
}

static tenon_status_t infer_choose(const tenon__control_work_t* control) {
  const uint32_t* bodies = control->inference->bodies;
  tenon__graph_t** graphs = control->network->graphs;
  const uint32_t taken = tenon__control_taken(control->network, control->inference->graph,
                                              &control->layout, control->inference->inputs);
  if (taken != TENON_NONE) {
    return infer_known(control, taken);
  }
  TENON_TRY(resolve_branch(control, bodies[0]));
  TENON_TRY(resolve_branch(control, bodies[1]));
  if (graphs[bodies[0]]->fault != NULL || graphs[bodies[1]]->fault != NULL) {
    const uint32_t sound = graphs[bodies[0]]->fault == NULL ? 0 : 1;
    tenon__control_layout_t layout;
    TENON_TRY(layout_of(control->inference, &layout)); /* it says what is wrong with both */
    return infer_from(control, bodies[sound], false);
  }
  for (uint32_t i = 0; i < control->layout.output_count; ++i) {
    TENON_TRY(unify_result(control, i));
  }
  return TENON_OK;
}

/* True when nothing but the count ends the repetition. */
static bool count_is_exact(const tenon__control_work_t* control, uint32_t body) {
  const tenon__control_layout_t* layout = &control->layout;
  const tenon__dim_pool_t* pool = control->network->pool;
  int64_t known = 0;
  if (layout->condition_input != TENON_NONE &&
      !(tenon__type_known(pool, &tenon__control_input(control, layout->condition_input)->type,
                          &known) &&
        known == 1)) {
    return false;
  }
  if (!layout->passes_iteration) {
    return true;
  }
  const tenon__graph_t* graph = control->network->graphs[body];
  return graph->outputs[0] == graph->inputs[1] ||
         (tenon__type_known(pool, &tenon__control_result(control, body, 0)->type, &known) &&
          known == 1);
}

/* The number of iterations at most; INVALID when nothing bounds it. */
static tenon_status_t most_iterations(const tenon__control_work_t* control,
                                      tenon_dim_t* out_count) {
  const tenon__control_layout_t* layout = &control->layout;
  tenon__dim_pool_t* pool = control->network->pool;
  tenon_dim_t count = TENON_DIM_INVALID;
  for (uint32_t i = 0; i < layout->scanned_count; ++i) {
    const tenon__value_node_t* input =
        tenon__control_input(control, layout->first_value + layout->carried_count + i);
    const tenon_dim_t extent = input->type.dims[tenon__control_axis(layout, i, input->type.rank)];
    int64_t a = 0;
    int64_t b = 0;
    if (count.id != TENON_NONE && tenon__dim_known(pool, count, &a) &&
        tenon__dim_known(pool, extent, &b) && a != b) {
      return tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                         "scanned values have %lld and %lld slices", (long long)a, (long long)b);
    }
    count = count.id == TENON_NONE || tenon__dim_known(pool, extent, &b) ? extent : count;
  }
  if (layout->trip_count_input != TENON_NONE) {
    const uint32_t value = control->inference->inputs[layout->trip_count_input];
    TENON_TRY(tenon__value_make_contents(control->network, control->inference->graph, value));
    const tenon__value_node_t* trip = tenon__control_input(control, layout->trip_count_input);
    if (trip->type.contents != NULL && trip->type.content_count == 1) {
      const tenon_dim_t at_least_zero = tenon__dim_combine(
          pool, TENON_OPCODE_MAX, trip->type.contents[0], tenon__dim_constant(pool, 0));
      count = count.id == TENON_NONE
                  ? at_least_zero
                  : tenon__dim_combine(pool, TENON_OPCODE_MIN, count, at_least_zero);
    }
  }
  *out_count = count;
  return TENON_OK;
}

/* A body's first result says whether to go on. */
static tenon_status_t check_goes_on(const tenon__control_work_t* control, uint32_t body) {
  if (!control->layout.passes_iteration) {
    return TENON_OK;
  }
  const tenon__value_node_t* result = tenon__control_result(control, body, 0);
  return result->type.kind == TENON_ARGUMENT_TENSOR && result->type.dtype == TENON_DTYPE_BOOL
             ? TENON_OK
             : tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                           "result '%s' of the body says whether to go on: it must be a tensor of "
                           "bool",
                           result->name);
}

static tenon_status_t infer_repeat(const tenon__control_work_t* control) {
  const tenon__control_layout_t* layout = &control->layout;
  const uint32_t body = control->inference->bodies[0];
  TENON_TRY(tenon__control_resolve(control, body));
  TENON_TRY(check_goes_on(control, body));
  for (uint32_t i = 0; i < layout->carried_count; ++i) {
    const tenon__value_node_t* parameter =
        tenon__control_parameter(control, body, layout->first_parameter + i);
    TENON_TRY(set_output(control, i, &parameter->type));
  }
  if (layout->collected_count == 0) {
    return TENON_OK;
  }
  tenon_dim_t count = TENON_DIM_INVALID;
  TENON_TRY(most_iterations(control, &count));
  bool is_exact = count.id != TENON_NONE && count_is_exact(control, body);
  for (uint32_t i = 0; i < layout->collected_count; ++i) {
    const uint32_t output = layout->carried_count + i;
    const tenon__value_node_t* result =
        tenon__control_result(control, body, layout->first_result + output);
    const bool is_tensor =
        result->type.kind == TENON_ARGUMENT_TENSOR && result->type.rank < TENON_RANK_LIMIT;
    const uint32_t axis =
        is_tensor ? tenon__control_axis(layout, layout->scanned_count + i, result->type.rank + 1)
                  : TENON_NONE;
    if (axis == TENON_NONE) {
      return tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                         "result '%s' cannot be collected along that axis", result->name);
    }
    if (!is_exact) {
      count = tenon__infer_fresh(control->inference, output, axis, count);
      is_exact = true; /* the other outputs have the same */
    }
    tenon_dim_t dims[TENON_RANK_LIMIT + 1];
    const tenon__type_t type = tenon__type_tensor(result->type.dtype, result->type.rank + 1, dims);
    for (uint32_t d = 0; d < type.rank; ++d) {
      dims[d] = d == axis ? count : result->type.dims[d < axis ? d : d - 1];
    }
    TENON_TRY(set_output(control, output, &type));
  }
  return TENON_OK;
}

tenon_status_t tenon__control_output_count(const tenon__inference_t* inference,
                                           uint32_t* out_count) {
  tenon__control_layout_t layout;
  TENON_TRY(layout_of(inference, &layout));
  *out_count = layout.output_count;
  return TENON_OK;
}

tenon_status_t tenon__infer_control(tenon__inference_t* inference) {
  tenon__control_work_t control = {.inference = inference, .network = inference->network};
  TENON_TRY(layout_of(inference, &control.layout));
  control.first_time = inference->network->graphs[inference->bodies[0]]->owner == TENON_NONE;
  const tenon_status_t status =
      control.layout.form == TENON_CONTROL_CHOOSE ? infer_choose(&control) : infer_repeat(&control);
  const bool is_out = inference->failed || tenon__dim_pool_failed(inference->network->pool);
  return is_out ? TENON_ERROR_OUT_OF_MEMORY : status;
}
