/* The application's tensors. */
#include <stdio.h>

#include "core/base/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "sdk/library/library.h"

static const char* fault_of(const tenon_tensor_view_t* view, int64_t strides[TENON_RANK_LIMIT]) {
  uint64_t count = 0;
  if (view->rank > TENON_RANK_LIMIT) {
    return "too high a rank";
  }
  if (view->rank > 0 && view->dims == NULL) {
    return "no dims";
  }
  if (view->dtype == TENON_DTYPE_UNDEFINED || view->dtype >= TENON_DTYPE_COUNT) {
    return "an unknown element type";
  }
  if (!tenon__element_count(view->rank, view->dims, &count) ||
      !tenon__strides_row_major(view->rank, view->dims, strides)) {
    return "extents that are negative or too large";
  }
  if (count > 0 && view->data == NULL) {
    return "no data";
  }
  return view->layout != TENON_NONE && view->layout != 0
             ? "a layout: the application's tensors are described by strides"
             : NULL;
}

/* " [3, 224]"; "" where there are none. */
static void print_dims(const tenon_tensor_view_t* view, char* out_text, size_t capacity) {
  size_t used = 0;
  out_text[0] = '\0';
  if (view->dims != NULL) {
    for (uint32_t k = 0; k < view->rank && k < 16 && used < capacity; ++k) {
      used += (size_t)snprintf(out_text + used, capacity - used, "%s%lld", k == 0 ? " [" : ", ",
                               (long long)view->dims[k]);
    }
  }
  if (used > 0 && used + 1 < capacity) {
    (void)snprintf(out_text + used, capacity - used, "]");
  }
}

tenon_status_t tenon__complete_view(const tenon_sink_t* sink, const char* what,
                                    const tenon_tensor_view_t* view,
                                    int64_t strides[TENON_RANK_LIMIT],
                                    tenon_tensor_view_t* out_view) {
  const char* fault = fault_of(view, strides);
  if (fault != NULL) {
    char dims[512];
    print_dims(view, dims, sizeof(dims));
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "%s: the view%s has %s", what, dims,
                       fault);
  }
  *out_view = *view;
  out_view->layout = TENON_NONE;
  if (view->strides == NULL) {
    out_view->strides = strides;
  }
  return TENON_OK;
}
