/* A concatenation whose pieces are expressions: one launch by channel, by single elements or by
 * blocks, against a launch for each piece. fp16, NHWC.
 *
 *   expression_pieces --check      for the sanitizers */
#include <cstring>

#include "generated.cuh"
#include "strided_kernels.cuh"

static std::string number(long long n) {
  return std::to_string(n);
}

struct item_t {
  int way, only, vector, moved;
  std::string what;
  generated_t generated;
};

struct case_t {
  int batch, extent;
  std::vector<int> widths;
};

static double expression(int piece, double x, double z) {
  switch (piece % 4) {
    case 0:
      return std::max(x * 0.75 + z, 0.0);
    case 1:
      return x / (1 + std::exp(-x)) + z;
    case 2:
      return std::fabs(x) - z;
    default:
      return x + z;
  }
}

static void measure(const case_t& c, bool check) {
  const size_t pixels = (size_t)c.batch * c.extent * c.extent;
  int channels = 0, divisor = 8;
  std::string list;
  std::vector<half*> x;
  for (int w : c.widths) {
    x.push_back(random_half(pixels * (size_t)w, 1, 1u + (unsigned)channels));
    channels += w;
    list += number(w) + ",";
    while (w % divisor) {
      divisor /= 2;
    }
  }
  int whole = 8;
  while (channels % whole) {
    whole /= 2;
  }
  half *z = random_half(pixels * (size_t)channels, 1, 99),
       *y = device_new<half>(pixels * (size_t)channels);
  std::vector<item_t> all;
  all.push_back({0, -1, divisor, channels, "by channel", {}});
  all.push_back({2, -1, divisor, channels, "by block", {}});
  all.push_back({1, -1, whole, channels, "single elements", {}});
  for (int i = 0; i < (int)c.widths.size(); i++) {
    all.push_back({0, i, divisor, c.widths[i], "", {}});
  }
  for (item_t& i : all) {
    const size_t threads = pixels * (size_t)(i.moved / i.vector);
    i.generated.text = with_macros({{"size_t", "unsigned long long"},
                                    {"V", number(i.vector)},
                                    {"WAY", number(i.way)},
                                    {"ONLY", number(i.only)},
                                    {"PIECES", number((long long)c.widths.size())},
                                    {"WIDTHS", list},
                                    {"THREADS", "128"},
                                    {"RELEASE", threads <= (size_t)132 * 1536 ? "1" : "0"},
                                    {"C", number(channels)},
                                    {"PIXELS", number((long long)pixels) + "u"}},
                                   pieces_text);
  }
  compile_all(all);
  for (item_t& i : all) {
    if (!i.generated.load()) {
      return;
    }
  }
  auto run = [&](const item_t& i, cudaStream_t s) {
    void* arguments[] = {x.data(), &z, &y};
    size_t blocks = 0;
    if (i.way == 2) {
      for (int w : c.widths) {
        blocks += (pixels * (size_t)(w / i.vector) + 127) / 128;
      }
    } else {
      blocks = (pixels * (size_t)(i.moved / i.vector) + 127) / 128;
    }
    i.generated.launch(dim3((unsigned)blocks), dim3(128), 0, 1, true, s, arguments);
  };
  auto wrong = [&](auto step) {
    CHECK(cudaMemset(y, 0xff, pixels * (size_t)channels * 2));
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, "pieces");
    std::vector<half> hy(pixels * (size_t)channels), hz(hy.size()), hx;
    CHECK(cudaMemcpy(hy.data(), y, hy.size() * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hz.data(), z, hz.size() * 2, cudaMemcpyDeviceToHost));
    size_t bad = 0, front = 0;
    for (size_t i = 0; i < c.widths.size(); i++) {
      const size_t w = (size_t)c.widths[i];
      hx.resize(pixels * w);
      CHECK(cudaMemcpy(hx.data(), x[i], hx.size() * 2, cudaMemcpyDeviceToHost));
      for (size_t k = 0; k < hx.size(); k++) {
        const size_t at = k / w * (size_t)channels + front + k % w;
        const double e = expression((int)i, (double)(float)hx[k], (double)(float)hz[at]);
        bad += !(std::fabs((double)(float)hy[at] - e) <= 1.5e-3); /* rounding of values below 2 */
      }
      front += w;
    }
    return bad;
  };
  printf("PIECES batch %d, @%d, %s accesses of %d; bytes %.2f us:", c.batch, c.extent, list.c_str(),
         divisor, (double)pixels * channels * 6 / 2.98e6);
  auto show = [&](const std::string& name, auto step) {
    const size_t bad = wrong(step);
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 8, 32);
    printf(" %s %.2f (%.2f-%.2f)%s,", name.c_str(), us.median, us.low, us.high,
           bad ? " WRONG" : "");
  };
  for (size_t i = 0; i < 3; i++) {
    show(all[i].what + " (" + number(all[i].vector) + ")",
         [&](cudaStream_t s, int) { run(all[i], s); });
  }
  show("a launch each", [&](cudaStream_t s, int) {
    for (size_t i = 3; i < all.size(); i++) {
      run(all[i], s);
    }
  });
  printf("\n");
  for (item_t& i : all) {
    i.generated.unload();
  }
  for (half* p : x) {
    CHECK(cudaFree(p));
  }
  CHECK(cudaFree(y));
  CHECK(cudaFree(z));
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (check) {
    measure({2, 5, {8, 16, 24, 8}}, true);
    measure({1, 7, {51, 33, 16}}, true);
    return 0;
  }
  for (int batch : {1, 32}) {
    measure({batch, 28, {64, 128, 32, 32}}, false);
    measure({batch, 55, {64, 64}}, false);
    measure({batch, 14, {24, 24, 24, 24, 24, 24, 24, 24}}, false);
    measure({batch, 28, {50, 30, 20}}, false);
    measure({batch, 28, {51, 33, 16}}, false);
  }
}
