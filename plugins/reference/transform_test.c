/* Fourier transforms, attention, text, sequences: one case each for what is easily got wrong. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64

TENON_TEST(dft_and_its_inverse) {
  fake_t f = fake_of("standard.dft/1");
  fake_int(&f, "fixed_axis", -2);
  fake_int(&f, "onesided", 1);
  fake_input(&f, F32, DIMS(1, 4, 1), NUMBERS(1, 2, 3, 4));
  fake_output(&f, F32, DIMS(1, 3, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 10, 0, -2, 2, -2, 0);
  fake_done(&f);
  fake_t g = fake_of("standard.dft/1");
  fake_int(&g, "fixed_axis", -2);
  fake_int(&g, "onesided", 1);
  fake_int(&g, "inverse", 1);
  fake_input(&g, F32, DIMS(1, 3, 2), NUMBERS(10, 0, -2, 2, -2, 0));
  fake_output(&g, F32, DIMS(1, 4, 1));
  EXPECT_STATUS(fake_run(&g), TENON_OK);
  EXPECT_NUMBERS(&g, 0, 1e-6, 1, 2, 3, 4);
  fake_done(&g);
}

TENON_TEST(attention_is_causal_after_its_past) {
  fake_t f = fake_of("standard.attention/1");
  fake_int(&f, "is_causal", 1);
  fake_int(&f, "left_window", -1);
  fake_int(&f, "right_window", -1);
  fake_int(&f, "qk_mode", 3);
  fake_float(&f, "scale", 1.0);
  fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(0, 0));
  fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(1, 1));
  fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(2, 6));
  fake_absent(&f);
  fake_input(&f, F32, DIMS(1, 1, 1, 1), NUMBERS(1));
  fake_input(&f, F32, DIMS(1, 1, 1, 1), NUMBERS(4));
  fake_output(&f, F32, DIMS(1, 1, 2, 1));
  fake_output(&f, F32, DIMS(1, 1, 3, 1));
  fake_output(&f, F32, DIMS(1, 1, 3, 1));
  fake_output(&f, F32, DIMS(1, 1, 2, 3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 3, 4);
  EXPECT_NUMBERS(&f, 2, 0.0, 4, 2, 6);
  EXPECT_NUMBERS(&f, 3, 1e-6, 0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  fake_done(&f);
}

TENON_TEST(a_fully_masked_row_is_zero) {
  fake_t f = fake_of("standard.attention/1");
  fake_int(&f, "left_window", -1);
  fake_int(&f, "right_window", -1);
  fake_input(&f, F32, DIMS(1, 1, 1, 1), NUMBERS(1));
  fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(1, 1));
  fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(2, INFINITY));
  fake_input(&f, TENON_DTYPE_BOOL, DIMS(1, 1), NUMBERS(0));
  fake_output(&f, F32, DIMS(1, 1, 1, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 0);
  fake_done(&f);
}

TENON_TEST(a_mask_of_integers_is_added) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_INT8, TENON_DTYPE_UINT8, TENON_DTYPE_INT64,
                                         TENON_DTYPE_UINT64};
  for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); ++k) {
    fake_t f = fake_of("standard.attention/1");
    fake_int(&f, "left_window", -1);
    fake_int(&f, "right_window", -1);
    fake_input(&f, F32, DIMS(1, 1, 1, 1), NUMBERS(0));
    fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(1, 1));
    fake_input(&f, F32, DIMS(1, 1, 2, 1), NUMBERS(0, 1));
    fake_input(&f, dtypes[k], DIMS(1, 2), NUMBERS(0, 1));
    fake_output(&f, F32, DIMS(1, 1, 1, 1));
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    EXPECT_NUMBERS(&f, 0, 1e-6, 0.7310585786); /* e / (1 + e) */
    fake_done(&f);
  }
}

static fake_t rotary(int interleaved) {
  fake_t f = fake_of("standard.rotary_embedding/1");
  fake_int(&f, "interleaved", interleaved);
  fake_input(&f, F32, DIMS(1, 1, 1, 4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(0, 1));
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(1, 0));
  fake_output(&f, F32, DIMS(1, 1, 1, 4));
  return f;
}

TENON_TEST(rotary_embedding_turns_pairs) {
  fake_t f = rotary(0);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, -3, 2, 1, 4);
  fake_done(&f);
  fake_t g = rotary(1);
  EXPECT_STATUS(fake_run(&g), TENON_OK);
  EXPECT_NUMBERS(&g, 0, 0.0, -2, 1, 3, 4);
  fake_done(&g);
}

static bool text_is(const fake_t* f, int64_t place, const char* expected) {
  const tenon_string_view_t* views = f->results[0].data;
  return views != NULL && views[place].size == strlen(expected) &&
         memcmp(views[place].data, expected, views[place].size) == 0;
}

TENON_TEST(strings_split_and_are_padded) {
  fake_t f = fake_of("standard.string_split/1");
  fake_string(&f, "delimiter", "");
  fake_int(&f, "max_split", 1);
  fake_strings(&f, 2, (const char* const[]){" a  b c ", "d"});
  fake_unbounded(&f, TENON_DTYPE_STRING);
  fake_output(&f, I64, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 2, 2);
  EXPECT(text_is(&f, 0, "a") && text_is(&f, 1, "b c") && text_is(&f, 2, "d") && text_is(&f, 3, ""));
  EXPECT_NUMBERS(&f, 1, 0.0, 2, 1);
  fake_done(&f);
}

TENON_TEST(strings_are_joined_and_read) {
  fake_t f = fake_of("standard.string_concat/1");
  fake_strings(&f, 2, (const char* const[]){"a", "b"});
  fake_strings(&f, 1, (const char* const[]){".c"});
  fake_output(&f, TENON_DTYPE_STRING, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT(text_is(&f, 0, "a.c") && text_is(&f, 1, "b.c"));
  fake_done(&f);
  fake_t g = fake_of("standard.text_to_number/1");
  fake_strings(&g, 3, (const char* const[]){"1e-5", "-INF", "100.5"});
  fake_output(&g, F32, DIMS(3));
  EXPECT_STATUS(fake_run(&g), TENON_OK);
  EXPECT_NUMBERS(&g, 0, 1e-9, 1e-5, -INFINITY, 100.5);
  fake_done(&g);
}

TENON_TEST(sequences_are_cut_from_tensors) {
  fake_t f = fake_of("standard.split_to_sequence/1");
  fake_int(&f, "axis", 1);
  fake_int(&f, "keepdims", 1);
  fake_input(&f, F32, DIMS(1, 3), NUMBERS(1, 2, 3));
  fake_input(&f, I64, SCALAR, NUMBERS(2));
  fake_unbounded(&f, F32);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  REQUIRE(f.item_count == 2);
  EXPECT(*(const float*)f.items[1].tensor.data == 3.0f);
  fake_done(&f);
}

TENON_TEST(float8_need_not_saturate) {
  fake_t f = fake_of("standard.cast/1");
  fake_int(&f, "saturate", 0);
  fake_string(&f, "round_mode", "up");
  fake_input(&f, F32, DIMS(2), NUMBERS(1e6, 1));
  fake_output(&f, TENON_DTYPE_FLOAT8E5M2, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, INFINITY, 1);
  fake_done(&f);
}
