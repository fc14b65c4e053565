/*
 * Outputs whose extents a run finds. The first launches of a row count, and leave what they count
 * in scratch; the others write. Where the host gave memory for the extents (TENON_RULE_EXTENTS) the
 * writing kernels write them too, and nobody waits: launches follow one another. Else the call
 * waits for the numbers and makes the outputs between counting and writing.
 */
#include "closed.h"

enum { FOUND_NUMBERS = 4 };

static tenon_status_t make_output(const tenon_enqueue_t* call, tenon__closed_bound_t* bound,
                                  const int64_t* found, uint32_t output) {
  tenon__closed_shape_t shape = {.count = 1};
  tenon__closed_tensor_t* to = &bound->parameters.out[output];
  bound->work.row->extents(&bound->work, found, output, &shape);
  to->rank = shape.rank;
  to->count = 1;
  for (uint32_t k = 0; k < shape.rank; k++) {
    to->dims[k] = shape.dims[k];
    to->count *= shape.dims[k];
  }
  return call->host->allocate_output(call->run, output, shape.rank, to->dims, &to->data);
}

tenon_status_t tenon__closed_make_outputs(const tenon_enqueue_t* call,
                                          tenon__closed_bound_t* bound) {
  tenon_device_t* device = bound->instance->device;
  tenon_stream_t* stream = call->host->stream(call->run);
  int64_t found[FOUND_NUMBERS] = {0};
  bool waits = false;
  for (uint32_t k = 0; k < call->output_count; k++) {
    waits = waits || call->outputs[k].kind == TENON_ARGUMENT_ALLOCATE;
  }
  if (!waits) {
    return TENON_OK;
  }
  tenon_status_t status = tenon__cuda_copy(device, stream, TENON_COPY_TO_HOST, found,
                                           bound->parameters.scratch, sizeof(found));
  if (status == TENON_OK) {
    status = tenon__cuda_synchronize(device, stream);
  }
  for (uint32_t k = 0; k < call->output_count && status == TENON_OK; k++) {
    if (call->outputs[k].kind == TENON_ARGUMENT_ALLOCATE) {
      status = make_output(call, bound, found, k);
    }
  }
  return status;
}
