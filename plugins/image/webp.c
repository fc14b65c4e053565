/* WebP through libwebp: still pictures, lossy and lossless. */
#include <stdlib.h>
#include <webp/decode.h>

#include "picture.h"

static const char* status_text(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "there is no memory for it";
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its bits are damaged";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it has a feature that libwebp does not know";
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "the file ends too early";
    default:
      return "libwebp cannot decode it";
  }
}

static void put_rows(tenon__picture_t* picture, const uint8_t* rgb) {
  bool goes_on = true;
  for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
    goes_on = tenon__picture_put_row(picture, y, rgb + (size_t)y * picture->width * 3, 3);
  }
}

void tenon__webp_decode(tenon__picture_t* picture) {
  WebPDecoderConfig config;
  VP8StatusCode status = VP8_STATUS_INVALID_PARAM;
  if (WebPInitDecoderConfig(&config) != 0) {
    status = WebPGetFeatures(picture->data, picture->size, &config.input);
  }
  if (status != VP8_STATUS_OK) {
    (void)tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "%s", status_text(status));
    return;
  }
  if (config.input.has_animation != 0) {
    (void)tenon__picture_fail(picture, TENON_ERROR_UNSUPPORTED,
                              "an animated WebP picture is not decoded");
    return;
  }
  if (!tenon__picture_begin(picture, (uint64_t)config.input.width, (uint64_t)config.input.height)) {
    return;
  }
  const size_t size = (size_t)picture->width * picture->height * 3;
  uint8_t* rgb = tenon__picture_memory(picture, size, 1);
  if (rgb == NULL) {
    return;
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = rgb;
  config.output.u.RGBA.stride = (int)picture->width * 3;
  config.output.u.RGBA.size = size;
  status = WebPDecode(picture->data, picture->size, &config);
  if (status == VP8_STATUS_OK) {
    put_rows(picture, rgb);
  } else {
    (void)tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "%s", status_text(status));
  }
  WebPFreeDecBuffer(&config.output);
  free(rgb);
}
