/* Types: names, sizes, conversion of elements against what the formats say. */
#include "core/tensor/dtype.h"

#include "core/base/test.h"
#include "core/tensor/small_float.h"

TENON_TEST(names_and_sizes) {
  EXPECT_INT(tenon__dtype_bits(TENON_DTYPE_FLOAT16), 16);
  EXPECT_INT(tenon__dtype_bits(999), 0);
  EXPECT_TEXT(tenon__dtype_name(TENON_DTYPE_BFLOAT16), "bf16");
  EXPECT_INT(tenon__dtype_from_name("u4"), TENON_DTYPE_UINT4);
  EXPECT_INT(tenon__dtype_from_name("undefined"), TENON_DTYPE_UNDEFINED);
  EXPECT_INT(tenon__dtype_from_name("x"), TENON_DTYPE_UNDEFINED);
  EXPECT_INT(tenon__dtype_from_name(NULL), TENON_DTYPE_UNDEFINED);
  EXPECT_INT(tenon__dtype_class(TENON_DTYPE_COMPLEX64), 'c');
}

TENON_TEST(arithmetic_types) {
  EXPECT_INT(tenon__dtype_arithmetic(TENON_DTYPE_FLOAT8E5M2), TENON_DTYPE_FLOAT32);
  EXPECT_INT(tenon__dtype_arithmetic(TENON_DTYPE_FLOAT64), TENON_DTYPE_FLOAT64);
  EXPECT_INT(tenon__dtype_arithmetic(TENON_DTYPE_INT2), TENON_DTYPE_INT8);
  EXPECT_INT(tenon__dtype_arithmetic(TENON_DTYPE_UINT4), TENON_DTYPE_UINT8);
  EXPECT_INT(tenon__dtype_arithmetic(TENON_DTYPE_BOOL), TENON_DTYPE_BOOL);
}

TENON_TEST(lists_of_types) {
  EXPECT_INT(tenon__dtype_allowed("f32 f64 int", TENON_DTYPE_INT8), 1);
  EXPECT_INT(tenon__dtype_allowed("f32 f64 int", TENON_DTYPE_UINT8), 1);
  EXPECT_INT(tenon__dtype_allowed("f32 f64 signed", TENON_DTYPE_UINT8), 0);
  EXPECT_INT(tenon__dtype_allowed("float", TENON_DTYPE_BFLOAT16), 1);
  EXPECT_INT(tenon__dtype_allowed("any", TENON_DTYPE_STRING), 1);
  EXPECT_INT(tenon__dtype_allowed("numeric", TENON_DTYPE_BOOL), 0);
  EXPECT_INT(tenon__dtype_allowed("numeric f33", TENON_DTYPE_INT8), -1);
  EXPECT_INT(tenon__dtype_allowed("", TENON_DTYPE_INT8), 0);
}

TENON_TEST(bytes_of_packed_types) {
  size_t bytes = 0;
  EXPECT(tenon__dtype_bytes(TENON_DTYPE_INT4, 5, &bytes));
  EXPECT_INT(bytes, 3);
  EXPECT(tenon__dtype_bytes(TENON_DTYPE_UINT2, 5, &bytes));
  EXPECT_INT(bytes, 2);
  EXPECT(!tenon__dtype_bytes(TENON_DTYPE_FLOAT64, UINT64_MAX / 4, &bytes));
  EXPECT(!tenon__dtype_bytes(TENON_DTYPE_UNDEFINED, 1, &bytes));
}

/* Every code of every small float survives a round trip, except NaN's payloads and minus zero's
 * absence. */
TENON_TEST(small_floats_round_trip) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16,        TENON_DTYPE_BFLOAT16,
                                        TENON_DTYPE_FLOAT8E4M3FN,   TENON_DTYPE_FLOAT8E5M2,
                                        TENON_DTYPE_FLOAT8E4M3FNUZ, TENON_DTYPE_FLOAT8E5M2FNUZ,
                                        TENON_DTYPE_FLOAT8E8M0,     TENON_DTYPE_FLOAT4E2M1};
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); ++t) {
    const uint32_t codes = 1u << tenon__dtype_bits(types[t]);
    for (uint32_t code = 0; code < codes; ++code) {
      const double value = tenon__small_float_decode(types[t], code);
      if (isnan(value) || (isinf(value) && types[t] == TENON_DTYPE_FLOAT8E5M2)) {
        continue;
      }
      const uint32_t back = tenon__small_float_encode(types[t], value);
      if (back != code) {
        tenon__test_fail(__FILE__, __LINE__, "%s %#x gives %g gives %#x",
                         tenon__dtype_name(types[t]), code, value, back);
      }
    }
  }
}

TENON_TEST(small_floats_known_values) {
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT16, 0x3C01), 1.0009765625, 0);
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT16, 0x0001), ldexp(1, -24), 0);
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT8E4M3FN, 0x7E), 448, 0);
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT8E4M3FNUZ, 0x7F), 240, 0);
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT8E5M2, 0x7B), 57344, 0);
  EXPECT(isinf(tenon__small_float_decode(TENON_DTYPE_FLOAT8E5M2, 0xFC)));
  EXPECT(isnan(tenon__small_float_decode(TENON_DTYPE_FLOAT8E4M3FN, 0xFF)));
  EXPECT(isnan(tenon__small_float_decode(TENON_DTYPE_FLOAT8E5M2FNUZ, 0x80)));
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT4E2M1, 0x7), 6, 0);
  EXPECT_NEAR(tenon__small_float_decode(TENON_DTYPE_FLOAT8E8M0, 0x7F), 1, 0);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT16, 65519.0), 0x7BFF);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT16, 65520.0), 0x7C00);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT16, -HUGE_VAL), 0xFC00);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT16, ldexp(1, -25)), 0);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT16, ldexp(1.5, -25)), 1);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_BFLOAT16, 1.00390625), 0x3F80);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_BFLOAT16, 1.01171875), 0x3F82);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT8E4M3FN, 1e9), 0x7E);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT8E4M3FNUZ, -0.0), 0);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT8E8M0, -1.0), 0xFF);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT8E8M0, 3.0), 0x81);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT4E2M1, 2.5), 0x4);
  EXPECT_INT(tenon__small_float_encode(TENON_DTYPE_FLOAT4E2M1, -100.0), 0xF);
  EXPECT_NEAR(tenon__float_highest(TENON_DTYPE_FLOAT16), 65504, 0);
  EXPECT_NEAR(tenon__float_highest(TENON_DTYPE_FLOAT32), 3.4028234663852886e38, 0);
}

TENON_TEST(loads_and_stores_elements) {
  uint8_t packed[4] = {0};
  const int64_t values[] = {-8, 7, -1, 3, 0};
  for (uint64_t i = 0; i < 5; ++i) {
    tenon__element_store(packed, TENON_DTYPE_INT4, i, (tenon__scalar_t){.i = values[i]},
                         TENON_DTYPE_INT8);
  }
  EXPECT_INT(packed[0], 0x78);
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_INT(tenon__element_load(packed, TENON_DTYPE_INT4, i).i, values[i]);
  }
  tenon__element_store(packed, TENON_DTYPE_UINT2, 3, (tenon__scalar_t){.i = 2}, TENON_DTYPE_UINT8);
  EXPECT_INT(tenon__element_load(packed, TENON_DTYPE_UINT2, 3).i, 2);
  const uint64_t large = UINT64_MAX;
  EXPECT_INT(tenon__element_load(&large, TENON_DTYPE_UINT64, 0).i, -1);
  EXPECT_INT(tenon__element_load(&large, TENON_DTYPE_BOOL, 0).i, 1);
  EXPECT_INT(tenon__element_load(&large, TENON_DTYPE_UINT32, 0).i, UINT32_MAX);
  const float third = 0.1f;
  EXPECT_NEAR(tenon__element_load(&third, TENON_DTYPE_FLOAT32, 0).f, (double)0.1f, 0);
  uint16_t half = 0;
  tenon__element_store(&half, TENON_DTYPE_FLOAT16, 0, (tenon__scalar_t){.f = -2.0},
                       TENON_DTYPE_FLOAT32);
  EXPECT_INT(half, 0xC000);
}

static int64_t to_int(double value, tenon_dtype_t to) {
  return tenon__scalar_cast((tenon__scalar_t){.f = value}, TENON_DTYPE_FLOAT64, to).i;
}

TENON_TEST(casts_saturate_and_wrap) {
  EXPECT_INT(to_int(300.7, TENON_DTYPE_INT8), 127);
  EXPECT_INT(to_int(-300.7, TENON_DTYPE_INT8), -128);
  EXPECT_INT(to_int(-128.9, TENON_DTYPE_INT8), -128);
  EXPECT_INT(to_int(-0.9, TENON_DTYPE_UINT8), 0);
  EXPECT_INT(to_int(1e30, TENON_DTYPE_INT64), INT64_MAX);
  EXPECT_INT(to_int(-1e30, TENON_DTYPE_INT64), INT64_MIN);
  EXPECT_INT(to_int(1e30, TENON_DTYPE_UINT64), -1);
  EXPECT_INT(to_int(1.5e19, TENON_DTYPE_UINT64), (int64_t)UINT64_C(15000000000000000000));
  EXPECT_INT(to_int((double)NAN, TENON_DTYPE_INT32), 0);
  EXPECT_INT(to_int(9.0, TENON_DTYPE_INT4), 7);
  EXPECT_INT(to_int(0.5, TENON_DTYPE_BOOL), 1);
  const tenon__scalar_t wide = {.i = 300};
  EXPECT_INT(tenon__scalar_cast(wide, TENON_DTYPE_INT64, TENON_DTYPE_INT8).i, 44);
  const tenon__scalar_t minus = {.i = -1};
  EXPECT_INT(tenon__scalar_cast(minus, TENON_DTYPE_INT32, TENON_DTYPE_UINT8).i, 255);
  EXPECT_NEAR(tenon__scalar_cast(minus, TENON_DTYPE_UINT64, TENON_DTYPE_FLOAT64).f,
              18446744073709551616.0, 0);
  /* Halfway between two f32, nudged up by less than f64 can tell: rounded once, up. */
  const tenon__scalar_t nudged = {.i = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1};
  EXPECT_NEAR(tenon__scalar_cast(nudged, TENON_DTYPE_INT64, TENON_DTYPE_FLOAT32).f,
              ldexp(1, 60) + ldexp(1, 37), 0);
}
