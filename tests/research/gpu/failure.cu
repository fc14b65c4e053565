/* What is left of a process after a kernel has failed in the middle of a graph: what the calls say,
 * whether another stream and the libraries go on, whether a reset brings the device back. Each case
 * in a process of its own.
 *
 *   failure           all cases
 *   failure CASE */
#include <cassert>
#include <cstring>

#include "library_product.cuh"

enum kind_t { ADDRESS, MISALIGNED, ASSERTION, TRAP, SHARED };
static const char* const kinds[] = {"wild address", "misaligned address", "assertion", "trap",
                                    "beyond shared memory"};

static __global__ void fail(int kind, int* p) {
  if (kind == ADDRESS) {
    *(volatile int*)0x10 = 1;
  } else if (kind == MISALIGNED) {
    *(volatile int*)((char*)p + 1) = 1;
  } else if (kind == ASSERTION) {
    assert(p == nullptr);
  } else if (kind == TRAP) {
    asm volatile("trap;");
  } else {
    extern __shared__ volatile int memory[];
    memory[1 << 20] = 1;
  }
}
static __global__ void count(int* p) {
  atomicAdd(p, 1);
}

static const char* name(cudaError_t e) {
  return cudaGetErrorName(e);
}

static void fail_in_graph(int kind) {
  int *p = device_new<int>(4), *q = device_new<int>(4);
  CHECK(cudaMemset(p, 0, 16));
  cudaStream_t s, other;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cublasLtHandle_t blas;
  CHECK_BLAS(cublasLtCreate(&blas));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  count<<<1, 1, 0, s>>>(p);
  fail<<<1, 1, 0, s>>>(kind, q);
  count<<<1, 1, 0, s>>>(p);
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const cudaError_t launched = cudaGraphLaunch(exec, s);
  const double begin = now_us();
  const cudaError_t waited = cudaStreamSynchronize(s);
  const double noticed = (now_us() - begin) / 1e3;
  const cudaError_t last = cudaGetLastError(), again = cudaGetLastError();
  const cudaError_t elsewhere = cudaStreamSynchronize(other);
  void* fresh = nullptr;
  const cudaError_t taken = cudaMalloc(&fresh, 4096), event = cudaStreamQuery(other);
  cublasLtMatmulDesc_t d = nullptr;
  const cublasStatus_t library = cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cudaError_t freed = cudaFree(p);
  printf(
      "FAILURE %s: launch %s, synchronize %s after %.1f ms, last error %s then %s, other stream "
      "%s, query %s, allocation %s, "
      "free %s, cuBLASLt descriptor %s\n",
      kinds[kind], name(launched), name(waited), noticed, name(last), name(again), name(elsewhere),
      name(event), name(taken), name(freed), cublasLtGetStatusName(library));
  const double reset = now_us();
  cudaError_t back = cudaSuccess, then = cudaErrorUnknown;
  int *r = nullptr, tries = 0, value = 0;
  while (then != cudaSuccess &&
         now_us() - reset < 3e6) { /* at first the device may not be there yet */
    back = cudaDeviceReset();
    then = cudaMalloc(&r, 16);
    tries++;
    if (then != cudaSuccess) {
      usleep(50000);
    }
  }
  const double took = (now_us() - reset) / 1e3;
  cudaError_t right = cudaMemset(r, 0, 16);
  count<<<1, 1>>>(r);
  right = right ? right : cudaMemcpy(&value, r, 4, cudaMemcpyDeviceToHost);
  printf(
      "  reset %s, allocation behind it %s after %d tries and %.0f ms, a kernel %s, counted %d\n",
      name(back), name(then), tries, took, name(right), value);
}

/* What does not end a context. */
static void harmless() {
  void* p = nullptr;
  const cudaError_t huge = cudaMalloc(&p, (size_t)1 << 50);
  const cudaError_t cleared = cudaGetLastError(), clean = cudaGetLastError();
  count<<<1, 4096>>>(nullptr);
  const cudaError_t launch_error = cudaGetLastError();
  int* q = device_new<int>(4);
  CHECK(cudaMemset(q, 0, 16));
  count<<<1, 1>>>(q);
  const cudaError_t after = cudaDeviceSynchronize();
  printf(
      "HARMLESS allocation of 2^50 bytes %s, last error %s then %s; block of 4096 threads %s; a "
      "kernel behind it %s\n",
      name(huge), name(cleared), name(clean), name(launch_error), name(after));
}

int main(int argc, char** argv) {
  if (argc > 1) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    fail_in_graph(atoi(argv[1]));
    fflush(stdout);
    _exit(0);
  }
  print_device();
  harmless();
  fflush(stdout);
  for (int kind = ADDRESS; kind <= SHARED; kind++) {
    if (system((std::string(argv[0]) + " " + std::to_string(kind)).c_str())) {
      printf("FAILED case %d\n", kind);
    }
  }
}
