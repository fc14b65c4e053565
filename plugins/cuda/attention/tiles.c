/* Tiles of attention. */
#include "tiles.h"

#include <string.h>

/* Few queries want many blocks, and warps that share the keys; many want keys that a block reads
 * once. */
static const tenon__cuda_attention_choice_t all[] = {
    {.rows = 1, .parts = 8, .tiles = 1, .groups = 1},
    {.rows = 1, .parts = 4, .tiles = 1, .groups = 2},
    {.rows = 1, .parts = 8, .tiles = 1, .groups = 2},
    {.rows = 1, .parts = 4, .tiles = 1, .groups = 1},
    {.rows = 2, .parts = 4, .tiles = 1, .groups = 2},
    {.rows = 2, .parts = 1, .tiles = 1, .groups = 4, .staged = 1},
    {.rows = 4, .parts = 1, .tiles = 1, .groups = 2, .staged = 1},
    {.rows = 4, .parts = 1, .tiles = 1, .groups = 4, .staged = 1},
    {.rows = 4, .parts = 1, .tiles = 2, .groups = 2, .staged = 1},
};
enum { ALL = sizeof(all) / sizeof(*all) };

/* Of 32 queries with more features a warp has no registers for the sums. */
static bool has_registers(const tenon__cuda_attention_t* a, tenon__cuda_attention_choice_t choice) {
  return choice.tiles == 1 || (a->features <= 64 && a->results <= 64);
}

static int64_t up(int64_t count, int64_t step) {
  return (count + step - 1) / step;
}

/* Roughly, a GPU of the day: a launch with its first reading; what a tile of keys waits for, less
 * where it comes ahead; the work of a tile, in as many turns as the warps need. */
static double estimate(const tenon__cuda_attention_t* a, tenon__cuda_attention_choice_t choice) {
  const double warps_at_once = 132 * 12;
  const int64_t* y = a->y->dims_opt;
  const int64_t keys = a->kt->dims_opt[a->kt->rank - 1];
  double warps = (double)choice.rows * choice.parts *
                 (double)up(y[a->rank - 2], tenon__cuda_attention_queries(choice));
  for (uint32_t axis = 0; axis + 2 < a->rank; axis++) {
    warps *= (double)y[axis];
  }
  const double turns = warps > warps_at_once ? warps / warps_at_once : 1;
  const double tiles = (double)up(keys, (int64_t)16 * choice.groups * choice.parts);
  const double waits = choice.staged != 0 ? 0.25e-6 : 0.5e-6;
  const double work =
      0.06e-6 * choice.groups * choice.tiles * (double)(a->features + a->results) / 128;
  return 1.2e-6 + turns * (tiles * (waits + work) + (choice.parts > 1 ? 0.2e-6 : 0));
}

uint32_t tenon__cuda_attention_choose(const tenon__cuda_attention_t* attention,
                                      tenon__cuda_attention_choice_t* out_choices,
                                      double* out_seconds) {
  uint32_t count = 0;
  for (size_t k = 0; k < ALL; k++) {
    const double seconds = estimate(attention, all[k]);
    uint32_t at = count;
    while (at > 0 && out_seconds[at - 1] > seconds) {
      at--;
    }
    if (at == TENON_CUDA_ATTENTION_TACTICS || !has_registers(attention, all[k])) {
      continue;
    }
    count += count < TENON_CUDA_ATTENTION_TACTICS ? 1 : 0;
    memmove(&out_seconds[at + 1], &out_seconds[at], (count - at - 1) * sizeof(*out_seconds));
    memmove(&out_choices[at + 1], &out_choices[at], (count - at - 1) * sizeof(*out_choices));
    out_seconds[at] = seconds;
    out_choices[at] = all[k];
  }
  return count;
}

bool tenon__cuda_attention_knows(tenon__cuda_attention_choice_t choice) {
  bool knows = choice.is_brain <= 1 && choice.by_heads <= 1;
  choice.is_brain = choice.by_heads = 0;
  bool found = false;
  for (size_t k = 0; knows && k < ALL; k++) {
    found = found || memcmp(&choice, &all[k], sizeof(choice)) == 0;
  }
  return found;
}

bool tenon__cuda_attention_is_once(const tenon__cuda_attention_t* attention,
                                   tenon__cuda_attention_choice_t choice) {
  const int64_t most = attention->kt->dims_max[attention->kt->rank - 1];
  return choice.staged == 0 && most >= 0 && most <= (int64_t)16 * choice.groups * choice.parts;
}

uint32_t tenon__cuda_attention_shared(const tenon__cuda_attention_t* attention,
                                      tenon__cuda_attention_choice_t choice) {
  const uint32_t keys = 16U * choice.groups;
  const uint32_t lines = (2 * attention->features + 63) / 64;
  const uint32_t k_pitch = (lines % 2 == 1 ? lines : lines + 1) * 64;
  const uint32_t v_pitch = (2 * attention->results + 31) / 32 * 32;
  if (choice.staged != 0) {
    return 2 * (keys * (k_pitch + v_pitch) + keys / 4 * 32);
  }
  const uint32_t sums = 16U * choice.tiles * (attention->results + 4 + 2);
  return choice.parts == 1 ? 0 : 4U * choice.rows * choice.parts * sums;
}
