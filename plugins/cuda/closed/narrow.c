/*
 * Expressions of elements below a byte: without reductions, and without reading at computed places.
 * Their results lie in rows, for a thread writes whole bytes. See narrow.cuh.
 */
#include <string.h>

#include "../generate.h"
#include "../kernels.h"
#include "../texts.h"
#include "closed.h"

#define ADD tenon__cuda_text_add

enum { TENSORS = TENON_CUDA_TENSORS, AXES = TENON_CUDA_AXES };

/* As narrow.cuh has them. */
typedef struct walk_t {
  void* data;
  int64_t skip;
  int64_t strides[AXES];
} walk_t;
typedef struct parameters_t {
  int64_t size[AXES];
  int64_t count;
  int32_t rank;
  int32_t release;
  walk_t walks[TENSORS + AXES];
} parameters_t;

typedef struct instance_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  tenon__cuda_analysis_t analysis;
  CUfunction kernel;
  uint32_t group; /* neighbours of a thread */
} instance_t;

typedef struct bound_t {
  const instance_t* instance;
  parameters_t parameters;
} bound_t;

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_program_t* program = table->program(region);
  tenon__cuda_analysis_t analysis;
  uint32_t reason = TENON_REFUSAL_OTHER;
  const char* why =
      program == NULL ? "no program" : tenon__cuda_analyse(program, &analysis, &reason);
  if (why != NULL) {
    return tenon__cuda_refuse(out_refusal, reason, why);
  }
  if (!tenon__cuda_is_narrow(program)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DTYPE, "no elements below a byte");
  }
  if (analysis.reduces || analysis.indexed_count > 0) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER,
                              "elements below a byte, in reductions or at computed places");
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state, (void)region, (void)table;
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "bytes",
                                 .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY,
                                 .launches = 1};
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static void write_kernel(const instance_t* instance, tenon__cuda_text_t* text) {
  const tenon__cuda_analysis_t* analysis = &instance->analysis;
  const tenon_program_t* program = analysis->program;
  ADD(text,
      "extern \"C\" __global__ void __launch_bounds__(256) bytes(const __grid_constant__ "
      "parameters_t p) {\n  begin(p);\n  const i64 step = (i64)gridDim.x * blockDim.x * %u;\n"
      "  for (i64 n = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * %u; n < p.count; n += step) "
      "{\n"
      "    for (i64 i = n; i < n + %u && i < p.count; ++i) {\n"
      "      in_t in;\n      row_t row;\n      out_t out;\n",
      instance->group, instance->group, instance->group);
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const tenon_dtype_t dtype = program->operands[k].dtype;
    const uint32_t walk = analysis->operand_walks[k];
    if (tenon__cuda_bytes(dtype) == 0) {
      ADD(text, "      in.s%u = bits_at(p.walks[%u], place_of(p, p.walks[%u], i), %u);\n", walk,
          walk, walk, tenon__cuda_bits(dtype));
    } else {
      ADD(text,
          "      in.s%u = ((const stored_%s*)p.walks[%u].data)[place_of(p, p.walks[%u], i)];\n",
          walk, tenon__cuda_mnemonic(dtype), walk, walk);
    }
  }
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    const uint32_t walk = analysis->axis_walks[axis];
    if (walk != TENON_NONE) {
      ADD(text, "      in.c%u = place_of(p, p.walks[%u], i);\n", walk, walk);
    }
  }
  ADD(text, "      element(p, in, row, out);\n");
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_dtype_t dtype = program->outputs[k].dtype;
    const uint32_t walk = analysis->output_walks[k];
    ADD(text, "      if (p.walks[%u].data != 0) ", walk);
    if (tenon__cuda_bytes(dtype) == 0) {
      ADD(text, "put_bits(p.walks[%u], place_of(p, p.walks[%u], i), %u, out.r%u);\n", walk, walk,
          tenon__cuda_bits(dtype), k);
    } else {
      ADD(text, "((stored_%s*)p.walks[%u].data)[place_of(p, p.walks[%u], i)] = out.r%u;\n",
          tenon__cuda_mnemonic(dtype), walk, walk, k);
    }
  }
  ADD(text, "    }\n  }\n}\n");
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  uint32_t reason = 0;
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_program_t* program = call->table->program(call->region);
  if (tenon__cuda_analyse(program, &instance->analysis, &reason) != NULL) {
    return TENON_ERROR_INTERNAL;
  }
  instance->device = device;
  instance->group = 1;
  for (uint32_t k = 0; k < program->output_count; k++) {
    const uint32_t bits = tenon__cuda_bits(program->outputs[k].dtype);
    const uint32_t of_byte = bits < 8 ? 8 / bits : 1;
    instance->group = of_byte > instance->group ? of_byte : instance->group;
  }
  tenon__cuda_text_t text = {.allocator = device->state->allocator};
  tenon__cuda_text_copy(&text, tenon__cuda_arithmetic_text);
  tenon__cuda_text_copy(&text, tenon__cuda_launch_text);
  ADD(&text, "#define WALKS %u\n",
      instance->analysis.walk_count > 0 ? instance->analysis.walk_count : 1);
  tenon__cuda_text_copy(&text, tenon__cuda_closed_narrow_text);
  tenon__cuda_generate_values(&instance->analysis, &text);
  write_kernel(instance, &text);
  const tenon__cuda_wanted_t wanted = {"bytes", &instance->kernel};
  const tenon_status_t status =
      tenon__cuda_module_get(device, call, &text, &wanted, 1, &instance->module);
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

static void take_view(const tenon_tensor_view_t* view, const parameters_t* parameters,
                      walk_t* out_walk) {
  const uint32_t bits = tenon__cuda_bits(view->dtype);
  out_walk->skip = bits < 8 ? view->bit_offset / bits : 0;
  for (int32_t axis = 0; axis < parameters->rank; axis++) {
    out_walk->strides[axis] = view->dims[axis] == 1 ? 0 : view->strides[axis];
  }
}

/* Whole bytes are one thread's only where the result lies as the space is counted. */
static bool is_in_rows(const walk_t* walk, const parameters_t* parameters) {
  int64_t expected = 1;
  bool is = walk->skip == 0;
  for (int32_t axis = parameters->rank - 1; axis >= 0; axis--) {
    is = is && (parameters->size[axis] == 1 || walk->strides[axis] == expected);
    expected *= parameters->size[axis];
  }
  return is;
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const instance_t* self = instance;
  const tenon_program_t* program = self->analysis.program;
  const int64_t* extents = host->space(handle, TENON_NONE);
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  bool fits = true;
  if (bound == NULL || (extents == NULL && program->rank > 0)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  parameters_t* parameters = &bound->parameters;
  bound->instance = self;
  parameters->rank = (int32_t)program->rank;
  parameters->count = 1;
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    parameters->size[axis] = extents[axis];
    parameters->count *= extents[axis];
    if (self->analysis.axis_walks[axis] != TENON_NONE) {
      parameters->walks[self->analysis.axis_walks[axis]].strides[axis] = 1;
    }
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    take_view(&host->input(handle, program->operands[k].index)->tensor, parameters,
              &parameters->walks[self->analysis.operand_walks[k]]);
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_argument_t* output = host->output(handle, program->outputs[k].index);
    walk_t* walk = &parameters->walks[self->analysis.output_walks[k]];
    if (output->kind == TENON_ARGUMENT_TENSOR) {
      take_view(&output->tensor, parameters, walk);
      fits = fits && (tenon__cuda_bytes(output->tensor.dtype) != 0 || is_in_rows(walk, parameters));
    }
  }
  if (!fits) {
    return tenon__cuda_fail(host->sink == NULL ? NULL : host->sink(handle), TENON_ERROR_UNSUPPORTED,
                            "elements below a byte are written in rows alone");
  }
  *out_bound = bound;
  return TENON_OK;
}

/* ---- Running ---- */

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  enum { BLOCKS_OF_A_MULTIPROCESSOR = 16 };
  bound_t* bound = call->bound;
  const instance_t* instance = bound->instance;
  const tenon__cuda_analysis_t* analysis = &instance->analysis;
  const tenon_program_t* program = analysis->program;
  parameters_t* parameters = &bound->parameters;
  const int64_t most = (int64_t)instance->device->multiprocessors * BLOCKS_OF_A_MULTIPROCESSOR;
  const int64_t threads = (parameters->count + instance->group - 1) / instance->group;
  const int64_t blocks = (threads + TENON_CLOSED_THREADS - 1) / TENON_CLOSED_THREADS;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    parameters->walks[analysis->operand_walks[k]].data =
        call->inputs[program->operands[k].index].tensor.data;
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_argument_t* output = &call->outputs[program->outputs[k].index];
    parameters->walks[analysis->output_walks[k]].data =
        output->kind == TENON_ARGUMENT_TENSOR ? output->tensor.data : NULL;
  }
  const tenon__cuda_launch_t launch = {instance->kernel, (uint32_t)(blocks < most ? blocks : most),
                                       TENON_CLOSED_THREADS, 0};
  parameters->release =
      (int32_t)tenon__cuda_fits_at_once(instance->device, (uint64_t)launch.blocks * launch.threads);
  return blocks == 0 ? TENON_OK : tenon__cuda_launch(instance->device, call, &launch, parameters);
}

const tenon_kernel_t tenon__cuda_narrow_expressions_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "narrow_expressions",
    .device = "cuda",
    .version = 1,
    .flags = TENON_KERNEL_EXPRESSIONS,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
    .destroy = destroy,
};
