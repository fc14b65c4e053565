/*
 * A tile of the result, for all forms of convolution: TILE_M pixels and TILE_N outputs. The text in
 * front defines MT, NT (tiles of 16 and 8 that a warp multiplies), WN (warps beside one another
 * along the outputs), WK (warps that share the sum), STEPS (of the sum that a warp keeps weights of),
 * ADDS_BIAS, SPREAD (a tap of each output after the other: they go to the pixels of a window), and
 * what the slot does: operands_t, read_constants, read_operands, finish.
 *
 * The warps' sums meet in shared memory; then each thread has V neighbouring outputs of a pixel, and
 * of several pixels where there are fewer threads than that.
 */
enum {
  TILE_M = 16 * MT,
  TILE_N = 8 * NT * WN,
  THREADS = 32 * WN * WK,
  SUMS_PITCH = TILE_N + 8, /* no two rows that are written at once begin in one bank */
  PLACES = TILE_M * TILE_N / V,
  OWN = (PLACES + THREADS - 1) / THREADS
};

/* Of tf32 NVRTC would spill words so that one more block fits beside the others: there are few. */
#if SINGLE
#define BOUNDS __launch_bounds__(THREADS, 1)
#else
#define BOUNDS __launch_bounds__(THREADS)
#endif

struct thread_t {
  int lane;
  int along; /* which of the warps beside one another */
  int part;  /* of the sum */
};
INLINE thread_t this_thread() {
  thread_t t;
  t.lane = threadIdx.x & 31;
  t.along = (threadIdx.x >> 5) % WN;
  t.part = (threadIdx.x >> 5) / WN;
  return t;
}

/* What a thread does when the sums are there. */
struct ending_t {
  place_t at[OWN];
  operands_t operands[OWN];
  float bias[OWN][V];
};

INLINE int row_of(int k) { return (int)(threadIdx.x + k * THREADS) / (TILE_N / V); }
INLINE int column_of(int k) { return (int)(threadIdx.x + k * THREADS) % (TILE_N / V) * V; }

/* Before the wait: row `row_of(k)` of the tile is pixel (n, y, x), if `inside`. */
INLINE void begin_ending(const parameters_t& p, int k, bool inside, int n, int y, int x, int first,
                         ending_t& e) {
#if SPREAD
  const int column = first + column_of(k);
  const int tap = (int)quotient(p.shape.by_outputs, column);
  const int tap_y = (int)quotient(p.shape.by_kernel_x, tap);
  const int output = column - tap * p.shape.outputs;
  inside = inside && tap_y < p.shape.kernel_y;
  y = y * p.shape.kernel_y + tap_y;
  x = x * p.shape.kernel_x + tap - tap_y * p.shape.kernel_x;
#else
  const int output = first + column_of(k);
#endif
  locate(p, inside && row_of(k) < TILE_M, n, output, y, x, e.at[k]);
  read_constants(p, e.at[k], e.operands[k]);
#if ADDS_BIAS
  fetch(p.shape.bias + output, 1, 1, V, e.bias[k]);
#endif
}
/* Behind it, while the products wait for what they multiply. */
INLINE void read_all_operands(const parameters_t& p, ending_t& e) {
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    read_operands(p, e.at[k], e.operands[k]);
  }
}

INLINE void clear(float (&sums)[MT][NT][4]) {
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int n = 0; n < NT; ++n) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        sums[i][n][k] = 0.0f;
      }
    }
  }
}

INLINE void end_tile(const parameters_t& p, const thread_t& t, unsigned char* memory,
                     const float (&sums)[MT][NT][4], const ending_t& e) {
  float* all = (float*)(memory + p.shape.sums_at);
  if (p.shape.sums_overlap) {
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < MT; ++i) {
#pragma unroll
    for (int n = 0; n < NT; ++n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = t.part * TILE_M + i * 16 + half * 8 + t.lane / 4;
        float2 two;
        two.x = sums[i][n][2 * half];
        two.y = sums[i][n][2 * half + 1];
        *(float2*)(all + row * SUMS_PITCH + (t.along * NT + n) * 8 + t.lane % 4 * 2) = two;
      }
    }
  }
  __syncthreads();
  u64 fault = 0;
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    if (PLACES % THREADS != 0 && row_of(k) >= TILE_M) {
      continue;
    }
    const float* from = all + row_of(k) * SUMS_PITCH + column_of(k);
    float sum[V];
#pragma unroll
    for (int part = 0; part < WK; ++part) {
      const float4 four = *(const float4*)(from + part * TILE_M * SUMS_PITCH);
      sum[0] = part == 0 ? four.x : sum[0] + four.x;
      sum[1] = part == 0 ? four.y : sum[1] + four.y;
      sum[2] = part == 0 ? four.z : sum[2] + four.z;
      sum[3] = part == 0 ? four.w : sum[3] + four.w;
    }
#if ADDS_BIAS
#pragma unroll
    for (int j = 0; j < V; ++j) {
      sum[j] += e.bias[k][j];
    }
#endif
    fault = worse(fault, finish(p, e.at[k], e.operands[k], sum));
  }
  tell(p, fault);
}
