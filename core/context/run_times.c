/* Times of the device, and the number of inputs and outputs that were copied through the host. */
#include "core/context/run_times.h"

#include "core/base/status.h"
#include "core/context/context_state.h"

tenon_status_t tenon__context_set_timing(tenon__context_t* context, tenon__timing_mode_t mode) {
  return tenon__timing_set(&context->run, mode);
}

static void count_on_host(const tenon__context_t* context, tenon__run_times_t* times) {
  const tenon__graph_t* graph = context->run.engine->plan->network->graphs[0];
  for (uint32_t k = 0; k < graph->input_count; ++k) {
    const tenon__lent_t* lent = &context->lent_inputs[k];
    times->inputs_on_host += lent->data != NULL && lent->is_read_on_host ? 1 : 0;
  }
  for (uint32_t k = 0; k < graph->output_count; ++k) {
    const tenon__lent_t* lent = &context->lent_outputs[k];
    const bool crosses =
        lent->crossing == TENON_NONE ||
        context->run.frames[0].steps[lent->crossing].transfer == TENON_TRANSFER_CROSSES;
    times->outputs_on_host += lent->data != NULL && crosses ? 1 : 0;
  }
}

tenon_status_t tenon__context_get_times(tenon__context_t* context, tenon__run_times_t* out_times) {
  TENON_TRY(tenon__timing_get(&context->run, out_times));
  count_on_host(context, out_times);
  return TENON_OK;
}
