/* Convolutions in fp32 that keep fp32's precision: three products of tf32 on the tensor cores,
 * beside what cuDNN and cuBLASLt do without them and with tf32.
 *
 *   single_precision --check      for the sanitizers */
#include <cstring>

#include "convolution.cuh"
#include "library_product.cuh"
#include "split_products.cuh"

static const char* const precision_names[] = {"tf32", "three products", "three, promoted"};

struct instance_t {
  int bm, bn, split, precision, threads, shared;
  void (*kernel)(split_arguments_t);
};

template <int BM, int BN, int WARPS_M, int WARPS_N, int SPLIT>
static void add(std::vector<instance_t>& to) {
  typedef split_tile_t<BM, BN, WARPS_M, WARPS_N, SPLIT, 0> t;
  to.push_back({BM, BN, SPLIT, AS_TF32, t::THREADS, t::SHARED_BYTES,
                split_convolve<BM, BN, WARPS_M, WARPS_N, SPLIT, AS_TF32>});
  to.push_back({BM, BN, SPLIT, IN_THREE, t::THREADS, t::SHARED_BYTES,
                split_convolve<BM, BN, WARPS_M, WARPS_N, SPLIT, IN_THREE>});
  to.push_back({BM, BN, SPLIT, IN_THREE_PROMOTED, t::THREADS, t::SHARED_BYTES,
                split_convolve<BM, BN, WARPS_M, WARPS_N, SPLIT, IN_THREE_PROMOTED>});
}

static std::vector<instance_t> instances() {
  std::vector<instance_t> all;
  add<64, 32, 2, 2, 1>(all);
  add<64, 32, 2, 2, 2>(all);
  add<64, 32, 2, 2, 4>(all);
  add<64, 32, 2, 2, 8>(all);
  add<64, 64, 2, 2, 1>(all);
  add<64, 64, 2, 2, 2>(all);
  add<64, 64, 2, 2, 4>(all);
  add<64, 64, 2, 2, 8>(all);
  add<128, 64, 4, 2, 1>(all);
  add<128, 64, 4, 2, 2>(all);
  add<128, 128, 2, 4, 1>(all);
  for (const instance_t& i : all) {
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, i.shared));
  }
  return all;
}

struct problem_t {
  convolution_data_t<float>& d;
  split_arguments_t arguments(int copy) const {
    const layer_t& l = d.layer;
    return {d.x,
            d.w[copy],
            d.bias,
            d.y,
            (int)l.in,
            (int)l.extent,
            (int)l.output_extent(),
            (int)l.stride,
            (int)l.window,
            (int)l.out,
            (int)(d.outputs / (size_t)l.out)};
  }
  int blocks(const instance_t& i) const {
    const split_arguments_t a = arguments(0);
    return a.columns / i.bn * ((a.rows + i.bm - 1) / i.bm) * i.split;
  }
  bool fits(const instance_t& i) const {
    return d.layer.out % i.bn == 0 &&
           d.layer.in * d.layer.window * d.layer.window / 32 >= 2 * i.split;
  }
  void enqueue(const instance_t& i, int copy, cudaStream_t s) const {
    const split_arguments_t a = arguments(copy);
    CHECK(launch(i.kernel, dim3(i.split, a.columns / i.bn, (a.rows + i.bm - 1) / i.bm), i.threads,
                 (size_t)i.shared, dim3(i.split), true, s, a));
  }
  double error(const instance_t& i) const {
    CHECK(cudaMemset(d.y, 0xff, d.outputs * 4));
    enqueue(i, 0, nullptr);
    wait_or_die(nullptr, "split_convolve");
    return relative_error(d.y, d.expected, d.outputs);
  }
  spread_t time(const instance_t& i, int count) const {
    return step_time([&](cudaStream_t s, int n) { enqueue(i, n % 12, s); }, count, 10, 34);
  }
};

static void own(const problem_t& problem, const std::vector<instance_t>& all, bool few) {
  for (int precision : {AS_TF32, IN_THREE, IN_THREE_PROMOTED}) {
    struct timed_t {
      const instance_t* instance;
      double error;
      spread_t us;
    };
    std::vector<timed_t> timed;
    double worst = 0;
    for (const instance_t& i : all) {
      if (i.precision != precision || !problem.fits(i) ||
          (!few && (problem.blocks(i) < 24 || (i.split > 1 && problem.blocks(i) > 600)))) {
        continue;
      }
      const double error = problem.error(i);
      worst = error > worst || std::isnan(error) ? error : worst;
      timed.push_back({&i, error, few ? spread_t{0, 0, 0} : problem.time(i, 7)});
    }
    if (timed.empty()) {
      continue;
    }
    std::sort(timed.begin(), timed.end(),
              [](const timed_t& a, const timed_t& b) { return a.us.median < b.us.median; });
    const instance_t& i = *timed[0].instance;
    const spread_t again = few ? spread_t{0, 0, 0} : problem.time(i, 21);
    printf(
        "  own, %s: %zu choices, largest error %.1e; best %dx%d split %d, %d blocks: %.2f "
        "(%.2f-%.2f)\n",
        precision_names[precision], timed.size(), worst, i.bm, i.bn, i.split, problem.blocks(i),
        again.median, again.low, again.high);
  }
}

/* The best of cuDNN's proposals with and without tensor cores, both forms. */
static void dnn(cudnnHandle_t handle, convolution_data_t<float>& d, double seconds) {
  struct best_t {
    spread_t us = {NAN, NAN, NAN};
    double error = NAN;
    int64_t engine = -1;
    int count = 0;
  } best[2];
  const double begin = now_us();
  for (form_t form : {RESIDUAL_FIRST, RELU_AS_MAXIMUM}) {
    dnn_graph_t g(handle);
    if (residual_graph(g, d, form) != CUDNN_STATUS_SUCCESS) {
      continue;
    }
    for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      for (dnn_t configuration : g.proposals(mode)) {
        if (now_us() - begin > seconds * 1e6) {
          break;
        }
        const plan_result_t r = measure_plan(handle, g, d, configuration, 2e-3);
        best_t& b = best[r.error < 1e-5];
        b.count += !std::isnan(r.us.median);
        if (!std::isnan(r.us.median) && !(r.us.median >= b.us.median)) {
          b.us = r.us;
          b.error = r.error;
          b.engine = r.engine.index;
        }
      }
    }
  }
  for (int strict : {0, 1}) {
    const best_t& b = best[strict];
    printf("  cuDNN, %s: best of %d, engine %ld, error %.1e: %.2f (%.2f-%.2f)\n",
           strict ? "error below 1e-5" : "tf32", b.count, (long)b.engine, b.error, b.us.median,
           b.us.low, b.us.high);
  }
}

static void blas(cublasLtHandle_t handle, convolution_data_t<float>& d) {
  const int rows = (int)(d.outputs / (size_t)d.layer.out);
  for (cublasComputeType_t compute : {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32}) {
    blas_product_t p(handle, rows, (int)d.layer.out, (int)d.layer.in, CUBLASLT_EPILOGUE_RELU_BIAS,
                     d.bias, CUDA_R_32F, compute);
    spread_t best = {NAN, NAN, NAN};
    double error = NAN;
    for (const auto& h : p.heuristics(8, nullptr, 16)) {
      CHECK(cudaMemset(d.y, 0xff, d.outputs * 4));
      if (p.run(&h.algo, d.w[0], d.x, nullptr, d.y, nullptr) != CUBLAS_STATUS_SUCCESS) {
        continue;
      }
      const double e = relative_error(d.y, d.expected, d.outputs);
      const spread_t us =
          step_time([&](cudaStream_t s,
                        int i) { CHECK_BLAS(p.run(&h.algo, d.w[i % 12], d.x, nullptr, d.y, s)); },
                    7, 10, 34);
      if (!(us.median >= best.median)) {
        best = us;
        error = e;
      }
    }
    printf("  cuBLASLt, %s: error %.1e: %.2f (%.2f-%.2f)\n",
           compute == CUBLAS_COMPUTE_32F ? "fp32" : "tf32", error, best.median, best.low,
           best.high);
  }
}

int main(int argc, char** argv) {
  print_device();
  const std::vector<instance_t> all = instances();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    for (const layer_t& l : {layer_t{"64>64 @7", 64, 64, 7, 3, 1, false, 0},
                             layer_t{"96>128 @9/2", 96, 128, 9, 3, 2, false, 0},
                             layer_t{"512>64 @5", 512, 64, 5, 1, 1, false, 0}}) {
      convolution_data_t<float> d(l, 3);
      printf("CHECK %s\n", l.name);
      own({d}, all, true);
    }
    return 0;
  }
  cudnnHandle_t handle;
  CHECK_DNN(cudnnCreate(&handle));
  cublasLtHandle_t blas_handle;
  CHECK_BLAS(cublasLtCreate(&blas_handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  for (int64_t batch : {1, 32}) {
    for (layer_t l : layers) {
      l.residual = false;
      convolution_data_t<float> d(l, batch);
      const double flops = 2.0 * (double)d.outputs * (double)(l.in * l.window * l.window);
      printf("SINGLE %s, batch %ld: %.2f us at 67 TFLOP/s\n", l.name, (long)batch, flops / 67e6);
      own({d}, all, false);
      dnn(handle, d, 8);
      if (l.window == 1) {
        blas(blas_handle, d);
      }
    }
  }
}
