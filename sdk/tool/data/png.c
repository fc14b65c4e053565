/* PNG through libpng's simplified interface: 8 bits a sample, grey or colour, alpha over black. */
#include "data/picture.h"
#include "text/console.h"
#include "text/memory.h"

#ifdef TOOL_WITH_PNG

#include <png.h>
#include <string.h>

const char* tool_png_library(void) {
  return "libpng " PNG_LIBPNG_VER_STRING;
}

static tenon_status_t read_pixels(const char* name, png_image* image, tool_picture_t* out_picture) {
  const bool colour = (image->format & PNG_FORMAT_FLAG_COLOR) != 0;
  image->format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  tool_picture_t picture;
  const tenon_status_t status =
      tool_picture_make(name, image->width, image->height, colour ? 3 : 1, 255, &picture);
  if (status != TENON_OK) {
    return status;
  }
  const size_t count = (size_t)picture.width * picture.height * picture.channels;
  uint8_t* bytes = tool_allocate(count, 1);
  const png_color black = {0, 0, 0};
  const bool read = png_image_finish_read(image, &black, bytes, 0, NULL) != 0;
  if (read) {
    for (size_t i = 0; i < count; ++i) {
      picture.samples[i] = bytes[i];
    }
  }
  tool_free(bytes);
  if (!read) {
    tool_picture_free(&picture);
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: damaged PNG: %s", name, image->message);
  }
  *out_picture = picture;
  return TENON_OK;
}

tenon_status_t tool_png_parse(const char* name, const uint8_t* data, size_t size,
                              tool_picture_t* out_picture) {
  png_image image;
  memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, data, size) == 0) {
    const tenon_status_t status =
        tool_fail(TENON_ERROR_INVALID_DATA, "%s: damaged PNG: %s", name, image.message);
    png_image_free(&image);
    return status;
  }
  const tenon_status_t status = read_pixels(name, &image, out_picture);
  png_image_free(&image);
  return status;
}

tenon_status_t tool_png_write(const char* path, const tool_picture_t* picture) {
  png_image image;
  memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  image.width = picture->width;
  image.height = picture->height;
  image.format = picture->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const size_t count = (size_t)picture->width * picture->height * picture->channels;
  uint8_t* bytes = tool_allocate(count, 1);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = (uint8_t)((picture->samples[i] * 255u + picture->maximum / 2) / picture->maximum);
  }
  const bool wrote = png_image_write_to_file(&image, path, 0, bytes, 0, NULL) != 0;
  tool_free(bytes);
  return wrote ? TENON_OK
               : tool_fail(TENON_ERROR_IO, "%s: cannot be written: %s", path, image.message);
}

#else

const char* tool_png_library(void) {
  return "";
}

tenon_status_t tool_png_parse(const char* name, const uint8_t* data, size_t size,
                              tool_picture_t* out_picture) {
  (void)data, (void)size, (void)out_picture;
  return tool_fail(TENON_ERROR_UNSUPPORTED, "%s: this command was built without libpng", name);
}

tenon_status_t tool_png_write(const char* path, const tool_picture_t* picture) {
  (void)picture;
  return tool_fail(TENON_ERROR_UNSUPPORTED, "%s: this command was built without libpng", path);
}

#endif
