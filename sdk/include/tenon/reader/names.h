/* The code of tenon/reader.h: the hash map. */
#ifndef TENON_READER_NAMES_H_
#define TENON_READER_NAMES_H_

#include <string.h>

#include "tenon/reader.h"
#include "tenon/reader/memory.h"

enum { TENON_READER_NAMES_FIRST = 16 }; /* slots */

/* FNV-1a, then mixed: the low bits choose the slot. The map's own address is the seed. */
static inline uint64_t tenon_reader_names_hash(const tenon_reader_names_t* names, const void* data,
                                               size_t size_bytes) {
  const uint8_t* bytes = (const uint8_t*)data;
  uint64_t hash = 14695981039346656037u ^ ((uint64_t)(uintptr_t)names >> 4);
  for (size_t i = 0; i < size_bytes; ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
  return hash ^ (hash >> 32);
}

static inline bool tenon_reader_names_same(const void* a, const void* b, bool is_text) {
  return a == b || (is_text && strcmp((const char*)a, (const char*)b) == 0);
}

/* The slot that holds the key, or the free one where it belongs. */
static inline tenon_reader_name_t* tenon_reader_names_slot(const tenon_reader_names_t* names,
                                                           uint64_t hash, const void* key,
                                                           bool is_text) {
  size_t index = (size_t)hash & (names->capacity - 1);
  for (;;) {
    tenon_reader_name_t* slot = &names->slots[index];
    if (slot->key == NULL ||
        (slot->hash == hash && tenon_reader_names_same(slot->key, key, is_text))) {
      return slot;
    }
    index = (index + 1) & (names->capacity - 1);
  }
}

static inline tenon_status_t tenon_reader_names_grow(tenon_reader_t* reader,
                                                     tenon_reader_names_t* names) {
  tenon_reader_names_t larger = {NULL, TENON_READER_NAMES_FIRST, names->count};
  if (names->capacity > 0) {
    larger.capacity = names->capacity * 2;
  }
  larger.slots =
      (tenon_reader_name_t*)tenon_reader_allocate(reader, larger.capacity, sizeof(*larger.slots));
  if (larger.slots == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < names->capacity; ++i) {
    const tenon_reader_name_t* old = &names->slots[i];
    if (old->key != NULL) { /* all differ */
      *tenon_reader_names_slot(&larger, old->hash, old->key, false) = *old;
    }
  }
  *names = larger;
  return TENON_OK;
}

static inline tenon_status_t tenon_reader_names_put(tenon_reader_t* reader,
                                                    tenon_reader_names_t* names, uint64_t hash,
                                                    const void* key, bool is_text, void* value) {
  if (names->count * 4 >= names->capacity * 3) {
    TENON_READER_TRY(tenon_reader_names_grow(reader, names));
  }
  tenon_reader_name_t* slot = tenon_reader_names_slot(names, hash, key, is_text);
  if (slot->key == NULL) {
    slot->hash = hash;
    slot->key = key;
    ++names->count;
  }
  slot->value = value;
  return TENON_OK;
}

static inline void* tenon_reader_names_get(const tenon_reader_names_t* names, uint64_t hash,
                                           const void* key, bool is_text) {
  return names->capacity == 0 ? NULL : tenon_reader_names_slot(names, hash, key, is_text)->value;
}

static inline tenon_status_t tenon_reader_names_set(tenon_reader_t* reader,
                                                    tenon_reader_names_t* names, const char* name,
                                                    void* value) {
  const uint64_t hash = tenon_reader_names_hash(names, name, strlen(name));
  return tenon_reader_names_put(reader, names, hash, name, true, value);
}

static inline void* tenon_reader_names_find(const tenon_reader_names_t* names, const char* name) {
  const uint64_t hash = tenon_reader_names_hash(names, name, strlen(name));
  return tenon_reader_names_get(names, hash, name, true);
}

static inline tenon_status_t tenon_reader_addresses_set(tenon_reader_t* reader,
                                                        tenon_reader_names_t* names,
                                                        const void* key, void* value) {
  const uint64_t hash = tenon_reader_names_hash(names, &key, sizeof(key));
  return tenon_reader_names_put(reader, names, hash, key, false, value);
}

static inline void* tenon_reader_addresses_find(const tenon_reader_names_t* names,
                                                const void* key) {
  const uint64_t hash = tenon_reader_names_hash(names, &key, sizeof(key));
  return tenon_reader_names_get(names, hash, key, false);
}

#endif /* TENON_READER_NAMES_H_ */
