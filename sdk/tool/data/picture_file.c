/* Files of pictures: the format by the first bytes, or by the name. See picture.h. */
#include <string.h>

#include "data/file.h"
#include "data/picture.h"
#include "text/console.h"

typedef tenon_status_t (*parse_t)(const char* name, const uint8_t* data, size_t size,
                                  tool_picture_t* out_picture);

static parse_t find_parser(const uint8_t* data, size_t size) {
  static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF};
  if (size >= sizeof(png) && memcmp(data, png, sizeof(png)) == 0) {
    return tool_png_parse;
  }
  if (size >= sizeof(jpeg) && memcmp(data, jpeg, sizeof(jpeg)) == 0) {
    return tool_jpeg_parse;
  }
  const bool pnm = size >= 3 && data[0] == 'P' && strchr("2356", data[1]) != NULL &&
                   data[1] != '\0' && strchr(" \t\r\n#", data[2]) != NULL && data[2] != '\0';
  return pnm ? tool_pnm_parse : NULL;
}

bool tool_picture_is_one(const uint8_t* data, size_t size) {
  return find_parser(data, size) != NULL;
}

tenon_status_t tool_picture_parse(const char* name, const uint8_t* data, size_t size,
                                  tool_picture_t* out_picture) {
  const parse_t parse = find_parser(data, size);
  if (parse == NULL) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: not a picture (PNG, JPEG, PGM, PPM)", name);
  }
  return parse(name, data, size, out_picture);
}

tenon_status_t tool_picture_check_name(const char* option, const char* path) {
  const bool good = tool_path_has_suffix(path, ".png") || tool_path_has_suffix(path, ".pgm") ||
                    tool_path_has_suffix(path, ".ppm");
  return good ? TENON_OK
              : tool_misuse("%s %s: pictures are written as .png, .pgm or .ppm", option, path);
}

tenon_status_t tool_picture_write(const char* path, const tool_picture_t* picture) {
  if (tool_path_has_suffix(path, ".png")) {
    return tool_png_write(path, picture);
  }
  if (tool_path_has_suffix(path, ".pgm") || tool_path_has_suffix(path, ".ppm")) {
    return tool_pnm_write(path, picture);
  }
  return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: pictures are written as .png, .pgm or .ppm",
                   path);
}
