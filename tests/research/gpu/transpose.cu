/* Transposed input of a generated elementwise kernel, and what changing between NHWC and NCHW
 * costs.
 *
 *   transpose
 *   transpose --check        each text once on small data; for the sanitizers */
#include <cstring>

#include "elementwise_kernels.cuh"
#include "generated.cuh"

enum { LARGE = 1 << 26 }; /* elements of the arrays in fp16 */
static half *x, *s, *b, *y;
static double copy_rate;

struct transpose_t {
  std::string what;
  generated_t generated;
  int way, in, out;
};

static void transposes(bool check) {
  struct shape_t {
    unsigned batch, rows, columns;
    const char* name;
  };
  const shape_t shapes[] = {{1, 3136, 64, "1x56x56x64 to channels first"},
                            {1, 64, 3136, "1x64x56x56 to channels last"},
                            {1, 196, 256, "1x14x14x256 to channels first"},
                            {1, 2048, 49, "1x2048x7x7 to channels last"},
                            {1, 3, 50176, "1x3x224x224 to channels last"},
                            {32, 3136, 64, "32x56x56x64 to channels first"},
                            {32, 64, 12544, "32x64x112x112 to channels last"},
                            {32, 196, 256, "32x14x14x256 to channels first"},
                            {32, 2048, 49, "32x2048x7x7 to channels last"},
                            {32, 3, 50176, "32x3x224x224 to channels last"},
                            {1, 4096, 4096, "4096x4096"}};
  for (const shape_t& shape : shapes) {
    for (bool single : {false, true}) {
      if (check && shape.batch > 1) {
        continue;
      }
      const int widest = single ? 4 : 8;
      std::vector<transpose_t> all;
      auto offer = [&](int way, int in, int out, const char* name) {
        if (shape.columns % in || shape.rows % out) {
          return;
        }
        transpose_t t;
        t.way = way, t.in = in, t.out = out;
        t.what = name;
        auto number = [](unsigned v) { return std::to_string(v); };
        t.generated.text = with_macros({{"T", single ? "float" : "half"},
                                        {"WAY", number(way)},
                                        {"IN", number(in)},
                                        {"OUT", number(out)},
                                        {"ROWS", number(shape.rows) + "u"},
                                        {"COLUMNS", number(shape.columns) + "u"},
                                        {"CHANNEL", number(shape.rows < shape.columns ? 1 : 2)}},
                                       transpose_text);
        all.push_back(std::move(t));
      };
      offer(0, 1, 1, "gather");
      offer(1, 1, 1, "scatter");
      offer(2, 1, 1, "tiles of 32");
      offer(3, 1, 1, "tiles of 64, single elements");
      offer(3, widest, 1, "tiles of 64, 16 bytes in");
      offer(3, 1, widest, "tiles of 64, 16 bytes out");
      offer(3, widest, widest, "tiles of 64, 16 bytes in and out");
      offer(3, widest / 2, widest / 2, "tiles of 64, 8 bytes in and out");
      compile_all(all);
      const size_t n = (size_t)shape.batch * shape.rows * shape.columns;
      const size_t bytes = n * (single ? 4 : 2);
      printf("TRANSPOSE %s %s, %.2f us at the rate of a copy:", shape.name,
             single ? "fp32" : "fp16", 2 * (double)bytes / copy_rate);
      std::vector<uint8_t> first;
      for (transpose_t& t : all) {
        if (!t.generated.load()) {
          continue;
        }
        const unsigned tile = t.way == 2 ? 32 : 64;
        const dim3 grid = t.way < 2 ? dim3((shape.rows * shape.columns + 255) / 256, 1, shape.batch)
                                    : dim3((shape.columns + tile - 1) / tile,
                                           (shape.rows + tile - 1) / tile, shape.batch);
        auto step = [&](cudaStream_t stream, int i) {
          const size_t room = (size_t)LARGE * 2;
          const size_t at = bytes * 8 <= room ? i % 8 * bytes : 0;
          uint8_t *px = (uint8_t*)x + at, *py = (uint8_t*)y + at;
          void* arguments[] = {&px, &s, &b, &py};
          t.generated.launch(grid, dim3(256), 0, 1, false, stream, arguments);
        };
        CHECK(cudaMemset(y, 0xff, bytes));
        step(nullptr, 0);
        std::vector<uint8_t> got(bytes);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(got.data(), y, bytes, cudaMemcpyDeviceToHost));
        if (first.empty()) {
          first = got;
        }
        const bool same = first == got;
        const bool large = bytes > 4 << 20;
        const spread_t time =
            check ? spread_t{NAN, NAN, NAN} : step_time(step, 9, large ? 2 : 16, large ? 10 : 48);
        printf(" %s %.2f (%.2f-%.2f)%s;", t.what.c_str(), time.median, time.low, time.high,
               same ? "" : " WRONG");
        t.generated.unload();
      }
      printf("\n");
    }
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  /* read in pairs as fp32 these are numbers below 2 as well */
  x = random_half(LARGE, 2, 1);
  y = device_new<half>(LARGE);
  s = random_half(1 << 20, 2, 3);
  b = random_half(1 << 20, 2, 4);
  CHECK(cudaDeviceSynchronize());
  copy_rate = rate_of_copy(y, x, (size_t)LARGE * 2);
  transposes(check);
}
