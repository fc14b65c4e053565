#include "core/dimension/dimension_apply.h"

#include "core/base/test.h"
#include "tenon/plugin.h"

TENON_TEST(division_and_remainder_round_down) {
  static const struct {
    int64_t a;
    int64_t b;
    int64_t quotient;
    int64_t rest;
  } cases[] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {-6, 2, -3, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    int64_t value = 0;
    EXPECT(tenon__dim_apply(TENON_OPCODE_FLOOR_DIV, cases[k].a, cases[k].b, &value));
    EXPECT_INT(value, cases[k].quotient);
    EXPECT(tenon__dim_apply(TENON_OPCODE_MOD, cases[k].a, cases[k].b, &value));
    EXPECT_INT(value, cases[k].rest);
    if (cases[k].b > 0) {
      EXPECT_INT(tenon__floor_div_int64(cases[k].a, cases[k].b), cases[k].quotient);
    }
  }
}

TENON_TEST(what_has_no_value_is_refused) {
  int64_t value = 11;
  EXPECT(!tenon__dim_apply(TENON_OPCODE_FLOOR_DIV, 1, 0, &value));
  EXPECT(!tenon__dim_apply(TENON_OPCODE_MOD, 1, 0, &value));
  EXPECT(!tenon__dim_apply(TENON_OPCODE_FLOOR_DIV, INT64_MIN, -1, &value));
  EXPECT(!tenon__dim_apply(TENON_OPCODE_ADD, INT64_MAX, 1, &value));
  EXPECT(!tenon__dim_apply(TENON_OPCODE_MUL, INT64_MAX, 2, &value));
}
