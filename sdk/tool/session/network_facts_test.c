/* Operators and constants, counted in a network's text. */
#include "session/network_facts.h"

#include "core/base/test.h"

TENON_TEST(counts_operators_and_constants) {
  tool_network_facts_t facts;
  tool_network_facts_find(
      "graph main\n"
      "  input image: f32[batch, 1, 8, 8]\n"
      "  constant a: b: f32[16, 1, 3, 3]\n"
      "  constant scalar: i64[]\n"
      "  constant nibbles: i4[3]\n"
      "  y: f32[batch, 16, 8, 8] = standard.relu/1(image)\n"
      "  z: f32[1], _ = standard.loop/1(y) {a=[1, 2]}\n"
      "    body b\n"
      "      constant w: f16[4]\n"
      "      q: f32[1] = standard.add/1(y, w)\n"
      "      r: f32[1] = standard.relu/1(q)\n"
      "  output z: z\n",
      &facts);
  EXPECT_INT(facts.node_count, 4);
  EXPECT_INT(facts.constant_count, 4);
  EXPECT_INT(facts.constant_bytes, 16 * 9 * 4 + 8 + 2 + 8);
  REQUIRE(facts.op_count == 3);
  EXPECT_TEXT(facts.ops[0].op, "standard.relu/1");
  EXPECT_INT(facts.ops[0].count, 2);
  EXPECT_TEXT(facts.ops[1].op, "standard.add/1");
  tool_network_facts_free(&facts);
}

TENON_TEST(a_text_of_nothing_has_nothing) {
  tool_network_facts_t facts;
  tool_network_facts_find("graph main\n  constant w: f32[n, 3]\n  output y: x", &facts);
  EXPECT_INT(facts.node_count, 0);
  EXPECT_INT(facts.constant_bytes, 0);
  tool_network_facts_free(&facts);
}
