/* JPEG through libjpeg, whose way out of an error is a jump: nothing of ours lies between. Its own
 * upsampling of colours is the one that ONNX describes. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
/* After stdio.h, which it needs. */
#include <jpeglib.h>
/* clang-format off: it needs the names of jpeglib.h */
#include <jerror.h>
/* clang-format on */

#include "picture.h"

/* Each scan of a progressive file walks over the whole picture: a small file may have very many. */
enum { SCANS_MAX = 500 };

typedef struct reading_t {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf exit;
  tenon__picture_t* picture;
  uint8_t* row;
  uint8_t* light; /* of a row in ink */
} reading_t;

static void leave(j_common_ptr info) {
  reading_t* reading = info->client_data;
  longjmp(reading->exit, 1); /* NOLINT(cert-err52-cpp) */
}

static void on_error(j_common_ptr info) {
  const reading_t* reading = info->client_data;
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  (void)tenon__picture_fail(reading->picture, TENON_ERROR_INVALID_DATA, "%s", message);
  leave(info);
}

/* Warnings are kept quiet, but a file that ends too early is no picture: libjpeg would make up the
 * rest. */
static void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) {
    on_error(info);
  }
}

static void on_progress(j_common_ptr info) {
  const reading_t* reading = info->client_data;
  tenon__picture_t* picture = reading->picture;
  if (reading->info.input_scan_number > SCANS_MAX) {
    (void)tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "more than %d scans", SCANS_MAX);
    leave(info);
  }
  if (picture->is_cancelled != NULL && picture->is_cancelled(picture->user)) {
    (void)tenon__picture_fail(picture, TENON_ERROR_CANCELLED, "nobody wants the picture any more");
    leave(info);
  }
}

/* Ink as light, without a colour profile: what is left of white after the colour's and the black
 * ink. Adobe's files hold how much is left instead of how much ink there is. */
static void print_to_light(const uint8_t* ink, uint32_t width, bool is_inverted, uint8_t* light) {
  for (uint32_t i = 0; i < width; ++i) {
    for (uint32_t c = 0; c < 3; ++c) {
      const uint32_t colour = is_inverted ? ink[4 * i + c] : 255u - ink[4 * i + c];
      const uint32_t black = is_inverted ? ink[4 * i + 3] : 255u - ink[4 * i + 3];
      light[3 * i + c] = (uint8_t)((colour * black + 127) / 255);
    }
  }
}

static void read_rows(reading_t* reading) {
  struct jpeg_decompress_struct* info = &reading->info;
  tenon__picture_t* picture = reading->picture;
  (void)jpeg_read_header(info, TRUE);
  const bool is_ink = info->num_components == 4;
  info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : is_ink ? JCS_CMYK : JCS_RGB;
  const uint32_t channels = info->num_components == 1 ? 1 : 3;
  if (!tenon__picture_begin(picture, info->image_width, info->image_height)) {
    return;
  }
  (void)jpeg_start_decompress(info);
  reading->row = tenon__picture_memory(picture, info->output_width, is_ink ? 4 : channels);
  reading->light = is_ink ? tenon__picture_memory(picture, info->output_width, 3) : NULL;
  bool goes_on = reading->row != NULL && (!is_ink || reading->light != NULL);
  while (goes_on && info->output_scanline < info->output_height) {
    const uint32_t y = info->output_scanline;
    JSAMPROW rows[1] = {reading->row};
    (void)jpeg_read_scanlines(info, rows, 1);
    if (is_ink) {
      print_to_light(reading->row, info->output_width, info->saw_Adobe_marker != FALSE,
                     reading->light);
    }
    goes_on = tenon__picture_put_row(picture, y, is_ink ? reading->light : reading->row, channels);
  }
  if (goes_on) {
    (void)jpeg_finish_decompress(info);
  }
}

void tenon__jpeg_decode(tenon__picture_t* picture) {
  reading_t* reading = tenon__picture_memory(picture, 1, sizeof(*reading));
  if (reading == NULL) {
    return;
  }
  reading->picture = picture;
  reading->info.err = jpeg_std_error(&reading->errors);
  reading->info.client_data = reading;
  reading->errors.error_exit = on_error;
  reading->errors.emit_message = on_message;
  reading->progress.progress_monitor = on_progress;
  if (setjmp(reading->exit) == 0) { /* NOLINT(cert-err52-cpp) */
    jpeg_create_decompress(&reading->info);
    reading->info.progress = &reading->progress;
    jpeg_mem_src(&reading->info, picture->data, picture->size);
    read_rows(reading);
  }
  jpeg_destroy_decompress(&reading->info);
  free(reading->light);
  free(reading->row);
  free(reading);
}
