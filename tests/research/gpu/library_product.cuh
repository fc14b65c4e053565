/* A matrix product through cuBLASLt, y[rows][columns] = f(x[rows][channels]
 * w[columns][channels]^T), all row-major. */
#pragma once

#include <cublasLt.h>

#include "measure.cuh"

#define CHECK_BLAS(call)                                                                          \
  do {                                                                                            \
    cublasStatus_t check_status = (call);                                                         \
    if (check_status != CUBLAS_STATUS_SUCCESS) {                                                  \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cublasLtGetStatusString(check_status)); \
      fflush(stdout);                                                                             \
      _exit(2);                                                                                   \
    }                                                                                             \
  } while (0)

struct blas_product_t {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t weights = nullptr, input = nullptr, output = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  int rows, columns, channels;

  /* In column-major words: y^T = w^T^T x^T, so `weights` is the transposed left operand. */
  blas_product_t(cublasLtHandle_t handle, int rows, int columns, int channels,
                 cublasLtEpilogue_t epilogue, const void* bias, cudaDataType_t type = CUDA_R_16F,
                 cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                 size_t workspace_bytes = 32 << 20)
      : handle(handle),
        workspace_bytes(workspace_bytes),
        rows(rows),
        columns(columns),
        channels(channels) {
    CHECK_BLAS(cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F));
    const cublasOperation_t transpose = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transpose);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (bias) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&weights, type, channels, columns, channels));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&input, type, channels, rows, channels));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&output, type, columns, rows, columns));
    if (workspace_bytes) {
      workspace = device_new<uint8_t>(workspace_bytes);
    }
  }
  blas_product_t(const blas_product_t&) = delete;
  blas_product_t& operator=(const blas_product_t&) = delete;
  ~blas_product_t() {
    cudaFree(workspace);
    cublasLtMatrixLayoutDestroy(output);
    cublasLtMatrixLayoutDestroy(input);
    cublasLtMatrixLayoutDestroy(weights);
    cublasLtMatmulDescDestroy(operation);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
  }
  /* The library's proposals, best first by its own opinion. */
  std::vector<cublasLtMatmulHeuristicResult_t> heuristics(int wanted,
                                                          cublasStatus_t* out_status = nullptr,
                                                          uint32_t alignment = 256) {
    cublasLtMatmulPreference_t preference;
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
    std::vector<cublasLtMatmulHeuristicResult_t> results(wanted);
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, operation, weights, input, output, output,
                                       preference, wanted, results.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (out_status) {
      *out_status = status;
    }
    results.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
    return results;
  }
  cublasStatus_t run(const cublasLtMatmulAlgo_t* algorithm, const void* w, const void* x,
                     const void* residual, void* y, cudaStream_t stream) {
    const float alpha = 1, beta = residual ? 1.f : 0.f;
    return cublasLtMatmul(handle, operation, &alpha, w, weights, x, input, &beta,
                          residual ? residual : y, output, y, output, algorithm, workspace,
                          workspace_bytes, stream);
  }
};

template <class T>
T algorithm_value(const cublasLtMatmulAlgo_t& algorithm,
                  cublasLtMatmulAlgoConfigAttributes_t attribute) {
  T value = 0;
  size_t written = 0;
  cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return value;
}

inline std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm) {
  char text[128];
  snprintf(text, sizeof text, "id %d tile %u stages %u split %d custom %u cluster %u",
           algorithm_value<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
           algorithm_value<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
           algorithm_value<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
           algorithm_value<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
           algorithm_value<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
           (unsigned)algorithm_value<uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
  return text;
}
