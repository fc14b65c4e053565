/*
 * softmax(f(q k^T)) v. A warp has TILES times 16 queries and goes over keys in tiles of 16 GROUPS,
 * with the largest score and the sum of a row so far; PARTS warps share the keys of a row and meet
 * in shared memory, ROWS of them have other rows. The text in front defines these, D and E (features
 * of q and k, and of v, in steps of 8), ONCE (each warp has one tile of keys), STAGED (keys and
 * values come through shared memory, for all warps of a block) and HOPELESS.
 *
 * Which feature is which place of a sum does not matter as long as both factors agree, nor which
 * column of v is which of a product, nor which key which row. So a lane has what lies together:
 *   of a row of q or k    8 neighbouring features of 32 (then 4 of 16, 2 of 8): four words
 *   of the scores         4 neighbouring keys of 16, in two tiles of 8 columns
 *   of four rows of v     8 neighbouring columns of 64 (then 4 of 32, 2 of 16, 1 of 8), and of the
 *                         result, in one row, 16 of 64
 */
enum {
  WORDS = (D + 15) / 16 * 2, /* of a row of q or k, two features each */
  COLUMNS = E / 8,           /* tiles of v */
  VALUES = (COLUMNS + 1) / 2,
  KEYS = 16 * GROUPS,
  QUERIES = 16 * TILES,
  THREADS = 32 * ROWS * PARTS,
  /* In shared memory: bytes from one row to the next. Two rows of k, and four of v that are four
   * rows apart, lie in different banks. */
  K_PITCH = (2 * D + 63) / 64 % 2 == 1 ? (2 * D + 63) / 64 * 64 : ((2 * D + 63) / 64 + 1) * 64,
  V_PITCH = (2 * E + 31) / 32 * 32,
  K_BYTES = KEYS * K_PITCH,
  V_BYTES = KEYS * V_PITCH + KEYS / 4 * 32,
  SUMS_PITCH = E + 4, /* floats */
  SUMS = QUERIES * (SUMS_PITCH + 2)
};
#define LOG2_E 1.4426950408889634f

struct lane_t {
  int row;     /* of 8 */
  int quarter; /* of a row */
};

/* ---- Which elements a lane has ---- */

/* The first feature of its word w of q and k. */
INLINE int feature_of(int w, int quarter) {
  const int fours = D / 32 * 4;
  const int twos = fours + D % 32 / 16 * 2;
  return w < fours  ? w / 4 * 32 + quarter * 8 + w % 4 * 2
         : w < twos ? fours * 8 + quarter * 4 + (w - fours) * 2
                    : twos * 8 + quarter * 2;
}
/* Where the run of tiles of v that holds tile j begins, and how many it is: 8, 4, 2 or 1. */
INLINE int run_of(int j) {
  return j < COLUMNS / 8 * 8 ? 8 : j < COLUMNS / 4 * 4 ? 4 : j < COLUMNS / 2 * 2 ? 2 : 1;
}
/* The column of v that is column `row` of tile j. */
INLINE int column_of(int j, int row) {
  const int run = run_of(j);
  return j / run * run * 8 + row * run + j % run;
}

/* ---- Reading rows ---- */

/* The lane's words of a row of q or k; zeros where there is none. */
template <bool WIDE>
INLINE void load_features(const u16* row, i64 step, bool inside, int quarter,
                          unsigned (&out)[WORDS]) {
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    out[w] = 0;
  }
  if (!inside) {
    return;
  }
  if (!WIDE) {
#pragma unroll
    for (int w = 0; w < D / 8; ++w) {
      const int feature = feature_of(w, quarter);
      out[w] = (unsigned)row[feature * step] | (unsigned)row[(feature + 1) * step] << 16;
    }
    return;
  }
#pragma unroll
  for (int w = 0; w + 4 <= D / 8; w += 4) {
    const uint4 four = *(const uint4*)(row + feature_of(w, quarter));
    out[w] = four.x;
    out[w + 1] = four.y;
    out[w + 2] = four.z;
    out[w + 3] = four.w;
  }
  if (D / 8 % 4 >= 2) {
    const int w = D / 32 * 4;
    const uint2 two = *(const uint2*)(row + feature_of(w, quarter));
    out[w] = two.x;
    out[w + 1] = two.y;
  }
  if (D / 8 % 2 == 1) {
    const int w = D / 8 - 1;
    out[w] = *(const unsigned*)(row + feature_of(w, quarter));
  }
}

/* The lane's columns of a row of v, tile after tile, two in a word. */
template <bool WIDE>
INLINE void load_columns(const u16* from, i64 step, bool inside, int row, unsigned (&out)[VALUES]) {
#pragma unroll
  for (int w = 0; w < VALUES; ++w) {
    out[w] = 0;
  }
  if (!inside) {
    return;
  }
  if (!WIDE) {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
      out[j / 2] |= (unsigned)from[column_of(j, row) * step] << (j % 2 * 16);
    }
    return;
  }
#pragma unroll
  for (int j = 0; j + 8 <= COLUMNS; j += 8) {
    const uint4 four = *(const uint4*)(from + column_of(j, row));
    out[j / 2] = four.x;
    out[j / 2 + 1] = four.y;
    out[j / 2 + 2] = four.z;
    out[j / 2 + 3] = four.w;
  }
#if E / 8 % 8 >= 4
  const uint2 two = *(const uint2*)(from + column_of(E / 64 * 8, row));
  out[E / 64 * 4] = two.x;
  out[E / 64 * 4 + 1] = two.y;
#endif
#if E / 8 % 4 >= 2
  out[E / 32 * 2] = *(const unsigned*)(from + column_of(E / 32 * 4, row));
#endif
#if E / 8 % 2 == 1
  out[COLUMNS / 2] = from[column_of(COLUMNS - 1, row)];
#endif
}

/* ---- Where rows are ---- */

/* Keys and values of a block: in memory, or a tile of them in shared memory. */
struct source_t {
  const u16* k;
  const u16* v;
  i64 k_row;
  i64 k_feature;
  i64 v_row;
  i64 v_feature;
};

#if STAGED
/* 16 bytes of a row, as they lie or gathered. */
template <bool WIDE>
INLINE void stage_piece(unsigned char* to, const u16* rows, i64 row, i64 step, int key, int piece,
                        bool inside) {
  if (WIDE) {
    copy_16(shared_of(to), inside ? rows + key * row + piece * 8 : rows, inside ? 16 : 0);
    return;
  }
  words_t<u16, 8> words;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    words.elements[j] = inside ? rows[key * row + (piece * 8 + j) * step] : (u16)0;
  }
  *(uint4*)to = words.words[0];
}
/* A tile of keys and values, by all threads of the block. */
template <bool WIDE>
INLINE void stage(const source_t& from, int first, int keys, unsigned char* to) {
  for (int n = threadIdx.x; n < KEYS * (D / 8); n += THREADS) {
    const int row = n / (D / 8);
    const int piece = n % (D / 8);
    stage_piece<WIDE>(to + row * K_PITCH + piece * 16, from.k, from.k_row, from.k_feature,
                      first + row, piece, first + row < keys);
  }
  for (int n = threadIdx.x; n < KEYS * (E / 8); n += THREADS) {
    const int row = n / (E / 8);
    const int piece = n % (E / 8);
    stage_piece<WIDE>(to + K_BYTES + row * V_PITCH + row / 4 * 32 + piece * 16, from.v, from.v_row,
                      from.v_feature, first + row, piece, first + row < keys);
  }
}
#endif

/* The lane's words of the key that is column `row` of half `half` of a group of 16. */
INLINE int key_of(int group, int half, int row) {
  return group * 16 + row / 2 * 4 + half * 2 + row % 2;
}
template <bool WIDE>
INLINE void load_key(const source_t& from, const unsigned char* staged, int first, int keys,
                     int key, int quarter, unsigned (&out)[WORDS]) {
#if STAGED
  load_features<true>((const u16*)(staged + key * K_PITCH), 1, true, quarter, out);
#else
  load_features<WIDE>(from.k + (first + key) * from.k_row, from.k_feature, first + key < keys,
                      quarter, out);
#endif
}
template <bool WIDE>
INLINE void load_value(const source_t& from, const unsigned char* staged, int first, int keys,
                       int key, int row, unsigned (&out)[VALUES]) {
#if STAGED
  load_columns<true>((const u16*)(staged + K_BYTES + key * V_PITCH + key / 4 * 32), 1, true, row,
                     out);
#else
  load_columns<WIDE>(from.v + (first + key) * from.v_row, from.v_feature, first + key < keys, row,
                     out);
#endif
}

/* ---- A warp's rows ---- */

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

/* q k^T of a tile of keys, and what is done to it. */
template <bool WIDE>
INLINE void find_scores(const parameters_t& p, const lane_t& lane, const source_t& from,
                        const unsigned char* staged, const place_t& block,
                        const uniforms_t& uniforms, int query, int first,
                        const unsigned (&q)[TILES][2][WORDS], scores_t& scores) {
  const int keys = p.shape.keys;
#if !STAGED
  unsigned k[GROUPS][2][WORDS];
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      load_key<WIDE>(from, staged, first, keys, key_of(n, half, lane.row), lane.quarter,
                     k[n][half]);
    }
  }
#endif
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#if STAGED
      unsigned key[WORDS];
      load_key<WIDE>(from, staged, first, keys, key_of(n, half, lane.row), lane.quarter, key);
#else
      const unsigned(&key)[WORDS] = k[n][half];
#endif
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int w = 0; w < WORDS; w += 2) {
          const unsigned left[4] = {q[i][0][w], q[i][1][w], q[i][0][w + 1], q[i][1][w + 1]};
          multiply_fragments(sums, left, key[w], key[w + 1]);
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
        read_operands(p, place, operands);
        score(p, place, uniforms, operands, scores[i][n][half]);
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

/* Values are asked for ahead of the scores where there are registers for them. */
template <bool WIDE>
INLINE void add_tile(const parameters_t& p, const lane_t& lane, const source_t& from,
                     const unsigned char* staged, const place_t& block, const uniforms_t& uniforms,
                     int query, int first, const unsigned (&q)[TILES][2][WORDS], state_t& state) {
  const int keys = p.shape.keys;
  scores_t scores;
#if !STAGED && GROUPS * E <= 128
  values_t v;
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
    load_values<WIDE>(lane, from, staged, first, keys, n, v[n]);
  }
#endif
  find_scores<WIDE>(p, lane, from, staged, block, uniforms, query, first, q, scores);
  find_powers(state, scores);
#pragma unroll
  for (int n = 0; n < GROUPS; ++n) {
#if !STAGED && GROUPS * E <= 128
    add_values(state, scores, n, v[n]);
#else
    unsigned v[4][VALUES];
    load_values<WIDE>(lane, from, staged, first, keys, n, v);
    add_values(state, scores, n, v);
#endif
  }
}

/* ---- Results ---- */

/* Of a row whose powers add up to `total`. */
struct ending_t {
  float scale;
  bool is_zero;
};
INLINE ending_t end_row(float total, int keys) {
  ending_t e;
  e.is_zero = keys == 0 || (HOPELESS == 1 && total == 0.0f) || (HOPELESS == 2 && !(total > 0.0f));
  e.scale = 1.0f / total;
  return e;
}
INLINE float ended(const ending_t& e, float x) { return e.is_zero ? 0.0f : x * e.scale; }

/* N neighbouring results. */
template <int N>
INLINE void store_results(const shape_t& s, u16* row, int column, const float (&x)[N]) {
  words_t<u16, N> words;
#pragma unroll
  for (int j = 0; j < N; j += 2) {
    const unsigned pair = narrow_pair(x[j], x[j + 1]);
    words.elements[j] = (u16)pair;
    words.elements[j + 1] = (u16)(pair >> 16);
  }
  if (s.wide_y) {
    typename word_t<words_t<u16, N>::WORD>::type* to =
        (typename word_t<words_t<u16, N>::WORD>::type*)(row + column);
#pragma unroll
    for (int k = 0; k < words_t<u16, N>::BYTES / words_t<u16, N>::WORD; ++k) {
      to[k] = words.words[k];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    row[(column + j) * s.lines[3].feature] = words.elements[j];
  }
}

#if PARTS == 1
/* The lane's columns of tiles [first, first + RUN) of one row. */
template <int RUN>
INLINE void store_run(const shape_t& s, const lane_t& lane, u16* row, int first,
                      const float (&sums)[COLUMNS][4], int half, const ending_t& e) {
  float x[2 * RUN];
#pragma unroll
  for (int j = 0; j < RUN; ++j) {
    x[j] = ended(e, sums[first + j][half * 2]);
    x[RUN + j] = ended(e, sums[first + j][half * 2 + 1]);
  }
  store_results(s, row, column_of(first, lane.quarter * 2), x);
}
INLINE void end_warp(const parameters_t& p, const lane_t& lane, u16* y, int query,
                     const state_t& state) {
  const shape_t& s = p.shape;
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = sum_of_row(state.total[i][half]);
      const int row = query + i * 16 + half * 8;
      if (row >= s.queries) {
        continue;
      }
      const ending_t e = end_row(total, s.keys);
      u16* to = y + row * s.lines[3].row;
#pragma unroll
      for (int j = 0; j + 8 <= COLUMNS; j += 8) {
        store_run<8>(s, lane, to, j, state.sums[i], half, e);
      }
#if E / 8 % 8 >= 4
      store_run<4>(s, lane, to, E / 64 * 8, state.sums[i], half, e);
#endif
#if E / 8 % 4 >= 2
      store_run<2>(s, lane, to, E / 32 * 4, state.sums[i], half, e);
#endif
#if E / 8 % 2 == 1
      store_run<1>(s, lane, to, COLUMNS - 1, state.sums[i], half, e);
#endif
    }
  }
}
#else
/* The warps that share keys meet: each leaves its rows, then threads have 8 columns of a row. */
INLINE void leave(const lane_t& lane, const state_t& state, float* sums) {
  float* tops = sums + QUERIES * SUMS_PITCH;
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8 + lane.row;
      const float total = sum_of_row(state.total[i][half]);
      if (lane.quarter == 0) {
        tops[row] = state.top[i][half];
        tops[QUERIES + row] = total;
      }
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        sums[row * SUMS_PITCH + column_of(j, lane.quarter * 2)] = state.sums[i][j][half * 2];
        sums[row * SUMS_PITCH + column_of(j, lane.quarter * 2 + 1)] =
            state.sums[i][j][half * 2 + 1];
      }
    }
  }
}
INLINE void join_piece(const shape_t& s, const float* sums, int row, int column, u16* to) {
  float x[8];
  float top = -INFINITE;
  float total = 0.0f;
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
    top = fmaxf(top, sums[part * SUMS + QUERIES * SUMS_PITCH + row]);
  }
  const float relative = relative_to(top);
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
    const float* tops = sums + part * SUMS + QUERIES * SUMS_PITCH + row;
    const float* from = sums + part * SUMS + row * SUMS_PITCH + column;
    const float weight = power(tops[0], relative);
    const float4 low = *(const float4*)from;
    const float4 high = *(const float4*)(from + 4);
    const float eight[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    total += tops[QUERIES] * weight;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      x[j] = part == 0 ? eight[j] * weight : x[j] + eight[j] * weight;
    }
  }
  const ending_t e = end_row(total, s.keys);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    x[j] = ended(e, x[j]);
  }
  store_results(s, to, column, x);
}
INLINE void join_parts(const parameters_t& p, const float* sums, u16* y, int first) {
  for (int n = threadIdx.x; n < ROWS * QUERIES * COLUMNS; n += THREADS) {
    const int row = n / COLUMNS;
    const int query = first + row;
    if (query < p.shape.queries) {
      join_piece(p.shape, sums + row / QUERIES * PARTS * SUMS, row % QUERIES, n % COLUMNS * 8,
                 y + query * p.shape.lines[3].row);
    }
  }
}
#endif

/* ---- The kernel ---- */

/* Where a block's heads begin in q, k, v and y. */
INLINE i64 heads_of(const lines_t& lines, const place_t& block) {
  i64 offset = 0;
#pragma unroll
  for (int axis = 0; axis < AXES - 2; ++axis) {
    offset += block.at[axis] * lines.outer[axis];
  }
  return offset;
}

template <bool WIDE>
INLINE void attend_block(const parameters_t& p, unsigned char* memory) {
  const shape_t& s = p.shape;
  const int warp = threadIdx.x / 32;
  const lane_t lane = {(int)threadIdx.x % 32 / 4, (int)threadIdx.x % 4};
  place_t block;
  const int first_query = (int)find_block(p, block) * (ROWS * QUERIES);
  const int query = first_query + warp / PARTS * QUERIES + lane.row;
  const u16* from_q = s.q + heads_of(s.lines[0], block);
  const source_t from = {s.k + heads_of(s.lines[1], block), s.v + heads_of(s.lines[2], block),
                         s.lines[1].row, s.lines[1].feature, s.lines[2].row, s.lines[2].feature};
  u16* y = s.y + heads_of(s.lines[3], block);
  wait_for_predecessors();
  release_dependents(); /* not before: a chain of such kernels would stand in its own way */
  uniforms_t uniforms;
  read_uniforms(p, uniforms);
#if STAGED
  stage<WIDE>(from, 0, s.keys, memory);
  end_copies();
#endif
  unsigned q[TILES][2][WORDS];
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = query + i * 16 + half * 8;
      load_features<WIDE>(from_q + row * s.lines[0].row, s.lines[0].feature, row < s.queries,
                          lane.quarter, q[i][half]);
    }
  }
  state_t state;
  clear(state);
#if STAGED
  int buffer = 0;
#pragma unroll 1
  for (int first = 0; first < s.keys; first += KEYS) {
    if (first + KEYS < s.keys) {
      stage<WIDE>(from, first + KEYS, s.keys, memory + (1 - buffer) * (K_BYTES + V_BYTES));
    }
    end_copies();
    wait_for_older_copies();
    __syncthreads();
    add_tile<WIDE>(p, lane, from, memory + buffer * (K_BYTES + V_BYTES), block, uniforms, query,
                   first, q, state);
    __syncthreads();
    buffer = 1 - buffer;
  }
#elif ONCE
  add_tile<WIDE>(p, lane, from, memory, block, uniforms, query, warp % PARTS * KEYS, q, state);
#else
#pragma unroll 1
  for (int first = warp % PARTS * KEYS; first < s.keys; first += PARTS * KEYS) {
    add_tile<WIDE>(p, lane, from, memory, block, uniforms, query, first, q, state);
  }
#endif
#if PARTS == 1
  end_warp(p, lane, y, query, state);
#else
  leave(lane, state, (float*)memory + warp * SUMS);
  __syncthreads();
  join_parts(p, (const float*)memory, y, first_query);
#endif
}

/* Rows of 16 bytes' words; and whatever lies otherwise. */
extern "C" __global__ void __launch_bounds__(THREADS) attend(const __grid_constant__
                                                             parameters_t p) {
  SHARED_BYTES(memory);
  attend_block<true>(p, memory);
}
extern "C" __global__ void __launch_bounds__(THREADS) attend_any(const __grid_constant__
                                                                 parameters_t p) {
  SHARED_BYTES(memory);
  attend_block<false>(p, memory);
}
