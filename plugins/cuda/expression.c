/*
 * The expression kernel. `prepare` generates CUDA C for a program (generate.h) and compiles it for
 * the device, once for equal sources. `bind` is in expression_bind.c. `enqueue` sets the addresses
 * and launches one kernel, or several if blocks share rows.
 */
#include "expression.h"

#include <string.h>

#include "compiler.h"
#include "expression_bind.h"
#include "form.h"
#include "kernels.h"
#include "launch.h"

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

/* Generates the source and loads its module. */
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

static void unbind(void* instance, void* bound) {
  const instance_t* self = instance;
  tenon__cuda_fault_give(self->device, ((const bound_t*)bound)->fault);
}

/* ---- Running ---- */

/* Sets the address of a walk. Returns whether its accesses are whole and aligned. */
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

/* Launches one kernel for each level of reductions and one kernel for the results. */
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
    .bind = tenon__cuda_expression_bind,
    .enqueue = enqueue,
    .unbind = unbind,
    .destroy = destroy,
    .begin_prepare = begin_prepare,
};
