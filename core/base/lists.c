/* Counts stand two keys further on; summed up, the end of each list stands one key further on, and
 * adding moves it from where the list begins to where it ends, which is the next one's beginning.
 */
#include "core/base/lists.h"

bool tenon__lists_begin(tenon__lists_t* out_lists, uint32_t key_count, tenon__arena_t* arena) {
  *out_lists = (tenon__lists_t){.key_count = key_count};
  out_lists->begin = tenon__arena_allocate(arena, (size_t)key_count + 2, sizeof *out_lists->begin);
  return out_lists->begin != NULL;
}

bool tenon__lists_lay_out(tenon__lists_t* lists, tenon__arena_t* arena) {
  for (uint32_t k = 0; k < lists->key_count; ++k) {
    lists->begin[k + 2] += lists->begin[k + 1];
  }
  lists->items =
      tenon__arena_allocate(arena, lists->begin[lists->key_count + 1], sizeof *lists->items);
  return lists->items != NULL;
}
