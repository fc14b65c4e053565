/* A row's sums as its result, by the warp itself or by all that share its keys. */
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
INLINE void store_results(const shape_t& s, element_t* row, int column, const float (&x)[N]) {
  words_t<element_t, N> words;
#pragma unroll
  for (int j = 0; j < N; j += EACH) {
#if SINGLE
    words.elements[j] = __float_as_uint(x[j]);
#else
    const unsigned pair = narrow_pair(x[j], x[j + 1]);
    words.elements[j] = (u16)pair;
    words.elements[j + 1] = (u16)(pair >> 16);
#endif
  }
  if (s.wide_y) {
    typename word_t<words_t<element_t, N>::WORD>::type* to =
        (typename word_t<words_t<element_t, N>::WORD>::type*)(row + column);
#pragma unroll
    for (int k = 0; k < words_t<element_t, N>::BYTES / words_t<element_t, N>::WORD; ++k) {
      to[k] = words.words[k];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    row[(column + j) * s.lines[3].feature] = words.elements[j];
  }
}

/* What a lane has of a row in the tiles [first, first + RUN): neighbours, from column_of on. */
template <int RUN>
INLINE void gather_run(const float (&sums)[COLUMNS][4], int first, int half, float (&x)[2 * RUN]) {
#pragma unroll
  for (int j = 0; j < RUN; ++j) {
    x[j] = sums[first + j][half * 2];
    x[RUN + j] = sums[first + j][half * 2 + 1];
  }
}

#if KEY_WARPS == 1
template <int RUN>
INLINE void store_run(const shape_t& s, const lane_t& lane, element_t* row, int first,
                      const float (&sums)[COLUMNS][4], int half, const ending_t& e) {
  float x[2 * RUN];
  gather_run<RUN>(sums, first, half, x);
#pragma unroll
  for (int j = 0; j < 2 * RUN; ++j) {
    x[j] = ended(e, x[j]);
  }
  store_results(s, row, column_of(first, lane.quarter * 2), x);
}
INLINE void end_warp(const parameters_t& p, const lane_t& lane, element_t* y, int query,
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
      element_t* to = y + row * s.lines[3].row;
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
template <int RUN>
INLINE void leave_run(const lane_t& lane, float* row, int first, const float (&sums)[COLUMNS][4],
                      int half) {
  float x[2 * RUN];
  float2* to = (float2*)(row + column_of(first, lane.quarter * 2));
  gather_run<RUN>(sums, first, half, x);
#pragma unroll
  for (int k = 0; k < RUN; k += 2) {
    if (RUN == 1) {
      to[0] = {x[0], x[1]};
    } else {
      ((float4*)to)[k / 2] = {x[2 * k], x[2 * k + 1], x[2 * k + 2], x[2 * k + 3]};
    }
  }
}
INLINE void leave(const lane_t& lane, const state_t& state, float* sums) {
  float* tops = sums + QUERIES * SUMS_PITCH;
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8 + lane.row;
      const float total = sum_of_row(state.total[i][half]);
      float* to = sums + row * SUMS_PITCH;
      if (lane.quarter == 0) {
        tops[row] = state.top[i][half];
        tops[QUERIES + row] = total;
      }
#pragma unroll
      for (int j = 0; j + 8 <= COLUMNS; j += 8) {
        leave_run<8>(lane, to, j, state.sums[i], half);
      }
#if E / 8 % 8 >= 4
      leave_run<4>(lane, to, E / 64 * 8, state.sums[i], half);
#endif
#if E / 8 % 4 >= 2
      leave_run<2>(lane, to, E / 32 * 4, state.sums[i], half);
#endif
#if E / 8 % 2 == 1
      leave_run<1>(lane, to, COLUMNS - 1, state.sums[i], half);
#endif
    }
  }
}
INLINE void join_piece(const shape_t& s, const float* sums, int row, int column, element_t* to) {
  float x[8];
  float top = -INFINITE;
  float total = 0.0f;
#pragma unroll
  for (int part = 0; part < KEY_WARPS; ++part) {
    top = fmaxf(top, sums[part * SUMS + QUERIES * SUMS_PITCH + row]);
  }
  const float relative = relative_to(top);
#pragma unroll
  for (int part = 0; part < KEY_WARPS; ++part) {
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
INLINE void join_parts(const parameters_t& p, const float* sums, element_t* y, int first) {
  for (int n = threadIdx.x; n < QUERY_WARPS * QUERIES * COLUMNS; n += THREADS) {
    const int row = n / COLUMNS;
    const int query = first + row;
    if (query < p.shape.queries) {
      join_piece(p.shape, sums + row / QUERIES * KEY_WARPS * SUMS, row % QUERIES, n % COLUMNS * 8,
                 y + query * p.shape.lines[3].row);
    }
  }
}
#endif
