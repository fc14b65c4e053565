#include "names.h"

#include <string.h>

typedef struct tenon__uff_name_t {
  uint64_t hash;
  const char* key; /* NULL: free */
  void* value;
} tenon__uff_name_t;

enum { FIRST_CAPACITY = 16 };

/* FNV-1a, then mixed: the low bits choose the slot. The map's own address is the seed, so that no
 * file can be made whose names all collide. */
static uint64_t hash_name(const tenon__uff_names_t* names, const char* name) {
  uint64_t hash = 14695981039346656037u ^ ((uint64_t)(uintptr_t)names >> 4);
  for (; *name != '\0'; ++name) {
    hash = (hash ^ (uint8_t)*name) * 1099511628211u;
  }
  return hash ^ (hash >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static tenon__uff_name_t* slot_of(const tenon__uff_names_t* names, uint64_t hash,
                                  const char* name) {
  size_t index = (size_t)hash & (names->capacity - 1);
  for (;;) {
    tenon__uff_name_t* slot = &names->slots[index];
    if (slot->key == NULL || (slot->hash == hash && strcmp(slot->key, name) == 0)) {
      return slot;
    }
    index = (index + 1) & (names->capacity - 1);
  }
}

static tenon_status_t grow(tenon__uff_context_t* context, tenon__uff_names_t* names) {
  tenon__uff_names_t larger = {0};
  larger.capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2;
  larger.slots = tenon__uff_allocate(context, larger.capacity, sizeof(*larger.slots));
  if (larger.slots == NULL) {
    return UFF_FAIL_MEMORY(context);
  }
  for (size_t i = 0; i < names->capacity; ++i) {
    const tenon__uff_name_t* old = &names->slots[i];
    if (old->key != NULL) {
      *slot_of(&larger, old->hash, old->key) = *old;
    }
  }
  larger.count = names->count;
  *names = larger;
  return TENON_OK;
}

tenon_status_t tenon__uff_names_set(tenon__uff_context_t* context, tenon__uff_names_t* names,
                                    const char* name, void* value) {
  const uint64_t hash = hash_name(names, name);
  if (names->count * 4 >= names->capacity * 3) {
    UFF_TRY(grow(context, names));
  }
  tenon__uff_name_t* slot = slot_of(names, hash, name);
  if (slot->key == NULL) {
    slot->hash = hash;
    slot->key = name;
    ++names->count;
  }
  slot->value = value;
  return TENON_OK;
}

void* tenon__uff_names_find(const tenon__uff_names_t* names, const char* name) {
  return names->capacity == 0 ? NULL : slot_of(names, hash_name(names, name), name)->value;
}
