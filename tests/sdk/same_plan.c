/* Rule 2: the plugins that strangers built give the same plan as our own, and the same bytes.
 *   same_plan OURS THEIRS MODEL...      a model that is not there lies in TENON_TEST_DATA
 * For each model: built with our plugins, and with theirs, both by estimates alone (times of one
 * file say nothing of another); the steps must be equal, and so must the outputs for one random
 * input. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/examples/example.h"

enum { MOST_OUTPUTS = 16, MOST_BYTES = 1 << 24 };

typedef struct side_t {
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} side_t;

static void side_end(side_t* side) {
  tenon_context_destroy(side->context);
  tenon_engine_release(side->engine);
  tenon_plan_destroy(side->plan);
  tenon_network_destroy(side->network);
  tenon_registry_release(side->registry);
}

static tenon_status_t side_build(side_t* side, const char* folder, const char* model) {
  const char* const paths[] = {folder, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  tenon_status_t status = TENON_OK;
  options.paths = paths;
  options.only_paths = 1;
  options.logger.report = example_log;
  TRY(tenon_registry_create(&options, &side->registry));
  TRY(tenon_network_create(side->registry, &side->network));
  TRY(tenon_network_parse_file(side->network, model, NULL));
  build.no_measuring = 1;
  TRY(tenon_build(side->network, &build, &side->plan));
  TRY(tenon_engine_create_from_plan(side->registry, side->plan, NULL, &side->engine));
  TRY(tenon_context_create(side->engine, NULL, &side->context));
done:
  return status;
}

/* ---- Steps ---- */

static int same_text(const char* what, uint32_t step, const char* a, const char* b) {
  if (strcmp(a, b) != 0) {
    (void)fprintf(stderr, "step %u, %s: '%s' with our plugins, '%s' with theirs\n", step, what, a,
                  b);
    return 0;
  }
  return 1;
}

static int same_steps(const side_t* a, const side_t* b) {
  const uint32_t count = tenon_engine_step_count(a->engine);
  int same = count == tenon_engine_step_count(b->engine);
  if (!same) {
    (void)fprintf(stderr, "%u steps with our plugins, %u with theirs\n", count,
                  tenon_engine_step_count(b->engine));
  }
  for (uint32_t i = 0; i < count && same; ++i) {
    tenon_step_info_t x = {.size = sizeof(x)};
    tenon_step_info_t y = {.size = sizeof(y)};
    same =
        tenon_engine_get_step(a->engine, i, &x) == TENON_OK &&
        tenon_engine_get_step(b->engine, i, &y) == TENON_OK &&
        same_text("nodes", i, x.nodes, y.nodes) && same_text("plugin", i, x.plugin, y.plugin) &&
        same_text("kernel", i, x.kernel, y.kernel) && same_text("tactic", i, x.tactic, y.tactic) &&
        same_text("expression", i, x.expression, y.expression) &&
        same_text("inputs", i, x.inputs, y.inputs) && same_text("outputs", i, x.outputs, y.outputs);
  }
  return same && count > 0;
}

/* ---- Outputs ---- */

static size_t element_count(const tenon_tensor_view_t* view) {
  size_t count = 1;
  for (uint32_t k = 0; k < view->rank; ++k) {
    count *= (size_t)view->dims[k];
  }
  return count;
}

/* The models here have one input, of floats. */
static tenon_status_t run(const side_t* side, float* pixels) {
  tenon_status_t status = TENON_OK;
  tenon_io_info_t info = {.size = sizeof(info)};
  const int64_t* dims = NULL;
  TRY(tenon_engine_get_input(side->engine, 0, &info));
  TRY(tenon_engine_get_profile(side->engine, 0, 1, &dims));
  const tenon_tensor_view_t view = example_floats(pixels, info.rank, dims);
  const size_t count = element_count(&view);
  if (count > MOST_BYTES / sizeof(float)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (size_t i = 0; i < count; ++i) {
    pixels[i] = (float)(i * 2654435761U % 1000) / 1000;
  }
  TRY(tenon_context_set_input(side->context, 0, &view));
  TRY(tenon_context_run(side->context));
done:
  return status;
}

static int same_outputs(const side_t* a, const side_t* b) {
  const uint32_t count = tenon_engine_output_count(a->engine);
  int same = count > 0 && count == tenon_engine_output_count(b->engine);
  for (uint32_t i = 0; i < count && same; ++i) {
    tenon_tensor_view_t x;
    tenon_tensor_view_t y;
    same = tenon_context_get_output(a->context, i, &x) == TENON_OK &&
           tenon_context_get_output(b->context, i, &y) == TENON_OK &&
           x.dtype == TENON_DTYPE_FLOAT32 && y.dtype == x.dtype &&
           element_count(&x) == element_count(&y) &&
           memcmp(x.data, y.data, element_count(&x) * sizeof(float)) == 0;
    if (!same) {
      (void)fprintf(stderr, "output %u differs\n", i);
    }
  }
  return same;
}

static int check(const char* ours, const char* theirs, const char* model) {
  side_t a = {0};
  side_t b = {0};
  float* pixels = malloc(MOST_BYTES);
  int good = pixels != NULL && side_build(&a, ours, model) == TENON_OK &&
             side_build(&b, theirs, model) == TENON_OK;
  good = good && same_steps(&a, &b);
  good = good && run(&a, pixels) == TENON_OK && run(&b, pixels) == TENON_OK && same_outputs(&a, &b);
  if (good) {
    (void)printf("%s: %u steps and all output bytes are the same\n", model,
                 tenon_engine_step_count(a.engine));
  }
  side_end(&a);
  side_end(&b);
  free(pixels);
  return good;
}

int main(int argc, char** argv) {
  const char* data = getenv("TENON_TEST_DATA");
  int good = argc > 3;
  for (int i = 3; i < argc; ++i) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", data == NULL ? "." : data, argv[i]);
    const char* model = access(argv[i], R_OK) == 0 ? argv[i] : path;
    if (data == NULL && model == path) {
      (void)printf("%s: skipped, TENON_TEST_DATA is not set\n", argv[i]);
      continue;
    }
    if (!check(argv[1], argv[2], model)) {
      (void)fprintf(stderr, "%s: the plugins differ\n", model);
      good = 0;
    }
  }
  return good ? 0 : 1;
}
