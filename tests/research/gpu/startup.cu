/* What a process pays before its first result: driver, context, the libraries' handles, loading of
 * code, memory, and the way of the weights to the device. Run it several times: the first time also
 * reads the libraries from the disk. */
#include <cstring>

#include "library_product.cuh"
#include "operation_graph.cuh"

static double last;
static void lap(const char* what) {
  size_t left = 0, total = 0;
  const double t = now_us();
  printf("STARTUP %s: %.2f ms", what, (t - last) / 1e3);
  if (cudaMemGetInfo(&left, &total) == cudaSuccess) {
    printf(", device memory taken %.1f MB", (double)(total - left) / 1e6);
  }
  printf("\n");
  last = now_us();
}

static __global__ void nothing(int* p) {
  if (p) {
    *p = 1;
  }
}

static void uploads() {
  const size_t sizes[] = {(size_t)51 << 20, (size_t)440 << 20};
  for (size_t size : sizes) {
    uint8_t *pageable = (uint8_t*)malloc(size), *device = device_new<uint8_t>(size), *pinned,
            *staging;
    memset(pageable, 1, size);
    CHECK(cudaDeviceSynchronize());
    double begin = now_us();
    CHECK(cudaMallocHost(&pinned, size));
    const double pin = (now_us() - begin) / 1e3;
    memset(pinned, 1, size);
    const spread_t a =
        host_time([&] { CHECK(cudaMemcpy(device, pageable, size, cudaMemcpyHostToDevice)); }, 5, 1);
    const spread_t b =
        host_time([&] { CHECK(cudaMemcpy(device, pinned, size, cudaMemcpyHostToDevice)); }, 5, 1);
    begin = now_us();
    CHECK(cudaHostRegister(pageable, size, cudaHostRegisterDefault));
    const double registered = (now_us() - begin) / 1e3;
    const spread_t c =
        host_time([&] { CHECK(cudaMemcpy(device, pageable, size, cudaMemcpyHostToDevice)); }, 5, 1);
    CHECK(cudaHostUnregister(pageable));
    /* two pinned pieces in turn, filled by one thread */
    const size_t piece = (size_t)4 << 20;
    CHECK(cudaMallocHost(&staging, 2 * piece));
    cudaStream_t s;
    cudaEvent_t done[2];
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreateWithFlags(&done[0], cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&done[1], cudaEventDisableTiming));
    const spread_t d = host_time(
        [&] {
          for (size_t at = 0, i = 0; at < size; at += piece, i ^= 1) {
            CHECK(cudaEventSynchronize(done[i]));
            const size_t n = std::min(piece, size - at);
            memcpy(staging + i * piece, pageable + at, n);
            CHECK(cudaMemcpyAsync(device + at, staging + i * piece, n, cudaMemcpyHostToDevice, s));
            CHECK(cudaEventRecord(done[i], s));
          }
          CHECK(cudaStreamSynchronize(s));
        },
        5, 1);
    printf(
        "UPLOAD %zu MB: pageable %.1f ms, pinned %.1f (pinning %.1f), registered %.1f (registering "
        "%.1f), through two "
        "pinned pieces of 4 MB %.1f\n",
        size >> 20, a.median / 1e3, b.median / 1e3, pin, c.median / 1e3, registered,
        d.median / 1e3);
    free(pageable);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(staging));
  }
}

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  last = now_us();
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  lap("driver, counting devices");
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  lap("primary context");
  nothing<<<1, 1>>>(nullptr);
  CHECK(cudaDeviceSynchronize());
  lap("first launch of an own kernel");
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  lap("stream");
  cublasLtHandle_t blas;
  CHECK_BLAS(cublasLtCreate(&blas));
  lap("cuBLASLt handle");
  half *x = random_half(128 * 768, 1, 1), *w = random_half(768 * 768, 1, 2),
       *y = device_new<half>(128 * 768);
  CHECK(cudaDeviceSynchronize());
  lap("three buffers");
  blas_product_t product(blas, 128, 768, 768, CUBLASLT_EPILOGUE_DEFAULT, nullptr);
  const auto found = product.heuristics(1);
  lap("cuBLASLt heuristics, workspace of 32 MB");
  CHECK_BLAS(product.run(&found[0].algo, w, x, nullptr, y, s));
  CHECK(cudaStreamSynchronize(s));
  lap("cuBLASLt's first product");
  cudnnHandle_t dnn;
  CHECK_DNN(cudnnCreate(&dnn));
  lap("cuDNN handle");
  {
    dnn_graph_t g(dnn);
    const extents_t xe = {1, 64, 14, 14}, we = {64, 64, 3, 3};
    dnn_t c = g.between(xe);
    CHECK_DNN(
        g.convolution(g.nhwc(CUDNN_DATA_HALF, xe, x), g.nhwc(CUDNN_DATA_HALF, we, w), c, 1, 1));
    dnn_t sum = g.between(xe);
    CHECK_DNN(g.pointwise(CUDNN_POINTWISE_ADD, c, g.nhwc(CUDNN_DATA_HALF, {1, 64, 1, 1}, w), sum));
    CHECK_DNN(g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, g.nhwc(CUDNN_DATA_HALF, xe, y)));
    CHECK_DNN(g.finish());
    lap("cuDNN operation graph");
    const std::vector<dnn_t> plans = g.proposals(CUDNN_HEUR_MODE_A);
    lap("cuDNN heuristics");
    dnn_plan_t plan;
    CHECK_DNN(plan.build(dnn, plans[0]));
    plan.bind(g.names, g.pointers);
    lap("cuDNN plan, compiled before");
    CHECK_DNN(cudnnSetStream(dnn, s));
    CHECK_DNN(cudnnBackendExecute(dnn, plan.plan, plan.pack));
    CHECK(cudaStreamSynchronize(s));
    lap("cuDNN's first convolution");
  }
  CHECK_DNN(cudnnDestroy(dnn));
  lap("cuDNN handle destroyed");
  uploads();
}
