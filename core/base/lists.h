/*
 * For each of many keys a list of numbers, all in one array: who reads a value, who waits for a
 * group. Made in two passes over the same things: each is announced, then added. Two passes cost
 * less than lists that grow, and leave no gaps. begin, announce each, lay_out, add each in the same
 * order; then count and get.
 */
#ifndef TENON_CORE_BASE_LISTS_H_
#define TENON_CORE_BASE_LISTS_H_

#include <assert.h>
#include <string.h>

#include "core/base/arena.h"

/* Both arrays lie in the arena; `begin` has key_count + 2 entries, which mean something else
 * between the passes. */
typedef struct tenon__lists_t {
  uint32_t key_count;
  uint32_t* begin; /* list k is items[begin[k]] to items[begin[k + 1]] once all are added */
  uint32_t* items;
} tenon__lists_t;

/* Keys 0 to key_count - 1, nothing announced; in the arena. False when memory is out. */
bool tenon__lists_begin(tenon__lists_t* out_lists, uint32_t key_count, tenon__arena_t* arena);
/* Between both passes: room for all that was announced. False when memory is out. */
bool tenon__lists_lay_out(tenon__lists_t* lists, tenon__arena_t* arena);

/* One item more for the key. In the first pass alone. */
static inline void tenon__lists_announce(tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  lists->begin[key + 2] += 1;
}

/* At the end of the key's list. */
static inline void tenon__lists_add(tenon__lists_t* lists, uint32_t key, uint32_t item) {
  assert(key < lists->key_count);
  lists->items[lists->begin[key + 1]++] = item;
}

/* Once all that was announced is added; in the order in which it was. */
static inline uint32_t tenon__lists_count(const tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  return lists->begin[key + 1] - lists->begin[key];
}

static inline const uint32_t* tenon__lists_get(const tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  return lists->items + lists->begin[key];
}

/* Is the word one of these? */
static inline bool tenon__words_hold(const char* const* words, size_t count, const char* word) {
  size_t at = 0;
  while (at < count && strcmp(words[at], word) != 0) {
    ++at;
  }
  return at < count;
}

/* Is the number one of these? */
static inline bool tenon__list_holds(const uint32_t* numbers, uint32_t count, uint32_t number) {
  for (uint32_t k = 0; k < count; ++k) {
    if (numbers[k] == number) {
      return true;
    }
  }
  return false;
}

#endif
