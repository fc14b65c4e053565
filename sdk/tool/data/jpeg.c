/* JPEG through libjpeg: 8 bits a sample, grey or red, green, blue. */
#include <stdbool.h>

#include "data/picture.h"
#include "text/console.h"
#include "text/memory.h"

#ifdef TOOL_WITH_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
/* After stdio.h, which it needs. */
#include <jpeglib.h>
/* clang-format off: it needs the names of jpeglib.h */
#include <jerror.h>
/* clang-format on */

#define TOOL_WORDS_(x) #x
#define TOOL_WORDS(x) TOOL_WORDS_(x)

const char* tool_jpeg_library(void) {
  return "libjpeg " TOOL_WORDS(JPEG_LIB_VERSION);
}

/* libjpeg's way out of an error: its handler must not return. */
typedef struct errors_t {
  struct jpeg_error_mgr base; /* first: libjpeg sees only this */
  jmp_buf exit;
  char message[JMSG_LENGTH_MAX];
} errors_t;

static void on_error(j_common_ptr info) {
  errors_t* errors = (errors_t*)info->err;
  info->err->format_message(info, errors->message);
  longjmp(errors->exit, 1); /* NOLINT(cert-err52-cpp) */
}

/* Warnings are kept quiet, but a file that ends too early is no picture: libjpeg would make up the
 * rest. */
static void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
    on_error(info);
  }
}

/* What must survive the jump. */
typedef struct reading_t {
  const char* name;
  struct jpeg_decompress_struct info;
  errors_t errors;
  tool_picture_t picture;
  uint8_t* row;
  tenon_status_t status;
} reading_t;

/* Ink as light, without a colour profile: what is left of red after cyan and black. Adobe's files
 * hold how much is left instead of how much ink there is. */
static void print_to_light(const uint8_t* ink, uint32_t width, bool inverted, uint16_t* light) {
  for (uint32_t i = 0; i < width; ++i) {
    for (uint32_t c = 0; c < 3; ++c) {
      const uint32_t colour = inverted ? ink[4 * i + c] : 255u - ink[4 * i + c];
      const uint32_t black = inverted ? ink[4 * i + 3] : 255u - ink[4 * i + 3];
      light[3 * i + c] = (uint16_t)((colour * black + 127) / 255);
    }
  }
}

static void read_rows(reading_t* reading) {
  struct jpeg_decompress_struct* info = &reading->info;
  (void)jpeg_read_header(info, TRUE);
  const bool is_ink = info->num_components == 4;
  info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : is_ink ? JCS_CMYK : JCS_RGB;
  const uint32_t channels = info->num_components == 1 ? 1 : 3;
  reading->status = tool_picture_make(reading->name, info->image_width, info->image_height,
                                      channels, 255, &reading->picture);
  if (reading->status != TENON_OK) {
    return;
  }
  (void)jpeg_start_decompress(info);
  const size_t row_samples = (size_t)info->output_width * channels;
  reading->row = tool_allocate((size_t)info->output_width * (is_ink ? 4 : channels), 1);
  while (info->output_scanline < info->output_height) {
    uint16_t* target = reading->picture.samples + info->output_scanline * row_samples;
    JSAMPROW rows[1] = {reading->row};
    (void)jpeg_read_scanlines(info, rows, 1);
    if (is_ink) {
      print_to_light(reading->row, info->output_width, info->saw_Adobe_marker != FALSE, target);
    } else {
      for (size_t i = 0; i < row_samples; ++i) {
        target[i] = reading->row[i];
      }
    }
  }
  (void)jpeg_finish_decompress(info);
}

tenon_status_t tool_jpeg_parse(const char* name, const uint8_t* data, size_t size,
                               tool_picture_t* out_picture) {
  reading_t* reading = tool_allocate(1, sizeof(*reading));
  reading->name = name;
  reading->info.err = jpeg_std_error(&reading->errors.base);
  reading->errors.base.error_exit = on_error;
  reading->errors.base.emit_message = on_message;
  if (setjmp(reading->errors.exit) == 0) { /* NOLINT(cert-err52-cpp) */
    jpeg_create_decompress(&reading->info);
    jpeg_mem_src(&reading->info, data, size);
    read_rows(reading);
  } else {
    reading->status =
        tool_fail(TENON_ERROR_INVALID_DATA, "%s: damaged JPEG: %s", name, reading->errors.message);
  }
  jpeg_destroy_decompress(&reading->info);
  const tenon_status_t status = reading->status;
  if (status == TENON_OK) {
    *out_picture = reading->picture;
  } else {
    tool_picture_free(&reading->picture);
  }
  tool_free(reading->row);
  tool_free(reading);
  return status;
}

#else

const char* tool_jpeg_library(void) {
  return "";
}

tenon_status_t tool_jpeg_parse(const char* name, const uint8_t* data, size_t size,
                               tool_picture_t* out_picture) {
  (void)data, (void)size, (void)out_picture;
  return tool_fail(TENON_ERROR_UNSUPPORTED, "%s: this command was built without libjpeg", name);
}

#endif
