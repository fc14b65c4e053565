/* The border of a context: the application's inputs and outputs, in its memory or in ours. */
#include "core/context/border.h"

#include <string.h>

#include "core/base/status.h"
#include "core/context/lent.h"
#include "core/context/propagate.h"
#include "core/dimension/dimension_pool.h"
#include "core/frame/copy.h"
#include "core/frame/frame.h"
#include "core/frame/unfit.h"
#include "core/tensor/layout.h"

static const tenon__graph_t* main_graph(const tenon__context_t* context) {
  return context->run.engine->plan->network->graphs[0];
}

/* As the application knows it. */
static const char* output_name(const tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  return g->output_names[index] != NULL ? g->output_names[index]
                                        : g->values[g->outputs[index]].name;
}

tenon_status_t tenon__context_create_border(tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  tenon__arena_t* arena = &context->run.arena;
  const size_t inputs = g->input_count + 1u;
  const size_t outputs = g->output_count + 1u;
  context->inputs = tenon__arena_allocate(arena, inputs, sizeof *context->inputs);
  context->input_is_set = tenon__arena_allocate(arena, inputs, sizeof(bool));
  context->run.input_dims = tenon__arena_allocate(arena, inputs, sizeof *context->run.input_dims);
  context->input_strides = tenon__arena_allocate(arena, inputs, sizeof *context->input_strides);
  context->outputs = tenon__arena_allocate(arena, outputs, sizeof *context->outputs);
  context->output_dims = tenon__arena_allocate(arena, outputs, sizeof *context->output_dims);
  context->output_strides = tenon__arena_allocate(arena, outputs, sizeof *context->output_strides);
  context->results = tenon__arena_allocate(arena, outputs, sizeof *context->results);
  context->result_dims = tenon__arena_allocate(arena, outputs, sizeof *context->result_dims);
  context->result_strides = tenon__arena_allocate(arena, outputs, sizeof *context->result_strides);
  const bool good = context->inputs != NULL && context->input_is_set != NULL &&
                    context->run.input_dims != NULL && context->input_strides != NULL &&
                    context->outputs != NULL && context->output_dims != NULL &&
                    context->output_strides != NULL && context->results != NULL &&
                    context->result_dims != NULL && context->result_strides != NULL;
  context->shapes_changed = true;
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

/* ---- Inputs ---- */

static tenon_status_t check_range(const tenon__context_t* context, uint32_t index,
                                  const tenon_tensor_view_t* view) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  const tenon__plan_t* plan = context->run.engine->plan;
  const tenon_sink_t* sink = context->run.engine->options.sink;
  if (value->type.dtype != view->dtype) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' is %s, the engine expects %s", value->name,
                       tenon__dtype_name(view->dtype), tenon__dtype_name(value->type.dtype));
  }
  if (value->type.rank != view->rank || view->rank > TENON_RANK_LIMIT) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' has rank %u, the engine expects %u", value->name, view->rank,
                       value->type.rank);
  }
  for (uint32_t k = 0; k < view->rank; ++k) {
    int64_t min = 0;
    int64_t max = INT64_MAX;
    (void)tenon__extents_get(&plan->profile.min, value->type.dims[k], &min);
    (void)tenon__extents_get(&plan->profile.max, value->type.dims[k], &max);
    if (view->dims[k] < min || view->dims[k] > max) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "input '%s': extent %lld of axis %u is outside the profile, %lld to %lld; "
                         "build with a wider one",
                         value->name, (long long)view->dims[k], k, (long long)min, (long long)max);
    }
  }
  return TENON_OK;
}

/* What a container holds is of its kind, and tensors of the element type that its value declares.
 */
static tenon_status_t check_items(const tenon__context_t* context, const tenon__value_node_t* value,
                                  const tenon_argument_t* argument) {
  const uint32_t kind = tenon__type_item_kind(argument->kind);
  for (uint32_t k = 0; k < argument->count; ++k) {
    const tenon_argument_t* item = &argument->items[k];
    const bool is_tensor = item->kind == TENON_ARGUMENT_TENSOR;
    if (item->kind != kind || (is_tensor && item->tensor.dtype != value->type.dtype)) {
      return tenon__fail(
          context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
          "input '%s': item %u is %s, the engine expects %s", value->name, k,
          is_tensor ? tenon__dtype_name(item->tensor.dtype) : "no tensor",
          kind == TENON_ARGUMENT_TENSOR ? tenon__dtype_name(value->type.dtype) : "a sequence");
    }
    TENON_TRY(is_tensor ? TENON_OK : check_items(context, value, item));
  }
  return TENON_OK;
}

static tenon_status_t set_input(tenon__context_t* context, uint32_t index,
                                const tenon_argument_t* argument) {
  const tenon__graph_t* g = main_graph(context);
  const tenon_sink_t* sink = context->run.engine->options.sink;
  context->is_steady = false;
  if (index >= g->input_count) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "there is no input %u, the engine has %u", index, g->input_count);
  }
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  if (value->type.kind != argument->kind) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "input '%s' is of another kind",
                       value->name);
  }
  tenon__frame_t* frame = &context->run.frames[0];
  tenon__place_state_t* place = &frame->places[frame->schedule->inputs[index]];
  if (value->type.kind != TENON_ARGUMENT_TENSOR) {
    TENON_TRY(check_items(context, value, argument));
    TENON_TRY(tenon__dynamic_buffer_assign(place->buffer, argument));
    place->argument = tenon__dynamic_buffer_argument(place->buffer);
    context->input_is_set[index] = true;
    return TENON_OK;
  }
  TENON_TRY(check_range(context, index, &argument->tensor));
  const size_t bytes = argument->tensor.rank * sizeof(int64_t);
  if (!context->input_is_set[index] ||
      (bytes > 0 && memcmp(context->run.input_dims[index], argument->tensor.dims, bytes) != 0)) {
    context->shapes_changed = true;
  }
  if (bytes > 0) {
    memcpy(context->run.input_dims[index], argument->tensor.dims, bytes);
    memcpy(context->input_strides[index], argument->tensor.strides, bytes);
  }
  context->inputs[index] = *argument;
  context->inputs[index].tensor.dims = context->run.input_dims[index];
  context->inputs[index].tensor.strides = context->input_strides[index];
  context->input_is_set[index] = true;
  return TENON_OK;
}

tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument) {
  TENON_TRY(set_input(context, index, argument));
  tenon__context_return_input(context, index);
  return TENON_OK;
}

/* The host cannot look into such memory, so it takes what lies in rows alone. */
static tenon_status_t check_rows(const tenon__context_t* context, const char* what,
                                 const char* name, const tenon_tensor_view_t* view) {
  return view->bit_offset == 0 &&
                 tenon__strides_are_row_major(view->rank, view->dims, view->strides)
             ? TENON_OK
             : tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                           "%s '%s' is in a device's memory, where it must lie in dense rows", what,
                           name);
}

/* Of what is lent already: then nothing is new. Many lend all of it before each run. */
static bool is_lent_so(const tenon__lent_t* lent, const tenon_tensor_view_t* known,
                       const tenon_tensor_view_t* view) {
  return lent->data != NULL && lent->data == view->data && known->data == view->data &&
         known->rank == view->rank && known->dtype == view->dtype &&
         known->layout == view->layout &&
         (view->rank == 0 || memcmp(known->dims, view->dims, view->rank * sizeof(int64_t)) == 0);
}

tenon_status_t tenon__context_set_input_on_device(tenon__context_t* context, uint32_t index,
                                                  const tenon_argument_t* argument) {
  const tenon__graph_t* g = main_graph(context);
  if (index < g->input_count) {
    TENON_TRY(check_rows(context, "input", g->values[g->inputs[index]].name, &argument->tensor));
    if (is_lent_so(&context->lent_inputs[index], &context->inputs[index].tensor,
                   &argument->tensor)) {
      return TENON_OK;
    }
  }
  TENON_TRY(set_input(context, index, argument));
  return tenon__context_lend_input(context, index, argument->tensor.data);
}

static tenon_status_t need_input(const tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  return context->input_is_set[index]
             ? TENON_OK
             : tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_STATE,
                           "input '%s' was not set", g->values[g->inputs[index]].name);
}

/* The application's memory where it will do, else a copy. */
static tenon_status_t take_input(tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->inputs[index]];
  tenon__frame_t* frame = &context->run.frames[0];
  const uint32_t at = frame->schedule->inputs[index];
  tenon__place_state_t* place = &frame->places[at];
  TENON_TRY(need_input(context, index));
  if (value->type.kind != TENON_ARGUMENT_TENSOR ||
      frame->schedule->places[at].storage != TENON_STORAGE_INPUT) {
    return TENON_OK;
  }
  if (context->lent_inputs[index].data != NULL) {
    return tenon__context_take_lent(context, index);
  }
  const tenon_tensor_view_t* view = &context->inputs[index].tensor;
  const bool in_place = tenon__strides_are_row_major(view->rank, view->dims, view->strides) &&
                        ((uintptr_t)view->data % 16 == 0 || tenon__dtype_bits(view->dtype) < 8) &&
                        view->bit_offset == 0;
  if (in_place) {
    place->data = view->data;
    return TENON_OK;
  }
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = *view};
  TENON_TRY(tenon__dynamic_buffer_assign(place->buffer, &argument));
  place->data = place->buffer->data;
  return TENON_OK;
}

tenon_status_t tenon__context_take_inputs(tenon__context_t* context) {
  for (uint32_t k = 0; k < main_graph(context)->input_count; ++k) {
    TENON_TRY(take_input(context, k));
  }
  return TENON_OK;
}

/* ---- Outputs ---- */

/* Can the memory given hold what some run within the profile writes? */
static tenon_status_t check_least_room(const tenon__context_t* context, uint32_t index,
                                       const tenon_tensor_view_t* view) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  const tenon__dim_pool_t* pool = context->run.engine->plan->network->pool;
  for (uint32_t k = 0; k < view->rank; ++k) {
    int64_t least = 0;
    int64_t most = 0;
    tenon__dim_range(pool, value->type.dims[k], &least, &most);
    if (view->dims[k] < least) {
      return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "output '%s' has extent %lld%s on axis %u, the memory given holds %lld",
                         output_name(context, index), (long long)least,
                         least == most ? "" : " or more", k, (long long)view->dims[k]);
    }
  }
  return TENON_OK;
}

static tenon_status_t set_output(tenon__context_t* context, uint32_t index,
                                 const tenon_tensor_view_t* view) {
  const tenon__graph_t* g = main_graph(context);
  context->is_steady = false;
  if (index >= g->output_count) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "there is no output %u, the engine has %u", index, g->output_count);
  }
  if (view == NULL) {
    context->outputs[index].data = NULL;
    return TENON_OK;
  }
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  if (value->type.kind != TENON_ARGUMENT_TENSOR || view->dtype != value->type.dtype ||
      view->rank != value->type.rank || view->rank > TENON_RANK_LIMIT) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "output '%s' is %s of rank %u; the memory given is %s of rank %u",
                       output_name(context, index), tenon__dtype_name(value->type.dtype),
                       value->type.rank, tenon__dtype_name(view->dtype), view->rank);
  }
  TENON_TRY(check_least_room(context, index, view));
  context->outputs[index] = *view;
  context->outputs[index].dims = context->output_dims[index];
  context->outputs[index].strides = context->output_strides[index];
  if (view->rank > 0) {
    memcpy(context->output_dims[index], view->dims, view->rank * sizeof(int64_t));
    memcpy(context->output_strides[index], view->strides, view->rank * sizeof(int64_t));
  }
  return TENON_OK;
}

tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view) {
  TENON_TRY(set_output(context, index, view));
  tenon__context_return_output(context, index);
  return TENON_OK;
}

tenon_status_t tenon__context_set_output_on_device(tenon__context_t* context, uint32_t index,
                                                   const tenon_tensor_view_t* view) {
  if (index < main_graph(context)->output_count) {
    TENON_TRY(check_rows(context, "output", output_name(context, index), view));
    if (is_lent_so(&context->lent_outputs[index], &context->outputs[index], view)) {
      return TENON_OK;
    }
  }
  TENON_TRY(set_output(context, index, view));
  return tenon__context_lend_output(context, index, view->data);
}

/* Extents that the data decide: of values that steps make, numbers among elements, iterations. */
static bool data_decide(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  return tenon__dim_mentions(pool, dim, TENON_SYMBOL_EXTENT) ||
         tenon__dim_mentions(pool, dim, TENON_SYMBOL_CONTENT) ||
         tenon__dim_mentions(pool, dim, TENON_SYMBOL_ITERATION);
}

/* -1 where the data decide. */
static int64_t known_extent(const tenon__context_t* context, tenon_dim_t dim) {
  const tenon__dim_pool_t* pool = context->run.engine->plan->network->pool;
  int64_t extent = 0;
  return !data_decide(pool, dim) && tenon__extents_get(&context->run.extents, dim, &extent) ? extent
                                                                                            : -1;
}

/* The most that an extent can be for these inputs; -1: nothing bounds it. */
static int64_t most_extent(const tenon__context_t* context, tenon_dim_t dim) {
  enum { MOST_BOUNDS = 64 }; /* of bounds: a plan may come from anybody */
  const tenon__dim_pool_t* pool = context->run.engine->plan->network->pool;
  int64_t least = 0;
  int64_t most = 0;
  tenon__dim_range(pool, dim, &least, &most);
  for (uint32_t k = 0; k < MOST_BOUNDS && dim.id != TENON_NONE; ++k) {
    const int64_t known = known_extent(context, dim);
    const tenon__dim_view_t view = tenon__dim_get(pool, dim);
    if (known >= 0) {
      return known < most ? known : most;
    }
    dim = view.kind == TENON_DIM_SYMBOL ? tenon__symbol_get(pool, view.index)->bound
                                        : TENON_DIM_INVALID;
  }
  return most == INT64_MAX ? -1 : most;
}

tenon_status_t tenon__context_output_extents(tenon__context_t* context, uint32_t index,
                                             int64_t* out_dims, int64_t* out_max_dims) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  if (value->type.kind != TENON_ARGUMENT_TENSOR || value->type.rank > TENON_RANK_LIMIT) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "output '%s' is no tensor whose rank is known before the run",
                       output_name(context, index));
  }
  for (uint32_t k = 0; k < g->input_count; ++k) {
    TENON_TRY(need_input(context, k));
  }
  TENON_TRY(tenon__context_propagate_shapes(context));
  for (uint32_t k = 0; k < value->type.rank; ++k) {
    out_dims[k] = known_extent(context, value->type.dims[k]);
    out_max_dims[k] = out_dims[k] >= 0 ? out_dims[k] : most_extent(context, value->type.dims[k]);
  }
  return TENON_OK;
}

/* Does the application's memory hold a result of these extents? Open ones (-1) may turn out to. */
static tenon_status_t check_room(const tenon__context_t* context, uint32_t index,
                                 const int64_t* dims) {
  const tenon_tensor_view_t* target = &context->outputs[index];
  const uint32_t rank = target->data == NULL ? 0 : target->rank;
  for (uint32_t k = 0; k < rank; ++k) {
    if (dims[k] > target->dims[k]) {
      return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "output '%s' has extent %lld on axis %u, the memory given holds %lld",
                         output_name(context, index), (long long)dims[k], k,
                         (long long)target->dims[k]);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_known_room(const tenon__context_t* context, uint32_t index) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[index]];
  int64_t dims[TENON_RANK_LIMIT];
  if (context->outputs[index].data == NULL) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < context->outputs[index].rank; ++k) {
    dims[k] = known_extent(context, value->type.dims[k]);
  }
  return check_room(context, index, dims);
}

/* Where the plan writes an output: the application's memory if it will do, else ours. */
static tenon_status_t place_output(tenon__context_t* context, uint32_t k) {
  tenon__frame_t* frame = &context->run.frames[0];
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->outputs[k]];
  tenon__place_state_t* place = &frame->places[frame->schedule->outputs[k]];
  const tenon_tensor_view_t* own = &context->outputs[k];
  int64_t dims[TENON_RANK_LIMIT];
  if (!tenon__extents_shape(&context->run.extents, value->type.rank, value->type.dims, dims)) {
    return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INTERNAL,
                       "the extents of output '%s' are not known in time", output_name(context, k));
  }
  const bool in_place = own->data != NULL && context->lent_outputs[k].data == NULL &&
                        memcmp(own->dims, dims, value->type.rank * sizeof *dims) == 0 &&
                        tenon__strides_are_row_major(value->type.rank, dims, own->strides) &&
                        (uintptr_t)own->data % 16 == 0;
  if (in_place) {
    place->data = own->data;
    return TENON_OK;
  }
  const tenon_status_t status =
      tenon__dynamic_buffer_resize(place->buffer, value->type.dtype, value->type.rank, dims);
  if (status != TENON_OK) {
    return tenon__frame_unfit(frame, "outputs", frame->schedule->outputs[k], status);
  }
  place->data = place->buffer->data;
  return TENON_OK;
}

tenon_status_t tenon__context_place_outputs(tenon__context_t* context) {
  const tenon__schedule_t* schedule = context->run.frames[0].schedule;
  for (uint32_t k = 0; k < main_graph(context)->output_count; ++k) {
    bool is_placed = false;
    TENON_TRY(check_known_room(context, k));
    if (context->lent_outputs[k].data != NULL) {
      tenon__context_place_lent(context, k, &is_placed);
    }
    const bool is_ours = schedule->places[schedule->outputs[k]].storage == TENON_STORAGE_OUTPUT;
    TENON_TRY(is_ours && !is_placed ? place_output(context, k) : TENON_OK);
  }
  return TENON_OK;
}

/* An output of ours into the application's memory. */
static tenon_status_t copy_out(tenon__context_t* context, uint32_t index,
                               const tenon_tensor_view_t* result) {
  TENON_TRY(check_room(context, index, result->dims));
  if (context->lent_outputs[index].data != NULL) {
    return tenon__context_send_lent(context, index, result);
  }
  return tenon__copy_tensor(result, &context->outputs[index]);
}

static tenon_status_t collect_output(tenon__context_t* context, uint32_t k) {
  tenon__frame_t* frame = &context->run.frames[0];
  int64_t* dims = context->result_dims[k];
  int64_t* strides = context->result_strides[k];
  tenon_argument_t* result = &context->results[k];
  TENON_TRY(tenon__frame_argument(frame, frame->schedule->outputs[k], dims, strides, result));
  if (result->kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  result->tensor.dims = dims;
  result->tensor.strides = strides;
  if (context->outputs[k].data != NULL && result->tensor.data != context->outputs[k].data) {
    TENON_TRY(copy_out(context, k, &result->tensor));
    result->tensor.data = context->outputs[k].data;
    if (context->lent_outputs[k].data == NULL) {
      memcpy(strides, context->output_strides[k], result->tensor.rank * sizeof *strides);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__context_collect_outputs(tenon__context_t* context) {
  for (uint32_t k = 0; k < main_graph(context)->output_count; ++k) {
    TENON_TRY(collect_output(context, k));
  }
  return TENON_OK;
}

void tenon__context_forget_outputs(tenon__context_t* context) {
  for (uint32_t k = 0; k < main_graph(context)->output_count; ++k) {
    context->results[k].kind = TENON_ARGUMENT_ABSENT;
  }
}

const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index) {
  return index < main_graph(context)->output_count ? &context->results[index] : NULL;
}
