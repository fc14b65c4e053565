/*
 * LSTM, GRU, RNN. First all inputs are multiplied by their weights; then a block walks through time
 * with one row of a batch in one direction: in each step its warps multiply the state by the
 * recurrent weights, and a thread for each unit makes the new state of it. number: time, batch,
 * features, hidden units, directions, 1 where the batch comes first, 1 where the only direction is
 * backwards; from 8, for each of two directions and three activations: function, alpha, beta.
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
#else
#define RESETS_LAST false
#endif

INLINE sum_t activate(const parameters_t& p, i64 direction, int which, sum_t x) {
  const i64* by = &p.number[8 + (direction * 3 + which) * 3];
  const sum_t alpha = (sum_t)__longlong_as_double(by[1]);
  const sum_t beta = (sum_t)__longlong_as_double(by[2]);
  if (A_clip > 0.0) {
    x = fmin(fmax(x, (sum_t)-A_clip), (sum_t)A_clip);
  }
  switch ((int)by[0]) {
    case 0: return alpha * x + beta;
    case 1: return x >= 0 ? x : alpha * op_expm1(x);
    case 2: return fmin(fmax(alpha * x + beta, (sum_t)0), (sum_t)1);
    case 3: return x >= 0 ? x : alpha * x;
    case 4: return fmax(x, (sum_t)0);
    case 5: return alpha * op_tanh(beta * x);
    case 6: return (sum_t)1 / ((sum_t)1 + op_exp(-x));
    case 7: return fmax(x, (sum_t)0) + op_log1p(op_exp(-op_abs(x)));
    case 8: return x / ((sum_t)1 + op_abs(x));
    case 9: return op_tanh(x);
    default: return x > alpha ? x : (sum_t)0;
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
    const i64 loaded = block % across * TILE + r; /* a row of W, of which neighbours read neighbours */
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
        total += left[r][k] * right[k][c];
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

/* Of a row and direction: the state times its weights (four of the vectors), the state, the cell,
 * the state when it is reset. */
enum { VECTORS = 7, KEPT = 4096 / (int)sizeof(sum_t), ROWS = 8 };
struct walk_t {
  i64 direction;
  const sum_t* x; /* inputs times weights of this step */
  sum_t* products;
  sum_t* h;
  sum_t* c;
  sum_t* reset;
};
/* Rows [first, last) of the recurrent weights times a vector. A warp has ROWS of them at once, so
 * that many loads wait together. */
INLINE void multiply_state(const parameters_t& p, const walk_t& w, int first, int last, const sum_t* vector) {
  const int lane = (int)threadIdx.x % 32;
  const int hidden = (int)HIDDEN;
  const i64 weights = w.direction * GATES * hidden;
  for (int row = first + (int)threadIdx.x / 32 * ROWS; row < last; row += (int)blockDim.x / 32 * ROWS) {
    i64 from[ROWS];
    sum_t total[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      from[r] = (weights + (row + r < last ? row + r : last - 1)) * hidden;
      total[r] = 0;
    }
#pragma unroll 4
    for (int k = lane; k < hidden; k += 32) {
      const sum_t x = vector[k];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        total[r] += x * (sum_t)IN2(from[r] + k);
      }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        total[r] += __shfl_xor_sync(0xFFFFFFFFu, total[r], distance);
      }
    }
    sum_t own = total[0];
#pragma unroll
    for (int r = 1; r < ROWS; ++r) {
      own = lane == r ? total[r] : own;
    }
    if (lane < ROWS && row + lane < last) {
      w.products[row + lane] = own;
    }
  }
}
INLINE sum_t gate_of(const parameters_t& p, const walk_t& w, int gate, i64 unit) {
  return w.x[gate * HIDDEN + unit] + w.products[gate * HIDDEN + unit];
}
INLINE sum_t peephole(const parameters_t& p, const walk_t& w, int which, i64 unit) {
#if OP_lstm
  return HAS_IN7 ? (sum_t)IN7((w.direction * 3 + which) * HIDDEN + unit) : (sum_t)0;
#else
  return (sum_t)0;
#endif
}
/* The new state of a unit, whose products are there; the cell in its place. */
INLINE sum_t state_of(const parameters_t& p, const walk_t& w, i64 unit) {
#if OP_lstm
  const sum_t c = w.c[unit];
  const sum_t i = activate(p, w.direction, 0, gate_of(p, w, 0, unit) + peephole(p, w, 0, unit) * c);
  const sum_t gate_f = A_input_forget ? (sum_t)0 : gate_of(p, w, 2, unit) + peephole(p, w, 2, unit) * c;
  const sum_t f = A_input_forget ? (sum_t)1 - i : activate(p, w.direction, 0, gate_f);
  const sum_t next = f * c + i * activate(p, w.direction, 1, gate_of(p, w, 3, unit));
  const sum_t o = activate(p, w.direction, 0, gate_of(p, w, 1, unit) + peephole(p, w, 1, unit) * next);
  w.c[unit] = next;
  return o * activate(p, w.direction, 2, next);
#elif OP_gru
  const i64 row = 2 * HIDDEN + unit;
  const sum_t z = activate(p, w.direction, 0, gate_of(p, w, 0, unit));
  const sum_t state = RESETS_LAST ? activate(p, w.direction, 0, gate_of(p, w, 1, unit)) *
                                        (w.products[row] + bias_of(p, w.direction, 1, row))
                                  : w.products[row];
  const sum_t proposed = activate(p, w.direction, 1, w.x[row] + state);
  return ((sum_t)1 - z) * proposed + z * w.h[unit];
#else
  return activate(p, w.direction, 0, gate_of(p, w, 0, unit));
#endif
}
INLINE void multiply_gates(const parameters_t& p, const walk_t& w) {
  const int hidden = (int)HIDDEN;
#if OP_gru
  if (!RESETS_LAST) {
    multiply_state(p, w, 0, 2 * hidden, w.h);
    __syncthreads();
    EACH_THREAD(unit, HIDDEN) {
      w.reset[unit] = activate(p, w.direction, 0, gate_of(p, w, 1, unit)) * w.h[unit];
    }
    __syncthreads();
    multiply_state(p, w, 2 * hidden, 3 * hidden, w.reset);
    __syncthreads();
    return;
  }
#endif
  multiply_state(p, w, 0, GATES * hidden, w.h);
  __syncthreads();
}
extern "C" __global__ void __launch_bounds__(512) walk_time(const __grid_constant__ parameters_t p) {
  __shared__ sum_t kept[VECTORS * KEPT];
  begin(p);
  EACH_BLOCK(line, DIRECTIONS * BATCH) {
    const i64 direction = line / BATCH;
    const i64 row = line % BATCH;
    const bool backwards = direction == 1 || p.number[6] != 0;
    const i64 length = HAS_IN4 ? (i64)IN4(row) : TIME;
    const i64 state = (BATCH_FIRST ? row * DIRECTIONS + direction : line) * HIDDEN;
    sum_t* own = HIDDEN <= KEPT ? kept : inputs_of(p, DIRECTIONS, 0, 0) + line * VECTORS * HIDDEN;
    walk_t w = {direction, 0, own, own + 4 * HIDDEN, own + 5 * HIDDEN, own + 6 * HIDDEN};
    if (length < 0 || length > TIME) {
      fail(p, 1, length);
      continue;
    }
    EACH_THREAD(unit, HIDDEN) {
      w.h[unit] = HAS_IN5 ? (sum_t)IN5(state + unit) : (sum_t)0;
      w.c[unit] = HAS_IN6 ? (sum_t)IN6(state + unit) : (sum_t)0;
    }
    __syncthreads();
    for (i64 step = 0; step < TIME; ++step) {
      const i64 at = backwards && step < length ? length - 1 - step : step;
      const i64 to = BATCH_FIRST ? ((row * TIME + at) * DIRECTIONS + direction) * HIDDEN
                                 : ((at * DIRECTIONS + direction) * BATCH + row) * HIDDEN;
      if (step < length) {
        w.x = inputs_of(p, direction, at, row);
        multiply_gates(p, w);
      }
      EACH_THREAD(unit, HIDDEN) {
        const sum_t h = step < length ? state_of(p, w, unit) : (sum_t)0;
        if (step < length) {
          w.h[unit] = h;
        }
#if HAS_OUT0
        OUT0(to + unit, h);
#endif
      }
      __syncthreads();
    }
    EACH_THREAD(unit, HIDDEN) {
      OUT1(state + unit, w.h[unit]);
      OUT2(state + unit, w.c[unit]);
    }
    __syncthreads();
  }
}
