/*
 * Computes a window by warpgroups (warpgroup_matrix.cuh). Both factors are in shared memory. A block
 * loads its weights before the wait and its pixels after it. A step is 128 bytes of each pixel that
 * a tap reads. All pixels are requested at once, and each step of a window of one pixel has its own
 * buffer, so the products of a step begin as soon as its bytes arrive. SPLIT blocks of a cluster
 * share a sum. Each of them finishes the same number of the tile's outputs and sends its sums of the
 * other outputs to the blocks that finish these.
 *
 * Follows outputs.cuh. The source before this file defines:
 *   GROUPS     warpgroups of a block, of 64 pixels each
 *   NT         tiles of 8 outputs, a multiple of SPLIT
 *   SPLIT      blocks of a cluster
 *   STEPS      steps of a block
 *   EXACT      1 if the channels fill the last step
 *   ADDS_BIAS  1 if the convolution has a bias
 *   V          adjacent outputs that a thread finishes: 4, or 2 if a block finishes one tile
 * It also defines the functions of the slot: operands_t, read_constants, read_operands, finish.
 * Weights are packed so that a lane has four adjacent outputs in each pair of tiles.
 */
enum {
  PUSHED_AT = WEIGHTS_AT + STEPS * STEP_BYTES,
  PIXELS_AT = PUSHED_AT + (SPLIT - 1) * OWN * THREADS * 16,
  /* Few weights arrive in time even if the next launch begins after the wait of this one. With a
   * later release, at most two launches occupy shared memory at the same time. */
  RELEASES_LATE = STEPS * STEP_BYTES <= 32 << 10
};

/* Multiplies chunk K and all later chunks, each as soon as it has arrived. */
template <int K>
struct multiplied_t {
  INLINE void from(const shape_t& s, shared_t weights, shared_t pixels, float (&sums)[NT][4]) {
    wait_for_copies_but<CHUNKS - 1 - K>();
    publish_copies();
    __syncthreads();
    multiply_chunk(s, weights, pixels, sums);
    multiplied_t<K + 1>::from(s, weights + TAPS * STEP_BYTES, pixels + chunk_bytes(s), sums);
  }
};
template <>
struct multiplied_t<CHUNKS> {
  INLINE void from(const shape_t&, shared_t, shared_t, float (&)[NT][4]) {
    wait_for_products();
  }
};

/* Copies the sums of the block's own tiles to `own` and sends the others to their blocks. */
INLINE void exchange(shared_t base, int part, const float (&sums)[NT][4], float (&own)[OWN][4]) {
#pragma unroll
  for (int to = 0; to < SPLIT; ++to) {
    if (to == part) {
#pragma unroll
      for (int k = 0; k < OWN * 4; ++k) {
        own[k / 4][k % 4] = sums[to * OWN + k / 4][k % 4];
      }
      continue;
    }
    const int sender = (part + SPLIT - to) % SPLIT - 1;
    const shared_t barrier = there(base, to);
    const shared_t at = there(base + PUSHED_AT, to);
#pragma unroll
    for (int n = 0; n < OWN; ++n) {
      push(at + ((sender * OWN + n) * THREADS + threadIdx.x) * 16, barrier, sums[to * OWN + n]);
    }
  }
}
INLINE void add_pushed(const unsigned char* pushed, float (&own)[OWN][4]) {
#pragma unroll
  for (int k = 0; k < (SPLIT - 1) * OWN; ++k) {
    const float4 x = *(const float4*)(pushed + (k * THREADS + threadIdx.x) * 16);
    own[k % OWN][0] += x.x;
    own[k % OWN][1] += x.y;
    own[k % OWN][2] += x.z;
    own[k % OWN][3] += x.w;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    convolve(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  const shape_t& s = p.shape;
  const shared_t base = shared_of(memory);
  const int part = (int)(blockIdx.x % SPLIT);
  const unsigned tile = quotient(s.column_tiles, blockIdx.x / SPLIT);
  const int first = (int)(blockIdx.x / SPLIT - tile * s.column_tiles.extent) * TILE_N;
  if (SPLIT > 1) {
    if (threadIdx.x == 0) {
      expect_pushes(base, (SPLIT - 1) * OWN * THREADS * 16);
    }
    begin_meeting();
  }
  copy_weights(s, base + WEIGHTS_AT, first, part);
  if (!RELEASES_LATE) {
    release_dependents();
  }
  const origin_t origin = origin_of(s, tile);
  results_t results;
  begin_results(p, origin, first, part * OWN, results);
  if (SPLIT > 1) {
    end_meeting();
  }
  wait_for_predecessors();
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k) {
    copy_chunk(s, base + PIXELS_AT + k * chunk_bytes(s), origin, part * CHUNKS + k);
    end_copies(); /* the first group has the weights as well */
  }
  if (RELEASES_LATE) {
    release_dependents();
  }
  read_results(p, results);
  float sums[NT][4];
#pragma unroll
  for (int k = 0; k < NT * 4; ++k) {
    sums[k / 4][k % 4] = 0.0f;
  }
  multiplied_t<0>::from(s, base + WEIGHTS_AT,
                        base + PIXELS_AT + (int)threadIdx.x / 128 * 64 * ROW_BYTES, sums);
  float own[OWN][4];
  exchange(base, part, sums, own);
  if (SPLIT > 1) {
    wait_for_pushes(base);
    add_pushed(memory + PUSHED_AT, own);
  }
  finish_results(p, results, own);
}
