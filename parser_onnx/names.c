#include "names.h"

#include <string.h>

typedef struct tenon__onnx_name_t {
  uint64_t hash;
  const void* key; /* NULL: free */
  void* value;
} tenon__onnx_name_t;

enum { FIRST_CAPACITY = 16 };

/* FNV-1a, then mixed: the low bits choose the slot. The map's own address is the seed, so that no
 * file can be made whose names all collide. */
static uint64_t hash_bytes(const tenon__onnx_names_t* names, const void* data, size_t size) {
  const uint8_t* bytes = data;
  uint64_t hash = 14695981039346656037u ^ ((uint64_t)(uintptr_t)names >> 4);
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
  return hash ^ (hash >> 32);
}

static bool same_key(const void* a, const void* b, bool is_text) {
  return a == b || (is_text && strcmp(a, b) == 0);
}

/* The slot that holds the key, or the free one where it belongs. */
static tenon__onnx_name_t* slot_of(const tenon__onnx_names_t* names, uint64_t hash, const void* key,
                                   bool is_text) {
  size_t index = (size_t)hash & (names->capacity - 1);
  for (;;) {
    tenon__onnx_name_t* slot = &names->slots[index];
    if (slot->key == NULL || (slot->hash == hash && same_key(slot->key, key, is_text))) {
      return slot;
    }
    index = (index + 1) & (names->capacity - 1);
  }
}

static tenon_status_t grow(tenon__onnx_context_t* context, tenon__onnx_names_t* names) {
  tenon__onnx_names_t larger = {0};
  larger.capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2;
  larger.slots = tenon__onnx_allocate(context, larger.capacity, sizeof(*larger.slots));
  if (larger.slots == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  for (size_t i = 0; i < names->capacity; ++i) {
    const tenon__onnx_name_t* old = &names->slots[i];
    if (old->key != NULL) {
      *slot_of(&larger, old->hash, old->key, false) = *old;
    }
  }
  larger.count = names->count;
  *names = larger;
  return TENON_OK;
}

static tenon_status_t set(tenon__onnx_context_t* context, tenon__onnx_names_t* names, uint64_t hash,
                          const void* key, bool is_text, void* value) {
  if (names->count * 4 >= names->capacity * 3) {
    ONNX_TRY(grow(context, names));
  }
  tenon__onnx_name_t* slot = slot_of(names, hash, key, is_text);
  if (slot->key == NULL) {
    slot->hash = hash;
    slot->key = key;
    ++names->count;
  }
  slot->value = value;
  return TENON_OK;
}

static void* find(const tenon__onnx_names_t* names, uint64_t hash, const void* key, bool is_text) {
  return names->capacity == 0 ? NULL : slot_of(names, hash, key, is_text)->value;
}

tenon_status_t tenon__onnx_names_set(tenon__onnx_context_t* context, tenon__onnx_names_t* names,
                                     const char* name, void* value) {
  return set(context, names, hash_bytes(names, name, strlen(name)), name, true, value);
}

void* tenon__onnx_names_find(const tenon__onnx_names_t* names, const char* name) {
  return find(names, hash_bytes(names, name, strlen(name)), name, true);
}

tenon_status_t tenon__onnx_addresses_set(tenon__onnx_context_t* context, tenon__onnx_names_t* names,
                                         const void* key, void* value) {
  return set(context, names, hash_bytes(names, &key, sizeof(key)), key, false, value);
}

void* tenon__onnx_addresses_find(const tenon__onnx_names_t* names, const void* key) {
  return find(names, hash_bytes(names, &key, sizeof(key)), key, false);
}
