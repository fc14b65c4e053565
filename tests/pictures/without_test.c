/* The plugin as it is where none of the libraries was found. */
#include "core/base/test.h"
#include "plugins/image/fake_host.h"

static void expect_lacking(const void* data, size_t size, const char* format, const char* package) {
  fake_host_t host = {0};
  const tenon__picture_t picture = fake_decode(&host, data, size, TENON__PICTURE_RGB, 16);
  EXPECT_STATUS(picture.status, TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(picture.message, format);
  EXPECT_CONTAINS(picture.message, package);
  EXPECT(host.pixels == NULL);
}

TENON_TEST(says_which_format_is_lacking_and_what_to_install) {
  expect_lacking("\xff\xd8\xff\xe0", 4, "this is a JPEG picture",
                 "libjpeg: install it (libjpeg-dev on Debian)");
  expect_lacking("\x89PNG\r\n\x1a\n", 8, "this is a PNG picture", "libpng: install it (libpng-dev");
  expect_lacking("\0\0\0\x0cjP  \r\n\x87\n", 12, "this is a JPEG 2000 picture", "libopenjp2-7-dev");
  expect_lacking("\xff\x4f\xff\x51", 4, "this is a JPEG 2000 picture", "openjpeg 2");
  expect_lacking("II*\0", 4, "this is a TIFF picture", "libtiff 4.5: install it (libtiff-dev");
  expect_lacking("MM\0*", 4, "this is a TIFF picture", "libtiff-dev");
  expect_lacking("RIFF\1\2\3\4WEBP", 12, "this is a WebP picture", "libwebp-dev");
}

TENON_TEST(what_needs_no_library_is_decoded) {
  fake_host_t host = {0};
  const tenon__picture_t picture =
      fake_decode(&host, "P5 1 1 255 \x07", 12, TENON__PICTURE_RGB, 16);
  EXPECT_STATUS(picture.status, TENON_OK);
  EXPECT(host.pixels != NULL && host.pixels[0] == 7);
  free(host.pixels);
}
