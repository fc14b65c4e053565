/* Reductions over an axis that is not the innermost one (softmax over channels, layer norm in NCHW,
 * instance norm in NHWC), and rows inside a wider tensor: which shape of a generated kernel is
 * fastest, and how far it is from the bytes' time.
 *
 *   strided_rows --check      for the sanitizers */
#include <cstring>

#include "column_kernel.cuh"
#include "generated.cuh"
#include "piece_norm.cuh"
#include "plain_reduction.cuh"

static const char* const kind_names[] = {"softmax", "layer norm", "RMS norm", "instance norm"};

static std::string number(long long n) {
  return std::to_string(n);
}

struct case_t {
  int kind, outer, length, inner;
  size_t count() const {
    return (size_t)outer * length * inner;
  }
};

struct choice_t {
  int vector, lanes, parts, cluster, keep;
  generated_t generated;
  spread_t us = {NAN, NAN, NAN};
  double error = NAN;
  int per(const case_t& c) const {
    return (c.length + parts * cluster - 1) / (parts * cluster);
  }
  unsigned blocks(const case_t& c) const {
    const int columns = c.outer * (c.inner / vector);
    return (unsigned)((columns + lanes - 1) / lanes * cluster);
  }
  std::string name(const case_t& c) const {
    char t[160];
    snprintf(t, sizeof t, "%d neighbours x %d lanes, %d parts%s of %d, %s, %u blocks", vector,
             lanes, parts, cluster > 1 ? (" x cluster " + number(cluster)).c_str() : "", per(c),
             keep ? "read again" : "registers", blocks(c));
    return t;
  }
};

template <class T>
static std::vector<choice_t> choices(const case_t& c) {
  std::vector<choice_t> all;
  for (int vector : {1, 2, 4, 8}) {
    if (c.inner % vector || vector * sizeof(T) > 16) {
      continue;
    }
    for (int lanes : {4, 8, 16, 32, 128}) {
      for (int parts : {1, 4, 8, 16, 32, 64}) {
        for (int cluster : {1, 4, 8}) {
          const int threads = lanes * parts;
          if (threads < 64 || threads > 512 || parts * cluster > c.length ||
              (cluster > 1 && c.length < 384) || lanes * vector > 2 * c.inner * c.outer ||
              lanes * vector * sizeof(T) <
                  std::min<size_t>(32, c.inner * sizeof(T)) / (c.outer > 1 ? 1 : 2)) {
            continue;
          }
          choice_t choice = {vector, lanes, parts, cluster, 0};
          const int values = choice.per(c) * vector;
          if (cluster > 1 && choice.blocks(c) > 264u * (unsigned)cluster) {
            continue;
          }
          choice.keep = values <= 64 ? 0 : 2;
          if ((values < 4 && parts * cluster > 1) ||
              parts * vector * 8 * lanes / std::max(1, 32 / lanes) > 40 << 10 ||
              (lanes == 128 && parts > 1)) {
            continue;
          }
          all.push_back(choice);
          if (values > 32 && values <= 64) {
            choice.keep = 2;
            all.push_back(choice);
          }
        }
      }
    }
  }
  /* in an order of its own, so that what time allows is spread over all of them */
  for (size_t i = 1, h = 1; i < all.size(); i++) {
    h = h * 1103515245 + 12345;
    std::swap(all[i], all[(h >> 16) % (i + 1)]);
  }
  return all;
}

template <class T>
static __global__ void reference(const T* x, const T* r, const T* scale, const T* bias, double* y,
                                 case_t c) {
  const int column = blockIdx.x;
  const size_t base = (size_t)(column / c.inner) * c.length * c.inner + column % c.inner;
  auto value = [&](int l) {
    const size_t at = base + (size_t)l * c.inner;
    const double v = (double)(float)x[at];
    return c.kind == 0 ? v * 0.125 : c.kind == 1 ? v + (double)(float)r[at] : v;
  };
  plain_reduction<128>(c.length, c.kind == 0, c.kind != 2, value, [&](int l, double t) {
    const int at = c.kind == 3 ? column % c.inner : l;
    if (c.kind != 0) {
      t *= (double)(float)scale[at];
      t += c.kind == 2 ? 0 : (double)(float)bias[at];
    }
    y[base + (size_t)l * c.inner] = t;
  });
}

template <class T>
static void one_case(const case_t& c, double seconds, bool check) {
  const size_t n = c.count(), bytes = n * sizeof(T);
  const int sets = (int)std::min<size_t>(8, std::max<size_t>(2, (128u << 20) / bytes + 1));
  std::vector<T*> x, r, y;
  for (int i = 0; i < sets; i++) {
    x.push_back(random_of<T>(n, 4, 1 + (unsigned)i));
    r.push_back(c.kind == 1 ? random_of<T>(n, 1, 100 + (unsigned)i) : nullptr);
    y.push_back(device_new<T>(n));
  }
  const size_t along = (size_t)std::max(c.length, c.inner);
  T *scale = random_of<T>(along, 1, 7), *bias = random_of<T>(along, 1, 8);
  double* expected = device_new<double>(n);
  reference<T><<<(unsigned)(c.outer * c.inner), 128>>>(x[0], r[0], scale, bias, expected, c);
  CHECK(cudaDeviceSynchronize());
  std::vector<choice_t> all = choices<T>(c);
  for (choice_t& a : all) {
    const size_t threads = (size_t)a.blocks(c) * a.lanes * a.parts;
    a.generated.text = with_macros({{"size_t", "unsigned long long"},
                                    {"T", sizeof(T) == 2 ? "half" : "float"},
                                    {"KIND", number(c.kind)},
                                    {"KEEP", number(a.keep)},
                                    {"V", number(a.vector)},
                                    {"LANES", number(a.lanes)},
                                    {"PARTS", number(a.parts)},
                                    {"CLUSTER", number(a.cluster)},
                                    {"PER", number(a.per(c))},
                                    {"RELEASE", threads <= (size_t)132 * 1024 ? "1" : "0"},
                                    {"OUTER", number(c.outer) + "u"},
                                    {"LENGTH", number(c.length)},
                                    {"INNER", number(c.inner) + "u"}},
                                   std::string(reduction_head) + column_text);
  }
  const double compiled = compile_all(all);
  const double begin = now_us();
  size_t wrong = 0, tried = 0;
  /* of large results the end, where blocks are not full */
  const size_t looked = std::min<size_t>(n, 1 << 20), from = n - looked;
  for (choice_t& a : all) {
    if (now_us() - begin > seconds * 1e6 || !a.generated.load()) {
      continue;
    }
    tried++;
    auto step = [&](cudaStream_t s, int i) {
      i %= sets;
      void* arguments[] = {&x[(size_t)i], &r[(size_t)i], &scale, &bias, &y[(size_t)i]};
      a.generated.launch(dim3(a.blocks(c)), dim3((unsigned)(a.lanes * a.parts)), 0, a.cluster, true,
                         s, arguments);
    };
    CHECK(cudaMemset(y[0], 0xff, bytes));
    step(nullptr, 0);
    wait_or_die(nullptr, "columns");
    a.error = relative_error(y[0] + from, expected + from, looked);
    if (!(a.error < (sizeof(T) == 2 ? 2e-3 : 1e-5))) {
      wrong++;
      printf("  WRONG %s: %.1e\n", a.name(c).c_str(), a.error);
    } else if (!check) {
      a.us = n > 2 << 20 ? step_time(step, 7, 4, 12) : step_time(step, 7, 10, 40);
    }
    a.generated.unload();
  }
  const double floor = (double)bytes * (c.kind == 1 ? 3 : 2) / 2.98e6;
  printf(
      "COLUMNS %s %dx%dx%d %s: %zu of %zu kernels (compiled in %.0f ms), %zu wrong; bytes %.2f "
      "us\n",
      kind_names[c.kind], c.outer, c.length, c.inner, sizeof(T) == 2 ? "fp16" : "fp32", tried,
      all.size(), compiled, wrong, floor);
  std::vector<choice_t*> order;
  for (choice_t& a : all) {
    if (!std::isnan(a.us.median)) {
      order.push_back(&a);
    }
  }
  std::sort(order.begin(), order.end(),
            [](choice_t* p, choice_t* q) { return p->us.median < q->us.median; });
  auto line = [&](const char* what, const choice_t& a) {
    printf("  %s %s: %.2f (%.2f-%.2f), %.0f %% of a copy, %d registers%s, error %.1e\n", what,
           a.name(c).c_str(), a.us.median, a.us.low, a.us.high, 100 * floor / a.us.median,
           a.generated.registers, a.generated.spilled ? " SPILLED" : "", a.error);
  };
  for (size_t i = 0; i < order.size() && i < 3; i++) {
    line(i ? "then" : "best", *order[i]);
  }
  /* the best of each width, of one thread a column, and of clusters */
  for (int vector : {1, 2, 4, 8}) {
    for (choice_t* a : order) {
      if (a->vector == vector && a != order[0]) {
        line("width", *a);
        break;
      }
    }
  }
  for (choice_t* a : order) {
    if (a->parts == 1 && a->cluster == 1) {
      line("whole column", *a);
      break;
    }
  }
  for (choice_t* a : order) {
    if (a->cluster > 1) {
      line("cluster", *a);
      break;
    }
  }
  for (const auto& list : {x, r, y, std::vector<T*>{scale, bias}}) {
    for (T* p : list) {
      CHECK(cudaFree(p));
    }
  }
  CHECK(cudaFree(expected));
}

/* ---- the same by two launches ---- */

static void two_launches(const case_t& c, bool check) {
  const size_t n = c.count();
  const int sets = (int)std::min<size_t>(8, std::max<size_t>(2, (128u << 20) / (2 * n) + 1));
  std::vector<half*> x, y;
  for (int i = 0; i < sets; i++) {
    x.push_back(random_half(n, 4, 1 + (unsigned)i));
    y.push_back(device_new<half>(n));
  }
  half *scale = random_half((size_t)c.inner, 1, 7), *bias = random_half((size_t)c.inner, 1, 8);
  float2* sums = device_new<float2>((size_t)c.outer * MOST_PIECES * c.inner);
  double* expected = device_new<double>(n);
  reference<half><<<(unsigned)(c.outer * c.inner), 128>>>(x[0], nullptr, scale, bias, expected, c);
  printf("COLUMNS %s %dx%dx%d fp16 by two launches; bytes %.2f us:", kind_names[c.kind], c.outer,
         c.length, c.inner, (double)n * 4 / 2.98e6);
  for (int first : {4, 8, 16, 32}) {
    for (int second : {8, 32, 128}) {
      auto step = [&](cudaStream_t s, int i) {
        const size_t k = (size_t)(i % sets);
        CHECK(launch(piece_sums, dim3((unsigned)(c.outer * first)), 256, 0, dim3(1), true, s,
                     (const half*)x[k], sums, c.length, c.inner, first));
        CHECK(launch(piece_norm, dim3((unsigned)(c.outer * second)), 256, 0, dim3(1), true, s,
                     (const half*)x[k], (const float2*)sums, (const half*)scale, (const half*)bias,
                     y[k], c.length, c.inner, second, first));
      };
      CHECK(cudaMemset(y[0], 0xff, n * 2));
      step(nullptr, 0);
      wait_or_die(nullptr, "two launches");
      const double error = relative_error(y[0], expected, n);
      const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 9, 6, 18);
      printf(" %d, %d pieces %.2f (%.2f-%.2f)%s,", first, second, us.median, us.low, us.high,
             error < 2e-3 ? "" : " WRONG");
    }
  }
  printf("\n");
  for (const auto& list : {x, y, std::vector<half*>{scale, bias}}) {
    for (half* p : list) {
      CHECK(cudaFree(p));
    }
  }
  CHECK(cudaFree(sums));
  CHECK(cudaFree(expected));
}

/* Rows of 64 inside a packed qkv, written head by head: by strides of the input and the output. */
struct placed_t {
  const char* what;
  int by_head, in_t, in_h, out_t, out_h;
};
struct placed_item_t {
  placed_t p;
  int threads;
  generated_t generated;
};

static void placed(int tokens, int heads, int length, bool check) {
  const int row = heads * length, pitch = 3 * row;
  const placed_t forms[] = {
      {"packed to packed", 0, row, length, row, length},
      {"a third of a row, packed", 0, pitch, length, row, length},
      {"a third of a row to heads, by token", 0, pitch, length, length, tokens * length},
      {"a third of a row to heads, by head", 1, pitch, length, length, tokens * length}};
  std::vector<placed_item_t> all;
  for (const placed_t& p : forms) {
    for (int threads : {64, 128, 256}) {
      all.push_back({p, threads, {}});
      const int lanes = std::min(32, length / 8);
      all.back().generated.text =
          with_macros({{"THREADS", number(threads)},
                       {"LANES", number(lanes)},
                       {"PER", number(length / 8 / lanes)},
                       {"RELEASE", tokens * heads * lanes <= 132 * 1536 ? "1" : "0"},
                       {"LENGTH", number(length)},
                       {"TOKENS", number(tokens) + "u"},
                       {"HEADS", number(heads) + "u"},
                       {"BY_HEAD", number(p.by_head)},
                       {"IN_T", number(p.in_t) + "u"},
                       {"IN_H", number(p.in_h) + "u"},
                       {"OUT_T", number(p.out_t) + "u"},
                       {"OUT_H", number(p.out_h) + "u"}},
                      placed_text);
    }
  }
  compile_all(all);
  const size_t n = (size_t)tokens * row;
  enum { SETS = 4 };
  half *x[SETS], *y[SETS], *scale = random_half((size_t)length, 1, 5);
  for (int i = 0; i < SETS; i++) {
    x[i] = random_half(3 * n, 2, 1 + (unsigned)i);
    y[i] = device_new<half>(n);
  }
  std::vector<half> hx(3 * n), hy(n), hs((size_t)length);
  CHECK(cudaMemcpy(hx.data(), x[0], 6 * n, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hs.data(), scale, hs.size() * 2, cudaMemcpyDeviceToHost));
  printf("PLACED RMS norm, %d tokens, %d rows of %d each; bytes %.2f us\n", tokens, heads, length,
         (double)n * 4 / 2.98e6);
  for (placed_item_t& i : all) {
    if (!i.generated.load()) {
      continue;
    }
    const int lanes = std::min(32, length / 8);
    auto step = [&](cudaStream_t s, int k) {
      void* arguments[] = {&x[k % SETS], &scale, &y[k % SETS]};
      i.generated.launch(dim3((unsigned)((tokens * heads * lanes + i.threads - 1) / i.threads)),
                         dim3((unsigned)i.threads), 0, 1, true, s, arguments);
    };
    CHECK(cudaMemset(y[0], 0xff, n * 2));
    step(nullptr, 0);
    wait_or_die(nullptr, "placed");
    CHECK(cudaMemcpy(hy.data(), y[0], n * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (int t = 0; t < tokens; t++) {
      for (int h = 0; h < heads; h++) {
        const half *from = &hx[(size_t)t * i.p.in_t + (size_t)h * i.p.in_h],
                   *got = &hy[(size_t)t * i.p.out_t + (size_t)h * i.p.out_h];
        double sum = 0;
        for (int k = 0; k < length; k++) {
          sum += (double)(float)from[k] * (double)(float)from[k];
        }
        for (int k = 0; k < length; k++) {
          const double e =
              (double)(float)from[k] / std::sqrt(sum / length + 1e-5) * (double)(float)hs[k];
          difference += (e - (double)(float)got[k]) * (e - (double)(float)got[k]);
          size += e * e;
        }
      }
    }
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 15, 16, 64);
    printf("  %s, %d threads: %.2f (%.2f-%.2f)%s\n", i.p.what, i.threads, us.median, us.low,
           us.high, std::sqrt(difference / size) < 1e-3 ? "" : " WRONG");
    i.generated.unload();
  }
  for (int i = 0; i < SETS; i++) {
    CHECK(cudaFree(x[i]));
    CHECK(cudaFree(y[i]));
  }
  CHECK(cudaFree(scale));
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  const double seconds = argc > 1 && !check ? atof(argv[1]) : 1.2;
  print_device();
  if (check) {
    one_case<half>({0, 2, 21, 40}, 60, true);
    one_case<float>({1, 2, 48, 49}, 60, true);
    one_case<half>({3, 1, 800, 16}, 60, true);
    two_launches({3, 2, 100, 64}, true);
    placed(20, 3, 64, true);
    return 0;
  }
  for (int tokens : {128, 4096}) {
    placed(tokens, 12, 64, false);
    placed(tokens, 8, 128, false);
  }
  for (const case_t& c :
       {case_t{0, 1, 21, 16384}, case_t{0, 8, 21, 65536}, case_t{0, 1, 150, 16384},
        case_t{0, 12, 128, 128}, case_t{0, 384, 128, 128}, case_t{0, 1, 16, 33600},
        case_t{0, 1, 1000, 49}, case_t{1, 1, 96, 3136}, case_t{1, 1, 384, 196},
        case_t{1, 1, 768, 49}, case_t{1, 32, 96, 3136}, case_t{1, 32, 384, 196},
        case_t{2, 1, 64, 3136}, case_t{3, 1, 3136, 64}, case_t{3, 1, 16384, 32},
        case_t{3, 32, 3136, 64}}) {
    one_case<half>(c, seconds, false);
  }
  two_launches({3, 1, 3136, 64}, false);
  two_launches({3, 1, 16384, 32}, false);
  two_launches({3, 32, 3136, 64}, false);
  one_case<float>({0, 1, 21, 16384}, seconds, false);
  one_case<float>({1, 1, 96, 3136}, seconds, false);
  one_case<float>({1, 32, 96, 3136}, seconds, false);
}
