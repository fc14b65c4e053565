/* A chain of kernels the size of ResNet-50's at batch 1, for what does not depend on their
 * arithmetic. */
#pragma once

#include "hopper.cuh"
#include "measure.cuh"

/* Like a layer of ResNet-50 at batch 1: weights before the wait, activations after it, some
 * arithmetic; 16 KB each a block. */
enum release_t { AT_END, AT_START, AFTER_WAIT };
static __global__ void __launch_bounds__(128)
    layer(const uint4* weights, const uint4* x, uint4* y, int rounds, release_t release,
          unsigned long long* stamps) {
  if (stamps && threadIdx.x == 0 && blockIdx.x == 0) {
    stamps[0] = global_time();
  }
  uint4 w[8], a[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    w[i] = __ldg(weights + (blockIdx.x * 8 + i) * 128 + threadIdx.x);
  }
  if (release == AT_START) {
    release_dependents();
  }
  wait_for_predecessor();
  if (release == AFTER_WAIT) {
    release_dependents();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    a[i] = __ldcg(x + i * 128 + threadIdx.x);
  }
  float s[8] = {};
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      s[i] = fmaf(s[i], __uint_as_float(w[i].x & 0x3fffffff), __uint_as_float(a[i].y & 0x3fffffff));
      s[i] = fmaf(s[i], __uint_as_float(w[i].z & 0x3fffffff), __uint_as_float(a[i].w & 0x3fffffff));
    }
  }
  if (blockIdx.x < 8) {
    uint4 out;
    out.x = __float_as_uint(s[0] + s[1]) & 0x3fffffff;
    out.y = __float_as_uint(s[2] + s[3]) & 0x3fffffff;
    out.z = __float_as_uint(s[4] + s[5]) & 0x3fffffff;
    out.w = __float_as_uint(s[6] + s[7]) & 0x3fffffff;
    y[blockIdx.x * 128 + threadIdx.x] = out;
  }
  if (stamps && threadIdx.x == 0 && blockIdx.x == 0) {
    stamps[1] = global_time();
  }
}

enum { BLOCKS = 112, ROUNDS = 30, WEIGHTS = BLOCKS * 8 * 128 };
static uint4* weights;

struct chain_t {
  uint4* x[2];
  unsigned long long* stamps;
  chain_t()
      : x{device_new<uint4>(1024), device_new<uint4>(1024)},
        stamps(device_new<unsigned long long>(4)) {
    CHECK(cudaMemset(x[0], 0, 16384));
    CHECK(cudaMemset(x[1], 0, 16384));
  }
  void enqueue(cudaStream_t s, int length, bool dependent, bool stamped = false,
               release_t release = AT_START, int blocks = BLOCKS, int rounds = ROUNDS,
               int shared = 0) {
    for (int i = 0; i < length; i++) {
      unsigned long long* t = stamped && i == 0            ? stamps
                              : stamped && i == length - 1 ? stamps + 2
                                                           : nullptr;
      CHECK(launch(layer, dim3(blocks), 128, (size_t)shared, dim3(1), dependent, s,
                   (const uint4*)weights + (i % 50) * WEIGHTS, (const uint4*)x[i & 1],
                   x[1 - (i & 1)], rounds, release, t));
    }
  }
};

inline void small_chain_setup() {
  weights = (uint4*)random_half((size_t)50 * WEIGHTS * 8, 0.5f, 1);
  CHECK(cudaDeviceSynchronize());
}
