/*
 * The expression kernel: a program becomes CUDA C when a plan is made (generate.h) and is compiled
 * for the device, once for equal texts; a binding finds the fewest axes of its shapes; a call fills
 * in addresses and launches one kernel.
 */
#include "expression.h"

#include <string.h>

#include "axes.h"
#include "compiler.h"
#include "form.h"
#include "kernels.h"
#include "launch.h"
#include "layouts.h"

typedef struct instance_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  tenon__cuda_analysis_t analysis;
  tenon__cuda_form_t form;
  bool is_short; /* coordinates are computed in 32 bits */
  int32_t order; /* of the operands for which the form was chosen: TENON_CUDA_ORDER_ANY ... */
  tenon__cuda_layout_t layout;
  CUfunction whole; /* vectors, or rows */
  CUfunction other; /* singles, or rows_again; NULL: there is none */
  CUfunction dense; /* NULL: there is none */
  CUfunction split[TENON_CUDA_SPLIT_LEVELS + 1];
} instance_t;

typedef struct bound_t {
  const instance_t* instance;
  uint8_t* parameters;
  tenon__cuda_launch_t launch; /* of rows that are split, the first one */
  uint32_t last_blocks;        /* of the last one */
  tenon__cuda_fault_t* fault;
  bool whole;                      /* the launch is of vectors or rows */
  bool dense;                      /* it is of one piece, if all addresses are aligned */
  bool wide[TENON_CUDA_WALKS];     /* by the strides; an address may say otherwise */
  int64_t bytes[TENON_CUDA_WALKS]; /* of an element; 0: a coordinate */
} bound_t;

/* ---- Preparing ---- */

static uint32_t want_kernels(instance_t* instance, tenon__cuda_wanted_t* wanted) {
  static const char* const split[] = {"split_1", "split_2", "split_3", "split_4"};
  const bool reduces = instance->analysis.reduces;
  const uint32_t launches = instance->form.split > 0 ? instance->analysis.levels + 1 : 0;
  uint32_t count = 0;
  for (; count < launches; count++) {
    wanted[count] = (tenon__cuda_wanted_t){split[count], &instance->split[count]};
  }
  if (launches > 0) {
    return count;
  }
  if (!reduces || instance->form.items > 0) {
    wanted[count++] = (tenon__cuda_wanted_t){reduces ? "rows" : "vectors", &instance->whole};
  }
  if (tenon__cuda_may_be_dense(&instance->analysis)) {
    wanted[count++] = (tenon__cuda_wanted_t){"dense", &instance->dense};
  }
  if (!reduces || instance->form.again != 0) {
    wanted[count++] = (tenon__cuda_wanted_t){reduces ? "rows_again" : "singles", &instance->other};
  }
  return count;
}

/* The text, and what the device makes of it. */
static tenon_status_t make_module(const tenon_prepare_t* call, instance_t* instance) {
  tenon__cuda_text_t text = {.allocator = instance->device->state->allocator};
  tenon__cuda_wanted_t wanted[TENON_CUDA_SPLIT_LEVELS + 1];
  const uint32_t count = want_kernels(instance, wanted);
  tenon__cuda_generate(&instance->analysis, &instance->form, &text);
  return tenon__cuda_module_get(instance->device, call, &text, wanted, count, &instance->module);
}

static tenon_status_t read_call(const tenon_prepare_t* call, instance_t** out_instance) {
  tenon__cuda_choice_t choice = {TENON_CUDA_FORM_RULE, TENON_CUDA_ORDER_ANY};
  uint32_t reason = 0;
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic != NULL && call->tactic->configuration_size == sizeof(choice)) {
    memcpy(&choice, call->tactic->configuration, sizeof(choice));
  }
  if (!tenon__cuda_choice_is_one(choice, call->table->program(call->region)) ||
      tenon__cuda_analyse(call->table->program(call->region), &instance->analysis, &reason) !=
          NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  instance->device = device;
  instance->form = tenon__cuda_form_choose(&instance->analysis, call->region, call->table, choice);
  instance->order = choice.order;
  if (choice.variant == TENON_CUDA_FORM_SPLIT && instance->form.split == 0) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  instance->is_short =
      tenon__cuda_extents_are_short(&instance->analysis, call->region, call->table);
  if (instance->is_short) {
    tenon__cuda_find_ranges(&instance->analysis);
  }
  instance->layout = tenon__cuda_layout_of(&instance->analysis);
  *out_instance = instance;
  return TENON_OK;
}

static void begin_prepare(const tenon_prepare_t* call) {
  instance_t* instance = NULL;
  if (read_call(call, &instance) == TENON_OK && instance != NULL) {
    tenon__cuda_text_t text = {.allocator = instance->device->state->allocator};
    tenon__cuda_generate(&instance->analysis, &instance->form, &text);
    tenon__cuda_module_begin(instance->device, call, &text);
  }
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  instance_t* instance = NULL;
  tenon_status_t status = read_call(call, &instance);
  if (status != TENON_OK || instance == NULL) {
    return status;
  }
  status = make_module(call, instance);
  if (status == TENON_OK) {
    *out_instance = instance;
  }
  return status;
}

static void destroy(void* instance) {
  instance_t* self = instance;
  tenon__cuda_module_release(self->device, self->module);
}

/* ---- Binding ---- */

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
} binding_t;

static void put(uint8_t* parameters, size_t offset, const void* value, size_t size_bytes) {
  memcpy(parameters + offset, value, size_bytes);
}

static void add_walk(const tenon_tensor_view_t* view, uint32_t walk, tenon__cuda_space_t* space,
                     bound_t* bound, uint32_t* inout_most) {
  uint32_t varying = 0;
  bound->bytes[walk] = tenon__cuda_bytes(view->dtype);
  for (uint32_t axis = 0; axis < space->rank; axis++) {
    const bool varies = view->dims[axis] != 1 && space->extents[axis] != 1;
    space->strides[axis][walk] = varies ? view->strides[axis] : 0;
    varying += varies && view->strides[axis] != 0 ? 1 : 0;
  }
  if (varying > *inout_most) { /* the first that varies most */
    *inout_most = varying;
    space->main = walk;
  }
}

/* Results come first: threads follow what they write. Rows follow what they read. */
static tenon_status_t read_space(const binding_t* binding, const instance_t* instance,
                                 tenon__cuda_space_t* space, bound_t* bound) {
  const tenon__cuda_analysis_t* analysis = &instance->analysis;
  const tenon_program_t* program = analysis->program;
  const int64_t* extents = binding->host->space(binding->handle, TENON_NONE);
  uint32_t most = 0;
  if (extents == NULL && program->rank > 0) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(space, 0, sizeof(*space));
  space->rank = program->rank;
  space->walk_count = analysis->walk_count;
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    space->extents[axis] = extents[axis];
    if (analysis->axis_walks[axis] != TENON_NONE) {
      space->strides[axis][analysis->axis_walks[axis]] = 1;
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_argument_t* output =
        binding->host->output(binding->handle, program->outputs[k].index);
    if (output->kind == TENON_ARGUMENT_TENSOR) {
      add_walk(&output->tensor, analysis->output_walks[k], space, bound, &most);
    }
  }
  most = analysis->reduces ? 0 : most;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const tenon_argument_t* input =
        binding->host->input(binding->handle, program->operands[k].index);
    uint32_t own = most;
    if (analysis->operand_walks[k] != TENON_NONE) {
      uint32_t* counted = analysis->reduces ? &most : &own;
      const uint32_t main = space->main;
      add_walk(&input->tensor, analysis->operand_walks[k], space, bound, counted);
      space->main = analysis->reduces ? space->main : main;
    }
  }
  return TENON_OK;
}

/* A plan's ranges may be wrong. */
static tenon_status_t check_extents(const binding_t* binding, const instance_t* instance,
                                    const tenon__cuda_space_t* space) {
  const tenon_program_t* program = instance->analysis.program;
  int64_t most = 0;
  for (uint32_t axis = 0; axis < space->rank; axis++) {
    most = space->extents[axis] > most ? space->extents[axis] : most;
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const tenon_argument_t* input =
        binding->host->input(binding->handle, program->operands[k].index);
    const uint32_t rank = input->kind == TENON_ARGUMENT_TENSOR ? input->tensor.rank : 0;
    for (uint32_t axis = 0; axis < rank; axis++) {
      most = input->tensor.dims[axis] > most ? input->tensor.dims[axis] : most;
    }
  }
  return instance->is_short && most > TENON_CUDA_SHORT_EXTENT
             ? tenon__cuda_fail(
                   binding->host->sink == NULL ? NULL : binding->host->sink(binding->handle),
                   TENON_ERROR_INTERNAL,
                   "an extent of %lld, where the plan was made for %d: build it again",
                   (long long)most, TENON_CUDA_SHORT_EXTENT)
             : TENON_OK;
}

static void write_indexed(const binding_t* binding, const instance_t* instance,
                          uint8_t* parameters) {
  const tenon_program_t* program = instance->analysis.program;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const uint32_t number = instance->analysis.indexed[k];
    if (number == TENON_NONE) {
      continue;
    }
    const tenon_tensor_view_t* view =
        &binding->host->input(binding->handle, program->operands[k].index)->tensor;
    put(parameters, instance->layout.dims + (size_t)number * 64, view->dims,
        view->rank * sizeof(int64_t));
    put(parameters, instance->layout.strides + (size_t)number * 64, view->strides,
        view->rank * sizeof(int64_t));
  }
}

/* Divides the innermost axis into accesses; what it had is left in `out_last`. Of columns it is the
 * innermost of the rows. */
static void divide(const instance_t* instance, bound_t* bound, tenon__cuda_axes_t* axes,
                   int64_t* out_last) {
  const int64_t elements = instance->form.elements;
  const uint32_t last = axes->rank - 1;
  *out_last = axes->extents[last];
  axes->extents[last] = (axes->extents[last] + elements - 1) / elements;
  for (uint32_t w = 0; w < axes->walk_count; w++) {
    const int32_t step = (int32_t)axes->strides[last][w];
    put(bound->parameters, instance->layout.step + (size_t)w * 4, &step, sizeof(step));
    bound->wide[w] = step == 1 && bound->bytes[w] > 0;
    axes->strides[last][w] *= elements;
  }
}

/* Accesses of a walk are whole words when everything in front of them is a multiple. */
static void check_wide(const instance_t* instance, bound_t* bound, const tenon__cuda_axes_t* axes) {
  const int64_t elements = instance->form.elements;
  for (uint32_t w = 0; w < axes->walk_count; w++) {
    for (uint32_t k = 0; k < axes->rank; k++) {
      bound->wide[w] = bound->wide[w] && axes->strides[k][w] % elements == 0;
    }
  }
}

typedef struct counts_t {
  uint32_t count;
  uint32_t rows;
  uint32_t release;
  uint32_t ragged;
  uint32_t last;
  uint32_t split;
} counts_t;

static tenon_status_t too_large(const binding_t* binding) {
  return tenon__cuda_fail(binding->host->sink == NULL ? NULL : binding->host->sink(binding->handle),
                          TENON_ERROR_UNSUPPORTED,
                          "an expression of more than 2^31 accesses, or strides beyond 2^31");
}

static tenon_status_t finish(const binding_t* binding, bound_t* bound, counts_t* counts,
                             int64_t limit, int64_t blocks) {
  const instance_t* instance = bound->instance;
  const uint64_t elements = (uint64_t)limit;
  if (blocks > INT32_MAX) {
    return too_large(binding);
  }
  bound->launch.blocks = (uint32_t)blocks;
  counts->release =
      tenon__cuda_fits_at_once(instance->device, (uint64_t)blocks * bound->launch.threads);
  put(bound->parameters, instance->layout.limit, &elements, sizeof(elements));
  put(bound->parameters, instance->layout.counts, counts, sizeof(*counts));
  return TENON_OK;
}

/* One axis of whole accesses, along which all tensors go on. */
static bool is_dense(const bound_t* bound, const tenon__cuda_axes_t* axes, int64_t count) {
  const instance_t* instance = bound->instance;
  bool is_so = bound->whole && instance->dense != NULL && axes->rank == 1 &&
               count % instance->form.elements == 0;
  for (uint32_t w = 0; w < axes->walk_count; w++) {
    is_so = is_so && bound->wide[w];
  }
  return is_so;
}

static tenon_status_t bind_space(const binding_t* binding, bound_t* bound,
                                 const tenon__cuda_space_t* space) {
  const instance_t* instance = bound->instance;
  const tenon__cuda_layout_t* layout = &instance->layout;
  const int64_t threads = TENON_CUDA_SPACE_THREADS;
  tenon__cuda_axes_t axes;
  counts_t counts = {0};
  tenon__cuda_axes_join(space, UINT64_MAX, &axes);
  const int64_t count = tenon__cuda_axes_count(&axes);
  const uint32_t last = axes.rank - 1;
  bound->whole = (axes.rank == 1 || axes.extents[last] % instance->form.elements == 0) &&
                 axes.strides[last][space->main] == 1;
  int64_t work = count;
  int64_t each = threads * TENON_CUDA_SINGLES;
  if (bound->whole) {
    int64_t ignored = 0;
    divide(instance, bound, &axes, &ignored);
    check_wide(instance, bound, &axes);
    work = tenon__cuda_axes_count(&axes);
    each = threads * instance->form.batch;
    bound->dense = is_dense(bound, &axes, count);
  }
  if (work > INT32_MAX ||
      !tenon__cuda_axes_write(&axes, layout, layout->outer, bound->parameters)) {
    return too_large(binding);
  }
  counts.count = (uint32_t)work;
  bound->launch.kernel = bound->whole ? instance->whole : instance->other;
  bound->launch.threads = (uint32_t)threads;
  return finish(binding, bound, &counts, count, (work + each - 1) / each);
}

/* Does an output have an element at each point? */
static bool writes_points(const tenon__cuda_analysis_t* analysis) {
  bool writes = false;
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    writes = writes || !tenon__cuda_output_is_of_row(analysis, k);
  }
  return writes;
}

/* The order of axes by which columns were counted. Constants and operands of lower rank may lie in
 * another order. If one of them is the main walk, its innermost axis need not be whole accesses. */
static const uint32_t* order_of_columns(const instance_t* instance) {
  static const uint32_t rows[TENON_CUDA_AXES] = {0, 1, 2, 3, 4, 5, 6, 7};
  const bool is_last = instance->order == TENON_CUDA_ORDER_CHANNELS_LAST;
  return instance->form.columns == 0 || instance->order == TENON_CUDA_ORDER_ANY ? NULL
         : is_last ? tenon__cuda_channels_last(instance->analysis.program->rank)->order
                   : rows;
}

static tenon_status_t bind_rows(const binding_t* binding, bound_t* bound,
                                tenon__cuda_space_t* space) {
  const instance_t* instance = bound->instance;
  const tenon__cuda_layout_t* layout = &instance->layout;
  const tenon__cuda_form_t* form = &instance->form;
  const uint64_t along = instance->analysis.reduced_axes;
  tenon__cuda_axes_t outer;
  tenon__cuda_axes_t inner;
  counts_t counts = {0};
  int64_t last = 0;
  space->order = order_of_columns(instance);
  tenon__cuda_axes_join(space, ~along, &outer);
  space->order = NULL;
  tenon__cuda_axes_join(space, along, &inner);
  const int64_t length = tenon__cuda_axes_count(&inner);
  const tenon__cuda_axes_t whole = outer;
  divide(instance, bound, form->columns != 0 ? &outer : &inner, &last);
  check_wide(instance, bound, &inner);
  check_wide(instance, bound, &outer);
  const int64_t accesses = tenon__cuda_axes_count(&inner);
  const int64_t rows = tenon__cuda_axes_count(&outer); /* as many as an access has at once */
  const uint32_t slots = tenon__cuda_form_slots(form);
  const bool is_ragged = last % form->elements != 0;
  if (rows > INT32_MAX || accesses > INT32_MAX || last > INT32_MAX ||
      !tenon__cuda_axes_write(&outer, layout, layout->outer, bound->parameters) ||
      !tenon__cuda_axes_write(&inner, layout, layout->inner, bound->parameters)) {
    return too_large(binding);
  }
  counts.count = (uint32_t)accesses;
  counts.rows = (uint32_t)rows;
  counts.ragged = is_ragged ? 1 : 0;
  counts.last = (uint32_t)last;
  if (form->split > 0) {
    const int64_t groups = (rows + slots - 1) / slots;
    counts.split = form->split;
    bound->launch.threads = form->parts * slots;
    bound->last_blocks = (uint32_t)groups * (writes_points(&instance->analysis) ? form->split : 1);
    if (form->columns == 0 || !is_ragged) {
      return finish(binding, bound, &counts, length, groups * form->split);
    }
  }
  bound->whole = form->items > 0 && accesses <= (int64_t)form->items * form->parts;
  bound->launch.kernel = bound->whole ? instance->whole : instance->other;
  bound->launch.threads = form->parts * slots;
  if (bound->launch.kernel == NULL || (form->columns != 0 && is_ragged)) {
    return tenon__cuda_fail(
        binding->host->sink == NULL ? NULL : binding->host->sink(binding->handle),
        TENON_ERROR_INTERNAL,
        "%lld rows of %lld elements, where the plan was made for %u threads of %u",
        (long long)tenon__cuda_axes_count(&whole), (long long)length, form->parts,
        form->items * form->elements);
  }
  return finish(binding, bound, &counts, length, (rows + slots - 1) / slots);
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const binding_t binding = {handle, host};
  const instance_t* self = instance;
  tenon__cuda_space_t space;
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = self;
  bound->parameters = host->allocate(handle, self->layout.total);
  if (bound->parameters == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon_status_t status = read_space(&binding, self, &space, bound);
  status = status == TENON_OK ? check_extents(&binding, self, &space) : status;
  if (status != TENON_OK) {
    return status;
  }
  put(bound->parameters, self->layout.size, space.extents, space.rank * sizeof(int64_t));
  write_indexed(&binding, self, bound->parameters);
  status = self->analysis.reduces ? bind_rows(&binding, bound, &space)
                                  : bind_space(&binding, bound, &space);
  if (status == TENON_OK && self->analysis.loads) {
    bound->fault = tenon__cuda_fault_take(self->device);
  }
  if (bound->fault != NULL) {
    put(bound->parameters, self->layout.fault, &bound->fault->address, sizeof(CUdeviceptr));
  }
  if (status == TENON_OK) {
    *out_bound = bound;
  }
  return status;
}

static void unbind(void* instance, void* bound) {
  const instance_t* self = instance;
  tenon__cuda_fault_give(self->device, ((const bound_t*)bound)->fault);
}

/* ---- Running ---- */

/* Returns whether accesses are whole words. */
static bool put_address(bound_t* bound, uint32_t walk, void* data) {
  const tenon__cuda_layout_t* layout = &bound->instance->layout;
  const int64_t word = bound->instance->form.elements * bound->bytes[walk];
  const uintptr_t address = (uintptr_t)data;
  const int32_t wide =
      bound->wide[walk] && address % (uintptr_t)(word > 16 ? 16 : word) == 0 ? 1 : 0;
  put(bound->parameters, (size_t)walk * 8, &address, sizeof(address));
  put(bound->parameters, layout->wide + (size_t)walk * 4, &wide, sizeof(wide));
  return wide != 0;
}

/* A launch for each level of reductions, and one for the results. */
static tenon_status_t run_split(const tenon_enqueue_t* call, bound_t* bound) {
  const instance_t* instance = bound->instance;
  const uint32_t levels = instance->analysis.levels;
  tenon__cuda_launch_t launch = bound->launch;
  void* partials = call->host->scratch(call->run);
  tenon_status_t status = TENON_OK;
  put(bound->parameters, instance->layout.partials, &partials, sizeof(partials));
  for (uint32_t k = 0; k <= levels && status == TENON_OK; k++) {
    launch.kernel = instance->split[k];
    launch.blocks = k < levels ? launch.blocks : bound->last_blocks;
    status = tenon__cuda_launch(instance->device, call, &launch, bound->parameters);
  }
  return status;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  const instance_t* instance = bound->instance;
  const tenon__cuda_analysis_t* analysis = &instance->analysis;
  const tenon_program_t* program = analysis->program;
  if (bound->launch.blocks == 0) {
    return TENON_OK;
  }
  tenon__cuda_launch_t launch = bound->launch;
  bool is_wide = true;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    void* data = call->inputs[program->operands[k].index].tensor.data;
    if (analysis->operand_walks[k] != TENON_NONE) {
      is_wide = put_address(bound, analysis->operand_walks[k], data) && is_wide;
    } else {
      put(bound->parameters, instance->layout.indexed + (size_t)analysis->indexed[k] * 8, &data,
          sizeof(data));
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_argument_t* output = &call->outputs[program->outputs[k].index];
    is_wide = put_address(bound, analysis->output_walks[k],
                          output->kind == TENON_ARGUMENT_TENSOR ? output->tensor.data : NULL) &&
              is_wide;
  }
  if (bound->fault != NULL) {
    bound->fault->stream = call->host->stream(call->run);
  }
  launch.kernel = bound->dense && is_wide ? instance->dense : launch.kernel;
  return instance->form.split > 0
             ? run_split(call, bound)
             : tenon__cuda_launch(instance->device, call, &launch, bound->parameters);
}

const tenon_kernel_t tenon__cuda_expressions_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "expressions",
    .device = "cuda",
    .version = 2,
    .flags = TENON_KERNEL_EXPRESSIONS,
    .match = tenon__cuda_expression_match,
    .tactics = tenon__cuda_expression_tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
    .unbind = unbind,
    .destroy = destroy,
    .begin_prepare = begin_prepare,
};
