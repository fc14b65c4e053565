/* Contexts: the border of the runtime. */
#include "core/context/context.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/context/border.h"
#include "core/context/run_times.h"
#include "core/context/states.h"
#include "core/context/work.h"
#include "core/plan/work.h"
#include "core/tensor/layout.h"
#include "sdk/library/library.h"

enum { DEPTH_LIMIT = 16 };

tenon_status_t tenon_context_create(tenon_engine_t* engine, const tenon_context_options_t* options,
                                    tenon_context_t** out_context) {
  tenon_context_options_t own;
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_context", out_context != NULL));
  TENON_TRY(
      tenon__options_copy(&engine->sink, "tenon_context_options_t", options, &own, sizeof(own)));
  tenon_context_t* context = tenon__allocate(engine->registry->allocator, 1, sizeof(*context));
  if (context == NULL) {
    return tenon__fail_memory(&engine->sink);
  }
  atomic_flag_clear(&context->in_use);
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status =
      tenon__context_create(engine->engine, own.thread_count, own.stream, &context->context);
  tenon__c_locale_leave(outer);
  if (status != TENON_OK) {
    tenon__free(engine->registry->allocator, context, sizeof(*context));
    return tenon__tell(&engine->sink, __func__, status);
  }
  context->engine = engine;
  tenon_engine_retain(engine);
  *out_context = context;
  return TENON_OK;
}

/* Of all outputs: what is known and what is the most, TENON_RANK_LIMIT each. */
static size_t extents_count(const tenon_context_t* context) {
  return (size_t)tenon_engine_output_count(context->engine) * 2 * TENON_RANK_LIMIT;
}

void tenon_context_destroy(tenon_context_t* context) {
  if (context != NULL) {
    tenon_engine_t* engine = context->engine;
    tenon__context_destroy(context->context);
    tenon__free(engine->registry->allocator, context->extents,
                context->extents != NULL ? extents_count(context) * sizeof(int64_t) : 0);
    tenon__free(engine->registry->allocator, context, sizeof(*context));
    tenon_engine_release(engine);
  }
}

/* ---- Inputs and outputs ---- */

/* "input 'image'", for messages. */
typedef struct tensor_name_t {
  char text[300];
} tensor_name_t;

static const char* name_tensor(const char* what, const tenon_io_info_t* info,
                               tensor_name_t* out_name) {
  (void)snprintf(out_name->text, sizeof(out_name->text), "%s '%.256s'", what, info->name);
  return out_name->text;
}

/* A second thread in one context would write over the first one's tensors. */
static tenon_status_t begin_use(tenon_context_t* context, const char* function) {
  return !atomic_flag_test_and_set_explicit(&context->in_use, memory_order_acquire)
             ? TENON_OK
             : tenon__fail(&context->engine->sink, TENON_ERROR_INVALID_STATE,
                           "%s: another call is using this context: give each thread a context of "
                           "its own",
                           function);
}

static tenon_status_t end_use(tenon_context_t* context, const char* function,
                              tenon_status_t status) {
  atomic_flag_clear_explicit(&context->in_use, memory_order_release);
  return tenon__tell(&context->engine->sink, function, status);
}

typedef tenon_status_t (*set_input_t)(tenon__context_t* context, uint32_t index,
                                      const tenon_argument_t* argument);

static tenon_status_t set_tensor(tenon_context_t* context, const char* function, uint32_t index,
                                 const tenon_tensor_view_t* view, set_input_t set) {
  int64_t strides[TENON_RANK_LIMIT];
  tensor_name_t name;
  const tenon_io_info_t* input = NULL;
  tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR};
  TENON_TRY(tenon__enter(function, "context", context != NULL));
  const tenon_sink_t* sink = &context->engine->sink;
  TENON_TRY(tenon__need(sink, function, "view", view != NULL));
  TENON_TRY(tenon__engine_input(context->engine, function, index, &input));
  TENON_TRY(tenon__complete_view(sink, name_tensor("input", input, &name), view, strides,
                                 &argument.tensor));
  TENON_TRY(begin_use(context, function));
  return end_use(context, function, set(context->context, index, &argument));
}

tenon_status_t tenon_context_set_input(tenon_context_t* context, uint32_t index,
                                       const tenon_tensor_view_t* view) {
  return set_tensor(context, __func__, index, view, tenon__context_set_input);
}

tenon_status_t tenon_context_set_input_on_device(tenon_context_t* context, uint32_t index,
                                                 const tenon_tensor_view_t* view) {
  return set_tensor(context, __func__, index, view, tenon__context_set_input_on_device);
}

static tenon_status_t check_argument(const tenon_sink_t* sink, const char* what,
                                     const tenon_argument_t* argument, uint32_t depth) {
  int64_t strides[TENON_RANK_LIMIT];
  tenon_tensor_view_t view;
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    return tenon__complete_view(sink, what, &argument->tensor, strides, &view);
  }
  const bool is_optional = argument->kind == TENON_ARGUMENT_OPTIONAL ||
                           argument->kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE;
  if ((argument->kind != TENON_ARGUMENT_SEQUENCE && !is_optional) ||
      (argument->count > 0 && argument->items == NULL) || depth > DEPTH_LIMIT ||
      (is_optional && argument->count > 1)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "%s: the argument is no tensor, sequence or optional", what);
  }
  for (uint32_t i = 0; i < argument->count; ++i) {
    TENON_TRY(check_argument(sink, what, &argument->items[i], depth + 1));
  }
  return TENON_OK;
}

tenon_status_t tenon_context_set_input_argument(tenon_context_t* context, uint32_t index,
                                                const tenon_argument_t* argument) {
  tensor_name_t name;
  const tenon_io_info_t* input = NULL;
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  const tenon_sink_t* sink = &context->engine->sink;
  TENON_TRY(tenon__need(sink, __func__, "argument", argument != NULL));
  TENON_TRY(tenon__engine_input(context->engine, __func__, index, &input));
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    return tenon_context_set_input(context, index, &argument->tensor);
  }
  TENON_TRY(check_argument(sink, name_tensor("input", input, &name), argument, 0));
  TENON_TRY(begin_use(context, __func__));
  return end_use(context, __func__, tenon__context_set_input(context->context, index, argument));
}

typedef tenon_status_t (*set_output_t)(tenon__context_t* context, uint32_t index,
                                       const tenon_tensor_view_t* view);

/* Without a view, where one need not be given: the memory is the context's again. */
static tenon_status_t set_output(tenon_context_t* context, const char* function, uint32_t index,
                                 const tenon_tensor_view_t* view, set_output_t set) {
  int64_t strides[TENON_RANK_LIMIT];
  tensor_name_t name;
  tenon_tensor_view_t complete;
  const tenon_io_info_t* output = NULL;
  const tenon_sink_t* sink = &context->engine->sink;
  TENON_TRY(tenon__engine_output(context->engine, function, index, &output));
  if (view != NULL) {
    TENON_TRY(
        tenon__complete_view(sink, name_tensor("output", output, &name), view, strides, &complete));
  }
  TENON_TRY(begin_use(context, function));
  return end_use(context, function, set(context->context, index, view != NULL ? &complete : NULL));
}

tenon_status_t tenon_context_set_output(tenon_context_t* context, uint32_t index,
                                        const tenon_tensor_view_t* view) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  return set_output(context, __func__, index, view, tenon__context_set_output);
}

tenon_status_t tenon_context_set_output_on_device(tenon_context_t* context, uint32_t index,
                                                  const tenon_tensor_view_t* view) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "view", view != NULL));
  return set_output(context, __func__, index, view, tenon__context_set_output_on_device);
}

void* tenon_context_get_stream(const tenon_context_t* context, const char* name) {
  return context == NULL || name == NULL ? NULL
                                         : tenon__context_native_stream(context->context, name);
}

tenon_status_t tenon_context_get_output_extents(tenon_context_t* context, uint32_t index,
                                                const int64_t** out_dims,
                                                const int64_t** out_max_dims) {
  const tenon_io_info_t* output = NULL;
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  const tenon_sink_t* sink = &context->engine->sink;
  TENON_TRY(tenon__need(sink, __func__, "out_dims", out_dims != NULL));
  TENON_TRY(tenon__need(sink, __func__, "out_max_dims", out_max_dims != NULL));
  TENON_TRY(tenon__engine_output(context->engine, __func__, index, &output));
  if (context->extents == NULL) {
    context->extents = tenon__allocate(context->engine->registry->allocator, extents_count(context),
                                       sizeof(int64_t));
  }
  if (context->extents == NULL) {
    return tenon__fail_memory(sink);
  }
  int64_t* dims = context->extents + (size_t)index * 2 * TENON_RANK_LIMIT;
  int64_t* max_dims = dims + TENON_RANK_LIMIT;
  TENON_TRY(tenon__tell(sink, __func__,
                        tenon__context_output_extents(context->context, index, dims, max_dims)));
  *out_dims = dims;
  *out_max_dims = max_dims;
  return TENON_OK;
}

/* ---- Running ---- */

tenon_status_t tenon_context_run(tenon_context_t* context) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(begin_use(context, __func__));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = tenon__context_run(context->context);
  tenon__c_locale_leave(outer);
  return end_use(context, __func__, status);
}

tenon_status_t tenon_context_enqueue(tenon_context_t* context) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(begin_use(context, __func__));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = tenon__context_enqueue(context->context);
  tenon__c_locale_leave(outer);
  return end_use(context, __func__, status);
}

tenon_status_t tenon_context_synchronize(tenon_context_t* context) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(begin_use(context, __func__));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = tenon__context_synchronize(context->context);
  tenon__c_locale_leave(outer);
  return end_use(context, __func__, status);
}

void tenon_context_cancel(tenon_context_t* context) {
  if (context != NULL) {
    tenon__context_cancel(context->context);
  }
}

tenon_status_t tenon_context_get_output_argument(const tenon_context_t* context, uint32_t index,
                                                 const tenon_argument_t** out_argument) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "out_argument", out_argument != NULL));
  const tenon_io_info_t* output = NULL;
  TENON_TRY(tenon__engine_output(context->engine, __func__, index, &output));
  const tenon_argument_t* argument = tenon__context_get_output(context->context, index);
  if (argument == NULL || argument->kind == TENON_ARGUMENT_ABSENT) {
    return tenon__fail(&context->engine->sink, TENON_ERROR_INVALID_STATE,
                       "output '%s': there was no run yet, or the last one failed", output->name);
  }
  *out_argument = argument;
  return TENON_OK;
}

tenon_status_t tenon_context_get_output(const tenon_context_t* context, uint32_t index,
                                        tenon_tensor_view_t* out_view) {
  const tenon_argument_t* argument = NULL;
  const tenon_io_info_t* output = NULL;
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "out_view", out_view != NULL));
  TENON_TRY(tenon__engine_output(context->engine, __func__, index, &output));
  TENON_TRY(tenon_context_get_output_argument(context, index, &argument));
  if (argument == NULL || argument->kind != TENON_ARGUMENT_TENSOR) {
    return tenon__fail(&context->engine->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "output '%s' is a sequence or an optional: "
                       "tenon_context_get_output_argument gives it",
                       output->name);
  }
  *out_view = argument->tensor;
  return TENON_OK;
}

tenon_status_t tenon_context_set_profiler(tenon_context_t* context, tenon_profiler_t profiler,
                                          void* user) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  tenon__context_set_profiler(context->context, profiler, user);
  return TENON_OK;
}

tenon_status_t tenon_context_get_step_work(const tenon_context_t* context, uint32_t step,
                                           tenon_step_work_t* out_work) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  tenon__work_t work;
  bool is_reference = false;
  TENON_TRY(tenon__tell(&context->engine->sink, __func__,
                        tenon__context_step_work(context->context, step, &work, &is_reference)));
  const tenon_step_work_t made = {
      .operations = work.operations_known ? work.operations : -1,
      .bytes_read = work.bytes_read,
      .bytes_written = work.bytes_written,
      .flags = (work.is_constant ? TENON_STEP_IS_CONSTANT : 0u) |
               (work.is_copy ? TENON_STEP_IS_COPY : 0u) |
               (is_reference ? TENON_STEP_IS_REFERENCE : 0u) |
               (work.is_elementwise ? TENON_STEP_IS_ELEMENTWISE : 0u) |
               (work.is_shape ? TENON_STEP_IS_SHAPE : 0u),
  };
  return TENON_RESULT_FILL(&context->engine->sink, tenon_step_work_t, &made, out_work);
}

tenon_status_t tenon_context_set_timing(tenon_context_t* context, uint32_t wanted) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  if (wanted > TENON_TIMING_AT_WAIT) {
    return tenon__fail(&context->engine->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "%s: the value is %u; use 0, 1 or 2", __func__, wanted);
  }
  TENON_TRY(tenon_context_synchronize(context));
  return tenon__tell(&context->engine->sink, __func__,
                     tenon__context_set_timing(context->context, (tenon__timing_mode_t)wanted));
}

tenon_status_t tenon_context_get_times(tenon_context_t* context, tenon_run_times_t* out_times) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  tenon__run_times_t times;
  TENON_TRY(tenon__tell(&context->engine->sink, __func__,
                        tenon__context_get_times(context->context, &times)));
  const tenon_run_times_t made = {.run_count = times.run_count,
                                  .wait_count = times.wait_count,
                                  .seconds = times.seconds,
                                  .transfer_in_seconds = times.transfer_in_seconds,
                                  .transfer_out_seconds = times.transfer_out_seconds,
                                  .inputs_on_host = times.inputs_on_host,
                                  .outputs_on_host = times.outputs_on_host};
  return TENON_RESULT_FILL(&context->engine->sink, tenon_run_times_t, &made, out_times);
}

/* ---- States ---- */

tenon_status_t tenon_context_read_state(tenon_context_t* context, const char* name, void* out_data,
                                        size_t size_bytes) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "out_data", out_data != NULL));
  return tenon__tell(&context->engine->sink, __func__,
                     tenon__context_read_state(context->context, name, out_data, size_bytes));
}

tenon_status_t tenon_context_write_state(tenon_context_t* context, const char* name,
                                         const void* data, size_t size_bytes) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "data", data != NULL));
  return tenon__tell(&context->engine->sink, __func__,
                     tenon__context_write_state(context->context, name, data, size_bytes));
}

tenon_status_t tenon_context_reset_states(tenon_context_t* context) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  return tenon__tell(&context->engine->sink, __func__,
                     tenon__context_reset_states(context->context));
}

tenon_status_t tenon_context_clone_states(tenon_context_t* context, const tenon_context_t* source) {
  TENON_TRY(tenon__enter(__func__, "context", context != NULL));
  TENON_TRY(tenon__need(&context->engine->sink, __func__, "source", source != NULL));
  return tenon__tell(&context->engine->sink, __func__,
                     tenon__context_clone_states(context->context, source->context));
}
