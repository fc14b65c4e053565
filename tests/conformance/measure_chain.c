/* Chains of launches, recorded and replayed. */
#include "measure_chain.h"

enum { REPLAYS = 15 };

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}
double measure_median(double* seconds, size_t count) {
  qsort(seconds, count, sizeof(double), compare_doubles);
  return seconds[count / 2];
}

double measure_replay(tenon_stream_t* stream, void* recording) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  tenon_device_t* device = kernel_device.device;
  tenon_event_t* events[2] = {NULL, NULL};
  double seconds[REPLAYS];
  (void)t->create_event(device, &events[0]);
  (void)t->create_event(device, &events[1]);
  for (int k = -2; k < REPLAYS; k++) {
    (void)t->record_event(device, stream, events[0]);
    (void)t->replay(device, stream, recording);
    (void)t->record_event(device, stream, events[1]);
    (void)t->elapsed(device, events[0], events[1], &seconds[k < 0 ? 0 : k]);
  }
  t->destroy_event(device, events[0]);
  t->destroy_event(device, events[1]);
  return measure_median(seconds, REPLAYS);
}

static double chain_seconds(const kernel_life_t* life, int count) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  void* recording = NULL;
  if (t->begin_record(kernel_device.device, life->stream) != TENON_OK) {
    return 0.0;
  }
  for (int k = 0; k < count; k++) {
    (void)kernel_life_enqueue(life);
  }
  if (t->end_record(kernel_device.device, life->stream, &recording) != TENON_OK) {
    return 0.0;
  }
  const double seconds = measure_replay(life->stream, recording);
  t->destroy_recording(kernel_device.device, recording);
  return seconds;
}

double measure_step(const kernel_life_t* life, int few, int many) {
  return (chain_seconds(life, many) - chain_seconds(life, few)) / (many - few);
}
