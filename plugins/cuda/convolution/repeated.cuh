/*
 * Computes windows of more than one pixel by warpgroups, where there are many pixels of few channels.
 * There are as many blocks as fit at once. A block keeps the weights of its outputs in shared memory
 * and computes every n-th tile of pixels. While it multiplies a chunk of a patch, it copies the next
 * one, of the same tile or of its next tile, into the other of two buffers.
 *
 * Follows outputs.cuh. The source before this file defines the constants that warpgroup.cuh lists. SPLIT
 * is 1.
 */
enum { PIXELS_AT = WEIGHTS_AT + STEPS * STEP_BYTES, BLOCKS = GROUPS == 1 ? 3 : 2 };

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    convolve(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  const shape_t& s = p.shape;
  const shared_t base = shared_of(memory);
  const shared_t pixels = base + PIXELS_AT;
  unsigned tile = quotient(s.column_tiles, blockIdx.x);
  const int first = (int)(blockIdx.x - tile * s.column_tiles.extent) * TILE_N;
  const unsigned stride = quotient(s.column_tiles, gridDim.x);
  copy_weights(s, base + WEIGHTS_AT, first, 0);
  origin_t origin = origin_of(s, tile);
  wait_for_predecessors();
  copy_chunk(s, pixels, origin, 0);
  end_copies();
  release_dependents();
  int buffer = 0;
  for (; tile < (unsigned)s.tiles; tile += stride) {
    const bool is_last = tile + stride >= (unsigned)s.tiles;
    const origin_t next = origin_of(s, is_last ? tile : tile + stride);
    results_t results;
    begin_results(p, origin, first, 0, results);
    read_results(p, results);
    float sums[NT][4];
#pragma unroll
    for (int k = 0; k < NT * 4; ++k) {
      sums[k / 4][k % 4] = 0.0f;
    }
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
      wait_for_copies_but<0>();
      publish_copies();
      __syncthreads(); /* all threads have copied this chunk, and multiplied the one before */
      const shared_t other = pixels + (buffer ^ 1) * chunk_bytes(s);
      if (chunk + 1 < CHUNKS) {
        copy_chunk(s, other, origin, chunk + 1);
      } else if (!is_last) {
        copy_chunk(s, other, next, 0);
      }
      end_copies();
      multiply_chunk(s, base + WEIGHTS_AT + chunk * TAPS * STEP_BYTES,
                     pixels + buffer * chunk_bytes(s) +
                         (int)threadIdx.x / 128 * 64 * ROW_BYTES,
                     sums);
      wait_for_products();
      buffer ^= 1;
    }
    finish_results(p, results, sums);
    origin = next;
  }
}
