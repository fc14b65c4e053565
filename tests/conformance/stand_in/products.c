/*
 * A stand-in for cuBLASLt: products as its descriptors say, one sum after the other in double. It
 * refuses what the library refuses (leading dimensions that are too small, addresses less aligned
 * than an algorithm was asked for, a workspace that is not where it must be), and proposes few
 * algorithms, so that who asks for more sees that there are none.
 */
#include <cublasLt.h>
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

enum { PROPOSALS = 3, WORKSPACE_ALIGNMENT = 256 };

struct cublasLtContext {
  int unused;
};

/* What the opaque structures hold here; they have room for more. */
typedef struct layout_t {
  uint64_t rows;
  uint64_t columns;
  int64_t leading;
  int64_t batch_stride;
  int32_t batch_count;
  cudaDataType type;
} layout_t;
typedef struct operation_t {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasOperation_t turns[2];
  cublasLtEpilogue_t epilogue;
  const void* bias;
} operation_t;
typedef struct preference_t {
  uint64_t workspace;
  uint32_t alignments[4];
} preference_t;
typedef struct algorithm_t {
  uint64_t workspace;
  uint32_t alignments[4];
  uint32_t number;
} algorithm_t;

/* One product: everything that it needs, by value. */
typedef struct product_t {
  operation_t operation;
  double scale;
  double residual;
  layout_t a;
  layout_t b;
  layout_t c;
  layout_t d;
  const char* a_data;
  const char* b_data;
  const char* c_data;
  char* d_data;
} product_t;

/* ---- Elements ---- */

static size_t element_bytes(cudaDataType type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

/* 1 sign, 5 exponent, 10 fraction. */
static double from_float16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/* To the nearest, halves to even: in units of the last place that the result will have. */
static uint16_t to_float16(double value) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  const double size = fabs(value);
  int exponent = 0;
  if (isnan(value) || isinf(value) || size >= 65520) { /* which rounds to infinity */
    return (uint16_t)(sign | (isnan(value) ? 0x7E00 : 0x7C00));
  }
  (void)frexp(size, &exponent);
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const int whole =
      (int)nearbyint(ldexp(size, -unit)); /* up to 2048, then the exponent is one more */
  return (uint16_t)(sign | (size == 0 ? 0 : (unit + 24) * 1024 + whole));
}

static double read_element(cudaDataType type, const char* data, int64_t place) {
  if (type == CUDA_R_64F) {
    return ((const double*)(const void*)data)[place];
  }
  if (type == CUDA_R_32F) {
    return (double)((const float*)(const void*)data)[place];
  }
  if (type == CUDA_R_16F) {
    return from_float16(((const uint16_t*)(const void*)data)[place]);
  }
  const uint32_t bits = (uint32_t)((const uint16_t*)(const void*)data)[place] << 16;
  float value = 0;
  memcpy(&value, &bits, sizeof(value));
  return (double)value;
}

static uint16_t to_bfloat16(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  if (isnan(value)) {
    return (uint16_t)(bits >> 16 | 0x40);
  }
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static void write_element(cudaDataType type, char* data, int64_t place, double value) {
  if (type == CUDA_R_64F) {
    ((double*)(void*)data)[place] = value;
  } else if (type == CUDA_R_32F) {
    ((float*)(void*)data)[place] = (float)value;
  } else if (type == CUDA_R_16F) {
    ((uint16_t*)(void*)data)[place] = to_float16((double)(float)value);
  } else {
    ((uint16_t*)(void*)data)[place] = to_bfloat16((float)value);
  }
}

/* ---- The product ---- */

static double read_turned(const layout_t* layout, cublasOperation_t turn, const char* data,
                          int64_t row, int64_t column) {
  const int64_t place =
      turn == CUBLAS_OP_N ? row + column * layout->leading : column + row * layout->leading;
  return read_element(layout->type, data, place);
}

static int64_t matrix_bytes(const layout_t* layout, int64_t batch) {
  return batch * layout->batch_stride * (int64_t)element_bytes(layout->type);
}

static void multiply_element(const product_t* p, int64_t batch, int64_t row, int64_t column) {
  const operation_t* operation = &p->operation;
  const char* a = p->a_data + matrix_bytes(&p->a, batch);
  const char* b = p->b_data + matrix_bytes(&p->b, batch);
  const int64_t depth = (int64_t)(operation->turns[0] == CUBLAS_OP_N ? p->a.columns : p->a.rows);
  double sum = 0;
  for (int64_t k = 0; k < depth; k++) {
    sum += read_turned(&p->a, operation->turns[0], a, row, k) *
           read_turned(&p->b, operation->turns[1], b, k, column);
  }
  sum *= p->scale;
  if (p->residual != 0) {
    sum += p->residual * read_element(p->c.type, p->c_data + matrix_bytes(&p->c, batch),
                                      row + column * p->c.leading);
  }
  if ((operation->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
    sum += read_element(p->d.type, operation->bias, row);
  }
  if ((operation->epilogue & CUBLASLT_EPILOGUE_RELU) != 0 && sum < 0) {
    sum = 0;
  }
  if ((operation->epilogue & CUBLASLT_EPILOGUE_GELU) != 0) {
    sum *= 0.5 * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
  }
  write_element(p->d.type, p->d_data + matrix_bytes(&p->d, batch), row + column * p->d.leading,
                sum);
}

static void multiply(const void* parameters) {
  const product_t* p = parameters;
  for (int64_t batch = 0; batch < p->d.batch_count; batch++) {
    for (int64_t column = 0; column < (int64_t)p->d.columns; column++) {
      for (int64_t row = 0; row < (int64_t)p->d.rows; row++) {
        multiply_element(p, batch, row, column);
      }
    }
  }
}

/* ---- What is allowed ---- */

static bool lies_right(const layout_t* layout) {
  return layout->rows > 0 && layout->columns > 0 && layout->batch_count > 0 &&
         layout->leading >= (int64_t)layout->rows;
}

static bool fits(const operation_t* operation, const layout_t* a, const layout_t* b,
                 const layout_t* c, const layout_t* d) {
  const uint64_t rows = operation->turns[0] == CUBLAS_OP_N ? a->rows : a->columns;
  const uint64_t depth = operation->turns[0] == CUBLAS_OP_N ? a->columns : a->rows;
  const uint64_t other = operation->turns[1] == CUBLAS_OP_N ? b->rows : b->columns;
  const uint64_t columns = operation->turns[1] == CUBLAS_OP_N ? b->columns : b->rows;
  return lies_right(a) && lies_right(b) && lies_right(c) && lies_right(d) && depth == other &&
         d->rows == rows && d->columns == columns && c->rows == rows && c->columns == columns &&
         a->batch_count == d->batch_count && b->batch_count == d->batch_count &&
         c->batch_count == d->batch_count &&
         (operation->scale == CUDA_R_64F) == (d->type == CUDA_R_64F);
}

static bool is_aligned(const void* data, uint32_t alignment) {
  return (uintptr_t)data % alignment == 0;
}

/* Lines of d are written as wide as the algorithm may and lines of c allow: seen to stop a GPU
 * where those of d do not. */
static bool stores_fit(const product_t* p, const algorithm_t* algorithm) {
  const int64_t bytes = (int64_t)element_bytes(p->d.type);
  return p->residual == 0 || p->d.rows == 1 ||
         p->c.leading * bytes % algorithm->alignments[2] != 0 ||
         p->d.leading * bytes % algorithm->alignments[3] == 0;
}

static double read_factor(const operation_t* operation, const void* factor) {
  return read_element(operation->scale, factor, 0);
}

/* NOLINTNEXTLINE(readability-function-size): the library's signature */
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  product_t product = {.a_data = a, .b_data = b, .c_data = c, .d_data = d};
  algorithm_t algorithm = {.alignments = {1, 1, 1, 1}};
  memcpy(&product.operation, description, sizeof(product.operation));
  memcpy(&product.a, a_layout, sizeof(product.a));
  memcpy(&product.b, b_layout, sizeof(product.b));
  memcpy(&product.c, c_layout, sizeof(product.c));
  memcpy(&product.d, d_layout, sizeof(product.d));
  if (algo != NULL) {
    memcpy(&algorithm, algo, sizeof(algorithm));
  }
  product.scale = read_factor(&product.operation, alpha);
  product.residual = read_factor(&product.operation, beta);
  const bool wants_bias = (product.operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  if (handle == NULL || (wants_bias && product.operation.bias == NULL) ||
      !fits(&product.operation, &product.a, &product.b, &product.c, &product.d)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (algorithm.workspace > workspace_bytes || !is_aligned(workspace, WORKSPACE_ALIGNMENT) ||
      !is_aligned(a, algorithm.alignments[0]) || !is_aligned(b, algorithm.alignments[1]) ||
      !is_aligned(c, algorithm.alignments[2]) || !is_aligned(d, algorithm.alignments[3])) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (!stores_fit(&product, &algorithm)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* symbol = driver == NULL ? NULL : dlsym(driver, "stand_in_submit");
  void (*submit)(CUstream, stand_in_call_t, const void*, size_t) = NULL;
  memcpy(&submit, &symbol, sizeof(submit));
  if (driver == NULL || submit == NULL) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (algorithm.workspace > 0) { /* it is there, and it is ours */
    *(char*)workspace = ((char*)workspace)[algorithm.workspace - 1] = 1;
  }
  submit(stream, multiply, &product, sizeof(product));
  (void)dlclose(driver);
  return CUBLAS_STATUS_SUCCESS;
}

/* The first needs no workspace, the others all that is offered. */
/* NOLINTNEXTLINE(readability-function-size): the library's signature */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a_layout,
    cublasLtMatrixLayout_t b_layout, cublasLtMatrixLayout_t c_layout,
    cublasLtMatrixLayout_t d_layout, cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t* out_results, int* out_count) {
  operation_t operation;
  layout_t layouts[4];
  preference_t asked;
  memcpy(&operation, description, sizeof(operation));
  memcpy(&layouts[0], a_layout, sizeof(layout_t));
  memcpy(&layouts[1], b_layout, sizeof(layout_t));
  memcpy(&layouts[2], c_layout, sizeof(layout_t));
  memcpy(&layouts[3], d_layout, sizeof(layout_t));
  memcpy(&asked, preference, sizeof(asked));
  *out_count = 0;
  if (handle == NULL || !fits(&operation, &layouts[0], &layouts[1], &layouts[2], &layouts[3])) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int most = asked.workspace > 0 ? PROPOSALS : 1;
  for (int k = 0; k < wanted && k < most; k++) {
    algorithm_t algorithm = {.workspace = k == 0 ? 0 : asked.workspace, .number = (uint32_t)k};
    memcpy(algorithm.alignments, asked.alignments, sizeof(algorithm.alignments));
    cublasLtMatmulHeuristicResult_t* result = &out_results[(*out_count)++];
    memset(result, 0, sizeof(*result));
    memcpy(&result->algo, &algorithm, sizeof(algorithm));
    result->workspaceSize = algorithm.workspace;
    result->state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/* ---- Descriptors ---- */

static cublasStatus_t set(void* member, size_t size, const void* value, size_t value_bytes) {
  if (size != value_bytes) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  memcpy(member, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void) {
  return 130100;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE   ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                                 : "CUBLAS_STATUS_SOME";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = calloc(1, sizeof(struct cublasLtContext));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const operation_t made = {.compute = compute,
                            .scale = scale,
                            .turns = {CUBLAS_OP_N, CUBLAS_OP_N},
                            .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
  *out = calloc(1, sizeof(**out));
  memcpy(*out, &made, sizeof(made));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  free(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  operation_t* operation = (operation_t*)(void*)description;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(&operation->turns[0], sizeof(operation->turns[0]), value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(&operation->turns[1], sizeof(operation->turns[1]), value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(&operation->epilogue, sizeof(operation->epilogue), value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set((void*)&operation->bias, sizeof(operation->bias), value, size);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  const layout_t made = {
      .rows = rows, .columns = columns, .leading = leading, .batch_count = 1, .type = type};
  *out = calloc(1, sizeof(**out));
  memcpy(*out, &made, sizeof(made));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  free(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  layout_t* layout = (layout_t*)(void*)handle;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(&layout->batch_count, sizeof(layout->batch_count), value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(&layout->batch_stride, sizeof(layout->batch_stride), value, size);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  const preference_t made = {.alignments = {256, 256, 256, 256}};
  *out = calloc(1, sizeof(**out));
  memcpy(*out, &made, sizeof(made));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  free(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size) {
  preference_t* preference = (preference_t*)(void*)handle;
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(&preference->workspace, sizeof(preference->workspace), value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: /* it sums in one piece */
      return size == sizeof(uint32_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return set(&preference->alignments[0], sizeof(uint32_t), value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return set(&preference->alignments[1], sizeof(uint32_t), value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return set(&preference->alignments[2], sizeof(uint32_t), value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(&preference->alignments[3], sizeof(uint32_t), value, size);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
