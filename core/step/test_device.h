/* A device for tests, with memory, streams, events and recordings: work is executed immediately,
 * and in a recording it is kept for replays. Its one kernel computes test.dense/1 with 2 x 2
 * weights. */
#ifndef TENON_CORE_STEP_TEST_DEVICE_H_
#define TENON_CORE_STEP_TEST_DEVICE_H_

#include <stdlib.h>

#include "tests/support/core_world.h"

enum { ASIDE_MAX_CALLS = 8 };

/* A product: y = x times the transpose of w. */
typedef struct aside_call_t {
  const float* x;
  const float* w;
  float* y;
} aside_call_t;

typedef struct aside_recording_t {
  aside_call_t calls[ASIDE_MAX_CALLS];
  uint32_t count;
} aside_recording_t;

/* Of the last world. */
typedef struct aside_t {
  aside_recording_t* open; /* NULL: work is executed immediately */
  uint32_t kernel_count;   /* calls of the kernel, recorded or not */
  uint32_t record_count;
  uint32_t replay_count;
  uint32_t live_recordings;
  uint32_t live_blocks;
  uint32_t to_device_count;
  uint32_t to_host_count;
  uint32_t event_count;
  double clock;       /* seconds; each event that is recorded takes one */
  bool cannot_record; /* end_record fails */
  bool is_forgetful;  /* copies to the host fail */
} aside_t;
static aside_t aside;

static tenon_status_t aside_open(void* state, uint32_t index, const tenon_sink_t* sink,
                                 tenon_device_t** out_device) {
  (void)state, (void)index, (void)sink;
  *out_device = (tenon_device_t*)(void*)&aside;
  return TENON_OK;
}

static tenon_status_t aside_allocate(tenon_device_t* device, tenon_stream_t* stream,
                                     size_t size_bytes, void** out_data) {
  (void)device, (void)stream;
  *out_data = aligned_alloc(256, (size_bytes + 256) / 256 * 256);
  aside.live_blocks += *out_data != NULL ? 1 : 0;
  return *out_data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static void aside_free(tenon_device_t* device, tenon_stream_t* stream, void* data,
                       size_t size_bytes) {
  (void)device, (void)stream, (void)size_bytes;
  aside.live_blocks -= data != NULL ? 1 : 0;
  free(data);
}

/* NOLINTNEXTLINE(readability-function-size): the contract's parameters */
static tenon_status_t aside_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                                 void* target, const void* source, size_t size_bytes) {
  (void)device, (void)stream;
  aside.to_device_count += direction == TENON_COPY_TO_DEVICE ? 1 : 0;
  aside.to_host_count += direction == TENON_COPY_TO_HOST ? 1 : 0;
  if (direction == TENON_COPY_TO_HOST && aside.is_forgetful) {
    return TENON_ERROR_DEVICE;
  }
  memcpy(target, source, size_bytes);
  return TENON_OK;
}

static tenon_status_t aside_fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                                 int32_t byte, size_t size_bytes) {
  (void)device, (void)stream;
  memset(target, byte, size_bytes);
  return TENON_OK;
}

static tenon_status_t aside_create_stream(tenon_device_t* device, void* native,
                                          tenon_stream_t** out_stream) {
  (void)device, (void)native;
  *out_stream = (tenon_stream_t*)(void*)&aside.clock;
  return TENON_OK;
}

static void aside_destroy_stream(tenon_device_t* device, tenon_stream_t* stream) {
  (void)device, (void)stream;
}

static tenon_status_t aside_synchronize(tenon_device_t* device, tenon_stream_t* stream) {
  (void)device, (void)stream;
  return TENON_OK;
}

static tenon_status_t aside_create_event(tenon_device_t* device, tenon_event_t** out_event) {
  double* seconds = calloc(1, sizeof *seconds);
  (void)device;
  aside.event_count += seconds != NULL ? 1 : 0;
  *out_event = (tenon_event_t*)(void*)seconds;
  return seconds == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static void aside_destroy_event(tenon_device_t* device, tenon_event_t* event) {
  (void)device;
  aside.event_count -= event != NULL ? 1 : 0;
  free(event);
}

static tenon_status_t aside_record_event(tenon_device_t* device, tenon_stream_t* stream,
                                         tenon_event_t* event) {
  (void)device, (void)stream;
  aside.clock += 1;
  *(double*)(void*)event = aside.clock;
  return TENON_OK;
}

static tenon_status_t aside_wait_event(tenon_device_t* device, tenon_stream_t* stream,
                                       tenon_event_t* event) {
  (void)device, (void)stream, (void)event;
  return TENON_OK;
}

static tenon_status_t aside_elapsed(tenon_device_t* device, tenon_event_t* begin,
                                    tenon_event_t* end, double* out_seconds) {
  (void)device;
  *out_seconds = *(double*)(void*)end - *(double*)(void*)begin;
  return TENON_OK;
}

static tenon_status_t aside_begin_record(tenon_device_t* device, tenon_stream_t* stream) {
  (void)device, (void)stream;
  aside.open = calloc(1, sizeof *aside.open);
  aside.record_count += 1;
  return aside.open == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t aside_end_record(tenon_device_t* device, tenon_stream_t* stream,
                                       void** out_recording) {
  (void)device, (void)stream;
  aside_recording_t* recording = aside.open;
  aside.open = NULL;
  if (aside.cannot_record) {
    free(recording);
    return TENON_ERROR_UNSUPPORTED;
  }
  aside.live_recordings += 1;
  *out_recording = recording;
  return TENON_OK;
}

static void aside_compute(const aside_call_t* call) {
  for (size_t k = 0; k < 2; ++k) {
    call->y[k] = call->x[0] * call->w[2 * k] + call->x[1] * call->w[2 * k + 1];
  }
}

static tenon_status_t aside_replay(tenon_device_t* device, tenon_stream_t* stream,
                                   void* recording) {
  const aside_recording_t* recorded = recording;
  (void)device, (void)stream;
  aside.replay_count += 1;
  for (uint32_t k = 0; k < recorded->count; ++k) {
    aside_compute(&recorded->calls[k]);
  }
  return TENON_OK;
}

static void aside_destroy_recording(tenon_device_t* device, void* recording) {
  (void)device;
  aside.live_recordings -= 1;
  free(recording);
}

static tenon_status_t aside_health(tenon_device_t* device, const tenon_sink_t* sink) {
  (void)device, (void)sink;
  return TENON_OK;
}

static const tenon_device_descriptor_t aside_device = {.size = sizeof(tenon_device_descriptor_t),
                                                       .name = "aside",
                                                       .summary = "memory of its own",
                                                       .flags = TENON_DEVICE_RECORDS,
                                                       .count = core_device_count,
                                                       .open = aside_open,
                                                       .close = core_device_close,
                                                       .fingerprint = core_device_fingerprint,
                                                       .has = core_device_has,
                                                       .allocate = aside_allocate,
                                                       .free = aside_free,
                                                       .copy = aside_copy,
                                                       .fill = aside_fill,
                                                       .create_stream = aside_create_stream,
                                                       .destroy_stream = aside_destroy_stream,
                                                       .synchronize = aside_synchronize,
                                                       .create_event = aside_create_event,
                                                       .destroy_event = aside_destroy_event,
                                                       .record_event = aside_record_event,
                                                       .wait_event = aside_wait_event,
                                                       .elapsed = aside_elapsed,
                                                       .begin_record = aside_begin_record,
                                                       .end_record = aside_end_record,
                                                       .replay = aside_replay,
                                                       .destroy_recording = aside_destroy_recording,
                                                       .health = aside_health};

static tenon_status_t aside_enqueue(const tenon_enqueue_t* call) {
  const aside_call_t product = {.x = call->inputs[0].tensor.data,
                                .w = call->inputs[1].tensor.data,
                                .y = call->outputs[0].tensor.data};
  aside.kernel_count += 1;
  if (aside.open == NULL) {
    aside_compute(&product);
  } else if (aside.open->count < ASIDE_MAX_CALLS) {
    aside.open->calls[aside.open->count++] = product;
  }
  return TENON_OK;
}

static tenon_status_t aside_tactics(void* state, const tenon_region_t* region,
                                    const tenon_region_table_t* table, tenon_emit_t* emit,
                                    tenon_status_t (*add)(tenon_emit_t* emit,
                                                          const tenon_tactic_t* tactic)) {
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic), .name = "recordable", .flags = TENON_TACTIC_RECORDABLE};
  (void)state, (void)region, (void)table;
  return add(emit, &tactic);
}

/* A world with the device, for builds on it, without a network. End it with aside_end. */
static inline void aside_begin(core_world_t* world) {
  static const char* const operators[] = {"test.dense/1", NULL};
  static const tenon_kernel_t kernel = {.size = sizeof(tenon_kernel_t),
                                        .name = "aside",
                                        .device = "aside",
                                        .operators = operators,
                                        .version = 1,
                                        .tactics = aside_tactics,
                                        .enqueue = aside_enqueue};
  aside = (aside_t){0};
  core_world_begin(world, &kernel, 1);
  core_world_offer(world, &world->owner, "device/1", &aside_device, 1, sizeof aside_device);
  world->options.device = "aside";
}

/* Weights that exchange the two numbers of x and double the first. */
static inline tenon_value_t aside_weights(core_world_t* world) {
  static const float weights[] = {0, 2, 1, 0};
  return test_floats(&world->fixture, "w", weights, DIMS(2, 2));
}

/* Three products one after the other of x [1, 2], in a context. */
static inline bool aside_start(core_world_t* world) {
  test_fixture_t* b = &world->fixture;
  aside_begin(world);
  tenon_value_t value = test_input(b, "x", DIMS(1, 2));
  const tenon_value_t w = aside_weights(world);
  for (int k = 0; k < 3; ++k) {
    value = test_node(b, "test.dense/1", "product", value, w, NO_VALUE);
  }
  EXPECT_STATUS(b->build->output(b->builder, value, "y"), TENON_OK);
  return core_world_start(world);
}

/* Runs once, and compares. The context reads the input's memory in later runs too. */
static inline void aside_run(core_world_t* world, float first, float second) {
  static float x[2];
  x[0] = first;
  x[1] = second;
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(1, 2), x), TENON_OK);
  core_world_expect_ran(world);
  EXPECT_FLOATS(world, 0, 4 * second, 2 * first);
}

/* Nothing is left on the device. */
static inline void aside_end(core_world_t* world) {
  core_world_end(world);
  EXPECT_INT(aside.live_recordings, 0);
  EXPECT_INT(aside.live_blocks, 0);
  EXPECT_INT(aside.event_count, 0);
}

#endif
