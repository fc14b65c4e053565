/*
 * The pixels that a tile of warpgroup.cuh reads for a window of one pixel: row m of the tile reads pixel
 * m. A chunk is 128 bytes of each pixel, which is one step of the sum.
 */
enum {
  TAPS = 1,
  CHUNKS = STEPS,
  PRODUCTS = ROW_BYTES / PRODUCT_BYTES, /* of a chunk */
  PASSES = 4                            /* copies of a thread for a chunk */
};

/* The addresses that a thread copies from. */
struct origin_t {
  unsigned first;
  const element_t* from[PASSES];
};
INLINE origin_t origin_of(const shape_t& s, unsigned tile) {
  origin_t o;
  o.first = tile * TILE_M;
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    const int row = (int)threadIdx.x / 8 + i * (TILE_M / PASSES);
    o.from[i] = source_of(s, o.first + row, (int)threadIdx.x % 8 * PIECE);
  }
  return o;
}
INLINE pixel_t result_of(const shape_t& s, const origin_t& o, int row) {
  return pixel_of(s, o.first + row);
}
INLINE int chunk_bytes(const shape_t&) {
  return TILE_M * ROW_BYTES;
}
INLINE int tap_at(const shape_t&, int) {
  return 0;
}

INLINE void copy_chunk(const shape_t& s, shared_t to, const origin_t& o, int step) {
  const int piece = (int)threadIdx.x % 8;
#pragma unroll
  for (int i = 0; i < PASSES; ++i) {
    const int row = (int)threadIdx.x / 8 + i * (TILE_M / PASSES);
    const bool is_there =
        o.from[i] != 0 && step < s.steps && (EXACT || step * STEP + piece * PIECE < s.channels);
    copy_16(to + row * ROW_BYTES + place_in_row(row, piece),
            is_there ? o.from[i] + step * STEP : (const element_t*)s.x, is_there ? 16 : 0);
  }
}
