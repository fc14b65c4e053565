/* Elements of every type. */
#include "number.h"

#include "core/base/test.h"

TENON_TEST(narrow_floats_keep_every_value) {
  static const tenon_dtype_t dtypes[] = {
      TENON_DTYPE_FLOAT16,        TENON_DTYPE_BFLOAT16,   TENON_DTYPE_FLOAT8E4M3FN,
      TENON_DTYPE_FLOAT8E4M3FNUZ, TENON_DTYPE_FLOAT8E5M2, TENON_DTYPE_FLOAT8E5M2FNUZ,
      TENON_DTYPE_FLOAT8E8M0,     TENON_DTYPE_FLOAT4E2M1,
  };
  for (size_t index = 0; index < sizeof(dtypes) / sizeof(dtypes[0]); ++index) {
    for (uint32_t bits = 0; bits < 1u << tenon__number_bits(dtypes[index]); ++bits) {
      double value = tenon__narrow_decode(dtypes[index], bits);
      if (!isnan(value)) {
        EXPECT_INT(tenon__narrow_encode(dtypes[index], value, false), bits);
      }
    }
  }
}

TENON_TEST(narrow_floats_round_halves_to_even) {
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E4M3FN, 17.0, true), 0x58); /* 16, not 18 */
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E4M3FN, 19.0, true), 0x5A); /* 20 */
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT16, 1.0 + 0x1p-11, true), 0x3C00);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT16, 0x1p-25, true), 0x0000);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT16, 0x1.8p-25, true), 0x0001);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT4E2M1, 2.5, true), 4); /* 2 */
}

TENON_TEST(narrow_floats_overflow_as_asked) {
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT16, 1e6, true), 0x7C00);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E4M3FN, 1e6, true), 0x7E);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E4M3FN, -1e6, false), 0xFF);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E5M2, -1e6, false), 0xFC);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT8E5M2FNUZ, 1e6, false), 0x80);
  EXPECT_INT(tenon__narrow_encode(TENON_DTYPE_FLOAT4E2M1, 100.0, false), 7);
}

TENON_TEST(packed_integers_lie_lowest_first) {
  uint8_t bytes[2] = {0, 0};
  for (int64_t index = 0; index < 4; ++index) {
    tenon__number_t number = {.i = index - 2};
    tenon__number_store(bytes, 0, TENON_DTYPE_INT4, index, number);
  }
  EXPECT_INT(bytes[0], 0xFE);
  EXPECT_INT(bytes[1], 0x10);
  EXPECT_INT(tenon__number_load(bytes, 0, TENON_DTYPE_INT4, 1).i, -1);
  EXPECT_INT(tenon__number_load(bytes, 4, TENON_DTYPE_INT4, 0).i, -1);
  EXPECT_INT(tenon__number_load(bytes, 0, TENON_DTYPE_UINT2, 1).i, 3);
}

static int64_t cast_float(double value, tenon_dtype_t to) {
  tenon__number_t number = {.f = value};
  return tenon__number_cast(number, TENON_DTYPE_FLOAT32, to).i;
}

TENON_TEST(casts_truncate_and_saturate) {
  EXPECT_INT(cast_float(-1.9, TENON_DTYPE_INT8), -1);
  EXPECT_INT(cast_float(300.0, TENON_DTYPE_INT8), 127);
  EXPECT_INT(cast_float(-300.0, TENON_DTYPE_UINT8), 0);
  EXPECT_INT(cast_float(1e30, TENON_DTYPE_INT64), INT64_MAX);
  EXPECT_INT(cast_float(-1e30, TENON_DTYPE_INT64), INT64_MIN);
  EXPECT_INT(cast_float(1e30, TENON_DTYPE_UINT64), -1);
  EXPECT_INT(cast_float(NAN, TENON_DTYPE_INT32), 0);
  EXPECT_INT(cast_float(9.0, TENON_DTYPE_INT4), 7);
  EXPECT_INT(cast_float(0.25, TENON_DTYPE_BOOL), 1);
  tenon__number_t wide = {.i = 300};
  EXPECT_INT(tenon__number_cast(wide, TENON_DTYPE_INT32, TENON_DTYPE_INT8).i, 44);
  tenon__number_t odd = {.i = (int64_t)1 << 62 | 1};
  EXPECT(tenon__number_cast(odd, TENON_DTYPE_INT64, TENON_DTYPE_FLOAT32).f == 0x1p62);
}

TENON_TEST(unsigned_numbers_compare_as_such) {
  tenon__number_t a = {.i = -1};
  tenon__number_t b = {.i = 1};
  EXPECT_INT(tenon__number_compare(TENON_DTYPE_UINT64, a, b), 1);
  EXPECT_INT(tenon__number_compare(TENON_DTYPE_INT64, a, b), -1);
}
