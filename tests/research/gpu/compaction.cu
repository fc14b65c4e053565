/* Outputs whose extents the run finds (NonZero, Compress): the places of all elements that are not
 * zero, in order, and their number, by one launch or several, beside CUB.
 *
 *   compaction --check      for the sanitizers */
#include <cstring>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include "hopper.cuh"
#include "measure.cuh"

enum { THREADS = 256, EACH = 16, PIECE = THREADS * EACH };
/* What a piece says of itself: nothing yet, its own number, the number of all up to its end. */
enum { NOTHING, OWN, ALL };

/* The thread's elements as bits, 16 neighbours. */
static __device__ unsigned flags_of(const float* x, long long n, int piece) {
  const long long first = (long long)piece * PIECE + threadIdx.x * EACH;
  unsigned flags = 0;
  if (first + EACH <= n) {
#pragma unroll
    for (int i = 0; i < EACH / 4; i++) {
      const float4 v = *(const float4*)(x + first + i * 4);
      flags |= (v.x != 0) << i * 4 | (v.y != 0) << (i * 4 + 1) | (v.z != 0) << (i * 4 + 2) |
               (v.w != 0) << (i * 4 + 3);
    }
  } else {
    for (int i = 0; i < EACH && first + i < n; i++) {
      flags |= (x[first + i] != 0) << i;
    }
  }
  return flags;
}

/* The number before this thread's; `total` of the block. */
static __device__ int before_thread(unsigned flags, int* shared, int* total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = __popc(flags);
  int sum = own;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(~0u, sum, d);
    sum += lane >= d ? other : 0;
  }
  if (lane == 31) {
    shared[warp] = sum;
  }
  __syncthreads();
  int before = sum - own, all = 0;
  for (int w = 0; w < THREADS / 32; w++) {
    before += w < warp ? shared[w] : 0;
    all += shared[w];
  }
  *total = all;
  return before;
}

/* Places through shared memory, so that neighbours are written by neighbours. */
static __device__ void write_places(unsigned flags, int before, int total, int piece,
                                    long long base, long long* out, unsigned short* places) {
  for (unsigned left = flags; left; left &= left - 1) {
    places[before++] = (unsigned short)(threadIdx.x * EACH + __ffs((int)left) - 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < total; i += THREADS) {
    out[base + i] = (long long)piece * PIECE + places[i];
  }
}

static __global__ void __launch_bounds__(THREADS)
    count_pieces(const float* x, long long n, int* counts) {
  __shared__ int shared[THREADS / 32];
  int total;
  wait_for_predecessor();
  release_dependents();
  before_thread(flags_of(x, n, (int)blockIdx.x), shared, &total);
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = total;
  }
}
static __global__ void __launch_bounds__(1024)
    add_up(int* counts, int pieces, long long* out_count) {
  __shared__ int sums[32];
  __shared__ int carry;
  wait_for_predecessor();
  release_dependents();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    carry = 0;
  }
  for (int first = 0; first < pieces; first += 1024) {
    const int i = first + (int)threadIdx.x, own = i < pieces ? counts[i] : 0;
    int sum = own;
    for (int d = 1; d < 32; d *= 2) {
      const int other = __shfl_up_sync(~0u, sum, d);
      sum += lane >= d ? other : 0;
    }
    if (lane == 31) {
      sums[warp] = sum;
    }
    __syncthreads();
    int before = carry + sum - own;
    for (int w = 0; w < warp; w++) {
      before += sums[w];
    }
    if (i < pieces) {
      counts[i] = before;
    }
    __syncthreads();
    if (threadIdx.x == 1023) {
      carry = before + own;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *out_count = carry;
  }
}
static __global__ void __launch_bounds__(THREADS)
    write_pieces(const float* x, long long n, const int* counts, long long* out) {
  __shared__ int shared[THREADS / 32];
  __shared__ unsigned short places[PIECE];
  int total;
  wait_for_predecessor();
  release_dependents();
  const unsigned flags = flags_of(x, n, (int)blockIdx.x);
  const int before = before_thread(flags, shared, &total);
  write_places(flags, before, total, (int)blockIdx.x, counts[blockIdx.x], out, places);
}

/* One launch: each piece publishes its number and looks back at those before it. The last block to
 * finish clears what the pieces said, for the next run: `state[0]` hands out the pieces, `state[1]`
 * counts those that are done. */
static __global__ void __launch_bounds__(THREADS)
    look_back(const float* x, long long n, int pieces, unsigned* state, unsigned long long* said,
              long long* out, long long* out_count) {
  __shared__ int shared[THREADS / 32];
  __shared__ unsigned short places[PIECE];
  __shared__ int my_piece;
  __shared__ long long base;
  __shared__ bool is_last;
  wait_for_predecessor();
  if (threadIdx.x == 0) {
    my_piece = (int)atomicAdd(&state[0], 1); /* in the order in which blocks begin */
  }
  __syncthreads();
  const int piece = my_piece;
  int total;
  const unsigned flags = flags_of(x, n, piece);
  const int before = before_thread(flags, shared, &total);
  volatile unsigned long long* const words = said;
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    if (lane == 0) {
      words[piece] = (unsigned long long)total << 2 | (piece == 0 ? ALL : OWN);
    }
    long long sum = 0;
    for (int last = piece - 1; last >= 0; last -= 32) { /* 32 pieces at a time, nearest first */
      const int at = last - lane;
      unsigned long long word = ALL;
      if (at >= 0) {
        do {
          word = words[at];
        } while ((word & 3) == NOTHING);
      }
      const unsigned ends = __ballot_sync(~0u, (word & 3) == ALL);
      const int stop = ends ? __ffs((int)ends) - 1 : 31;
      long long part = lane <= stop ? (long long)(word >> 2) : 0;
      for (int d = 16; d; d /= 2) {
        part += __shfl_xor_sync(~0u, part, d);
      }
      sum += part;
      if (ends) {
        break;
      }
    }
    if (lane == 0) {
      base = sum;
      if (piece > 0) {
        words[piece] = (unsigned long long)(sum + total) << 2 | ALL;
      }
      if (piece == pieces - 1) {
        *out_count = sum + total;
      }
    }
  }
  __syncthreads();
  release_dependents();
  write_places(flags, before, total, piece, base, out, places);
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&state[1], 1) == (unsigned)pieces - 1;
  }
  __syncthreads();
  if (is_last) {
    for (int i = threadIdx.x; i < pieces; i += THREADS) {
      said[i] = 0;
    }
    if (threadIdx.x < 2) {
      state[threadIdx.x] = 0;
    }
  }
}

struct not_zero_t {
  const float* x;
  __device__ bool operator()(long long i) const {
    return x[i] != 0;
  }
};

static __global__ void thin_out(float* x, long long n, int one_of) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x) {
    const unsigned h = (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 7) * 0x9E3779B9u;
    x[i] = (h >> 8) % one_of == 0 ? 1.f + (float)(i % 7) : i % 3 == 0 ? -0.f : 0.f;
  }
}

struct problem_t {
  long long n;
  int pieces;
  float* x;
  long long *out, *count;
  int* counts;
  unsigned* state;
  unsigned long long* said;
  void* space = nullptr;
  size_t space_bytes = 0;
  std::vector<long long> expected;

  problem_t(long long n, int one_of) : n(n), pieces((int)((n + PIECE - 1) / PIECE)) {
    x = device_new<float>((size_t)n);
    thin_out<<<256, 256>>>(x, n, one_of);
    CHECK(cudaGetLastError());
    std::vector<float> host((size_t)n);
    CHECK(cudaMemcpy(host.data(), x, (size_t)n * 4, cudaMemcpyDeviceToHost));
    for (long long i = 0; i < n; i++) {
      if (host[(size_t)i] != 0) {
        expected.push_back(i);
      }
    }
    out = device_new<long long>((size_t)n);
    count = device_new<long long>(1);
    counts = device_new<int>((size_t)pieces);
    state = device_new<unsigned>(2);
    said = device_new<unsigned long long>((size_t)pieces);
    CHECK(cudaMemset(state, 0, 8));
    CHECK(cudaMemset(said, 0, (size_t)pieces * 8));
    library(nullptr);
    space = device_new<uint8_t>(space_bytes);
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (void* p :
         {(void*)x, (void*)out, (void*)count, (void*)counts, (void*)state, (void*)said, space}) {
      cudaFree(p);
    }
  }
  /* With no space yet, asks how much. */
  void library(cudaStream_t s) {
    CHECK(cub::DeviceSelect::If(space, space_bytes, thrust::counting_iterator<long long>(0), out,
                                count, n, not_zero_t{x}, s));
  }
  void three(cudaStream_t s) {
    CHECK(launch(count_pieces, dim3((unsigned)pieces), THREADS, 0, dim3(1), true, s,
                 (const float*)x, n, counts));
    CHECK(launch(add_up, dim3(1), 1024, 0, dim3(1), true, s, counts, pieces, count));
    CHECK(launch(write_pieces, dim3((unsigned)pieces), THREADS, 0, dim3(1), true, s,
                 (const float*)x, n, (const int*)counts, out));
  }
  void one(cudaStream_t s) {
    CHECK(launch(look_back, dim3((unsigned)pieces), THREADS, 0, dim3(1), true, s, (const float*)x,
                 n, pieces, state, said, out, count));
  }
  bool right() const {
    long long c = -1;
    CHECK(cudaMemcpy(&c, count, 8, cudaMemcpyDeviceToHost));
    if (c != (long long)expected.size()) {
      return false;
    }
    std::vector<long long> got(expected.size());
    CHECK(cudaMemcpy(got.data(), out, got.size() * 8, cudaMemcpyDeviceToHost));
    return got == expected;
  }
};

static void measure(long long n, int one_of, bool few) {
  problem_t p(n, one_of);
  printf("COMPACT %lld, %zu not zero; bytes %.2f us\n", n, p.expected.size(),
         ((double)n * 4 + (double)p.expected.size() * 8) / 2.98e6);
  const struct {
    const char* name;
    void (problem_t::*run)(cudaStream_t);
  } ways[] = {{"three launches", &problem_t::three},
              {"one launch", &problem_t::one},
              {"CUB", &problem_t::library}};
  for (const auto& w : ways) {
    int wrong = 0;
    for (int turn = 0; turn < (few ? 2 : 5); turn++) {
      CHECK(cudaMemset(p.out, 0xff, (size_t)n * 8));
      CHECK(cudaMemset(p.count, 0xff, 8));
      (p.*w.run)(nullptr);
      CHECK(cudaGetLastError());
      wait_or_die(nullptr, w.name);
      wrong += !p.right();
    }
    const spread_t us =
        few ? spread_t{0, 0, 0} : step_time([&](cudaStream_t s, int) { (p.*w.run)(s); }, 11, 5, 15);
    printf("  %s: %.2f (%.2f-%.2f), %d wrong\n", w.name, us.median, us.low, us.high, wrong);
  }
}

int main(int argc, char** argv) {
  print_device();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    measure(1000, 3, true);
    measure(25203, 100, true);
    measure(300001, 2, true);
    return 0;
  }
  for (long long n : {1000ll, 25200ll, 1000000ll, 16000000ll}) {
    for (int one_of : {2, 100}) {
      measure(n, one_of, false);
    }
  }
}
