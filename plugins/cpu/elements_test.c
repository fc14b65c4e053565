/* Block functions of each instruction set against plain loops. */
#include <math.h>

#include "fake_run.h"

enum { MOST = 150 };

static float fold_of(const tenon__cpu_isa_t* isa, uint32_t opcode, float start, const float* x,
                     size_t count) {
  isa->elements->fold[opcode][TENON_CPU_TYPE_F32](&start, x, count);
  return start;
}

TENON_TEST(extremes_find_the_element_and_nan_at_every_place) {
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  for (uint32_t s = 0; s < state_count; s++) {
    for (size_t count = 1; count <= MOST; count++) {
      float x[MOST];
      for (size_t k = 0; k < count; k++) {
        x[k] = (float)(k % 7) - 3;
      }
      for (size_t place = 0; place < count; place++) {
        const float kept = x[place];
        x[place] = -9;
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MIN, INFINITY, x, count), -9, 0);
        x[place] = 9;
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, -INFINITY, x, count), 9, 0);
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, 10, x, count), 10, 0);
        x[place] = NAN;
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MIN, INFINITY, x, count)));
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, -INFINITY, x, count)));
        x[place] = kept;
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, NAN, x, count)));
      }
    }
  }
}
