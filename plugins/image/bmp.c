/*
 * Windows bitmaps: palettes of 1 to 8 bits, run-length encoded or not, and 16, 24 and 32 bits with
 * masks; the header's first form (12 bytes) and all later ones (40 bytes and more);
 * https://learn.microsoft.com/windows/win32/gdi/bitmap-structures.
 */
#include <stdlib.h>

#include "picture.h"

enum { FILE_HEADER = 14, FIRST_HEADER = 12, INFO_HEADER = 40, MASKS_AT = FILE_HEADER + 40 };
enum { PLAIN = 0, RUNS_OF_8 = 1, RUNS_OF_4 = 2, MASKS = 3, MASKS_AND_ALPHA = 6 };

typedef struct bmp_t {
  tenon__picture_t* picture;
  uint32_t bits;
  uint32_t compression;
  uint32_t masks[3]; /* red, green, blue */
  uint32_t palette;  /* where it begins */
  uint32_t colours;  /* in the palette */
  uint32_t colour_size;
  uint32_t pixels; /* where they begin */
  bool is_top_down;
  uint8_t* indices; /* of run-length encoded pixels, row after row from the first in the file */
} bmp_t;

/* Little-endian; what lies behind the end is 0: the places that matter are checked. */
static uint32_t take(const bmp_t* bmp, size_t at, uint32_t bytes) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < bytes && at + i < bmp->picture->size; ++i) {
    number |= (uint32_t)bmp->picture->data[at + i] << (8 * i);
  }
  return number;
}

static bool damaged(const bmp_t* bmp, const char* what, uint32_t value) {
  return tenon__picture_fail(bmp->picture, TENON_ERROR_INVALID_DATA, "%s %u", what, value);
}

static bool is_known(const bmp_t* bmp) {
  switch (bmp->compression) {
    case PLAIN:
      return bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8 || bmp->bits == 16 ||
             bmp->bits == 24 || bmp->bits == 32;
    case RUNS_OF_8:
      return bmp->bits == 8 && !bmp->is_top_down;
    case RUNS_OF_4:
      return bmp->bits == 4 && !bmp->is_top_down;
    case MASKS:
    case MASKS_AND_ALPHA:
      return bmp->bits == 16 || bmp->bits == 32;
    default:
      return false;
  }
}

static void read_masks(bmp_t* bmp) {
  static const uint32_t usual[2][3] = {{0x7C00, 0x03E0, 0x001F}, {0xFF0000, 0xFF00, 0xFF}};
  const bool has_masks = bmp->compression == MASKS || bmp->compression == MASKS_AND_ALPHA;
  for (uint32_t c = 0; c < 3; ++c) {
    bmp->masks[c] = has_masks ? take(bmp, MASKS_AT + 4 * c, 4) : usual[bmp->bits == 16 ? 0 : 1][c];
  }
}

static void read_palette(bmp_t* bmp, uint32_t header) {
  const uint32_t most = bmp->bits <= 8 ? 1u << bmp->bits : 0;
  const uint32_t named = header == FIRST_HEADER ? 0 : take(bmp, 46, 4);
  const uint32_t masks = header != INFO_HEADER                 ? 0
                         : bmp->compression == MASKS           ? 12
                         : bmp->compression == MASKS_AND_ALPHA ? 16
                                                               : 0;
  bmp->palette = FILE_HEADER + header + masks;
  bmp->colours = named == 0 || named > most ? most : named;
  bmp->colour_size = header == FIRST_HEADER ? 3 : 4;
}

static uint64_t row_size(const bmp_t* bmp, uint32_t width) {
  return ((uint64_t)width * bmp->bits + 31) / 32 * 4;
}

static bool read_header(bmp_t* bmp) {
  tenon__picture_t* picture = bmp->picture;
  const uint32_t header = take(bmp, FILE_HEADER, 4);
  if (picture->size < FILE_HEADER + FIRST_HEADER ||
      (header != FIRST_HEADER && header < INFO_HEADER) || header > picture->size - FILE_HEADER) {
    return damaged(bmp, "the header has a size that cannot be:", header);
  }
  const bool is_first = header == FIRST_HEADER;
  const uint32_t width = is_first ? take(bmp, 18, 2) : take(bmp, 18, 4);
  const uint32_t height = is_first ? take(bmp, 20, 2) : take(bmp, 22, 4);
  bmp->bits = take(bmp, is_first ? 24 : 28, 2);
  bmp->compression = is_first ? PLAIN : take(bmp, 30, 4);
  bmp->pixels = take(bmp, 10, 4);
  bmp->is_top_down = !is_first && height > INT32_MAX;
  const uint32_t rows = bmp->is_top_down ? 0u - height : height;
  if (!is_known(bmp)) {
    return tenon__picture_fail(picture, TENON_ERROR_UNSUPPORTED,
                               "BMP: pixels of %u bits with compression %u are not decoded",
                               bmp->bits, bmp->compression);
  }
  read_masks(bmp);
  read_palette(bmp, header);
  const uint64_t left = bmp->pixels < picture->size ? picture->size - bmp->pixels : 0;
  const bool has_runs = bmp->compression == RUNS_OF_8 || bmp->compression == RUNS_OF_4;
  if (bmp->pixels < FILE_HEADER + header || (!has_runs && row_size(bmp, width) * rows > left)) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                               "%llu bytes of pixels from byte %u on are too few for %u x %u",
                               (unsigned long long)left, bmp->pixels, width, rows);
  }
  return tenon__picture_begin(picture, width, rows);
}

/* ---- Run-length encoded ---- */

typedef struct pen_t {
  uint32_t x;
  uint32_t y;
} pen_t;

/* What lies outside of the picture is not written. */
static void set_index(const bmp_t* bmp, pen_t* pen, uint32_t index) {
  if (pen->x < bmp->picture->width && pen->y < bmp->picture->height) {
    bmp->indices[(size_t)pen->y * bmp->picture->width + pen->x] = (uint8_t)index;
  }
  ++pen->x;
}

/* Pixel `i` of those that begin at a byte: a byte or half a byte each, the higher half first. */
static uint32_t index_at(const bmp_t* bmp, size_t at, uint32_t i) {
  return bmp->compression == RUNS_OF_8 ? take(bmp, at + i, 1)
                                       : take(bmp, at + i / 2, 1) >> (i % 2 == 0 ? 4 : 0) & 15u;
}

/* Pairs of bytes: a count and what is repeated; or 0 and 0 (end of the row), 1 (of the picture), 2
 * (move by the next two bytes) or how many pixels follow as they are, padded to pairs. */
static bool read_runs(const bmp_t* bmp) {
  const size_t size = bmp->picture->size;
  pen_t pen = {0, 0};
  for (size_t at = bmp->pixels; at + 1 < size && pen.y < bmp->picture->height;) {
    const uint32_t count = bmp->picture->data[at];
    const uint32_t code = bmp->picture->data[at + 1];
    const bool is_code = count == 0 && code < 3;
    const uint32_t length = count > 0 ? count : is_code ? 0 : code;
    at += 2;
    for (uint32_t i = 0; i < length; ++i) {
      set_index(bmp, &pen,
                count > 0 ? index_at(bmp, at - 1, bmp->compression == RUNS_OF_8 ? 0 : i % 2)
                          : index_at(bmp, at, i));
    }
    if (is_code && code == 1) {
      return true;
    }
    if (is_code) {
      pen.x = code == 0 ? 0 : pen.x + take(bmp, at, 1);
      pen.y += code == 0 ? 1 : take(bmp, at + 1, 1);
      at += code == 0 ? 0 : 2;
    } else if (count == 0) {
      at += bmp->compression == RUNS_OF_8 ? (code + 1) / 2 * 2 : (code + 3) / 4 * 2;
    }
  }
  return pen.y >= bmp->picture->height || damaged(bmp, "the runs end in row", pen.y);
}

/* ---- Rows ---- */

static uint8_t masked(uint32_t pixel, uint32_t mask) {
  const uint32_t lowest = mask & (0u - mask);
  return mask == 0 ? 0 : tenon__picture_scale((pixel & mask) / lowest, mask / lowest);
}

/* A colour that the palette lacks is black. */
static void look_up(const bmp_t* bmp, uint32_t index, uint8_t* rgb) {
  const uint32_t at = bmp->palette + index * bmp->colour_size;
  for (uint32_t c = 0; c < 3; ++c) {
    rgb[c] = (uint8_t)(index < bmp->colours ? take(bmp, at + 2 - c, 1) : 0);
  }
}

static void read_pixel(const bmp_t* bmp, size_t row, uint32_t x, uint8_t* rgb) {
  if (bmp->indices != NULL) {
    look_up(bmp, bmp->indices[row + x], rgb);
  } else if (bmp->bits <= 8) {
    const uint32_t bit = x * bmp->bits;
    const uint32_t byte = take(bmp, row + bit / 8, 1);
    look_up(bmp, byte >> (8 - bmp->bits - bit % 8) & ((1u << bmp->bits) - 1), rgb);
  } else {
    const uint32_t bytes = bmp->bits / 8;
    const uint32_t pixel = take(bmp, row + (size_t)x * bytes, bytes);
    for (uint32_t c = 0; c < 3; ++c) {
      rgb[c] = masked(pixel, bmp->masks[c]);
    }
  }
}

static void put_rows(const bmp_t* bmp, uint8_t* rgb) {
  tenon__picture_t* picture = bmp->picture;
  const uint64_t stride = bmp->indices != NULL ? picture->width : row_size(bmp, picture->width);
  const size_t first = bmp->indices != NULL ? 0 : bmp->pixels;
  bool goes_on = true;
  for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
    const uint32_t line = bmp->is_top_down ? y : picture->height - 1 - y;
    for (uint32_t x = 0; x < picture->width; ++x) {
      read_pixel(bmp, first + (size_t)(line * stride), x, rgb + 3 * (size_t)x);
    }
    goes_on = tenon__picture_put_row(picture, y, rgb, 3);
  }
}

void tenon__bmp_decode(tenon__picture_t* picture) {
  bmp_t bmp = {.picture = picture};
  if (!read_header(&bmp)) {
    return;
  }
  const bool has_runs = bmp.compression == RUNS_OF_8 || bmp.compression == RUNS_OF_4;
  uint8_t* rgb = tenon__picture_memory(picture, picture->width, 3);
  if (has_runs) {
    bmp.indices = tenon__picture_memory(picture, picture->height, picture->width);
  }
  if (rgb != NULL && (!has_runs || (bmp.indices != NULL && read_runs(&bmp)))) {
    put_rows(&bmp, rgb);
  }
  free(bmp.indices);
  free(rgb);
}
