/*
 * Precedes a kernel's source when it is compiled for the host. It replaces the built-in names of
 * the CUDA compiler. The threads of a warp run sequentially, and so do the warps of a block. At a
 * synchronisation, each thread yields to the next one. All threads must reach the same
 * synchronisations.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define STAND_IN 1
#define __CUDA_ARCH__ 800
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
/* Blocks run sequentially, so shared memory may be static. */
#define __shared__ static
/* Replaces the inline assembly of arithmetic.cuh: conversions of f16 from x to y. */
#define asm(...) stand_in_convert(x, y)

struct stand_in_place_t {
  unsigned x;
  unsigned y;
  unsigned z;
};
extern "C" {
stand_in_place_t threadIdx;
stand_in_place_t blockIdx;
stand_in_place_t blockDim;
stand_in_place_t gridDim;
/* The program that loads this code sets these pointers. */
void (*stand_in_meet)(void);
void (*stand_in_meet_warp)(void);
void (*stand_in_meet_cluster)(void);
uint64_t* stand_in_slots;
unsigned stand_in_cluster_rank;
}

struct uint2 {
  unsigned x, y;
} __attribute__((aligned(8)));
struct uint4 {
  unsigned x, y, z, w;
} __attribute__((aligned(16)));
struct float2 {
  float x, y;
} __attribute__((aligned(8)));
struct float4 {
  float x, y, z, w;
} __attribute__((aligned(16)));

static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
template <class T, class F>
static inline T stand_in_bits(F x) {
  T y;
  memcpy(&y, &x, sizeof(y));
  return y;
}
static inline float __uint_as_float(unsigned x) { return stand_in_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return stand_in_bits<unsigned>(x); }
static inline long long __double_as_longlong(double x) { return stand_in_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return stand_in_bits<double>(x); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t both = (uint64_t)b << 32 | a;
  unsigned result = 0;
  for (unsigned k = 0; k < 4; k++) {
    result |= (unsigned)(both >> (selector >> 4 * k & 7) * 8 & 255) << 8 * k;
  }
  return result;
}
/* Differs by two units in the last place, the maximum error of a GPU. */
static inline float __fdividef(float a, float b) { return nextafterf(nextafterf(a / b, 2.0f), 2.0f); }
static inline float near_exp2(float x) {
  const float power = exp2f(x) * 1.0000002384f;
  return power < 1.17549435e-38f ? 0.0f : power;
}
static inline float near_reciprocal(float x) {
  const float inverse = 1.0f / x * 1.0000002384f;
  return fabsf(inverse) < 1.17549435e-38f ? 0.0f : inverse;
}
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline void sincospi(double x, double* s, double* c) {
  *s = sin(x * 3.14159265358979323846);
  *c = cos(x * 3.14159265358979323846);
}
static inline void sincospif(float x, float* s, float* c) {
  *s = (float)sin((double)x * 3.14159265358979323846);
  *c = (float)cos((double)x * 3.14159265358979323846);
}
static inline float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline double stand_in_cut(double x, double least, double most) {
  return x != x ? 0.0 : x < least ? least : x > most ? most : x;
}
static inline int __double2int_rz(double x) {
  return (int)stand_in_cut(x, -2147483648.0, 2147483647.0);
}
static inline int __float2int_rz(float x) { return __double2int_rz((double)x); }
static inline long long __double2ll_rz(double x) {
  return x != x || x < -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (long long)x;
}
static inline unsigned long long __double2ull_rz(double x) {
  return x != x ? 1ull << 63 : x <= 0.0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (unsigned long long)x;
}

static inline void stand_in_convert(uint16_t x, float& y) {
  const int exponent = x >> 10 & 31;
  const float sign = x >> 15 != 0 ? -1.0f : 1.0f;
  const float mantissa = (float)((x & 1023) | (exponent == 0 ? 0 : 1024));
  y = exponent != 31          ? sign * ldexpf(mantissa, (exponent == 0 ? 1 : exponent) - 25)
      : mantissa == 1024.0f ? sign * INFINITY
                            : NAN;
}
template <class T>
static inline void stand_in_convert(T x, uint16_t& y) {
  const double value = (double)(float)x;
  const unsigned sign = signbit(value) ? 0x8000u : 0u;
  int exponent = 0;
  (void)frexp(value, &exponent);
  exponent = value == 0.0 || exponent < -13 ? -13 : exponent;
  const double steps = nearbyint(ldexp(fabs(value), 11 - exponent));
  const bool large = fabs(value) >= 65520.0; /* halfway between the largest f16 and the next step */
  y = (uint16_t)(value != value ? 0x7FFFu
                 : large        ? sign | 0x7C00u
                                : sign | ((unsigned)steps + ((unsigned)(exponent + 13) << 10)));
}

static inline void __syncthreads() { stand_in_meet(); }
static inline void __syncwarp() { stand_in_meet_warp(); }
/* Each thread of a warp publishes a value of up to 8 bytes and reads the value of another
 * thread. */
template <class T>
static inline T stand_in_exchange(T x, unsigned thread) {
  uint64_t mine = 0;
  T other;
  memcpy(&mine, &x, sizeof(x));
  stand_in_slots[threadIdx.x] = mine;
  stand_in_meet_warp();
  memcpy(&other, &stand_in_slots[thread], sizeof(other));
  stand_in_meet_warp();
  return other;
}
template <class T>
static inline T __shfl_xor_sync(unsigned, T x, int distance) {
  return stand_in_exchange(x, threadIdx.x ^ (unsigned)distance);
}
template <class T>
static inline T __shfl_sync(unsigned, T x, int lane) {
  return stand_in_exchange(x, threadIdx.x / 32 * 32 + (unsigned)lane);
}
template <class T>
static inline T __shfl_up_sync(unsigned, T x, unsigned distance) {
  return stand_in_exchange(x, threadIdx.x % 32 < distance ? threadIdx.x : threadIdx.x - distance);
}
/* Returns a mask of the lanes that published the same value as this one. */
template <class T>
static inline unsigned __match_any_sync(unsigned, T x) {
  uint64_t mine = 0;
  unsigned same = 0;
  memcpy(&mine, &x, sizeof(x));
  stand_in_slots[threadIdx.x] = mine;
  stand_in_meet_warp();
  for (unsigned lane = 0; lane < 32; lane++) {
    same |= (stand_in_slots[threadIdx.x / 32 * 32 + lane] == mine ? 1u : 0u) << lane;
  }
  stand_in_meet_warp();
  return same;
}
static inline unsigned __ballot_sync(unsigned, int x) {
  const unsigned same = __match_any_sync(~0u, x != 0);
  return x != 0 ? same : ~same;
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }

/* ---- The instructions of plugins/cuda/convolution/matrix.cuh ---- */

typedef uintptr_t shared_t;
/* The blocks of a cluster run alternately, so each has its own shared memory. */
enum { STAND_IN_CLUSTER = 8, STAND_IN_SHARED = 232448 };
#define SHARED_BYTES(name)                                                            \
  alignas(1024) static unsigned char name##_of[STAND_IN_CLUSTER][STAND_IN_SHARED];    \
  unsigned char* const name = name##_of[stand_in_cluster_rank]
static inline shared_t shared_of(const void* from) { return (shared_t)from; }
static inline uint4 load_fresh(const void* from) {
  if ((uintptr_t)from % 16 != 0) {
    __builtin_trap(); /* as a GPU does */
  }
  return *(const uint4*)from;
}
static inline uint4 load_weights(const uint4* from) { return load_fresh(from); }
static inline void load_fresh_where(bool is_there, const void* from, uint4& x) {
  x = is_there ? load_fresh(from) : x;
}
static inline void copy_16(shared_t to, const void* from, int bytes) {
  if (to % 16 != 0 || (bytes != 0 && (uintptr_t)from % 16 != 0)) {
    __builtin_trap();
  }
  memset((void*)to, 0, 16);
  memcpy((void*)to, from, (size_t)bytes);
}
static inline void wait_for_copies() {}
static inline void end_copies() {}
static inline void wait_for_older_copies() {}
static inline void release_dependents() {}
static inline void wait_for_predecessors() {}

/* Values that each thread publishes to its warp. */
static unsigned stand_in_shown[1024][6];
static inline unsigned* stand_in_of_lane(unsigned lane) {
  return stand_in_shown[threadIdx.x / 32 * 32 + lane];
}
/* All values of f16, because a product converts each element often. */
static const float* stand_in_halves() {
  static float values[1 << 16];
  if (values[1] == 0.0f) {
    for (unsigned bits = 0; bits < 1 << 16; bits++) {
      stand_in_convert((uint16_t)bits, values[bits]);
    }
  }
  return values;
}
static inline float stand_in_narrow(unsigned pair, unsigned which, bool is_brain) {
  const uint16_t bits = (uint16_t)(which == 0 ? pair : pair >> 16);
  return is_brain ? __uint_as_float((unsigned)bits << 16) : stand_in_halves()[bits];
}

static inline void load_matrices(unsigned (&r)[4], shared_t row) {
  const unsigned lane = threadIdx.x % 32;
  if (row % 16 != 0) {
    __builtin_trap();
  }
  stand_in_slots[threadIdx.x] = row;
  stand_in_meet_warp();
  for (unsigned matrix = 0; matrix < 4; matrix++) {
    const shared_t from = stand_in_slots[threadIdx.x - lane + matrix * 8 + lane / 4];
    memcpy(&r[matrix], (const void*)(from + lane % 4 * 4), 4);
  }
  stand_in_meet_warp();
}

static inline void load_matrices_turned(unsigned (&r)[4], shared_t row) {
  const unsigned lane = threadIdx.x % 32;
  if (row % 16 != 0) {
    __builtin_trap();
  }
  stand_in_slots[threadIdx.x] = row;
  stand_in_meet_warp();
  for (unsigned matrix = 0; matrix < 4; matrix++) {
    for (unsigned k = 0; k < 2; k++) {
      const shared_t from = stand_in_slots[threadIdx.x - lane + matrix * 8 + lane % 4 * 2 + k];
      memcpy((char*)&r[matrix] + k * 2, (const void*)(from + lane / 4 * 2), 2);
    }
  }
  stand_in_meet_warp();
}

/* The fragments have the rows and columns that PTX specifies for m16n8k16. */
static inline void stand_in_multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                     unsigned b1, bool is_brain) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  memcpy(stand_in_of_lane(lane), mine, sizeof(mine));
  stand_in_meet_warp();
  for (unsigned k = 0; k < 16; k++) {
    for (unsigned element = 0; element < 4; element++) {
      const unsigned row = lane / 4; /* elements 2 and 3: row + 8 */
      const unsigned column = lane % 4 * 2 + element % 2;
      const unsigned* left = stand_in_of_lane(row * 4 + k % 8 / 2);
      const unsigned* right = stand_in_of_lane(column * 4 + k % 8 / 2);
      c[element] += stand_in_narrow(left[k / 8 * 2 + element / 2], k % 2, is_brain) *
                    stand_in_narrow(right[4 + k / 8], k % 2, is_brain);
    }
  }
  stand_in_meet_warp();
}
#define multiply_fragments(c, a, b0, b1) stand_in_multiply(c, a, b0, b1, BRAIN != 0)

/* ---- The instructions of plugins/cuda/convolution/warpgroup_matrix.cuh ---- */

template <int COUNT>
static inline void wait_for_copies_but() {}
static inline void publish_copies() {}
static inline void begin_products() {}
static inline void end_products() {}
static inline void wait_for_products() {}
typedef shared_t operand_t;
static inline operand_t operand_at(shared_t at) { return at; }
/* Element k of a row. Bits of the address select the position of a piece, as on a GPU. */
static inline float stand_in_operand(operand_t at, unsigned row, unsigned k, bool is_brain) {
  const shared_t place = at + row * 128 + k * 2;
  const shared_t swizzled = place ^ (place >> 7 & 7) << 4;
  uint16_t bits = 0;
  memcpy(&bits, (const void*)swizzled, sizeof(bits));
  return stand_in_narrow(bits, 0, is_brain);
}
template <int TILES>
static inline void stand_in_multiply_operands(float (&sums)[TILES][4], operand_t a, operand_t b,
                                              bool is_brain) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned k = 0; k < 16; k++) {
    float left[2];
    for (unsigned half = 0; half < 2; half++) {
      left[half] =
          stand_in_operand(a, threadIdx.x / 32 % 4 * 16 + lane / 4 + half * 8, k, is_brain);
    }
    for (unsigned element = 0; element < TILES * 2; element++) {
      const unsigned column = element / 2 * 8 + lane % 4 * 2 + element % 2;
      const float right = stand_in_operand(b, column, k, is_brain);
      sums[element / 2][element % 2] += left[0] * right;
      sums[element / 2][2 + element % 2] += left[1] * right;
    }
  }
}
#define multiply_operands(sums, a, b) stand_in_multiply_operands(sums, a, b, BRAIN != 0)

/* A barrier holds the number of bytes that have not arrived. */
static inline void expect_pushes(shared_t at, int bytes) { memcpy((void*)at, &bytes, 4); }
static inline void begin_meeting() {}
static inline void end_meeting() { stand_in_meet_cluster(); }
static inline shared_t there(shared_t at, int to) {
  return at + ((shared_t)to - stand_in_cluster_rank) * STAND_IN_SHARED;
}
static inline void push(shared_t to, shared_t barrier, const float (&x)[4]) {
  memcpy((void*)to, x, sizeof(x));
  *(int*)barrier -= (int)sizeof(x);
}
static inline void wait_for_pushes(shared_t at) {
  stand_in_meet_cluster();
  if (*(const int*)at != 0) {
    __builtin_trap();
  }
}

/* The same for m16n8k8 of f32. PTX does not specify the effect of bits below tf32, so operands must
 * not have any. */
static inline unsigned rounded_single(unsigned bits) {
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FFFFFFFu : (bits + 0x1000u) & ~0x1FFFu;
}
static inline float stand_in_single(unsigned bits) {
  const float value = __uint_as_float(bits);
  if ((bits & 0x1FFFu) != 0 && value == value) {
    __builtin_trap();
  }
  return value;
}
static inline void multiply_singles(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  memcpy(stand_in_of_lane(lane), mine, sizeof(mine));
  stand_in_meet_warp();
  for (unsigned k = 0; k < 8; k++) {
    for (unsigned element = 0; element < 4; element++) {
      const unsigned column = lane % 4 * 2 + element % 2;
      const unsigned* left = stand_in_of_lane(lane / 4 * 4 + k % 4);
      const unsigned* right = stand_in_of_lane(column * 4 + k % 4);
      c[element] += stand_in_single(left[k / 4 * 2 + element / 2]) *
                    stand_in_single(right[4 + k / 4]);
    }
  }
  stand_in_meet_warp();
}
static inline unsigned stand_in_narrowed(float x, bool is_brain) {
  uint16_t half = 0;
  stand_in_convert(x, half);
  const unsigned bits = __float_as_uint(x);
  return !is_brain ? half
         : x != x  ? 0x7FFFu
                   : (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}
#define narrow_pair(low, high) \
  (stand_in_narrowed(low, BRAIN != 0) | stand_in_narrowed(high, BRAIN != 0) << 16)

/* One thread runs at a time, so these operations need no synchronisation. */
template <class T, class U>
static inline T atomicAdd(T* at, U x) {
  const T old = *at;
  *at = (T)(old + (T)x);
  return old;
}
template <class T>
static inline T atomicCAS(T* at, T expected, T x) {
  const T old = *at;
  *at = old == expected ? x : old;
  return old;
}
template <class T>
static inline T atomicOr(T* at, T x) {
  const T old = *at;
  *at = old | x;
  return old;
}
