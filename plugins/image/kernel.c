/* Runs the decoder on an input's bytes, and has the host make the output when the extents are
 * known. The decoders' libraries allocate while they run: there is no other way with them. */
#include "kernel.h"

#include <string.h>

#include "picture.h"

typedef struct instance_t {
  tenon__picture_order_t order;
} instance_t;

typedef struct job_t {
  const tenon_enqueue_t* call;
} job_t;

tenon_status_t tenon__decode_prepare(const tenon_prepare_t* call, void** out_instance) {
  const char* format = "";
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->table->attribute_string(call->region, 0, "pixel_format", &format) != TENON_OK) {
    return TENON_ERROR_INTERNAL;
  }
  instance->order = strcmp(format, "grayscale") == 0 ? TENON__PICTURE_GREYSCALE
                    : strcmp(format, "bgr") == 0     ? TENON__PICTURE_BGR
                                                     : TENON__PICTURE_RGB;
  *out_instance = instance;
  return TENON_OK;
}

static tenon_status_t allocate(void* user, const int64_t dims[3], void** out_data) {
  const job_t* job = user;
  return job->call->host->allocate_output(job->call->run, 0, 3, dims, out_data);
}

static bool is_cancelled(void* user) {
  const job_t* job = user;
  return job->call->host->cancelled(job->call->run) != 0;
}

tenon_status_t tenon__decode_enqueue(const tenon_enqueue_t* call) {
  const instance_t* how = call->instance;
  job_t job = {call};
  tenon__picture_t picture = {.data = call->inputs[0].tensor.data,
                              .size = (size_t)call->inputs[0].tensor.dims[0],
                              .order = how->order,
                              .pixels_max = TENON__PICTURE_PIXELS_MAX,
                              .allocate = allocate,
                              .is_cancelled = is_cancelled,
                              .user = &job};
  const tenon_status_t status = tenon__picture_decode(&picture);
  if (status != TENON_OK && status != TENON_ERROR_CANCELLED) {
    (void)call->host->fail(call->run, status, picture.message);
  }
  return status;
}
