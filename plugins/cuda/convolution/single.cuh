/*
 * What warpgroup.cuh reads of the image for a window of one pixel: row m of a tile is the m-th pixel
 * of it, and a chunk of 128 bytes of each is a step.
 */
enum { TAPS = 1, CHUNKS = STEPS, PASSES = 4 /* copies of a thread for a chunk */ };

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

/* Multiplies chunk K and all later chunks, each as soon as it has arrived. */
template <int K>
struct multiplied_t {
  INLINE void from(const shape_t& s, shared_t weights, shared_t pixels, float (&sums)[NT][4]) {
    wait_for_copies_but<STEPS - 1 - K>();
    publish_copies();
    __syncthreads();
    begin_products();
#pragma unroll
    for (int k = 0; k < ROW_BYTES / PRODUCT_BYTES; ++k) {
      multiply_operands(sums, operand_at(pixels + k * PRODUCT_BYTES),
                        operand_at(weights + k * PRODUCT_BYTES));
    }
    end_products();
    multiplied_t<K + 1>::from(s, weights + STEP_BYTES, pixels + TILE_M * ROW_BYTES, sums);
  }
};
template <>
struct multiplied_t<STEPS> {
  INLINE void from(const shape_t&, shared_t, shared_t, float (&)[NT][4]) {
    wait_for_products();
  }
};
