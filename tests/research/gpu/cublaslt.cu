/* cuBLASLt: epilogues for each type, time of heuristics, spread of its proposals for BERT's
 * products, what alignment an algorithm keeps, whether its 64 bytes can be stored.
 *
 *   cublaslt                    everything
 *   cublaslt --stored FILE      uses algorithms that another process wrote
 *   cublaslt --misaligned N K   the Nth algorithm chosen for 16 bytes, run K bytes off; may end
 * with a fault */
#include <cstring>

#include "library_product.cuh"

static cublasLtHandle_t handle;

static __global__ void reference(const half* x, const half* w, const half* bias,
                                 const half* residual, double* y, int columns, int channels,
                                 int activation) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= columns) {
    return;
  }
  double s = bias ? (double)__half2float(bias[column]) : 0;
  for (int k = 0; k < channels; k++) {
    s += (double)__half2float(x[(size_t)row * channels + k]) *
         (double)__half2float(w[(size_t)column * channels + k]);
  }
  if (residual) {
    s += (double)__half2float(residual[(size_t)row * columns + column]);
  }
  if (activation == 1) {
    s = s > 0 ? s : 0;
  } else if (activation == 2) {
    s = 0.5 * s * (1 + erf(s * 0.70710678118654752));
  } else if (activation == 3) {
    s = 0.5 * s * (1 + tanh(0.79788456080286536 * (s + 0.044715 * s * s * s)));
  }
  y[(size_t)row * columns + column] = s;
}

static const struct {
  const char* name;
  cublasLtEpilogue_t epilogue;
  bool bias, aux;
} epilogues[] = {{"default", CUBLASLT_EPILOGUE_DEFAULT, false, false},
                 {"relu", CUBLASLT_EPILOGUE_RELU, false, false},
                 {"bias", CUBLASLT_EPILOGUE_BIAS, true, false},
                 {"relu+bias", CUBLASLT_EPILOGUE_RELU_BIAS, true, false},
                 {"relu aux+bias", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, true},
                 {"gelu", CUBLASLT_EPILOGUE_GELU, false, false},
                 {"gelu+bias", CUBLASLT_EPILOGUE_GELU_BIAS, true, false},
                 {"gelu aux+bias", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, true},
                 {"bgrada", CUBLASLT_EPILOGUE_BGRADA, true, false},
                 {"bgradb", CUBLASLT_EPILOGUE_BGRADB, true, false}};
static const struct {
  const char* name;
  cudaDataType_t type;
  cublasComputeType_t compute;
} types[] = {{"fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F},
             {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
             {"fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
             {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32}};

static void epilogue_table() {
  half* bias = random_half(4096, 0.5f, 1);
  void* aux = device_new<half>(256 * 4096);
  for (const auto& t : types) {
    printf("EPILOGUES %s (proposals for 256x768x768, of 16):", t.name);
    for (const auto& e : epilogues) {
      blas_product_t p(handle, 256, 768, 768, e.epilogue, e.bias ? bias : nullptr, t.type,
                       t.compute);
      if (e.aux) {
        const int64_t lead = 768;
        p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
        p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, lead);
      }
      cublasStatus_t status;
      const size_t n = p.heuristics(16, &status).size();
      printf(" %s %zu%s%s;", e.name, n, status ? " " : "",
             status ? cublasLtGetStatusName(status) : "");
    }
    printf("\n");
  }
  /* What the epilogues compute. */
  const int rows = 128, columns = 768, channels = 768;
  half *x = random_half(rows * channels, 1, 2), *w = random_half(columns * channels, 0.07f, 3),
       *r = random_half(rows * columns, 1, 4), *y = device_new<half>(rows * columns);
  double* expected = device_new<double>(rows * columns);
  const struct {
    const char* name;
    cublasLtEpilogue_t epilogue;
    bool residual;
    int activation;
  } checks[] = {{"bias", CUBLASLT_EPILOGUE_BIAS, false, 0},
                {"bias, residual by beta = 1", CUBLASLT_EPILOGUE_BIAS, true, 0},
                {"relu(product + residual + bias)", CUBLASLT_EPILOGUE_RELU_BIAS, true, 1},
                {"gelu against erf", CUBLASLT_EPILOGUE_GELU_BIAS, false, 2},
                {"gelu against tanh", CUBLASLT_EPILOGUE_GELU_BIAS, false, 3}};
  for (const auto& c : checks) {
    blas_product_t p(handle, rows, columns, channels, c.epilogue, bias);
    const auto found = p.heuristics(1);
    CHECK(cudaMemset(y, 0xff, rows * columns * 2));
    CHECK_BLAS(p.run(&found[0].algo, w, x, c.residual ? r : nullptr, y, nullptr));
    reference<<<dim3(6, rows), 128>>>(x, w, bias, c.residual ? r : nullptr, expected, columns,
                                      channels, c.activation);
    printf("EPILOGUE %s: error %.2e\n", c.name, relative_error(y, expected, rows * columns));
  }
}

static const int bert[4][2] = {{2304, 768}, {768, 768}, {3072, 768}, {768, 3072}};

static void proposals() {
  half *x = random_half(4096 * 3072, 1, 2), *y = device_new<half>(4096 * 3072),
       *bias = random_half(4096, 0.5f, 1);
  half* w[12];
  for (int i = 0; i < 12; i++) {
    w[i] = random_half(3072 * 768, 0.05f, 30 + i);
  }
  double* expected = device_new<double>(4096 * 3072);
  for (int rows : {128, 4096}) {
    for (const auto& size : bert) {
      for (size_t workspace : {(size_t)0, (size_t)32 << 20}) {
        blas_product_t p(handle, rows, size[0], size[1], CUBLASLT_EPILOGUE_BIAS, bias, CUDA_R_16F,
                         CUBLAS_COMPUTE_32F, workspace);
        double begin = now_us();
        auto found = p.heuristics(8);
        const double first = now_us() - begin;
        begin = now_us();
        found = p.heuristics(8);
        const double again = now_us() - begin;
        reference<<<dim3((size[0] + 127) / 128, rows), 128>>>(x, w[0], bias, nullptr, expected,
                                                              size[0], size[1], 0);
        printf("PROPOSALS %dx%dx%d workspace %zu MB: %zu in %.0f us first, %.0f again:", rows,
               size[0], size[1], workspace >> 20, found.size(), first, again);
        double worst = 0;
        for (const auto& f : found) {
          CHECK(cudaMemset(y, 0xff, (size_t)rows * size[0] * 2));
          CHECK_BLAS(p.run(&f.algo, w[0], x, nullptr, y, nullptr));
          const double error = relative_error(y, expected, (size_t)rows * size[0]);
          worst = error <= worst ? worst : error;
          const spread_t t =
              step_time([&](cudaStream_t s,
                            int i) { CHECK_BLAS(p.run(&f.algo, w[i % 12], x, nullptr, y, s)); },
                        9, rows > 128 ? 5 : 20, rows > 128 ? 20 : 60);
          printf(" %.2f", t.median);
        }
        printf(" us; worst error %.1e; first: %s\n", worst,
               found.empty() ? "-" : algorithm_name(found[0].algo).c_str());
      }
    }
  }
  blas_product_t p(handle, 128, 768, 768, CUBLASLT_EPILOGUE_BIAS, bias);
  const auto found = p.heuristics(1);
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const spread_t t =
      host_time([&] { CHECK_BLAS(p.run(&found[0].algo, w[0], x, nullptr, y, s)); }, 300);
  printf("HOST cublasLtMatmul: %.2f us (%.2f-%.2f)\n", t.median, t.low, t.high);
  CHECK(cudaStreamSynchronize(s));
}

static void store(const char* path) {
  FILE* f = fopen(path, "wb");
  half* bias = random_half(4096, 0.5f, 1);
  for (const auto& size : bert) {
    blas_product_t p(handle, 128, size[0], size[1], CUBLASLT_EPILOGUE_BIAS, bias);
    for (const auto& found : p.heuristics(8)) {
      fwrite(&found.algo, 1, sizeof found.algo, f);
    }
  }
  fclose(f);
}

static void use_stored(const char* path) {
  FILE* f = fopen(path, "rb");
  if (!f) {
    printf("FAILED %s\n", path);
    return;
  }
  half *x = random_half(128 * 3072, 1, 2), *w = random_half(3072 * 768, 0.05f, 3),
       *y = device_new<half>(128 * 3072), *bias = random_half(4096, 0.5f, 1);
  double* expected = device_new<double>(128 * 3072);
  int same = 0, usable = 0, right = 0, count = 0;
  for (const auto& size : bert) {
    blas_product_t p(handle, 128, size[0], size[1], CUBLASLT_EPILOGUE_BIAS, bias);
    reference<<<dim3(size[0] / 128, 128), 128>>>(x, w, bias, nullptr, expected, size[0], size[1],
                                                 0);
    for (const auto& found : p.heuristics(8)) {
      cublasLtMatmulAlgo_t stored;
      if (fread(&stored, 1, sizeof stored, f) != sizeof stored) {
        break;
      }
      count++;
      same += !memcmp(&stored, &found.algo, sizeof stored);
      cublasLtMatmulHeuristicResult_t result;
      const bool fits =
          cublasLtMatmulAlgoCheck(handle, p.operation, p.weights, p.input, p.output, p.output,
                                  &stored, &result) == CUBLAS_STATUS_SUCCESS;
      usable += fits;
      CHECK(cudaMemset(y, 0xff, 128 * size[0] * 2));
      right += fits && p.run(&stored, w, x, nullptr, y, nullptr) == CUBLAS_STATUS_SUCCESS &&
               relative_error(y, expected, 128 * size[0]) < 1e-3;
      if (count == 1) {
        const unsigned char* byte = (const unsigned char*)&stored;
        printf("  bytes:");
        for (size_t i = 0; i < sizeof stored; i++) {
          printf("%s%02x", i % 8 ? "" : " ", byte[i]);
        }
        printf("\n");
      }
    }
  }
  fclose(f);
  printf(
      "STORED %d algorithms of another process: %d equal to this process's, %d pass the check, %d "
      "right\n",
      count, same, usable, right);
}

/* In a process of its own, since a fault ends it. */
static void misaligned(int number, int bytes) {
  half *x = random_half(128 * 768 + 64, 1, 2), *w = random_half(768 * 768 + 64, 0.05f, 3),
       *y = device_new<half>(128 * 768 + 64);
  double* expected = device_new<double>(128 * 768);
  blas_product_t p(handle, 128, 768, 768, CUBLASLT_EPILOGUE_DEFAULT, nullptr);
  const auto found = p.heuristics(8, nullptr, 16);
  const auto careful = p.heuristics(8, nullptr, (uint32_t)bytes);
  if (number >= (int)found.size()) {
    printf("none");
    return;
  }
  half *xo = x + bytes / 2, *wo = w + bytes / 2, *yo = y + bytes / 2;
  reference<<<dim3(6, 128), 128>>>(xo, wo, nullptr, nullptr, expected, 768, 768, 0);
  CHECK(cudaDeviceSynchronize());
  const cublasStatus_t status = p.run(&found[number].algo, wo, xo, nullptr, yo, nullptr);
  const cudaError_t end = cudaDeviceSynchronize();
  printf("%s, then %s", cublasLtGetStatusName(status), cudaGetErrorName(end));
  if (status == CUBLAS_STATUS_SUCCESS && end == cudaSuccess) {
    printf(", error %.1e", relative_error(yo, expected, 128 * 768));
  }
  printf(" (%s; asked for %d bytes: %zu proposals)", algorithm_name(found[number].algo).c_str(),
         bytes, careful.size());
}

int main(int argc, char** argv) {
  if (argc < 3 || strcmp(argv[1], "--misaligned")) {
    print_device();
  }
  const double begin = now_us();
  CHECK_BLAS(cublasLtCreate(&handle));
  const double created = now_us() - begin;
  if (argc == 3 && !strcmp(argv[1], "--stored")) {
    use_stored(argv[2]);
    return 0;
  }
  if (argc == 4 && !strcmp(argv[1], "--misaligned")) {
    misaligned(atoi(argv[2]), atoi(argv[3]));
    return 0;
  }
  printf("CUBLASLT %zu: create %.2f ms\n", cublasLtGetVersion(), created / 1e3);
  epilogue_table();
  proposals();
  const std::string path = "/tmp/cublaslt_algorithms", self = argv[0];
  store(path.c_str());
  fflush(stdout);
  if (system((self + " --stored " + path).c_str())) {
    printf("FAILED stored\n");
  }
  for (int number : {0, 1, 2}) {
    for (int bytes : {8, 4, 2}) {
      printf("MISALIGNED algorithm %d, %d bytes off: ", number, bytes);
      fflush(stdout);
      const int status = system(
          (self + " --misaligned " + std::to_string(number) + " " + std::to_string(bytes)).c_str());
      printf(" [exit %d]\n", status);
    }
  }
}
