/*
 * A list of numbers for each of many keys, all in one array, for example the readers of each value.
 * Lists are made in two passes over the same items, which costs less than growing lists and leaves
 * no gaps: call begin, announce for each item, lay_out, and add for each item in the same order;
 * then count and get.
 */
#ifndef TENON_CORE_BASE_LISTS_H_
#define TENON_CORE_BASE_LISTS_H_

#include <assert.h>
#include <string.h>

#include "core/base/arena.h"

/* Both arrays are in the arena. `begin` has key_count + 2 entries, which have another meaning
 * between the passes. */
typedef struct tenon__lists_t {
  uint32_t key_count;
  uint32_t* begin; /* list k is items[begin[k]] to items[begin[k + 1]] after all additions */
  uint32_t* items;
} tenon__lists_t;

/* Begins lists for keys 0 to key_count - 1, in the arena. Returns false if out of memory. */
bool tenon__lists_begin(tenon__lists_t* out_lists, uint32_t key_count, tenon__arena_t* arena);
/* Between the passes: allocates memory for all announced items. Returns false if out of memory. */
bool tenon__lists_lay_out(tenon__lists_t* lists, tenon__arena_t* arena);

/* Announces one item for the key, in the first pass. */
static inline void tenon__lists_announce(tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  lists->begin[key + 2] += 1;
}

/* Adds an item to the key's list, in the second pass. */
static inline void tenon__lists_add(tenon__lists_t* lists, uint32_t key, uint32_t item) {
  assert(key < lists->key_count);
  lists->items[lists->begin[key + 1]++] = item;
}

/* After all additions: return the items of a key, in order of addition. */
static inline uint32_t tenon__lists_count(const tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  return lists->begin[key + 1] - lists->begin[key];
}

static inline const uint32_t* tenon__lists_get(const tenon__lists_t* lists, uint32_t key) {
  assert(key < lists->key_count);
  return lists->items + lists->begin[key];
}

/* Returns true if the word is in the array. */
static inline bool tenon__words_hold(const char* const* words, size_t count, const char* word) {
  size_t at = 0;
  while (at < count && strcmp(words[at], word) != 0) {
    ++at;
  }
  return at < count;
}

/* Returns true if the number is in the array. */
static inline bool tenon__list_holds(const uint32_t* numbers, uint32_t count, uint32_t number) {
  for (uint32_t k = 0; k < count; ++k) {
    if (numbers[k] == number) {
      return true;
    }
  }
  return false;
}

#endif
