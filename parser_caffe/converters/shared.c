/* What converters share. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "families.h"

enum { PATH_SIZE = 64 };

tenon_value_t tenon__caffe_weight(tenon_make_t* make, uint32_t index, uint32_t rank,
                                  const int64_t* dims) {
  return tenon_make_cast(make, tenon_make_blob(make, index, rank, dims), TENON_DTYPE_FLOAT32);
}

tenon_value_t tenon__caffe_vector(tenon_make_t* make, uint32_t index, int64_t count) {
  return tenon__caffe_weight(make, index, 1, &count);
}

bool tenon__caffe_is(tenon_make_t* make, const char* name, const char* otherwise,
                     const char* word) {
  return strcmp(tenon_make_get_string(make, name, otherwise), word) == 0;
}

int64_t tenon__caffe_extent(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  const int64_t extent = tenon_make_dim(make, value, (uint32_t)axis);
  if (extent < 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "extent %" PRId64 " of its bottom is not known",
                    axis);
  }
  return extent < 0 ? 0 : extent;
}

tenon_value_t tenon__caffe_align(tenon_make_t* make, tenon_value_t value, int64_t axis,
                                 uint32_t rank) {
  int64_t axes[TENON_MAKE_LIST_LIMIT];
  const uint32_t own = tenon_make_rank(make, value);
  size_t count = 0;
  for (int64_t i = own; i < (int64_t)rank - axis && i < TENON_MAKE_LIST_LIMIT; ++i) {
    axes[count++] = i;
  }
  return tenon_make_unsqueeze(make, value, axes, count);
}

bool tenon__caffe_spatial(tenon_make_t* make, const char* message, const char* name,
                          const char* pair, uint32_t count, int64_t* out_values) {
  char path[PATH_SIZE];
  char path_h[PATH_SIZE];
  char path_w[PATH_SIZE];
  const int64_t* values = NULL;
  size_t found = 0;
  (void)snprintf(path, sizeof(path), "%s.%s", message, name);
  (void)snprintf(path_h, sizeof(path_h), "%s.%s_h", message, pair);
  (void)snprintf(path_w, sizeof(path_w), "%s.%s_w", message, pair);
  if (tenon_make_has(make, path_h) || tenon_make_has(make, path_w)) {
    if (count != 2) {
      tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s_h and %s_w are for two spatial axes",
                      pair, pair);
      return false;
    }
    out_values[0] = tenon_make_get_int(make, path_h, 0);
    out_values[1] = tenon_make_get_int(make, path_w, 0);
    return tenon_make_ok(make);
  }
  if (!tenon_make_get_ints(make, path, &values, &found)) {
    return false;
  }
  if (found != 1 && found != count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s is given %zu times for %u spatial axes",
                    name, found, count);
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    out_values[i] = values[found == 1 ? 0 : i];
  }
  return true;
}

void tenon__caffe_set_pads(tenon_make_t* make, const int64_t* pads, uint32_t count) {
  int64_t both[2 * TENON_MAKE_LIST_LIMIT];
  for (uint32_t i = 0; i < count; ++i) {
    both[i] = pads[i];
    both[count + i] = pads[i];
  }
  tenon_make_set_ints(make, "pads", both, 2 * (size_t)count);
}
