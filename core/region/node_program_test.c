/* What a plugin is told of a node's arithmetic, and of which it is told none. */
#include "core/region/node_program.h"

#include "core/base/test.h"
#include "core/network/test_operators.h"

static const tenon_program_t* program_of(test_fixture_t* b, tenon_value_t value) {
  return tenon__node_program(b->network, 0, test_value(b, value)->producer);
}

TENON_TEST(operands_are_the_inputs_of_the_node) {
  test_fixture_t b;
  REQUIRE(test_fixture_open(&b, tenon__allocator_default()));
  const tenon_value_t x = test_input(&b, "x", DIMS(4, 8));
  const tenon_value_t bias = test_input(&b, "bias", DIMS(8));
  const tenon_value_t one = test_input(&b, "one", DIMS(1, 1));
  const tenon_program_t* sum = program_of(&b, test_binary(&b, "test.plus/1", "sum", bias, x));
  const tenon_program_t* scaled = program_of(&b, test_binary(&b, "test.times/1", "scaled", x, one));
  REQUIRE(sum != NULL && scaled != NULL);
  EXPECT_INT(sum->rank, 2);
  EXPECT_INT(sum->operand_count, 2);
  EXPECT_INT(sum->operands[0].index + sum->operands[1].index, 1);
  EXPECT_INT(scaled->operand_count, 2);
  test_fixture_close(&b);
}

TENON_TEST(what_reads_or_gives_otherwise_has_none) {
  test_fixture_t b;
  REQUIRE(test_fixture_open(&b, tenon__allocator_default()));
  const tenon_value_t x = test_input(&b, "x", DIMS(4));
  const tenon_value_t y = test_input(&b, "y", DIMS(8));
  const tenon_value_t w = test_input(&b, "w", DIMS(2, 8));
  const tenon_value_t m = test_input(&b, "m", DIMS(4, 8));
  /* x along the first axis: not the last, as broadcasting has it. */
  EXPECT(program_of(&b, test_binary(&b, "test.outer_sum/1", "outer", x, y)) == NULL);
  /* No expression. */
  EXPECT(program_of(&b, test_binary(&b, "test.dense/1", "dense", m, w)) == NULL);
  test_fixture_close(&b);
}
