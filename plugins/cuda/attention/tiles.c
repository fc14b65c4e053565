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
    {.rows = 1, .parts = 4, .tiles = 1, .groups = 2, .exchanged = 1},
    {.rows = 1, .parts = 8, .tiles = 2, .groups = 1, .exchanged = 1},
};
enum { ALL = sizeof(all) / sizeof(*all) };

/* Rows that are longer than what NVRTC finds registers for would be spilt: of 32 queries beyond 128
 * bytes, of keys that are not staged beyond 256, but for one group that is all there is. */
static bool has_registers(const tenon__cuda_attention_t* a, tenon__cuda_attention_choice_t choice) {
  const uint32_t features = a->features > a->results ? a->features : a->results;
  const uint32_t bytes = features * tenon__cuda_attention_bytes(choice.product);
  return choice.tiles > 1 ? bytes <= 128
                          : bytes <= 256 || choice.staged != 0 ||
                                (choice.groups == 1 && tenon__cuda_attention_is_once(a, choice));
}

/* Exchanged powers have 16 bits, and the warps of a block have all keys of a row. */
static bool is_possible(const tenon__cuda_attention_t* a, tenon__cuda_attention_choice_t choice) {
  return choice.exchanged == 0 ||
         (choice.product != TENON_CUDA_ATTENTION_TF32 && tenon__cuda_attention_is_once(a, choice));
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
  const double waits = choice.staged != 0 ? 0.25e-6 : choice.exchanged != 0 ? 0.3e-6 : 0.5e-6;
  const double work = 0.06e-6 * choice.groups * choice.tiles * (double)(a->features + a->results) /
                      256 * tenon__cuda_attention_bytes(choice.product);
  return 1.2e-6 + turns * (tiles * (waits + work) +
                           (choice.parts > 1 && choice.exchanged == 0 ? 0.2e-6 : 0));
}

uint32_t tenon__cuda_attention_choose(const tenon__cuda_attention_t* attention, uint8_t product,
                                      tenon__cuda_attention_choice_t* out_choices,
                                      double* out_seconds) {
  uint32_t count = 0;
  for (size_t k = 0; k < ALL; k++) {
    tenon__cuda_attention_choice_t choice = all[k];
    choice.product = product;
    const double seconds = estimate(attention, choice);
    uint32_t at = count;
    while (at > 0 && out_seconds[at - 1] > seconds) {
      at--;
    }
    if (at == TENON_CUDA_ATTENTION_TACTICS || !has_registers(attention, choice) ||
        !is_possible(attention, choice)) {
      continue;
    }
    count += count < TENON_CUDA_ATTENTION_TACTICS ? 1 : 0;
    memmove(&out_seconds[at + 1], &out_seconds[at], (count - at - 1) * sizeof(*out_seconds));
    memmove(&out_choices[at + 1], &out_choices[at], (count - at - 1) * sizeof(*out_choices));
    out_seconds[at] = seconds;
    out_choices[at] = choice;
  }
  return count;
}

bool tenon__cuda_attention_knows(tenon__cuda_attention_choice_t choice) {
  if (choice.product >= TENON_CUDA_ATTENTION_PRODUCTS || choice.by_heads > 1 ||
      (choice.exchanged != 0 && choice.product == TENON_CUDA_ATTENTION_TF32)) {
    return false;
  }
  choice.product = choice.by_heads = 0;
  bool found = false;
  for (size_t k = 0; k < ALL; k++) {
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
  const uint32_t bytes = tenon__cuda_attention_bytes(choice.product);
  const uint32_t lines = (bytes * attention->features + 63) / 64;
  const uint32_t k_pitch = (lines + 1 - lines % 2) * 64;
  const uint32_t v_pitch = (bytes * attention->results + 31) / 32 * 32;
  if (choice.staged != 0) {
    return 2 * (keys * (k_pitch + v_pitch) + keys / 4 * 32);
  }
  if (choice.exchanged != 0) {
    const uint32_t all_keys = keys * choice.parts;
    const uint32_t pitch = (attention->results / 8 | 1) * 16;
    return all_keys * pitch + 16U * choice.tiles * (all_keys * bytes + 16 + 2U * choice.parts * 4);
  }
  const uint32_t sums = 16U * choice.tiles * (attention->results + 4 + 2);
  return choice.parts == 1 ? 0 : 4U * choice.rows * choice.parts * sums;
}
