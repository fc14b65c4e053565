/* Binds an expression. Reduces its iteration space to the fewest axes and writes the parameters of
 * the launch. */
#include "expression_bind.h"

#include "layouts.h"

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
} binding_t;

static const tenon_sink_t* sink_of(const binding_t* binding) {
  return binding->host->sink == NULL ? NULL : binding->host->sink(binding->handle);
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
  if (varying > *inout_most) { /* the first walk that varies along the most axes */
    *inout_most = varying;
    space->main = walk;
  }
}

/* Reads extents and strides. The main walk determines the order of the threads. It is an output of
 * a program without reductions, and an operand of a program with reductions. */
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

/* Rejects extents above the limit for which the kernel was compiled. The ranges that a plan gives
 * may be wrong. */
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
                   sink_of(binding), TENON_ERROR_INTERNAL,
                   "an extent of %lld exceeds %d, the limit of this plan; rebuild the plan",
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

/* Divides the innermost axis into accesses. `out_last` gets its extent before the division. For
 * columns, this is the innermost axis of the rows. */
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

/* A walk has whole accesses only if all its strides are multiples of the elements of an access. */
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
  return tenon__cuda_fail(sink_of(binding), TENON_ERROR_UNSUPPORTED,
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

/* Returns whether all tensors are contiguous and consist of whole accesses. */
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

/* Returns whether an output has an element at each point. */
static bool writes_points(const tenon__cuda_analysis_t* analysis) {
  bool writes = false;
  for (uint32_t k = 0; k < analysis->program->output_count; k++) {
    writes = writes || !tenon__cuda_output_is_of_row(analysis, k);
  }
  return writes;
}

/* Returns the axis order for which columns were counted, or NULL if the strides decide. Constants
 * and operands of lower rank may have another order. If one of them is the main walk, its innermost
 * axis may not consist of whole accesses. */
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
  const int64_t rows = tenon__cuda_axes_count(&outer); /* columns: groups of rows */
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
        sink_of(binding), TENON_ERROR_INTERNAL,
        "%lld rows of %lld elements do not fit the plan's %u threads of %u; rebuild the plan",
        (long long)tenon__cuda_axes_count(&whole), (long long)length, form->parts,
        form->items * form->elements);
  }
  return finish(binding, bound, &counts, length, (rows + slots - 1) / slots);
}

tenon_status_t tenon__cuda_expression_bind(void* instance, tenon_binding_t* handle,
                                           const tenon_bind_table_t* host, void** out_bound) {
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
