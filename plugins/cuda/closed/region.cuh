/* Regions of interest: roi_align, max_roi_pool. An element of the result is a thread's.
 *
 * roi_align reads four places for each sample, which lie apart in a plane: a warp would read a
 * sector for each. So where the result is no smaller than a part of x, x is copied to scratch memory
 * with channels innermost, and a thread has V channels of a bin. number: 1 if it is copied. */
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
/* The places around a sample: above at left and at right, below at left and at right. */
INLINE void add_sample(sum_t& result, const sample_t& v, const sample_t& h, sum_t a, sum_t b, sum_t d,
                       sum_t e, bool first) {
#if A_mode_max
  join(result, v.near * h.near * a, first);
  join(result, v.near * h.far * b, false);
  join(result, v.far * h.near * d, false);
  join(result, v.far * h.far * e, false);
#else
  result = fused(v.near, fused(h.near, a, h.far * b), result);
  result = fused(v.far, fused(h.near, d, h.far * e), result);
#endif
}
/* A block has CHANNELS channels of a region: where samples lie is found once, as long as they fit.
 */
enum { CHANNELS = 64, KEPT = 384, V = 16 / (int)sizeof(IN0_STORED), SIDE = 32 };
/* [batch, channels, pixels] as [batch, pixels, channels]. */
KERNEL turn_planes(const __grid_constant__ parameters_t p) {
  __shared__ IN0_STORED tile[SIDE][SIDE + 1];
  begin(p);
  if (p.scratch == 0) {
    return;
  }
  const int channels = (int)p.in[0].dims[1];
  const int pixels = (int)(p.in[0].dims[2] * p.in[0].dims[3]);
  const int across = (pixels + SIDE - 1) / SIDE;
  const int down = (channels + SIDE - 1) / SIDE;
  const int lane = (int)threadIdx.x % SIDE;
  EACH_BLOCK(block, p.in[0].dims[0] * down * across) {
    const i64 plane = block / (down * across) * channels * pixels;
    const int channel = (int)(block / across % down) * SIDE;
    const int pixel = (int)(block % across) * SIDE;
    const IN0_STORED* from = (const IN0_STORED*)p.in[0].data + plane;
    IN0_STORED* to = (IN0_STORED*)p.scratch + plane;
    for (int k = (int)threadIdx.x / SIDE; k < SIDE; k += 256 / SIDE) {
      if (channel + k < channels && pixel + lane < pixels) {
        tile[k][lane] = from[(channel + k) * pixels + pixel + lane];
      }
    }
    __syncthreads();
    for (int k = (int)threadIdx.x / SIDE; k < SIDE; k += 256 / SIDE) {
      if (channel + lane < channels && pixel + k < pixels) {
        to[(pixel + k) * channels + channel + lane] = tile[lane][k];
      }
    }
    __syncthreads();
  }
}
/* The samples of a region: along its columns and its rows, each `step` elements from the next. */
struct samples_t {
  int columns; /* of a bin; constants where the node says how many */
  int rows;
  bool fits;
};
INLINE sum_t pooled(const samples_t& samples, sum_t result) {
#if A_mode_max
  return result;
#else
  const sum_t count = (sum_t)samples.rows * (sum_t)samples.columns;
  return count == 0 ? result : result / count;
#endif
}
INLINE samples_t find_samples(const parameters_t& p, i64 roi, int column_step, int row_step,
                              span_t (&spans)[2], sample_t (&kept)[2][KEPT]) {
  const int width = (int)p.out[0].dims[3];
  const int height = (int)p.out[0].dims[2];
  if (threadIdx.x < 2) {
    spans[threadIdx.x] = span_of(p, roi, (int)threadIdx.x);
  }
  __syncthreads();
  samples_t samples;
  samples.columns = A_sampling_ratio > 0 ? (int)A_sampling_ratio : spans[0].samples;
  samples.rows = A_sampling_ratio > 0 ? (int)A_sampling_ratio : spans[1].samples;
  samples.fits = (i64)samples.columns * width <= KEPT && (i64)samples.rows * height <= KEPT;
  if (samples.fits) {
    EACH_THREAD(i, samples.columns * width) {
      kept[0][i] = sample_of(spans[0], column_step, (int)i / samples.columns, (int)i % samples.columns);
    }
    EACH_THREAD(i, samples.rows * height) {
      kept[1][i] = sample_of(spans[1], row_step, (int)i / samples.rows, (int)i % samples.rows);
    }
  }
  __syncthreads();
  return samples;
}
/* V channels of a bin, of channels innermost. */
INLINE void pool_bin(const parameters_t& p, const IN0_STORED* x, const samples_t& samples, const span_t (&spans)[2],
                     const sample_t (&kept)[2][KEPT], int bin_row, int bin_column, sum_t (&result)[V]) {
  typedef several_t<IN0_STORED, V> piece_t;
  const int channels = (int)p.in[0].dims[1];
  const int pitch = (int)p.in[0].dims[3] * channels;
  for (int r = 0; r < samples.rows; ++r) {
    const sample_t v = samples.fits ? kept[1][bin_row * samples.rows + r] : sample_of(spans[1], pitch, bin_row, r);
    for (int c = 0; c < samples.columns; ++c) {
      const sample_t h =
          samples.fits ? kept[0][bin_column * samples.columns + c] : sample_of(spans[0], channels, bin_column, c);
      const piece_t a = *(const piece_t*)(x + v.low + h.low);
      const piece_t b = *(const piece_t*)(x + v.low + h.high);
      const piece_t d = *(const piece_t*)(x + v.high + h.low);
      const piece_t e = *(const piece_t*)(x + v.high + h.high);
#pragma unroll
      for (int k = 0; k < V; ++k) {
        add_sample(result[k], v, h, (sum_t)IN0_VALUE(a.item[k]), (sum_t)IN0_VALUE(b.item[k]),
                   (sum_t)IN0_VALUE(d.item[k]), (sum_t)IN0_VALUE(e.item[k]), r == 0 && c == 0);
      }
    }
  }
}
/* A block has OWN channels of a region, BINS bins at once, whose results it turns in shared memory. */
enum { OWN = sizeof(OUT0_STORED) > 4 ? 32 : 64, BINS = 64 };
INLINE void pool_turned(const parameters_t& p, span_t (&spans)[2], sample_t (&kept)[2][KEPT]) {
  __shared__ OUT0_STORED made[OWN][BINS + 1];
  const int channels = (int)p.in[0].dims[1];
  const int pitch = (int)p.in[0].dims[3] * channels;
  const int width = (int)p.out[0].dims[3];
  const int bins = (int)p.out[0].dims[2] * width;
  const int parts = (channels + OWN - 1) / OWN;
  EACH_BLOCK(block, p.out[0].dims[0] * parts) {
    const i64 roi = block / parts;
    const int first = (int)(block % parts) * OWN;
    const i64 batch = (i64)IN2(roi);
    if (batch < 0 || batch >= p.in[0].dims[0]) {
      fail(p, 1, batch);
      continue;
    }
    const samples_t samples = find_samples(p, roi, channels, pitch, spans, kept);
    const int own = (int)threadIdx.x % (OWN / V) * V;
    const int count = (int)least_of(OWN, channels - first);
    const IN0_STORED* x = (const IN0_STORED*)p.scratch + batch * p.in[0].dims[2] * pitch + first + own;
    for (int begin_bin = 0; begin_bin < bins; begin_bin += BINS) {
      const int here = (int)least_of(BINS, bins - begin_bin);
      for (int k = (int)threadIdx.x / (OWN / V); k < here && own < count; k += 256 / (OWN / V)) {
        const int bin = begin_bin + k;
        sum_t result[V] = {};
        pool_bin(p, x, samples, spans, kept, bin / width, bin % width, result);
#pragma unroll
        for (int e = 0; e < V; ++e) {
          made[own + e][k] = OUT0_STORE(pooled(samples, result[e]));
        }
      }
      __syncthreads();
      OUT0_STORED* to = (OUT0_STORED*)p.out[0].data + (roi * channels + first) * bins + begin_bin;
      for (int i = (int)threadIdx.x; i < count * here; i += 256) {
        to[(i64)(i / here) * bins + i % here] = made[i / here][i % here];
      }
      __syncthreads();
    }
  }
}
INLINE void pool_planes(const parameters_t& p, span_t (&spans)[2], sample_t (&kept)[2][KEPT]) {
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
    const samples_t samples = find_samples(p, roi, 1, pitch, spans, kept);
    const int count = (int)least_of(CHANNELS, channels - first) * bins;
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
      const int bin = i % bins;
      const int bin_row = bin / width;
      const int bin_column = bin % width;
      const IN0_STORED* x =
          (const IN0_STORED*)p.in[0].data + (batch * channels + first + i / bins) * plane;
      sum_t result = 0;
      for (int r = 0; r < samples.rows; ++r) {
        const sample_t v = samples.fits ? kept[1][bin_row * samples.rows + r]
                                        : sample_of(spans[1], pitch, bin_row, r);
        for (int c = 0; c < samples.columns; ++c) {
          const sample_t h = samples.fits ? kept[0][bin_column * samples.columns + c]
                                          : sample_of(spans[0], 1, bin_column, c);
          add_sample(result, v, h, (sum_t)IN0_VALUE(x[v.low + h.low]),
                     (sum_t)IN0_VALUE(x[v.low + h.high]), (sum_t)IN0_VALUE(x[v.high + h.low]),
                     (sum_t)IN0_VALUE(x[v.high + h.high]), r == 0 && c == 0);
        }
      }
      OUT0((roi * channels + first) * bins + i, pooled(samples, result));
    }
    __syncthreads();
  }
}
KERNEL pool_regions(const __grid_constant__ parameters_t p) {
  __shared__ sample_t kept[2][KEPT];
  __shared__ span_t spans[2];
  begin(p);
  if (p.number[0] != 0 && p.scratch != 0) {
    pool_turned(p, spans, kept);
  } else {
    pool_planes(p, spans, kept);
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
