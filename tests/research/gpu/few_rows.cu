/* Products of one to eight rows with weights of 16, 8 or 4 bits, own against cuBLASLt's: the layers
 * of Llama-3-8B and of GPT-2, other weights in each step, enough of them to come from memory.
 *
 *   few_rows --check      for the sanitizers */
#include "few_rows.cuh"

#include <cstring>

#include "library_product.cuh"

static cublasLtHandle_t handle;

struct layer_t {
  const char* name;
  int columns, channels;
};
typedef void (*fill_t)(uint4*, half*, int, int, uint32_t);
static const struct {
  const std::vector<few_rows_choice_t>& (*choices)();
  fill_t fill;
} types[] = {{few_rows_choices<FP16_ROWS, false>, fill_weights<FP16_ROWS>},
             {few_rows_choices<FP16, false>, fill_weights<FP16>},
             {few_rows_choices<INT8, false>, fill_weights<INT8>},
             {few_rows_choices<FLOAT8, false>, fill_weights<FLOAT8>},
             {few_rows_choices<INT4, false>, fill_weights<INT4>}};

/* Several sets of weights of one type. */
struct weights_t {
  int type, columns, channels, sets;
  size_t accesses, scale_count;
  uint4* w;
  half* scales;

  weights_t(int type, const layer_t& l, size_t wanted_bytes)
      : type(type), columns(l.columns), channels(l.channels) {
    const size_t padded = (size_t)(columns + TILE - 1) / TILE * TILE;
    accesses = padded * (size_t)(channels / in_access(type));
    scale_count = padded * (type == INT4 ? (size_t)(channels / 128) : 1);
    sets = (int)std::min<size_t>(64, wanted_bytes / (accesses * 16) + 1);
    w = device_new<uint4>(accesses * (size_t)sets);
    scales = device_new<half>(scale_count * (size_t)sets);
    for (int s = 0; s < sets; s++) {
      types[type].fill<<<(unsigned)((accesses + 127) / 128), 128>>>(set(s), scale(s), columns,
                                                                    channels, (uint32_t)s);
      CHECK(cudaGetLastError());
    }
  }
  weights_t(const weights_t&) = delete;
  weights_t& operator=(const weights_t&) = delete;
  ~weights_t() {
    cudaFree(w);
    cudaFree(scales);
  }
  uint4* set(int s) const {
    return w + (size_t)(s % sets) * accesses;
  }
  half* scale(int s) const {
    return scales + (size_t)(s % sets) * scale_count;
  }
  double bytes() const {
    return (double)columns * channels * bits_of(type) / 8 + (type == INT4 ? scale_count * 2.0 : 0);
  }
};

struct problem_t {
  layer_t layer;
  half *x, *y;
  double* expected;
  bool check;
};

/* Of all eight rows; fewer are the first of them. */
static void expect(const problem_t& p, int type) {
  plain_product<<<dim3((unsigned)(p.layer.columns + 127) / 128, 8), 128>>>(
      type, p.x, p.expected, p.layer.columns, p.layer.channels, 0);
  CHECK(cudaGetLastError());
}
/* The error of one step alone. */
template <class Step>
static double error_alone(const problem_t& p, int rows, Step step) {
  CHECK(cudaMemset(p.y, 0xff, (size_t)8 * p.layer.columns * sizeof(half)));
  CHECK(cudaDeviceSynchronize());
  step((cudaStream_t) nullptr, 0);
  wait_or_die(nullptr, "few rows");
  return relative_error(p.y, p.expected, (size_t)rows * p.layer.columns);
}
template <class Step>
static spread_t time_of(const problem_t& p, Step step) {
  const bool small = (size_t)p.layer.columns * p.layer.channels < (size_t)4 << 20;
  return step_time(step, 5, small ? 16 : 8, small ? 64 : 24);
}

static void own(const problem_t& p, int type) {
  const weights_t w(type, p.layer, p.check ? 0 : (size_t)256 << 20);
  expect(p, type);
  printf("  %s (bytes %.2f us):", weight_names[type], w.bytes() / 2.98e6);
  for (int rows : {1, 2, 4, 8}) {
    spread_t best = {1e30, 0, 0};
    char words[64] = "";
    double worst = 0;
    int tried = 0;
    if (p.check && rows != 1 && rows != 8) {
      continue;
    }
    for (const few_rows_choice_t& c : types[type].choices()) {
      for (int warps : {4, 8, 16}) {
        for (int release_first : {0, 1}) {
          auto step = [&](cudaStream_t s, int i) {
            CHECK(launch(c.kernel,
                         dim3((unsigned)(p.layer.columns + c.tiles * TILE - 1) / (c.tiles * TILE)),
                         warps * 32, 0, dim3(1), true, s, (const uint4*)w.set(i),
                         (const half*)w.scale(i), (const half*)p.x, p.y, p.layer.columns,
                         p.layer.channels, rows, release_first, around_t{}));
          };
          const double error = error_alone(p, rows, step);
          worst = error <= worst ? worst : error;
          tried++;
          if (p.check || !(error < 1e-3)) {
            continue;
          }
          const spread_t us = time_of(p, step);
          if (us.median < best.median) {
            best = us;
            snprintf(words, sizeof words, "%d tiles, %d ahead, %d warps, release %s", c.tiles,
                     c.ahead, warps, release_first ? "first" : "behind");
          }
        }
      }
    }
    printf(" rows %d: %.2f (%.2f-%.2f) [%s] %d tried, error to %.1e%s;", rows, best.median,
           best.low, best.high, words, tried, worst, worst < 1e-3 ? "" : " WRONG");
  }
  printf("\n");
}

static void library(const problem_t& p) {
  const weights_t w(FP16_ROWS, p.layer, (size_t)256 << 20);
  expect(p, FP16_ROWS);
  printf("  cuBLASLt fp16:");
  for (int rows : {1, 2, 4, 8}) {
    spread_t best = {1e30, 0, 0};
    double first = 0, error = 0;
    std::string words;
    int tried = 0;
    for (size_t space : {(size_t)0, (size_t)32 << 20}) {
      blas_product_t product(handle, rows, p.layer.columns, p.layer.channels,
                             CUBLASLT_EPILOGUE_DEFAULT, nullptr, CUDA_R_16F, CUBLAS_COMPUTE_32F,
                             space);
      for (const auto& h : product.heuristics(8)) {
        auto step = [&](cudaStream_t s, int i) {
          CHECK_BLAS(product.run(&h.algo, w.set(i), p.x, nullptr, p.y, s));
        };
        const double e = error_alone(p, rows, step);
        error = e <= error ? error : e;
        const spread_t us = time_of(p, step);
        first = tried++ ? first : us.median;
        if (us.median < best.median) {
          best = us;
          words = algorithm_name(h.algo);
        }
      }
    }
    printf(" rows %d: %.2f (%.2f-%.2f), first %.2f, %d tried, error to %.1e [%s];", rows,
           best.median, best.low, best.high, first, tried, error, words.c_str());
  }
  printf("\n");
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  std::vector<layer_t> layers = {{"Llama q, o", 4096, 4096},  {"Llama k, v", 1024, 4096},
                                 {"Llama qkv", 6144, 4096},   {"Llama gate, up", 28672, 4096},
                                 {"Llama down", 4096, 14336}, {"GPT-2 qkv", 2304, 768},
                                 {"GPT-2 o", 768, 768},       {"GPT-2 up", 3072, 768},
                                 {"GPT-2 down", 768, 3072},   {"GPT-2 words", 50257, 768}};
  if (check) {
    layers = {{"odd", 83, 384}};
  } else {
    CHECK_BLAS(cublasLtCreate(&handle));
  }
  for (const layer_t& l : layers) {
    problem_t p = {l, random_half((size_t)8 * l.channels, 1, 5),
                   device_new<half>((size_t)8 * l.columns),
                   device_new<double>((size_t)8 * l.columns), check};
    printf("FEW ROWS %s, %d columns, %d channels\n", l.name, l.columns, l.channels);
    for (int type = 0; type < WEIGHT_TYPES; type++) {
      own(p, type);
    }
    if (!check) {
      library(p);
    }
    for (void* q : {(void*)p.x, (void*)p.y, (void*)p.expected}) {
      CHECK(cudaFree(q));
    }
  }
}
