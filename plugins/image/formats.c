/* Which format the first bytes are of, and who decodes it. A format whose library was not there
 * when this was built is known by name. */
#include <stdio.h>
#include <string.h>

#include "picture.h"

enum { MAGICS_MAX = 6, FIRST_BYTES = 8 };

/* The first bytes of a file; '?' is any byte. */
typedef struct magic_t {
  const char* bytes;
  size_t size;
} magic_t;
#define MAGIC(text) \
  { text, sizeof(text) - 1 }

typedef struct format_t {
  const char* name;
  magic_t magics[MAGICS_MAX];
  void (*decode)(tenon__picture_t* picture); /* NULL: built without `library` */
  const char* library;
  const char* package; /* Debian's, with which it can be built */
} format_t;

#ifdef TENON_IMAGE_JPEG
#define JPEG tenon__jpeg_decode
#else
#define JPEG NULL
#endif
#ifdef TENON_IMAGE_JPEG2000
#define JPEG2000 tenon__jpeg2000_decode
#else
#define JPEG2000 NULL
#endif
#ifdef TENON_IMAGE_PNG
#define PNG tenon__png_decode
#else
#define PNG NULL
#endif
#ifdef TENON_IMAGE_TIFF
#define TIFF tenon__tiff_decode
#else
#define TIFF NULL
#endif
#ifdef TENON_IMAGE_WEBP
#define WEBP tenon__webp_decode
#else
#define WEBP NULL
#endif

static const format_t formats[] = {
    {"BMP", {MAGIC("BM")}, tenon__bmp_decode, NULL, NULL},
    {"JPEG", {MAGIC("\xff\xd8\xff")}, JPEG, "libjpeg", "libjpeg-dev"},
    {"JPEG 2000",
     {MAGIC("\0\0\0\x0cjP  \r\n\x87\n"), MAGIC("\xff\x4f\xff\x51")},
     JPEG2000,
     "openjpeg 2",
     "libopenjp2-7-dev"},
    {"PNG", {MAGIC("\x89PNG\r\n\x1a\n")}, PNG, "libpng", "libpng-dev"},
    {"PNM",
     {MAGIC("P1"), MAGIC("P2"), MAGIC("P3"), MAGIC("P4"), MAGIC("P5"), MAGIC("P6")},
     tenon__pnm_decode,
     NULL,
     NULL},
    {"TIFF",
     {MAGIC("II*\0"), MAGIC("MM\0*"), MAGIC("II+\0"), MAGIC("MM\0+")},
     TIFF,
     "libtiff 4.5",
     "libtiff-dev"},
    {"WebP", {MAGIC("RIFF\?\?\?\?WEBP")}, WEBP, "libwebp", "libwebp-dev"},
};

static bool begins_with(const tenon__picture_t* picture, const magic_t* magic) {
  if (magic->bytes == NULL || picture->size < magic->size) {
    return false;
  }
  for (size_t i = 0; i < magic->size; ++i) {
    if (magic->bytes[i] != '?' && (uint8_t)magic->bytes[i] != picture->data[i]) {
      return false;
    }
  }
  return true;
}

static const format_t* find_format(const tenon__picture_t* picture) {
  for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i) {
    for (size_t k = 0; k < MAGICS_MAX; ++k) {
      if (begins_with(picture, &formats[i].magics[k])) {
        return &formats[i];
      }
    }
  }
  return NULL;
}

/* The first bytes as a person may know them again: "47 49 46 38". */
static void refuse_unknown(tenon__picture_t* picture) {
  char bytes[FIRST_BYTES * 3 + 1] = "";
  for (size_t i = 0; i < FIRST_BYTES && i < picture->size; ++i) {
    (void)snprintf(bytes + i * 3, 4, " %02x", picture->data[i]);
  }
  (void)tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                            "%zu bytes that begin with%s are none of BMP, JPEG, JPEG 2000, PNG, "
                            "PNM, TIFF and WebP",
                            picture->size, picture->size == 0 ? " nothing" : bytes);
}

tenon_status_t tenon__picture_decode(tenon__picture_t* picture) {
  const format_t* format = find_format(picture);
  picture->status = TENON_OK;
  picture->pixels = NULL;
  picture->message[0] = '\0';
  if (format == NULL) {
    refuse_unknown(picture);
  } else if (format->decode == NULL) {
    (void)tenon__picture_fail(picture, TENON_ERROR_UNSUPPORTED,
                              "this is a %s picture, and the plugin 'image' was built without %s: "
                              "install it (%s on Debian) and build the plugin again",
                              format->name, format->library, format->package);
  } else {
    format->decode(picture);
  }
  if (picture->status == TENON_ERROR_INVALID_DATA && format != NULL) {
    char message[TENON__PICTURE_MESSAGE_SIZE];
    memcpy(message, picture->message, sizeof(message));
    (void)snprintf(picture->message, sizeof(picture->message), "%s: %.200s", format->name, message);
  }
  return picture->status;
}
