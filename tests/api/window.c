/* Pooling, local response normalisation, scale. */
#include "tests/api/session.h"

typedef struct row_t {
  const char* name;
  tenon_attribute_t attributes[5];
} row_t;

static const row_t rows[] = {
    {"plain", {ROW_INTS("kernel_shape", 2, 2), ROW_INTS("strides", 2, 2)}},
    {"ceil", {ROW_INTS("kernel_shape", 3, 3), ROW_INTS("strides", 2, 2), ROW_INT("ceil_mode", 1)}},
    {"padded",
     {ROW_INTS("kernel_shape", 3, 2), ROW_INTS("strides", 2, 1), ROW_INTS("pads", 1, 0, 1, 1)}},
};

static void check_pool(const char* op, const char* kind, const row_t* row, bool counted) {
  char expected[64];
  session_t s;
  tenon_attribute_t attributes[5];
  uint32_t count = 0;
  memcpy(attributes, row->attributes, sizeof row->attributes);
  while (attributes[count].name != NULL) {
    ++count;
  }
  if (counted) {
    attributes[count] = TENON_INT("count_include_pad", 1);
  }
  (void)snprintf(expected, sizeof expected, "pooling.%s_%s", kind, row->name);
  if (!session_begin(&s, NULL)) {
    return;
  }
  const tenon_value_t x = session_input(&s, "pooling.x");
  session_output(&s, node(&s, op, &x, 1, attributes), expected);
  s.tolerance = 1e-6; /* sums of nine terms up to 2 */
  session_check(&s);
  session_end(&s);
}

TENON_TEST(pooling_in_each_form) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    check_pool("standard.max_pool/1", "max", &rows[i], false);
    check_pool("standard.average_pool/1", "average", &rows[i], false);
    check_pool("standard.average_pool/1", "counted", &rows[i], true);
  }
}

TENON_TEST(pooling_with_indices_and_norm) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "pooling.x");
  tenon_value_t both[2] = {ABSENT, ABSENT};
  session_add(&s, "standard.max_pool/1", &x, 1, rows[0].attributes, both, 2);
  session_output(&s, both[0], "pooling.max_plain");
  session_output(&s, both[1], "pooling.indices");
  session_output(&s, node(&s, "standard.lp_pool/1", &x, 1, rows[0].attributes), "pooling.lp");
  session_check(&s);
  session_end(&s);
}

TENON_TEST(local_response_normalisation) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "lrn.x");
  const tenon_value_t y = node(&s, "standard.lrn/1", &x, 1,
                               ATTRIBUTES(TENON_INT("window", 5), TENON_FLOAT("alpha", 0.3),
                                          TENON_FLOAT("beta", 0.7), TENON_FLOAT("bias", 1.5)));
  session_output(&s, y, "lrn.y");
  s.tolerance = 4e-6; /* a power of 4 ulp */
  session_check(&s);
  session_end(&s);
}

TENON_TEST(scale_with_and_without_power) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "scale.x");
  const tenon_value_t shift = session_constant(&s, "scale.positive_shift");
  const tenon_value_t scale = session_constant(&s, "scale.positive_scale");
  const tenon_value_t power = session_constant(&s, "scale.power");
  session_output(&s,
                 node(&s, "standard.affine_scale/1", VALUES(x, shift, scale, power), NO_ATTRIBUTES),
                 "scale.y");
  session_output(&s, node(&s, "standard.affine_scale/1", VALUES(x, shift, scale), NO_ATTRIBUTES),
                 "scale.linear");
  s.tolerance = 4e-6; /* a power of 4 ulp */
  session_check(&s);
  session_end(&s);
}
