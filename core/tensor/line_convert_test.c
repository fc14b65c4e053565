#include "core/tensor/line_convert.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/tensor/dtype.h"

/* One by one, as everything else converts. */
static uint32_t load_store(const void* from, tenon_dtype_t type, tenon_dtype_t to) {
  uint32_t bits = 0;
  tenon__element_store(&bits, to, 0, tenon__element_load(from, type, 0), TENON_DTYPE_FLOAT64);
  return bits;
}

static bool is_nan(uint32_t bits) {
  return (bits & 0x7FFFFFFFU) > 0x7F800000U;
}

TENON_TEST(every_half_widens_to_the_same_number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  for (uint32_t t = 0; t < 2; ++t) {
    for (uint32_t k = 0; k < 65536; ++k) {
      uint16_t half = (uint16_t)k;
      uint32_t wide = 0;
      EXPECT(tenon__line_convert((tenon__line_t){&half, types[t], 2},
                                 (tenon__line_t){&wide, TENON_DTYPE_FLOAT32, 4}, 1));
      const uint32_t expected = load_store(&half, types[t], TENON_DTYPE_FLOAT32);
      EXPECT(wide == expected || (is_nan(wide) && is_nan(expected)));
    }
  }
}

TENON_TEST(floats_narrow_to_the_same_number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  uint32_t state = 7;
  for (uint32_t k = 0; k < 200000; ++k) {
    state = state * 1664525U + 1013904223U;
    const uint32_t bits = k < 65536 ? k << 16 | (state >> 31 << 15) | (state >> 20 & 1U) : state;
    for (uint32_t t = 0; t < 2; ++t) {
      uint16_t half = 0;
      float wide = 0;
      memcpy(&wide, &bits, sizeof wide);
      EXPECT(tenon__line_convert((tenon__line_t){&wide, TENON_DTYPE_FLOAT32, 4},
                                 (tenon__line_t){&half, types[t], 2}, 1));
      EXPECT(is_nan(bits) || half == (uint16_t)load_store(&bits, TENON_DTYPE_FLOAT32, types[t]));
      uint32_t again = 0;
      EXPECT(tenon__line_round(&wide, types[t], 1));
      memcpy(&again, &wide, sizeof again);
      EXPECT(is_nan(bits) ? is_nan(again)
                          : again == load_store(&half, types[t], TENON_DTYPE_FLOAT32));
    }
  }
}

TENON_TEST(steps_are_kept_and_other_types_are_left_alone) {
  const float from[6] = {1, 2, 3, 4, 5, 6};
  uint16_t to[6] = {0, 9, 0, 9, 0, 9};
  EXPECT(tenon__line_convert((tenon__line_t){tenon__drop_const(from), TENON_DTYPE_FLOAT32, 8},
                             (tenon__line_t){to, TENON_DTYPE_FLOAT16, 4}, 3));
  EXPECT(to[0] == 0x3C00 && to[2] == 0x4200 && to[4] == 0x4500);
  EXPECT(to[1] == 9 && to[3] == 9 && to[5] == 9);
  EXPECT(!tenon__line_convert((tenon__line_t){tenon__drop_const(from), TENON_DTYPE_FLOAT32, 4},
                              (tenon__line_t){to, TENON_DTYPE_INT16, 2}, 3));
  EXPECT(!tenon__line_round((float*)to, TENON_DTYPE_FLOAT32, 1));
}
