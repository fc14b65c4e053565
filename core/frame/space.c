/* Memory and streams of one device: blocks of the plan's sizes are allocated at the begin, and
 * freed at the end, when the device has finished. */
#include "core/frame/space.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/processor.h"
#include "core/base/status.h"

enum { MEMORY_PADDING = 64 };

/* The host's is all written to at once (it begins with zeros): what the machine does not have must
 * not be tried. A device knows its own. */
static tenon_status_t check_demand(const tenon__space_t* space, const tenon_sink_t* sink) {
  const uint64_t machine = tenon__machine_memory_bytes();
  uint64_t kernels = 0;
  uint64_t total = 0;
  const bool counts = tenon__add_size(space->scratch_bytes, space->zeroed_bytes, &kernels) &&
                      tenon__add_size(space->persistent_bytes, kernels, &kernels) &&
                      tenon__add_size(space->activation_bytes, kernels, &total);
  return counts && (total <= machine || !tenon__memory_is_host(&space->memory))
             ? TENON_OK
             : tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY,
                           "the plan asks for %llu bytes of memory for activations and %llu for "
                           "scratch (%llu) and what its kernels keep; this machine has %llu",
                           (unsigned long long)space->activation_bytes,
                           (unsigned long long)(counts ? kernels : UINT64_MAX),
                           (unsigned long long)space->scratch_bytes, (unsigned long long)machine);
}

static tenon_status_t allocate(tenon__space_t* space, const char* what, uint64_t size_bytes,
                               const tenon_sink_t* sink, char** out_memory) {
  const bool is_host = tenon__memory_is_host(&space->memory);
  void* block = NULL;
  size_t padded = 0;
  const tenon_status_t status = tenon__add_size(size_bytes, MEMORY_PADDING, &padded)
                                    ? tenon__memory_allocate(&space->memory, padded, &block)
                                    : TENON_ERROR_OUT_OF_MEMORY;
  *out_memory = block;
  return status != TENON_ERROR_OUT_OF_MEMORY
             ? status
             : tenon__fail(sink, status,
                           "the plan asks for %llu bytes of %s%s%s, which cannot be allocated",
                           (unsigned long long)size_bytes, what, is_host ? "" : " on device ",
                           is_host ? "" : space->memory.device->source.descriptor->name);
}

static tenon_status_t allocate_words(tenon__space_t* space, const tenon_sink_t* sink) {
  TENON_TRY(allocate(space, "words for the host", space->words_bytes, sink, &space->words));
  space->words_seen = tenon__allocate(space->memory.allocator, space->words_bytes, 1);
  TENON_TRY_MEMORY(space->words_seen != NULL);
  return tenon__space_clear_words(space);
}

static tenon_status_t allocate_all(tenon__space_t* space, const tenon_sink_t* sink) {
  TENON_TRY(check_demand(space, sink));
  TENON_TRY(allocate(space, "activations", space->activation_bytes, sink, &space->activations));
  TENON_TRY(allocate(space, "scratch memory", space->scratch_bytes, sink, &space->scratch));
  TENON_TRY(allocate(space, "zeroed memory", space->zeroed_bytes, sink, &space->zeroed));
  TENON_TRY(
      allocate(space, "persistent memory", space->persistent_bytes, sink, &space->persistent));
  if (tenon__memory_is_host(&space->memory)) {
    return TENON_OK; /* zeros already */
  }
  TENON_TRY(space->words_bytes > 0 ? allocate_words(space, sink) : TENON_OK);
  TENON_TRY(tenon__memory_clear(&space->memory, space->zeroed, space->zeroed_bytes));
  return tenon__memory_clear(&space->memory, space->persistent, space->persistent_bytes);
}

/* Of a device that does not record several, all is on one. */
static tenon_status_t create_lanes(tenon__space_t* space, uint32_t count) {
  const tenon__device_t* device = space->memory.device;
  space->lanes[0] = space->memory.stream;
  space->lane_count = 1;
  while (space->lane_count < count && tenon__device_records_streams(device)) {
    TENON_TRY(tenon__device_create_stream(device, NULL, &space->lanes[space->lane_count]));
    space->lane_count += 1;
  }
  return TENON_OK;
}

tenon_status_t tenon__space_begin(tenon__space_t* space, const tenon__plan_t* plan, uint32_t device,
                                  uint32_t thread_count, void* stream, const tenon_sink_t* sink) {
  space->activation_bytes = plan->schedules[0].memory_bytes[device];
  space->zeroed_bytes = plan->devices[device].zeroed_bytes;
  space->persistent_bytes = plan->devices[device].persistent_bytes;
  if (!tenon__plan_scratch_bytes(plan, device, thread_count, &space->scratch_bytes,
                                 space->lane_scratch)) {
    return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY,
                       "the plan's steps need more scratch for %u threads than can be counted",
                       thread_count);
  }
  TENON_TRY(tenon__device_create_stream(space->memory.device, stream, &space->memory.stream));
  TENON_TRY(create_lanes(space, tenon__plan_lane_count(plan, device)));
  return allocate_all(space, sink);
}

tenon_status_t tenon__space_provide_events(tenon__space_t* space, uint32_t count) {
  if (count <= space->event_count) {
    return TENON_OK;
  }
  tenon_event_t** events = tenon__allocate(space->memory.allocator, count, sizeof(void*));
  TENON_TRY_MEMORY(events != NULL);
  for (uint32_t k = 0; k < space->event_count; ++k) {
    events[k] = space->events[k];
  }
  tenon__free(space->memory.allocator, (void*)space->events, space->event_count * sizeof(void*));
  space->events = events;
  tenon_status_t status = TENON_OK;
  uint32_t made = space->event_count;
  space->event_count = count; /* NULL behind those that were made */
  while (made < count && status == TENON_OK) {
    status = tenon__device_create_event(space->memory.device, &events[made++]);
  }
  return status;
}

tenon_status_t tenon__space_clear_words(const tenon__space_t* space) {
  if (space->words_bytes == 0) {
    return TENON_OK;
  }
  memset(space->words_seen, 0, space->words_bytes);
  return tenon__memory_clear(&space->memory, space->words, space->words_bytes);
}

static void free_block(tenon__space_t* space, char* block, uint64_t size_bytes) {
  tenon__memory_free(&space->memory, block, size_bytes + MEMORY_PADDING);
}

void tenon__space_end(tenon__space_t* space) {
  if (space->memory.device == NULL) {
    return;
  }
  (void)tenon__space_settle(space);
  free_block(space, space->activations, space->activation_bytes);
  free_block(space, space->scratch, space->scratch_bytes);
  free_block(space, space->zeroed, space->zeroed_bytes);
  free_block(space, space->persistent, space->persistent_bytes);
  free_block(space, space->words, space->words_bytes);
  tenon__free(space->memory.allocator, space->words_seen, space->words_bytes);
  for (uint32_t k = 0; k < space->event_count; ++k) {
    tenon__device_destroy_event(space->memory.device, space->events[k]);
  }
  tenon__free(space->memory.allocator, (void*)space->events, space->event_count * sizeof(void*));
  for (uint32_t lane = 1; lane < space->lane_count; ++lane) {
    tenon__device_destroy_stream(space->memory.device, space->lanes[lane]);
  }
  tenon__device_destroy_stream(space->memory.device, space->memory.stream);
  *space = (tenon__space_t){0};
}

tenon_status_t tenon__space_settle(tenon__space_t* space) {
  if (!space->is_busy) {
    return TENON_OK;
  }
  space->is_busy = false;
  space->writes_host = false;
  space->wait_count += 1;
  space->run.edge = 0;
  tenon_status_t status = tenon__device_synchronize(space->memory.device, space->memory.stream);
  /* They are done as well, and have their own failures to tell. */
  for (uint32_t lane = 1; lane < space->lane_count; ++lane) {
    const tenon_status_t own = tenon__device_synchronize(space->memory.device, space->lanes[lane]);
    status = status == TENON_OK ? own : status;
  }
  return status;
}
