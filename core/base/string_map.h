/*
 * A hash map from strings to pointers or numbers. Keys are copied. Iteration is in order of
 * insertion. Not thread-safe. The hash has a random key of this process, so that names in a
 * malicious file cannot be chosen to collide. Results of iterations are nevertheless equal in all
 * processes, because they are in order of insertion.
 */
#ifndef TENON_CORE_BASE_STRING_MAP_H_
#define TENON_CORE_BASE_STRING_MAP_H_

#include <stdbool.h>

#include "tenon/plugin.h"

typedef union tenon__map_value_t {
  void* pointer;
  const void* const_pointer;
  uint64_t number;
} tenon__map_value_t;

/* All zeros except the allocator is an empty map, which has allocated nothing. Keys are never
 * removed. */
typedef struct tenon__string_map_t {
  tenon_allocator_t allocator;
  struct tenon__string_map_entry_t* entries;
  uint32_t* slots;
  size_t count;
  size_t entry_capacity;
  size_t slot_count;
} tenon__string_map_t;

void tenon__string_map_initialize(tenon__string_map_t* out_map, tenon_allocator_t allocator);
void tenon__string_map_deinitialize(tenon__string_map_t* map);
/* Sets or replaces a value. Returns false if out of memory; the map is then unchanged. */
bool tenon__string_map_set(tenon__string_map_t* map, const char* key, tenon__map_value_t value);
/* Returns NULL if absent; valid until the next set. */
const tenon__map_value_t* tenon__string_map_find(const tenon__string_map_t* map, const char* key);
/* Returns the pointer of a key; NULL if absent. */
void* tenon__string_map_pointer(const tenon__string_map_t* map, const char* key);
size_t tenon__string_map_count(const tenon__string_map_t* map);
/* Access by order of insertion; the index is below the count. The key is valid until the map
 * ends. */
const char* tenon__string_map_key(const tenon__string_map_t* map, size_t index);
tenon__map_value_t tenon__string_map_value(const tenon__string_map_t* map, size_t index);
/* Computes SipHash-1-3. With a constant seed the result is equal in all processes. */
uint64_t tenon__hash_bytes(const void* data, size_t size_bytes, uint64_t seed);

#endif
