/* Which shape of a generated row kernel is fastest: softmax, layer and RMS normalisation with what
 * stands in front of them and behind them, for rows of every length. The text is compiled at run
 * time, with the row's length as a constant, as a code generator would.
 *
 *   row_reductions [seconds for each case]
 *   row_reductions --check       every shape of kernel once, small; for the sanitizers */
#include <cstring>
#include <map>

#include "generated.cuh"
#include "plain_reduction.cuh"
#include "row_kernel.cuh"

static const char* const kind_names[] = {"softmax", "layer norm", "RMS norm"};
static const char* const keep_names[] = {"registers", "shared", "read again"};

struct choice_t {
  int threads, rows, cluster, per, vector, keep;
  bool shift;
  generated_t generated;
  spread_t plain = {NAN, NAN, NAN}, dependent = {NAN, NAN, NAN};
  double error = NAN;
  int shared(int) const {
    return keep == 1 ? threads * rows * per * vector * 4 : 0;
  }
  std::string name() const {
    char t[120];
    snprintf(t, sizeof t, "%d threads x %d rows%s, %d x %d elements%s, %s", threads, rows,
             cluster > 1 ? (" x cluster " + std::to_string(cluster)).c_str() : "", per, vector,
             shift ? " shifted" : "", keep_names[keep]);
    return t;
  }
};

struct case_t {
  int rows, length;
};

/* Everything a generator might reasonably offer for a length; `element` bytes. */
static std::vector<choice_t> choices(const case_t& c, int element) {
  std::vector<choice_t> all;
  const int widest = 16 / element;
  for (int vector : {widest, widest / 2, 1}) {
    const bool shift = c.length % vector;
    if ((shift && vector != widest) ||
        (vector == widest / 2 && c.length % widest == 0 && c.length > 1024)) {
      continue;
    }
    if (vector == 1 && c.length % widest == 0 && c.length != 768) {
      continue; /* once is enough to know what single accesses cost */
    }
    for (int cluster : {1, 2, 4, 8}) {
      for (int threads : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
        const int span = threads * vector * cluster;
        const int per = (c.length + (shift ? vector - 1 : 0) + span - 1) / span;
        if ((cluster > 1 && (threads < 128 || c.length < 2048)) ||
            (per == 1 && span >= 2 * c.length)) {
          continue;
        }
        for (int keep : {0, 1, 2}) {
          const bool fits = keep == 0   ? per * vector <= 64 && threads * per * vector <= 32768
                            : keep == 1 ? per * vector <= 256 && threads >= 128 && per > 1
                                        : threads >= 128 && per > 1 && cluster == 1;
          if (!fits) {
            continue;
          }
          for (int rows : {1, 2, 4, 8, 16, 32}) {
            const int block = threads * rows;
            const bool sensible = threads >= 256 ? rows == 1
                                                 : block == 128 || block == 256 ||
                                                       (threads == 64 && rows == 1) ||
                                                       (threads == 32 && rows == 2);
            if (!sensible || (cluster > 1 && rows > 1)) {
              continue;
            }
            choice_t choice = {threads, rows, cluster, per, vector, keep, shift};
            if (choice.shared(0) <= 200 << 10) {
              all.push_back(choice);
            }
          }
        }
      }
    }
  }
  return all;
}

template <class T>
static __global__ void row_reference(const T* x, const T* other, const T* scale, const T* bias,
                                     double* y, int length, int kind) {
  const size_t row = blockIdx.x;
  auto value = [&](int c) {
    const double v = (double)(float)x[row * length + c];
    return kind == 0 ? v * 0.125 + (double)(float)other[c]
                     : v + (double)(float)other[row * length + c];
  };
  plain_reduction<256>(length, kind == 0, kind == 1, value, [&](int c, double t) {
    if (kind != 0) {
      t *= (double)(float)scale[c];
    }
    if (kind == 1) {
      t += (double)(float)bias[c];
      t = t / (1 + exp(-1.702 * t));
    }
    y[row * length + c] = t;
  });
}

static double copy_rate; /* bytes a microsecond, read and written, far beyond the L2 */

template <class T>
static void one_case(const case_t& c, int kind, double seconds, bool check) {
  const size_t n = (size_t)c.rows * c.length;
  /* sets in turn, so that large cases do not live in the L2 */
  const size_t bytes = n * sizeof(T);
  const int sets = (int)std::min<size_t>(12, std::max<size_t>(2, (160 << 20) / bytes + 1));
  std::vector<T*> x, other, y, second;
  for (int i = 0; i < sets; i++) {
    x.push_back(random_of<T>(n, 4, 1 + i));
    other.push_back(random_of<T>(kind == 0 ? c.length : n, 1, 100 + i));
    y.push_back(device_new<T>(n));
    second.push_back(device_new<T>(n));
  }
  T *scale = random_of<T>(c.length, 1, 7), *bias = random_of<T>(c.length, 1, 8);
  double* expected = device_new<double>(n);
  row_reference<T><<<c.rows, 256>>>(x[0], other[0], scale, bias, expected, c.length, kind);
  CHECK(cudaDeviceSynchronize());
  std::vector<choice_t> all = choices(c, sizeof(T));
  for (choice_t& a : all) {
    auto number = [](int v) { return std::to_string(v); };
    a.generated.text = with_macros({{"T", sizeof(T) == 2 ? "half" : "float"},
                                    {"KIND", number(kind)},
                                    {"KEEP", number(a.keep)},
                                    {"THREADS", number(a.threads)},
                                    {"ROWS", number(a.rows)},
                                    {"CLUSTER", number(a.cluster)},
                                    {"PER", number(a.per)},
                                    {"VECTOR", number(a.vector)},
                                    {"SHIFT", number(a.shift)},
                                    {"LENGTH", number(c.length)}},
                                   std::string(reduction_head) + row_text);
  }
  const double compiled = compile_all(all);
  const double begin = now_us();
  size_t wrong = 0, tried = 0;
  unsigned rows = (unsigned)c.rows;
  for (choice_t& a : all) {
    if (now_us() - begin > seconds * 1e6 || !a.generated.load(a.shared(0))) {
      continue;
    }
    tried++;
    auto step = [&](bool dependent) {
      return [&, dependent](cudaStream_t s, int i) {
        i %= sets;
        void* arguments[] = {&x[i], &other[i], &scale, &bias, &y[i], &second[i], &rows};
        const unsigned blocks = a.cluster > 1 ? rows * a.cluster : (rows + a.rows - 1) / a.rows;
        a.generated.launch(dim3(blocks), dim3(a.threads * a.rows), a.shared(0), a.cluster,
                           dependent, s, arguments);
      };
    };
    CHECK(cudaMemset(y[0], 0xff, bytes));
    step(false)(nullptr, 0);
    CHECK(cudaDeviceSynchronize());
    a.error = relative_error(y[0], expected, n);
    if (!(a.error < (sizeof(T) == 2 ? 2e-3 : 1e-5))) {
      wrong++;
      printf("  WRONG %s: %.1e\n", a.name().c_str(), a.error);
    } else if (!check) {
      const int few = n > 4 << 20 ? 1 : 2;
      a.plain = step_time(step(false), 7, 4 * few, 12 * few);
      a.dependent = step_time(step(true), 7, 4 * few, 12 * few);
    }
    a.generated.unload();
  }
  const int reads = kind == 0 ? 1 : 2, writes = kind == 2 ? 2 : 1;
  const double moved = (double)bytes * (reads + writes), floor = moved / copy_rate;
  printf(
      "ROWS %s %dx%d %s: %zu of %zu kernels (compiled in %.0f ms), %zu wrong; %.2f MB, %.2f us at "
      "the rate of a copy\n",
      kind_names[kind], c.rows, c.length, sizeof(T) == 2 ? "fp16" : "fp32", tried, all.size(),
      compiled, wrong, moved / 1e6, floor);
  std::vector<choice_t*> order;
  for (choice_t& a : all) {
    if (!std::isnan(a.plain.median)) {
      order.push_back(&a);
    }
  }
  std::sort(order.begin(), order.end(),
            [](choice_t* p, choice_t* q) { return p->plain.median < q->plain.median; });
  auto line = [&](const char* what, const choice_t& a) {
    printf(
        "  %s %s: %.2f us (%.2f-%.2f), dependent %.2f, %.0f %% of a copy, %d registers%s, error "
        "%.1e\n",
        what, a.name().c_str(), a.plain.median, a.plain.low, a.plain.high, a.dependent.median,
        100 * floor / a.plain.median, a.generated.registers, a.generated.spilled ? " SPILLED" : "",
        a.error);
  };
  for (size_t i = 0; i < order.size() && i < 3; i++) {
    line(i ? "then" : "best", *order[i]);
  }
  /* the best of each way */
  std::map<std::string, choice_t*> ways;
  for (choice_t* a : order) {
    const std::string way = std::string(a->cluster > 1          ? "cluster"
                                        : a->threads < 32       ? "part of a warp"
                                        : a->threads == 32      ? "warp"
                                        : a->threads * 1 <= 128 ? "block up to 128"
                                                                : "block") +
                            ", " + keep_names[a->keep] + ", " + std::to_string(a->vector);
    ways.emplace(way, a);
  }
  for (const auto& w : ways) {
    if (w.second != order[0]) {
      line("way", *w.second);
    }
  }
  fflush(stdout);
  for (const auto& list : {x, other, y, second}) {
    for (T* p : list) {
      CHECK(cudaFree(p));
    }
  }
  for (void* p : {(void*)scale, (void*)bias, (void*)expected}) {
    CHECK(cudaFree(p));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  const double seconds = argc > 1 && !check ? atof(argv[1]) : 4;
  print_device();
  const size_t large = (size_t)128 << 20;
  uint8_t *a = device_new<uint8_t>(large), *b = device_new<uint8_t>(large);
  copy_rate = rate_of_copy(a, b, large);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  if (check) {
    for (int kind : {0, 1, 2}) {
      one_case<half>({3, 768}, kind, 60, true);
      one_case<float>({3, 197}, kind, 60, true);
      one_case<half>({2, 4096}, kind, 60, true);
    }
    return 0;
  }
  for (const case_t& c :
       {case_t{128, 768}, case_t{1536, 128}, case_t{6304, 768}, case_t{1, 50257},
        case_t{4096, 4096}, case_t{75648, 197}, case_t{32, 1000}, case_t{128, 50257},
        case_t{512, 1024}, case_t{1, 4096}, case_t{64, 16384}, case_t{65536, 64}}) {
    const bool probabilities = c.length == 50257 || c.length == 1000;
    for (int kind : {0, 1, 2}) {
      if (kind > 0 && probabilities) {
        continue;
      }
      one_case<half>(c, kind, seconds, false);
      if (kind < 2) {
        one_case<float>(c, kind, seconds, false);
      }
    }
  }
}
