/* Ranges of floats. */
#include <math.h>

#include "kernels.h"

tenon_status_t tenon__compute_arange_float(tenon__work_t* work) {
  double start = tenon__work_scalar(work, 0, 0.0);
  double limit = tenon__work_scalar(work, 1, 0.0);
  double delta = tenon__work_scalar(work, 2, 1.0);
  double steps = delta == 0.0 ? 0.0 : ceil((limit - start) / delta);
  if (delta == 0.0 || isnan(steps) || steps > 0x1p40) {
    return tenon__work_fail(work, "no range from %g to %g by %g", start, limit, delta);
  }
  int64_t count = steps > 0.0 ? (int64_t)steps : 0;
  tenon_status_t status = tenon__work_allocate(work, 0, 1, &count);
  for (int64_t place = 0; status == TENON_OK && place < count; ++place) {
    tenon__number_t value = {.f = start + (double)place * delta};
    status = tenon__work_put(work, 0, place, value);
  }
  return status;
}
