/*
 * In front of every family, behind arithmetic.cuh: arguments, elements of any type, how work is
 * shared out. What follows this in the text of a kernel are definitions by the host:
 *
 *   HAS_IN2, HAS_OUT1     1 where the argument is there
 *   IN2(i), IN2_OF(t, i)  element i of input 2 as a value, 0 where it is absent; of another tensor
 *   IN2_RANK, IN2_BITS, IN2_CLASS_f, IN2_f16
 *   IN2_STORED, IN2_VALUE(x), IN2_ELEMENT(x)    its elements in memory; one as a value, and back
 *   OUT0(i, x)            stores it
 *   OUT0_STORED, OUT0_STORE(x)   the type of an element in memory, and a value as one
 *   sum_t                 what is added up in: float, double, i64 or u64
 *   A_axis, A_pads[], A_pads_count, A_mode_linear    attributes: numbers, lists, 1 for that text
 *   OP_lstm               1 for that operator
 */
struct tensor_t {
  char* data;
  i64 count;
  i64 skip;
  i64 rank;
  i64 dims[8];
};
struct fault_t {
  unsigned code;
  unsigned reserved;
  i64 value;
};
struct parameters_t {
  tensor_t in[12];
  tensor_t out[4];
  i64 number[96];
  i64* extents[4];
  char* scratch;
  u64* persistent;
  fault_t* fault;
  i64 threads;
  int release;
  int pass;
  int shared; /* bytes of dynamic shared memory */
  int reserved;
};

#define KERNEL extern "C" __global__ void __launch_bounds__(256)

/* All of `count`, by all threads. */
#define EACH(i, count)                                                  \
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (count); \
       i += (i64)gridDim.x * blockDim.x)
/* All of `count`, one for each block. */
#define EACH_BLOCK(i, count) for (i64 i = blockIdx.x; i < (count); i += gridDim.x)
/* All of `count`, by the threads of a block. */
#define EACH_THREAD(i, count) for (i64 i = threadIdx.x; i < (count); i += blockDim.x)

/* The first fault that is found stays. */
INLINE void fail(const parameters_t& p, unsigned code, i64 value) {
  if (p.fault != 0 && atomicCAS(&p.fault->code, 0u, code) == 0u) {
    p.fault->value = value;
  }
}

/* ---- Elements ---- */

#define PLAIN(name)                                                       \
  INLINE auto load_##name(const tensor_t& t, i64 i) {                     \
    return value_##name(((const stored_##name*)t.data)[i]);               \
  }                                                                       \
  template <class T>                                                      \
  INLINE void put_##name(const tensor_t& t, i64 i, T x) {                 \
    ((stored_##name*)t.data)[i] = store_##name(x);                        \
  }
PLAIN(bool)
PLAIN(i8)
PLAIN(i16)
PLAIN(i32)
PLAIN(i64)
PLAIN(u8)
PLAIN(u16)
PLAIN(u32)
PLAIN(u64)
PLAIN(f16)
PLAIN(bf16)
PLAIN(f32)
PLAIN(f64)
PLAIN(f8e4m3fn)
PLAIN(f8e4m3fnuz)
PLAIN(f8e5m2)
PLAIN(f8e5m2fnuz)
PLAIN(f8e8m0)

/* Below a byte, lowest bits first. Who writes them has all of a byte. */
INLINE unsigned bits_at(const tensor_t& t, i64 i, int width) {
  const i64 place = (i + t.skip) * width;
  return (unsigned)((const u8*)t.data)[place >> 3] >> (int)(place & 7) & ((1u << width) - 1);
}
INLINE void put_bits(const tensor_t& t, i64 i, int width, unsigned bits) {
  const i64 place = i * width;
  const int shift = (int)(place & 7);
  const unsigned mask = ((1u << width) - 1) << shift;
  u8* at = (u8*)t.data + (place >> 3);
  *at = (u8)((*at & ~mask) | (bits << shift & mask));
}
#define PACKED_ELEMENTS(name, width)                                       \
  INLINE auto load_##name(const tensor_t& t, i64 i) {                     \
    return value_##name((u8)bits_at(t, i, width));                        \
  }                                                                       \
  template <class T>                                                      \
  INLINE void put_##name(const tensor_t& t, i64 i, T x) {                 \
    put_bits(t, i, width, store_##name(x));                               \
  }
PACKED_ELEMENTS(i4, 4)
PACKED_ELEMENTS(u4, 4)
PACKED_ELEMENTS(i2, 2)
PACKED_ELEMENTS(u2, 2)
PACKED_ELEMENTS(f4e2m1, 4)

/* Elements beside one another, which are read and written at once. */
template <class T, int N>
struct alignas(sizeof(T) * N) several_t {
  T item[N];
};
INLINE bool is_aligned(const tensor_t& t) { return (u64)t.data % 16 == 0; }

/* Rounded once: for sums whose order is free. Nothing else is fused. */
INLINE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
INLINE double fused(double a, double b, double c) { return fma(a, b, c); }

/* ---- Order: NaN is above all numbers ---- */

template <class T>
INLINE int compare(T a, T b) {
  const bool a_is_nan = a != a;
  const bool b_is_nan = b != b;
  return a_is_nan || b_is_nan ? (int)a_is_nan - (int)b_is_nan : a < b ? -1 : a > b ? 1 : 0;
}
INLINE i64 least_of(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most_of(i64 a, i64 b) { return a > b ? a : b; }
INLINE i64 wrapped(i64 i, i64 extent) { return i < 0 ? i + extent : i; }
INLINE i64 product(const tensor_t& t, int begin_axis, int end_axis) {
  i64 n = 1;
  for (int k = begin_axis; k < end_axis; ++k) {
    n *= t.dims[k];
  }
  return n;
}
