/* A generated elementwise kernel, relu(x * s + b) + r: bandwidth by elements a thread, forms of
 * broadcasting and how their indices are computed, small tensors. Compiled at run
 * time, shapes as constants where it is said.
 *
 *   elementwise
 *   elementwise --check        each text once on small data; for the sanitizers */
#include <cstring>

#include "elementwise_kernels.cuh"
#include "generated.cuh"

struct axes_t {
  unsigned extent[4], stride[4], magic[4], shift[4];
};
/* floor(i / d) = (high(i * magic) + i) >> shift for i below 2^31 */
static void multiplier(unsigned d, unsigned* magic, unsigned* shift) {
  unsigned p = 0;
  while ((1u << p) < d) {
    p++;
  }
  *magic = (unsigned)(((1ull << 32) * ((1ull << p) - d)) / d + 1);
  *shift = p;
}

struct kernel_t {
  std::string what;
  int form = 0, index = 0, vector = 8, unroll = 1, threads = 256, persistent = 0, heavy = 0,
      each = 0, dependent = 0;
  bool single = false; /* fp32 */
  axes_t axes = {{1, 1, 1, 1}, {0, 0, 0, 0}, {}, {}};
  unsigned n = 0;
  generated_t generated;
  spread_t time = {NAN, NAN, NAN};
  double error = NAN;

  void write() {
    auto number = [](long v) { return std::to_string(v); };
    for (int k = 0; k < 4; k++) {
      multiplier(axes.extent[k], &axes.magic[k], &axes.shift[k]);
    }
    generated.text = with_macros({{"T", single ? "float" : "half"},
                                  {"FORM", number(form)},
                                  {"INDEX", number(index)},
                                  {"VECTOR", number(vector)},
                                  {"UNROLL", number(unroll)},
                                  {"THREADS", number(threads)},
                                  {"PERSISTENT", number(persistent)},
                                  {"HEAVY", number(heavy)},
                                  {"EACH", number(each)},
                                  {"DEPENDENT", number(dependent)},
                                  {"LAST", number(axes.extent[3]) + "u"},
                                  {"MIDDLE", number(axes.extent[2]) + "u"},
                                  {"OUTER", number(axes.extent[1]) + "u"},
                                  {"STRIDE3", number(axes.stride[3])},
                                  {"STRIDE2", number(axes.stride[2])},
                                  {"STRIDE1", number(axes.stride[1])},
                                  {"STRIDE0", number(axes.stride[0])}},
                                 elementwise_text);
  }
  unsigned place(unsigned i) const {
    const unsigned c3 = i % axes.extent[3], q3 = i / axes.extent[3], c2 = q3 % axes.extent[2],
                   q2 = q3 / axes.extent[2], c1 = q2 % axes.extent[1], c0 = q2 / axes.extent[1];
    return form == 0   ? 0
           : form == 1 ? c3
           : form == 2 ? c2
           : form == 3 ? q3
           : form == 4 ? i
                       : c3 * axes.stride[3] + c2 * axes.stride[2] + c1 * axes.stride[1] +
                             c0 * axes.stride[0];
  }
};

enum { LARGE = 1 << 26 }; /* elements of the large arrays in fp16 */
static half *x, *s, *b, *r, *y;
static double copy_rate;

template <class T>
static __global__ void sample(const T* from, unsigned step, unsigned count, double* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    to[i] = (double)(float)from[(size_t)i * step];
  }
}
/* Every `step`th element, on the host. */
static std::vector<double> samples(const kernel_t& k, const half* from, unsigned step, unsigned n) {
  const unsigned count = (n + step - 1) / step;
  std::vector<double> host(count);
  double* device = device_new<double>(count);
  if (k.single) {
    sample<<<(count + 255) / 256, 256>>>((const float*)from, step, count, device);
  } else {
    sample<<<(count + 255) / 256, 256>>>(from, step, count, device);
  }
  CHECK(cudaMemcpy(host.data(), device, count * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  return host;
}

/* Compared with float64 at 20000 places or so, the last element among them. */
static double error_of(const kernel_t& k) {
  unsigned step = std::max(1u, k.n / 20000), most = 0;
  while ((k.n - 1) % step) {
    step--;
  }
  for (unsigned i = 0; i < k.n; i += step) {
    most = std::max(most, k.place(i));
  }
  CHECK(cudaDeviceSynchronize());
  const unsigned operand_step = k.form == 4 ? step : 1;
  const std::vector<double> hx = samples(k, x, step, k.n), hr = samples(k, r, step, k.n),
                            hy = samples(k, y, step, k.n),
                            hs = samples(k, s, operand_step, most + 1),
                            hb = samples(k, b, operand_step, most + 1);
  double difference = 0, sum = 0;
  for (size_t i = 0; i < hx.size(); i++) {
    const unsigned p = k.place((unsigned)i * step) / operand_step;
    const double t = hx[i] * hs[p] + hb[p];
    const double e = (k.heavy ? 0.5 * t * (1 + erf(t * 0.70710678118654752))
                      : t > 0 ? t
                              : 0) +
                     hr[i];
    difference += (e - hy[i]) * (e - hy[i]);
    sum += e * e;
  }
  return std::sqrt(difference / sum);
}

static void measure(kernel_t& k, bool check) {
  if (!k.generated.load()) {
    printf("  REFUSED %s\n", k.what.c_str());
    return;
  }
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const unsigned each = k.threads * k.unroll * k.vector, blocks = (k.n + each - 1) / each;
  const unsigned grid =
      k.persistent ? std::min(blocks, (unsigned)(processors * k.persistent)) : blocks;
  auto step = [&](cudaStream_t stream, int i) {
    /* other places in turn */
    const size_t room = LARGE / (k.single ? 2 : 1), sets = std::min<size_t>(8, room / k.n);
    const size_t at = i % sets * (k.n / 8 * 8) * (k.single ? 2 : 1);
    half *px = x + at, *pr = r + at, *py = y + at;
    unsigned n32 = k.n;
    unsigned long long n64 = k.n;
    void* arguments[] = {&px,           &s, &b, &pr, &py, k.index == 3 ? (void*)&n64 : (void*)&n32,
                         (void*)&k.axes};
    k.generated.launch(dim3(grid), dim3(k.threads), 0, 1, k.dependent, stream, arguments);
  };
  CHECK(cudaMemset(y, 0xff, (size_t)k.n * (k.single ? 4 : 2)));
  step(nullptr, 0);
  k.error = error_of(k);
  if (!(k.error < (k.single ? 1e-6 : 1e-3))) {
    printf("  WRONG %s: %.1e\n", k.what.c_str(), k.error);
  } else if (!check) {
    const bool large = k.n > 4 << 20;
    k.time = step_time(step, large ? 7 : 11, large ? 2 : 16, large ? 8 : 48);
  }
  k.generated.unload();
}

static void print(const kernel_t& k) {
  const double operands = k.form == 4 ? 5 : 3;
  const double moved = operands * (k.single ? 4. : 2.) * k.n;
  printf("  %s: %.2f us (%.2f-%.2f), %.0f %% of a copy, %d registers%s, error %.1e\n",
         k.what.c_str(), k.time.median, k.time.low, k.time.high,
         100 * moved / copy_rate / k.time.median, k.generated.registers,
         k.generated.spilled ? " SPILLED" : "", k.error);
}

static void run_all(const char* title, std::vector<kernel_t>& all, size_t show, bool check) {
  for (kernel_t& k : all) {
    k.write();
  }
  const double ms = compile_all(all);
  for (kernel_t& k : all) {
    measure(k, check);
  }
  printf("ELEMENTWISE %s: %zu kernels, compiled in %.0f ms\n", title, all.size(), ms);
  std::vector<kernel_t*> order;
  for (kernel_t& k : all) {
    order.push_back(&k);
  }
  if (show < all.size()) {
    std::sort(order.begin(), order.end(),
              [](kernel_t* p, kernel_t* q) { return p->time.median < q->time.median; });
  }
  for (size_t i = 0; i < order.size(); i++) {
    if (i < show || i + 2 >= order.size()) {
      print(*order[i]);
    }
  }
  fflush(stdout);
}

static void shapes_of_kernel(bool check) {
  for (bool single : {false, true}) {
    for (unsigned n : {check ? 100000u : (unsigned)LARGE / 2, 1u << 20}) {
      std::vector<kernel_t> all;
      for (int vector : {1, 2, 4, 8}) {
        if (single && vector == 8) {
          continue;
        }
        for (int unroll : {1, 2, 4, 8}) {
          for (int threads : {128, 256, 512}) {
            for (int persistent : {0, 2, 8}) {
              if ((unroll * vector > 32) || persistent * threads > 2048) {
                continue;
              }
              kernel_t k;
              k.vector = vector, k.unroll = unroll, k.threads = threads, k.persistent = persistent;
              k.single = single, k.n = n;
              k.what = std::to_string(vector) + " x " + std::to_string(unroll) + " elements, " +
                       std::to_string(threads) + " threads" +
                       (persistent ? ", " + std::to_string(persistent) + " blocks a multiprocessor"
                                   : "");
              all.push_back(std::move(k));
            }
          }
        }
      }
      run_all(
          (std::string("shapes of kernel, ") + (single ? "fp32, " : "fp16, ") + std::to_string(n))
              .c_str(),
          all, 8, check);
      if (check) {
        break;
      }
      /* what an access is worth, all else at its best */
      for (int vector : {1, 2, 4, 8}) {
        const kernel_t *best = nullptr, *simple = nullptr;
        for (const kernel_t& k : all) {
          if (k.vector == vector && (!best || k.time.median < best->time.median)) {
            best = &k;
          }
          if (k.vector == vector && k.unroll == 1 && k.threads == 256 && !k.persistent) {
            simple = &k;
          }
        }
        if (best) {
          printf("  accesses of %d: best %s %.2f us; one access a thread, 256 threads %.2f us\n",
                 vector, best->what.c_str(), best->time.median, simple->time.median);
        }
      }
    }
  }
}

static void forms(bool check) {
  static const char* const form_names[] = {"scalar",
                                           "last axis",
                                           "middle axis",
                                           "first axes",
                                           "dense",
                                           "any of four axes",
                                           "any of four axes, each element"};
  static const char* const index_names[] = {"constants", "division", "multiplier",
                                            "64-bit division"};
  struct shape_t {
    const char* name;
    unsigned extent[4];
  };
  const shape_t shapes[] = {{"32x197x768", {1, 32, 197, 768}},
                            {"32x64x56x56 channels first", {1, 32, 64, 3136}},
                            {"32x512x7x7 channels first", {1, 32, 512, 49}},
                            {"32x56x56x100 channels last", {1, 32, 3136, 100}}};
  for (const shape_t& shape : shapes) {
    std::vector<kernel_t> all;
    for (int form : {0, 1, 2, 3, 4, 5, 6}) {
      for (int index : {0, 1, 2, 3}) {
        if ((form == 0 || form == 4) && index) {
          continue;
        }
        kernel_t k;
        k.form = form, k.index = index;
        std::copy(shape.extent, shape.extent + 4, k.axes.extent);
        /* in form 5 and 6 the operand is the middle axis with the last: [MIDDLE][LAST] */
        k.axes.stride[3] = 1;
        k.axes.stride[2] = shape.extent[3];
        k.n = shape.extent[0] * shape.extent[1] * shape.extent[2] * shape.extent[3];
        if (check) {
          k.axes.extent[1] = 2;
          k.n = 2 * shape.extent[2] * shape.extent[3];
        }
        k.vector = 8;
        k.each = form && form != 4 && shape.extent[3] % 8 != 0;
        k.what = std::string(form_names[form]) + ", " + index_names[index] +
                 (k.each ? ", index for each element" : "");
        all.push_back(std::move(k));
      }
    }
    run_all(shape.name, all, 100, check);
  }
  std::vector<kernel_t> all;
  for (int heavy : {0, 1}) {
    for (bool single : {false, true}) {
      kernel_t k;
      k.heavy = heavy, k.single = single, k.vector = single ? 4 : 8, k.n = check ? 4096 : LARGE / 2;
      k.form = 1, k.axes.extent[3] = 768;
      k.n = k.n / 768 * 768;
      k.what = std::string(heavy ? "GELU by erf" : "ReLU") + (single ? ", fp32" : ", fp16");
      all.push_back(std::move(k));
    }
  }
  run_all("arithmetic", all, 100, check);
}

static void small(bool check) {
  std::vector<kernel_t> all;
  for (unsigned n = 1 << 10; n <= (check ? 1u << 12 : 1u << 22); n *= 4) {
    for (int dependent : {0, 1}) {
      for (int vector : {1, 2, 8}) {
        for (int threads : {64, 128, 256, 1024}) {
          if (n < (unsigned)(vector * 64) || (vector == 1 && n > 1 << 18)) {
            continue;
          }
          kernel_t k;
          k.n = n, k.vector = vector, k.threads = threads, k.dependent = dependent;
          k.form = 1, k.axes.extent[3] = 512;
          k.what = std::to_string(n) + (dependent ? " dependent, " : " plain, ") +
                   std::to_string(vector) + " elements, " + std::to_string(threads) + " threads";
          all.push_back(std::move(k));
        }
      }
    }
  }
  run_all("small tensors", all, 1000, check);
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  /* read in pairs as fp32 these are numbers below 2 as well */
  x = random_half(LARGE, 2, 1);
  r = random_half(LARGE, 2, 2);
  y = device_new<half>(LARGE);
  s = random_half(LARGE, 2, 3);
  b = random_half(LARGE, 2, 4);
  CHECK(cudaDeviceSynchronize());
  copy_rate = rate_of_copy(y, x, (size_t)LARGE * 2);
  shapes_of_kernel(check);
  forms(check);
  small(check);
}
