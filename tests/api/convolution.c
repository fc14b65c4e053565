/* Convolution, deconvolution and fully connected layers. */
#include "tests/api/session.h"

typedef struct row_t {
  const char* x;
  const char* w;
  const char* b; /* NULL: none */
  const char* expected;
  tenon_attribute_t attributes[4];
} row_t;

static const row_t convolutions[] = {
    {"convolution.x", "convolution.w", "convolution.b", "convolution.plain", {{0}}},
    {"convolution.x",
     "convolution.w",
     "convolution.b",
     "convolution.strided",
     {ROW_INTS("strides", 2, 1), ROW_INTS("pads", 1, 0, 2, 1), ROW_INTS("dilations", 1, 2)}},
    {"convolution.x",
     "convolution.w",
     NULL,
     "convolution.same",
     {ROW_INTS("strides", 2, 2), ROW_TEXT("auto_pad", "same_upper")}},
    {"convolution.x",
     "convolution.grouped_w",
     "convolution.b",
     "convolution.grouped",
     {ROW_INT("groups", 2), ROW_INTS("pads", 1, 1, 1, 1)}},
    {"convolution.x",
     "convolution.depthwise_w",
     NULL,
     "convolution.depthwise",
     {ROW_INT("groups", 4), ROW_INTS("pads", 1, 1, 1, 1)}},
    {"convolution.line_x",
     "convolution.line_w",
     NULL,
     "convolution.line",
     {ROW_INTS("pads", 1, 1)}},
    {"convolution.cube_x",
     "convolution.cube_w",
     NULL,
     "convolution.cube",
     {ROW_INTS("strides", 1, 2, 1)}},
};

static const row_t deconvolutions[] = {
    {"deconvolution.x", "deconvolution.w", "deconvolution.b", "deconvolution.plain", {{0}}},
    {"deconvolution.x",
     "deconvolution.w",
     "deconvolution.b",
     "deconvolution.strided",
     {ROW_INTS("strides", 2, 3), ROW_INTS("pads", 1, 0, 1, 1), ROW_INTS("output_padding", 1, 2)}},
    {"deconvolution.x",
     "deconvolution.grouped_w",
     NULL,
     "deconvolution.grouped",
     {ROW_INT("groups", 2), ROW_INTS("strides", 2, 2), ROW_INTS("dilations", 1, 2)}},
};

/* With constant weights, as networks have them, and with weights that only the run knows. */
static void check_row(const char* op, const row_t* row, bool constant) {
  session_t s;
  if (!session_begin(&s, NULL)) {
    return;
  }
  /* Sums of at most 36 products in any order: 36 roundings of 2^-24 of terms up to 4. */
  s.tolerance = 1e-5;
  const tenon_value_t x = session_input(&s, row->x);
  const tenon_value_t w = constant ? session_constant(&s, row->w) : session_input(&s, row->w);
  const tenon_value_t b = row->b == NULL ? ABSENT : session_constant(&s, row->b);
  session_output(&s, node(&s, op, VALUES(x, w, b), row->attributes), row->expected);
  session_check(&s);
  session_end(&s);
}

static void check_rows(const char* op, const row_t* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    check_row(op, &rows[i], true);
    check_row(op, &rows[i], false);
  }
}

TENON_TEST(convolution_in_each_form) {
  check_rows("standard.convolution/1", convolutions, sizeof convolutions / sizeof *convolutions);
}

TENON_TEST(deconvolution_in_each_form) {
  check_rows("standard.deconvolution/1", deconvolutions,
             sizeof deconvolutions / sizeof *deconvolutions);
}

/* y = x w^T + b: the weights as fully connected layers keep them, one row for each output. */
TENON_TEST(fully_connected) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "dense.x");
  const tenon_value_t w = session_constant(&s, "dense.w");
  const tenon_value_t b = session_constant(&s, "dense.b");
  const tenon_value_t columns =
      node(&s, "standard.permute/1", &w, 1, ATTRIBUTES(TENON_INTS("perm", 1, 0)));
  const tenon_value_t product = node(&s, "standard.mat_mul/1", VALUES(x, columns), NO_ATTRIBUTES);
  session_output(&s, node(&s, "standard.add/1", VALUES(product, b), NO_ATTRIBUTES), "dense.y");
  session_check(&s);
  session_end(&s);
}

TENON_TEST(matrix_products_of_broadcast_batches) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t a = session_input(&s, "dense.batch_a");
  const tenon_value_t b = session_input(&s, "dense.batch_b");
  session_output(&s, node(&s, "standard.mat_mul/1", VALUES(a, b), NO_ATTRIBUTES), "dense.batch");
  session_check(&s);
  session_end(&s);
}
