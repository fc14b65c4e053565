/* Pictures: formats there and back, resizing, channels, damage. */
#include "data/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

static const tool_preprocess_t plain = {.scale = {1, 1, 1, 1}};

#define PARSE(text, picture) \
  tool_picture_parse("x", (const uint8_t*)(text), sizeof(text) - 1, (picture))

TENON_TEST(reads_all_forms_of_pnm) {
  tool_picture_t picture;
  REQUIRE(PARSE("P5\n# a comment\n2 1\n255\n\x01\xFF", &picture) == TENON_OK);
  EXPECT_INT(picture.samples[1], 255);
  tool_picture_free(&picture);
  REQUIRE(PARSE("P2 2 1 15 3 9", &picture) == TENON_OK);
  EXPECT_INT(picture.samples[1], 9);
  EXPECT_INT(picture.maximum, 15);
  tool_picture_free(&picture);
  REQUIRE(PARSE("P6\n1 1\n65535\n\x01\x02\x03\x04\x05\x06", &picture) == TENON_OK);
  EXPECT_INT(picture.samples[2], 0x0506);
  tool_picture_free(&picture);
  REQUIRE(PARSE("P3 1 1 255 1 2 3\n", &picture) == TENON_OK);
  EXPECT_INT(picture.channels, 3);
  tool_picture_free(&picture);
}

TENON_TEST(refuses_damaged_pnm) {
  static const char* const texts[] = {
      "P5\n2 2\n255\n\x01\x02\x03", "P5\n0 2\n255\n", "P5\n2 2\n0\n1234",
      "P5\n99999 99999\n255\n1234", "P2 2 1 255 7",   "P5 2 2 255",
      "P5\n2 2\n70000\n12345678"};
  tool_console_silence(true);
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    tool_picture_t picture;
    EXPECT_STATUS(tool_picture_parse("x", (const uint8_t*)texts[i], strlen(texts[i]), &picture),
                  TENON_ERROR_INVALID_DATA);
  }
}

static void fill(tool_picture_t* picture, uint32_t width, uint32_t height, uint32_t channels) {
  (void)tool_picture_make("x", width, height, channels, 255, picture);
  for (uint32_t i = 0; i < width * height * channels; ++i) {
    picture->samples[i] = (uint16_t)(i * 7 % 256);
  }
}

static void write_and_read(const char* suffix, uint32_t channels) {
  char path[64];
  tool_picture_t picture;
  tool_picture_t again;
  (void)snprintf(path, sizeof(path), "/tmp/tenon_picture_%ld%s", (long)getpid(), suffix);
  fill(&picture, 9, 5, channels);
  REQUIRE(tool_picture_write(path, &picture) == TENON_OK);
  uint8_t* data = NULL;
  size_t size = 0;
  REQUIRE(tool_file_read(path, &data, &size) == TENON_OK);
  REQUIRE(tool_picture_parse(path, data, size, &again) == TENON_OK);
  EXPECT_INT(again.width, 9);
  EXPECT_INT(again.channels, channels);
  EXPECT(memcmp(again.samples, picture.samples, (size_t)45 * channels * sizeof(uint16_t)) == 0);
  tool_console_silence(true);
  for (size_t i = 0; i < size; ++i) { /* damage */
    tool_picture_t damaged;
    data[i] ^= 0x10;
    if (tool_picture_is_one(data, size) &&
        tool_picture_parse("x", data, size, &damaged) == TENON_OK) {
      tool_picture_free(&damaged);
    }
    data[i] ^= 0x10;
    if (tool_picture_is_one(data, i) && tool_picture_parse("x", data, i, &damaged) == TENON_OK) {
      tool_picture_free(&damaged);
    }
  }
  tool_free(data);
  tool_picture_free(&picture);
  tool_picture_free(&again);
  (void)unlink(path);
}

TENON_TEST(reads_what_it_writes) {
  write_and_read(".pgm", 1);
  write_and_read(".ppm", 3);
  if (tool_png_library()[0] != '\0') {
    write_and_read(".png", 1);
    write_and_read(".png", 3);
  }
}

/* A JPEG of 8 x 8 grey pixels, all 128, made by libjpeg's cjpeg. */
static const uint8_t grey_jpeg[] = {
    0xFF, 0xD8, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x08, 0x00, 0x08,
    0x01, 0x01, 0x11, 0x00, 0xFF, 0xC4, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xC4, 0x00, 0x14, 0x10, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xFF, 0xDA, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3F, 0x00, 0x3F, 0xFF, 0xD9};

TENON_TEST(reads_jpeg) {
  tool_picture_t picture;
  if (tool_jpeg_library()[0] == '\0') {
    return;
  }
  REQUIRE(tool_picture_parse("x", grey_jpeg, sizeof(grey_jpeg), &picture) == TENON_OK);
  EXPECT_INT(picture.width, 8);
  EXPECT_INT(picture.channels, 1);
  EXPECT_INT(picture.samples[63], 128);
  tool_picture_free(&picture);
  tool_console_silence(true);
  for (size_t size = 0; size + 2 < sizeof(grey_jpeg);
       ++size) { /* the end mark alone may be missing */
    EXPECT_STATUS(tool_picture_parse("x", grey_jpeg, size, &picture), TENON_ERROR_INVALID_DATA);
  }
  uint8_t copy[sizeof(grey_jpeg)];
  for (size_t i = 3; i < sizeof(grey_jpeg) * 8; ++i) {
    memcpy(copy, grey_jpeg, sizeof(copy));
    copy[i / 8] ^= (uint8_t)(1u << i % 8);
    if (tool_picture_parse("x", copy, sizeof(copy), &picture) == TENON_OK) {
      tool_picture_free(&picture);
    }
  }
}

/* 8 x 8 pixels of ink as Adobe writes it, made by libjpeg: no cyan, half magenta, all yellow, no
 * black. */
static const uint8_t ink_jpeg[] = {
    0xFF, 0xD8, 0xFF, 0xEE, 0x00, 0x0E, 0x41, 0x64, 0x6F, 0x62, 0x65, 0x00, 0x64, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x10, 0x0B, 0x0C, 0x0E, 0x0C, 0x0A, 0x10, 0x0E, 0x0D,
    0x0E, 0x12, 0x11, 0x10, 0x13, 0x18, 0x28, 0x1A, 0x18, 0x16, 0x16, 0x18, 0x31, 0x23, 0x25, 0x1D,
    0x28, 0x3A, 0x33, 0x3D, 0x3C, 0x39, 0x33, 0x38, 0x37, 0x40, 0x48, 0x5C, 0x4E, 0x40, 0x44, 0x57,
    0x45, 0x37, 0x38, 0x50, 0x6D, 0x51, 0x57, 0x5F, 0x62, 0x67, 0x68, 0x67, 0x3E, 0x4D, 0x71, 0x79,
    0x70, 0x64, 0x78, 0x5C, 0x65, 0x67, 0x63, 0xFF, 0xC0, 0x00, 0x14, 0x08, 0x00, 0x08, 0x00, 0x08,
    0x04, 0x43, 0x11, 0x00, 0x4D, 0x11, 0x00, 0x59, 0x11, 0x00, 0x4B, 0x11, 0x00, 0xFF, 0xC4, 0x00,
    0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x07, 0x00, 0xFF, 0xC4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xDA, 0x00, 0x0E, 0x04, 0x43,
    0x00, 0x4D, 0x00, 0x59, 0x00, 0x4B, 0x00, 0x00, 0x3F, 0x00, 0x40, 0x43, 0xF2, 0x03, 0xFF, 0xD9,
};

TENON_TEST(reads_jpeg_of_ink) {
  tool_picture_t picture;
  if (tool_jpeg_library()[0] == '\0') {
    return;
  }
  REQUIRE(tool_picture_parse("x", ink_jpeg, sizeof(ink_jpeg), &picture) == TENON_OK);
  EXPECT_INT(picture.channels, 3);
  EXPECT_INT(picture.width, 8);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_INT(picture.samples[3 * i], 255);
    EXPECT_INT(picture.samples[3 * i + 1], 128);
    EXPECT_INT(picture.samples[3 * i + 2], 0);
  }
  tool_picture_free(&picture);
}

static tool_value_t make_floats(uint32_t rank, const int64_t* dims) {
  tool_value_t value = {0};
  (void)tool_value_make("x", TENON_DTYPE_FLOAT32, rank, dims, &value);
  return value;
}

TENON_TEST(tables_are_no_pictures) {
  static const int64_t shapes[][4] = {{1, 1, 4420, 2}, {1, 1, 1, 1000}, {1, 1, 1000, 1}};
  tool_picture_t picture;
  tool_console_silence(true);
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
    tool_value_t value = make_floats(4, shapes[i]);
    EXPECT_STATUS(tool_picture_from_value("x", &value, &picture), TENON_ERROR_INVALID_DATA);
    tool_value_free(&value);
  }
  tool_value_t value = make_floats(2, (int64_t[]){4, 256});
  EXPECT_STATUS(tool_picture_from_value("x", &value, &picture), TENON_OK);
  tool_picture_free(&picture);
  tool_value_free(&value);
}

/* 5 classes in 2 x 3 pixels, channels first and last: pixel k has class k. */
TENON_TEST(scores_of_classes_become_colours) {
  static const uint16_t colours[5][3] = {
      {0, 0, 0}, {128, 0, 0}, {0, 128, 0}, {128, 128, 0}, {0, 0, 128}};
  static const int64_t shapes[2][4] = {{1, 5, 10, 12}, {1, 10, 12, 5}};
  for (int last = 0; last < 2; ++last) {
    tool_picture_t picture;
    tool_value_t value = make_floats(4, shapes[last]);
    float* scores = value.data;
    for (uint32_t i = 0; i < 120; ++i) {
      for (uint32_t c = 0; c < 5; ++c) {
        scores[last ? i * 5 + c : c * 120 + i] = c == i % 5 ? -1.0F : -2.0F - (float)c;
      }
    }
    REQUIRE(tool_picture_from_value("x", &value, &picture) == TENON_OK);
    EXPECT_INT(picture.class_count, 5);
    EXPECT_INT(picture.width, 12);
    EXPECT_INT(picture.height, 10);
    for (uint32_t i = 0; i < 120; ++i) {
      for (uint32_t c = 0; c < 3; ++c) {
        EXPECT_INT(picture.samples[(size_t)3 * i + c], colours[i % 5][c]);
      }
    }
    tool_picture_t input;
    tool_picture_t overlay;
    REQUIRE(tool_picture_make("x", 24, 20, 1, 255, &input) == TENON_OK);
    REQUIRE(tool_picture_overlay(&input, &picture, &overlay) == TENON_OK);
    EXPECT_INT(overlay.samples[(size_t)3 * (24 + 2)], 128); /* class 1 in the middle */
    EXPECT_INT(overlay.samples[(size_t)3 * (48 + 2)], 58);  /* and over the input, 0.45 of it */
    EXPECT_INT(overlay.samples[(size_t)3 * 48], 0);         /* class 0 leaves the input */
    tool_picture_free(&overlay);
    tool_picture_free(&input);
    tool_picture_free(&picture);
    tool_value_free(&value);
  }
}

TENON_TEST(names_of_things_are_no_brightness) {
  EXPECT(tool_picture_fits_type(TENON_DTYPE_FLOAT16));
  EXPECT(tool_picture_fits_type(TENON_DTYPE_UINT8));
  EXPECT(!tool_picture_fits_type(TENON_DTYPE_INT64));
  EXPECT(!tool_picture_fits_type(TENON_DTYPE_INT32));
  EXPECT(!tool_picture_fits_type(TENON_DTYPE_BOOL));
}

TENON_TEST(resizes_bilinearly) {
  tool_picture_t picture;
  float out[16];
  (void)tool_picture_make("x", 2, 1, 1, 255, &picture);
  picture.samples[1] = 100;
  tool_picture_resize(&picture, 4, 1, out);
  EXPECT_NEAR(out[0], 0, 1e-4);
  EXPECT_NEAR(out[1], 25, 1e-4);
  EXPECT_NEAR(out[2], 75, 1e-4);
  EXPECT_NEAR(out[3], 100, 1e-4);
  tool_picture_resize(&picture, 2, 1, out);
  EXPECT_NEAR(out[1], 100, 0);
  tool_picture_resize(&picture, 1, 1, out);
  EXPECT_NEAR(out[0], 50, 1e-4);
  tool_picture_free(&picture);
}

TENON_TEST(orders_channels) {
  tool_picture_t picture;
  tool_value_t value;
  fill(&picture, 2, 2, 3);
  const int64_t planes[] = {1, 3, 2, 2};
  REQUIRE(tool_picture_to_value(
              "x", &picture, &plain,
              &(tenon_value_type_t){.dtype = TENON_DTYPE_FLOAT32, .rank = 4, .dims = planes},
              &value) == TENON_OK);
  EXPECT_NEAR(((float*)value.data)[4], 7, 0); /* green of the first pixel */
  tool_value_free(&value);
  const int64_t last[] = {1, 2, 2, 3};
  REQUIRE(tool_picture_to_value(
              "x", &picture, &plain,
              &(tenon_value_type_t){.dtype = TENON_DTYPE_UINT8, .rank = 4, .dims = last},
              &value) == TENON_OK);
  EXPECT_INT(((uint8_t*)value.data)[1], 7);
  tool_value_free(&value);
  const tool_preprocess_t bgr = {.mean = {1, 2, 3, 0}, .scale = {2, 2, 2, 2}, .bgr = true};
  REQUIRE(tool_picture_to_value(
              "x", &picture, &bgr,
              &(tenon_value_type_t){.dtype = TENON_DTYPE_FLOAT32, .rank = 4, .dims = planes},
              &value) == TENON_OK);
  EXPECT_NEAR(((float*)value.data)[0], (14 - 1) * 2, 0);
  tool_value_free(&value);
  const int64_t open[] = {-1, -1, -1, -1};
  REQUIRE(tool_picture_to_value(
              "x", &picture, &plain,
              &(tenon_value_type_t){.dtype = TENON_DTYPE_FLOAT32, .rank = 4, .dims = open},
              &value) == TENON_OK);
  EXPECT_INT(value.dims[1], 3);
  tool_value_free(&value);
  const int64_t grey[] = {2, 2};
  REQUIRE(tool_picture_to_value(
              "x", &picture, &plain,
              &(tenon_value_type_t){.dtype = TENON_DTYPE_FLOAT32, .rank = 2, .dims = grey},
              &value) == TENON_OK);
  EXPECT_NEAR(((float*)value.data)[0], 0.587 * 7 + 0.114 * 14, 1e-4);
  tool_value_free(&value);
  tool_console_silence(true);
  const int64_t batch[] = {4, 3, 2, 2};
  EXPECT_STATUS(
      tool_picture_to_value(
          "x", &picture, &plain,
          &(tenon_value_type_t){.dtype = TENON_DTYPE_FLOAT32, .rank = 4, .dims = batch}, &value),
      TENON_ERROR_INVALID_DATA);
  tool_picture_free(&picture);
}

TENON_TEST(lays_the_mask_over_the_input) {
  tool_picture_t input;
  tool_picture_t out;
  tool_picture_t mask;
  fill(&input, 4, 2, 1);
  (void)tool_picture_make("x", 4, 2, 1, 255, &mask);
  mask.samples[0] = 255;
  REQUIRE(tool_picture_overlay(&input, &mask, &out) == TENON_OK);
  EXPECT_INT(out.width, 12);
  EXPECT_INT(out.samples[3], input.samples[1]);
  EXPECT_INT(out.samples[12], 255);
  EXPECT(out.samples[24] > out.samples[25]); /* tinted */
  EXPECT_INT(out.samples[27], input.samples[1]);
  tool_picture_free(&input);
  tool_picture_free(&mask);
  tool_picture_free(&out);
}
