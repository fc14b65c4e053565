/* tenon.h: contexts. */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

TENON_API tenon_status_t tenon_context_create(tenon_engine_t* engine,
                                              const tenon_context_options_t* options,
                                              tenon_context_t** out_context) {
  tenon_context_options_t own;
  if (engine == NULL || out_context == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__options_copy(&own, sizeof own, options);
  tenon_context_t* context = tenon__allocate(engine->registry->allocator, 1, sizeof *context);
  if (context == NULL) {
    return tenon__fail_memory(&engine->registry->logger);
  }
  const tenon_status_t status =
      tenon__context_create(engine->engine, own.thread_count, own.stream, &context->context);
  if (status != TENON_OK) {
    tenon__free(engine->registry->allocator, context, sizeof *context);
    return status;
  }
  context->engine = engine;
  tenon_engine_retain(engine);
  *out_context = context;
  return TENON_OK;
}

TENON_API void tenon_context_destroy(tenon_context_t* context) {
  if (context == NULL) {
    return;
  }
  tenon_engine_t* engine = context->engine;
  tenon__context_destroy(context->context);
  tenon__free(engine->registry->allocator, context, sizeof *context);
  tenon_engine_release(engine);
}

TENON_API tenon_status_t tenon_context_set_input(tenon_context_t* context, uint32_t index,
                                                 const tenon_tensor_view_t* view) {
  if (context == NULL || view == NULL || (view->rank > 0 && view->dims == NULL)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = *view};
  return tenon__context_set_input(context->context, index, &argument);
}

TENON_API tenon_status_t tenon_context_set_input_argument(tenon_context_t* context, uint32_t index,
                                                          const tenon_argument_t* argument) {
  if (context == NULL || argument == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return tenon__context_set_input(context->context, index, argument);
}

TENON_API tenon_status_t tenon_context_set_output(tenon_context_t* context, uint32_t index,
                                                  const tenon_tensor_view_t* view) {
  return context == NULL ? TENON_ERROR_INVALID_ARGUMENT
                         : tenon__context_set_output(context->context, index, view);
}

TENON_API tenon_status_t tenon_context_run(tenon_context_t* context) {
  return context == NULL ? TENON_ERROR_INVALID_ARGUMENT : tenon__context_run(context->context);
}

TENON_API tenon_status_t tenon_context_enqueue(tenon_context_t* context) {
  return context == NULL ? TENON_ERROR_INVALID_ARGUMENT : tenon__context_enqueue(context->context);
}

TENON_API tenon_status_t tenon_context_synchronize(tenon_context_t* context) {
  return context == NULL ? TENON_ERROR_INVALID_ARGUMENT
                         : tenon__context_synchronize(context->context);
}

TENON_API tenon_status_t tenon_context_get_output_argument(const tenon_context_t* context,
                                                           uint32_t index,
                                                           const tenon_argument_t** out_argument) {
  if (context == NULL || out_argument == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_argument_t* argument = tenon__context_get_output(context->context, index);
  if (argument == NULL || argument->kind == TENON_ARGUMENT_ABSENT) {
    return tenon__fail(&context->engine->registry->logger,
                       argument == NULL ? TENON_ERROR_INVALID_ARGUMENT : TENON_ERROR_INVALID_STATE,
                       "output %u %s", index,
                       argument == NULL ? "does not exist" : "is there after a run only");
  }
  *out_argument = argument;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_get_output(const tenon_context_t* context, uint32_t index,
                                                  tenon_tensor_view_t* out_view) {
  const tenon_argument_t* argument = NULL;
  if (out_view == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(tenon_context_get_output_argument(context, index, &argument));
  if (argument->kind != TENON_ARGUMENT_TENSOR) {
    return tenon__fail(&context->engine->registry->logger, TENON_ERROR_INVALID_ARGUMENT,
                       "output %u is no tensor", index);
  }
  *out_view = argument->tensor;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_set_profiler(tenon_context_t* context,
                                                    tenon_profiler_t profiler, void* user) {
  if (context == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__context_set_profiler(context->context, profiler, user);
  return TENON_OK;
}

static tenon_status_t find_state(tenon_context_t* context, const char* name, size_t size_bytes,
                                 void** out_data) {
  size_t size = 0;
  if (context == NULL || name == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(tenon__context_state(context->context, name, out_data, &size));
  if (size != size_bytes) {
    return tenon__fail(&context->engine->registry->logger, TENON_ERROR_INVALID_ARGUMENT,
                       "state '%s' has %zu bytes, %zu were given", name, size, size_bytes);
  }
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_read_state(tenon_context_t* context, const char* name,
                                                  void* out_data, size_t size_bytes) {
  void* state = NULL;
  TENON_TRY(find_state(context, name, size_bytes, &state));
  memcpy(out_data, state, size_bytes);
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_write_state(tenon_context_t* context, const char* name,
                                                   const void* data, size_t size_bytes) {
  void* state = NULL;
  TENON_TRY(find_state(context, name, size_bytes, &state));
  memcpy(state, data, size_bytes);
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_reset_states(tenon_context_t* context) {
  if (context == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__context_reset_states(context->context);
  return TENON_OK;
}

TENON_API tenon_status_t tenon_context_clone_states(tenon_context_t* context,
                                                    const tenon_context_t* source) {
  if (context == NULL || source == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return tenon__context_clone_states(context->context, source->context);
}
