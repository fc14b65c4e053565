/* Stable sorting of rows with their indices in the order of the reference's top_k: own kernels, one
 * block a row or one launch whose blocks meet at barriers, beside CUB's sorts of a device, of
 * segments and of a block. Values and indices bit by bit.
 *
 *   row_sort
 *   row_sort --check      for the sanitizers */
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "row_sort.cuh"

/* CUB's sort of a block in place of the own one. */
template <int THREADS, int EACH>
static __global__ void __launch_bounds__(THREADS) sort_rows_by_cub(sort_arguments_t p) {
  typedef cub::BlockRadixSort<uint32_t, THREADS, EACH, uint32_t> block_t;
  extern __shared__ __align__(16) uint8_t memory[];
  const float* const row = p.x + (size_t)blockIdx.x * p.n;
  uint32_t key[EACH], place[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = threadIdx.x * EACH + e;
    key[e] = i < p.n ? ~order_key(row[i], p.largest) : ~0u;
    place[e] = i;
  }
  block_t(*(typename block_t::TempStorage*)memory).SortBlockedToStriped(key, place);
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = e * THREADS + threadIdx.x;
    if (i < p.n) {
      p.indices[(size_t)blockIdx.x * p.n + i] = place[e];
      p.values[(size_t)blockIdx.x * p.n + i] = row[place[e]];
    }
  }
}

enum sort_way_t { OWN_BLOCK, CUB_BLOCK, OWN_LONG };
static const char* const way_names[] = {"own, a block a row", "CUB, a block a row",
                                        "own, several blocks a row"};
struct instance_t {
  int way, threads, each;
  size_t shared;
  void (*kernel)(sort_arguments_t);
};

template <int THREADS, int EACH>
static void add_instances(std::vector<instance_t>& to) {
  const size_t own = sizeof(typename sort_block_t<THREADS, EACH>::shared_t);
  typedef cub::BlockRadixSort<uint32_t, THREADS, EACH, uint32_t> cub_t;
  to.push_back({OWN_BLOCK, THREADS, EACH, own, sort_rows<THREADS, EACH>});
  to.push_back({CUB_BLOCK, THREADS, EACH, sizeof(typename cub_t::TempStorage),
                sort_rows_by_cub<THREADS, EACH>});
  to.push_back({OWN_LONG, THREADS, EACH, own, sort_long_rows<THREADS, EACH>});
}
static const std::vector<instance_t>& instances() {
  static std::vector<instance_t> all;
  if (all.empty()) {
    add_instances<256, 4>(all);
    add_instances<256, 8>(all);
    add_instances<512, 4>(all);
    add_instances<512, 8>(all);
    add_instances<1024, 4>(all);
    add_instances<1024, 8>(all);
    add_instances<1024, 16>(all);
    for (const instance_t& i : all) {
      CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)i.shared));
    }
  }
  return all;
}

static __global__ void make_keys(const float* x, size_t count, int n, int largest, uint32_t* keys,
                                 uint32_t* indices) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) {
    keys[i] = ~order_key(x[i], largest);
    indices[i] = (uint32_t)(i % n);
  }
}
/* The row above the key: one sort for all rows. */
static __global__ void make_wide_keys(const uint32_t* keys, size_t count, int n, uint64_t* wide) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) {
    wide[i] = (uint64_t)(i / n) << 32 | keys[i];
  }
}
static __global__ void gather(const float* x, const uint32_t* indices, size_t count, int n,
                              float* values) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] = x[i / n * n + indices[i]];
  }
}

struct problem_t {
  int rows, n, largest;
  size_t count, space;
  std::vector<float> host;
  std::vector<uint32_t> want;
  sort_arguments_t a = {};
  uint32_t *keys, *index;
  int* offsets;

  problem_t(int rows, int n, int largest, int odd)
      : rows(rows),
        n(n),
        largest(largest),
        count((size_t)rows * n),
        space((size_t)rows * (n + 16384)),
        host(test_rows(count, n, odd)) {
    for (int r = 0; r < rows; r++) {
      const std::vector<uint32_t> row = first_of_row(host.data() + (size_t)r * n, n, n, largest);
      want.insert(want.end(), row.begin(), row.end());
    }
    float* x = device_new<float>(count);
    CHECK(cudaMemcpy(x, host.data(), count * 4, cudaMemcpyHostToDevice));
    a.x = x;
    a.n = n;
    a.largest = largest;
    a.values = device_new<float>(count);
    a.indices = device_new<uint32_t>(count);
    for (int i = 0; i < 2; i++) {
      a.keys[i] = device_new<uint32_t>(space);
      a.places[i] = device_new<uint32_t>(space);
    }
    a.table = device_new<uint32_t>((size_t)rows * 264 * 256);
    a.arrived = device_new<unsigned>(rows);
    keys = device_new<uint32_t>(count);
    index = device_new<uint32_t>(count);
    std::vector<int> begins(rows + 1);
    for (int r = 0; r <= rows; r++) {
      begins[r] = r * n;
    }
    offsets = device_new<int>(rows + 1);
    CHECK(cudaMemcpy(offsets, begins.data(), begins.size() * 4, cudaMemcpyHostToDevice));
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (const void* p : {(const void*)a.x, (const void*)a.values, (const void*)a.indices,
                          (const void*)a.keys[0], (const void*)a.keys[1], (const void*)a.places[0],
                          (const void*)a.places[1], (const void*)a.table, (const void*)a.arrived,
                          (const void*)keys, (const void*)index, (const void*)offsets}) {
      cudaFree((void*)p);
    }
  }
  void poison() const {
    CHECK(cudaMemset(a.values, 0xee, count * 4));
    CHECK(cudaMemset(a.indices, 0xee, count * 4));
    CHECK(cudaDeviceSynchronize());
  }
  /* Outputs that differ, by bits. */
  size_t wrong() const {
    std::vector<uint32_t> got(count), bits(count);
    CHECK(cudaMemcpy(got.data(), a.indices, count * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bits.data(), a.values, count * 4, cudaMemcpyDeviceToHost));
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) {
      differ += got[i] != want[i] || memcmp(&bits[i], &host[i / n * n + want[i]], 4) != 0;
    }
    return differ;
  }
  int blocks(const instance_t& i) const {
    return (n + i.threads * i.each - 1) / (i.threads * i.each);
  }
  bool fits(const instance_t& i) const {
    if (i.way != OWN_LONG) {
      return blocks(i) == 1 && n * 8 > i.threads * i.each;
    }
    int resident = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, i.kernel, i.threads, i.shared));
    return blocks(i) > 1 && blocks(i) <= 264 && blocks(i) * rows <= std::min(resident, 2) * 132;
  }
  void enqueue(const instance_t& i, cudaStream_t s) {
    if (i.way == OWN_LONG) {
      CHECK(cudaMemsetAsync(a.arrived, 0, rows * 4, s));
      void* arguments[] = {&a};
      CHECK(cudaLaunchCooperativeKernel((void*)i.kernel, dim3(blocks(i), rows), dim3(i.threads),
                                        arguments, i.shared, s));
    } else {
      i.kernel<<<rows, i.threads, i.shared, s>>>(a);
      CHECK(cudaGetLastError());
    }
  }
};

/* Runs once, checks, then times as a step of a chain. */
template <class Sort>
static void measure_library(problem_t& p, const char* name, Sort sort) {
  size_t bytes = 0;
  CHECK(sort((uint8_t*)nullptr, bytes, nullptr));
  uint8_t* space = device_new<uint8_t>(bytes + 1);
  auto all = [&](cudaStream_t s) {
    const unsigned blocks = (unsigned)((p.count + 255) / 256);
    make_keys<<<blocks, 256, 0, s>>>(p.a.x, p.count, p.n, p.largest, p.keys, p.index);
    CHECK(sort(space, bytes, s));
    gather<<<blocks, 256, 0, s>>>(p.a.x, p.a.indices, p.count, p.n, p.a.values);
  };
  p.poison();
  all(nullptr);
  CHECK(cudaDeviceSynchronize());
  const size_t wrong = p.wrong();
  const spread_t t = step_time([&](cudaStream_t s, int) { all(s); }, 11, 2, 8),
                 alone = step_time([&](cudaStream_t s, int) { CHECK(sort(space, bytes, s)); }, 11,
                                   2, 8);
  p.poison();
  graph_t graph([&](cudaStream_t s) { all(s); });
  graph.run(name);
  printf(
      "  CUB, %s: %.1f us (%.1f-%.1f), the sort alone %.1f, %zu MB of work space, %zu wrong, %zu "
      "wrong as a graph\n",
      name, t.median, t.low, t.high, alone.median, bytes >> 20, wrong, p.wrong());
  CHECK(cudaFree(space));
}

static void libraries(problem_t& p) {
  const int* const offsets = p.offsets;
  if (p.rows == 1) {
    measure_library(p, "device radix sort", [&](uint8_t* w, size_t& bytes, cudaStream_t s) {
      return cub::DeviceRadixSort::SortPairs(w, bytes, p.keys, p.a.keys[0], p.index, p.a.indices,
                                             p.n, 0, 32, s);
    });
  } else {
    uint64_t *wide = device_new<uint64_t>(p.count), *sorted = device_new<uint64_t>(p.count);
    int bits = 32;
    while (1 << (bits - 32) < p.rows) {
      bits++;
    }
    measure_library(p, "device radix sort, row above the key",
                    [&](uint8_t* w, size_t& bytes, cudaStream_t s) {
                      make_wide_keys<<<(unsigned)((p.count + 255) / 256), 256, 0, s>>>(
                          p.keys, p.count, p.n, wide);
                      return cub::DeviceRadixSort::SortPairs(w, bytes, wide, sorted, p.index,
                                                             p.a.indices, (int)p.count, 0, bits, s);
                    });
    CHECK(cudaFree(wide));
    CHECK(cudaFree(sorted));
    measure_library(p, "segmented radix sort", [&](uint8_t* w, size_t& bytes, cudaStream_t s) {
      return cub::DeviceSegmentedRadixSort::SortPairs(w, bytes, p.keys, p.a.keys[0], p.index,
                                                      p.a.indices, (int)p.count, p.rows, offsets,
                                                      offsets + 1, 0, 32, s);
    });
    measure_library(p, "segmented sort", [&](uint8_t* w, size_t& bytes, cudaStream_t s) {
      return cub::DeviceSegmentedSort::StableSortPairs(w, bytes, p.keys, p.a.keys[0], p.index,
                                                       p.a.indices, (int)p.count, p.rows, offsets,
                                                       offsets + 1, s);
    });
  }
}

static void measure(int rows, int n) {
  problem_t p(rows, n, 1, 0);
  printf("SORT %d rows of %d: %.2f us at 3.0 TB/s once in and out\n", rows, n,
         (double)p.count * 12 / 3e6);
  struct timed_t {
    const instance_t* instance;
    spread_t us;
  };
  std::vector<timed_t> timed;
  for (const instance_t& i : instances()) {
    if (!p.fits(i)) {
      continue;
    }
    p.poison();
    p.enqueue(i, nullptr);
    wait_or_die(nullptr, "sort");
    const size_t wrong = p.wrong();
    if (wrong) {
      printf("  WRONG %s, %d x %d: %zu\n", way_names[i.way], i.threads, i.each, wrong);
      continue;
    }
    timed.push_back({&i, step_time([&](cudaStream_t s, int) { p.enqueue(i, s); }, 11, 4, 16)});
  }
  std::sort(timed.begin(), timed.end(),
            [](const timed_t& a, const timed_t& b) { return a.us.median < b.us.median; });
  int of_way[3] = {0, 0, 0};
  for (const timed_t& t : timed) {
    if (of_way[t.instance->way]++ < 2) {
      printf("  %s, %d threads of %d, %d blocks: %.2f us (%.2f-%.2f)\n", way_names[t.instance->way],
             t.instance->threads, t.instance->each, p.blocks(*t.instance), t.us.median, t.us.low,
             t.us.high);
    }
  }
  libraries(p);
}

/* Values of all kinds, both ends, lengths that end within a piece. */
static void check(bool few) {
  size_t runs = 0, wrong = 0;
  for (int n : {257, 1003, 4099, 16384, 50021}) {
    for (int largest : {0, 1}) {
      if (few && n > 20000) {
        continue;
      }
      problem_t p(3, n, largest, 40);
      for (const instance_t& i : instances()) {
        if (p.fits(i)) {
          p.poison();
          p.enqueue(i, nullptr);
          wait_or_die(nullptr, "sort");
          wrong += p.wrong() != 0;
          runs++;
        }
      }
      if (!few) {
        libraries(p);
      }
    }
  }
  printf("CHECK row_sort: %zu runs, %zu wrong\n", runs, wrong);
}

int main(int argc, char** argv) {
  print_device();
  const bool few = argc > 1 && !strcmp(argv[1], "--check");
  check(few);
  if (few) {
    return 0;
  }
  for (int n : {1000, 4096, 16384, 65536, 262144, 1000000}) {
    measure(1, n);
  }
  for (int n : {1000, 4096, 16384, 65536}) {
    measure(64, n);
  }
}
