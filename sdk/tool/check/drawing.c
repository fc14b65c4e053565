/* See drawing.h. */
#include "check/drawing.h"

#include <string.h>

void check_drawing_begin(check_drawing_t* d) {
  static const int64_t small[] = {1, 2, 3, 4, 5, 6};
  static const int64_t medium[] = {7, 8, 9, 11, 15, 16, 17, 23, 31, 32, 33};
  static const int64_t large[] = {48, 63, 64, 65, 96, 100, 127, 129, 200, 257};
  const uint32_t flavour = d->wish->is_wide ? 3 : check_random_pick(d->random, 4);
  for (uint32_t i = 0; i < CHECK_PALETTE; ++i) {
    d->palette[i] = small[check_random_pick(d->random, 6)];
    if (flavour >= 1 && i < 2) {
      d->palette[i] = medium[check_random_pick(d->random, 11)];
    }
  }
  if (flavour >= 2) {
    d->palette[0] = large[check_random_pick(d->random, 10)];
  }
  if (d->wish->is_wide) {
    d->palette[0] *= 8;
    d->palette[2] = large[check_random_pick(d->random, 10)];
  }
  d->palette[1] = d->wish->is_empty ? 0 : d->palette[1];
  d->rank = check_random_chance(d->random, 20) ? 4 : 1 + check_random_pick(d->random, 4);
}

int64_t check_drawing_extent(check_drawing_t* d) {
  const int64_t extent = d->palette[check_random_pick(d->random, CHECK_PALETTE)];
  return check_random_chance(d->random, 12) ? extent * (2 + check_random_pick(d->random, 3))
                                            : extent;
}

void* check_drawing_take(check_drawing_t* d, const void* data, size_t data_bytes,
                         size_t size_bytes) {
  check_case_t* c = d->c;
  const size_t size = (size_bytes + 7) / 8 * 8;
  if (size > sizeof(c->pool) - c->pool_used) {
    return NULL;
  }
  void* memory = c->pool + c->pool_used;
  c->pool_used += size;
  memset(memory, 0, size);
  return data_bytes > 0 ? memcpy(memory, data, data_bytes) : memory;
}
