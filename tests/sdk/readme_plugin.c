/* The README's promise: a node of the plugin's domain in a model is its operator, with nothing else
 * than what the README shows. */
#include "tests/api/session.h"
#include "tests/support/onnx_message.h"

static void check_model(const char* type) {
  session_t s;
  char folder[4096];
  static const int64_t two[] = {2};
  static const float given[] = {0, 1.5F};
  static const float wanted[] = {1, 2}; /* (x + sqrt(x * x + 4)) / 2 */
  const sample_t x = {"x", TENON_DTYPE_FLOAT32, 1, {2}, given};
  const sample_t y = {"y", TENON_DTYPE_FLOAT32, 1, {2}, wanted};
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, 17);
  tenon__message_begin_node(&m, 1, type, "theirs", "x", "y");
  tenon__message_text(&m, 7, "example");
  tenon__message_end(&m);
  tenon__message_value_info(&m, 11, "x", 1, 1, two);
  tenon__message_value_info(&m, 12, "y", 1, 1, two);
  tenon__message_end_model(&m);
  REQUIRE(session_begin(&s, session_path("sdk_test/readme/build/plugins", folder, sizeof folder)));
  EXPECT_STATUS(tenon_network_parse_memory(s.network, m.bytes, m.size, "model.onnx", NULL),
                TENON_OK);
  s.inputs[s.input_count++] = &x;
  s.outputs[s.output_count++] = &y;
  session_check(&s);
  EXPECT_TEXT(s.messages.text, "");
  session_end(&s);
}

TENON_TEST(a_node_is_the_readmes_operator) {
  check_model("squareplus");
}

TENON_TEST(its_name_may_begin_with_a_capital_letter) {
  check_model("Squareplus");
}
