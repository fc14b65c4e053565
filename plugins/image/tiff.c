/*
 * TIFF through libtiff: the first picture of a file, of every form that libtiff can turn into 8
 * bits of red, green and blue. Handlers belong to the one open file, so that nothing is shared
 * between threads: since libtiff 4.5.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "picture.h"

/* Beyond the pixels themselves, of at most 4 samples of 16 bits. */
enum { BLOCK_MAX = 1 << 24, PIXEL_BYTES = 8, MESSAGE_SIZE = 1024 };

typedef struct reading_t {
  tenon__picture_t* picture;
  uint64_t at;
  TIFF* tiff;
  char message[MESSAGE_SIZE]; /* libtiff's first complaint */
} reading_t;

static tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t size) {
  reading_t* reading = handle;
  const uint64_t all = reading->picture->size;
  const uint64_t left = reading->at < all ? all - reading->at : 0;
  const uint64_t taken = (uint64_t)size < left ? (uint64_t)size : left;
  if (size <= 0 || taken == 0) {
    return 0;
  }
  memcpy(to, reading->picture->data + reading->at, taken);
  reading->at += taken;
  return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void* from, tmsize_t size) {
  (void)handle, (void)from, (void)size;
  return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
  reading_t* reading = handle;
  reading->at = whence == SEEK_CUR   ? reading->at + offset
                : whence == SEEK_END ? reading->picture->size + offset
                                     : offset;
  return reading->at;
}

static int close_file(thandle_t handle) {
  (void)handle;
  return 0;
}

static toff_t file_size(thandle_t handle) {
  const reading_t* reading = handle;
  return reading->picture->size;
}

/* The 1 says that the message was dealt with. */
static int on_error(TIFF* tiff, void* user, const char* module, const char* format,
                    va_list arguments) {
  (void)tiff, (void)module;
  reading_t* reading = user;
  if (reading->message[0] == '\0') {
    (void)vsnprintf(reading->message, sizeof(reading->message), format, arguments);
  }
  return 1;
}

static int on_warning(TIFF* tiff, void* user, const char* module, const char* format,
                      va_list arguments) {
  (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
  return 1;
}

static bool open_file(reading_t* reading) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == NULL) {
    return false;
  }
  TIFFOpenOptionsSetMaxSingleMemAlloc(
      options, (tmsize_t)reading->picture->pixels_max * PIXEL_BYTES + BLOCK_MAX);
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, reading);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, reading);
  reading->tiff = TIFFClientOpenExt("picture", "rm", reading, read_bytes, write_bytes, seek,
                                    close_file, file_size, NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  return reading->tiff != NULL;
}

/* Row `y` as it is to be seen of pixels as they are stored. Orientation 1 is upright; from 5 on
 * rows are stored as columns. */
static void take_row(const TIFFRGBAImage* image, const uint32_t* raster, uint32_t y, uint8_t* rgb) {
  const uint32_t orientation = image->orientation;
  const bool is_turned = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const uint32_t width = is_turned ? image->height : image->width;
  for (uint32_t x = 0; x < width; ++x, rgb += 3) {
    uint32_t column = is_turned ? y : x;
    uint32_t row = is_turned ? x : y;
    column = from_right ? image->width - 1 - column : column;
    row = from_bottom ? image->height - 1 - row : row;
    const uint32_t pixel = raster[(size_t)row * image->width + column];
    rgb[0] = (uint8_t)TIFFGetR(pixel);
    rgb[1] = (uint8_t)TIFFGetG(pixel);
    rgb[2] = (uint8_t)TIFFGetB(pixel);
  }
}

static void put_rows(reading_t* reading, TIFFRGBAImage* image) {
  tenon__picture_t* picture = reading->picture;
  const bool is_turned = image->orientation >= 5;
  if (!tenon__picture_begin(picture, is_turned ? image->height : image->width,
                            is_turned ? image->width : image->height)) {
    return;
  }
  uint32_t* raster =
      tenon__picture_memory(picture, (size_t)image->width * image->height, sizeof(*raster));
  uint8_t* rgb = tenon__picture_memory(picture, picture->width, 3);
  bool goes_on = raster != NULL && rgb != NULL;
  image->req_orientation = image->orientation;
  if (goes_on && TIFFRGBAImageGet(image, raster, image->width, image->height) == 0) {
    goes_on = tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "%.200s", reading->message);
  }
  for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
    take_row(image, raster, y, rgb);
    goes_on = tenon__picture_put_row(picture, y, rgb, 3);
  }
  free(rgb);
  free(raster);
}

/* Colours are what is stored: libtiff would multiply them with an alpha that is apart from them. */
static void keep_colours(TIFF* tiff) {
  static const uint16_t multiplied = EXTRASAMPLE_ASSOCALPHA;
  uint16_t count = 0;
  const uint16_t* kinds = NULL;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 0 && count > 0 &&
      kinds[0] == EXTRASAMPLE_UNASSALPHA) {
    (void)TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &multiplied);
  }
}

void tenon__tiff_decode(tenon__picture_t* picture) {
  reading_t* reading = tenon__picture_memory(picture, 1, sizeof(*reading));
  if (reading == NULL) {
    return;
  }
  TIFFRGBAImage image;
  char message[MESSAGE_SIZE] = "";
  reading->picture = picture;
  if (!open_file(reading)) {
    (void)tenon__picture_fail(
        picture, TENON_ERROR_INVALID_DATA, "%.200s",
        reading->message[0] != '\0' ? reading->message : "it cannot be opened");
    free(reading);
    return;
  }
  keep_colours(reading->tiff);
  if (TIFFRGBAImageBegin(&image, reading->tiff, 1, message) != 0) {
    put_rows(reading, &image);
    TIFFRGBAImageEnd(&image);
  } else {
    (void)tenon__picture_fail(picture, TENON_ERROR_UNSUPPORTED,
                              "a TIFF picture of this form is not decoded: %.150s",
                              message[0] != '\0' ? message : reading->message);
  }
  TIFFClose(reading->tiff);
  free(reading);
}
