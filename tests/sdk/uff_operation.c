/* A third party's .so, built against the installed SDK, adds operations to UFF files and frozen
 * graphs: by a converter, and by an operator alone. Both fuse with their neighbours. */
#include "tests/api/session.h"

static const char uff[] =
    "version: 1 graphs { id: 'main'\n"
    "nodes { id: 'x' operation: 'Input' fields { key: 'shape' value { i_list { val: [1, 6] } } } "
    "}\n"
    "nodes { id: 'r' operation: 'Unary' inputs: 'x'\n"
    "        fields { key: 'func' value { s: 'neg' } } }\n"
    "nodes { id: 'theirs' operation: '_AcmeGate' inputs: 'r'\n"
    "        fields { key: 'sharpness' value { d: 2 } } fields { key: 'steps' value { i: 3 } } }\n"
    "nodes { id: 'own' operation: '_acme>Shift' inputs: 'theirs'\n"
    "        fields { key: 'by' value { d: 0.25 } } }\n"
    "nodes { id: 'MarkOutput_0' operation: 'MarkOutput' inputs: 'own' } }\n";

static const char graph[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }\n"
    "       attr { key: 'shape' value { shape { dim { size: 1 } dim { size: 6 } } } } }\n"
    "node { name: 'r' op: 'Neg' input: 'x' }\n"
    "node { name: 'theirs' op: 'AcmeGate' input: 'r' attr { key: 'sharpness' value { f: 2 } } }\n"
    "node { name: 'own' op: 'acme>Shift' input: 'theirs' attr { key: 'by' value { f: 0.25 } } }\n";

static tenon_status_t parse(session_t* session, const char* text) {
  return tenon_network_parse_memory(session->network, text, strlen(text), "acme", NULL);
}

static bool begin(session_t* session) {
  char folder[4096];
  return session_begin(session,
                       session_path("sdk_test/uff_operation/plugins", folder, sizeof folder));
}

static void expect_result(session_t* session) {
  static const int64_t dims[2] = {1, 6};
  static const float x[6] = {-1, 0, 0.75F, 2, -0.5F, 1};
  const tenon_tensor_view_t view = {
      .data = (float*)x, .dims = dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32};
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
    const double r = -(double)x[i];
    /* single precision, and an exponential of another library */
    EXPECT_NEAR((double)((const float*)y.data)[i], r / (1 + exp(-2 * r)) + 0.25, 1e-6);
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
}

TENON_TEST(a_strangers_operations_run_in_uff) {
  session_t s;
  REQUIRE(begin(&s));
  EXPECT_STATUS(parse(&s, uff), TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "its attribute 'steps' is not known and ignored");
  EXPECT(strstr(s.messages.text, "sharpness") == NULL);
  expect_result(&s);
  session_end(&s);
}

TENON_TEST(a_strangers_operations_run_in_frozen_graphs) {
  session_t s;
  REQUIRE(begin(&s));
  EXPECT_STATUS(parse(&s, graph), TENON_OK);
  expect_result(&s);
  session_end(&s);
}

TENON_TEST(they_are_missing_without_their_file) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(parse(&s, uff), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(s.messages.text, "AcmeGate");
  EXPECT_CONTAINS(s.messages.text, "Shift");
  EXPECT_CONTAINS(s.messages.text, "theirs");
  session_end(&s);
}
