/* Binding one step to its shapes: what the host offers a kernel meanwhile, and what it checks. */
#include "core/kernel/bind.h"

#include <stdatomic.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/kernel/bound.h"
#include "core/kernel/packed_store.h"
#include "core/region/region_table.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

struct tenon_binding_t {
  tenon__bound_t* bound;
  const tenon__extents_t* extents;
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  uint32_t thread_count;
  const tenon_sink_t* sink;
  tenon_status_t failure; /* why the host gave NULL */
};

static void* bind_allocate(tenon_binding_t* binding, size_t size_bytes) {
  void* place = tenon__arena_allocate_aligned(&binding->bound->memory, size_bytes);
  binding->failure = place == NULL ? TENON_ERROR_OUT_OF_MEMORY : binding->failure;
  return place;
}

static const tenon_argument_t* bind_input(tenon_binding_t* binding, uint32_t index) {
  return index < binding->bound->input_count ? &binding->inputs[index] : NULL;
}

static const tenon_argument_t* bind_output(tenon_binding_t* binding, uint32_t index) {
  return index < binding->bound->output_count ? &binding->outputs[index] : NULL;
}

static bool lies_within(const tenon_move_piece_t* piece, uint32_t rank, const int64_t* dims) {
  bool within = true;
  for (uint32_t d = 0; within && d < rank; ++d) {
    within = piece->begin[d] >= 0 && piece->extent[d] >= 0 &&
             piece->begin[d] <= dims[d] - piece->extent[d];
  }
  return within;
}

/* Does each piece lie within the output, and what it reads within its input? A plan may say
 * otherwise. */
static bool pieces_fit(const tenon_move_t* move, const tenon_binding_t* binding) {
  const tenon_tensor_view_t* output = &binding->outputs[0].tensor;
  for (uint32_t k = 0; k < move->piece_count; ++k) {
    const tenon_move_piece_t* piece = &move->pieces[k];
    const tenon_tensor_view_t* input = &binding->inputs[piece->input].tensor;
    const tenon__reach_t read = {move->rank, piece->extent, piece->strides, piece->offset};
    const tenon__reach_t whole = {input->rank, input->dims, input->strides, 0};
    if ((output->dims != NULL && !lies_within(piece, move->rank, output->dims)) ||
        !tenon__reach_within(&read, &whole)) {
      return false;
    }
  }
  return true;
}

/* What a source reads out of range: the first and the last coordinate of each axis are looked at.
 */
static tenon_status_t out_of_range(const tenon_binding_t* binding, const tenon_move_t* move) {
  const struct tenon_region_t* region = binding->bound->instance->region;
  const tenon__index_map_t* map = region->map;
  const tenon__map_source_t* source = &map->sources[map->source_count - 1];
  const int64_t* dims = binding->outputs[0].tensor.dims;
  const tenon__dim_point_t point = {.values = binding->extents->values,
                                    .known = binding->extents->known,
                                    .coordinate_count = move->rank};
  for (uint32_t d = 0; d < source->rank; ++d) {
    int64_t parts[64] = {0};
    int64_t low = 0;
    int64_t extent = 0;
    if (!tenon__dim_affine_at(region->network->pool, source->coordinates[d], &point, &low, parts) ||
        !tenon__extents_get(binding->extents, source->dims[d], &extent)) {
      continue;
    }
    int64_t high = low;
    for (uint32_t k = 0; k < move->rank; ++k) {
      (void)tenon__add_product(dims[k] - 1, parts[k], parts[k] < 0 ? &low : &high);
    }
    if (low < 0 || high >= extent) {
      return tenon__fail(binding->sink, TENON_ERROR_INVALID_DATA,
                         "element %lld of axis %u is read, whose extent is %lld",
                         (long long)(low < 0 ? low : high), d, (long long)extent);
    }
  }
  return tenon__fail(binding->sink, TENON_ERROR_INVALID_DATA,
                     "the move leaves elements of its output open");
}

static const tenon_move_t* bind_move(tenon_binding_t* binding) {
  const struct tenon_region_t* region = binding->bound->instance->region;
  const tenon__index_map_t* map = region->map;
  if (map == NULL) {
    return NULL;
  }
  tenon__arena_t* arena = &binding->bound->memory;
  const size_t capacity = (size_t)map->source_count * (2u * (size_t)map->rank + 1u);
  tenon_move_t* move = tenon__arena_allocate(arena, 1, sizeof *move);
  tenon_move_piece_t* pieces = tenon__arena_allocate(arena, capacity + 1, sizeof *pieces);
  int64_t* storage =
      tenon__arena_allocate(arena, 3 * capacity * (map->rank + 1u) + 1, sizeof *storage);
  const int64_t** strides = tenon__arena_allocate(arena, map->source_count + 1u, sizeof *strides);
  if (move == NULL || pieces == NULL || storage == NULL || strides == NULL) {
    binding->failure = TENON_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  for (uint32_t k = 0; k < map->source_count; ++k) {
    strides[k] = binding->inputs[map->sources[k].input].tensor.strides;
  }
  const tenon__piece_room_t room = {(uint32_t)capacity, pieces, storage};
  const tenon_status_t status =
      tenon__index_map_pieces(binding->extents, map, strides, &room, move);
  if (status != TENON_OK || !pieces_fit(move, binding)) {
    binding->failure =
        tenon__fail(binding->sink, status == TENON_OK ? TENON_ERROR_INVALID_DATA : status,
                    "the move does not fit its tensors");
    return NULL;
  }
  if (map->fill == TENON_FILL_NONE && move->covers_output == 0) {
    binding->failure = out_of_range(binding, move);
    return NULL;
  }
  move->fill_argument = map->fill == TENON_FILL_INPUT ? map->fill_input : TENON_NONE;
  return move;
}

static const int64_t* bind_space(tenon_binding_t* binding, uint32_t slot) {
  const struct tenon_region_t* region = binding->bound->instance->region;
  uint32_t rank = 0;
  const tenon_dim_t* dims = tenon__region_space(region, slot, &rank);
  int64_t* extents = tenon__arena_allocate(&binding->bound->memory, rank + 1u, sizeof *extents);
  if (extents == NULL || !tenon__extents_shape(binding->extents, rank, dims, extents)) {
    binding->failure = extents == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_INVALID_STATE;
    return NULL;
  }
  return extents;
}

static const tenon_sink_t* bind_sink(tenon_binding_t* binding) {
  return binding->sink;
}

static uint32_t bind_thread_count(tenon_binding_t* binding) {
  return binding->thread_count;
}

static const void* bind_packed(tenon_binding_t* binding, uint32_t index) {
  const tenon__instance_t* instance = binding->bound->instance;
  const tenon__packing_key_t* packing = instance->packings;
  const void* data = NULL;
  if (index >= instance->packing_count) {
    return NULL;
  }
  for (uint32_t k = instance->packing_count - 1; k > index; --k) {
    packing = packing->next;
  }
  const tenon_status_t status =
      tenon__packed_store_on_device(instance->store, &packing->key, instance->kernel.device, &data);
  if (status != TENON_OK) {
    binding->failure = status;
    tenon__report(binding->sink, TENON_SEVERITY_ERROR, "cannot upload packed weights: %s",
                  tenon__status_text(status));
    return NULL;
  }
  return data;
}

static const tenon_bind_table_t bind_table = {
    .size = sizeof(tenon_bind_table_t),
    .allocate = bind_allocate,
    .input = bind_input,
    .output = bind_output,
    .move = bind_move,
    .space = bind_space,
    .sink = bind_sink,
    .thread_count = bind_thread_count,
    .packed = bind_packed,
};

/* A kernel that did not ask for strides counts on a dense tensor, and would read or write past one
 * that is not. */
static bool suits(const tenon_argument_rule_t* rule, const tenon_argument_t* argument) {
  const tenon_tensor_view_t* view = &argument->tensor;
  return argument->kind != TENON_ARGUMENT_TENSOR || tenon__rule_is_strided(rule) ||
         tenon__strides_dense(view->rank, view->dims, view->strides);
}

static tenon_status_t check_arguments(const tenon__instance_t* instance,
                                      const tenon_argument_t* inputs,
                                      const tenon_argument_t* outputs, const tenon_sink_t* sink) {
  const struct tenon_region_t* region = instance->region;
  const tenon_argument_rule_t* in = instance->tactic->input_rules;
  const tenon_argument_rule_t* out = instance->tactic->output_rules;
  bool all_suit = true;
  for (uint32_t k = 0; k < region->input_count; ++k) {
    all_suit =
        all_suit && (region->inputs[k].aligned || suits(in == NULL ? NULL : &in[k], &inputs[k]));
  }
  for (uint32_t k = 0; k < region->output_count; ++k) {
    all_suit = all_suit &&
               (region->outputs[k].aligned || suits(out == NULL ? NULL : &out[k], &outputs[k]));
  }
  return all_suit ? TENON_OK
                  : tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                                "%sthe kernel takes dense tensors alone, and was given others",
                                instance->prefix);
}

/* Kernels are promised the extents of their spaces. */
static bool spaces_are_known(const struct tenon_region_t* region, const tenon__extents_t* extents) {
  int64_t dims[64];
  uint32_t rank = 0;
  const tenon_dim_t* space = tenon__region_space(region, TENON_SPACE_PROGRAM, &rank);
  bool known = rank <= 64 && tenon__extents_shape(extents, rank, space, dims);
  for (uint32_t k = 0; k < region->slot_count && known; ++k) {
    space = tenon__region_space(region, region->slots[k].slot, &rank);
    known = rank <= 64 && tenon__extents_shape(extents, rank, space, dims);
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    known = known && !(region->inputs[k].aligned && region->inputs[k].value == TENON_NONE);
  }
  return known;
}

/* Other extents may be large, so a kernel might still loop over them. At a bound of 0, a kernel
 * writes the extents. */
static bool writes_nothing(const tenon_argument_t* outputs, uint32_t count) {
  bool nothing = count > 0;
  for (uint32_t k = 0; k < count && nothing; ++k) {
    const tenon_tensor_view_t* view = &outputs[k].tensor;
    const uint32_t rank = outputs[k].kind == TENON_ARGUMENT_TENSOR ? view->rank : 0;
    const bool has_extents = rank > 0 && view->device_extents != NULL;
    nothing = outputs[k].kind == TENON_ARGUMENT_ABSENT;
    for (uint32_t d = 0; d < rank; ++d) {
      nothing = nothing || (view->dims[d] == 0 && !has_extents);
    }
  }
  return nothing;
}

bool tenon__bound_writes_nothing(const tenon__bound_t* bound) {
  return bound->writes_nothing;
}

tenon_status_t tenon__bound_create(tenon_allocator_t allocator, tenon__instance_t* instance,
                                   const tenon__bind_request_t* request, const tenon_sink_t* sink,
                                   tenon__bound_t** out_bound) {
  TENON_TRY(check_arguments(instance, request->inputs, request->outputs, sink));
  if (!spaces_are_known(instance->region, request->extents)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_STATE, "%sits extents are not known in time",
                       instance->prefix);
  }
  tenon__bound_t* bound = tenon__allocate(allocator, 1, sizeof *bound);
  TENON_TRY_MEMORY(bound != NULL);
  *bound = (tenon__bound_t){.allocator = allocator,
                            .instance = instance,
                            .input_count = instance->region->input_count,
                            .output_count = instance->region->output_count};
  bound->writes_nothing = writes_nothing(request->outputs, bound->output_count);
  (void)atomic_fetch_add_explicit(&instance->reference_count, 1, memory_order_relaxed);
  tenon__arena_initialize(&bound->memory, allocator);
  const tenon_kernel_t* kernel = instance->kernel.kernel;
  if (kernel->bind != NULL) {
    tenon__prefix_sink_t prefixed;
    tenon__prefix_sink_initialize(&prefixed, sink, instance->prefix);
    tenon_binding_t binding = {.bound = bound,
                               .extents = request->extents,
                               .inputs = request->inputs,
                               .outputs = request->outputs,
                               .thread_count = request->thread_count,
                               .sink = &prefixed.sink};
    const tenon__call_t call = tenon__instance_call(instance, "bind");
    const tenon__call_t* outer = tenon__call_enter(&call);
    const tenon_status_t status =
        kernel->bind(instance->prepared, &binding, &bind_table, &bound->bound);
    tenon__call_leave(outer);
    if (status != TENON_OK) {
      const tenon_status_t reason = binding.failure != TENON_OK ? binding.failure : status;
      (void)tenon__kernel_failed(&prefixed, "bound to these shapes", reason);
      tenon__bound_destroy(bound);
      return reason;
    }
  }
  bound->is_bound = true;
  *out_bound = bound;
  return TENON_OK;
}

void tenon__bound_destroy(tenon__bound_t* bound) {
  if (bound == NULL) {
    return;
  }
  const tenon_kernel_t* kernel = bound->instance->kernel.kernel;
  if (bound->is_bound && kernel->unbind != NULL) {
    const tenon__call_t call = tenon__instance_call(bound->instance, "unbind");
    const tenon__call_t* outer = tenon__call_enter(&call);
    kernel->unbind(bound->instance->prepared, bound->bound);
    tenon__call_leave(outer);
  }
  tenon__arena_deinitialize(&bound->memory);
  tenon__instance_release(bound->instance);
  tenon__free(bound->allocator, bound, sizeof *bound);
}
