/*
 * The kernel if the warps of a block look at all keys of its queries at once. Each of KEY_WARPS
 * warps has KEYS of the keys for the scores. The warps then exchange the largest scores and the
 * powers of all keys, in 16 bits, through shared memory, and each warp multiplies all powers by
 * some columns of v. So no sums are added across warps. Values come through shared memory, and each
 * row of keys is read by one warp only.
 *
 * Shared memory: rows of v, rows of powers, then the largest score and the sum of the powers of
 * each row and warp. Rows are an odd number of 16 bytes apart, so 8 of them lie in different banks.
 */
enum {
  ALL_KEYS = KEY_WARPS * KEYS, /* a multiple of 32 */
  VALUE_PITCH = (COLUMNS | 1) * 16,
  POWER_PITCH = ALL_KEYS * BYTES + 16,
  POWERS_AT = ALL_KEYS * VALUE_PITCH,
  TOPS_AT = POWERS_AT + QUERIES * POWER_PITCH,
  TOTALS_AT = TOPS_AT + QUERIES * KEY_WARPS * 4,
  OWN_TILES = (COLUMNS + KEY_WARPS - 1) / KEY_WARPS
};

template <bool WIDE>
INLINE void stage_values(const source_t& from, int keys, unsigned char* memory) {
  for (int n = threadIdx.x; n < ALL_KEYS * COLUMNS; n += THREADS) {
    const int key = n / COLUMNS;
    const int piece = n % COLUMNS;
    stage_piece<WIDE>(memory + key * VALUE_PITCH + piece * 16, from.v, from.v_row, from.v_feature,
                      key, piece, key < keys);
  }
}

/* Reads one number of each warp for a row. */
INLINE void read_parts(const unsigned char* from, int row, float (&parts)[KEY_WARPS]) {
#pragma unroll
  for (int k = 0; k < KEY_WARPS; k += 4) {
    const float4 four = ((const float4*)(from + row * KEY_WARPS * 4))[k / 4];
    parts[k] = four.x;
    parts[k + 1] = four.y;
    parts[k + 2] = four.z;
    parts[k + 3] = four.w;
  }
}

/* Stores the largest score of each row among the warp's keys. */
INLINE void leave_tops(const lane_t& lane, const scores_t& scores, unsigned char* memory) {
#pragma unroll
  for (int k = 0; k < TILES * 2; ++k) {
    float top = -INFINITE;
#pragma unroll
    for (int j = 0; j < GROUPS * V; ++j) {
      top = fmaxf(top, scores[k / 2][j / V][k % 2][j % V]);
    }
    top = largest_of_row(top);
    if (lane.quarter == 0) {
      ((float*)(memory + TOPS_AT))[(k * 8 + lane.row) * KEY_WARPS + threadIdx.x / 32] = top;
    }
  }
}

/* Stores the powers of the warp's scores, relative to the largest of all, and their sums. */
INLINE void leave_powers(const lane_t& lane, const scores_t& scores, unsigned char* memory) {
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < TILES * 2; ++k) {
    const int row = k * 8 + lane.row;
    float parts[KEY_WARPS];
    float top = -INFINITE;
    float total = 0.0f;
    read_parts(memory + TOPS_AT, row, parts);
#pragma unroll
    for (int j = 0; j < KEY_WARPS; ++j) {
      top = fmaxf(top, parts[j]);
    }
    const float relative = relative_to(top);
#pragma unroll
    for (int n = 0; n < GROUPS; ++n) {
      float powers[V];
#pragma unroll
      for (int j = 0; j < V; ++j) {
        powers[j] = power(scores[k / 2][n][k % 2][j], relative);
        total += powers[j];
      }
      *(uint2*)(memory + POWERS_AT + row * POWER_PITCH +
                (warp * KEYS + n * 16 + lane.quarter * V) * BYTES) = {
          narrow_pair(powers[0], powers[1]), narrow_pair(powers[2], powers[3])};
    }
    total = sum_of_row(total);
    if (lane.quarter == 0) {
      ((float*)(memory + TOTALS_AT))[row * KEY_WARPS + warp] = total;
    }
  }
}

/* Multiplies all powers by the warp's columns of v. A warp has each KEY_WARPS-th tile of columns.
 * Even and odd groups of 16 keys have separate sums, so that two products overlap. */
INLINE void add_all_values(int keys, const unsigned char* memory,
                           float (&sums)[TILES][OWN_TILES][2][4]) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < TILES * OWN_TILES * 8; ++k) {
    sums[k / 8 / OWN_TILES][k / 8 % OWN_TILES][k / 4 % 2][k % 4] = 0.0f;
  }
#pragma unroll
  for (int first = 0; first < ALL_KEYS; first += 32) {
    if (first >= keys) {
      continue;
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      unsigned left[2][4];
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        load_matrices(left[part],
                      shared_of(memory + POWERS_AT + (i * 16 + lane % 16) * POWER_PITCH +
                                (first + part * 16 + lane / 16 * 8) * BYTES));
      }
#pragma unroll
      for (int t = 0; t < OWN_TILES; ++t) {
        const int tile = warp + t * KEY_WARPS;
        unsigned right[4];
        if (tile >= COLUMNS) {
          continue;
        }
        load_matrices_turned(right, shared_of(memory + (first + lane) * VALUE_PITCH + tile * 16));
        multiply_fragments(sums[i][t][0], left[0], right[0], right[1]);
        multiply_fragments(sums[i][t][1], left[1], right[2], right[3]);
      }
    }
  }
}

INLINE void store_all_results(const parameters_t& p, const lane_t& lane, element_t* y, int first,
                              const unsigned char* memory,
                              const float (&sums)[TILES][OWN_TILES][2][4]) {
  const shape_t& s = p.shape;
#pragma unroll
  for (int k = 0; k < TILES * 2; ++k) {
    const int row = k * 8 + lane.row;
    float parts[KEY_WARPS];
    float total = 0.0f;
    read_parts(memory + TOTALS_AT, row, parts);
#pragma unroll
    for (int j = 0; j < KEY_WARPS; ++j) {
      total += parts[j];
    }
    const ending_t e = end_row(total, s.keys);
#pragma unroll
    for (int t = 0; t < OWN_TILES; ++t) {
      const int tile = (int)threadIdx.x / 32 + t * KEY_WARPS;
      if (first + row >= s.queries || tile >= COLUMNS) {
        continue;
      }
      const float(&even)[4] = sums[k / 2][t][0];
      const float(&odd)[4] = sums[k / 2][t][1];
      const float two[2] = {ended(e, even[k % 2 * 2] + odd[k % 2 * 2]),
                            ended(e, even[k % 2 * 2 + 1] + odd[k % 2 * 2 + 1])};
      store_results(s, y + (first + row) * s.lines[3].row, tile * 8 + lane.quarter * 2, two);
    }
  }
}

template <bool WIDE>
INLINE void attend_block(const parameters_t& p, unsigned char* memory) {
  const shape_t& s = p.shape;
  const int warp = threadIdx.x / 32;
  const lane_t lane = {(int)threadIdx.x % 32 / 4, (int)threadIdx.x % 4};
  place_t block;
  const int first = (int)find_block(p, block) * QUERIES;
  const element_t* from_q = (const element_t*)s.q + heads_of(s.lines[0], block);
  const source_t from = {(const element_t*)s.k + heads_of(s.lines[1], block),
                         (const element_t*)s.v + heads_of(s.lines[2], block),
                         s.lines[1].row,
                         s.lines[1].feature,
                         s.lines[2].row,
                         s.lines[2].feature};
  element_t* y = (element_t*)s.y + heads_of(s.lines[3], block);
  if (s.releases_early) {
    release_dependents();
  }
  wait_for_predecessors();
  if (!s.releases_early) {
    release_dependents();
  }
  uniforms_t uniforms;
  read_uniforms(p, uniforms);
  unsigned q[TILES][2][WORDS];
#pragma unroll
  for (int k = 0; k < TILES * 2; ++k) {
    const int row = first + k * 8 + lane.row;
    load_features<WIDE>(from_q + row * s.lines[0].row, s.lines[0].feature, row < s.queries,
                        lane.quarter, q[k / 2][k % 2]);
  }
  scores_t scores;
  tile_t tile;
  read_tile<WIDE>(p, lane, from, block, first + lane.row, warp * KEYS, tile);
  stage_values<WIDE>(from, s.keys, memory);
  find_scores<WIDE>(p, lane, from, memory, tile, block, uniforms, first + lane.row, warp * KEYS, q,
                    scores);
  leave_tops(lane, scores, memory);
  __syncthreads();
  leave_powers(lane, scores, memory);
  wait_for_copies();
  __syncthreads();
  float sums[TILES][OWN_TILES][2][4];
  add_all_values(s.keys, memory, sums);
  store_all_results(p, lane, y, first, memory, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attend(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  attend_block<true>(p, memory);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    attend_any(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  attend_block<false>(p, memory);
}
