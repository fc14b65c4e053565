/*
 * What every generated kernel is made with, behind arithmetic.cuh: its parameters, how a number of
 * an access becomes places in all tensors, how elements are read and written, how the threads of a
 * row meet. The text in front defines WALKS, AXES, INDEXED, and for rows PARTS, SLOTS and COLUMNS.
 *
 * A walk is whatever goes along the space: an operand, an output, or a coordinate, which is a tensor
 * that has no memory and whose element is its place.
 */
struct axes_t {
  int rank;
  int reserved;
  unsigned extent[AXES];
  unsigned multiplier[AXES]; /* division by the extent: see divided */
  unsigned shift[AXES];
  int stride[AXES][WALKS];
};

struct parameters_t {
  char* data[WALKS];
  char* indexed[INDEXED];
  i64 dims[INDEXED][8];
  i64 strides[INDEXED][8];
  i64 size[8];    /* of the space */
  u64* fault;     /* mapped memory of the host: written, never read */
  char* partials; /* of rows that several blocks share: a word for each reduction, row and block */
  u64 limit;      /* elements of a row, or of everything where that is one run */
  unsigned count; /* accesses of a row, or of everything */
  unsigned rows;
  int release; /* 1: what follows may begin at once, for all blocks of this fit */
  int ragged;  /* 1: accesses do not fill the innermost axis of a row, which has `last` elements */
  unsigned last;
  unsigned split; /* blocks that share a row */
  int step[WALKS]; /* between the elements of an access */
  int wide[WALKS]; /* 1: neighbours, and aligned */
  axes_t outer;    /* the space; of rows: what they are counted by */
  axes_t inner;    /* of rows: along them */
#ifdef SHAPE
  shape_t shape; /* of a kernel with a slot: what else it is given */
#endif
};


/* Of numbers below 2^31. */
INLINE unsigned divided(const axes_t& axes, unsigned n, int k) {
  return axes.extent[k] == 1 ? n : __umulhi(n, axes.multiplier[k]) >> axes.shift[k];
}
/* With few axes the loop is unrolled, so that the parameters of all axes are loaded at once. */
INLINE void walk(const axes_t& axes, unsigned n, i64 (&place)[WALKS]) {
  unsigned rest = n;
#pragma unroll (AXES <= 4 ? AXES : 1)
  for (int k = AXES - 1; k > 0; --k) {
    if (k >= axes.rank) {
      continue;
    }
    const unsigned before = divided(axes, rest, k);
    const int here = (int)(rest - before * axes.extent[k]);
    rest = before;
#pragma unroll
    for (int w = 0; w < WALKS; ++w) {
      place[w] += (i64)here * axes.stride[k][w];
    }
  }
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    place[w] += (i64)(int)rest * axes.stride[0][w];
  }
}
/* How many elements access n of a row has. */
INLINE int left_of(const parameters_t& p, unsigned n) {
  if (V == 1 || !p.ragged) {
    return V;
  }
  const int k = p.inner.rank - 1;
  const unsigned at = k == 0 ? n : n - divided(p.inner, n, k) * p.inner.extent[k];
  const unsigned behind = p.last - at * V;
  return behind < V ? (int)behind : V;
}
INLINE void origin(i64 (&place)[WALKS]) {
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    place[w] = 0;
  }
}

/* ---- Elements ---- */

template <int BYTES>
struct word_t;
template <>
struct word_t<16> {
  typedef uint4 type;
};
template <>
struct word_t<8> {
  typedef uint2 type;
};
template <>
struct word_t<4> {
  typedef unsigned type;
};
template <>
struct word_t<2> {
  typedef u16 type;
};
template <>
struct word_t<1> {
  typedef u8 type;
};
/* N elements as words of at most 16 bytes. */
template <class S, int N>
union words_t {
  static const int BYTES = N * (int)sizeof(S);
  static const int WORD = BYTES < 16 ? BYTES : 16;
  S elements[N];
  typename word_t<WORD>::type words[BYTES / WORD];
};

template <class S, int N>
INLINE void fetch(const S* from, int step, int wide, int left, S (&out)[N]) {
  words_t<S, N> read;
  if (wide && left == N) {
    const typename word_t<words_t<S, N>::WORD>::type* words =
        (const typename word_t<words_t<S, N>::WORD>::type*)from;
#pragma unroll
    for (int k = 0; k < words_t<S, N>::BYTES / words_t<S, N>::WORD; ++k) {
      read.words[k] = words[k];
    }
  } else if (step == 0) { /* one for all: a bias */
    const S one = *from;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      read.elements[j] = one;
    }
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      read.elements[j] = j < left ? from[(i64)j * step] : (S)0;
    }
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    out[j] = read.elements[j];
  }
}
/* Loads access n of a contiguous tensor. The access is whole and aligned. */
template <class S, int N>
INLINE void fetch_whole(const char* from, unsigned n, S (&out)[N]) {
  words_t<S, N> read;
  const u64 first = (u64)n * (words_t<S, N>::BYTES / words_t<S, N>::WORD);
#pragma unroll
  for (int k = 0; k < words_t<S, N>::BYTES / words_t<S, N>::WORD; ++k) {
    read.words[k] = ((const typename word_t<words_t<S, N>::WORD>::type*)from)[first + k];
  }
#pragma unroll
  for (int j = 0; j < N; ++j) {
    out[j] = read.elements[j];
  }
}
template <class S, int N>
INLINE void place_whole(char* to, unsigned n, const S (&values)[N]) {
  words_t<S, N> written;
  const u64 first = (u64)n * (words_t<S, N>::BYTES / words_t<S, N>::WORD);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    written.elements[j] = values[j];
  }
#pragma unroll
  for (int k = 0; k < words_t<S, N>::BYTES / words_t<S, N>::WORD; ++k) {
    ((typename word_t<words_t<S, N>::WORD>::type*)to)[first + k] = written.words[k];
  }
}
template <class S, int N>
INLINE void place(S* to, int step, int wide, int left, const S (&values)[N]) {
  words_t<S, N> written;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    written.elements[j] = values[j];
  }
  if (wide && left == N) {
    typename word_t<words_t<S, N>::WORD>::type* words =
        (typename word_t<words_t<S, N>::WORD>::type*)to;
#pragma unroll
    for (int k = 0; k < words_t<S, N>::BYTES / words_t<S, N>::WORD; ++k) {
      words[k] = written.words[k];
    }
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      if (j < left) {
        to[(i64)j * step] = values[j];
      }
    }
  }
}

/* ---- Errors in data: from the top 1, axis in 4 bits, index and extent in 29 each ---- */

INLINE u64 cut(i64 x) {
  const i64 most = (1 << 28) - 1;
  return (u64)(x < -most ? -most : x > most ? most : x) & ((1u << 29) - 1);
}
INLINE u64 fault_at(int axis, i64 index, i64 extent) {
  return 1ull << 63 | (u64)(axis & 15) << 58 | cut(index) << 29 | cut(extent);
}
INLINE u64 worse(u64 a, u64 b) { return a > b ? a : b; }
INLINE void tell(const parameters_t& p, u64 fault) {
  if (fault != 0 && p.fault != 0) {
    *(volatile u64*)p.fault = fault;
  }
}

/* ---- Rows: PARTS threads share one, or V neighbours (COLUMNS); a block has SLOTS times that ---- */

#ifdef PARTS
struct join_sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const { return op_add(a, b); }
};
struct join_prod {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const { return op_mul(a, b); }
};
struct join_min {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const { return op_min(a, b); }
};
struct join_max {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const { return op_max(a, b); }
};

template <class T>
INLINE T other(T x, int distance) { return __shfl_xor_sync(0xFFFFFFFFu, x, distance); }
INLINE bool other(bool x, int distance) {
  return __shfl_xor_sync(0xFFFFFFFFu, (int)x, distance) != 0;
}

/* What all threads of a row have, joined in a fixed order; each of them gets it. */
#if COLUMNS
/* Of V rows at once: within a warp first, then one thread a row joins what its warps have. */
template <class T, class JOIN>
INLINE void combine(T (&x)[V], JOIN join) {
#if PARTS > 1
  enum { LANES = SLOTS < 32 ? 32 : SLOTS, GROUPS = PARTS * SLOTS / LANES };
  __shared__ T partial[GROUPS][SLOTS][V];
  const unsigned slot = threadIdx.x % SLOTS;
#pragma unroll
  for (int distance = SLOTS; distance < LANES; distance *= 2) {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      x[j] = join(x[j], other(x[j], distance));
    }
  }
  if (threadIdx.x % LANES < SLOTS) {
#pragma unroll
    for (int j = 0; j < V; ++j) {
      partial[threadIdx.x / LANES][slot][j] = x[j];
    }
  }
  __syncthreads();
  for (unsigned n = threadIdx.x; GROUPS > 1 && n < SLOTS * V; n += PARTS * SLOTS) {
    T all = partial[0][n / V][n % V];
#pragma unroll
    for (int k = 1; k < GROUPS; ++k) {
      all = join(all, partial[k][n / V][n % V]);
    }
    partial[0][n / V][n % V] = all;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < V; ++j) {
    x[j] = partial[0][slot][j];
  }
  __syncthreads();
#endif
}
#else
template <class T, class JOIN>
INLINE T combine(T x, JOIN join) {
#if PARTS == 1
  return x;
#else
#pragma unroll
  for (int distance = (PARTS < 32 ? PARTS : 32) / 2; distance > 0; distance /= 2) {
    x = join(x, other(x, distance));
  }
#if PARTS > 32
  __shared__ T partial[SLOTS][PARTS / 32];
  const unsigned slot = threadIdx.x / PARTS;
  if (threadIdx.x % 32 == 0) {
    partial[slot][threadIdx.x % PARTS / 32] = x;
  }
  __syncthreads();
  x = partial[slot][0];
#pragma unroll
  for (int k = 1; k < PARTS / 32; ++k) {
    x = join(x, partial[slot][k]);
  }
  __syncthreads();
#endif
  return x;
#endif
}
#endif
#endif
