/* PGM and PPM, plain (P2, P3) and raw (P5, P6), up to 16 bits a sample;
 * http://netpbm.sourceforge.net/doc/pgm.html. */
#include <stdio.h>
#include <string.h>

#include "data/file.h"
#include "data/picture.h"
#include "text/console.h"
#include "text/memory.h"

typedef struct scan_t {
  const uint8_t* at;
  const uint8_t* end;
} scan_t;

static bool is_space(uint8_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A number after white space and comments; false at the end or at anything else. */
static bool take_number(scan_t* scan, uint32_t* out_number) {
  while (scan->at < scan->end && (is_space(*scan->at) || *scan->at == '#')) {
    if (*scan->at == '#') {
      const uint8_t* line = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
      scan->at = line != NULL ? line : scan->end;
    } else {
      ++scan->at;
    }
  }
  const uint8_t* begin = scan->at;
  uint32_t number = 0;
  while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
    if (number > 99999) {
      return false;
    }
    number = number * 10 + (uint32_t)(*scan->at++ - '0');
  }
  *out_number = number;
  return scan->at != begin;
}

static bool read_samples(scan_t* scan, bool plain, tool_picture_t* picture) {
  const size_t count = (size_t)picture->width * picture->height * picture->channels;
  const size_t bytes = picture->maximum > 255 ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    uint32_t sample = 0;
    if (plain) {
      if (!take_number(scan, &sample)) {
        return false;
      }
    } else {
      sample = bytes == 2 ? (uint32_t)scan->at[2 * i] << 8 | scan->at[2 * i + 1] : scan->at[i];
    }
    picture->samples[i] = (uint16_t)(sample < picture->maximum ? sample : picture->maximum);
  }
  return true;
}

tenon_status_t tool_pnm_parse(const char* name, const uint8_t* data, size_t size,
                              tool_picture_t* out_picture) {
  scan_t scan = {data, data + size};
  scan.at += size < 3 ? size : 2;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t maximum = 0;
  if (size < 3 || !take_number(&scan, &width) || !take_number(&scan, &height) ||
      !take_number(&scan, &maximum) || maximum == 0 || maximum > 65535 || scan.at == scan.end ||
      !is_space(*scan.at)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: damaged PGM or PPM header", name);
  }
  ++scan.at;
  const bool plain = data[1] == '2' || data[1] == '3';
  const uint32_t channels = data[1] == '3' || data[1] == '6' ? 3 : 1;
  const uint64_t samples = (uint64_t)width * height * channels;
  const uint64_t left = (uint64_t)(scan.end - scan.at);
  /* Plain samples take a digit and a space each, but for the last. */
  const uint64_t wanted = plain ? samples * 2 - (samples > 0) : samples * (maximum > 255 ? 2 : 1);
  if (wanted > left) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: %llu bytes of samples, %llu are wanted", name,
                     (unsigned long long)left, (unsigned long long)wanted);
  }
  tool_picture_t picture;
  const tenon_status_t status = tool_picture_make(name, width, height, channels, maximum, &picture);
  if (status != TENON_OK) {
    return status;
  }
  if (!read_samples(&scan, plain, &picture)) {
    tool_picture_free(&picture);
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: samples end too early", name);
  }
  *out_picture = picture;
  return TENON_OK;
}

tenon_status_t tool_pnm_write(const char* path, const tool_picture_t* picture) {
  const bool grey = tool_path_has_suffix(path, ".pgm");
  if (grey && picture->channels != 1) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: a .pgm has no colours", path);
  }
  const uint32_t channels = grey ? 1 : 3;
  const size_t pixels = (size_t)picture->width * picture->height;
  const size_t bytes = picture->maximum > 255 ? 2 : 1;
  uint8_t* file = tool_allocate(64 + pixels * channels * bytes, 1);
  size_t used = (size_t)snprintf((char*)file, 64, "P%d\n%u %u\n%u\n", grey ? 5 : 6, picture->width,
                                 picture->height, picture->maximum);
  for (size_t i = 0; i < pixels * channels; ++i) {
    const uint32_t sample =
        picture->samples[picture->channels == channels ? i : i / channels * picture->channels];
    if (bytes == 2) {
      file[used++] = (uint8_t)(sample >> 8);
    }
    file[used++] = (uint8_t)(sample & 0xFF);
  }
  const tenon_status_t status = tool_file_write(path, file, used);
  tool_free(file);
  return status;
}
