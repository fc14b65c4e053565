/*
 * LSTM, GRU, RNN. First all inputs are multiplied by their weights; then a cluster of blocks walks
 * through time with one row of a batch in one direction. Each block has a slice of the units and
 * keeps their recurrent weights in shared memory, as many as fit. In each step its warps multiply
 * the state by them, threads make the new state of its units and store it in all blocks. Before
 * sm_90 a cluster is one block. number: time, batch, features, hidden units, directions, 1 where
 * the batch comes first, 1 where the only direction is backwards; from 8, for each of two
 * directions and three activations: function, alpha, beta.
 *
 * scratch: inputs times weights, with the biases [directions, time, batch, gates hidden]; then, of
 * layers that are too wide for shared memory, VECTORS vectors for each direction and row.
 *
 * lstm  i o f c: c' = f c + i g(c-gate), h' = o h(c'), peepholes i + pi c, f + pf c, o + po c'
 * gru   z r h: h' = (1 - z) g(h-gate) + z h;  rnn  h' = f(gate)
 */
#define TIME p.number[0]
#define BATCH p.number[1]
#define FEATURES p.number[2]
#define HIDDEN p.number[3]
#define DIRECTIONS p.number[4]
#define BATCH_FIRST p.number[5]
#if OP_lstm
enum { GATES = 4 };
#elif OP_gru
enum { GATES = 3 };
#else
enum { GATES = 1 };
#endif
#if OP_gru
#define RESETS_LAST (A_linear_before_reset != 0)
#define FIRST_GATES (RESETS_LAST ? GATES : 2) /* that the state is multiplied for */
#else
#define RESETS_LAST false
#define FIRST_GATES GATES
#endif

#define ALPHA ((sum_t)__longlong_as_double(by[1]))
#define BETA ((sum_t)__longlong_as_double(by[2]))
INLINE sum_t activate(const parameters_t& p, i64 direction, int which, sum_t x) {
  const i64* by = &p.number[8 + (direction * 3 + which) * 3];
  if (A_clip > 0.0) {
    x = fmin(fmax(x, (sum_t)-A_clip), (sum_t)A_clip);
  }
  switch ((int)by[0]) {
    case 0:
      return ALPHA * x + BETA;
    case 1:
      return x >= 0 ? x : ALPHA * op_expm1(x);
    case 2:
      return fmin(fmax(ALPHA * x + BETA, (sum_t)0), (sum_t)1);
    case 3:
      return x >= 0 ? x : ALPHA * x;
    case 4:
      return fmax(x, (sum_t)0);
    case 5:
      return ALPHA * op_tanh(BETA * x);
    case 6:
      return (sum_t)1 / ((sum_t)1 + op_exp(-x));
    case 7:
      return fmax(x, (sum_t)0) + op_log1p(op_exp(-op_abs(x)));
    case 8:
      return x / ((sum_t)1 + op_abs(x));
    case 9:
      return op_tanh(x);
    default:
      return x > ALPHA ? x : (sum_t)0;
  }
}
INLINE i64 time_place(const parameters_t& p, i64 step, i64 row) {
  return BATCH_FIRST ? row * TIME + step : step * BATCH + row;
}
INLINE sum_t bias_of(const parameters_t& p, i64 direction, i64 from_state, i64 row) {
  return HAS_IN3 ? (sum_t)IN3((direction * 2 + from_state) * GATES * HIDDEN + row) : (sum_t)0;
}
INLINE sum_t* inputs_of(const parameters_t& p, i64 direction, i64 step, i64 row) {
  return (sum_t*)p.scratch + ((direction * TIME + step) * BATCH + row) * GATES * HIDDEN;
}
enum { TILE = 16 };
/* [directions][time batch] x [gates hidden], with the input's bias: tiles of 16 x 16. */
KERNEL multiply_inputs(const __grid_constant__ parameters_t p) {
  __shared__ sum_t left[TILE][TILE];
  __shared__ sum_t right[TILE][TILE + 1];
  begin(p);
  const i64 rows = TIME * BATCH;
  const i64 columns = GATES * HIDDEN;
  const i64 down = (rows + TILE - 1) / TILE;
  const i64 across = (columns + TILE - 1) / TILE;
  const int r = threadIdx.x / TILE;
  const int c = threadIdx.x % TILE;
  EACH_BLOCK(block, DIRECTIONS * down * across) {
    const i64 direction = block / across / down;
    const i64 row = block / across % down * TILE + r;
    const i64 column = block % across * TILE + c;
    const i64 loaded =
        block % across * TILE + r; /* a row of W, of which neighbours read neighbours */
    const i64 from = row < rows ? time_place(p, row / BATCH, row % BATCH) : 0;
    sum_t total = 0;
    for (i64 first = 0; first < FEATURES; first += TILE) {
      const bool is_there = first + c < FEATURES;
      left[r][c] = is_there && row < rows ? (sum_t)IN0(from * FEATURES + first + c) : (sum_t)0;
      right[c][r] = is_there && loaded < columns
                        ? (sum_t)IN1((direction * columns + loaded) * FEATURES + first + c)
                        : (sum_t)0;
      __syncthreads();
      const int count = (int)least_of(TILE, FEATURES - first);
      for (int k = 0; k < count; ++k) {
        total = fused(left[r][k], right[k][c], total);
      }
      __syncthreads();
    }
    if (row < rows && column < columns) {
      const bool is_apart = RESETS_LAST && column >= 2 * HIDDEN; /* it is reset with the state */
      inputs_of(p, direction, row / BATCH, row % BATCH)[column] =
          total + bias_of(p, direction, 0, column) +
          (is_apart ? (sum_t)0 : bias_of(p, direction, 1, column));
    }
  }
}

/* ---- Clusters ---- */

#if !defined(STAND_IN) && __CUDA_ARCH__ >= 900
enum { CLUSTER = 8 };
#define TOGETHER __cluster_dims__(8, 1, 1)
INLINE int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return (int)rank;
}
/* What any thread of the cluster stored before is seen by all behind it. */
INLINE void meet_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
INLINE unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}
/* Where a block of the cluster has what lies here at `at`. */
INLINE unsigned remote(const void* at, int rank) {
  unsigned to;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(at)), "r"(rank));
  return to;
}
/* Stores in a block of the cluster, and counts the bytes at its barrier when they are there. */
INLINE void send(float* at, u64* barrier, int rank, float x) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
                   remote(at, rank)),
               "f"(x), "r"(remote(barrier, rank))
               : "memory");
}
INLINE void send(double* at, u64* barrier, int rank, double x) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(
                   remote(at, rank)),
               "d"(x), "r"(remote(barrier, rank))
               : "memory");
}
INLINE void send_four(float* at, u64* barrier, int rank, const float (&x)[4]) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(remote(at, rank)),
      "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "r"(remote(barrier, rank))
      : "memory");
}
INLINE void send_four(double* at, u64* barrier, int rank, const double (&x)[4]) {
  for (int k = 0; k < 4; ++k) {
    send(at + k, barrier, rank, x[k]);
  }
}
/* `count` numbers, each of a lane of the warp, to all blocks. Barriers count one message after the
 * other, so they are few. */
INLINE void send_all(sum_t* to, u64* barrier, int count, sum_t x) {
  const int lane = (int)threadIdx.x % 32;
  if ((u64)to % 16 != 0 || count % 4 != 0) {
    for (int rank = 0; rank < CLUSTER && lane < count; ++rank) {
      send(to + lane, barrier, rank, x);
    }
    return;
  }
#pragma unroll
  for (int half = 0; half < CLUSTER; half += 4) {
    const int first = lane % 8 * 4;
    sum_t four[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      four[k] = __shfl_sync(0xFFFFFFFFu, x, first + k);
    }
    if (first < count) {
      send_four(to + first, barrier, half + lane / 8, four);
    }
  }
}
INLINE void start_barrier(u64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* All of a block: until so many bytes have come, of the barrier's `turn`-th use. */
INLINE void wait_for_bytes(u64* barrier, int bytes, unsigned turn) {
  if (threadIdx.x == 0) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2; selp.u32 %0, "
        "1, 0, done; }"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(turn & 1)
        : "memory");
  }
  __syncthreads(); /* nobody reads what the next step writes */
}
#else
enum { CLUSTER = 1 };
#define TOGETHER
INLINE int cluster_rank() {
  return 0;
}
INLINE void meet_cluster() {
  __syncthreads();
}
INLINE void send_all(sum_t* to, u64* barrier, int count, sum_t x) {
  if ((int)threadIdx.x % 32 < count) {
    to[threadIdx.x % 32] = x;
  }
}
INLINE void start_barrier(u64* barrier) {}
INLINE void wait_for_bytes(u64* barrier, int bytes, unsigned turn) {
  __syncthreads();
}
#endif
#ifdef STAND_IN
#define DYNAMIC_BYTES(name) SHARED_BYTES(name)
#else
#define DYNAMIC_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#endif

/* ---- Through time ---- */

/*
 * Of a row and direction in units of HIDDEN: three states, the state when it is reset, of the
 * block's units the cell, products and inputs.
 *
 * A state has a barrier, at which its numbers arrive. A block begins a step when it has all of the
 * state before. So another one is ahead of it by one step at most, and writes the next state but
 * one: into the third of the three, which nobody reads any more. The reset state is read by all
 * when the next state is complete.
 */
enum { STATES = 3, VECTORS = 5 + 2 * GATES, BARRIER_BYTES = 32 };
#if OP_rnn
enum { ROWS = 2 }; /* that a warp multiplies at once */
#else
enum { ROWS = 4 };
#endif
struct walk_t {
  i64 direction;
  int first; /* of the block's units */
  int count;
  int kept;       /* rows of its recurrent weights in shared memory; gate by gate */
  bool is_shared; /* vectors, of which each block has its own */
  const IN2_STORED* weights;
  int own_input; /* in a row of inputs times weights, the thread's */
  sum_t* states;
  int now; /* which of the states is the last one */
  sum_t* h;
  sum_t* reset;
  sum_t* c;
  sum_t* products;
  sum_t* inputs;
};
INLINE i64 weight_row(const parameters_t& p, const walk_t& w, int row) {
  return (w.direction * GATES + row / w.count) * HIDDEN + w.first + row % w.count;
}
/* Numbers of the block's units from `base` on, each of a lane. */
INLINE void put_units(const walk_t& w, sum_t* vector, u64* barrier, int base, sum_t x) {
  sum_t* to = vector + w.first + base;
  const int count = (int)least_of(32, w.count - base);
  if (w.is_shared) {
    send_all(to, barrier, count, x);
  } else if ((int)threadIdx.x % 32 < count) {
    to[threadIdx.x % 32] = x;
  }
}
/* Until all of a vector is there. */
INLINE void wait_for_vector(const parameters_t& p, const walk_t& w, u64* barrier, unsigned turn) {
  if (w.is_shared) {
    wait_for_bytes(barrier, (int)HIDDEN * (int)sizeof(sum_t), turn);
  } else {
    meet_cluster();
  }
}
/* ROWS rows from one on times a vector, V numbers at a time. */
template <int V, class L>
INLINE void multiply_rows(const walk_t& w, int hidden, int row, int last, const sum_t* vector,
                          L row_at) {
  const int lane = (int)threadIdx.x % 32;
  sum_t total[ROWS] = {};
#pragma unroll 2
  for (int k = lane * V; k < hidden; k += 32 * V) {
    const several_t<sum_t, V> x = *(const several_t<sum_t, V>*)(vector + k);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const several_t<IN2_STORED, V> weights = *(const several_t<IN2_STORED, V>*)(row_at(r) + k);
#pragma unroll
      for (int e = 0; e < V; ++e) {
        total[r] = fused(x.item[e], (sum_t)IN2_VALUE(weights.item[e]), total[r]);
      }
    }
  }
  /* Lanes share the rows out while they add up. */
  int rows = ROWS;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    rows /= 2;
    if (rows == 0) {
      total[0] += __shfl_xor_sync(0xFFFFFFFFu, total[0], distance);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const bool is_upper = (lane & distance) != 0;
      const sum_t given = is_upper ? total[r] : total[r + rows];
      total[r] =
          (is_upper ? total[r + rows] : total[r]) + __shfl_xor_sync(0xFFFFFFFFu, given, distance);
    }
  }
  const int own = lane / (32 / ROWS);
  if (lane % (32 / ROWS) == 0 && row + own < last) {
    w.products[row + own] = total[0];
  }
}
/* The block's rows of gates [first_gate, last_gate) times a vector. */
template <int V>
INLINE void multiply_state(const parameters_t& p, const walk_t& w, int first_gate, int last_gate,
                           const sum_t* vector) {
  const int hidden = (int)HIDDEN;
  const int last = last_gate * w.count;
  for (int row = first_gate * w.count + (int)threadIdx.x / 32 * ROWS; row < last;
       row += (int)blockDim.x / 32 * ROWS) {
    if (row + ROWS <= w.kept) {
      multiply_rows<V>(w, hidden, row, last, vector, [&](int r) {
        return w.weights + (row + r < last ? row + r : last - 1) * hidden;
      });
    } else {
      const IN2_STORED* from[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        from[r] = (const IN2_STORED*)p.in[2].data +
                  weight_row(p, w, row + r < last ? row + r : last - 1) * hidden;
      }
      multiply_rows<V>(w, hidden, row, last, vector, [&](int r) { return from[r]; });
    }
  }
}
INLINE void multiply_by(const parameters_t& p, const walk_t& w, int first_gate, int last_gate,
                        const sum_t* vector) {
  enum { V = 16 / (int)sizeof(sum_t) };
  if (HIDDEN % V == 0 && is_aligned(p.in[2])) {
    multiply_state<V>(p, w, first_gate, last_gate, vector);
  } else {
    multiply_state<1>(p, w, first_gate, last_gate, vector);
  }
}
INLINE sum_t gate_of(const walk_t& w, int gate, int own) {
  return w.inputs[gate * w.count + own] + w.products[gate * w.count + own];
}
INLINE sum_t peephole(const parameters_t& p, const walk_t& w, int which, i64 unit) {
#if OP_lstm
  return HAS_IN7 ? (sum_t)IN7((w.direction * 3 + which) * HIDDEN + unit) : (sum_t)0;
#else
  return (sum_t)0;
#endif
}
/* The new state of one of the block's units, whose products are there; the cell in its place. */
INLINE sum_t state_of(const parameters_t& p, const walk_t& w, int own) {
  const i64 unit = w.first + own;
#if OP_lstm
  const sum_t c = w.c[own];
  const sum_t i = activate(p, w.direction, 0, gate_of(w, 0, own) + peephole(p, w, 0, unit) * c);
  const sum_t gate_f = A_input_forget ? (sum_t)0 : gate_of(w, 2, own) + peephole(p, w, 2, unit) * c;
  const sum_t f = A_input_forget ? (sum_t)1 - i : activate(p, w.direction, 0, gate_f);
  const sum_t next = f * c + i * activate(p, w.direction, 1, gate_of(w, 3, own));
  const sum_t o = activate(p, w.direction, 0, gate_of(w, 1, own) + peephole(p, w, 1, unit) * next);
  w.c[own] = next;
  return o * activate(p, w.direction, 2, next);
#elif OP_gru
  const sum_t product = w.products[2 * w.count + own];
  const sum_t z = activate(p, w.direction, 0, gate_of(w, 0, own));
  const sum_t state = RESETS_LAST ? activate(p, w.direction, 0, gate_of(w, 1, own)) *
                                        (product + bias_of(p, w.direction, 1, 2 * HIDDEN + unit))
                                  : product;
  const sum_t proposed = activate(p, w.direction, 1, w.inputs[2 * w.count + own] + state);
  return ((sum_t)1 - z) * proposed + z * w.h[unit];
#else
  return activate(p, w.direction, 0, gate_of(w, 0, own));
#endif
}
/* A step's inputs of the block's rows: the first ones are read a step before, a thread's each. */
INLINE sum_t early_input(const parameters_t& p, const walk_t& w, const sum_t* x) {
  return (int)threadIdx.x < GATES * w.count ? x[w.own_input] : (sum_t)0;
}
INLINE void keep_inputs(const parameters_t& p, const walk_t& w, const sum_t* x, sum_t early) {
  const int rows = GATES * w.count;
  if ((int)threadIdx.x < rows) {
    w.inputs[threadIdx.x] = early;
  }
  for (int k = (int)(threadIdx.x + blockDim.x); k < rows; k += (int)blockDim.x) {
    w.inputs[k] = x[k / w.count * HIDDEN + w.first + k % w.count];
  }
}
#if OP_gru
/* The state when it is reset, to all blocks, and its products. */
INLINE void multiply_reset(const parameters_t& p, const walk_t& w, u64* barrier, unsigned turn) {
  for (int base = (int)threadIdx.x / 32 * 32; base < w.count; base += (int)blockDim.x) {
    const int own = base + (int)threadIdx.x % 32;
    const sum_t h = own < w.count
                        ? activate(p, w.direction, 0, gate_of(w, 1, own)) * w.h[w.first + own]
                        : (sum_t)0;
    put_units(w, w.reset, barrier, base, h);
  }
  wait_for_vector(p, w, barrier, turn);
  multiply_by(p, w, 2, 3, w.reset);
  __syncthreads();
}
#endif
/* Where a row's vectors and weights lie, in as much shared memory as there is. */
INLINE walk_t walk_of(const parameters_t& p, unsigned char* bytes, i64 shared, i64 line) {
  const int hidden = (int)HIDDEN;
  const int slice = (hidden + CLUSTER - 1) / CLUSTER;
  const int first = (int)least_of(cluster_rank() * slice, hidden);
  const int count = (int)least_of(slice, hidden - first);
  const i64 vector_bytes =
      (i64)((STATES + 1) * hidden + (1 + 2 * GATES) * slice) * (i64)sizeof(sum_t);
  const bool is_shared = vector_bytes <= shared;
  const i64 used = is_shared ? (vector_bytes + 15) / 16 * 16 : 0;
  const int room = (int)(most_of(shared - used, 0) / ((i64)hidden * (i64)sizeof(IN2_STORED)));
  const int rows = GATES * count;
  sum_t* all = is_shared ? (sum_t*)bytes : inputs_of(p, DIRECTIONS, 0, 0) + line * VECTORS * hidden;
  sum_t* own = all + (STATES + 1) * hidden;
  /* In scratch memory all blocks of the cluster have one of each. */
  const int step = is_shared ? slice : hidden;
  const int at = is_shared ? 0 : first;
  const int row = (int)threadIdx.x < rows ? (int)threadIdx.x : 0;
  return walk_t{line / BATCH,
                first,
                count,
                room < rows ? room / ROWS * ROWS : rows + ROWS,
                is_shared,
                (const IN2_STORED*)(bytes + used),
                count > 0 ? row / count * hidden + first + row % count : 0,
                all,
                0,
                all,
                all + STATES * hidden,
                own + at,
                own + step + GATES * at,
                own + (1 + GATES) * step + GATES * at};
}
INLINE void keep_weights(const parameters_t& p, const walk_t& w) {
  const int hidden = (int)HIDDEN;
  const int rows = (int)least_of(w.kept, GATES * w.count);
  IN2_STORED* to = (IN2_STORED*)w.weights;
  for (int row = (int)threadIdx.x / 32; row < rows; row += (int)blockDim.x / 32) {
    const IN2_STORED* from = (const IN2_STORED*)p.in[2].data + weight_row(p, w, row) * hidden;
    for (int k = (int)threadIdx.x % 32; k < hidden; k += 32) {
      to[row * hidden + k] = from[k];
    }
  }
}
extern "C" __global__ void TOGETHER __launch_bounds__(512)
    walk_time(const __grid_constant__ parameters_t p) {
  DYNAMIC_BYTES(bytes);
  u64* barriers = (u64*)bytes;
  unsigned turns[STATES] = {}; /* how often the barriers were used */
  unsigned resets = 0;
  if (threadIdx.x < STATES + 1) {
    start_barrier(&barriers[threadIdx.x]);
  }
  begin(p);
  for (i64 line = blockIdx.x / CLUSTER; line < DIRECTIONS * BATCH; line += gridDim.x / CLUSTER) {
    walk_t w = walk_of(p, bytes + BARRIER_BYTES, p.shared - BARRIER_BYTES, line);
    const i64 row = line % BATCH;
    const bool backwards = w.direction == 1 || p.number[6] != 0;
    const i64 length = HAS_IN4 ? (i64)IN4(row) : TIME;
    const i64 state = (BATCH_FIRST ? row * DIRECTIONS + w.direction : line) * HIDDEN;
    if (length < 0 || length > TIME) {
      fail(p, 1, length);
      continue;
    }
    keep_weights(p, w);
    EACH_THREAD(unit, HIDDEN) {
      w.h[unit] = HAS_IN5 ? (sum_t)IN5(state + unit) : (sum_t)0;
    }
    EACH_THREAD(own, w.count) {
      w.c[own] = HAS_IN6 ? (sum_t)IN6(state + w.first + own) : (sum_t)0;
    }
    meet_cluster();
    const sum_t* x = length > 0 ? inputs_of(p, w.direction, backwards ? length - 1 : 0, row) : 0;
    const i64 x_step = (backwards ? -BATCH : BATCH) * GATES * HIDDEN;
    const i64 to_step = BATCH_FIRST ? DIRECTIONS * HIDDEN : DIRECTIONS * BATCH * HIDDEN;
    const i64 to_row = BATCH_FIRST ? (row * TIME * DIRECTIONS + w.direction) * HIDDEN
                                   : (w.direction * BATCH + row) * HIDDEN;
    sum_t early = length > 0 ? early_input(p, w, x) : (sum_t)0;
    for (i64 step = 0; step < length; ++step) {
      const i64 to = to_row + (backwards ? length - 1 - step : step) * to_step;
      multiply_by(p, w, 0, FIRST_GATES, w.h);
      keep_inputs(p, w, x, early);
      __syncthreads();
      x += x_step;
      early = step + 1 < length ? early_input(p, w, x) : (sum_t)0;
#if OP_gru
      if (!RESETS_LAST) {
        multiply_reset(p, w, &barriers[STATES], resets++);
      }
#endif
      const int next_state = w.now + 1 < STATES ? w.now + 1 : 0;
      sum_t* next_h = w.states + next_state * HIDDEN;
      for (int base = (int)threadIdx.x / 32 * 32; base < w.count; base += (int)blockDim.x) {
        const int own = base + (int)threadIdx.x % 32;
        const sum_t h = own < w.count ? state_of(p, w, own) : (sum_t)0;
        put_units(w, next_h, &barriers[next_state], base, h);
#if HAS_OUT0
        if (own < w.count) {
          OUT0(to + w.first + own, h);
        }
#endif
      }
      unsigned turn = 0;
#pragma unroll
      for (int k = 0; k < STATES; ++k) {
        turn = k == next_state ? turns[k]++ : turn;
      }
      wait_for_vector(p, w, &barriers[next_state], turn);
      w.now = next_state;
      w.h = next_h;
    }
#if HAS_OUT0
    for (i64 step = length; step < TIME; ++step) {
      EACH_THREAD(own, w.count) {
        OUT0(to_row + step * to_step + w.first + own, (sum_t)0);
      }
    }
#endif
    EACH_THREAD(own, w.count) {
      OUT1(state + w.first + own, w.h[w.first + own]);
      OUT2(state + w.first + own, w.c[own]);
    }
    meet_cluster();
  }
}
