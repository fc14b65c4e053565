/* Random numbers as the reference has them: Philox counted by the element, uniform by 53 bits,
 * normal by Box and Muller in double. How long, and how many results differ from the host's.
 *
 *   random_numbers --check      for the sanitizers */
#include <cstring>

#include "../../../plugins/reference/philox.c"
#include "hopper.cuh"
#include "measure.cuh"

/* The first two words, as one number of 64 bits. */
static __device__ unsigned long long philox_words(unsigned long long key,
                                                  unsigned long long counter) {
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32), a = (unsigned)counter,
           b = (unsigned)(counter >> 32), c = 0, d = 0;
#pragma unroll
  for (int i = 0; i < 10; i++) {
    const unsigned high_a = __umulhi(0xD2511F53u, a), low_a = 0xD2511F53u * a,
                   high_c = __umulhi(0xCD9E8D57u, c), low_c = 0xCD9E8D57u * c;
    a = high_c ^ b ^ k0;
    b = low_c;
    c = high_a ^ d ^ k1;
    d = low_a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (unsigned long long)a << 32 | b;
}
static __device__ double uniform(unsigned long long key, unsigned long long counter) {
  return (double)(philox_words(key, counter) >> 11) * 0x1p-53;
}

enum way_t {
  WORDS_ALONE,    /* what counting costs, without the double */
  UNIFORM_DOUBLE, /* as the reference */
  NORMAL_DOUBLE,  /* as the reference, the device's log and cos */
  NORMAL_TURNS,   /* cospi in place of cos */
  NORMAL_FLOAT,   /* fp32 behind the uniform numbers */
  NORMAL_FAST,    /* fp32, the special function unit */
  WAYS
};
static const char* const way_names[] = {"words alone",    "uniform, double",
                                        "normal, double", "normal, double, cospi",
                                        "normal, fp32",   "normal, fp32, fast"};

template <int WAY>
static __device__ float one(unsigned long long key, unsigned long long place) {
  if (WAY == WORDS_ALONE) {
    return (float)(philox_words(key, place) >> 40) * 0x1p-24f;
  }
  if (WAY == UNIFORM_DOUBLE) { /* low + (high - low) * u, each step rounded as the host does */
    return (float)__dadd_rn(-0.3, __dmul_rn(1.7 - -0.3, uniform(key, place)));
  }
  const double u = uniform(key, 2 * place), v = uniform(key, 2 * place + 1);
  if (WAY == NORMAL_DOUBLE || WAY == NORMAL_TURNS) {
    const double radius = sqrt(__dmul_rn(-2.0, log(1.0 - u)));
    const double turn =
        WAY == NORMAL_TURNS ? cospi(2 * v) : cos(__dmul_rn(2.0 * 3.14159265358979323846, v));
    return (float)__dadd_rn(0.5, __dmul_rn(2.5, __dmul_rn(radius, turn)));
  }
  const float f = (float)(1.0 - u), g = (float)v;
  if (WAY == NORMAL_FLOAT) {
    return 0.5f + 2.5f * sqrtf(-2.f * logf(f)) * cospif(2 * g);
  }
  return 0.5f + 2.5f * sqrtf(-2.f * __logf(f)) * __cosf(6.2831853f * g);
}

template <int WAY>
static __global__ void __launch_bounds__(128) generate(float* y, size_t n, unsigned long long key) {
  const size_t first = (blockIdx.x * (size_t)128 + threadIdx.x) * 4;
  float4 v;
  v.x = one<WAY>(key, first);
  v.y = one<WAY>(key, first + 1);
  v.z = one<WAY>(key, first + 2);
  v.w = one<WAY>(key, first + 3);
  wait_for_predecessor();
  release_dependents();
  if (first < n) {
    *(float4*)(y + first) = v;
  }
}

static float on_host(int way, uint64_t key, uint64_t place) {
  if (way == UNIFORM_DOUBLE) {
    return (float)(-0.3 + (1.7 - -0.3) * tenon__philox_uniform53(key, place));
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - tenon__philox_uniform53(key, 2 * place)));
  return (float)(0.5 + 2.5 * (radius * std::cos(2.0 * 3.14159265358979323846 *
                                                tenon__philox_uniform53(key, 2 * place + 1))));
}

static void compare(const std::vector<float>& got, int way, uint64_t key) {
  size_t differ = 0;
  double most = 0;
  for (size_t i = 0; i < got.size(); i++) {
    const float expected = on_host(way == UNIFORM_DOUBLE ? UNIFORM_DOUBLE : NORMAL_DOUBLE, key, i);
    differ += memcmp(&got[i], &expected, 4) != 0;
    most = std::max(most, std::fabs((double)got[i] - (double)expected));
  }
  printf("; %zu of %zu differ from the host's, by at most %.1e", differ, got.size(), most);
}

template <int WAY>
static void measure(size_t checked, bool few) {
  const uint64_t key = 0x123456789abcdef1u;
  for (size_t n : {checked, (size_t)4 << 10, (size_t)1 << 20, (size_t)16 << 20}) {
    float* y = device_new<float>(n);
    auto run = [&](cudaStream_t s, int) {
      CHECK(launch(generate<WAY>, dim3((unsigned)((n / 4 + 127) / 128)), 128, 0, dim3(1), true, s,
                   y, n, (unsigned long long)key));
    };
    if (n == checked) {
      run(nullptr, 0);
      std::vector<float> got(n);
      wait_or_die(nullptr, "random");
      CHECK(cudaMemcpy(got.data(), y, n * 4, cudaMemcpyDeviceToHost));
      printf("RANDOM %s", way_names[WAY]);
      if (WAY != WORDS_ALONE) {
        compare(got, WAY, key);
      }
    } else if (!few) {
      const spread_t us = step_time(run, 9, 10, 30);
      printf("; %zu K: %.2f us (%.2f-%.2f), bytes %.2f", n >> 10, us.median, us.low, us.high,
             (double)n * 4 / 2.98e6);
    }
    CHECK(cudaFree(y));
  }
  printf("\n");
}

int main(int argc, char** argv) {
  print_device();
  const bool few = argc > 1 && !strcmp(argv[1], "--check");
  const size_t checked = few ? 4096 : (size_t)8 << 20;
  measure<WORDS_ALONE>(checked, few);
  measure<UNIFORM_DOUBLE>(checked, few);
  measure<NORMAL_DOUBLE>(checked, few);
  measure<NORMAL_TURNS>(checked, few);
  measure<NORMAL_FLOAT>(checked, few);
  measure<NORMAL_FAST>(checked, few);
}
