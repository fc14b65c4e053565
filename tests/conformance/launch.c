/*
 * What a run costs the host to ask for, when everything lies on the device and nothing changed
 * since the run before: one replay of a network of some sixty steps.
 *
 *   device_launch DEVICE
 *
 * Says how long it takes, after a wait and behind other runs; on a stand-in for the driver of CUDA,
 * where time means nothing, which calls of the driver there are. Exits with 77 where there is no
 * such device.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/tenon.h"

enum { LAYERS = 30, WIDTH = 16, COUNT = WIDTH * WIDTH, BYTES = COUNT * (int)sizeof(float) };
enum { SKIPPED = 77, WARM = 3, ROW = 16, SAMPLES = 10 * ROW };

typedef struct scene_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  void* x;
  void* y[2];
  tenon_status_t status; /* the first that was not OK */
} scene_t;

static void note(scene_t* s, tenon_status_t status) {
  s->status = s->status == TENON_OK ? status : s->status;
}

/* ---- The network ---- */

static tenon_value_t add(scene_t* s, const char* op, tenon_value_t a, tenon_value_t b) {
  const tenon_value_t inputs[] = {a, b};
  tenon_value_t y = {0};
  note(s, tenon_network_add(s->network, op, NULL, inputs, b.id != 0 ? 2 : 1, NULL, &y, 1));
  return y;
}

static void make(scene_t* s) {
  static const int64_t dims[] = {WIDTH, WIDTH};
  static float weights[COUNT];
  tenon_value_t x = {0};
  note(s, tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x));
  for (int layer = 0; layer < LAYERS; layer++) {
    tenon_value_t w = {0};
    for (int k = 0; k < COUNT; k++) {
      weights[k] = (float)((k * 7 + layer) % 11) / 4;
    }
    note(s,
         tenon_network_add_constant(s->network, NULL, TENON_DTYPE_FLOAT32, 2, dims, weights, &w));
    x = add(s, "standard.softmax/1", add(s, "standard.mat_mul/1", x, w), (tenon_value_t){0});
  }
  note(s, tenon_network_add_output(s->network, x, "y"));
}

static void open_scene(scene_t* s, const char* device) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.device = device;
  options.no_measuring = 1;
  note(s, tenon_registry_create(NULL, &s->registry));
  note(s, tenon_network_create(s->registry, &s->network));
  make(s);
  if (s->status == TENON_OK) {
    note(s, tenon_build(s->network, &options, &s->plan));
  }
  if (s->status == TENON_OK) {
    note(s, tenon_engine_create_from_plan(s->registry, s->plan, NULL, &s->engine));
  }
  if (s->status == TENON_OK) {
    note(s, tenon_context_create(s->engine, NULL, &s->context));
  }
  if (s->status == TENON_OK) {
    note(s, tenon_engine_allocate(s->engine, BYTES, &s->x));
    note(s, tenon_engine_allocate(s->engine, BYTES, &s->y[0]));
    note(s, tenon_engine_allocate(s->engine, BYTES, &s->y[1]));
  }
}

static void close_scene(scene_t* s) {
  tenon_context_destroy(s->context);
  tenon_engine_free(s->engine, s->x, BYTES);
  tenon_engine_free(s->engine, s->y[0], BYTES);
  tenon_engine_free(s->engine, s->y[1], BYTES);
  tenon_engine_release(s->engine);
  tenon_plan_destroy(s->plan);
  tenon_network_destroy(s->network);
  tenon_registry_release(s->registry);
}

/* ---- Running ---- */

static tenon_tensor_view_t view_of(void* data) {
  static const int64_t dims[] = {WIDTH, WIDTH};
  return (tenon_tensor_view_t){
      .data = data, .dims = dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
}

static void lend(scene_t* s, void* y) {
  const tenon_tensor_view_t input = view_of(s->x);
  const tenon_tensor_view_t output = view_of(y);
  note(s, tenon_context_set_input_on_device(s->context, 0, &input));
  note(s, tenon_context_set_output_on_device(s->context, 0, &output));
}

/* Step by step, recorded, replayed. */
static void warm_up(scene_t* s) {
  for (int k = 0; k < WARM; k++) {
    note(s, tenon_context_run(s->context));
  }
}

/* Softmax of each row. */
static bool has_rows(scene_t* s, const void* y) {
  float numbers[COUNT] = {0};
  bool good = true;
  note(s, tenon_engine_copy(s->engine, TENON_COPY_TO_HOST, numbers, y, BYTES));
  for (int row = 0; row < WIDTH; row++) {
    float sum = 0;
    for (int k = 0; k < WIDTH; k++) {
      sum += numbers[row * WIDTH + k];
    }
    good = good && sum > 0.999F && sum < 1.001F;
  }
  return good;
}

/* ---- Calls of the driver ---- */

/* The stand-in's, where that is the driver: see stand_in.h. */
typedef void (*listen_t)(char* text, size_t capacity);

static listen_t find_listen(void) {
  listen_t listen = NULL;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* found = driver == NULL ? NULL : dlsym(driver, "stand_in_listen");
  memcpy(&listen, &found, sizeof(listen)); /* POSIX: an object pointer holds a function's */
  return listen;
}

static bool expect_calls(const char* what, const char* calls, const char* expected) {
  const bool good = strcmp(calls, expected) == 0;
  (void)printf("%s %s: %s\n", good ? "ok" : "FAILED", what, calls);
  return good;
}

/* The context is made the calling thread's, for the application may have made another one so. */
static bool check_calls(scene_t* s, listen_t listen) {
  char enqueued[4096] = "";
  char waited[4096] = "";
  bool good = true;
  for (int k = 0; k < 3; k++) {
    listen(enqueued, sizeof(enqueued));
    note(s, tenon_context_enqueue(s->context));
    listen(waited, sizeof(waited));
    note(s, tenon_context_synchronize(s->context));
    listen(NULL, 0);
    good = expect_calls("to ask for a run", enqueued, "cuCtxSetCurrent cuGraphLaunch ") && good;
    good = expect_calls("to wait for it", waited, "cuCtxSetCurrent cuStreamSynchronize ") && good;
  }
  note(s, tenon_context_set_timing(s->context, 1));
  note(s, tenon_context_enqueue(s->context));
  listen(enqueued, sizeof(enqueued));
  note(s, tenon_context_enqueue(s->context));
  listen(NULL, 0);
  note(s, tenon_context_set_timing(s->context, 0));
  return expect_calls("to ask for a run that is timed", enqueued,
                      "cuCtxSetCurrent cuGraphLaunch cuCtxSetCurrent cuEventRecord ") &&
         good;
}

/* ---- Times ---- */

static double now_us(void) {
  struct timespec time = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return x < y ? -1 : x > y ? 1 : 0;
}

/* A wait before each `row` of runs. */
static void measure(scene_t* s, int row, const char* words) {
  static double times[SAMPLES];
  for (int k = 0; k < SAMPLES; k++) {
    if (k % row == 0) {
      note(s, tenon_context_synchronize(s->context));
    }
    const double begin = now_us();
    note(s, tenon_context_enqueue(s->context));
    times[k] = now_us() - begin;
  }
  note(s, tenon_context_synchronize(s->context));
  qsort(times, SAMPLES, sizeof(times[0]), compare);
  (void)printf("%s: %.2f us of the host, p10 %.2f, p90 %.2f\n", words, times[SAMPLES / 2],
               times[SAMPLES / 10], times[SAMPLES * 9 / 10]);
}

static bool check(scene_t* s) {
  static const float numbers[COUNT] = {1, 2, 3};
  const listen_t listen = find_listen();
  bool good = true;
  note(s, tenon_engine_copy(s->engine, TENON_COPY_TO_DEVICE, s->x, numbers, BYTES));
  (void)printf("%u steps\n", tenon_engine_step_count(s->engine));
  for (int k = 0; k < 2; k++) { /* other addresses are recorded anew, and are as steady */
    lend(s, s->y[k]);
    warm_up(s);
    good = (listen == NULL || check_calls(s, listen)) && has_rows(s, s->y[k]) && good;
  }
  if (listen == NULL) {
    measure(s, 1, "after a wait");
    measure(s, ROW, "in a row");
  }
  return good && s->status == TENON_OK;
}

int main(int argument_count, char** arguments) {
  scene_t s = {0};
  bool good = false;
  if (argument_count != 2) {
    (void)fprintf(stderr, "device_launch DEVICE\n");
    return 1;
  }
  open_scene(&s, arguments[1]);
  const bool is_absent = s.status == TENON_ERROR_NOT_FOUND || s.status == TENON_ERROR_UNSUPPORTED ||
                         s.status == TENON_ERROR_DEVICE;
  if (s.status == TENON_OK) {
    good = check(&s);
  }
  (void)printf("%s%s\n",
               is_absent ? "skipped: "
               : good    ? "a run is one launch"
                         : "FAILED ",
               good ? "" : tenon_last_message());
  close_scene(&s);
  return is_absent ? SKIPPED : good ? 0 : 1;
}
