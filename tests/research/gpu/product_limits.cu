/* What carries product128, each alone: warpgroup products by width and number of warpgroups, and
 * boxes of x on their way into shared memory. One block a multiprocessor; clocks of one block,
 * median over the blocks. */
#include <cudaTypedefs.h>

#include "hopper.cuh"
#include "measure.cuh"

enum { STEPS = 48 };

/* Every warpgroup makes STEPS products of 16 channels into the same sums, committed in groups of
 * PER_GROUP. */
template <int N8, int PER_GROUP>
__global__ void products(int stride, long long* clocks, float* out) {
  extern __shared__ __align__(1024) uint8_t memory[];
  for (int i = threadIdx.x; i < 160 * 1024 / 4; i += blockDim.x) {
    ((uint32_t*)memory)[i] = 0x3c003c00u ^ (i * 2654435761u & 0x83ff83ffu);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const int group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
  const uint32_t base = shared_address(memory);
  float sum[N8][4] = {};
  const long long begin = clock64();
  for (int b = 0; b < STEPS / PER_GROUP; b++) {
    products_begin();
#pragma unroll
    for (int k = 0; k < PER_GROUP; k++) {
      const uint64_t left =
          matrix_descriptor(base + (b % 4) * 8192 + group % 2 * 32768, 1024) + 2 * (k % 4);
      const uint64_t right = matrix_descriptor(base + 65536 + (b % 4) * 1024, stride) + 2 * (k % 4);
      product<N8>(sum, left, right);
    }
    products_commit();
    products_wait<1>();
  }
  products_wait<0>();
  const long long end = clock64();
  float s = 0;
  for (int i = 0; i < N8; i++) {
    s += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
  }
  if (threadIdx.x == 0) {
    clocks[blockIdx.x] = end - begin;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

struct boxes_arguments_t {
  CUtensorMap map;
  const uint8_t* plain;
  int count, box_bytes, depth, bulk, armed;
};
/* One thread asks for `count` boxes at once; clocks until the first, the middle and the last have
 * landed. */
static __global__ void boxes(const __grid_constant__ boxes_arguments_t p, long long* clocks) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t base = shared_address(memory), data = base + 1024;
  if (threadIdx.x == 0) {
    for (int i = 0; i < p.count; i++) {
      barrier_initialize(base + i * 8, 1);
    }
    barrier_publish();
    prefetch_map(&p.map);
  }
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    if (threadIdx.x == 0 && p.armed) {
      for (int i = 0; i < p.count; i++) {
        barrier_expect(base + i * 8, p.box_bytes);
      }
    }
    __syncthreads();
    const long long begin = clock64();
    if (threadIdx.x == 0) {
      for (int i = 0; i < p.count; i++) {
        if (!p.armed) {
          barrier_expect(base + i * 8, p.box_bytes);
        }
        if (p.bulk) {
          bulk_copy(data + i * p.box_bytes, p.plain + i * p.box_bytes, p.box_bytes, base + i * 8);
        } else {
          tile_copy(data + i * p.box_bytes, &p.map, 0, 0, i * p.depth, base + i * 8);
        }
      }
    }
    const long long issued = clock64();
    long long at[3];
    barrier_wait(base, round & 1);
    at[0] = clock64();
    barrier_wait(base + p.count / 2 * 8, round & 1);
    at[1] = clock64();
    barrier_wait(base + (p.count - 1) * 8, round & 1);
    at[2] = clock64();
    if (threadIdx.x == 0) {
      clocks[blockIdx.x * 4] = issued - begin;
      for (int i = 0; i < 3; i++) {
        clocks[blockIdx.x * 4 + 1 + i] = at[i] - begin;
      }
    }
    __syncthreads();
  }
}

static long long* clocks;
static float* sink;

static double middle(int stride, int offset, int count) {
  std::vector<long long> v(count * stride);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(v.data(), clocks, v.size() * 8, cudaMemcpyDeviceToHost));
  std::vector<double> values;
  for (int i = 0; i < count; i++) {
    values.push_back((double)v[i * stride + offset]);
  }
  return spread_of(values).median;
}

template <int N8, int PER_GROUP>
static void measure_products() {
  CHECK(cudaFuncSetAttribute(products<N8, PER_GROUP>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             200 * 1024));
  printf("PRODUCTS 64x%d, groups of %d:", N8 * 8, PER_GROUP);
  for (int stride : {1024, N8 == 12 ? 6144 : 12288}) { /* between groups of 8 columns */
    for (int groups : {1, 2, 3, 4}) {
      for (int i = 0; i < 2; i++) {
        products<N8, PER_GROUP><<<132, groups * 128, 164 * 1024>>>(stride, clocks, sink);
      }
      CHECK(cudaGetLastError());
      const double c = middle(1, 0, 132) / STEPS;
      printf(" %d warpgroups %.1f clocks a step (%.0f %%)", groups, c,
             100.0 * groups * 64 * N8 * 8 * 16 / 2048 / c);
    }
    printf(stride == 1024 ? " |" : "\n");
  }
}

static void measure_boxes() {
  const int channels = 3072, rows = 128;
  half* x = random_half((size_t)channels * rows * 2, 1, 1);
  PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                         cudaEnableDefault, &result));
  CHECK(cudaFuncSetAttribute(boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  const int rows_of_box = 64;
  for (int depth : {1, 2, 3, 4, 6}) {
    for (int bulk : {0, 1}) {
      for (int armed : {0, 1}) {
        boxes_arguments_t p = {};
        const cuuint64_t extents[3] = {64, (cuuint64_t)rows, (cuuint64_t)channels / 64},
                         strides[2] = {(cuuint64_t)channels * 2, 128};
        const cuuint32_t box[3] = {64, rows_of_box, (cuuint32_t)depth}, steps[3] = {1, 1, 1};
        if (encode(&p.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, x, extents, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
          printf("FAILED tensor map\n");
          return;
        }
        p.plain = (const uint8_t*)x;
        p.depth = depth;
        p.box_bytes = rows_of_box * 128 * depth;
        p.bulk = bulk;
        p.armed = armed;
        printf("BOXES %d bytes by %s, barriers armed %s:", p.box_bytes,
               bulk ? "bulk copy" : "tensor map", armed ? "before" : "between");
        for (int count : {1, 2, 3, 4, 6, 12}) {
          p.count = count;
          if (count * depth > 12) {
            continue;
          }
          boxes<<<132, 64, 1024 + count * p.box_bytes>>>(p, clocks);
          CHECK(cudaGetLastError());
          printf(" | %d: asked %.0f, first %.0f, middle %.0f, last %.0f", count, middle(4, 0, 132),
                 middle(4, 1, 132), middle(4, 2, 132), middle(4, 3, 132));
        }
        printf(" clocks\n");
      }
    }
  }
}

int main() {
  print_device();
  clocks = device_new<long long>(4096);
  sink = device_new<float>(132 * 512);
  measure_products<2, 4>();
  measure_products<3, 4>();
  measure_products<4, 4>();
  measure_products<6, 4>();
  measure_products<8, 4>();
  measure_products<12, 4>();
  measure_products<4, 12>();
  measure_products<8, 12>();
  measure_products<8, 1>();
  measure_boxes();
}
