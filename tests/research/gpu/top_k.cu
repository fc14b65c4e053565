/* The k first of each row in the order of the reference: own kernels in one launch, whatever the
 * length (each block selects from a piece, the last block of a row from what they found), beside a
 * whole sort by CUB, which has no selection in this version. Values and indices bit by bit.
 *
 *   top_k
 *   top_k --check      for the sanitizers */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "row_order.cuh"

enum top_method_t { BY_ROUNDS, BY_SEARCH };
enum { TOP_ROUNDS_MAX = 8, TOP_MAX = 128, TOP_INDEX_BITS = 20 };

struct top_arguments_t {
  const float* x;
  int n, k, largest;
  uint64_t* candidates; /* [rows][blocks * k] */
  unsigned* done;       /* [rows], 0 */
  float* values;        /* [rows][k] */
  uint32_t* indices;
};

/* The warp's k greatest, one a round; all lanes return with `to` written by one of them. */
template <int EACH>
static __device__ void warp_rounds(uint64_t (&pair)[EACH], int k, uint64_t* to) {
  uint64_t best = 0;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    best = pair[e] > best ? pair[e] : best;
  }
  for (int round = 0; round < k; round++) {
    const uint32_t key = __reduce_max_sync(~0u, (uint32_t)(best >> 32)),
                   low =
                       __reduce_max_sync(~0u, (uint32_t)(best >> 32) == key ? (uint32_t)best : 0u);
    const uint64_t winner = (uint64_t)key << 32 | low;
    if (threadIdx.x % 32 == 0) {
      to[round] = winner;
    }
    if (best == winner) {
      best = 0;
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        pair[e] = pair[e] == winner ? 0 : pair[e];
        best = pair[e] > best ? pair[e] : best;
      }
    }
  }
}

struct top_shared_t {
  uint64_t found[TOP_MAX], ordered[TOP_MAX];
  uint64_t by_warp[32 * TOP_ROUNDS_MAX];
  uint32_t counts[2][2][32];
  uint32_t used, last;
};

/* `found` holds the block's k greatest in any order, 0 where there are fewer. */
template <int THREADS, int EACH>
static __device__ void select_by_rounds(uint64_t (&pair)[EACH], int k, top_shared_t& s) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  warp_rounds<EACH>(pair, k, s.by_warp + warp * k);
  __syncthreads();
  if (warp == 0) {
    uint64_t mine[TOP_ROUNDS_MAX];
#pragma unroll
    for (int i = 0; i < TOP_ROUNDS_MAX; i++) {
      const int at = i * 32 + lane;
      mine[i] = at < THREADS / 32 * k ? s.by_warp[at] : 0;
    }
    warp_rounds<TOP_ROUNDS_MAX>(mine, k, s.found);
  }
  __syncthreads();
}

/* The greatest threshold that k or more reach, two bits a round, until exactly k reach it. */
template <int THREADS, int EACH>
static __device__ void select_by_search(uint64_t (&pair)[EACH], int k, top_shared_t& s) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint64_t threshold = 0;
  int reached = THREADS * EACH, turn = 0;
  for (int shift = 62; shift >= 0 && reached != k; shift -= 2, turn ^= 1) {
    if (shift == 30) { /* equal keys: the indices, whose upper bits are all alike */
      threshold |= 0xffffffffu & ~((1u << TOP_INDEX_BITS) - 1);
      shift = TOP_INDEX_BITS - 2;
    }
    const uint64_t step = (uint64_t)1 << shift;
    uint32_t one_two = 0, three = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      one_two += (pair[e] >= threshold + step ? 1u : 0u) +
                 (pair[e] >= threshold + 2 * step ? 0x10000u : 0u);
      three += pair[e] >= threshold + 3 * step ? 1u : 0u;
    }
    one_two = __reduce_add_sync(~0u, one_two);
    three = __reduce_add_sync(~0u, three);
    if (lane == 0) {
      s.counts[turn][0][warp] = one_two;
      s.counts[turn][1][warp] = three;
    }
    __syncthreads();
    one_two = __reduce_add_sync(~0u, lane < THREADS / 32 ? s.counts[turn][0][lane] : 0u);
    three = __reduce_add_sync(~0u, lane < THREADS / 32 ? s.counts[turn][1][lane] : 0u);
    const int one = (int)(one_two & 0xffff), two = (int)(one_two >> 16);
    const int steps = (int)three >= k ? 3 : two >= k ? 2 : one >= k ? 1 : 0;
    threshold += steps * step;
    reached = steps == 3 ? (int)three : steps == 2 ? two : steps == 1 ? one : reached;
  }
  if (threadIdx.x == 0) {
    s.used = 0;
  }
  for (int i = threadIdx.x; i < k; i += THREADS) {
    s.found[i] = 0;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    if (pair[e] >= threshold && pair[e]) {
      s.found[atomicAdd(&s.used, 1u)] = pair[e];
    }
  }
  __syncthreads();
}

template <int THREADS, int EACH, int METHOD>
static __device__ void select_pairs(uint64_t (&pair)[EACH], int k, top_shared_t& s) {
  if constexpr (METHOD == BY_ROUNDS) {
    select_by_rounds<THREADS, EACH>(pair, k, s);
  } else {
    select_by_search<THREADS, EACH>(pair, k, s);
  }
}

/* Grid: pieces of a row, rows. */
template <int THREADS, int EACH, int METHOD>
static __global__ void __launch_bounds__(THREADS) top_k(top_arguments_t p) {
  __shared__ top_shared_t s;
  const float* const row = p.x + (size_t)blockIdx.y * p.n;
  uint64_t pair[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = (int)blockIdx.x * THREADS * EACH + e * THREADS + (int)threadIdx.x;
    pair[e] = i < p.n ? order_pair(order_key(row[i], p.largest), (uint32_t)i) : 0;
  }
  select_pairs<THREADS, EACH, METHOD>(pair, p.k, s);
  if (gridDim.x > 1) {
    uint64_t* const all = p.candidates + (size_t)blockIdx.y * gridDim.x * p.k;
    for (int i = threadIdx.x; i < p.k; i += THREADS) {
      all[blockIdx.x * p.k + i] = s.found[i];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      s.last = atomicAdd(p.done + blockIdx.y, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!s.last) {
      return;
    }
    __threadfence();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int i = e * THREADS + (int)threadIdx.x;
      pair[e] = i < (int)gridDim.x * p.k ? __ldcg(all + i) : 0;
    }
    if (threadIdx.x == 0) {
      p.done[blockIdx.y] = 0;
    }
    select_pairs<THREADS, EACH, METHOD>(pair, p.k, s);
  }
  for (int i = threadIdx.x; i < p.k; i += THREADS) {
    const uint64_t mine = s.found[i];
    int place = 0;
    for (int j = 0; j < p.k; j++) {
      place += s.found[j] > mine;
    }
    const uint32_t index = pair_index(mine);
    p.indices[(size_t)blockIdx.y * p.k + place] = index;
    p.values[(size_t)blockIdx.y * p.k + place] = row[index];
  }
}

struct instance_t {
  int threads, each, method;
  void (*kernel)(top_arguments_t);
};
#define INSTANCE(threads, each, method) \
  { threads, each, method, top_k<threads, each, method> }
static const instance_t instances[] = {
    INSTANCE(128, 8, BY_ROUNDS),   INSTANCE(256, 4, BY_ROUNDS),  INSTANCE(256, 8, BY_ROUNDS),
    INSTANCE(256, 16, BY_ROUNDS),  INSTANCE(512, 4, BY_ROUNDS),  INSTANCE(512, 8, BY_ROUNDS),
    INSTANCE(512, 16, BY_ROUNDS),  INSTANCE(1024, 4, BY_ROUNDS), INSTANCE(1024, 8, BY_ROUNDS),
    INSTANCE(1024, 16, BY_ROUNDS), INSTANCE(128, 8, BY_SEARCH),  INSTANCE(256, 4, BY_SEARCH),
    INSTANCE(256, 8, BY_SEARCH),   INSTANCE(256, 16, BY_SEARCH), INSTANCE(512, 4, BY_SEARCH),
    INSTANCE(512, 8, BY_SEARCH),   INSTANCE(512, 16, BY_SEARCH), INSTANCE(1024, 4, BY_SEARCH),
    INSTANCE(1024, 8, BY_SEARCH),  INSTANCE(1024, 16, BY_SEARCH)};

/* For CUB: keys that rise in the order wanted, indices, where each row begins. */
static __global__ void make_keys(const float* x, size_t count, int n, int largest, uint32_t* keys,
                                 uint32_t* indices) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) {
    keys[i] = ~order_key(x[i], largest);
    indices[i] = (uint32_t)(i % n);
  }
}
static __global__ void take_first(const float* x, const uint32_t* sorted, int n, int k,
                                  float* values, uint32_t* indices) {
  for (int i = threadIdx.x; i < k; i += blockDim.x) {
    const uint32_t index = sorted[(size_t)blockIdx.x * n + i];
    indices[blockIdx.x * k + i] = index;
    values[blockIdx.x * k + i] = x[(size_t)blockIdx.x * n + index];
  }
}

struct problem_t {
  int rows, n, k, largest;
  std::vector<float> host;
  std::vector<uint32_t> want;
  float *x, *values;
  uint32_t* indices;
  uint64_t* candidates;
  unsigned* done;

  problem_t(int rows, int n, int k, int largest, int odd)
      : rows(rows), n(n), k(k), largest(largest), host(test_rows((size_t)rows * n, n + k, odd)) {
    for (int r = 0; r < rows; r++) {
      const std::vector<uint32_t> first = first_of_row(host.data() + (size_t)r * n, n, k, largest);
      want.insert(want.end(), first.begin(), first.end());
    }
    x = device_new<float>(host.size());
    CHECK(cudaMemcpy(x, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    values = device_new<float>((size_t)rows * k);
    indices = device_new<uint32_t>((size_t)rows * k);
    candidates = device_new<uint64_t>((size_t)rows * 16384);
    done = device_new<unsigned>(rows);
    CHECK(cudaMemset(done, 0, rows * 4));
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (void* p : {(void*)x, (void*)values, (void*)indices, (void*)candidates, (void*)done}) {
      cudaFree(p);
    }
  }
  void poison() const {
    CHECK(cudaMemset(values, 0xee, (size_t)rows * k * 4));
    CHECK(cudaMemset(indices, 0xee, (size_t)rows * k * 4));
    CHECK(cudaDeviceSynchronize());
  }
  /* Outputs that differ, by bits. */
  size_t wrong() const {
    std::vector<uint32_t> got(want.size()), bits(want.size());
    CHECK(cudaMemcpy(got.data(), indices, got.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bits.data(), values, bits.size() * 4, cudaMemcpyDeviceToHost));
    size_t count = 0;
    for (size_t i = 0; i < want.size(); i++) {
      count += got[i] != want[i] || memcmp(&bits[i], &host[i / k * n + want[i]], 4) != 0;
    }
    return count;
  }
  int pieces(const instance_t& i) const {
    return (n + i.threads * i.each - 1) / (i.threads * i.each);
  }
  bool fits(const instance_t& i) const {
    return (i.method == BY_SEARCH || k <= TOP_ROUNDS_MAX) && pieces(i) * k <= i.threads * i.each &&
           pieces(i) * k <= 16384;
  }
  void enqueue(const instance_t& i, cudaStream_t s) const {
    const top_arguments_t a = {x, n, k, largest, candidates, done, values, indices};
    i.kernel<<<dim3(pieces(i), rows), i.threads, 0, s>>>(a);
  }
};

struct timed_t {
  const instance_t* instance;
  spread_t us;
};

static void library(problem_t& p) {
  const size_t count = (size_t)p.rows * p.n;
  uint32_t *keys = device_new<uint32_t>(count), *index = device_new<uint32_t>(count),
           *keys_out = device_new<uint32_t>(count), *index_out = device_new<uint32_t>(count);
  std::vector<int> begins(p.rows + 1);
  for (int r = 0; r <= p.rows; r++) {
    begins[r] = r * p.n;
  }
  int* offsets = device_new<int>(p.rows + 1);
  CHECK(cudaMemcpy(offsets, begins.data(), begins.size() * 4, cudaMemcpyHostToDevice));
  size_t bytes = 0;
  uint8_t* space = nullptr;
  auto sort = [&](cudaStream_t s) {
    if (p.rows == 1) {
      CHECK(cub::DeviceRadixSort::SortPairs(space, bytes, keys, keys_out, index, index_out, p.n, 0,
                                            32, s));
    } else {
      CHECK(cub::DeviceSegmentedRadixSort::SortPairs(space, bytes, keys, keys_out, index, index_out,
                                                     (int)count, p.rows, offsets, offsets + 1, 0,
                                                     32, s));
    }
  };
  sort(nullptr);
  space = device_new<uint8_t>(bytes + 1);
  auto all = [&](cudaStream_t s) {
    make_keys<<<(unsigned)((count + 255) / 256), 256, 0, s>>>(p.x, count, p.n, p.largest, keys,
                                                              index);
    sort(s);
    take_first<<<p.rows, 128, 0, s>>>(p.x, index_out, p.n, p.k, p.values, p.indices);
  };
  p.poison();
  all(nullptr);
  CHECK(cudaDeviceSynchronize());
  const size_t wrong = p.wrong();
  const spread_t t = step_time([&](cudaStream_t s, int) { all(s); }, 9, 2, 8),
                 alone = step_time([&](cudaStream_t s, int) { sort(s); }, 9, 2, 8);
  printf("  CUB, whole sort: %.2f us (%.2f-%.2f), the sort alone %.2f, %zu wrong\n", t.median,
         t.low, t.high, alone.median, wrong);
  for (void* q : {(void*)keys, (void*)index, (void*)keys_out, (void*)index_out, (void*)offsets,
                  (void*)space}) {
    CHECK(cudaFree(q));
  }
}

static void measure(int rows, int n, int k) {
  problem_t p(rows, n, k, 1, 0);
  std::vector<timed_t> timed;
  for (const instance_t& i : instances) {
    if (!p.fits(i)) {
      continue;
    }
    p.poison();
    p.enqueue(i, nullptr);
    CHECK(cudaGetLastError());
    wait_or_die(nullptr, "top_k");
    const size_t wrong = p.wrong();
    if (wrong) {
      printf("  WRONG %d x %d, method %d: %zu\n", i.threads, i.each, i.method, wrong);
      continue;
    }
    timed.push_back({&i, step_time([&](cudaStream_t s, int) { p.enqueue(i, s); }, 9, 10, 34)});
  }
  std::sort(timed.begin(), timed.end(),
            [](const timed_t& a, const timed_t& b) { return a.us.median < b.us.median; });
  printf("TOP %d rows of %d, k %d, %zu choices; %.2f us at 3.0 TB/s\n", rows, n, k, timed.size(),
         (double)rows * n * 4 / 3e6);
  int printed = 0, of_method[2] = {0, 0};
  for (const timed_t& t : timed) {
    const bool first = of_method[t.instance->method]++ == 0;
    if (printed++ < 3 || first) {
      const spread_t again =
          step_time([&](cudaStream_t s, int) { p.enqueue(*t.instance, s); }, 21, 10, 34);
      printf("  %s, %d threads of %d, %d pieces: %.2f us, again %.2f (%.2f-%.2f)\n",
             t.instance->method == BY_ROUNDS ? "rounds" : "search", t.instance->threads,
             t.instance->each, p.pieces(*t.instance), t.us.median, again.median, again.low,
             again.high);
    }
  }
  library(p);
}

/* Values of all kinds, both ends, lengths that end within a piece. */
static void check(bool few) {
  size_t runs = 0, wrong = 0;
  for (int n : {130, 1003, 4099, 20001}) {
    for (int k : {1, 5, 100}) {
      for (int largest : {0, 1}) {
        for (int odd : {2, 60}) {
          if (few && (n > 5000 || odd == 2)) {
            continue;
          }
          problem_t p(3, n, k, largest, odd);
          for (const instance_t& i : instances) {
            if (p.fits(i)) {
              p.poison();
              p.enqueue(i, nullptr);
              CHECK(cudaGetLastError());
              wait_or_die(nullptr, "top_k");
              wrong += p.wrong() != 0;
              runs++;
            }
          }
        }
      }
    }
  }
  printf("CHECK top_k: %zu runs, %zu wrong\n", runs, wrong);
}

int main(int argc, char** argv) {
  print_device();
  const bool few = argc > 1 && !strcmp(argv[1], "--check");
  check(few);
  for (int rows : {1, 64}) {
    for (int n : {1000, 4096, 32000, 128000, 256000}) {
      for (int k : {1, 5, 100}) {
        if (!few) {
          measure(rows, n, k);
        }
      }
    }
  }
}
