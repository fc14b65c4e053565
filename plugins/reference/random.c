/*
 * Random numbers: Philox keyed by the seed, counted by the element. Without a seed the key changes
 * from call to call: it counts the calls of the context.
 */
#include <math.h>

#include "kernels.h"
#include "philox.h"

/* The key of this call. */
static uint64_t next_key(const tenon__work_t* work) {
  int64_t seed = tenon__work_int(work, "seed");
  if (seed != 0) {
    return (uint64_t)seed;
  }
  uint64_t* calls = work->host->persistent(work->run);
  uint64_t address = (uint64_t)(uintptr_t)work; /* differs from node to node */
  return (calls == NULL ? 0 : ++*calls) * 0x9E3779B97F4A7C15u ^ address;
}

static double uniform(uint64_t key, uint64_t counter) {
  return tenon__philox_uniform53(key, counter);
}

/* Box and Muller; 1 - u is never 0. */
static double normal(uint64_t key, uint64_t counter) {
  double radius = sqrt(-2.0 * log(1.0 - uniform(key, 2 * counter)));
  return radius * cos(2.0 * 3.14159265358979323846 * uniform(key, 2 * counter + 1));
}

tenon_status_t tenon__compute_random_uniform(tenon__work_t* work) {
  tenon__array_t* y = tenon__work_output(work, 0);
  double low = tenon__work_float(work, "low");
  double high = tenon__work_float(work, "high");
  uint64_t key = next_key(work);
  for (int64_t place = 0; place < y->count; ++place) {
    double value = low + (high - low) * uniform(key, (uint64_t)place);
    y->at[place] = tenon__number_of(y->dtype, value);
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_random_normal(tenon__work_t* work) {
  tenon__array_t* y = tenon__work_output(work, 0);
  double mean = tenon__work_float(work, "mean");
  double scale = tenon__work_float(work, "scale");
  uint64_t key = next_key(work);
  for (int64_t place = 0; place < y->count; ++place) {
    double value = mean + scale * normal(key, (uint64_t)place);
    y->at[place] = tenon__number_of(y->dtype, value);
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_bernoulli(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  uint64_t key = next_key(work);
  for (int64_t place = 0; place < y->count; ++place) {
    bool one = uniform(key, (uint64_t)place) < x->at[place].f;
    y->at[place] = tenon__number_of(y->dtype, one ? 1.0 : 0.0);
  }
  return TENON_OK;
}

/* The class at which the running sum of probabilities passes a uniform number. */
static int64_t draw(const tenon__number_t* logarithms, int64_t count, double at) {
  double largest = -(double)INFINITY;
  double sum = 0.0;
  for (int64_t item = 0; item < count; ++item) {
    largest = fmax(largest, logarithms[item].f);
  }
  for (int64_t item = 0; item < count; ++item) {
    sum += exp(logarithms[item].f - largest);
  }
  double running = 0.0;
  for (int64_t item = 0; item < count; ++item) {
    running += exp(logarithms[item].f - largest);
    if (at * sum < running) {
      return item;
    }
  }
  return count - 1;
}

tenon_status_t tenon__compute_multinomial(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t classes = x->dims[1];
  uint64_t key = next_key(work);
  for (int64_t place = 0; place < y->count; ++place) {
    int64_t row = place / y->dims[1];
    y->at[place].i = draw(x->at + row * classes, classes, uniform(key, (uint64_t)place));
  }
  return TENON_OK;
}
