/* Pictures in memory. See picture.h. */
#include "data/picture.h"

#include "text/console.h"
#include "text/memory.h"

tenon_status_t tool_picture_make(const char* name, uint32_t width, uint32_t height,
                                 uint32_t channels, uint32_t maximum, tool_picture_t* out_picture) {
  const uint64_t samples = (uint64_t)width * height * channels;
  if (width == 0 || height == 0 || width > TOOL_PICTURE_SIDE_MAX ||
      height > TOOL_PICTURE_SIDE_MAX || samples > TOOL_PICTURE_SAMPLES_MAX) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: a picture of %u x %u pixels", name, width,
                     height);
  }
  *out_picture = (tool_picture_t){.width = width,
                                  .height = height,
                                  .channels = channels,
                                  .maximum = maximum,
                                  .samples = tool_allocate((size_t)samples, sizeof(uint16_t))};
  return TENON_OK;
}

void tool_picture_free(tool_picture_t* picture) {
  tool_free(picture->samples);
  *picture = (tool_picture_t){0};
}
