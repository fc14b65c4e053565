/* Strided copies of boxes against plain loops: any order of axes, short rows, repeated and reversed
 * axes, any division into tasks. */
#include <stdlib.h>

#include "copy.h"
#include "fake_run.h"

enum { RANK = 5, MOST = 1 << 16 };

typedef struct box_t {
  int64_t extents[RANK];
  int64_t out[RANK];
  int64_t in[RANK];
  int64_t out_count;
  int64_t in_first; /* the first element is not the lowest if strides are negative */
  int64_t in_count;
} box_t;

static int64_t coordinate(const box_t* box, int64_t* inout_number, uint32_t axis) {
  const int64_t at = *inout_number % box->extents[axis];
  *inout_number /= box->extents[axis];
  return at;
}

/* Dense strides in a random order of the axes, on each side. */
static box_t random_box(unsigned* seed) {
  box_t box = {.out_count = 1, .in_count = 1};
  for (uint32_t k = 0; k < RANK; k++) {
    static const int64_t few[] = {1, 1, 2, 3, 4, 7, 8, 9};
    box.extents[k] =
        fake_choice(seed, 0, 5) == 0 ? fake_choice(seed, 10, 40) : few[fake_choice(seed, 0, 7)];
  }
  const uint32_t turn = (uint32_t)fake_choice(seed, 0, RANK - 1);
  const bool swaps = fake_choice(seed, 0, 1) == 1;
  for (uint32_t k = RANK; k-- > 0;) {
    const uint32_t axis = swaps ? (k + turn) % RANK : k;
    const bool repeats = fake_choice(seed, 0, 6) == 0;
    const int64_t sign = fake_choice(seed, 0, 9) == 0 ? -1 : 1;
    box.out[k] = box.out_count;
    box.out_count *= box.extents[k];
    box.in[axis] = repeats ? 0 : sign * box.in_count;
    box.in_first += sign < 0 && !repeats ? (box.extents[axis] - 1) * box.in_count : 0;
    box.in_count *= repeats ? 1 : box.extents[axis] + fake_choice(seed, 0, 1);
  }
  return box;
}

static void check(const tenon__cpu_isa_t* isa, const box_t* box, size_t bytes, unsigned* seed,
                  uint8_t* memory) {
  uint8_t* in = memory;
  uint8_t* out = memory + (size_t)MOST * 16;
  tenon__cpu_copy_t copy;
  memset(out, 0xEE, ((size_t)box->out_count + 1) * bytes);
  REQUIRE(tenon__cpu_copy_plan(RANK, box->extents, box->out, box->in, bytes, &copy));
  const int64_t cut = fake_choice(seed, 0, copy.tasks);
  const char* first = (const char*)in + (size_t)box->in_first * bytes;
  tenon__cpu_copy_run(isa->elements, &copy, out, first, cut, copy.tasks);
  tenon__cpu_copy_run(isa->elements, &copy, out, first, 0, cut);
  for (int64_t k = 0; k < box->out_count && tenon__test_failures == 0; k++) {
    int64_t number = k;
    int64_t from = box->in_first;
    for (uint32_t axis = RANK; axis-- > 0;) {
      from += coordinate(box, &number, axis) * box->in[axis];
    }
    EXPECT(memcmp(out + (size_t)k * bytes, in + (size_t)from * bytes, bytes) == 0);
  }
  EXPECT(out[(size_t)box->out_count * bytes] == 0xEE);
}

TENON_TEST(boxes_are_copied) {
  static const size_t sizes[] = {1, 2, 4, 8, 16};
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  uint8_t* memory = malloc((size_t)MOST * 16 * 2 + 16);
  unsigned seed = 9;
  REQUIRE(memory != NULL);
  for (size_t k = 0; k < (size_t)MOST * 16; k++) {
    memory[k] = (uint8_t)(fake_random(&seed) * 128);
  }
  for (int round = 0; round < 1500 && tenon__test_failures == 0; round++) {
    const box_t box = random_box(&seed);
    if (box.in_count < MOST && box.out_count < MOST) {
      check(states[round % (int)count].isa, &box, sizes[round % 5], &seed, memory);
    }
  }
  free(memory);
}
