/* What all decoders share: bounds, rows in the order that is wanted, words. */
#include "picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t tenon__picture_channels(const tenon__picture_t* picture) {
  return picture->order == TENON__PICTURE_GREYSCALE ? 1 : 3;
}

bool tenon__picture_fail(tenon__picture_t* picture, tenon_status_t status, const char* format,
                         ...) {
  va_list arguments;
  if (picture->status != TENON_OK) {
    return false;
  }
  va_start(arguments, format);
  /* A false alarm of clang's. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
  (void)vsnprintf(picture->message, sizeof(picture->message), format, arguments);
  va_end(arguments);
  picture->status = status;
  return false;
}

void* tenon__picture_memory(tenon__picture_t* picture, size_t count, size_t size_bytes) {
  void* memory = calloc(count == 0 ? 1 : count, size_bytes);
  if (memory == NULL) {
    (void)tenon__picture_fail(picture, TENON_ERROR_OUT_OF_MEMORY,
                              "there is no memory for %zu times %zu bytes", count, size_bytes);
  }
  return memory;
}

bool tenon__picture_begin(tenon__picture_t* picture, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                               "the picture has no pixels: %llu x %llu", (unsigned long long)width,
                               (unsigned long long)height);
  }
  if (width > picture->pixels_max || height > picture->pixels_max / width) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                               "%llu x %llu pixels are too many: at most %u are decoded",
                               (unsigned long long)width, (unsigned long long)height,
                               picture->pixels_max);
  }
  const int64_t dims[3] = {(int64_t)height, (int64_t)width,
                           (int64_t)tenon__picture_channels(picture)};
  void* data = NULL;
  const tenon_status_t status = picture->allocate(picture->user, dims, &data);
  if (status != TENON_OK || data == NULL) {
    return tenon__picture_fail(picture, status != TENON_OK ? status : TENON_ERROR_OUT_OF_MEMORY,
                               "there is no memory for %lld x %lld pixels", (long long)dims[1],
                               (long long)dims[0]);
  }
  picture->width = (uint32_t)width;
  picture->height = (uint32_t)height;
  picture->pixels = data;
  return true;
}

/* Of ITU-R BT.601, in 16 bits of fraction. */
static uint8_t luma(const uint8_t* rgb) {
  return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

bool tenon__picture_put_row(tenon__picture_t* picture, uint32_t y, const uint8_t* samples,
                            uint32_t channels) {
  const uint32_t wanted = tenon__picture_channels(picture);
  const uint32_t red = picture->order == TENON__PICTURE_BGR ? 2 : 0;
  uint8_t* to = picture->pixels + (size_t)y * picture->width * wanted;
  for (uint32_t x = 0; x < picture->width; ++x, samples += channels, to += wanted) {
    if (wanted == 1) {
      to[0] = channels < 3 ? samples[0] : luma(samples);
    } else {
      to[red] = samples[0];
      to[1] = samples[channels < 3 ? 0 : 1];
      to[2 - red] = samples[channels < 3 ? 0 : 2];
    }
  }
  if (picture->is_cancelled != NULL && picture->is_cancelled(picture->user)) {
    return tenon__picture_fail(picture, TENON_ERROR_CANCELLED, "nobody wants the picture any more");
  }
  return true;
}

uint8_t tenon__picture_scale(uint32_t sample, uint32_t maximum) {
  const uint32_t limited = sample < maximum ? sample : maximum;
  return (uint8_t)(((uint64_t)limited * 255 + maximum / 2) / maximum);
}
