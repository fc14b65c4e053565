/*
 * What every convolution is given beside its slot's operands: the member `shape` of the parameters
 * (frame.cuh). Behind matrix.cuh, in front of frame.cuh; shape.h has the same for the host.
 */
#define SHAPE 1

/* n / extent, for n below 2^31. */
struct divisor_t {
  unsigned extent;
  unsigned multiplier;
  unsigned shift;
};
INLINE unsigned quotient(const divisor_t& d, unsigned n) {
  return d.extent == 1 ? n : __umulhi(n, d.multiplier) >> d.shift;
}

struct shape_t {
  const char* x;
  const char* weights; /* packed */
  const float* bias;   /* of all outputs, up to whole tiles */
  int channels;
  int outputs;
  int rows; /* of the result */
  int columns;
  int height; /* of x */
  int width;
  int kernel_y;
  int kernel_x;
  int stride_y;
  int stride_x;
  int dilation_y;
  int dilation_x;
  int begin_y; /* padding in front */
  int begin_x;
  int x_image; /* elements of x from one to the next */
  int x_channel;
  int x_row;
  int x_column;
  int pixels; /* of the result, all images */
  int steps;  /* of the sum */
  int tile_y; /* pixels of a tile */
  int tile_x;
  int patch_x; /* pixels of x that a tile reads */
  int patch_pixels;
  int pitch;    /* bytes from one to the next in shared memory */
  int table_at; /* bytes in shared memory: where each step reads */
  int patch_at;
  int sums_at;
  int sums_overlap; /* 1: they lie over what the products read */
  int warps;        /* of a stream, that have the same outputs */
  int tiles;        /* of pixels, of windows by warpgroups */
  divisor_t column_tiles; /* tiles of outputs; then of pixels */
  divisor_t tiles_x;
  divisor_t tiles_y;
  divisor_t by_columns; /* pixels of a row, rows of an image */
  divisor_t by_rows;
  divisor_t by_tile_x;
  divisor_t by_patch_x;
  divisor_t by_pieces; /* of 16 bytes in a pixel */
  divisor_t by_taps;
  divisor_t by_kernel_x;
  divisor_t by_outputs;
};
