/* The kernel: a block's rows, and the tiles of keys one after the other. */
template <bool WIDE>
INLINE void attend_block(const parameters_t& p, unsigned char* memory) {
  const shape_t& s = p.shape;
  const int warp = threadIdx.x / 32;
  const lane_t lane = {(int)threadIdx.x % 32 / 4, (int)threadIdx.x % 4};
  place_t block;
  const int first_query = (int)find_block(p, block) * (QUERY_WARPS * QUERIES);
  const int query = first_query + warp / KEY_WARPS * QUERIES + lane.row;
  const element_t* from_q = (const element_t*)s.q + heads_of(s.lines[0], block);
  const source_t from = {(const element_t*)s.k + heads_of(s.lines[1], block),
                         (const element_t*)s.v + heads_of(s.lines[2], block),
                         s.lines[1].row, s.lines[1].feature, s.lines[2].row, s.lines[2].feature};
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
  add_tile<WIDE>(p, lane, from, memory, block, uniforms, query, warp % KEY_WARPS * KEYS, q, state);
#else
#pragma unroll 1
  for (int first = warp % KEY_WARPS * KEYS; first < s.keys; first += KEY_WARPS * KEYS) {
    add_tile<WIDE>(p, lane, from, memory, block, uniforms, query, first, q, state);
  }
#endif
#if KEY_WARPS == 1
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
