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
/* Each pixel looks for the windows and taps that it came from. */
enum { SPATIAL = OUT0_RANK - 2 };
INLINE i64 item(const i64* list, int count, int k, i64 otherwise) { return k < count ? list[k] : otherwise; }
#define STRIDE(k) item(A_strides, A_strides_count, k, 1)
#define DILATION(k) item(A_dilations, A_dilations_count, k, 1)
#define PAD(k) item(A_pads, A_pads_count, k, 0)
KERNEL gather(const __grid_constant__ parameters_t p) {
  begin(p);
  i64 windows[SPATIAL];
  i64 taps[SPATIAL];
  i64 all_windows = 1;
  i64 all_taps = 1;
#pragma unroll
  for (int k = 0; k < SPATIAL; ++k) {
    taps[k] = (i64)IN2(k);
    windows[k] = (p.out[0].dims[k + 2] + PAD(k) + PAD(k + SPATIAL) - (taps[k] - 1) * DILATION(k) - 1) / STRIDE(k) + 1;
    all_windows *= windows[k];
    all_taps *= taps[k];
  }
  if (p.in[0].dims[IN0_RANK - 1] != all_windows) {
    fail(p, 1, all_windows);
    return;
  }
  const i64 pixels = product(p.out[0], 2, OUT0_RANK);
  EACH(i, p.out[0].count) {
    sum_t total = 0;
    for (i64 tap = 0; tap < all_taps; ++tap) {
      i64 pixel = i % pixels;
      i64 rest = tap;
      i64 window = 0;
      i64 step = 1;
      bool is_there = true;
#pragma unroll
      for (int k = SPATIAL - 1; k >= 0; --k) {
        const i64 at = pixel % p.out[0].dims[k + 2] + PAD(k) - rest % taps[k] * DILATION(k);
        pixel /= p.out[0].dims[k + 2];
        rest /= taps[k];
        is_there = is_there && at >= 0 && at % STRIDE(k) == 0 && at / STRIDE(k) < windows[k];
        window += at / STRIDE(k) * step;
        step *= windows[k];
      }
      if (is_there) {
        total += (sum_t)IN0((i / pixels * all_taps + tap) * all_windows + window);
      }
    }
    OUT0(i, total);
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
