/*
 * How fast the kernels are on shapes of well-known networks: GFLOP/s, the best of many runs.
 *   bench [threads] [name]      shapes whose name contains `name`
 * TENON_CPU=baseline|avx2|avx512 forces an instruction set.
 */
#define FAKE_WITHOUT_TESTS
#include "core/base/allocator.h"
#include "fake_run.h"
#include "kernels.h"

typedef struct convolution_t {
  const char* name;
  int64_t in, out, groups, extent, kernel, stride;
} convolution_t;

static const convolution_t convolutions[] = {
    {"resnet50 stem 7x7/2 3>64 224", 3, 64, 1, 224, 7, 2},
    {"resnet50 1x1 64>64 56", 64, 64, 1, 56, 1, 1},
    {"resnet50 3x3 64>64 56", 64, 64, 1, 56, 3, 1},
    {"resnet50 1x1 64>256 56", 64, 256, 1, 56, 1, 1},
    {"resnet50 1x1 256>64 56", 256, 64, 1, 56, 1, 1},
    {"resnet50 3x3/2 128>128 56", 128, 128, 1, 56, 3, 2},
    {"resnet50 3x3 128>128 28", 128, 128, 1, 28, 3, 1},
    {"resnet50 1x1 128>512 28", 128, 512, 1, 28, 1, 1},
    {"resnet50 1x1/2 256>512 56", 256, 512, 1, 56, 1, 2},
    {"resnet50 3x3 256>256 14", 256, 256, 1, 14, 3, 1},
    {"resnet50 1x1 1024>256 14", 1024, 256, 1, 14, 1, 1},
    {"resnet50 1x1 256>1024 14", 256, 1024, 1, 14, 1, 1},
    {"resnet50 3x3 512>512 7", 512, 512, 1, 7, 3, 1},
    {"resnet50 1x1 2048>512 7", 2048, 512, 1, 7, 1, 1},
    {"vgg16 3x3 64>64 224", 64, 64, 1, 224, 3, 1},
    {"vgg16 3x3 512>512 28", 512, 512, 1, 28, 3, 1},
    {"unet 3x3 32>32 256", 32, 32, 1, 256, 3, 1},
    {"mobilenet stem 3x3/2 3>32 224", 3, 32, 1, 224, 3, 2},
    {"mobilenet 1x1 16>96 112", 16, 96, 1, 112, 1, 1},
    {"mobilenet 1x1 24>144 56", 24, 144, 1, 56, 1, 1},
    {"mobilenet 1x1 144>24 56", 144, 24, 1, 56, 1, 1},
    {"mobilenet 1x1 96>576 14", 96, 576, 1, 14, 1, 1},
    {"mobilenet 1x1 960>320 7", 960, 320, 1, 7, 1, 1},
    {"mobilenet depthwise 3x3/2 96 112", 96, 96, 96, 112, 3, 2},
    {"mobilenet depthwise 3x3 144 56", 144, 144, 144, 56, 3, 1},
    {"mobilenet depthwise 3x3 576 14", 576, 576, 576, 14, 3, 1},
    {"efficientnet depthwise 5x5/2 144 56", 144, 144, 144, 56, 5, 2},
    {"efficientnet depthwise 5x5 480 14", 480, 480, 480, 14, 5, 1},
};

typedef struct product_t {
  const char* name;
  int64_t batch, m, n, k;
  bool constant;
} product_t;

static const product_t products[] = {
    {"bert 128x768x768", 1, 128, 768, 768, true},
    {"bert 128x3072x768", 1, 128, 3072, 768, true},
    {"bert 128x768x3072", 1, 128, 768, 3072, true},
    {"bert scores 12x128x128x64", 12, 128, 128, 64, false},
    {"bert values 12x128x64x128", 12, 128, 64, 128, false},
    {"vit 197x3072x768", 1, 197, 3072, 768, true},
    {"vector 1x1024x1024", 1, 1, 1024, 1024, true},
    {"vector 1x25088x4096", 1, 1, 4096, 25088, true},
    {"cube 1024", 1, 1024, 1024, 1024, true},
};

static void report(fake_t* fake, const tenon_kernel_t* kernel, const tenon__cpu_state_t* state,
                   const char* name, double work) {
  tenon_refusal_t refusal;
  fake->repeats = work > 1e9 ? 8 : work > 1e8 ? 30 : 200;
  for (uint32_t t = 0; fake_tactic(fake, kernel, state, t, &refusal); t++) {
    if (fake_run_tactic(fake, kernel, state) == TENON_OK) {
      (void)printf("%-40s %-26s %8.1f GFLOP/s %9.1f us\n", name, fake->tactic.name,
                   work / fake->seconds * 1e-9, fake->seconds * 1e6);
    }
  }
}

static fake_t begin(tenon__thread_pool_t* pool, const char* op) {
  return (fake_t){.kind = TENON_REGION_OPERATOR,
                  .op = op,
                  .seed = 1,
                  .pool = pool,
                  .threads = tenon__thread_pool_thread_count(pool)};
}

static void run_convolution(const convolution_t* c, tenon__thread_pool_t* pool,
                            const tenon__cpu_state_t* state) {
  fake_t fake = begin(pool, "standard.convolution/1");
  const int64_t pad = c->kernel / 2;
  const int64_t out = (c->extent + 2 * pad - c->kernel) / c->stride + 1;
  const int64_t x[] = {1, c->in, c->extent, c->extent};
  const int64_t w[] = {c->out, c->in / c->groups, c->kernel, c->kernel};
  const int64_t y[] = {1, c->out, out, out};
  const int64_t pads[] = {pad, pad, pad, pad};
  const int64_t strides[] = {c->stride, c->stride};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 4, x, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 4, w, true, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 1, y + 1, true, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 4, y);
  fake_ints(&fake, "strides", 2, strides);
  fake_ints(&fake, "pads", 4, pads);
  fake_int(&fake, "groups", c->groups);
  const int64_t multiplications = out * out * c->out * c->in / c->groups * c->kernel * c->kernel;
  report(&fake, &tenon__cpu_convolution_kernel, state, c->name, 2.0 * (double)multiplications);
  fake_free(&fake);
}

static void run_product(const product_t* p, tenon__thread_pool_t* pool,
                        const tenon__cpu_state_t* state) {
  fake_t fake = begin(pool, "standard.mat_mul/1");
  const int64_t a[] = {p->batch, p->m, p->k};
  const int64_t b[] = {p->batch, p->k, p->n};
  const int64_t y[] = {p->batch, p->m, p->n};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, a, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, b, p->constant, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, y);
  report(&fake, &tenon__cpu_mat_mul_kernel, state, p->name,
         2.0 * (double)(p->batch * p->m * p->n * p->k));
  fake_free(&fake);
}

int main(int argc, char** argv) {
  const uint32_t threads = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
  const char* wanted = argc > 2 ? argv[2] : "";
  const tenon__cpu_state_t* state = tenon__cpu_state_of(tenon__cpu_isa_choose());
  tenon__thread_pool_t* pool = NULL;
  const tenon_sink_t sink = {0};
  if (tenon__thread_pool_create(tenon__allocator_default(), threads, &sink, &pool) != TENON_OK) {
    return 1;
  }
  tenon__thread_pool_wake(pool);
  (void)printf("%s, %u threads\n", state->isa->name, threads);
  for (size_t k = 0; k < sizeof(convolutions) / sizeof(convolutions[0]); k++) {
    if (strstr(convolutions[k].name, wanted) != NULL) {
      run_convolution(&convolutions[k], pool, state);
    }
  }
  for (size_t k = 0; k < sizeof(products) / sizeof(products[0]); k++) {
    if (strstr(products[k].name, wanted) != NULL) {
      run_product(&products[k], pool, state);
    }
  }
  tenon__thread_pool_rest(pool);
  tenon__thread_pool_destroy(pool);
  return 0;
}
