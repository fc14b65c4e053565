/* Regions of interest: roi_align, max_roi_pool. An element of the result is a thread's. */
#if OP_roi_align
#if A_coordinate_mode_half_pixel
#define OFFSET 0.5
#else
#define OFFSET 0.0
#endif
INLINE sum_t joined(sum_t result, sum_t part, bool first) {
#if A_mode_max
  return first ? part : fmax(result, part);
#else
  return result + part;
#endif
}
INLINE sum_t pool_bin(const parameters_t& p, i64 roi, i64 plane, i64 bin_row, i64 bin_column) {
  const i64 height = p.in[0].dims[2];
  const i64 width = p.in[0].dims[3];
  const double left = (double)IN1(roi * 4) * A_spatial_scale - OFFSET;
  const double top = (double)IN1(roi * 4 + 1) * A_spatial_scale - OFFSET;
  double across = (double)IN1(roi * 4 + 2) * A_spatial_scale - OFFSET - left;
  double down = (double)IN1(roi * 4 + 3) * A_spatial_scale - OFFSET - top;
  if (OFFSET == 0.0) {
    across = fmax(across, 1.0);
    down = fmax(down, 1.0);
  }
  const double bin_height = down / (double)p.out[0].dims[2];
  const double bin_width = across / (double)p.out[0].dims[3];
  const i64 rows = A_sampling_ratio > 0 ? A_sampling_ratio : (i64)ceil(bin_height);
  const i64 columns = A_sampling_ratio > 0 ? A_sampling_ratio : (i64)ceil(bin_width);
  sum_t result = 0;
  for (i64 sample = 0; sample < rows * columns; ++sample) {
    double row = top + ((double)bin_row + ((double)(sample / columns) + 0.5) / (double)rows) * bin_height;
    double column = left + ((double)bin_column + ((double)(sample % columns) + 0.5) / (double)columns) * bin_width;
    const bool outside = row < -1.0 || row > (double)height || column < -1.0 || column > (double)width;
    row = outside ? 0.0 : fmin(fmax(row, 0.0), (double)(height - 1));
    column = outside ? 0.0 : fmin(fmax(column, 0.0), (double)(width - 1));
    const i64 r = (i64)row;
    const i64 c = (i64)column;
    const i64 below = r + 1 < height ? r + 1 : r;
    const i64 beside = c + 1 < width ? c + 1 : c;
    const double d = row - (double)r;
    const double a = column - (double)c;
#pragma unroll
    for (int corner = 0; corner < 4; ++corner) {
      const sum_t weight = outside ? (sum_t)0 : (sum_t)((corner < 2 ? 1.0 - d : d) * (corner % 2 == 0 ? 1.0 - a : a));
      const i64 place = outside ? 0 : (corner < 2 ? r : below) * width + (corner % 2 == 0 ? c : beside);
      result = joined(result, weight * (sum_t)IN0(plane + place), sample == 0 && corner == 0);
    }
  }
#if A_mode_max
  return result;
#else
  return rows * columns == 0 ? result : result / (sum_t)(rows * columns);
#endif
}
KERNEL pool_regions(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 bins = p.out[0].dims[2] * p.out[0].dims[3];
  EACH(i, p.out[0].count) {
    const i64 roi = i / bins / p.out[0].dims[1];
    const i64 batch = (i64)IN2(roi);
    if (batch < 0 || batch >= p.in[0].dims[0]) {
      fail(p, 1, batch);
      continue;
    }
    const i64 plane = (batch * p.in[0].dims[1] + i / bins % p.out[0].dims[1]) * p.in[0].dims[2] * p.in[0].dims[3];
    OUT0(i, pool_bin(p, roi, plane, i % bins / p.out[0].dims[3], i % p.out[0].dims[3]));
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
INLINE i64 rounded(double x) { return (i64)(x < 0.0 ? ceil(x - 0.5) : floor(x + 0.5)); }
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
    sum_t largest = top >= bottom || left >= right ? (sum_t)0 : (sum_t)-__uint_as_float(0x7F800000u);
    for (i64 r = top; r < bottom; ++r) {
      for (i64 c = left; c < right; ++c) {
        largest = fmax(largest, (sum_t)IN0(plane + r * width + c));
      }
    }
    OUT0(i, largest);
  }
}
#endif
