/*
 * A picture on its way out of a file: its bytes, the order that its pixels are wanted in, and what
 * was wrong with it. A decoder reads the header, says by tenon__picture_begin how large the picture
 * is, and hands over its rows from the top by tenon__picture_put_row.
 *
 * Nothing is believed of the bytes: extents are bounded before anything is allocated for them.
 */
#ifndef PLUGINS_IMAGE_PICTURE_H_
#define PLUGINS_IMAGE_PICTURE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Decoders hold a few copies of a picture at once: at most 1 GiB or so. */
enum { TENON__PICTURE_PIXELS_MAX = 1 << 27, TENON__PICTURE_MESSAGE_SIZE = 256 };

/* Attribute pixel_format: the order of channels in a pixel. Grey is the luma of ITU-R BT.601. */
typedef enum tenon__picture_order_t {
  TENON__PICTURE_RGB,
  TENON__PICTURE_BGR,
  TENON__PICTURE_GREYSCALE,
} tenon__picture_order_t;

/* One decoding. The caller sets everything down to `user`, a decoder the rest; it lives on the
 * caller's stack. */
typedef struct tenon__picture_t {
  const uint8_t* data; /* the file's bytes, borrowed */
  size_t size;
  tenon__picture_order_t order;
  uint32_t pixels_max; /* more are refused */
  /* Memory for height x width x channels bytes, asked for once the extents are known; and whether
   * nobody wants the picture any more. */
  tenon_status_t (*allocate)(void* user, const int64_t dims[3], void** out_data);
  bool (*is_cancelled)(void* user);
  void* user;
  uint32_t width; /* what came of it */
  uint32_t height;
  uint8_t* pixels; /* 3 channels, or 1 for GREYSCALE; NULL before the extents are known */
  /* TENON_OK until tenon__picture_fail; then `message` says why, in words for a user. */
  tenon_status_t status;
  char message[TENON__PICTURE_MESSAGE_SIZE];
} tenon__picture_t;

/* Decodes, by what the first bytes say. On failure `message` says why: INVALID_DATA for a
 * damaged file or one of no known format, UNSUPPORTED for a format whose library was not there
 * when this was built. */
tenon_status_t tenon__picture_decode(tenon__picture_t* picture);

/* 3, or 1 for GREYSCALE. */
uint32_t tenon__picture_channels(const tenon__picture_t* picture);

/* ---- For decoders ---- */

/* Keeps the first failure's words. Returns false, for a decoder to hand on. */
bool tenon__picture_fail(tenon__picture_t* picture, tenon_status_t status, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* False: too large, without pixels, or there is no memory. */
bool tenon__picture_begin(tenon__picture_t* picture, uint64_t width, uint64_t height);
/* A row of `width` pixels with 1 channel (grey), 2 (and alpha), 3 (red, green, blue) or 4 (and
 * alpha). Alpha is dropped. False: the picture is not wanted any more. */
bool tenon__picture_put_row(tenon__picture_t* picture, uint32_t y, const uint8_t* samples,
                            uint32_t channels);
/* 0 to `maximum` as 0 to 255, rounded; what is above the maximum is the maximum. */
uint8_t tenon__picture_scale(uint32_t sample, uint32_t maximum);
/* Zeros, to be freed; NULL, and failed, where there are none. */
void* tenon__picture_memory(tenon__picture_t* picture, size_t count, size_t size_bytes);

/* The formats, each in a file of its own; those of libraries only where they were found. */
void tenon__bmp_decode(tenon__picture_t* picture);
void tenon__pnm_decode(tenon__picture_t* picture);
void tenon__jpeg_decode(tenon__picture_t* picture);
void tenon__jpeg2000_decode(tenon__picture_t* picture);
void tenon__png_decode(tenon__picture_t* picture);
void tenon__tiff_decode(tenon__picture_t* picture);
void tenon__webp_decode(tenon__picture_t* picture);

#endif
