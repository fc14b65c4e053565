/* Softmax, layer and RMS normalisation of one row in double, by a block of THREADS: what generated
 * kernels are compared with. */
#pragma once

/* `store(i, t)` gets exp(v - most) / sum, or (v - mean) / deviation; without `centred` the mean
 * counts as 0. */
template <int THREADS, class Value, class Store>
static __device__ void plain_reduction(int length, bool softmax, bool centred, Value value,
                                       Store store) {
  __shared__ double shared[THREADS];
  auto reduce = [&](double v, bool maximum) {
    __syncthreads();
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int o = THREADS / 2; o; o /= 2) {
      if (threadIdx.x < o) {
        const double w = shared[threadIdx.x + o];
        shared[threadIdx.x] = maximum ? fmax(shared[threadIdx.x], w) : shared[threadIdx.x] + w;
      }
      __syncthreads();
    }
    return shared[0];
  };
  double most = -1e300, sum = 0, square = 0;
  for (int i = threadIdx.x; i < length; i += THREADS) {
    most = fmax(most, value(i));
    sum += value(i);
  }
  most = reduce(most, true);
  const double mean = centred ? reduce(sum, false) / length : 0;
  sum = 0;
  for (int i = threadIdx.x; i < length; i += THREADS) {
    sum += softmax ? exp(value(i) - most) : 0;
    square += (value(i) - mean) * (value(i) - mean);
  }
  sum = reduce(sum, false);
  square = reduce(square, false);
  for (int i = threadIdx.x; i < length; i += THREADS) {
    store(i,
          softmax ? exp(value(i) - most) / sum : (value(i) - mean) / sqrt(square / length + 1e-5));
  }
}
