/* What holds between the operators, whatever computes them. */
#include "rewrites.h"

#include <stdbool.h>
#include <string.h>

#define SINGLE_OR_DOUBLE "(dtype(x) == 'f32' || dtype(x) == 'f64')"
#define FLOAT "(" SINGLE_OR_DOUBLE " || dtype(x) == 'f16' || dtype(x) == 'bf16')"
/* x to the power of a constant, whose shape is that of x alone. */
#define POWER_OF(number) "value(e) == " #number " && elements(e) == 1 && rank(e) <= rank(x) && "

/* A product of matrices, one of whose factors is multiplied by one number before. */
#define SCALED(factor) \
  "elements(s) == 1 && rank(s) <= rank(" factor ") && (dtype(a) == 'f32' || dtype(a) == 'f64')"
#define SCALE_BEHIND "p = standard.mat_mul/1(a, b); y = standard.mul/1(p, s)"

/* ---- Convolutions of patches ---- */

/* An image is cut into blocks, each read by all weights once (as transformers of pictures begin):
 * the window is its own step. Kernels of convolutions want channels side by side, and images have
 * three; as channels of blocks there are enough, and a window of one pixel is a product. */
enum { FEW_CHANNELS = 4, MANY_ELEMENTS = 32 /* of a block, with its channels */ };

static int64_t number_of(const tenon_rewriting_t* call, const char* name, size_t index,
                         int64_t otherwise) {
  const int64_t* values = NULL;
  size_t count = 0;
  int64_t single = otherwise;
  if (call->table->attribute_ints(call->match, 0, name, &values, &count) == TENON_OK) {
    return index < count ? values[index] : otherwise;
  }
  return call->table->attribute_int(call->match, 0, name, &single) == TENON_OK ? single : otherwise;
}

static bool is_of_blocks(const tenon_rewriting_t* call, const tenon_value_type_t* x,
                         const tenon_value_type_t* w) {
  const char* padding = "";
  if (x->rank != 4 || w->rank != 4 || w->constant_data == NULL || w->dims[2] < 2 ||
      w->dims[2] != w->dims[3] || w->dims[1] < 1 || w->dims[1] > FEW_CHANNELS ||
      w->dims[1] * w->dims[2] * w->dims[3] < MANY_ELEMENTS ||
      number_of(call, "groups", 0, 1) != 1) {
    return false;
  }
  const bool is_told =
      call->table->attribute_string(call->match, 0, "auto_pad", &padding) == TENON_OK;
  bool fits = !is_told || strncmp(padding, "same", 4) != 0;
  for (size_t axis = 0; axis < 2; axis++) {
    const int64_t extent = x->dims[axis + 2];
    fits = fits && number_of(call, "strides", axis, 1) == w->dims[2] &&
           number_of(call, "dilations", axis, 1) == 1 && number_of(call, "pads", axis, 0) == 0 &&
           number_of(call, "pads", axis + 2, 0) == 0 && extent > 0 && extent % w->dims[2] == 0;
  }
  return fits;
}

static tenon_status_t build_blocks(const tenon_rewriting_t* call, const tenon_value_type_t* w,
                                   tenon_value_t* out) {
  const tenon_builder_table_t* build = call->build;
  tenon_builder_t* builder = call->builder;
  const int64_t dims[] = {w->dims[0], w->dims[1] * w->dims[2] * w->dims[3], 1, 1};
  const int64_t block = w->dims[2];
  tenon_value_t blocks = {0};
  tenon_value_t rows = {0};
  /* What fails poisons the builder: the last call says so. */
  (void)build->begin(builder, "standard.space_to_depth/1", NULL);
  (void)build->attribute_int(builder, "block_size", block);
  (void)build->attribute_string(builder, "mode", "crd");
  (void)build->add_input(builder, call->inputs[0]);
  (void)build->end(builder, &blocks, 1);
  (void)build->begin(builder, "standard.reshape/1", NULL);
  (void)build->attribute_ints(builder, "fixed_dims", dims, 4);
  (void)build->add_input(builder, call->inputs[1]);
  (void)build->end(builder, &rows, 1);
  (void)build->begin(builder, "standard.convolution/1", NULL);
  (void)build->add_input(builder, blocks);
  (void)build->add_input(builder, rows);
  if (call->input_count > 2) {
    (void)build->add_input(builder, call->inputs[2]);
  }
  return build->end(builder, out, 1);
}

static int32_t rewrite_blocks(const tenon_rewriting_t* call, tenon_value_t* out) {
  tenon_value_type_t x = {.size = sizeof(x)};
  tenon_value_type_t w = {.size = sizeof(w)};
  return call->build->type(call->builder, call->inputs[0], &x) == TENON_OK &&
                 call->build->type(call->builder, call->inputs[1], &w) == TENON_OK &&
                 is_of_blocks(call, &x, &w) && build_blocks(call, &w, out) == TENON_OK
             ? 1
             : 0;
}

/* ---- All ---- */

/* A power costs ten products, and is no more exact than one of them. Two have a rounding between
 * them, which narrow floats would feel; powers of integers saturate, their products wrap. */
static const tenon_rewrite_t rewrites[] = {
    {sizeof(tenon_rewrite_t), .name = "power of 2", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(2) FLOAT, .replacement = "y = standard.mul/1(x, x)"},
    {sizeof(tenon_rewrite_t), .name = "power of 3", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(3) SINGLE_OR_DOUBLE,
     .replacement = "t = standard.mul/1(x, x); y = standard.mul/1(t, x)"},
    /* Behind the product the number is multiplied in its kernel, or with what comes next; narrow
     * floats may be too large before. */
    {sizeof(tenon_rewrite_t), .name = "scale of a left factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(a, s); y = standard.mat_mul/1(t, b)", .when = SCALED("a")},
    {sizeof(tenon_rewrite_t), .name = "scale before a left factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(s, a); y = standard.mat_mul/1(t, b)", .when = SCALED("a")},
    {sizeof(tenon_rewrite_t), .name = "scale of a right factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(b, s); y = standard.mat_mul/1(a, t)", .when = SCALED("b")},
    {sizeof(tenon_rewrite_t), .name = "scale before a right factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(s, b); y = standard.mat_mul/1(a, t)", .when = SCALED("b")},
    {sizeof(tenon_rewrite_t), .name = "convolution of blocks", .rewrite = rewrite_blocks,
     .pattern = "y = standard.convolution/1(x, w, _)"},
    {sizeof(tenon_rewrite_t), .name = "biased convolution of blocks", .rewrite = rewrite_blocks,
     .pattern = "y = standard.convolution/1(x, w, b)"},
};

const tenon_offering_t tenon__rewrites = TENON_OFFERING_OF("rewrite/1", rewrites);
