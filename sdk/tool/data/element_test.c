/* Elements of every type: known codes, and each code of the small types there and back. */
#include "data/element.h"

#include "core/base/test.h"

TENON_TEST(reads_known_codes) {
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT16, &(uint16_t){0x3C00}, 0, 0), 1, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT16, &(uint16_t){0x0001}, 0, 0), ldexp(1, -24), 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT16, &(uint16_t){0x7BFF}, 0, 0), 65504, 0);
  EXPECT(isinf(tool_element_get(TENON_DTYPE_FLOAT16, &(uint16_t){0xFC00}, 0, 0)));
  EXPECT(isnan(tool_element_get(TENON_DTYPE_FLOAT16, &(uint16_t){0x7C01}, 0, 0)));
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_BFLOAT16, &(uint16_t){0xC040}, 0, 0), -3, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E4M3FN, &(uint8_t){0x7E}, 0, 0), 448, 0);
  EXPECT(isnan(tool_element_get(TENON_DTYPE_FLOAT8E4M3FN, &(uint8_t){0x7F}, 0, 0)));
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E4M3FNUZ, &(uint8_t){0x7F}, 0, 0), 240, 0);
  EXPECT(isnan(tool_element_get(TENON_DTYPE_FLOAT8E4M3FNUZ, &(uint8_t){0x80}, 0, 0)));
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E5M2, &(uint8_t){0x7B}, 0, 0), 57344, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E5M2FNUZ, &(uint8_t){0x7F}, 0, 0), 57344, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E8M0, &(uint8_t){127}, 0, 0), 1, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT8E8M0, &(uint8_t){0}, 0, 0), ldexp(1, -127), 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT4E2M1, &(uint8_t){0xF7}, 0, 0), 6, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_FLOAT4E2M1, &(uint8_t){0xF7}, 1, 0), -6, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_INT4, &(uint8_t){0x8F}, 0, 0), -1, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_INT4, &(uint8_t){0x8F}, 1, 0), -8, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_UINT2, &(uint8_t){0xE4}, 3, 0), 3, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_INT2, &(uint8_t){0xE4}, 2, 0), -2, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_INT64, &(int64_t){-5}, 0, 0), -5, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_UINT64, &(uint64_t){5}, 0, 0), 5, 0);
  EXPECT_NEAR(tool_element_get(TENON_DTYPE_COMPLEX64, (float[]){1, 2}, 0, 1), 2, 0);
}

static void check_codes(tenon_dtype_t dtype) {
  const uint32_t bits = tool_dtype_bits(dtype);
  for (uint32_t code = 0; code < 1u << bits; ++code) {
    uint16_t word = (uint16_t)code;
    uint16_t back = 0;
    const double value = tool_element_get(dtype, &word, 0, 0);
    tool_element_set(dtype, &back, 0, value);
    const double again = tool_element_get(dtype, &back, 0, 0);
    const bool same = isnan(value) ? isnan(again) : back == word;
    if (!same) {
      tenon__test_fail(__FILE__, __LINE__, "%s code %u is %g, written as %u",
                       tool_dtype_name(dtype), code, value, back);
      return;
    }
  }
}

TENON_TEST(writes_what_it_reads) {
  static const tenon_dtype_t dtypes[] = {
      TENON_DTYPE_FLOAT16,    TENON_DTYPE_BFLOAT16,       TENON_DTYPE_FLOAT8E4M3FN,
      TENON_DTYPE_FLOAT8E5M2, TENON_DTYPE_FLOAT8E4M3FNUZ, TENON_DTYPE_FLOAT8E5M2FNUZ,
      TENON_DTYPE_FLOAT8E8M0, TENON_DTYPE_FLOAT4E2M1,     TENON_DTYPE_INT4,
      TENON_DTYPE_UINT4,      TENON_DTYPE_INT2,           TENON_DTYPE_UINT2,
      TENON_DTYPE_INT8,       TENON_DTYPE_UINT8,          TENON_DTYPE_INT16,
      TENON_DTYPE_UINT16};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); ++i) {
    check_codes(dtypes[i]);
  }
}

TENON_TEST(rounds_to_even_and_saturates) {
  uint16_t half = 0;
  tool_element_set(TENON_DTYPE_FLOAT16, &half, 0, 1 + ldexp(1, -11));
  EXPECT_INT(half, 0x3C00);
  tool_element_set(TENON_DTYPE_FLOAT16, &half, 0, 1 + ldexp(3, -11));
  EXPECT_INT(half, 0x3C02);
  tool_element_set(TENON_DTYPE_FLOAT16, &half, 0, 65520);
  EXPECT_INT(half, 0x7C00);
  tool_element_set(TENON_DTYPE_FLOAT16, &half, 0, 65519);
  EXPECT_INT(half, 0x7BFF);
  tool_element_set(TENON_DTYPE_BFLOAT16, &half, 0, -INFINITY);
  EXPECT_INT(half, 0xFF80);
  int8_t small = 0;
  tool_element_set(TENON_DTYPE_INT8, &small, 0, 1e9);
  EXPECT_INT(small, 127);
  tool_element_set(TENON_DTYPE_INT8, &small, 0, -200);
  EXPECT_INT(small, -128);
  tool_element_set(TENON_DTYPE_INT8, &small, 0, 2.5);
  EXPECT_INT(small, 2);
  int64_t large = 0;
  tool_element_set(TENON_DTYPE_INT64, &large, 0, 1e30);
  EXPECT_INT(large, INT64_MAX);
}

TENON_TEST(refuses_extents_that_overflow) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  EXPECT(!tool_element_count(2, (const int64_t[]){INT64_MAX / 2, 4}, TENON_DTYPE_INT8, &count,
                             &bytes));
  EXPECT(!tool_element_count(1, (const int64_t[]){INT64_MAX / 4}, TENON_DTYPE_FLOAT64, &count,
                             &bytes));
  EXPECT(!tool_element_count(1, (const int64_t[]){-1}, TENON_DTYPE_INT8, &count, &bytes));
  EXPECT(tool_element_count(3, (const int64_t[]){INT64_MAX, INT64_MAX, 0}, TENON_DTYPE_INT8, &count,
                            &bytes));
  EXPECT_INT(count, 0);
  EXPECT(tool_element_count(1, (const int64_t[]){3}, TENON_DTYPE_INT4, &count, &bytes));
  EXPECT_INT(bytes, 2);
}
