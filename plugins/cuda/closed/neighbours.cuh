/* What reads near elements of one axis or writes to found places: lrn, max_unpool, col2im,
 * causal_convolution. */
#if OP_lrn
KERNEL normalise(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 inner = product(p.in[0], 2, IN0_RANK);
  const i64 extent = p.in[0].dims[1];
  EACH(i, p.in[0].count) {
    const i64 channel = i / inner % extent;
    const i64 first = most_of(0, channel - (A_window - 1) / 2);
    const i64 last = least_of(extent - 1, channel + A_window / 2);
    sum_t squares = 0;
    for (i64 near = first; near <= last; ++near) {
      const sum_t value = (sum_t)IN0(i + (near - channel) * inner);
      squares += value * value;
    }
    OUT0(i, (sum_t)IN0(i) / op_pow((sum_t)A_bias + (sum_t)(A_alpha / (double)A_window) * squares, (sum_t)A_beta));
  }
}
#elif OP_max_unpool
/* Indices count in a tensor of the extents that the pool's attributes imply (number). */
KERNEL clear(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, p.out[0].count) { OUT0(i, 0.0f); }
}
KERNEL unpool(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, p.in[0].count) {
    i64 rest = (i64)IN1(i);
    bool inside = rest >= 0;
    i64 place = 0;
    i64 step = 1;
#pragma unroll
    for (int k = IN0_RANK - 1; k >= 0; --k) {
      const i64 at = rest % p.number[k];
      rest /= p.number[k];
      inside = inside && at < p.out[0].dims[k];
      place += at * step;
      step *= p.out[0].dims[k];
    }
    if (inside && rest == 0) {
      OUT0(place, IN0(i));
    } else {
      fail(p, 1, (i64)IN1(i));
    }
  }
}
#elif OP_col2im
/* A pixel adds up the elements of the windows that it came from. */
enum { SPATIAL = OUT0_RANK - 2 };
INLINE i64 item(const i64* list, int count, int k, i64 otherwise) { return k < count ? list[k] : otherwise; }
#define STRIDE(k) (int)item(A_strides, A_strides_count, k, 1)
#define DILATION(k) (int)item(A_dilations, A_dilations_count, k, 1)
#define PAD(k) (int)item(A_pads, A_pads_count, k, 0)
struct axes_t {
  int taps[SPATIAL];
  int windows[SPATIAL];
  i64 all_windows;
};
/* The sum over taps of axis K and those behind it, for a pixel at `at`. */
template <int K, class index_t>
INLINE sum_t gathered(const parameters_t& p, const axes_t& axes, const int* at, index_t tap, index_t window) {
  if constexpr (K == SPATIAL) {
    return (sum_t)IN0(tap * (index_t)axes.all_windows + window);
  } else {
    sum_t total = 0;
    for (int k = 0; k < axes.taps[K]; ++k) {
      const int from = at[K] + PAD(K) - k * DILATION(K);
      const int near = from / STRIDE(K);
      if (from >= 0 && near * STRIDE(K) == from && near < axes.windows[K]) {
        total += gathered<K + 1, index_t>(p, axes, at, tap * axes.taps[K] + k, window * axes.windows[K] + near);
      }
    }
    return total;
  }
}
template <class index_t>
INLINE void gather_all(const parameters_t& p, const axes_t& axes) {
  const index_t count = (index_t)p.out[0].count;
  for (index_t i = (index_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (index_t)gridDim.x * blockDim.x) {
    int at[SPATIAL];
    index_t plane = i;
#pragma unroll
    for (int k = SPATIAL - 1; k >= 0; --k) {
      const index_t extent = (index_t)p.out[0].dims[k + 2];
      at[k] = (int)(plane % extent);
      plane /= extent;
    }
    OUT0(i, (gathered<0, index_t>(p, axes, at, plane, 0)));
  }
}
KERNEL gather(const __grid_constant__ parameters_t p) {
  begin(p);
  axes_t axes;
  axes.all_windows = 1;
#pragma unroll
  for (int k = 0; k < SPATIAL; ++k) {
    axes.taps[k] = (int)IN2(k);
    axes.windows[k] =
        (int)((p.out[0].dims[k + 2] + PAD(k) + PAD(k + SPATIAL) - (axes.taps[k] - 1) * DILATION(k) - 1) / STRIDE(k)) + 1;
    axes.all_windows *= axes.windows[k];
  }
  if (p.in[0].dims[IN0_RANK - 1] != axes.all_windows) {
    fail(p, 1, axes.all_windows);
    return;
  }
  if (p.in[0].count < (i64)1 << 31 && p.out[0].count < (i64)1 << 31) {
    gather_all<unsigned>(p, axes);
  } else {
    gather_all<i64>(p, axes);
  }
}
#else
/* Places below 0 are in the past, whose rows have taps - 1 of them. */
INLINE sum_t signal_at(const parameters_t& p, i64 row, i64 place) {
  const i64 kept = p.in[1].dims[2] - 1;
  return place >= 0 ? (sum_t)IN0(row * p.in[0].dims[2] + place)
         : HAS_IN3  ? (sum_t)IN3(row * kept + place + kept)
                    : (sum_t)0;
}
KERNEL convolve(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 length = p.in[0].dims[2];
  const i64 taps = p.in[1].dims[2];
#if HAS_OUT0
  EACH(i, p.out[0].count) {
    const i64 row = i / length;
    const i64 channel = row % p.in[0].dims[1];
    sum_t total = HAS_IN2 ? (sum_t)IN2(channel) : (sum_t)0;
    for (i64 tap = 0; tap < taps; ++tap) {
      total += signal_at(p, row, i % length + tap - (taps - 1)) * (sum_t)IN1(channel * taps + tap);
    }
#if !A_activation_none
    total = total / ((sum_t)1 + op_exp(-total));
#endif
    OUT0(i, total);
  }
#endif
#if HAS_OUT1
  EACH(i, p.out[1].count) {
    OUT1(i, signal_at(p, i / (taps - 1), length + i % (taps - 1) - (taps - 1)));
  }
#endif
}
#endif
