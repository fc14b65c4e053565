/* See lending.h. */
#include "session/lending.h"

#include <string.h>

#include "text/console.h"
#include "text/memory.h"

const char* tool_execution_device(const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  const bool has = tenon_engine_get_info(execution->engine, &info) == TENON_OK &&
                   strcmp(info.device, "cpu") != 0;
  return has ? info.device : NULL;
}

static tenon_status_t allocate(const tool_lending_t* lending, uint64_t bytes, tool_lent_t* lent) {
  lent->size_bytes = bytes;
  return tenon_engine_allocate(lending->execution->engine, bytes, &lent->data);
}

static bool can_lie_there(const tenon_io_info_t* info) {
  return info->kind == TENON_ARGUMENT_TENSOR && info->rank != TENON_NONE &&
         info->dtype != TENON_DTYPE_STRING;
}

static tenon_status_t lend_input(tool_lending_t* lending, uint32_t index) {
  const tool_execution_t* execution = lending->execution;
  const tool_value_t* value = &execution->values[index];
  tool_lent_t* lent = &lending->inputs[index];
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (!can_lie_there(&execution->inputs[index]) || value->kind != TENON_ARGUMENT_TENSOR ||
      !tool_element_count(value->rank, value->dims, value->dtype, &count, &bytes)) {
    lending->inputs_left += 1;
    return TENON_OK;
  }
  TOOL_TRY(allocate(lending, bytes, lent));
  TOOL_TRY(
      tenon_engine_copy(execution->engine, TENON_COPY_TO_DEVICE, lent->data, value->data, bytes));
  const tenon_tensor_view_t view = {.data = lent->data,
                                    .dims = value->dims,
                                    .rank = value->rank,
                                    .dtype = value->dtype,
                                    .layout = TENON_NONE};
  return tenon_context_set_input_on_device(lending->context, index, &view);
}

/* Where the data decide the extents there is room for the most. */
static tenon_status_t lend_output(tool_lending_t* lending, uint32_t index) {
  const tenon_io_info_t* info = &lending->execution->outputs[index];
  tool_lent_t* lent = &lending->outputs[index];
  const int64_t* dims = NULL;
  const int64_t* most = NULL;
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (!can_lie_there(info)) {
    lending->outputs_left += 1;
    return TENON_OK;
  }
  TOOL_TRY(tenon_context_get_output_extents(lending->context, index, &dims, &most));
  if (!tool_element_count(info->rank, most, info->dtype, &count, &bytes)) {
    lending->outputs_left += 1;
    return TENON_OK;
  }
  TOOL_TRY(allocate(lending, bytes, lent));
  const tenon_tensor_view_t view = {.data = lent->data,
                                    .dims = most,
                                    .rank = info->rank,
                                    .dtype = info->dtype,
                                    .layout = TENON_NONE};
  return tenon_context_set_output_on_device(lending->context, index, &view);
}

tenon_status_t tool_lending_begin(const tool_execution_t* execution, tenon_context_t* context,
                                  tool_lending_t* out_lending) {
  tool_lending_t lending = {.execution = execution, .context = context};
  tenon_status_t status = TENON_OK;
  lending.inputs = tool_allocate(execution->input_count, sizeof(*lending.inputs));
  lending.outputs = tool_allocate(execution->output_count, sizeof(*lending.outputs));
  for (uint32_t k = 0; k < execution->output_count && status == TENON_OK; ++k) {
    status = lend_output(&lending, k);
  }
  for (uint32_t k = 0; k < execution->input_count && status == TENON_OK; ++k) {
    status = lend_input(&lending, k);
  }
  if (status != TENON_OK) {
    tool_lending_end(&lending);
    return status;
  }
  *out_lending = lending;
  return TENON_OK;
}

void tool_lending_end(tool_lending_t* lending) {
  const tool_execution_t* execution = lending->execution;
  if (execution == NULL) {
    return;
  }
  (void)tenon_context_synchronize(lending->context);
  (void)tool_execution_set(execution, lending->context);
  for (uint32_t k = 0; k < execution->output_count; ++k) {
    (void)tenon_context_set_output(lending->context, k, NULL);
    tenon_engine_free(execution->engine, lending->outputs[k].data, lending->outputs[k].size_bytes);
  }
  for (uint32_t k = 0; k < execution->input_count; ++k) {
    tenon_engine_free(execution->engine, lending->inputs[k].data, lending->inputs[k].size_bytes);
  }
  tool_free(lending->inputs);
  tool_free(lending->outputs);
  *lending = (tool_lending_t){0};
}
