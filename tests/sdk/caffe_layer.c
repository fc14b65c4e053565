/* A third party's .so, built against the installed SDK, adds a layer to Caffe networks: it is found
 * by its type, reads fields of its own and its blobs, and fuses with its neighbours. */
#include <unistd.h>

#include "tests/api/session.h"

static const char prototxt[] =
    "input: 'x' input_shape { dim: 1 dim: 2 dim: 1 dim: 3 }\n"
    "layer { name: 'p' type: 'Power' bottom: 'x' top: 'p' power_param { shift: 0.5 } }\n"
    "layer { name: 'theirs' type: 'AcmeGate' bottom: 'p' top: 'y'\n"
    "  acme_param { mode: SMOOTH curve { sharpness: 2 steps: 3 } } %s }\n";

#define BLOB "blobs { data: [0.25, -1] shape { dim: 2 } }"

/* Parses the network with what stands for its weights. */
static tenon_status_t parse(session_t* session, const char* weights) {
  char path[4096];
  FILE* file = fopen(session_path("sdk_test/acme.prototxt", path, sizeof path), "w");
  if (file == NULL) {
    return TENON_ERROR_IO;
  }
  (void)fprintf(file, prototxt, weights);
  (void)fclose(file);
  const tenon_status_t status = tenon_network_parse_file(session->network, path, NULL);
  (void)unlink(path);
  return status;
}

static bool begin(session_t* session) {
  char folder[4096];
  return session_begin(session,
                       session_path("sdk_test/caffe_layer/plugins", folder, sizeof folder));
}

static void expect_result(session_t* session) {
  static const int64_t dims[4] = {1, 2, 1, 3};
  static const float x[6] = {-1, 0, 0.75F, 2, -0.5F, 1};
  static const double bias[2] = {0.25, -1};
  const tenon_tensor_view_t view = {
      .data = (float*)x, .dims = dims, .rank = 4, .dtype = TENON_DTYPE_FLOAT32};
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y = {.data = NULL};
  EXPECT_STATUS(tenon_build(session->network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(session->registry, plan, NULL, &engine), TENON_OK);
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  EXPECT_INT(tenon_engine_step_count(engine), 1);
  for (int i = 0; y.data != NULL && i < 6; ++i) {
    const double p = (double)x[i] + 0.5;
    EXPECT_NEAR((double)((const float*)y.data)[i], p / (1 + exp(-(2 * p + bias[i / 3]))), 1e-6);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
}

TENON_TEST(a_strangers_layer_runs) {
  session_t s;
  REQUIRE(begin(&s));
  EXPECT_STATUS(parse(&s, BLOB), TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "its field 'acme_param.curve.steps' is not known and ignored");
  EXPECT(strstr(s.messages.text, "sharpness") == NULL);
  expect_result(&s);
  session_end(&s);
}

TENON_TEST(what_it_lacks_is_named) {
  session_t s;
  REQUIRE(begin(&s));
  EXPECT(parse(&s, "blobs { data: [1, 2, 3] }") != TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "AcmeGate 'theirs': blob 0 has 3 weights, 2 are needed");
  session_end(&s);
  REQUIRE(begin(&s));
  EXPECT(parse(&s, "") != TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "there are no weights for 1 of its layers: 'theirs'");
  session_end(&s);
}

TENON_TEST(it_is_missing_without_its_file) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, BLOB), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(s.messages.text, "AcmeGate");
  EXPECT_CONTAINS(s.messages.text, "theirs");
  session_end(&s);
}
