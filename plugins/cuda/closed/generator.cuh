/* Ranges of floats, and random numbers: Philox keyed by the seed, counted by the element, as the
 * reference has them. Without a seed the key counts the calls of the step. */
#if OP_arange_float
INLINE double steps_of(const parameters_t& p) {
  const double step = (double)IN2(0);
  return ceil(((double)IN1(0) - (double)IN0(0)) / step);
}
KERNEL count(const __grid_constant__ parameters_t p) {
  begin(p);
  const double steps = steps_of(p);
  const bool is_range = (double)IN2(0) != 0.0 && steps <= 1099511627776.0;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    ((i64*)p.scratch)[0] = is_range && steps > 0.0 ? (i64)steps : 0;
    if (!is_range) {
      fail(p, 1, 0);
    }
  }
}
KERNEL write(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 found = ((const i64*)p.scratch)[0];
  EACH(i, least_of(found, p.out[0].count)) { OUT0(i, (double)IN0(0) + (double)i * (double)IN2(0)); }
  if (p.extents[0] != 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    p.extents[0][0] = found;
  }
}
#else
KERNEL count_call(const __grid_constant__ parameters_t p) {
  begin(p);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    ++*p.persistent;
  }
}
INLINE u64 key_of(const parameters_t& p) {
  return A_seed != 0 ? (u64)A_seed : *p.persistent * 0x9E3779B97F4A7C15ull ^ (u64)p.persistent;
}
INLINE double uniform(u64 key, u64 counter) { return random_f64(key, counter); }
#if OP_random_normal
/* Box and Muller; 1 - u is never 0. */
INLINE double normal(u64 key, u64 counter) {
  const double radius = sqrt(-2.0 * log(1.0 - uniform(key, 2 * counter)));
  return radius * cos(2.0 * 3.14159265358979323846 * uniform(key, 2 * counter + 1));
}
#endif
KERNEL draw(const __grid_constant__ parameters_t p) {
  begin(p);
  const u64 key = key_of(p);
#if OP_multinomial
  const i64 classes = p.in[0].dims[1];
  EACH(i, p.out[0].count) {
    const i64 row = i / A_sample_size * classes;
    double largest = -(double)__uint_as_float(0x7F800000u);
    double total = 0.0;
    for (i64 k = 0; k < classes; ++k) {
      largest = fmax(largest, (double)IN0(row + k));
    }
    for (i64 k = 0; k < classes; ++k) {
      total += exp((double)IN0(row + k) - largest);
    }
    const double at = uniform(key, (u64)i) * total;
    double reached = 0.0;
    i64 drawn = 0;
    for (; drawn + 1 < classes; ++drawn) {
      reached += exp((double)IN0(row + drawn) - largest);
      if (at < reached) {
        break;
      }
    }
    OUT0(i, drawn);
  }
#else
  EACH(i, p.out[0].count) {
#if OP_random_uniform
    OUT0(i, A_low + (A_high - A_low) * uniform(key, (u64)i));
#elif OP_random_normal
    OUT0(i, A_mean + A_scale * normal(key, (u64)i));
#else
    OUT0(i, uniform(key, (u64)i) < (double)IN0(i) ? 1 : 0);
#endif
  }
#endif
}
#endif
