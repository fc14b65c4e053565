/* Copies and fills as work: the host's bytes are read and written when the stream gets there. */
#include "copy.h"

#include "memory.h"

/* ---- Copy ---- */

typedef struct copy_t {
  int32_t direction;
  void* target;
  const void* source;
  size_t size;
} copy_t;

static tenon_status_t run_copy(tenon_device_t* device, const void* payload, bool failed) {
  const copy_t* copy = payload;
  void* target = copy->target;
  const void* source = copy->source;
  (void)failed;
  if (copy->direction != TENON_COPY_TO_HOST) {
    target = far_memory_inside(device, target, copy->size, "copy, its target");
  }
  if (copy->direction != TENON_COPY_TO_DEVICE) {
    source = far_memory_inside(device, source, copy->size, "copy, its source");
  }
  if (target == NULL || source == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memmove(target, source, copy->size);
  far_lock(device);
  device->counts.copied_bytes[copy->direction] += copy->size;
  far_unlock(device);
  return TENON_OK;
}

static bool is_right_side(const char* what, tenon_device_t* device, const void* address,
                          bool outside) {
  const bool owned = far_memory_owner(address) == device;
  if (owned != outside) {
    (void)far_mistake(device, "copy: its %s, %p, %s", what, address,
                      owned ? "is in its memory" : "is not in its memory");
  }
  return owned == outside;
}

tenon_status_t far_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                        void* target, const void* source, size_t size_bytes) {
  static const far_work_t within = {.run = run_copy};
  static const far_work_t crossing = {.run = run_copy, .flags = FAR_WORK_ONCE};
  const tenon_status_t status = far_enter(device, FAR_CALL_COPY);
  if (status != TENON_OK || size_bytes == 0) {
    return status;
  }
  if (direction != TENON_COPY_TO_DEVICE && direction != TENON_COPY_TO_HOST &&
      direction != TENON_COPY_WITHIN) {
    return far_mistake(device, "copy: there is no direction %d", (int)direction);
  }
  if (!is_right_side("target", device, target, direction != TENON_COPY_TO_HOST) ||
      !is_right_side("source", device, source, direction != TENON_COPY_TO_DEVICE)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const copy_t copy = {direction, target, source, size_bytes};
  return far_stream_add(device, stream, direction == TENON_COPY_WITHIN ? &within : &crossing, &copy,
                        sizeof(copy));
}

/* ---- Fill ---- */

typedef struct fill_t {
  void* target;
  size_t size;
  int32_t byte;
} fill_t;

static tenon_status_t run_fill(tenon_device_t* device, const void* payload, bool failed) {
  const fill_t* fill = payload;
  void* target = far_memory_inside(device, fill->target, fill->size, "fill");
  (void)failed;
  if (target == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memset(target, fill->byte, fill->size);
  return TENON_OK;
}

tenon_status_t far_fill(tenon_device_t* device, tenon_stream_t* stream, void* target, int32_t byte,
                        size_t size_bytes) {
  static const far_work_t work = {.run = run_fill};
  const tenon_status_t status = far_enter(device, FAR_CALL_FILL);
  if (status != TENON_OK || size_bytes == 0) {
    return status;
  }
  if (far_memory_owner(target) != device) {
    return far_mistake(device, "fill: %p is not in its memory", target);
  }
  const fill_t fill = {target, size_bytes, byte};
  return far_stream_add(device, stream, &work, &fill, sizeof(fill));
}

/* ---- Memory ---- */

tenon_status_t far_allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                            void** out_data) {
  tenon_status_t status = far_enter(device, FAR_CALL_ALLOCATE);
  if (status == TENON_OK) {
    status = far_stream_needs_no_recording(stream);
  }
  if (status != TENON_OK) {
    return status;
  }
  status = far_memory_allocate(device, size_bytes, out_data);
  if (status == TENON_ERROR_OUT_OF_MEMORY && stream != NULL) {
    /* What the stream is about to free may be had. */
    (void)far_stream_finish(stream);
    status = far_memory_allocate(device, size_bytes, out_data);
  }
  return status;
}

typedef struct freeing_t {
  void* data;
  size_t size;
} freeing_t;

static tenon_status_t run_free(tenon_device_t* device, const void* payload, bool failed) {
  const freeing_t* freeing = payload;
  (void)failed;
  far_memory_free(device, freeing->data, freeing->size);
  return TENON_OK;
}

void far_free(tenon_device_t* device, tenon_stream_t* stream, void* data, size_t size_bytes) {
  static const far_work_t work = {.run = run_free, .flags = FAR_WORK_ALWAYS | FAR_WORK_ONCE};
  const freeing_t freeing = {data, size_bytes};
  far_count(device, FAR_CALL_FREE);
  if (data == NULL) {
    return;
  }
  /* A recording does not take it, and is spoilt. */
  if (far_stream_add(device, stream, &work, &freeing, sizeof(freeing)) != TENON_OK) {
    far_memory_free(device, data, size_bytes);
  }
}
