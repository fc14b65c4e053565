/* What a launch of a convolution is given: shape.cuh's structures, for the host. */
#ifndef PLUGINS_CUDA_CONVOLUTION_SHAPE_H_
#define PLUGINS_CUDA_CONVOLUTION_SHAPE_H_

#include <stdint.h>

typedef struct tenon__cuda_divisor_t {
  uint32_t extent;
  uint32_t multiplier;
  uint32_t shift;
} tenon__cuda_divisor_t;

typedef struct tenon__cuda_shape_t {
  const void* x;
  const void* weights;
  const void* bias;
  int32_t channels;
  int32_t outputs;
  int32_t rows;
  int32_t columns;
  int32_t height;
  int32_t width;
  int32_t kernel[2]; /* along y, then x; so are those below */
  int32_t stride[2];
  int32_t dilation[2];
  int32_t begin[2];
  int32_t x_image;
  int32_t x_channel;
  int32_t x_row;
  int32_t x_column;
  int32_t pixels;
  int32_t steps;
  int32_t tile[2];
  int32_t patch_x;
  int32_t patch_pixels;
  int32_t pitch;
  int32_t table_at;
  int32_t patch_at;
  int32_t sums_at;
  int32_t sums_overlap;
  int32_t warps;
  int32_t tiles;
  tenon__cuda_divisor_t column_tiles;
  tenon__cuda_divisor_t tiles_x;
  tenon__cuda_divisor_t tiles_y;
  tenon__cuda_divisor_t by_columns;
  tenon__cuda_divisor_t by_rows;
  tenon__cuda_divisor_t by_tile_x;
  tenon__cuda_divisor_t by_patch_x;
  tenon__cuda_divisor_t by_pieces;
  tenon__cuda_divisor_t by_taps;
  tenon__cuda_divisor_t by_kernel_x;
  tenon__cuda_divisor_t by_outputs;
} tenon__cuda_shape_t;

#endif
