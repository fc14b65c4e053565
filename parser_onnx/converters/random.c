/* Random numbers. ONNX's seeds are floats: their bits seed ours. */
#include <string.h>

#include "families.h"

static void set_seed(tenon_make_t* make) {
  if (tenon_make_has(make, "seed")) {
    const float seed = (float)tenon_make_get_float(make, "seed", 0);
    uint32_t bits = 0;
    memcpy(&bits, &seed, sizeof(bits));
    tenon_make_set_int(make, "seed", bits == 0 ? 1 : (int64_t)bits);
  }
}

static void finish(tenon_make_t* make, tenon_value_t dims, tenon_dtype_t otherwise) {
  tenon_make_begin(make, make->row->op);
  tenon_make_pass_all(make, make->row->attributes);
  tenon_make_set_dtype(make, "to", tenon__onnx_get_dtype(make, "dtype", otherwise));
  set_seed(make);
  tenon_make_add(make, dims);
  tenon_make_end_outputs(make);
}

static void from_attribute(tenon_make_t* make) {
  const int64_t* shape = NULL;
  size_t count = 0;
  if (!tenon_make_get_ints(make, "shape", &shape, &count)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "attribute 'shape' is missing");
  }
  finish(make, tenon_make_int64s(make, shape, count), TENON_DTYPE_FLOAT32);
}

static void like_input(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  finish(make, tenon_make_shape(make, x),
         tenon_make_is_float(dtype) ? dtype : (tenon_dtype_t)TENON_DTYPE_FLOAT32);
}

static void bernoulli(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  finish(make, x, tenon_make_dtype(make, x));
}

static void multinomial(tenon_make_t* make) {
  finish(make, tenon_make_input(make, 0), TENON_DTYPE_INT32);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Bernoulli", bernoulli, "bernoulli", ""),
    ROW("Multinomial", multinomial, "multinomial", "sample_size"),
    ROW("RandomNormal", from_attribute, "random_normal", "mean scale"),
    ROW("RandomNormalLike", like_input, "random_normal", "mean scale"),
    ROW("RandomUniform", from_attribute, "random_uniform", "low high"),
    ROW("RandomUniformLike", like_input, "random_uniform", "low high"),
};
TENON__ONNX_FAMILY(random);
