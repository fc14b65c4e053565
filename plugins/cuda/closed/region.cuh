/* Regions of interest: roi_align, max_roi_pool. An element of the result is a thread's. */
#if OP_roi_align
#if A_coordinate_mode_half_pixel
#define OFFSET 0.5
#else
#define OFFSET 0.0
#endif
/* A sample along one axis: two places, in elements of x, and their weights; of none outside. */
struct sample_t {
  int low;
  int high;
  sum_t near;
  sum_t far;
};
struct span_t {
  double begin;
  double bin;
  int samples; /* of a bin, where the node does not say */
  int extent;  /* of x */
};
/* axis 0: across, 1: down. */
INLINE span_t span_of(const parameters_t& p, i64 roi, int axis) {
  const double begin = (double)IN1(roi * 4 + axis) * A_spatial_scale - OFFSET;
  double length = (double)IN1(roi * 4 + 2 + axis) * A_spatial_scale - OFFSET - begin;
  if (OFFSET == 0.0) {
    length = fmax(length, 1.0);
  }
  const double bin = length / (double)p.out[0].dims[3 - axis];
  const int usual = bin > 0.0 ? (int)fmin(ceil(bin), 1e9) : 0;
  return span_t{begin, bin, usual, (int)p.in[0].dims[3 - axis]};
}
INLINE sample_t sample_of(const span_t& span, int step, int bin, int sample) {
  const int samples = A_sampling_ratio > 0 ? (int)A_sampling_ratio : span.samples;
  double at = span.begin + ((double)bin + ((double)sample + 0.5) / (double)samples) * span.bin;
  if (!(at >= -1.0 && at <= (double)span.extent)) {
    return sample_t{0, 0, 0, 0};
  }
  at = fmin(fmax(at, 0.0), (double)(span.extent - 1));
  const int low = (int)at;
  const double past = at - (double)low;
  return sample_t{low * step, (low + 1 < span.extent ? low + 1 : low) * step, (sum_t)(1.0 - past),
                  (sum_t)past};
}
INLINE void join(sum_t& result, sum_t part, bool first) {
  result = first ? part : fmax(result, part);
}
/* A block has CHANNELS channels of a region: where samples lie is found once, as long as they fit.
 */
enum { CHANNELS = 64, KEPT = 384 };
KERNEL pool_regions(const __grid_constant__ parameters_t p) {
  __shared__ sample_t kept[2][KEPT];
  __shared__ span_t spans[2];
  begin(p);
  const int width = (int)p.out[0].dims[3];
  const int bins = (int)p.out[0].dims[2] * width;
  const i64 channels = p.in[0].dims[1];
  const i64 plane = p.in[0].dims[2] * p.in[0].dims[3];
  const int pitch = (int)p.in[0].dims[3];
  const i64 parts = (channels + CHANNELS - 1) / CHANNELS;
  EACH_BLOCK(block, p.out[0].dims[0] * parts) {
    const i64 roi = block / parts;
    const i64 first = block % parts * CHANNELS;
    const i64 batch = (i64)IN2(roi);
    if (batch < 0 || batch >= p.in[0].dims[0]) {
      fail(p, 1, batch);
      continue;
    }
    if (threadIdx.x < 2) {
      spans[threadIdx.x] = span_of(p, roi, (int)threadIdx.x);
    }
    __syncthreads();
    /* Constants where the node says how many. */
    const int columns = A_sampling_ratio > 0 ? (int)A_sampling_ratio : spans[0].samples;
    const int rows = A_sampling_ratio > 0 ? (int)A_sampling_ratio : spans[1].samples;
    const bool fits = (i64)columns * width <= KEPT && (i64)rows * (bins / width) <= KEPT;
    if (fits) {
      EACH_THREAD(i, columns * width) {
        kept[0][i] = sample_of(spans[0], 1, (int)i / columns, (int)i % columns);
      }
      EACH_THREAD(i, rows * (bins / width)) {
        kept[1][i] = sample_of(spans[1], pitch, (int)i / rows, (int)i % rows);
      }
    }
    __syncthreads();
    const int count = (int)least_of(CHANNELS, channels - first) * bins;
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
      const int bin = i % bins;
      const int bin_row = bin / width;
      const int bin_column = bin % width;
      const IN0_STORED* x =
          (const IN0_STORED*)p.in[0].data + (batch * channels + first + i / bins) * plane;
      sum_t result = 0;
      for (int r = 0; r < rows; ++r) {
        const sample_t v =
            fits ? kept[1][bin_row * rows + r] : sample_of(spans[1], pitch, bin_row, r);
        for (int c = 0; c < columns; ++c) {
          const sample_t h =
              fits ? kept[0][bin_column * columns + c] : sample_of(spans[0], 1, bin_column, c);
          const sum_t a = (sum_t)IN0_VALUE(x[v.low + h.low]);
          const sum_t b = (sum_t)IN0_VALUE(x[v.low + h.high]);
          const sum_t d = (sum_t)IN0_VALUE(x[v.high + h.low]);
          const sum_t e = (sum_t)IN0_VALUE(x[v.high + h.high]);
#if A_mode_max
          join(result, v.near * h.near * a, r == 0 && c == 0);
          join(result, v.near * h.far * b, false);
          join(result, v.far * h.near * d, false);
          join(result, v.far * h.far * e, false);
#else
          result = fused(v.near, fused(h.near, a, h.far * b), result);
          result = fused(v.far, fused(h.near, d, h.far * e), result);
#endif
        }
      }
#if A_mode_max
      const sum_t pooled = result;
#else
      const sum_t samples = (sum_t)rows * (sum_t)columns;
      const sum_t pooled = samples == 0 ? result : result / samples;
#endif
      OUT0((roi * channels + first) * bins + i, pooled);
    }
    __syncthreads();
  }
}
#else
/* Where bin `bin` begins (`end` 0) or ends of a region that covers [first, last]. */
INLINE i64 bin_border(i64 bin, i64 bins, i64 first, i64 last, i64 extent, int end) {
  const double length = (double)most_of(last - first + 1, 1);
  const double border = (double)(bin + end) * length / (double)bins;
  const i64 at = (i64)(end ? ceil(border) : floor(border)) + first;
  return most_of(0, least_of(at, extent));
}
INLINE i64 rounded(double x) {
  return (i64)(x < 0.0 ? ceil(x - 0.5) : floor(x + 0.5));
}
KERNEL pool_regions(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 height = p.in[0].dims[2];
  const i64 width = p.in[0].dims[3];
  const i64 bins = p.out[0].dims[2] * p.out[0].dims[3];
  EACH(i, p.out[0].count) {
    const i64 roi = i / bins / p.out[0].dims[1] * 5;
    const i64 batch = (i64)IN1(roi);
    if (batch < 0 || batch >= p.in[0].dims[0]) {
      fail(p, 1, batch);
      continue;
    }
    i64 border[4];
    for (int k = 0; k < 4; ++k) { /* left, top, right, bottom */
      border[k] = rounded((double)IN1(roi + 1 + k) * A_spatial_scale);
    }
    const i64 bin_row = i % bins / p.out[0].dims[3];
    const i64 bin_column = i % p.out[0].dims[3];
    const i64 top = bin_border(bin_row, p.out[0].dims[2], border[1], border[3], height, 0);
    const i64 bottom = bin_border(bin_row, p.out[0].dims[2], border[1], border[3], height, 1);
    const i64 left = bin_border(bin_column, p.out[0].dims[3], border[0], border[2], width, 0);
    const i64 right = bin_border(bin_column, p.out[0].dims[3], border[0], border[2], width, 1);
    const i64 plane = (batch * p.in[0].dims[1] + i / bins % p.out[0].dims[1]) * height * width;
    sum_t largest =
        top >= bottom || left >= right ? (sum_t)0 : (sum_t)-__uint_as_float(0x7F800000u);
    for (i64 r = top; r < bottom; ++r) {
      for (i64 c = left; c < right; ++c) {
        largest = fmax(largest, (sum_t)IN0(plane + r * width + c));
      }
    }
    OUT0(i, largest);
  }
}
#endif
