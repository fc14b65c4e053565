/* Runs the decoder on an input's bytes, and has the host make the output when the extents are
 * known. The decoders' libraries allocate while they run: there is no other way with them. */
#include "kernel.h"

#include <string.h>

#include "picture.h"

typedef struct instance_t {
  tenon__picture_order_t order;
} instance_t;

typedef struct call_t {
  tenon_run_t* run;
  const tenon_run_table_t* host;
} call_t;

tenon_status_t tenon__decode_prepare(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table,
                                     const tenon_tactic_t* tactic, tenon_preparation_t* preparation,
                                     const tenon_prepare_table_t* host, void** out_instance) {
  (void)state, (void)tactic;
  const char* format = "";
  instance_t* instance = host->allocate(preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (table->attribute_string(region, 0, "pixel_format", &format) != TENON_OK) {
    return TENON_ERROR_INTERNAL;
  }
  instance->order = strcmp(format, "grayscale") == 0 ? TENON__PICTURE_GREYSCALE
                    : strcmp(format, "bgr") == 0     ? TENON__PICTURE_BGR
                                                     : TENON__PICTURE_RGB;
  *out_instance = instance;
  return TENON_OK;
}

static tenon_status_t allocate(void* user, const int64_t dims[3], void** out_data) {
  const call_t* call = user;
  return call->host->allocate_output(call->run, 0, 3, dims, out_data);
}

static bool is_cancelled(void* user) {
  const call_t* call = user;
  return call->host->cancelled(call->run) != 0;
}

/* The contract's signature. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon__decode_enqueue(void* instance, void* bound, tenon_run_t* run,
                                     const tenon_run_table_t* host, const tenon_argument_t* inputs,
                                     uint32_t input_count, const tenon_argument_t* outputs,
                                     uint32_t output_count) {
  (void)bound, (void)input_count, (void)outputs, (void)output_count;
  const instance_t* how = instance;
  call_t call = {run, host};
  tenon__picture_t picture = {.data = inputs[0].tensor.data,
                              .size = (size_t)inputs[0].tensor.dims[0],
                              .order = how->order,
                              .pixels_max = TENON__PICTURE_PIXELS_MAX,
                              .allocate = allocate,
                              .is_cancelled = is_cancelled,
                              .user = &call};
  const tenon_status_t status = tenon__picture_decode(&picture);
  if (status != TENON_OK && status != TENON_ERROR_CANCELLED) {
    (void)host->fail(run, status, picture.message);
  }
  return status;
}
