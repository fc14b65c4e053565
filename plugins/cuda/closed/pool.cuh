/*
 * Pools over two spatial axes where channels lie innermost: a thread has 16 bytes of them of one
 * pixel of the result. p.number is as in windows.cuh, of the last two axes.
 */
#define X_DIM(k) ((index_t)p.number[1 + (k)])
#define Y_DIM(k) ((index_t)p.number[4 + (k)])
#define TAP_DIM(k) ((int)p.number[7 + (k)])
#define STRIDE(k) ((int)p.number[10 + (k)])
#define DILATION(k) ((int)p.number[13 + (k)])
#define BEFORE(k) ((int)p.number[16 + (k)])
#define BEHIND(k) ((int)p.number[19 + (k)])
#define CHANNELS ((index_t)p.number[21])

constexpr int PIECE = 16 / (int)sizeof(IN0_STORED);
typedef several_t<IN0_STORED, PIECE> piece_t;

/* Counts in 32 bits wherever they fit: a division of 64 takes as long as all else. */
template <class index_t>
INLINE void pool_all(const parameters_t& p) {
  const index_t pieces = CHANNELS / PIECE;
  const index_t count = (index_t)(p.out[0].count / PIECE);
  const piece_t* from = (const piece_t*)p.in[0].data;
  piece_t* to = (piece_t*)p.out[0].data;
  for (index_t i = (index_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += (index_t)gridDim.x * blockDim.x) {
    const index_t pixel = i / pieces;
    const index_t row = pixel / Y_DIM(1);
    const int x0 = (int)(pixel % Y_DIM(1)) * STRIDE(1) - BEFORE(1);
    const int y0 = (int)(row % Y_DIM(0)) * STRIDE(0) - BEFORE(0);
    const piece_t* image = from + row / Y_DIM(0) * X_DIM(0) * X_DIM(1) * pieces + i % pieces;
    float found[PIECE];
    int inside = 0;
    int covered = 0;
#pragma unroll
    for (int k = 0; k < PIECE; ++k) {
#if OP_max_pool
      found[k] = -__uint_as_float(0x7F800000u);
#else
      found[k] = 0;
#endif
    }
    for (int a = 0; a < TAP_DIM(0); ++a) {
      const int y = y0 + a * DILATION(0);
      for (int b = 0; b < TAP_DIM(1); ++b) {
        const int x = x0 + b * DILATION(1);
        covered += y < (int)X_DIM(0) + BEHIND(0) && x < (int)X_DIM(1) + BEHIND(1) ? 1 : 0;
        if (y < 0 || y >= (int)X_DIM(0) || x < 0 || x >= (int)X_DIM(1)) {
          continue;
        }
        const piece_t piece = image[((index_t)y * X_DIM(1) + (index_t)x) * pieces];
        ++inside;
#pragma unroll
        for (int k = 0; k < PIECE; ++k) {
          const float value = IN0_VALUE(piece.item[k]);
#if OP_max_pool
          found[k] = value > found[k] || value != value ? value : found[k]; /* NaN stays */
#else
          found[k] += value;
#endif
        }
      }
    }
    piece_t result;
#pragma unroll
    for (int k = 0; k < PIECE; ++k) {
#if OP_average_pool
      const int of = A_count_include_pad ? covered : inside;
      found[k] = of == 0 ? 0.0f : found[k] / (float)of;
#endif
      result.item[k] = OUT0_STORE(found[k]);
    }
    to[i] = result;
  }
}

KERNEL pool_last(const __grid_constant__ parameters_t p) {
  begin(p);
  if (p.out[0].count < (i64)1 << 31 && p.in[0].count < (i64)1 << 31) {
    pool_all<unsigned>(p);
  } else {
    pool_all<i64>(p);
  }
}
