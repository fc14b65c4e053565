/* Integers whose sums are beyond their type: a mean is the exact one, cut to an integer, folded as
 * run. */
#include "tests/api/figures.h"

enum { MODES = 4 };

static tenon_build_options_t options_of(int mode) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = mode == 1;
  options.no_fusion = mode == 2;
  return options;
}

typedef struct reducing_t {
  const char* op;
  tenon_dtype_t type;
  const void* numbers; /* three */
  double expected;
} reducing_t;

/* In the last mode of a constant. */
static void check(const reducing_t* reducing, int mode) {
  scene_t scene;
  tenon_tensor_view_t y;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  tenon_build_options_t options = options_of(mode);
  const tenon_value_t x = mode == 3 ? constant(s, reducing->type, 1, DIMS(3), reducing->numbers)
                                    : input(s, "x", reducing->type, 1, DIMS(3));
  output(s, node(s, reducing->op, VALUES(x), ATTRIBUTES(ROW_INT("keepdims", 0))), "y");
  REQUIRE(scene_start(&scene, &options));
  if (mode != 3) {
    set(&scene, 0, reducing->type, 1, DIMS(3), tenon__drop_const(reducing->numbers));
  }
  run(&scene);
  REQUIRE(tenon_context_get_output(scene.context, 0, &y) == TENON_OK);
  const tenon__scalar_t number = tenon__element_load(y.data, y.dtype, 0);
  const double is =
      reducing->type == TENON_DTYPE_UINT64 ? (double)(uint64_t)number.i : (double)number.i;
  if (is != reducing->expected) {
    tenon__test_fail(__FILE__, __LINE__, "%s of %s, mode %d: %.17g, expected %.17g", reducing->op,
                     tenon__dtype_name(reducing->type), mode, is, reducing->expected);
  }
  scene_end(&scene);
}

static void check_all(const reducing_t* all, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    for (int mode = 0; mode < MODES; ++mode) {
      check(&all[k], mode);
    }
  }
}

TENON_TEST(means_of_integers_are_exact) {
  static const int8_t bytes[] = {-128, -128, -128};
  static const uint8_t unsigned_bytes[] = {255, 255, 254};
  static const int32_t largest[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  static const int32_t small[] = {-7, -1, 0};
  static const uint32_t unsigned_largest[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  static const int64_t longs[] = {INT64_MAX, INT64_MAX, INT64_MAX - 1};
  static const int64_t mixed[] = {4, -1, -1};   /* two thirds */
  static const int64_t opposite[] = {-4, 1, 1}; /* minus two thirds */
  static const int64_t halves[] = {1, 2, 4};
  static const uint64_t unsigned_longs[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
  static const reducing_t means[] = {
      {"standard.reduce_mean/1", TENON_DTYPE_INT8, bytes, -128},
      {"standard.reduce_mean/1", TENON_DTYPE_UINT8, unsigned_bytes, 254},
      {"standard.reduce_mean/1", TENON_DTYPE_INT32, largest, INT32_MAX},
      {"standard.reduce_mean/1", TENON_DTYPE_INT32, small, -2},
      {"standard.reduce_mean/1", TENON_DTYPE_UINT32, unsigned_largest, UINT32_MAX},
      {"standard.reduce_mean/1", TENON_DTYPE_INT64, longs, 9223372036854775806.0},
      {"standard.reduce_mean/1", TENON_DTYPE_INT64, mixed, 0},
      {"standard.reduce_mean/1", TENON_DTYPE_INT64, opposite, 0},
      {"standard.reduce_mean/1", TENON_DTYPE_INT64, halves, 2},
      {"standard.reduce_mean/1", TENON_DTYPE_UINT64, unsigned_longs, 18446744073709551615.0},
  };
  check_all(means, sizeof means / sizeof means[0]);
}

/* What is computed through floats is summed in floats. */
TENON_TEST(norms_of_integers_do_not_overflow) {
  static const int32_t numbers[] = {50000, 50000, 0};
  static const int32_t large[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  static const reducing_t norms[] = {
      {"standard.reduce_l2/1", TENON_DTYPE_INT32, numbers, 70710},
      {"standard.reduce_log_sum/1", TENON_DTYPE_INT32, large, 22},
  };
  check_all(norms, sizeof norms / sizeof norms[0]);
}
