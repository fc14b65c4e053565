/* Losses, conversions, generators: see loss.cuh, conversion.cuh, generator.cuh. */
#include "../analysis.h"
#include "families.h"

void tenon__closed_bind_loss(tenon__closed_work_t* work) {
  tenon__closed_set_axis(work, 0, &work->in[0], 1);
  if (tenon__closed_is(work, "reduction", "none")) {
    tenon__closed_launch(work, 0, work->in[1].count);
  } else {
    tenon__closed_launch_blocks(work, 0, 1);
  }
}

const char* tenon__closed_refuse_bit_cast(const tenon__closed_work_t* work) {
  return tenon__cuda_bits(work->in[0].dtype) == tenon__cuda_bits(work->out[0].dtype)
             ? NULL
             : "types of different widths";
}

void tenon__closed_bind_arange(tenon__closed_work_t* work) {
  enum { MOST_THREADS = 1 << 16 };
  tenon__closed_launch(work, 0, 1);
  tenon__closed_launch(work, 1, MOST_THREADS);
}

void tenon__closed_extents_arange(const tenon__closed_work_t* work, const int64_t* found,
                                  uint32_t output, tenon__closed_shape_t* out_shape) {
  (void)work, (void)output;
  out_shape->rank = 1;
  out_shape->dims[0] = found[0];
}

void tenon__closed_bind_random(tenon__closed_work_t* work) {
  if (tenon__closed_int(work, "seed") == 0) {
    tenon__closed_launch(work, 0, 1);
  }
  tenon__closed_launch(work, 1, work->out[0].count);
}
