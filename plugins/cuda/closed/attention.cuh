/*
 * Attention by its definition, for what does not decompose into products: a block has one query of
 * one head. Linear attention: a thread has a column of a head's state. Rotary embedding.
 */
#if OP_attention
/* number: batches, query heads, key heads, queries, keys of now, of the past, features of a key, of a value; 8: 1 where heads
 * are an axis of their own. scratch: a row of scores for each query. */
#define HEADS p.number[1]
#define KV_HEADS p.number[2]
#define QUERIES p.number[3]
#define KEYS p.number[4]
#define PAST p.number[5]
#define K_SIZE p.number[6]
#define V_SIZE p.number[7]
#define TOTAL (KEYS + PAST)
INLINE i64 vector_at(const parameters_t& p, i64 batch, i64 heads, i64 head, i64 length, i64 at, i64 size) {
  return p.number[8] != 0 ? ((batch * heads + head) * length + at) * size
                          : ((batch * length + at) * heads + head) * size;
}
INLINE sum_t key_at(const parameters_t& p, i64 batch, i64 head, i64 at, i64 item) {
#if HAS_IN4
  if (at < PAST) {
    return (sum_t)IN4(((batch * KV_HEADS + head) * PAST + at) * K_SIZE + item);
  }
#endif
  return (sum_t)IN1(vector_at(p, batch, KV_HEADS, head, KEYS, at - PAST, K_SIZE) + item);
}
INLINE sum_t value_at(const parameters_t& p, i64 batch, i64 head, i64 at, i64 item) {
#if HAS_IN5
  if (at < PAST) {
    return (sum_t)IN5(((batch * KV_HEADS + head) * PAST + at) * V_SIZE + item);
  }
#endif
  return (sum_t)IN2(vector_at(p, batch, KV_HEADS, head, KEYS, at - PAST, V_SIZE) + item);
}
#define MINUS_INFINITY ((sum_t)-__uint_as_float(0x7F800000u))
/* What the mask adds; it broadcasts, and ends early with -inf. */
INLINE sum_t mask_at(const parameters_t& p, i64 batch, i64 head, i64 row, i64 at) {
#if HAS_IN3
  const i64 point[4] = {batch, head, row, at};
  i64 place = 0;
#pragma unroll
  for (int k = 0; k < IN3_RANK; ++k) {
    const i64 coordinate = point[k + 4 - IN3_RANK];
    if (k + 1 == IN3_RANK && coordinate >= p.in[3].dims[k]) {
      return MINUS_INFINITY;
    }
    place = place * p.in[3].dims[k] + (p.in[3].dims[k] == 1 ? 0 : coordinate);
  }
#if IN3_bool
  return IN3(place) ? (sum_t)0 : MINUS_INFINITY;
#else
  return (sum_t)IN3(place);
#endif
#else
  return (sum_t)0;
#endif
}
INLINE sum_t bias_of(const parameters_t& p, i64 batch, i64 head, i64 row, i64 at) {
  const i64 length = HAS_IN6 ? (i64)IN6(batch) : TOTAL;
  const i64 offset = !HAS_IN4 && HAS_IN6 ? length - QUERIES : PAST;
  const i64 ahead = at - (row + offset);
  const bool hidden = (A_is_causal && ahead > 0) || (A_left_window >= 0 && -ahead > A_left_window) ||
                      (A_right_window >= 0 && ahead > A_right_window) || at >= length;
  return hidden ? MINUS_INFINITY : mask_at(p, batch, head, row, at);
}
template <class F>
INLINE sum_t all_of(sum_t own, sum_t* shared, F join) {
  shared[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const sum_t result = shared[0];
  __syncthreads();
  return result;
}
KERNEL attend(const __grid_constant__ parameters_t p) {
  __shared__ sum_t shared[256];
  begin(p);
  const sum_t scale = A_scale == 0.0 ? (sum_t)(1.0 / sqrt((double)K_SIZE)) : (sum_t)A_scale;
  const auto larger = [](sum_t a, sum_t b) { return fmax(a, b); };
  const auto added = [](sum_t a, sum_t b) { return a + b; };
  EACH_BLOCK(line, p.number[0] * HEADS * QUERIES) {
    const i64 row = line % QUERIES;
    const i64 head = line / QUERIES % HEADS;
    const i64 batch = line / QUERIES / HEADS;
    const i64 kv_head = head / (HEADS / KV_HEADS);
    const i64 query = vector_at(p, batch, HEADS, head, QUERIES, row, K_SIZE);
    sum_t* scores = (sum_t*)p.scratch + line * TOTAL;
    sum_t own = MINUS_INFINITY;
    sum_t own_bias = MINUS_INFINITY;
    EACH_THREAD(at, TOTAL) {
      sum_t raw = 0;
      for (i64 item = 0; item < K_SIZE; ++item) {
        raw += (sum_t)IN0(query + item) * key_at(p, batch, kv_head, at, item);
      }
      raw *= scale;
      const sum_t capped = A_softcap > 0.0 ? (sum_t)A_softcap * op_tanh(raw / (sum_t)A_softcap) : raw;
      const sum_t bias = bias_of(p, batch, head, row, at);
      scores[at] = capped + bias;
      own = fmax(own, scores[at]);
      own_bias = fmax(own_bias, bias);
      OUT3(line * TOTAL + at, A_qk_mode == 0 ? raw : A_qk_mode == 1 ? capped : capped + bias);
    }
    const sum_t largest = all_of(own, shared, larger);
    const sum_t largest_bias = all_of(own_bias, shared, larger);
    sum_t part = 0;
    EACH_THREAD(at, TOTAL) {
      scores[at] = largest == MINUS_INFINITY ? (sum_t)0 : op_exp(scores[at] - largest);
      part += scores[at];
    }
    const sum_t total = all_of(part, shared, added);
    const bool is_empty = largest_bias == MINUS_INFINITY || total == 0;
    EACH_THREAD(at, TOTAL) {
      scores[at] = is_empty ? (sum_t)0 : scores[at] / total;
      if (A_qk_mode == 3) {
        OUT3(line * TOTAL + at, scores[at]);
      }
    }
    __syncthreads();
#if HAS_OUT0
    const i64 to = vector_at(p, batch, HEADS, head, QUERIES, row, V_SIZE);
    EACH_THREAD(item, V_SIZE) {
      sum_t result = 0;
      for (i64 at = 0; at < TOTAL; ++at) {
        result += scores[at] == 0 ? (sum_t)0 : scores[at] * value_at(p, batch, kv_head, at, item);
      }
      OUT0(to + item, result);
    }
#endif
    __syncthreads();
  }
}
KERNEL keep(const __grid_constant__ parameters_t p) {
  begin(p);
#if HAS_OUT1
  EACH(i, p.out[1].count) {
    const i64 line = i / K_SIZE / TOTAL;
    OUT1(i, key_at(p, line / KV_HEADS, line % KV_HEADS, i / K_SIZE % TOTAL, i % K_SIZE));
  }
#endif
#if HAS_OUT2
  EACH(i, p.out[2].count) {
    const i64 line = i / V_SIZE / TOTAL;
    OUT2(i, value_at(p, line / KV_HEADS, line % KV_HEADS, i / V_SIZE % TOTAL, i % V_SIZE));
  }
#endif
}
#elif OP_linear_attention
/* S = exp(g) S + beta k (v - S^T k)^T, y = scale q^T S; rules leave parts out. scratch: the states. */
#if A_update_rule_gated || A_update_rule_gated_delta
#define GATED 1
#else
#define GATED 0
#endif
#if A_update_rule_delta || A_update_rule_gated_delta
#define DELTA 1
#else
#define DELTA 0
#endif
/* One for each head, for each feature, or just one. */
INLINE i64 packed_place(const tensor_t& t, i64 token, i64 head, i64 feature) {
  const i64 width = t.dims[2];
  const i64 heads = A_kv_num_heads;
  return token * width + (width == 1 ? 0 : width == heads ? head : head * (width / heads) + feature);
}
KERNEL recur(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 heads = A_kv_num_heads;
  const i64 k_size = p.in[1].dims[2] / heads;
  const i64 v_size = p.in[2].dims[2] / heads;
  const i64 time = p.in[0].dims[1];
  const i64 sharing = A_q_num_heads / heads;
  const sum_t scale = A_scale == 0.0 ? (sum_t)(1.0 / sqrt((double)p.in[0].dims[2] / (double)A_q_num_heads))
                                     : (sum_t)A_scale;
  EACH(i, p.in[0].dims[0] * heads * v_size) {
    const i64 which = i / v_size;
    const i64 item = i % v_size;
    const i64 head = which % heads;
    sum_t* state = (sum_t*)p.scratch + which * k_size * v_size + item;
    for (i64 f = 0; f < k_size; ++f) {
      state[f * v_size] = HAS_IN3 ? (sum_t)IN3((which * k_size + f) * v_size + item) : (sum_t)0;
    }
    for (i64 step = 0; step < time; ++step) {
      const i64 token = which / heads * time + step;
      const i64 key = (token * heads + head) * k_size;
      sum_t known = 0;
      for (i64 f = 0; f < k_size; ++f) {
#if GATED
        state[f * v_size] *= op_exp((sum_t)IN4(packed_place(p.in[4], token, head, f)));
#endif
        known += state[f * v_size] * (sum_t)IN1(key + f);
      }
      sum_t written = (sum_t)IN2((token * heads + head) * v_size + item);
#if DELTA
      written = (sum_t)IN5(packed_place(p.in[5], token, head, 0)) * (written - known);
#endif
      for (i64 f = 0; f < k_size; ++f) {
        state[f * v_size] += (sum_t)IN1(key + f) * written;
      }
#if HAS_OUT0
      for (i64 shared = 0; shared < sharing; ++shared) {
        const i64 vector = token * A_q_num_heads + head * sharing + shared;
        sum_t total = 0;
        for (i64 f = 0; f < k_size; ++f) {
          total += (sum_t)IN0(vector * k_size + f) * state[f * v_size];
        }
        OUT0(vector * v_size + item, scale * total);
      }
#endif
    }
    for (i64 f = 0; f < k_size; ++f) {
      OUT1((which * k_size + f) * v_size + item, state[f * v_size]);
    }
  }
}
#else
/* Pairs of features, halves apart or side by side, turned by the angle of their position. A thread
 * has V pairs of a head, or V of the features behind them that stay. */
template <class index_t, int V>
INLINE void turn_all(const parameters_t& p) {
  typedef several_t<IN0_STORED, V> piece_t;
  const bool apart = IN0_RANK == 4;
  const bool beside = A_interleaved != 0;
  const index_t heads = (index_t)(apart ? p.in[0].dims[1] : (i64)A_num_heads);
  const index_t size = (index_t)(apart ? p.in[0].dims[3] : p.in[0].dims[2] / (i64)heads);
  const index_t time = (index_t)(apart ? p.in[0].dims[2] : p.in[0].dims[1]);
  const index_t half = (A_rotary_dim == 0 ? size : (index_t)A_rotary_dim) / 2;
  const index_t pairs = half / V;
  const index_t pieces = pairs + (size - 2 * half) / V;
  const index_t count = (index_t)p.in[0].count / size * pieces;
  const IN0_STORED* from = (const IN0_STORED*)p.in[0].data;
  OUT0_STORED* to = (OUT0_STORED*)p.out[0].data;
  for (index_t i = (index_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += (index_t)gridDim.x * blockDim.x) {
    const index_t vector = i / pieces;
    const index_t piece = i - vector * pieces;
    const index_t start = vector * size;
    const index_t at = apart ? vector % time : vector / heads % time;
    const index_t token = vector / (heads * time) * time + at;
    const i64 row = HAS_IN3 ? (i64)IN3(token) : (i64)token;
    if (row < 0 || (row + 1) * (i64)half > p.in[1].count) {
      fail(p, 1, row);
      continue;
    }
    if (piece >= pairs) {
      const index_t place = start + 2 * half + (piece - pairs) * V;
      *(piece_t*)(to + place) = *(const piece_t*)(from + place);
      continue;
    }
    const index_t first = start + (beside ? 2 : 1) * piece * V;
    const index_t second = first + (beside ? V : half);
    const piece_t a = *(const piece_t*)(from + first);
    const piece_t b = *(const piece_t*)(from + second);
    const several_t<IN1_STORED, V> c = *(
        const several_t<IN1_STORED, V>*)((const IN1_STORED*)p.in[1].data + row * half + piece * V);
    const several_t<IN2_STORED, V> s = *(
        const several_t<IN2_STORED, V>*)((const IN2_STORED*)p.in[2].data + row * half + piece * V);
    piece_t x;
    piece_t y;
#pragma unroll
    for (int k = 0; k < V; ++k) {
      /* Side by side pairs are 2 k and 2 k + 1 of both pieces, one behind the other. */
      const IN0_STORED real = !beside     ? a.item[k]
                              : 2 * k < V ? a.item[2 * k % V]
                                          : b.item[2 * k % V];
      const IN0_STORED imaginary = !beside         ? b.item[k]
                                   : 2 * k + 1 < V ? a.item[(2 * k + 1) % V]
                                                   : b.item[(2 * k + 1) % V];
      const sum_t u = (sum_t)IN0_VALUE(real);
      const sum_t v = (sum_t)IN0_VALUE(imaginary);
      const sum_t cosine = (sum_t)IN1_VALUE(c.item[k]);
      const sum_t sine = (sum_t)IN2_VALUE(s.item[k]);
      const OUT0_STORED turned_u = OUT0_STORE(cosine * u - sine * v);
      const OUT0_STORED turned_v = OUT0_STORE(sine * u + cosine * v);
      if (!beside) {
        x.item[k] = turned_u;
        y.item[k] = turned_v;
      } else {
        (2 * k < V ? x : y).item[2 * k % V] = turned_u;
        (2 * k + 1 < V ? x : y).item[(2 * k + 1) % V] = turned_v;
      }
    }
    *(piece_t*)(to + first) = x;
    *(piece_t*)(to + second) = y;
  }
}
KERNEL turn(const __grid_constant__ parameters_t p) {
  enum { PIECE = 16 / (int)sizeof(IN0_STORED) };
  begin(p);
  const i64 size = IN0_RANK == 4 ? p.in[0].dims[3] : p.in[0].dims[2] / (i64)A_num_heads;
  const i64 half = (A_rotary_dim == 0 ? size : (i64)A_rotary_dim) / 2;
  const bool is_whole = sizeof(IN0_STORED) == sizeof(IN1_STORED) && half % PIECE == 0 &&
                        size % PIECE == 0 && is_aligned(p.in[0]) && is_aligned(p.in[1]) &&
                        is_aligned(p.in[2]) && is_aligned(p.out[0]);
  if (p.in[0].count >= (i64)1 << 31) {
    turn_all<i64, 1>(p);
  } else if (is_whole) {
    turn_all<unsigned, PIECE>(p);
  } else {
    turn_all<unsigned, 1>(p);
  }
}
#endif
