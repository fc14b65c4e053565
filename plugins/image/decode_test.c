/* Formats of our own, bounds, words. What libraries decode, tests/pictures compares with Pillow. */
#include "core/base/test.h"
#include "fake_host.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})
#define TEXT(text) (text), sizeof(text) - 1
enum { FEW = 16 };

/* Decoded as RGB; the pixels are compared, and freed. */
static void expect_pixels(int line, const void* data, size_t size, int64_t height, int64_t width,
                          const uint8_t* pixels) {
  fake_host_t host = {0};
  const tenon__picture_t picture = fake_decode(&host, data, size, TENON__PICTURE_RGB, FEW);
  if (picture.status != TENON_OK || host.dims[0] != height || host.dims[1] != width ||
      host.dims[2] != 3) {
    tenon__test_fail(__FILE__, line, "%lld x %lld, status %d: %s", (long long)host.dims[0],
                     (long long)host.dims[1], (int)picture.status, picture.message);
  } else {
    for (int64_t i = 0; i < height * width * 3; ++i) {
      if (host.pixels[i] != pixels[i]) {
        tenon__test_fail(__FILE__, line, "sample %lld is %u, expected %u", (long long)i,
                         host.pixels[i], pixels[i]);
        break;
      }
    }
  }
  free(host.pixels);
}
#define EXPECT_PIXELS(file, height, width, ...) \
  expect_pixels(__LINE__, file, height, width, (const uint8_t[]){__VA_ARGS__})

static void expect_refused(int line, const void* data, size_t size, tenon_status_t status,
                           const char* expected) {
  fake_host_t host = {0};
  const tenon__picture_t picture = fake_decode(&host, data, size, TENON__PICTURE_RGB, FEW);
  if (picture.status != status || strstr(picture.message, expected) == NULL) {
    tenon__test_fail(__FILE__, line, "status %d, '%s', expected %d, '%s'", (int)picture.status,
                     picture.message, (int)status, expected);
  }
  free(host.pixels);
}
#define EXPECT_REFUSED(file, status, expected) expect_refused(__LINE__, file, status, expected)

/* ---- PNM ---- */

TENON_TEST(reads_all_forms_of_pnm) {
  EXPECT_PIXELS(TEXT("P1 2 1 0 1"), 1, 2, 255, 255, 255, 0, 0, 0);
  EXPECT_PIXELS(TEXT("P2\n#a\n2 1 3 3 1"), 1, 2, 255, 255, 255, 85, 85, 85);
  EXPECT_PIXELS(TEXT("P3 1 1 255 1 2 3"), 1, 1, 1, 2, 3);
  EXPECT_PIXELS(TEXT("P4 9 1 \x80\x80"), 1, 9, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0);
  EXPECT_PIXELS(TEXT("P5 1 2 255 \x07\x08"), 2, 1, 7, 7, 7, 8, 8, 8);
  EXPECT_PIXELS(TEXT("P6 1 1 65535 \xff\xff\x80\x80\x00\x7f"), 1, 1, 255, 128, 0);
}

TENON_TEST(a_sample_above_the_maximum_is_the_maximum) {
  EXPECT_PIXELS(TEXT("P2 2 1 7 9 7"), 1, 2, 255, 255, 255, 255, 255, 255);
}

TENON_TEST(damaged_pnm_is_refused) {
  EXPECT_REFUSED(TEXT("P5"), TENON_ERROR_INVALID_DATA, "PNM: the header is damaged");
  EXPECT_REFUSED(TEXT("P5 1 1 0 a"), TENON_ERROR_INVALID_DATA, "the header is damaged");
  EXPECT_REFUSED(TEXT("P5 1 1 65536 a"), TENON_ERROR_INVALID_DATA, "the header is damaged");
  EXPECT_REFUSED(TEXT("P5 1 99999999999999999999 255 a"), TENON_ERROR_INVALID_DATA,
                 "the header is damaged");
  EXPECT_REFUSED(TEXT("P5 0 1 255 a"), TENON_ERROR_INVALID_DATA, "no pixels: 0 x 1");
  EXPECT_REFUSED(TEXT("P6 1 1 255 ab"), TENON_ERROR_INVALID_DATA,
                 "2 bytes of samples, at least 3 are wanted");
  EXPECT_REFUSED(TEXT("P2 2 1 255 12 x"), TENON_ERROR_INVALID_DATA, "the samples end in row 0");
}

/* ---- BMP ---- */

#define U32(n) (n) & 255, ((n) >> 8) & 255, ((n) >> 16) & 255, ((n) >> 24) & 255
#define U16(n) (n) & 255, ((n) >> 8) & 255
/* The file's header, and the second header as it is in most files. */
#define BMP(pixels_at, width, height, bits, compression, colours)                                \
  'B', 'M', U32(0), U32(0), U32(pixels_at), U32(40), U32(width), U32(height), U16(1), U16(bits), \
      U32(compression), U32(0), U32(0), U32(0), U32(colours), U32(0)
#define RED 255, 0, 0
#define GREEN 0, 255, 0
#define BLACK 0, 0, 0
#define PALETTE 0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0 /* black, red, green */

TENON_TEST(rows_of_a_bitmap_begin_below_or_above) {
  EXPECT_PIXELS(BYTES(BMP(54, 1, 2, 24, 0, 0), 3, 2, 1, 0, 6, 5, 4, 0), 2, 1, 4, 5, 6, 1, 2, 3);
  EXPECT_PIXELS(BYTES(BMP(54, 1, -2, 24, 0, 0), 3, 2, 1, 0, 6, 5, 4, 0), 2, 1, 1, 2, 3, 4, 5, 6);
}

TENON_TEST(a_palette_may_be_of_the_first_header) {
  EXPECT_PIXELS(BYTES('B', 'M', U32(0), U32(0), U32(32), U32(12), U16(3), U16(1), U16(1), U16(1), 0,
                      0, 0, 30, 20, 10, 0x40, 0, 0, 0),
                1, 3, 0, 0, 0, 10, 20, 30, 0, 0, 0);
}

TENON_TEST(a_colour_that_the_palette_lacks_is_black) {
  EXPECT_PIXELS(BYTES(BMP(66, 2, 1, 4, 0, 3), PALETTE, 0x13, 0, 0, 0), 1, 2, RED, BLACK);
}

TENON_TEST(masks_say_where_the_colours_are) {
  EXPECT_PIXELS(BYTES(BMP(54, 2, 1, 16, 0, 0), U16(0x7C00), U16(0x001F)), 1, 2, 255, 0, 0, 0, 0,
                255);
  EXPECT_PIXELS(BYTES(BMP(66, 2, 1, 16, 3, 0), U32(0xF800), U32(0x07E0), U32(0x001F), U16(0xF800),
                      U16(0x0400)),
                1, 2, 255, 0, 0, 0, 130, 0);
  EXPECT_PIXELS(
      BYTES(BMP(66, 1, 1, 32, 3, 0), U32(0xFF), U32(0xFF00), U32(0xFF000000u), 1, 2, 3, 4), 1, 1, 1,
      2, 4);
  /* A mask of no bits is a colour that is not there. */
  EXPECT_PIXELS(BYTES(BMP(66, 1, 1, 32, 3, 0), U32(0), U32(0xFF00), U32(0xFF), 1, 2, 3, 4), 1, 1, 0,
                2, 1);
}

TENON_TEST(runs_repeat_skip_and_list) {
  /* Two reds; as they are: green, red, green, and a byte of padding; end. */
  EXPECT_PIXELS(BYTES(BMP(66, 5, 1, 8, 1, 3), PALETTE, 2, 1, 0, 3, 2, 1, 2, 0, 0, 1), 1, 5, RED,
                RED, GREEN, RED, GREEN);
  /* The lower row: one red; the rest is left. One up and one to the right: green. */
  EXPECT_PIXELS(BYTES(BMP(66, 3, 2, 8, 1, 3), PALETTE, 1, 1, 0, 2, 1, 1, 1, 2, 0, 1), 2, 3, BLACK,
                BLACK, GREEN, RED, BLACK, BLACK);
  /* Halves of bytes, alternating; as they are: 5 of them in 3 bytes and one of padding; a row's
   * end. */
  EXPECT_PIXELS(
      BYTES(BMP(66, 5, 2, 4, 2, 3), PALETTE, 3, 0x12, 0, 0, 0, 5, 0x12, 0x12, 0x10, 0, 0, 1), 2, 5,
      RED, GREEN, RED, GREEN, RED, RED, GREEN, RED, BLACK, BLACK);
  /* What does not fit is left out. */
  EXPECT_PIXELS(BYTES(BMP(66, 1, 1, 8, 1, 3), PALETTE, 9, 1, 0, 1), 1, 1, RED);
}

TENON_TEST(damaged_bitmaps_are_refused) {
  EXPECT_REFUSED(TEXT("BM"), TENON_ERROR_INVALID_DATA, "BMP: the header has a size");
  EXPECT_REFUSED(BYTES(BMP(54, 1, 1, 24, 0, 0)), TENON_ERROR_INVALID_DATA,
                 "0 bytes of pixels from byte 54 on are too few for 1 x 1");
  EXPECT_REFUSED(BYTES(BMP(20, 1, 1, 24, 0, 0), 0, 0, 0, 0), TENON_ERROR_INVALID_DATA, "too few");
  EXPECT_REFUSED(BYTES(BMP(54, 1, 1, 5, 0, 0), 0, 0, 0, 0), TENON_ERROR_UNSUPPORTED,
                 "BMP: pixels of 5 bits with compression 0");
  EXPECT_REFUSED(BYTES(BMP(54, 1, 1, 24, 4, 0), 0, 0, 0, 0), TENON_ERROR_UNSUPPORTED,
                 "compression 4");
  EXPECT_REFUSED(BYTES(BMP(66, 5, 2, 8, 1, 3), PALETTE, 2, 1, 0, 0), TENON_ERROR_INVALID_DATA,
                 "BMP: the runs end in row 1");
}

/* ---- All ---- */

TENON_TEST(other_bytes_are_told) {
  EXPECT_REFUSED(TEXT("GIF89a"), TENON_ERROR_INVALID_DATA,
                 "6 bytes that begin with 47 49 46 38 39 61 are none of BMP, JPEG");
  EXPECT_REFUSED(TEXT(""), TENON_ERROR_INVALID_DATA, "0 bytes that begin with nothing");
}

TENON_TEST(more_pixels_than_allowed_are_refused_before_there_is_memory_for_them) {
  EXPECT_REFUSED(TEXT("P1 5 4 01010101010101010101"), TENON_ERROR_INVALID_DATA,
                 "PNM: 5 x 4 pixels are too many: at most 16");
  EXPECT_REFUSED(BYTES(BMP(54, 0x7FFFFFFF, 0x7FFFFFFF, 8, 1, 0), 0), TENON_ERROR_INVALID_DATA,
                 "2147483647 x 2147483647 pixels are too many");
}

TENON_TEST(orders_channels) {
  static const char file[] = "P3 1 1 255 255 128 0";
  fake_host_t host = {0};
  tenon__picture_t picture = fake_decode(&host, TEXT(file), TENON__PICTURE_BGR, FEW);
  REQUIRE(picture.status == TENON_OK);
  EXPECT(host.pixels[0] == 0 && host.pixels[1] == 128 && host.pixels[2] == 255);
  free(host.pixels);
  host = (fake_host_t){0};
  picture = fake_decode(&host, TEXT(file), TENON__PICTURE_GREYSCALE, FEW);
  REQUIRE(picture.status == TENON_OK);
  EXPECT_INT(host.dims[2], 1);
  EXPECT_INT(host.pixels[0], 151); /* 0.299 255 + 0.587 128 = 151.4 */
  free(host.pixels);
}

TENON_TEST(leaves_off_when_nobody_wants_it) {
  static const char file[] = "P2 1 3 255 1 2 3";
  fake_host_t host = {.is_cancelled = true};
  const tenon__picture_t picture = fake_decode(&host, TEXT(file), TENON__PICTURE_RGB, FEW);
  EXPECT_STATUS(picture.status, TENON_ERROR_CANCELLED);
  EXPECT_INT(host.asked, 1);
  free(host.pixels);
}

TENON_TEST(says_that_there_is_no_memory) {
  fake_host_t host = {.is_out_of_memory = true};
  const tenon__picture_t picture =
      fake_decode(&host, TEXT("P2 1 1 255 1"), TENON__PICTURE_RGB, FEW);
  EXPECT_STATUS(picture.status, TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_CONTAINS(picture.message, "1 x 1 pixels");
}
