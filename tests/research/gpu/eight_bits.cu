/* Products of eight bits through cuBLASLt, integers and fp8, beside fp16: what quantisation would
 * gain, and which forms the library takes.
 *
 *   eight_bits --check      for the sanitizers: one small product of each form */
#include <cuda_fp8.h>

#include <cstring>

#include "library_product.cuh"

struct form_t {
  const char* name;
  cudaDataType_t in, out, bias;
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasLtEpilogue_t epilogue;
};
static const form_t forms[] = {
    {"fp16 to fp16, bias + ReLU", CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F,
     CUDA_R_32F, CUBLASLT_EPILOGUE_RELU_BIAS},
    {"int8 to int32", CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I,
     CUBLASLT_EPILOGUE_DEFAULT},
    {"int8 to int8", CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, CUDA_R_32F,
     CUBLASLT_EPILOGUE_DEFAULT},
    {"int8 to int8, bias", CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, CUDA_R_32F,
     CUBLASLT_EPILOGUE_BIAS},
    {"int8 to int8, bias + ReLU", CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, CUDA_R_32F,
     CUBLASLT_EPILOGUE_RELU_BIAS},
    {"int8 to fp16", CUDA_R_8I, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32I, CUDA_R_32F,
     CUBLASLT_EPILOGUE_DEFAULT},
    {"fp8 to fp16, bias + ReLU", CUDA_R_8F_E4M3, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F,
     CUDA_R_32F, CUBLASLT_EPILOGUE_RELU_BIAS},
    {"fp8 to fp8, bias + ReLU", CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16F, CUBLAS_COMPUTE_32F,
     CUDA_R_32F, CUBLASLT_EPILOGUE_RELU_BIAS},
};

static size_t bytes_of(cudaDataType_t type) {
  return type == CUDA_R_32I || type == CUDA_R_32F ? 4 : type == CUDA_R_16F ? 2 : 1;
}

/* Whole numbers of -3 to 3, exact in every type here. */
static double value_at(size_t i, unsigned seed) {
  unsigned h = (unsigned)i * 2654435761u + seed * 0x9E3779B9u;
  h = (h ^ h >> 15) * 0x85ebca6bu;
  return (double)((h >> 16) % 7) - 3;
}
static void* make(cudaDataType_t type, size_t n, unsigned seed) {
  std::vector<uint8_t> host(n * bytes_of(type));
  for (size_t i = 0; i < n; i++) {
    const float v = (float)value_at(i, seed);
    if (type == CUDA_R_16F) {
      ((half*)host.data())[i] = __float2half(v);
    } else if (type == CUDA_R_8I) {
      ((int8_t*)host.data())[i] = (int8_t)v;
    } else if (type == CUDA_R_32F) {
      ((float*)host.data())[i] = v;
    } else if (type == CUDA_R_8F_E4M3) {
      ((__nv_fp8_e4m3*)host.data())[i] = __nv_fp8_e4m3(v);
    }
  }
  uint8_t* p = device_new<uint8_t>(host.size());
  CHECK(cudaMemcpy(p, host.data(), host.size(), cudaMemcpyHostToDevice));
  return p;
}
static double read(const std::vector<uint8_t>& host, cudaDataType_t type, size_t i) {
  switch (type) {
    case CUDA_R_16F:
      return (double)__half2float(((const half*)host.data())[i]);
    case CUDA_R_8I:
      return ((const int8_t*)host.data())[i];
    case CUDA_R_32I:
      return ((const int32_t*)host.data())[i];
    default:
      return (double)(float)((const __nv_fp8_e4m3*)host.data())[i];
  }
}

struct product_t {
  form_t form;
  int rows, columns, channels;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t weights = nullptr, input = nullptr, output = nullptr;
  void *w[8], *x, *y, *bias, *workspace = device_new<uint8_t>(32 << 20);
  /* small enough for the eight bits of the output */
  float scale = 0.0625f;

  product_t(const form_t& form, int rows, int columns, int channels)
      : form(form), rows(rows), columns(columns), channels(channels) {
    for (int i = 0; i < 8; i++) {
      w[i] = make(form.in, (size_t)columns * channels, 20u + i);
    }
    x = make(form.in, (size_t)rows * channels, 2);
    bias = make(form.bias, (size_t)columns, 3);
    y = device_new<uint8_t>((size_t)rows * columns * bytes_of(form.out));
    CHECK_BLAS(cublasLtMatmulDescCreate(&operation, form.compute, form.scale));
    const cublasOperation_t transpose = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transpose);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, form.epilogue);
    if (form.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, form.bias);
    }
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&weights, form.in, channels, columns, channels));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&input, form.in, channels, rows, channels));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&output, form.out, columns, rows, columns));
  }
  product_t(const product_t&) = delete;
  product_t& operator=(const product_t&) = delete;
  ~product_t() {
    for (void* p : w) {
      cudaFree(p);
    }
    for (void* p : {x, y, bias, workspace}) {
      cudaFree(p);
    }
    cublasLtMatrixLayoutDestroy(output);
    cublasLtMatrixLayoutDestroy(input);
    cublasLtMatrixLayoutDestroy(weights);
    cublasLtMatmulDescDestroy(operation);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
  }
  cublasStatus_t heuristics(cublasLtHandle_t handle,
                            std::vector<cublasLtMatmulHeuristicResult_t>& results) {
    cublasLtMatmulPreference_t preference;
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const size_t bytes = 32 << 20;
    CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
    results.resize(8);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, operation, weights, input, output, output, preference, 8, results.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    results.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
    return status;
  }
  cublasStatus_t run(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t* algorithm, int copy,
                     cudaStream_t s) {
    const int one = 1, none = 0;
    const float zero = 0;
    const bool whole = form.scale == CUDA_R_32I;
    return cublasLtMatmul(handle, operation, whole ? (const void*)&one : &scale, w[copy], weights,
                          x, input, whole ? (const void*)&none : &zero, y, output, y, output,
                          algorithm, workspace, 32 << 20, s);
  }
  /* Of a few elements: the largest difference from exact arithmetic, rounded as the output is. */
  double difference() const {
    std::vector<uint8_t> host((size_t)rows * columns * bytes_of(form.out));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), y, host.size(), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (size_t i = 0; i < (size_t)rows * columns; i += 997) {
      const size_t row = i / columns, column = i % columns;
      double sum = 0;
      for (int k = 0; k < channels; k++) {
        sum += value_at(row * channels + k, 2) * value_at(column * channels + k, 20);
      }
      sum *= form.scale == CUDA_R_32I ? 1 : (double)scale;
      if (form.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        sum += value_at(column, 3);
      }
      if (form.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) {
        sum = std::max(sum, 0.0);
      }
      if (form.out == CUDA_R_8I) {
        sum = std::min(std::max(std::nearbyint(sum), -128.0), 127.0);
      } else if (form.out == CUDA_R_16F) {
        sum = (double)__half2float(__float2half((float)sum));
      } else if (form.out == CUDA_R_8F_E4M3) {
        sum = (double)(float)__nv_fp8_e4m3((float)sum);
      }
      worst = std::max(worst, std::fabs(read(host, form.out, i) - sum));
    }
    return worst;
  }
};

static void measure(cublasLtHandle_t handle, int rows, int columns, int channels, bool few) {
  printf("EIGHT %d x %d x %d\n", rows, columns, channels);
  for (const form_t& form : forms) {
    product_t p(form, rows, columns, channels);
    std::vector<cublasLtMatmulHeuristicResult_t> found;
    const cublasStatus_t status = p.heuristics(handle, found);
    if (found.empty()) {
      printf("  %s: %s\n", form.name, cublasLtGetStatusString(status));
      continue;
    }
    spread_t best = {NAN, NAN, NAN};
    double worst = 0;
    int refused = 0;
    for (const auto& h : found) {
      CHECK(cudaMemset(p.y, 0xff, (size_t)rows * columns * bytes_of(form.out)));
      if (p.run(handle, &h.algo, 0, nullptr) != CUBLAS_STATUS_SUCCESS) {
        refused++;
        continue;
      }
      worst = std::max(worst, p.difference());
      const spread_t us =
          few ? spread_t{0, 0, 0}
              : step_time(
                    [&](cudaStream_t s, int i) { CHECK_BLAS(p.run(handle, &h.algo, i % 8, s)); }, 9,
                    10, 34);
      if (!(us.median >= best.median)) {
        best = us;
      }
    }
    printf("  %s: %zu proposals, %d refused, %.2f (%.2f-%.2f), largest difference %.3g\n",
           form.name, found.size(), refused, best.median, best.low, best.high, worst);
  }
}

int main(int argc, char** argv) {
  print_device();
  cublasLtHandle_t handle;
  CHECK_BLAS(cublasLtCreate(&handle));
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    measure(handle, 64, 128, 96, true);
    return 0;
  }
  for (int rows : {128, 4096}) {
    measure(handle, rows, 2304, 768, false);
    measure(handle, rows, 768, 3072, false);
  }
  measure(handle, 196, 256, 1024, false);
  measure(handle, 6272, 256, 1024, false);
  measure(handle, 4096, 4096, 4096, false);
}
