/* JPEG 2000 through openjpeg: files (JP2) and bare codestreams, grey, sRGB and YCC, of any depth,
 * colours at half the resolution too. */
#include <openjpeg.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

/* openjpeg allocates for each component of each tile while it reads the header. */
enum { COMPONENTS_MAX = 4, TILES_MAX = 1 << 14, STREAM_BLOCK = 1 << 16 };

typedef struct reading_t {
  tenon__picture_t* picture;
  size_t at;
  opj_codec_t* codec;
  opj_stream_t* stream;
  opj_image_t* image;
  const opj_image_comp_t* colours[3];
  uint32_t colour_count; /* 1 or 3 */
  char message[160];     /* openjpeg's first complaint */
} reading_t;

/* ---- What is looked at before openjpeg sees it ---- */

/* Big-endian; what lies behind the end is 0. */
static uint32_t take(const tenon__picture_t* picture, size_t at, uint32_t bytes) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    number = number << 8 | (at + i < picture->size ? picture->data[at + i] : 0);
  }
  return number;
}

/* Where the codestream begins: at once, or in the first box of its kind. The size: none. */
static size_t find_codestream(const tenon__picture_t* picture) {
  size_t at = 0;
  while (picture->data[0] == 0 && at < picture->size && picture->size - at > 8) {
    const uint32_t size = take(picture, at, 4);
    const bool is_long = size == 1;
    const size_t header = is_long ? 16 : 8;
    if (take(picture, at + 4, 4) == 0x6A703263) { /* jp2c */
      return at + header;
    }
    const size_t whole = is_long ? take(picture, at + 12, 4) : size;
    if (whole < header || whole > picture->size - at ||
        (is_long && take(picture, at + 8, 4) != 0)) {
      return picture->size;
    }
    at += whole;
  }
  return picture->data[0] == 0 ? picture->size : 0;
}

/* Extents, tiles and components, as the codestream's first segment has them. */
static bool is_bounded(tenon__picture_t* picture) {
  const size_t at = find_codestream(picture);
  if (take(picture, at, 4) != 0xFF4FFF51) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                               "there is no codestream that begins with its extents");
  }
  const uint64_t right = take(picture, at + 8, 4);
  const uint64_t below = take(picture, at + 12, 4);
  const uint64_t left = take(picture, at + 16, 4);
  const uint64_t above = take(picture, at + 20, 4);
  const uint64_t across = take(picture, at + 24, 4);
  const uint64_t down = take(picture, at + 28, 4);
  const uint32_t components = take(picture, at + 40, 2);
  if (right <= left || below <= above || across == 0 || down == 0) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "it has no pixels or no tiles");
  }
  const uint64_t tiles = ((right + across - 1) / across) * ((below + down - 1) / down);
  if (components == 0 || components > COMPONENTS_MAX || tiles > TILES_MAX) {
    return tenon__picture_fail(picture, TENON_ERROR_UNSUPPORTED,
                               "a JPEG 2000 picture of %u components and %llu tiles is not decoded",
                               components, (unsigned long long)tiles);
  }
  const uint64_t most = picture->pixels_max;
  return (right - left <= most && below - above <= most / (right - left)) ||
         tenon__picture_begin(picture, right - left, below - above);
}

/* ---- openjpeg ---- */

static OPJ_SIZE_T read_bytes(void* to, OPJ_SIZE_T size, void* user) {
  reading_t* reading = user;
  const size_t left = reading->picture->size - reading->at;
  const size_t taken = size < left ? size : left;
  if (taken == 0) {
    return (OPJ_SIZE_T)-1;
  }
  memcpy(to, reading->picture->data + reading->at, taken);
  reading->at += taken;
  return taken;
}

static OPJ_OFF_T skip_bytes(OPJ_OFF_T size, void* user) {
  reading_t* reading = user;
  const size_t left = reading->picture->size - reading->at;
  if (size < 0) {
    return -1;
  }
  reading->at += (size_t)size < left ? (size_t)size : left;
  return size;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
  reading_t* reading = user;
  if (to < 0 || (size_t)to > reading->picture->size) {
    return OPJ_FALSE;
  }
  reading->at = (size_t)to;
  return OPJ_TRUE;
}

static void on_error(const char* message, void* user) {
  reading_t* reading = user;
  if (reading->message[0] == '\0') {
    strncpy(reading->message, message, sizeof(reading->message) - 1);
    reading->message[strcspn(reading->message, "\n")] = '\0';
  }
}

static bool fail(reading_t* reading, tenon_status_t status, const char* otherwise) {
  return tenon__picture_fail(reading->picture, status, "%s",
                             reading->message[0] != '\0' ? reading->message : otherwise);
}

static bool open_file(reading_t* reading) {
  const bool is_bare = reading->picture->data[0] == 0xFF;
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  reading->codec = opj_create_decompress(is_bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  reading->stream = opj_stream_create(STREAM_BLOCK, OPJ_TRUE);
  if (reading->codec == NULL || reading->stream == NULL) {
    return fail(reading, TENON_ERROR_OUT_OF_MEMORY, "openjpeg cannot be started");
  }
  (void)opj_set_error_handler(reading->codec, on_error, reading);
  opj_stream_set_read_function(reading->stream, read_bytes);
  opj_stream_set_skip_function(reading->stream, skip_bytes);
  opj_stream_set_seek_function(reading->stream, seek);
  opj_stream_set_user_data(reading->stream, reading, NULL);
  opj_stream_set_user_data_length(reading->stream, reading->picture->size);
  if (opj_setup_decoder(reading->codec, &parameters) == OPJ_FALSE ||
      opj_read_header(reading->stream, reading->codec, &reading->image) == OPJ_FALSE) {
    return fail(reading, TENON_ERROR_INVALID_DATA, "the header is damaged");
  }
  return true;
}

/* The first component is the picture: the others have its resolution, or less. */
static bool begin(reading_t* reading) {
  const opj_image_t* image = reading->image;
  if (image == NULL || image->numcomps == 0 || image->comps[0].dx == 0 || image->comps[0].dy == 0) {
    (void)fail(reading, TENON_ERROR_INVALID_DATA, "it has no components");
    return false;
  }
  return tenon__picture_begin(reading->picture, image->comps[0].w, image->comps[0].h);
}

/* The components that are no alpha. */
static bool find_colours(reading_t* reading) {
  const opj_image_t* image = reading->image;
  uint32_t count = 0;
  for (uint32_t i = 0; i < image->numcomps; ++i) {
    const opj_image_comp_t* component = &image->comps[i];
    if (component->data == NULL || component->w == 0 || component->h == 0 || component->prec == 0 ||
        component->prec > 31) {
      return fail(reading, TENON_ERROR_INVALID_DATA, "a component has no samples");
    }
    if (component->alpha == 0 && count < 3) {
      reading->colours[count++] = component;
    }
  }
  reading->colour_count = count < 3 ? 1 : 3;
  if (count == 0 || image->comps[0].w != reading->picture->width ||
      image->comps[0].h != reading->picture->height) {
    return fail(reading, TENON_ERROR_INVALID_DATA, "the components contradict the header");
  }
  if (image->color_space == OPJ_CLRSPC_CMYK || image->color_space == OPJ_CLRSPC_EYCC) {
    return tenon__picture_fail(reading->picture, TENON_ERROR_UNSUPPORTED,
                               "a JPEG 2000 picture in CMYK or e-YCC is not decoded");
  }
  return true;
}

/* A component's sample for a pixel, as 0 to 255. */
static uint8_t sample(const reading_t* reading, const opj_image_comp_t* component, uint32_t x,
                      uint32_t y) {
  const opj_image_comp_t* first = &reading->image->comps[0];
  const uint64_t column = (uint64_t)x * first->dx / component->dx;
  const uint64_t row = (uint64_t)y * first->dy / component->dy;
  const size_t place = (size_t)(row < component->h ? row : component->h - 1) * component->w +
                       (size_t)(column < component->w ? column : component->w - 1);
  const int64_t value =
      (int64_t)component->data[place] + (component->sgnd != 0 ? 1LL << (component->prec - 1) : 0);
  return tenon__picture_scale(value < 0 ? 0 : (uint32_t)value,
                              (uint32_t)((1ull << component->prec) - 1));
}

static uint8_t limited(double value) {
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

/* Of ITU-R BT.601, full range. */
static void ycc_to_rgb(uint8_t* ycc) {
  const double y = ycc[0];
  const double cb = ycc[1] - 128.0;
  const double cr = ycc[2] - 128.0;
  ycc[0] = limited(y + 1.402 * cr);
  ycc[1] = limited(y - 0.344136 * cb - 0.714136 * cr);
  ycc[2] = limited(y + 1.772 * cb);
}

static void put_rows(reading_t* reading) {
  tenon__picture_t* picture = reading->picture;
  const uint32_t channels = reading->colour_count;
  const bool is_ycc = channels == 3 && reading->image->color_space == OPJ_CLRSPC_SYCC;
  uint8_t* row = tenon__picture_memory(picture, picture->width, channels);
  bool goes_on = row != NULL;
  for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
    for (uint32_t x = 0; x < picture->width; ++x) {
      uint8_t* pixel = row + (size_t)x * channels;
      for (uint32_t c = 0; c < channels; ++c) {
        pixel[c] = sample(reading, reading->colours[c], x, y);
      }
      if (is_ycc) {
        ycc_to_rgb(pixel);
      }
    }
    goes_on = tenon__picture_put_row(picture, y, row, channels);
  }
  free(row);
}

void tenon__jpeg2000_decode(tenon__picture_t* picture) {
  reading_t reading = {.picture = picture};
  if (is_bounded(picture) && open_file(&reading) && begin(&reading)) {
    if (opj_decode(reading.codec, reading.stream, reading.image) == OPJ_FALSE) {
      (void)fail(&reading, TENON_ERROR_INVALID_DATA, "its bits are damaged");
    } else if (find_colours(&reading)) {
      put_rows(&reading);
    }
  }
  opj_image_destroy(reading.image);
  opj_stream_destroy(reading.stream);
  opj_destroy_codec(reading.codec);
}
