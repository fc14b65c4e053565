/* PBM, PGM and PPM, plain (P1, P2, P3) and raw (P4, P5, P6), up to 16 bits a sample;
 * http://netpbm.sourceforge.net/doc. Of several pictures in one file the first. */
#include <stdlib.h>
#include <string.h>

#include "picture.h"

typedef struct scan_t {
  const uint8_t* at;
  const uint8_t* end;
} scan_t;

typedef struct pnm_t {
  scan_t scan;
  bool is_plain;
  bool is_bitmap;
  uint32_t channels;
  uint32_t maximum;
} pnm_t;

static bool is_space(uint8_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(scan_t* scan) {
  while (scan->at < scan->end && (is_space(*scan->at) || *scan->at == '#')) {
    if (*scan->at == '#') {
      const uint8_t* line = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
      scan->at = line != NULL ? line : scan->end;
    } else {
      ++scan->at;
    }
  }
}

/* A number after white space and comments, of at most `digits_max` digits; false at the end or at
 * anything else. */
static bool take_number(scan_t* scan, uint32_t digits_max, uint32_t* out_number) {
  skip_space(scan);
  uint32_t digits = 0;
  uint32_t number = 0;
  while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9' && digits < digits_max) {
    number = number * 10 + (uint32_t)(*scan->at++ - '0');
    ++digits;
  }
  *out_number = number;
  return digits > 0;
}

/* Bytes of a raw row; 0 for a plain one. */
static uint64_t row_size(const pnm_t* pnm, uint64_t width) {
  return pnm->is_plain    ? 0
         : pnm->is_bitmap ? (width + 7) / 8
                          : width * pnm->channels * (pnm->maximum > 255 ? 2 : 1);
}

/* A sample of the row that begins where the scan stands; in a bitmap 1 is black. */
static bool take_sample(pnm_t* pnm, size_t index, uint32_t* out_sample) {
  const uint8_t* row = pnm->scan.at;
  if (pnm->is_plain) {
    /* In a bitmap digits need no space between them. */
    if (!take_number(&pnm->scan, pnm->is_bitmap ? 1 : 9, out_sample)) {
      return false;
    }
  } else if (pnm->is_bitmap) {
    *out_sample = (uint32_t)row[index / 8] >> (7 - index % 8) & 1u;
  } else {
    *out_sample = pnm->maximum > 255 ? (uint32_t)row[2 * index] << 8 | row[2 * index + 1]
                                     : (uint32_t)row[index];
  }
  if (pnm->is_bitmap) {
    *out_sample = *out_sample == 0 ? 1 : 0;
  }
  return true;
}

static bool read_header(pnm_t* pnm, tenon__picture_t* picture) {
  const char kind = (char)picture->data[1];
  uint32_t width = 0;
  uint32_t height = 0;
  pnm->scan = (scan_t){picture->data + 2, picture->data + picture->size};
  pnm->is_plain = kind <= '3';
  pnm->is_bitmap = kind == '1' || kind == '4';
  pnm->channels = kind == '3' || kind == '6' ? 3 : 1;
  pnm->maximum = 1;
  if (!take_number(&pnm->scan, 9, &width) || !take_number(&pnm->scan, 9, &height) ||
      (!pnm->is_bitmap && !take_number(&pnm->scan, 9, &pnm->maximum)) || pnm->maximum == 0 ||
      pnm->maximum > 65535 || pnm->scan.at == pnm->scan.end || !is_space(*pnm->scan.at)) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA, "the header is damaged");
  }
  ++pnm->scan.at;
  /* A plain sample is a digit at least. */
  const uint64_t left = (uint64_t)(pnm->scan.end - pnm->scan.at);
  const uint64_t wanted =
      pnm->is_plain ? (uint64_t)width * height * pnm->channels : row_size(pnm, width) * height;
  if (wanted > left) {
    return tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                               "%llu bytes of samples, at least %llu are wanted",
                               (unsigned long long)left, (unsigned long long)wanted);
  }
  return tenon__picture_begin(picture, width, height);
}

static void read_rows(pnm_t* pnm, tenon__picture_t* picture, uint8_t* row) {
  const size_t count = (size_t)picture->width * pnm->channels;
  bool goes_on = true;
  for (uint32_t y = 0; y < picture->height && goes_on; ++y) {
    for (size_t i = 0; i < count && goes_on; ++i) {
      uint32_t sample = 0;
      goes_on = take_sample(pnm, i, &sample) ||
                tenon__picture_fail(picture, TENON_ERROR_INVALID_DATA,
                                    "the samples end in row %u of %u", y, picture->height);
      row[i] = tenon__picture_scale(sample, pnm->maximum);
    }
    pnm->scan.at += row_size(pnm, picture->width);
    goes_on = goes_on && tenon__picture_put_row(picture, y, row, pnm->channels);
  }
}

void tenon__pnm_decode(tenon__picture_t* picture) {
  pnm_t pnm = {.maximum = 1};
  if (read_header(&pnm, picture)) {
    uint8_t* row = tenon__picture_memory(picture, picture->width, pnm.channels);
    if (row != NULL) {
      read_rows(&pnm, picture, row);
    }
    free(row);
  }
}
