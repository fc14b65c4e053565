/*
 * Pictures: PNG and JPEG by their libraries, PGM and PPM by a reader of our own; written as PNG,
 * PGM or PPM. And the way from a picture to an input tensor: resize, subtract the mean, scale,
 * order channels.
 */
#ifndef TOOL_DATA_PICTURE_H_
#define TOOL_DATA_PICTURE_H_

#include "data/value.h"

enum { TOOL_PICTURE_SIDE_MAX = 65500, TOOL_PICTURE_SAMPLES_MAX = 1 << 28 };

/* Rows from the top, samples of one pixel side by side: grey; red, green, blue. Alpha is dropped
 * when reading. */
typedef struct tool_picture_t {
  uint32_t width;
  uint32_t height;
  uint32_t channels; /* 1 or 3 */
  uint32_t maximum;  /* what full brightness is: 255, 65535, ... */
  /* Not 0: its colours stand for that many classes; 0 is black. */
  uint32_t class_count;
  uint16_t* samples;
} tool_picture_t;

/* INVALID_DATA (with `name`) unless 1 <= sides, and samples, are within the limits above. */
tenon_status_t tool_picture_make(const char* name, uint32_t width, uint32_t height,
                                 uint32_t channels, uint32_t maximum, tool_picture_t* out_picture);
void tool_picture_free(tool_picture_t* picture);

/* By the first bytes, whatever the name. UNSUPPORTED where the command was built without the
 * library. */
bool tool_picture_is_one(const uint8_t* data, size_t size);
tenon_status_t tool_picture_parse(const char* name, const uint8_t* data, size_t size,
                                  tool_picture_t* out_picture);
/* A name that a picture can be written under; a misuse otherwise. */
tenon_status_t tool_picture_check_name(const char* option, const char* path);
/* By the name's end: .png, .pgm, .ppm. A grey picture can be a .ppm, a coloured one cannot be a
 * .pgm. */
tenon_status_t tool_picture_write(const char* path, const tool_picture_t* picture);

/* The formats, each in a file of its own. */
tenon_status_t tool_pnm_parse(const char* name, const uint8_t* data, size_t size,
                              tool_picture_t* out_picture);
tenon_status_t tool_pnm_write(const char* path, const tool_picture_t* picture);
tenon_status_t tool_png_parse(const char* name, const uint8_t* data, size_t size,
                              tool_picture_t* out_picture);
tenon_status_t tool_png_write(const char* path, const tool_picture_t* picture);
tenon_status_t tool_jpeg_parse(const char* name, const uint8_t* data, size_t size,
                               tool_picture_t* out_picture);
/* "libpng 1.6.39", or "" when built without. */
const char* tool_png_library(void);
const char* tool_jpeg_library(void);

/* Bilinear; when shrinking each result is the weighted mean of all that it covers (a triangle
 * filter, as Pillow and torchvision do), when enlarging plain interpolation between pixel centres.
 * `out` has width * height * channels. */
void tool_picture_resize(const tool_picture_t* picture, uint32_t width, uint32_t height,
                         float* out_samples);

/* How numbers are made of samples, which count 0 to 255 whatever the picture's depth: (sample -
 * mean) * scale. */
typedef struct tool_preprocess_t {
  double mean[4]; /* by channel, in the order of the tensor */
  double scale[4];
  uint32_t count; /* of the numbers given for either; 0 or 1: for all channels */
  bool bgr;       /* blue first */
  bool given;     /* --mean or --scale was there */
} tool_preprocess_t;

/* "103.9,116.8,123.7" or one number for all channels; *inout_count becomes how many there are where
 * that is more. `option` is named in messages. */
tenon_status_t tool_preprocess_parse(const char* option, const char* text, double out_numbers[4],
                                     uint32_t* inout_count);

/* The tensor for an input of that type (extents of -1: as the picture has them; the batch is 1).
 * Rank 4: NCHW, or NHWC where the last extent is the one that is 1, 3 or 4; rank 3: without N; rank
 * 2: H and W. INVALID_DATA where it cannot be. */
tenon_status_t tool_picture_to_value(const char* name, const tool_picture_t* picture,
                                     const tool_preprocess_t* preprocess,
                                     const tenon_value_type_t* type, tool_value_t* out_value);
/* The extents of that tensor; false where the rank is none that a picture can have. */
bool tool_picture_shape(const tool_picture_t* picture, uint32_t rank, const int64_t* dims,
                        int64_t* out_dims);
/* The same arithmetic for an array of 8-bit samples that is a batch of pictures already. */
tenon_status_t tool_bytes_to_value(const char* name, const tool_value_t* bytes,
                                   const tool_preprocess_t* preprocess, tenon_dtype_t dtype,
                                   tool_value_t* out_value);
/* Width and height of a tensor that is or becomes a picture; false where it cannot be one. */
bool tool_picture_extents(uint32_t rank, const int64_t* dims, int64_t* out_width,
                          int64_t* out_height);
/* Numbers of this type can be brightness: floats, and integers of 8 or 16 bits. */
bool tool_picture_fits_type(tenon_dtype_t dtype);
/* A picture of an output: one or three channels (..., H, W) or (..., H, W, 3); 0 to 1 becomes 0 to
 * 255, 8-bit types are taken as they are; a warning tells how many are cut off. Floats of another
 * number of channels are scores of classes: each pixel has the colour of the class with the largest
 * one. The first picture of a batch. INVALID_DATA for what is no picture: a single row, a table. */
tenon_status_t tool_picture_from_value(const char* name, const tool_value_t* value,
                                       tool_picture_t* out_picture);
/* Input, mask and overlay side by side: where the mask is at least half, the input is tinted; with
 * classes, where the class is not 0, in its colour. The mask is enlarged to the input's size. */
tenon_status_t tool_picture_overlay(const tool_picture_t* input, const tool_picture_t* mask,
                                    tool_picture_t* out_picture);

#endif
