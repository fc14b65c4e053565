/* PNG through libpng, whose way out of an error is a jump: nothing of ours lies between. Samples as
 * they stand: neither gamma nor colour profile is applied. */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

/* Of one compressed text or profile, which is not wanted. */
enum { CHUNK_MAX = 1 << 20 };

typedef struct reading_t {
  png_structp png;
  png_infop info;
  jmp_buf exit;
  tenon__picture_t* picture;
  size_t at;
  uint8_t* rows; /* one, or all of an interlaced picture */
} reading_t;

static void on_error(png_structp png, png_const_charp message) {
  reading_t* reading = png_get_error_ptr(png);
  (void)tenon__picture_fail(reading->picture, TENON_ERROR_INVALID_DATA, "%s", message);
  longjmp(reading->exit, 1); /* NOLINT(cert-err52-cpp) */
}

static void on_warning(png_structp png, png_const_charp message) {
  (void)png, (void)message;
}

static void read_bytes(png_structp png, png_bytep to, size_t size) {
  reading_t* reading = png_get_io_ptr(png);
  if (size > reading->picture->size - reading->at) {
    png_error(png, "the file ends too early");
  }
  memcpy(to, reading->picture->data + reading->at, size);
  reading->at += size;
}

static void read_rows(reading_t* reading) {
  tenon__picture_t* picture = reading->picture;
  png_structp png = reading->png;
  png_set_user_limits(png, picture->pixels_max, picture->pixels_max);
  png_set_chunk_malloc_max(png, CHUNK_MAX);
  png_set_chunk_cache_max(png, 1); /* keeps no texts */
  png_set_read_fn(png, reading, read_bytes);
  png_read_info(png, reading->info);
  if (!tenon__picture_begin(picture, png_get_image_width(png, reading->info),
                            png_get_image_height(png, reading->info))) {
    return;
  }
  png_set_expand(png);
  png_set_scale_16(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reading->info);
  const uint32_t channels = png_get_channels(png, reading->info);
  const size_t size = png_get_rowbytes(png, reading->info);
  reading->rows = tenon__picture_memory(picture, passes > 1 ? picture->height : 1, size);
  bool goes_on = reading->rows != NULL;
  for (int pass = 0; pass < passes && goes_on; ++pass) {
    for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
      uint8_t* row = reading->rows + (passes > 1 ? y * size : 0);
      png_read_row(png, row, NULL);
      goes_on = pass + 1 < passes || tenon__picture_put_row(picture, y, row, channels);
    }
  }
}

void tenon__png_decode(tenon__picture_t* picture) {
  reading_t* reading = tenon__picture_memory(picture, 1, sizeof(*reading));
  if (reading == NULL) {
    return;
  }
  reading->picture = picture;
  if (setjmp(reading->exit) == 0) { /* NOLINT(cert-err52-cpp) */
    reading->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, on_error, on_warning);
    reading->info = reading->png == NULL ? NULL : png_create_info_struct(reading->png);
    if (reading->info != NULL) {
      read_rows(reading);
    } else {
      (void)tenon__picture_fail(picture, TENON_ERROR_OUT_OF_MEMORY, "libpng cannot be started");
    }
  }
  png_destroy_read_struct(&reading->png, &reading->info, NULL);
  free(reading->rows);
  free(reading);
}
