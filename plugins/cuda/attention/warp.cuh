/* What a warp does with a tile of keys: scores, powers, and values added up. */
struct state_t {
  float top[TILES][2];   /* the largest score of a row so far */
  float total[TILES][2]; /* the lane's part of the sum */
  float sums[TILES][COLUMNS][4];
};
INLINE void clear(state_t& state) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      state.top[i][half] = -INFINITE;
      state.total[i][half] = 0.0f;
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        state.sums[i][j][k] = 0.0f;
      }
    }
  }
}

/* Over the four lanes of a row. */
INLINE float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}
INLINE float sum_of_row(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}
/* What scores are taken relative to: of rows that have none 0, so that e^-inf is 0. */
INLINE float relative_to(float top) { return top == -INFINITE ? 0.0f : top * LOG2_E; }
INLINE float power(float score, float relative) {
  return exp2f(__fmaf_rn(score, LOG2_E, -relative));
}

typedef float scores_t[TILES][GROUPS][2][V];

/* Data of a tile that are read before the products: keys, unless they are staged, and operands of
 * the scores, if READS_AHEAD. Operands of more than 128 bytes, and operands in tf32, would spill
 * registers. */
typedef operands_t tile_operands_t[TILES][GROUPS][2];
enum { READS_AHEAD = !STAGED && !SINGLE && sizeof(tile_operands_t) <= 128 };
struct tile_t {
#if !STAGED
  unsigned k[GROUPS][2][WORDS];
#endif
  tile_operands_t operands;
};
template <bool WIDE>
INLINE void read_tile(const parameters_t& p, const lane_t& lane, const source_t& from,
                      const place_t& block, int query, int first, tile_t& tile) {
#if !STAGED
#pragma unroll
  for (int n = 0; n < GROUPS * 2; ++n) {
    load_key<WIDE>(from, 0, first, p.shape.keys, key_of(n / 2, n % 2, lane.row), lane.quarter,
                   tile.k[n / 2][n % 2]);
  }
#endif
#pragma unroll
  for (int n = 0; READS_AHEAD && n < GROUPS; ++n) {
#pragma unroll
    for (int k = 0; k < TILES * 2; ++k) {
      place_t place;
      find_place(p, block, query + k * 8, first + n * 16 + lane.quarter * V, place);
      read_operands(p, place, tile.operands[k / 2][n][k % 2]);
    }
  }
}

/* Computes the scores of a tile of keys: q k^T, then the region's arithmetic. */
template <bool WIDE>
INLINE void find_scores(const parameters_t& p, const lane_t& lane, const source_t& from,
                        const unsigned char* staged, const tile_t& tile, const place_t& block,
                        const uniforms_t& uniforms, int query, int first,
                        const unsigned (&q)[TILES][2][WORDS], scores_t& scores) {
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#if STAGED
      unsigned key[WORDS];
      load_key<WIDE>(from, staged, first, p.shape.keys, key_of(n, half, lane.row), lane.quarter,
                     key);
#else
      const unsigned(&key)[WORDS] = tile.k[n][half];
#endif
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int w = 0; w < WORDS; w += 2) {
          const unsigned left[4] = {q[i][0][w], q[i][1][w], q[i][0][w + 1], q[i][1][w + 1]};
          multiply(sums, left, key[w], key[w + 1]);
        }
        scores[i][n][0][half * 2] = sums[0];
        scores[i][n][0][half * 2 + 1] = sums[1];
        scores[i][n][1][half * 2] = sums[2];
        scores[i][n][1][half * 2 + 1] = sums[3];
      }
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        place_t place;
        operands_t operands;
        find_place(p, block, query + i * 16 + half * 8, first + n * 16 + lane.quarter * V, place);
        if (!READS_AHEAD) {
          read_operands(p, place, operands);
        }
        score(p, place, uniforms, READS_AHEAD ? tile.operands[i][n][half] : operands,
              scores[i][n][half]);
      }
    }
  }
}

/* Scores become powers relative to the largest so far; what was added up before follows. */
INLINE void find_powers(state_t& state, scores_t& scores) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = -INFINITE;
#pragma unroll
      for (int n = 0; n < GROUPS; ++n) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
          top = fmaxf(top, scores[i][n][half][j]);
        }
      }
      top = fmaxf(state.top[i][half], largest_of_row(top));
      const float relative = relative_to(top);
      float total = 0.0f;
#pragma unroll
      for (int n = 0; n < GROUPS; ++n) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
          scores[i][n][half][j] = power(scores[i][n][half][j], relative);
          total += scores[i][n][half][j];
        }
      }
#if ONCE
      state.total[i][half] = total;
#else
      const float before = power(state.top[i][half], relative);
      state.total[i][half] = state.total[i][half] * before + total;
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        state.sums[i][j][half * 2] *= before;
        state.sums[i][j][half * 2 + 1] *= before;
      }
#endif
      state.top[i][half] = top;
    }
  }
}

typedef unsigned values_t[GROUPS][4][VALUES];

template <bool WIDE>
INLINE void load_values(const lane_t& lane, const source_t& from, const unsigned char* staged,
                        int first, int keys, int n, unsigned (&out)[4][VALUES]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    load_value<WIDE>(from, staged, first, keys, n * 16 + lane.quarter * 4 + k, lane.row, out[k]);
  }
}
#if SINGLE
/* A product takes 8 keys: the two of the lane in each half of the scores. */
INLINE void add_values(state_t& state, const scores_t& powers, int n,
                       const unsigned (&v)[4][VALUES]) {
#pragma unroll
  for (int part = 0; part < 4; part += 2) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      unsigned left[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        left[k] = rounded_single(__float_as_uint(powers[i][n][k % 2][part + k / 2]));
      }
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        multiply_singles(state.sums[i][j], left, v[part][j], v[part + 1][j]);
      }
    }
  }
}
#else
/* Column j of two rows as one word. */
INLINE unsigned pair_of(const unsigned (&a)[VALUES], const unsigned (&b)[VALUES], int j) {
  return __byte_perm(a[j / 2], b[j / 2], j % 2 == 0 ? 0x5410 : 0x7632);
}
INLINE void add_values(state_t& state, const scores_t& powers, int n,
                       const unsigned (&v)[4][VALUES]) {
  unsigned left[TILES][4];
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      left[i][half] = narrow_pair(powers[i][n][half][0], powers[i][n][half][1]);
      left[i][half + 2] = narrow_pair(powers[i][n][half][2], powers[i][n][half][3]);
    }
  }
#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) {
    const unsigned upper = pair_of(v[0], v[1], j);
    const unsigned lower = pair_of(v[2], v[3], j);
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      multiply_fragments(state.sums[i][j], left[i], upper, lower);
    }
  }
}
#endif

/* Values are asked for ahead of the scores where there are registers for them. */
template <bool WIDE>
INLINE void add_tile(const parameters_t& p, const lane_t& lane, const source_t& from,
                     const unsigned char* staged, const place_t& block, const uniforms_t& uniforms,
                     int query, int first, const unsigned (&q)[TILES][2][WORDS], state_t& state) {
  const int keys = p.shape.keys;
  scores_t scores;
  tile_t tile;
  read_tile<WIDE>(p, lane, from, block, query, first, tile);
#if !STAGED && GROUPS * E * BYTES <= 256
  values_t v;
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
    load_values<WIDE>(lane, from, staged, first, keys, n, v[n]);
  }
#endif
  find_scores<WIDE>(p, lane, from, staged, tile, block, uniforms, query, first, q, scores);
  find_powers(state, scores);
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
#if !STAGED && GROUPS * E * BYTES <= 256
    add_values(state, scores, n, v[n]);
#else
    unsigned v[4][VALUES];
    load_values<WIDE>(lane, from, staged, first, keys, n, v);
    add_values(state, scores, n, v);
#endif
  }
}
