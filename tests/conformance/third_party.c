/*
 * An operator of a third party, given by its expression alone, behind a convolution, behind a
 * product of matrices and in front of a normalisation, on a device: is it one step with each of
 * them, and is what comes out right?
 *
 *   device_third_party DEVICE FOLDER PLUGIN:KERNEL...
 *
 * FOLDER has the plugin (sdk/examples/plugin, squareplus.so). The kernels are left out of the
 * build, so that others have to take part. Prints a line for each scene: who computes the step,
 * what of. Exits with 77 where there is no such device.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

enum { CHANNELS = 32, EDGE = 12, ROWS = 24, COLUMNS = 64, MOST = CHANNELS * EDGE * EDGE };
enum { SKIPPED = 77 };

typedef enum scene_t { CONVOLUTION, PRODUCT, NORMALISATION, SCENES } scene_t;
static const char* const names[] = {"convolution", "product", "normalisation"};

typedef struct work_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  tenon_status_t status; /* the first that was not OK */
  uint32_t seed;
} work_t;

static void note(work_t* w, tenon_status_t status) {
  w->status = w->status == TENON_OK ? status : w->status;
}

/* ---- Networks ---- */

static float draw(uint32_t* seed) {
  *seed = *seed * 1664525U + 1013904223U;
  return (float)(*seed >> 8) / (float)(1 << 23) - 1;
}

/* Random numbers of which sums of `terms` are about 1. */
static tenon_value_t constant(work_t* w, uint32_t rank, const int64_t* dims, int terms) {
  static float data[CHANNELS * CHANNELS * 9];
  tenon_value_t value = {0};
  size_t count = 1;
  for (uint32_t k = 0; k < rank; k++) {
    count *= (size_t)dims[k];
  }
  for (size_t k = 0; k < count; k++) {
    data[k] = draw(&w->seed) * sqrtf(3.0F / (float)terms);
  }
  note(w,
       tenon_network_add_constant(w->network, NULL, TENON_DTYPE_FLOAT32, rank, dims, data, &value));
  return value;
}

static tenon_value_t node(work_t* w, const char* op, const tenon_value_t* inputs, uint32_t count,
                          const tenon_attribute_t* attributes, uint32_t attribute_count) {
  tenon_value_t y = {0};
  note(w, tenon_network_add(w->network, op, NULL, inputs, count,
                            &(tenon_list_t){attributes, attribute_count, sizeof(tenon_attribute_t)},
                            &y, 1));
  return y;
}

static void make(work_t* w, scene_t scene) {
  static const int64_t image[] = {1, CHANNELS, EDGE, EDGE};
  static const int64_t matrix[] = {ROWS, COLUMNS};
  static const int64_t window[] = {CHANNELS, CHANNELS, 3, 3};
  static const int64_t square[] = {COLUMNS, COLUMNS};
  static const int64_t vector[] = {COLUMNS};
  static const int64_t channels[] = {CHANNELS};
  const tenon_attribute_t pads = TENON_INTS("pads", 1, 1, 1, 1);
  const tenon_attribute_t axis = TENON_INT("axis", -1);
  const bool is_image = scene == CONVOLUTION;
  tenon_value_t in[3] = {{0}};
  tenon_value_t y = {0};
  note(w, tenon_network_add_input(w->network, "x", TENON_DTYPE_FLOAT32, is_image ? 4 : 2,
                                  is_image ? image : matrix, &in[0]));
  if (scene == CONVOLUTION) {
    in[1] = constant(w, 4, window, CHANNELS * 9);
    in[2] = constant(w, 1, channels, 3);
    y = node(w, "standard.convolution/1", in, 3, &pads, 1);
    y = node(w, "example.squareplus/1", &y, 1, NULL, 0);
  } else if (scene == PRODUCT) {
    in[1] = constant(w, 2, square, COLUMNS);
    y = node(w, "standard.mat_mul/1", in, 2, NULL, 0);
    y = node(w, "example.squareplus/1", &y, 1, NULL, 0);
  } else {
    in[0] = node(w, "example.squareplus/1", in, 1, NULL, 0);
    in[1] = constant(w, 1, vector, 3);
    in[2] = constant(w, 1, vector, 3);
    y = node(w, "standard.layer_norm/1", in, 3, &axis, 1);
  }
  note(w, tenon_network_add_output(w->network, y, "y"));
}

/* ---- Running ---- */

static void feed(work_t* w, scene_t scene) {
  static float x[MOST];
  static const int64_t image[] = {1, CHANNELS, EDGE, EDGE};
  static const int64_t matrix[] = {ROWS, COLUMNS};
  const bool is_image = scene == CONVOLUTION;
  uint32_t seed = 77;
  for (size_t k = 0; k < MOST; k++) {
    x[k] = draw(&seed) * 1.7F;
  }
  const tenon_tensor_view_t view = {.data = x,
                                    .dims = is_image ? image : matrix,
                                    .rank = is_image ? 4 : 2,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  note(w, tenon_context_set_input(w->context, 0, &view));
}

/* Number of results. */
static size_t run(work_t* w, scene_t scene, float out_results[MOST]) {
  tenon_tensor_view_t y = {0};
  size_t count = scene == CONVOLUTION ? MOST : ROWS * COLUMNS;
  feed(w, scene);
  for (int k = 0; k < 3; k++) { /* step by step, recorded, replayed */
    note(w, tenon_context_run(w->context));
  }
  note(w, tenon_context_get_output(w->context, 0, &y));
  if (w->status == TENON_OK) {
    memcpy(out_results, y.data, count * sizeof(float));
  }
  return count;
}

static void begin(work_t* w, scene_t scene, const char* folder,
                  const tenon_build_options_t* options) {
  const char* const paths[] = {folder, NULL};
  tenon_registry_options_t places = TENON_OPTIONS(tenon_registry_options_t);
  places.paths = paths;
  *w = (work_t){.seed = 3};
  note(w, tenon_registry_create(&places, &w->registry));
  if (w->status == TENON_OK) {
    note(w, tenon_network_create(w->registry, &w->network));
  }
  if (w->status == TENON_OK) {
    make(w, scene);
  }
  if (w->status == TENON_OK) {
    note(w, tenon_build(w->network, options, &w->plan));
  }
  if (w->status == TENON_OK) {
    note(w, tenon_engine_create_from_plan(w->registry, w->plan, NULL, &w->engine));
  }
  if (w->status == TENON_OK) {
    note(w, tenon_context_create(w->engine, NULL, &w->context));
  }
}

static void end(work_t* w) {
  tenon_context_destroy(w->context);
  tenon_engine_release(w->engine);
  tenon_plan_destroy(w->plan);
  tenon_network_destroy(w->network);
  tenon_registry_release(w->registry);
}

/* The step that computes, and how many do: what turns or narrows a tensor has no nodes. */
static uint32_t find_step(work_t* w, tenon_step_info_t* out_step) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(w->engine); k++) {
    tenon_step_info_t info = {.size = sizeof(info)};
    note(w, tenon_engine_get_step(w->engine, k, &info));
    if (info.nodes[0] != '\0' && strcmp(info.kind, "kernel") == 0) {
      *out_step = info;
      count++;
    }
  }
  return count;
}

/* Sums of up to 288 products in f16 are off by some 2^-11 of numbers of about 1, squareplus passes
 * that on, and a normalisation of numbers from 0.4 to 3 at most triples it. */
static bool are_near(const float* got, const float* wanted, size_t count) {
  bool near = true;
  for (size_t k = 0; k < count && near; k++) {
    near = fabsf(got[k] - wanted[k]) <= 0.02F;
    if (!near) {
      (void)printf("element %zu: %g, not %g\n", k, (double)got[k], (double)wanted[k]);
    }
  }
  return near;
}

static bool check(scene_t scene, const char* folder, const tenon_build_options_t* options) {
  static float got[MOST];
  static float wanted[MOST];
  tenon_build_options_t plain = TENON_OPTIONS(tenon_build_options_t);
  tenon_step_info_t step = {
      .size = sizeof(step), .kernel = "nobody", .plugin = "", .nodes = "", .expression = ""};
  work_t w;
  size_t count = 0;
  plain.reference_only = 1;
  begin(&w, scene, folder, &plain);
  if (w.status == TENON_OK) {
    count = run(&w, scene, wanted);
  }
  const bool is_known = w.status == TENON_OK;
  end(&w);
  begin(&w, scene, folder, options);
  uint32_t steps = 0;
  if (w.status == TENON_OK) {
    (void)run(&w, scene, got);
    steps = find_step(&w, &step);
  }
  const bool near = is_known && w.status == TENON_OK && are_near(got, wanted, count);
  const bool good = near && steps == 1;
  (void)printf("%s %s: %u step%s, %s:%s of %s; %s; %s%s\n", good ? "ok" : "FAILED", names[scene],
               steps, steps == 1 ? "" : "s", step.plugin, step.kernel, step.nodes, step.expression,
               near ? "as the reference" : "not as the reference ",
               is_known && w.status == TENON_OK ? "" : tenon_last_message());
  end(&w);
  return good;
}

int main(int argument_count, char** arguments) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  bool good = true;
  if (argument_count < 3) {
    (void)fprintf(stderr, "device_third_party DEVICE FOLDER PLUGIN:KERNEL...\n");
    return 1;
  }
  options.device = arguments[1];
  options.permits = TENON_PERMIT_F16;
  options.no_measuring = 1;
  options.exclude = (const char* const*)&arguments[3];
  work_t w;
  begin(&w, NORMALISATION, arguments[2], &options);
  const tenon_status_t status = w.status;
  end(&w);
  if (status == TENON_ERROR_NOT_FOUND || status == TENON_ERROR_UNSUPPORTED ||
      status == TENON_ERROR_DEVICE) {
    (void)printf("skipped: %s\n", tenon_last_message());
    return SKIPPED;
  }
  for (uint32_t scene = 0; scene < SCENES; scene++) {
    good = check((scene_t)scene, arguments[2], &options) && good;
  }
  return good ? 0 : 1;
}
