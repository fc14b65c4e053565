/* Functions of two operands that broadcast, each as a network of one node. */
#include "tests/api/session.h"

typedef struct row_t {
  const char* op;
  const char* a;
  const char* b;
  const char* expected;
  tenon_attribute_t attributes[2];
} row_t;

#define ROW(name, first, second) \
  { .op = (name), .a = (first), .b = (second), .expected = "elementwise." name }
#define FLOATS(op) ROW(op, "elementwise.a", "elementwise.b")
#define INTEGERS(op) ROW(op, "elementwise.i", "elementwise.j")
#define FLAGS(op) ROW(op, "elementwise.s", "elementwise.t")

static const row_t rows[] = {
    FLOATS("add"),
    FLOATS("sub"),
    FLOATS("mul"),
    FLOATS("div"),
    FLOATS("floor_div"),
    FLOATS("min"),
    FLOATS("max"),
    FLOATS("less"),
    FLOATS("less_equal"),
    FLOATS("greater"),
    FLOATS("greater_equal"),
    FLOATS("sum_of"),
    FLOATS("mean_of"),
    {"mod", "elementwise.a", "elementwise.b", "elementwise.fmod", {ROW_INT("fmod", 1)}},
    {"pow", "elementwise.p", "elementwise.b", "elementwise.pow", {{0}}},
    INTEGERS("mod"),
    INTEGERS("equal"),
    INTEGERS("bitwise_and"),
    INTEGERS("bitwise_or"),
    INTEGERS("bitwise_xor"),
    {"div", "elementwise.i", "elementwise.j", "elementwise.div_integer", {{0}}},
    {"bit_shift",
     "elementwise.u",
     "elementwise.v",
     "elementwise.shift_left",
     {ROW_TEXT("direction", "left")}},
    {"bit_shift",
     "elementwise.u",
     "elementwise.v",
     "elementwise.shift_right",
     {ROW_TEXT("direction", "right")}},
    FLAGS("logical_and"),
    FLAGS("logical_or"),
    FLAGS("logical_xor"),
};

static void check_row(const row_t* row) {
  char op[64];
  session_t s;
  (void)snprintf(op, sizeof op, "standard.%s/1", row->op);
  if (!session_begin(&s, NULL)) {
    return;
  }
  s.tolerance = 1e-6; /* arithmetic rounds alike, up to the last place; pow has 4 ulp */
  const tenon_value_t a = session_input(&s, row->a);
  const tenon_value_t b = session_input(&s, row->b);
  session_output(&s, node(&s, op, VALUES(a, b), row->attributes), row->expected);
  session_check(&s);
  session_end(&s);
}

TENON_TEST(each_function_of_two_operands) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    check_row(&rows[i]);
  }
}
