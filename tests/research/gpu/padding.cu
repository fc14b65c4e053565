/* Padding and cubic resizing as kernels compiled for their shapes: accesses, where a border costs,
 * and whether sixteen taps want two passes.
 *
 *   padding --check      for the sanitizers */
#include <cstring>

#include "generated.cuh"
#include "padding_kernels.cuh"

static std::string number(long long n) {
  return std::to_string(n);
}
static std::string release(size_t threads) {
  return threads <= (size_t)132 * 1536 ? "1" : "0";
}

struct pad_t {
  int planes, high, wide, inner, pad, mode;
};
struct item_t {
  int vector, each, fetch, way;
  bool between_half;
  generated_t generated;
};

static void pads(const pad_t& p, bool check) {
  static const char* const modes[] = {"zeros", "reflected", "edge"};
  const size_t n = (size_t)p.planes * p.high * p.wide * p.inner;
  const int oh = p.high + 2 * p.pad, ow = p.wide + 2 * p.pad;
  const size_t m = (size_t)p.planes * oh * ow * p.inner;
  std::vector<item_t> all;
  for (int v : {1, 2, 4, 8}) {
    for (int each : {1, 4}) {
      for (int fetch : {0, 1}) {
        if ((p.inner > 1 ? p.inner : ow) % v || (each > 1 && v > 2) ||
            (fetch && (p.inner > 1 || v < 2 || each > 1))) {
          continue;
        }
        all.push_back({v, each, fetch, 0, false, {}});
        all.back().generated.text = with_macros({{"T", "half"},
                                                 {"V", number(v)},
                                                 {"EACH", number(each)},
                                                 {"FETCH", number(fetch)},
                                                 {"MODE", number(p.mode)},
                                                 {"H", number(p.high)},
                                                 {"W", number(p.wide)},
                                                 {"INNER", number(p.inner)},
                                                 {"PAD", number(p.pad)},
                                                 {"THREADS", "128"},
                                                 {"RELEASE", release(m / (size_t)(v * each))},
                                                 {"COUNT", number((long long)m) + "u"}},
                                                pad_text);
      }
    }
  }
  compile_all(all);
  enum { SETS = 4 };
  half *x[SETS], *y[SETS];
  for (int i = 0; i < SETS; i++) {
    x[i] = random_half(n + 8, 1, 1 + (unsigned)i);
    y[i] = device_new<half>(m);
  }
  std::vector<uint16_t> hx(n), hy(m);
  CHECK(cudaMemcpy(hx.data(), x[0], n * 2, cudaMemcpyDeviceToHost));
  printf("PAD %s by %d, %d planes of %dx%dx%d; bytes %.2f us:", modes[p.mode], p.pad, p.planes,
         p.high, p.wide, p.inner, (double)(n + m) * 2 / 2.98e6);
  for (item_t& i : all) {
    if (!i.generated.load()) {
      continue;
    }
    auto step = [&](cudaStream_t s, int k) {
      void* arguments[] = {&x[k % SETS], &y[k % SETS]};
      const size_t whole = (size_t)i.vector * i.each * 128;
      i.generated.launch(dim3((unsigned)((m + whole - 1) / whole)), dim3(128), 0, 1, true, s,
                         arguments);
    };
    CHECK(cudaMemset(y[0], 0xff, m * 2));
    step(nullptr, 0);
    wait_or_die(nullptr, "padding");
    CHECK(cudaMemcpy(hy.data(), y[0], m * 2, cudaMemcpyDeviceToHost));
    auto source = [&](int at, int extent) {
      return p.mode == 1   ? (at < 0         ? -at
                              : at >= extent ? 2 * (extent - 1) - at
                                             : at)
             : p.mode == 2 ? std::min(std::max(at, 0), extent - 1)
                           : at;
    };
    size_t wrong = 0;
    for (size_t e = 0; e < m; e++) {
      const int c = (int)(e % p.inner), column = source((int)(e / p.inner % ow) - p.pad, p.wide),
                row = source((int)(e / p.inner / ow % oh) - p.pad, p.high);
      const size_t plane = e / p.inner / ow / oh;
      const bool in = row >= 0 && row < p.high && column >= 0 && column < p.wide;
      wrong += hy[e] != (in ? hx[((plane * p.high + row) * p.wide + column) * p.inner + c] : 0);
    }
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 12, 36);
    printf(" %d%s%s %.2f (%.2f-%.2f)%s,", i.vector, i.each > 1 ? " four times" : "",
           i.fetch ? " shifted" : "", us.median, us.low, us.high, wrong ? " WRONG" : "");
    i.generated.unload();
  }
  printf("\n");
  for (int i = 0; i < SETS; i++) {
    CHECK(cudaFree(x[i]));
    CHECK(cudaFree(y[i]));
  }
}

enum { TWICE = 4 }; /* ways 0 to 3 are those of the text */
struct cubic_t {
  int planes, in, out, inner;
};
struct taps_t {
  int first;
  float weight[4];
};
static void taps_of(int at, int in, int out, int* first, double (&w)[4]) {
  const double place = (at + 0.5) * ((double)in / out) - 0.5, below = std::floor(place),
               d = place - below, a = -0.75;
  auto outer = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  auto inner = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  *first = (int)below - 1;
  w[0] = outer(d + 1), w[1] = inner(d), w[2] = inner(1 - d), w[3] = outer(2 - d);
}

static void cubics(const cubic_t& c, bool check) {
  const size_t n = (size_t)c.planes * c.in * c.in * c.inner, middle = n / c.in * c.out,
               m = middle / c.in * c.out;
  half *x = random_half(n, 1, 1), *y = device_new<half>(m);
  float* between = device_new<float>(middle);
  std::vector<taps_t> table;
  for (int axis = 0; axis < 2; axis++) {
    for (int i = 0; i < c.out; i++) {
      taps_t t;
      double w[4];
      taps_of(i, c.in, c.out, &t.first, w);
      std::copy(w, w + 4, t.weight);
      table.push_back(t);
    }
  }
  taps_t* device_table = device_new<taps_t>(table.size());
  CHECK(cudaMemcpy(device_table, table.data(), table.size() * sizeof(taps_t),
                   cudaMemcpyHostToDevice));
  std::vector<item_t> all;
  for (int v : {1, 2, 4, 8}) {
    if ((c.inner > 1 ? c.inner : c.out) % v) {
      continue;
    }
    const bool passes_fit = (c.inner > 1 ? c.inner : c.in) % v == 0;
    for (int way : {0, 1, 2, 3, 2, 3}) {
      if (way > 1 && !passes_fit) {
        continue;
      }
      all.push_back({v, 1, 0, way, false, {}});
    }
    if (c.out == 2 * c.in && (v > 1 || c.inner > 1)) {
      all.push_back({v, 1, 0, TWICE, false, {}});
    }
  }
  /* of the two pairs of passes of each width the second keeps half between them */
  int passes = 0;
  for (item_t& i : all) {
    if (i.way == TWICE) {
      i.generated.text =
          with_macros({{"size_t", "unsigned long long"},
                       {"V", number(i.vector)},
                       {"INNER", number(c.inner)},
                       {"IN", number(c.in)},
                       {"PLANES", number(c.planes) + "u"},
                       {"THREADS", "128"},
                       {"RELEASE", release(m / (size_t)(c.inner > 1 ? 4 : 2) / (size_t)i.vector)}},
                      cubic_twice_text);
      continue;
    }
    if (i.way > 1) {
      i.between_half = passes++ / 2 % 2 == 1;
    }
    const std::string type = i.between_half ? "half" : "float";
    const size_t count = i.way == 2 ? middle : m;
    i.generated.text = with_macros({{"size_t", "unsigned long long"},
                                    {"IN", i.way == 3 ? type : "half"},
                                    {"OUT", i.way == 2 ? type : "half"},
                                    {"V", number(i.vector)},
                                    {"WAY", number(i.way)},
                                    {"INNER", number(c.inner)},
                                    {"ROWS_IN", number(i.way == 3 ? c.out : c.in)},
                                    {"COLUMNS_IN", number(c.in)},
                                    {"ROWS_OUT", number(c.out)},
                                    {"COLUMNS_OUT", number(i.way == 2 ? c.in : c.out)},
                                    {"THREADS", "128"},
                                    {"RELEASE", release(count / (size_t)i.vector)},
                                    {"COUNT", number((long long)count) + "u"}},
                                   cubic_text);
  }
  compile_all(all);
  for (item_t& i : all) {
    if (!i.generated.load()) {
      return;
    }
  }
  std::vector<half> hx(n), hy(m);
  CHECK(cudaMemcpy(hx.data(), x, n * 2, cudaMemcpyDeviceToHost));
  std::vector<double> expected(std::min<size_t>(m, 4u << 20));
  const size_t looked = std::min<size_t>(m, 4u << 20);
  for (size_t e = 0; e < looked; e++) {
    const size_t k = e % c.inner, plane = e / c.inner / c.out / c.out;
    int fx, fy;
    double wx[4], wy[4], sum = 0;
    taps_of((int)(e / c.inner % c.out), c.in, c.out, &fx, wx);
    taps_of((int)(e / c.inner / c.out % c.out), c.in, c.out, &fy, wy);
    for (int a = 0; a < 4; a++) {
      for (int b = 0; b < 4; b++) {
        const size_t row = (size_t)std::min(std::max(fy + a, 0), c.in - 1),
                     column = (size_t)std::min(std::max(fx + b, 0), c.in - 1);
        sum +=
            (double)(float)hx[((plane * c.in + row) * c.in + column) * c.inner + k] * wy[a] * wx[b];
      }
    }
    expected[e] = sum;
  }
  printf("CUBIC %d planes of %dx%d to %dx%d, %d channels last; bytes %.2f us:", c.planes, c.in,
         c.in, c.out, c.out, c.inner, (double)(n + m) * 2 / 2.98e6);
  for (size_t at = 0; at < all.size(); at++) {
    const item_t& i = all[at];
    if (i.way == 3) {
      continue;
    }
    auto run = [&](const item_t& k, void* from, void* to, size_t count, cudaStream_t s) {
      void* arguments[] = {&from, &to, &device_table};
      const size_t whole = (size_t)k.vector * 128 * (k.way != TWICE ? 1 : c.inner > 1 ? 4 : 2);
      k.generated.launch(dim3((unsigned)((count + whole - 1) / whole)), dim3(128), 0, 1, true, s,
                         arguments);
    };
    auto step = [&](cudaStream_t s, int) {
      if (i.way == 2) {
        run(i, x, between, middle, s);
        run(all[at + 1], between, y, m, s);
      } else {
        run(i, x, y, m, s);
      }
    };
    CHECK(cudaMemset(y, 0xff, m * 2));
    step(nullptr, 0);
    wait_or_die(nullptr, "cubic");
    CHECK(cudaMemcpy(hy.data(), y, m * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (size_t e = 0; e < looked; e++) {
      const double d = (double)(float)hy[e] - expected[e];
      difference += d * d;
      size += expected[e] * expected[e];
    }
    const double error = std::sqrt(difference / size);
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 9, 8, 24);
    printf(" %d %s %.2f (%.2f-%.2f) error %.1e%s,", i.vector,
           i.way == 0       ? "computed"
           : i.way == TWICE ? "two rows a thread"
           : i.way == 1     ? "table"
           : i.between_half ? "two passes, half between"
                            : "two passes, fp32 between",
           us.median, us.low, us.high, error, error < 1e-3 ? "" : " WRONG");
  }
  printf("\n");
  for (item_t& i : all) {
    i.generated.unload();
  }
  for (void* p : {(void*)x, (void*)y, (void*)between, (void*)device_table}) {
    CHECK(cudaFree(p));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (check) {
    pads({3, 10, 14, 1, 1, 1}, true);
    pads({2, 6, 6, 8, 2, 0}, true);
    cubics({2, 6, 12, 8}, true);
    cubics({3, 8, 16, 1}, true);
    return 0;
  }
  for (int batch : {1, 32}) {
    for (int mode : {0, 1, 2}) {
      pads({batch, 56, 56, 64, 1, mode}, false);
      pads({64 * batch, 56, 56, 1, 1, mode}, false);
    }
    pads({batch, 224, 224, 4, 3, 1}, false);
    pads({3 * batch, 224, 224, 1, 3, 1}, false);
    cubics({batch, 56, 112, 64}, false);
    cubics({64 * batch, 56, 112, 1}, false);
    cubics({3 * batch, 224, 448, 1}, false);
  }
}
