/* Non-maximum suppression on the device: how long, by which method, with decisions equal to the
 * host's in float64, beside going to the host for it.
 *
 *   suppression --check      for the sanitizers */
#include <cstring>

#include "suppression.cuh"

enum { ROOM = 1024 }; /* boxes that stayed in shared memory */

static double uniform(unsigned& seed) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / 16777216.0;
}

/* Boxes around `objects` places, sorted as if by score; of an odd seed on a grid of 1/4 pixel, so
 * that overlaps equal to the threshold occur. */
static std::vector<float4> make_boxes(int n, int objects, unsigned seed) {
  const bool grid = seed % 2;
  std::vector<float4> places, boxes;
  for (int i = 0; i < objects; i++) {
    const double x = uniform(seed) * 600, y = uniform(seed) * 600, w = 10 + uniform(seed) * 90,
                 h = 10 + uniform(seed) * 90;
    places.push_back(make_float4((float)x, (float)y, (float)w, (float)h));
  }
  for (int i = 0; i < n; i++) {
    const float4 p = places[(size_t)(uniform(seed) * objects)];
    auto near = [&](double v, double range) {
      const double at = v + (uniform(seed) - 0.5) * range;
      return grid ? std::round(at * 4) / 4 : at;
    };
    const double x = near(p.x, p.z / 3), y = near(p.y, p.w / 3), w = near(p.z, p.z / 3),
                 h = near(p.w, p.w / 3);
    boxes.push_back(make_float4((float)x, (float)y, (float)(x + w), (float)(y + h)));
  }
  return boxes;
}

static std::vector<int> on_host(const float4* boxes, int n, double threshold, int limit) {
  std::vector<int> kept;
  for (int i = 0; i < n && (int)kept.size() < limit; i++) {
    bool stays = true;
    for (size_t k = 0; stays && k < kept.size(); k++) {
      stays = !overlaps_in_double(boxes[kept[k]], boxes[i], threshold);
    }
    if (stays) {
      kept.push_back(i);
    }
  }
  return kept;
}

struct problem_t {
  int classes, n, limit;
  double threshold = 0.5;
  std::vector<float4> host;
  std::vector<std::vector<int>> expected;
  double host_us = 0;
  float4* boxes;
  unsigned long long* words;
  int *kept, *counts;

  problem_t(int classes, int n, int objects, int limit) : classes(classes), n(n), limit(limit) {
    for (int c = 0; c < classes; c++) {
      const std::vector<float4> one = make_boxes(n, objects, 18u + c);
      host.insert(host.end(), one.begin(), one.end());
    }
    const double begin = now_us();
    for (int c = 0; c < classes; c++) {
      expected.push_back(on_host(host.data() + (size_t)c * n, n, threshold, limit));
    }
    host_us = now_us() - begin;
    boxes = device_new<float4>(host.size());
    CHECK(cudaMemcpy(boxes, host.data(), host.size() * 16, cudaMemcpyHostToDevice));
    words = device_new<unsigned long long>((size_t)n * ((n + 63) / 64));
    kept = device_new<int>(host.size());
    counts = device_new<int>((size_t)classes);
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (void* p : {(void*)boxes, (void*)words, (void*)kept, (void*)counts}) {
      cudaFree(p);
    }
  }
  void poison() const {
    CHECK(cudaMemset(kept, 0xff, host.size() * 4));
    CHECK(cudaMemset(counts, 0xff, (size_t)classes * 4));
  }
  /* Classes that differ from the host's. */
  int wrong() const {
    int sum = 0;
    std::vector<int> got(host.size()), count((size_t)classes);
    CHECK(cudaMemcpy(got.data(), kept, got.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(count.data(), counts, count.size() * 4, cudaMemcpyDeviceToHost));
    for (int c = 0; c < classes; c++) {
      const std::vector<int>& e = expected[c];
      sum +=
          count[c] != (int)e.size() || !std::equal(e.begin(), e.end(), got.begin() + (size_t)c * n);
    }
    return sum;
  }
};

template <int ARITHMETIC>
static void by_matrix(const problem_t& p, cudaStream_t s) {
  const unsigned words = (unsigned)(p.n + 63) / 64;
  for (int c = 0; c < p.classes; c++) {
    CHECK(launch(overlap_matrix<ARITHMETIC>, dim3(words, words), 64, 0, dim3(1), true, s,
                 (const float4*)(p.boxes + (size_t)c * p.n), p.n, p.threshold, p.words));
    CHECK(launch(walk_matrix, dim3(1), WALKERS, (size_t)words * 8, dim3(1), true, s,
                 (const unsigned long long*)p.words, p.n, p.limit, p.kept + (size_t)c * p.n,
                 p.counts + c));
  }
}

template <int BOXES, int PARTS, int ARITHMETIC>
static void by_pieces(const problem_t& p, cudaStream_t s) {
  CHECK(launch(suppress_pieces<BOXES, PARTS, ARITHMETIC>, dim3((unsigned)p.classes), BOXES * PARTS,
               (size_t)ROOM * 16, dim3(1), true, s, (const float4*)p.boxes, p.n, p.threshold,
               p.limit, (int)ROOM, p.kept, p.counts));
}

struct method_t {
  const char* name;
  void (*enqueue)(const problem_t&, cudaStream_t);
  bool matrix;
};
static const method_t methods[] = {
    {"matrix, double", by_matrix<IN_DOUBLE>, true},
    {"matrix, float", by_matrix<IN_FLOAT>, true},
    {"matrix, bounded", by_matrix<BOUNDED>, true},
    {"pieces of 64 by 1, bounded", by_pieces<64, 1, BOUNDED>, false},
    {"pieces of 64 by 4, bounded", by_pieces<64, 4, BOUNDED>, false},
    {"pieces of 64 by 16, bounded", by_pieces<64, 16, BOUNDED>, false},
    {"pieces of 128 by 4, bounded", by_pieces<128, 4, BOUNDED>, false},
    {"pieces of 128 by 8, bounded", by_pieces<128, 8, BOUNDED>, false},
    {"pieces of 256 by 4, bounded", by_pieces<256, 4, BOUNDED>, false},
    {"pieces of 128 by 8, double", by_pieces<128, 8, IN_DOUBLE>, false},
    {"pieces of 128 by 8, float", by_pieces<128, 8, IN_FLOAT>, false},
};

static void measure(int classes, int n, int objects, int limit, bool few) {
  problem_t p(classes, n, objects, limit);
  size_t stay = 0;
  for (const auto& e : p.expected) {
    stay += e.size();
  }
  printf("SUPPRESS %d classes of %d boxes, limit %d: %zu stay; on the host %.1f us\n", classes, n,
         limit, stay, p.host_us);
  for (const method_t& m : methods) {
    if (m.matrix && classes > 4) {
      continue;
    }
    p.poison();
    m.enqueue(p, nullptr);
    CHECK(cudaGetLastError());
    wait_or_die(nullptr, m.name);
    const int wrong = p.wrong();
    const spread_t us =
        few ? spread_t{0, 0, 0} : step_time([&](cudaStream_t s, int) { m.enqueue(p, s); }, 9, 3, 9);
    printf("  %s: %.2f (%.2f-%.2f), %d of %d classes differ from float64\n", m.name, us.median,
           us.low, us.high, wrong, classes);
  }
}

int main(int argc, char** argv) {
  print_device();
  CHECK(cudaFuncSetAttribute(walk_matrix, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  const int all = 1 << 30;
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    measure(1, 130, 20, all, true);
    measure(3, 700, 40, 25, true);
    measure(1, 3000, 2500, all, true);
    return 0;
  }
  measure(100, 3000, 300, all, true); /* decisions alone */
  for (int limit : {all, 100}) {
    measure(1, 100, 20, limit, false);
    measure(1, 1000, 100, limit, false);
    measure(1, 4096, 300, limit, false);
    measure(1, 16384, 1000, limit, false);
    measure(80, 200, 10, limit, false);
    measure(80, 1000, 50, limit, false);
  }
}
