/*
 * The patch of the image that a tile reads for a window of more than one pixel. The result is divided
 * into strips of `tile_x` columns. Positions number the pixels of a strip, row by row, with as many
 * columns more as the window reaches over: `patch_x` in all. A tile is TILE_M neighbouring
 * positions, and those beyond the strip's columns have no result. A tap then reads the positions of
 * the tile, moved by a constant, so the pixels in shared memory (the patch) serve all taps.
 *
 * If the window moves by more than one pixel, the patch has one part (phase) for each remainder of
 * a pixel's row and column: the pixels that one tap reads are in one phase, side by side.
 *
 * A chunk is 128 bytes of each pixel. Weights are packed by tile, chunk and tap.
 *
 * The source before this file defines, besides warpgroup.cuh's:
 *   CHUNKS                  of a block
 *   KERNEL_Y, KERNEL_X      of the window; so are STRIDE_Y, DILATION_Y and so on
 *   PRODUCTS                of a chunk with channels: each has 32 bytes of a pixel
 */
enum { TAPS = KERNEL_Y * KERNEL_X, PHASES_X = STRIDE_X, PHASES = STRIDE_Y * STRIDE_X };

/* A tile: its image, its strip's first column, its first position. */
struct origin_t {
  int image;
  int x;
  unsigned first;
};
INLINE origin_t origin_of(const shape_t& s, unsigned tile) {
  const unsigned strip = quotient(s.tiles_y, tile);
  const unsigned image = quotient(s.tiles_x, strip);
  origin_t o;
  o.image = (int)image;
  o.x = (int)(strip - image * s.tiles_x.extent) * s.tile_x;
  o.first = (tile - strip * s.tiles_y.extent) * TILE_M;
  return o;
}

/* The pixel of the result for a row of the tile. */
INLINE pixel_t result_of(const shape_t& s, const origin_t& o, int row) {
  const unsigned position = o.first + row;
  const int y = (int)quotient(s.by_patch_x, position);
  const int x = (int)position - y * s.patch_x;
  pixel_t pixel;
  pixel.is_there = y < s.rows && x < s.tile_x && o.x + x < s.columns;
  pixel.image = o.image;
  pixel.y = y;
  pixel.x = o.x + x;
  return pixel;
}

/* Bytes of a chunk of the patch. */
INLINE int chunk_bytes(const shape_t& s) {
  return PHASES * s.patch_pixels * ROW_BYTES;
}

/* Copies the pieces of a chunk of the patch that products read. Pixels outside of the image, and
 * channels that do not exist, become 0. */
INLINE void copy_chunk(const shape_t& s, shared_t to, const origin_t& o, int chunk) {
  enum { PIECES = PRODUCTS > 2 ? 8 : 2 * PRODUCTS /* of a pixel: a power of two */ };
  const int piece = (int)threadIdx.x % PIECES;
  const int channel = chunk * STEP + piece * PIECE;
  const element_t* image = (const element_t*)s.x + o.image * s.x_image + channel;
  const bool has_channel = EXACT ? chunk * TAPS < s.steps : channel < s.channels;
#pragma unroll
  for (int phase = 0; phase < PHASES; ++phase) {
    const int begin_y = phase / PHASES_X - s.begin_y;
    const int begin_x = phase % PHASES_X - s.begin_x;
    for (int row = (int)threadIdx.x / PIECES; row < s.patch_pixels; row += THREADS / PIECES) {
      const unsigned position = o.first + row;
      const int line = (int)quotient(s.by_patch_x, position);
      const int y = line * STRIDE_Y + begin_y;
      const int x = (o.x + (int)position - line * s.patch_x) * STRIDE_X + begin_x;
      const bool is_there = has_channel && y >= 0 && y < s.height && x >= 0 && x < s.width;
      copy_16(to + (phase * s.patch_pixels + row) * ROW_BYTES + place_in_row(row, piece),
              is_there ? image + y * s.x_row + x * s.x_column : (const element_t*)s.x,
              is_there ? 16 : 0);
    }
  }
}

/* Bytes from the tile's first position to those that a tap reads. */
INLINE int tap_at(const shape_t& s, int tap) {
  const int y = tap / KERNEL_X * DILATION_Y;
  const int x = tap % KERNEL_X * DILATION_X;
  const int phase = y % STRIDE_Y * PHASES_X + x % STRIDE_X;
  return (phase * s.patch_pixels + y / STRIDE_Y * s.patch_x + x / STRIDE_X) * ROW_BYTES;
}
