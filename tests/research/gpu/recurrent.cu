/* What an own kernel for an LSTM at small batch would need: a barrier of all its blocks a step, and
 * one launch that keeps the recurrent weights in shared memory for all steps, or in registers as
 * the operand of matrix instructions. The products with the input are taken as made before, as a
 * library makes them.
 *
 *   recurrent
 *   recurrent --check      for the sanitizers */
#include <cstring>

#include "measure.cuh"

static __device__ __forceinline__ void arrive(unsigned* counter) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}
static __device__ __forceinline__ unsigned look(const unsigned* counter) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(counter) : "memory");
  return v;
}
/* The counter only grows; `target` is what it reads when all have arrived. */
static __device__ __forceinline__ void grid_barrier(unsigned* counter, unsigned target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive(counter);
    while (look(counter) < target) {
    }
  }
  __syncthreads();
}

static __global__ void only_barriers(unsigned* counter, int rounds) {
  for (int r = 1; r <= rounds; r++) {
    grid_barrier(counter, r * gridDim.x);
  }
}
static __global__ void only_cluster_barriers(int rounds) {
  for (int r = 0; r < rounds; r++) {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  }
}

/* UNITS hidden units a block: 4 * UNITS rows of weights in shared memory, a row's dot product by
 * LANES lanes. Gates in the order i, f, g, o. `h` twice: read one, write the other. */
template <int HIDDEN, int UNITS, int BATCH>
static __global__ void __launch_bounds__(256)
    lstm(const half* weights, const float* from_input, half* h, half* out, unsigned* counter,
         int steps) {
  constexpr int ROWS = 4 * UNITS, LANES = 256 / ROWS > 32 ? 32 : 256 / ROWS, AT_ONCE = 256 / LANES;
  constexpr int PIECES = HIDDEN / 8, EACH = PIECES / LANES;
  static_assert(ROWS % AT_ONCE == 0 && PIECES % LANES == 0, "");
  extern __shared__ uint4 shared[];
  uint4* w = shared;                               /* [ROWS][PIECES + 1] */
  uint4* state = shared + ROWS * (PIECES + 1);     /* [BATCH][PIECES] */
  float* gates = (float*)(state + BATCH * PIECES); /* [BATCH][ROWS] */
  const int first = blockIdx.x * UNITS, lane = threadIdx.x % LANES, slot = threadIdx.x / LANES;
  for (int i = threadIdx.x; i < ROWS * PIECES; i += 256) {
    const int row = i / PIECES, gate = row / UNITS, unit = row % UNITS;
    w[row * (PIECES + 1) + i % PIECES] =
        ((const uint4*)weights)[((size_t)gate * HIDDEN + first + unit) * PIECES + i % PIECES];
  }
  float cell = 0;
  __syncthreads();
  for (int t = 0; t < steps; t++) {
    for (int i = threadIdx.x; i < BATCH * PIECES; i += 256) {
      state[i] =
          t == 0 ? make_uint4(0, 0, 0, 0) : __ldcg((const uint4*)h + (t & 1) * BATCH * PIECES + i);
    }
    /* asked for before the barrier would be better still */
    float input[4];
    const int b_own = threadIdx.x / UNITS, u_own = threadIdx.x % UNITS;
    if (threadIdx.x < BATCH * UNITS) {
      for (int g = 0; g < 4; g++) {
        input[g] =
            from_input[((size_t)t * BATCH + b_own) * 4 * HIDDEN + g * HIDDEN + first + u_own];
      }
    }
    __syncthreads();
    for (int r = slot; r < ROWS; r += AT_ONCE) {
      float sum[BATCH] = {};
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        const uint4 a = w[r * (PIECES + 1) + e * LANES + lane];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
          const uint4 x = state[b * PIECES + e * LANES + lane];
#pragma unroll
          for (int k = 0; k < 4; k++) {
            const float2 p = __half22float2(((const half2*)&a)[k]),
                         q = __half22float2(((const half2*)&x)[k]);
            sum[b] = fmaf(p.x, q.x, fmaf(p.y, q.y, sum[b]));
          }
        }
      }
#pragma unroll
      for (int b = 0; b < BATCH; b++) {
#pragma unroll
        for (int o = LANES / 2; o; o /= 2) {
          sum[b] += __shfl_xor_sync(~0u, sum[b], o);
        }
        if (lane == 0) {
          gates[b * ROWS + r] = sum[b];
        }
      }
    }
    __syncthreads();
    if (threadIdx.x < BATCH * UNITS) {
      float g[4];
      for (int i = 0; i < 4; i++) {
        g[i] = gates[b_own * ROWS + i * UNITS + u_own] + input[i];
      }
      auto sigmoid = [](float v) { return 1 / (1 + __expf(-v)); };
      cell = sigmoid(g[1]) * cell + sigmoid(g[0]) * tanhf(g[2]);
      const half value = __float2half(sigmoid(g[3]) * tanhf(cell));
      h[((t + 1) & 1) * BATCH * HIDDEN + b_own * HIDDEN + first + u_own] = value;
      out[((size_t)t * BATCH + b_own) * HIDDEN + first + u_own] = value;
    }
    grid_barrier(counter, (t + 1) * gridDim.x);
  }
}

static __device__ __forceinline__ void small_product(float (&sum)[4], const uint32_t (&a)[4],
                                                     uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* With matrix instructions: 4 units a block, their 16 rows of weights in registers for all steps. A
 * warp takes an eighth of the state, which comes straight from memory: four lanes read neighbouring
 * pieces of EACH values, in whatever order the products then see them. */
template <int HIDDEN, int BATCH>
static __global__ void __launch_bounds__(256)
    lstm_by_products(const half* weights, const float* from_input, half* h, half* out,
                     unsigned* counter, int steps) {
  constexpr int EACH = HIDDEN / 32, PIECES = EACH / 8, TILES = BATCH / 8;
  static_assert(EACH % 8 == 0 && BATCH % 8 == 0 && BATCH <= 64, "");
  extern __shared__ float parts[]; /* [warp][16][BATCH + 2] */
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quad = lane / 4,
            from = warp * (HIDDEN / 8) + lane % 4 * EACH, first = blockIdx.x * 4;
  uint4 rows[2][PIECES]; /* row 4 * unit + gate of the block: quad and quad + 8 */
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int row = quad + 8 * i, unit = row / 4, gate = row % 4;
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
      rows[i][k] =
          *(const uint4*)(weights + ((size_t)gate * HIDDEN + first + unit) * HIDDEN + from + 8 * k);
    }
  }
  const int image = threadIdx.x / 4, unit = threadIdx.x % 4;
  const bool owns = image < BATCH;
  float cell = 0;
  for (int t = 0; t < steps; t++) {
    float input[4] = {};
    if (owns) {
      for (int g = 0; g < 4; g++) {
        input[g] = __ldg(from_input + ((size_t)t * BATCH + image) * 4 * HIDDEN + g * HIDDEN +
                         first + unit);
      }
    }
    if (t > 0) {
      grid_barrier(counter, t * gridDim.x);
    }
    uint4 state[TILES][PIECES];
#pragma unroll
    for (int n = 0; n < TILES; n++) {
#pragma unroll
      for (int k = 0; k < PIECES; k++) {
        state[n][k] = t == 0
                          ? make_uint4(0, 0, 0, 0)
                          : __ldcg((const uint4*)(h + (t & 1) * BATCH * HIDDEN +
                                                  (size_t)(8 * n + quad) * HIDDEN + from + 8 * k));
      }
    }
#pragma unroll
    for (int n = 0; n < TILES; n++) {
      float sum[4] = {};
#pragma unroll
      for (int k = 0; k < PIECES; k++) {
        const uint32_t a[4] = {rows[0][k].x, rows[1][k].x, rows[0][k].y, rows[1][k].y},
                       b[4] = {rows[0][k].z, rows[1][k].z, rows[0][k].w, rows[1][k].w};
        small_product(sum, a, state[n][k].x, state[n][k].y);
        small_product(sum, b, state[n][k].z, state[n][k].w);
      }
      float* to = parts + (warp * 16 + quad) * (BATCH + 2) + 8 * n + lane % 4 * 2;
      *(float2*)to = make_float2(sum[0], sum[1]);
      *(float2*)(to + 8 * (BATCH + 2)) = make_float2(sum[2], sum[3]);
    }
    __syncthreads();
    if (owns) {
      float g[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        g[i] = input[i];
#pragma unroll
        for (int w = 0; w < 8; w++) {
          g[i] += parts[(w * 16 + unit * 4 + i) * (BATCH + 2) + image];
        }
      }
      auto sigmoid = [](float v) { return __fdividef(1.f, 1.f + __expf(-v)); };
      cell = sigmoid(g[1]) * cell + sigmoid(g[0]) * tanhf(g[2]);
      const half value = __float2half(sigmoid(g[3]) * tanhf(cell));
      h[((t + 1) & 1) * BATCH * HIDDEN + image * HIDDEN + first + unit] = value;
      out[((size_t)t * BATCH + image) * HIDDEN + first + unit] = value;
    }
  }
}

template <int HIDDEN, int UNITS, int BATCH, bool BY_PRODUCTS = false>
static void measure(bool check) {
  const int steps = check ? 4 : 100, blocks = HIDDEN / UNITS;
  half *weights = random_half((size_t)4 * HIDDEN * HIDDEN, 1.7f / sqrtf((float)HIDDEN), 1),
       *h = device_new<half>(2 * BATCH * HIDDEN),
       *out = device_new<half>((size_t)steps * BATCH * HIDDEN);
  float* input = random_float((size_t)steps * BATCH * 4 * HIDDEN, 0, 1, 2);
  unsigned* counter = device_new<unsigned>(1);
  const size_t shared = BY_PRODUCTS ? (size_t)8 * 16 * (BATCH + 2) * 4
                                    : (size_t)4 * UNITS * (HIDDEN / 8 + 1) * 16 +
                                          BATCH * HIDDEN * 2 + BATCH * 4 * UNITS * 4;
  auto kernel = [] {
    if constexpr (BY_PRODUCTS) {
      return lstm_by_products<HIDDEN, BATCH>;
    } else {
      return lstm<HIDDEN, UNITS, BATCH>;
    }
  }();
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  int count = steps;
  graph_t graph([&](cudaStream_t s) {
    CHECK(cudaMemsetAsync(counter, 0, 4, s));
    void* arguments[] = {&weights, &input, &h, &out, &counter, &count};
    CHECK(
        cudaLaunchCooperativeKernel((void*)kernel, dim3(blocks), dim3(256), arguments, shared, s));
  });
  graph.run("lstm");
  /* float64 on the host, for the first image of the batch, rounding where the kernel rounds */
  std::vector<half> w((size_t)4 * HIDDEN * HIDDEN), got((size_t)steps * BATCH * HIDDEN);
  std::vector<float> in((size_t)steps * BATCH * 4 * HIDDEN);
  CHECK(cudaMemcpy(w.data(), weights, w.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), out, got.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(in.data(), input, in.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<float> wf(w.size());
  for (size_t i = 0; i < w.size(); i++) {
    wf[i] = (float)w[i];
  }
  double worst = 0;
  for (int b : {0, BATCH - 1}) {
    std::vector<double> state(HIDDEN), cell(HIDDEN), next(HIDDEN);
    double difference = 0, size = 0;
    for (int t = 0; t < std::min(steps, 20); t++) {
      for (int u = 0; u < HIDDEN; u++) {
        double g[4];
        for (int i = 0; i < 4; i++) {
          g[i] = in[((size_t)t * BATCH + b) * 4 * HIDDEN + i * HIDDEN + u];
          for (int k = 0; k < HIDDEN; k++) {
            g[i] += (double)wf[((size_t)i * HIDDEN + u) * HIDDEN + k] * state[k];
          }
        }
        cell[u] = cell[u] / (1 + exp(-g[1])) + tanh(g[2]) / (1 + exp(-g[0]));
        next[u] = tanh(cell[u]) / (1 + exp(-g[3]));
        const double e = next[u] - (double)(float)got[((size_t)t * BATCH + b) * HIDDEN + u];
        difference += e * e;
        size += next[u] * next[u];
      }
      for (int u = 0; u < HIDDEN; u++) {
        state[u] = (double)(float)__float2half((float)next[u]);
      }
    }
    worst = std::max(worst, std::sqrt(difference / size));
  }
  const spread_t t = graph.time(check ? 1 : 31);
  printf(
      "LSTM%s %d, batch %d, %d steps, %d blocks of %d units, %zu KB of shared memory: %.1f us "
      "(%.1f-%.1f), %.2f a step, "
      "error %.1e\n",
      BY_PRODUCTS ? " by matrix instructions" : "", HIDDEN, BATCH, steps, blocks, UNITS,
      shared >> 10, t.median, t.low, t.high, t.median / steps, worst);
  fflush(stdout);
  for (void* p : {(void*)weights, (void*)h, (void*)out, (void*)input, (void*)counter}) {
    CHECK(cudaFree(p));
  }
}

static void barriers() {
  unsigned* counter = device_new<unsigned>(1);
  for (int blocks : {2, 8, 16, 32, 64, 128}) {
    double t[2];
    int rounds[2] = {200, 1200};
    for (int i = 0; i < 2; i++) {
      graph_t graph([&](cudaStream_t s) {
        CHECK(cudaMemsetAsync(counter, 0, 4, s));
        void* arguments[] = {&counter, &rounds[i]};
        CHECK(cudaLaunchCooperativeKernel((void*)only_barriers, dim3(blocks), dim3(256), arguments,
                                          0, s));
      });
      t[i] = graph.time(15).median;
    }
    printf("BARRIER of %d blocks through memory: %.3f us\n", blocks, (t[1] - t[0]) / 1000);
  }
  CHECK(cudaFuncSetAttribute(only_cluster_barriers, cudaFuncAttributeNonPortableClusterSizeAllowed,
                             1));
  for (int blocks : {2, 4, 8, 16}) {
    double t[2];
    for (int i = 0; i < 2; i++) {
      graph_t graph([&](cudaStream_t s) {
        CHECK(launch(only_cluster_barriers, dim3(blocks), 256, 0, dim3(blocks), false, s,
                     i ? 1200 : 200));
      });
      t[i] = graph.time(15).median;
    }
    printf("BARRIER of a cluster of %d: %.3f us\n", blocks, (t[1] - t[0]) / 1000);
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (!check) {
    barriers();
  }
  measure<128, 4, 1>(check);
  measure<128, 8, 1>(check);
  measure<128, 16, 1>(check);
  measure<512, 4, 1>(check);
  measure<512, 8, 1>(check);
  measure<512, 16, 1>(check);
  measure<1024, 8, 1>(check);
  measure<1024, 16, 1>(check);
  measure<512, 8, 4>(check);
  measure<512, 8, 16>(check);
  measure<256, 4, 8, true>(check);
  measure<256, 4, 16, true>(check);
  measure<256, 4, 32, true>(check);
  measure<256, 4, 64, true>(check);
  measure<512, 4, 8, true>(check);
  measure<512, 4, 16, true>(check);
  measure<512, 4, 32, true>(check);
  measure<512, 4, 64, true>(check);
}
