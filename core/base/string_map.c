/* Entries in order of insertion, found through a table of slots with linear probing; a slot is 0 or
 * an entry's number plus 1. The hash is SipHash-1-3 with a key of this process, so that names in a
 * hostile file cannot be chosen to collide. */
#include "core/base/string_map.h"

#include <assert.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/base/allocator.h"

typedef struct tenon__string_map_entry_t {
  char* key;
  uint64_t hash;
  tenon__map_value_t value;
} tenon__string_map_entry_t;

static uint64_t rotate_left(uint64_t x, unsigned n) {
  return (x << n) | (x >> (64u - n));
}

static void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = rotate_left(v[1], 13) ^ v[0];
  v[0] = rotate_left(v[0], 32);
  v[2] += v[3];
  v[3] = rotate_left(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotate_left(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotate_left(v[1], 17) ^ v[2];
  v[2] = rotate_left(v[2], 32);
}

/* Aumasson and Bernstein, "SipHash: a fast short-input PRF"; one round a word, three at the end. */
uint64_t tenon__hash_bytes(const void* data, size_t size_bytes, uint64_t seed) {
  const uint64_t key[2] = {seed, ~seed};
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                   key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
  const uint8_t* bytes = data;
  const size_t last = size_bytes - size_bytes % 8;
  for (size_t i = 0; i <= last; i += 8) {
    const size_t count = i < last ? 8 : size_bytes - last;
    uint64_t word = i < last ? 0 : (uint64_t)size_bytes << 56;
    for (size_t k = 0; k < count; ++k) {
      word |= (uint64_t)bytes[i + k] << (8 * k);
    }
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
  }
  v[2] ^= 0xff;
  sip_round(v);
  sip_round(v);
  sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Sixteen random bytes that the kernel gives to each process. */
static uint64_t process_seed(void) {
  const unsigned long address = getauxval(AT_RANDOM);
  uint64_t seed = 0;
  if (address != 0) {
    memcpy(&seed, (const void*)address, sizeof(seed)); /* NOLINT(performance-no-int-to-ptr) */
  }
  return seed;
}

static uint64_t hash_key(const char* key) {
  return tenon__hash_bytes(key, strlen(key), process_seed());
}

void tenon__string_map_initialize(tenon__string_map_t* out_map, tenon_allocator_t allocator) {
  *out_map = (tenon__string_map_t){.allocator = allocator};
}

void tenon__string_map_deinitialize(tenon__string_map_t* map) {
  for (size_t i = 0; i < map->count; ++i) {
    tenon__free(map->allocator, map->entries[i].key, strlen(map->entries[i].key) + 1);
  }
  tenon__free(map->allocator, map->entries, map->entry_capacity * sizeof(*map->entries));
  tenon__free(map->allocator, map->slots, map->slot_count * sizeof(*map->slots));
  tenon__string_map_initialize(map, map->allocator);
}

/* The slot of `key`, or the free slot where it would go. There is always a free one. */
static size_t find_slot(const tenon__string_map_t* map, const char* key, uint64_t hash) {
  const size_t mask = map->slot_count - 1;
  size_t slot = (size_t)hash & mask;
  while (map->slots[slot] != 0) {
    const tenon__string_map_entry_t* entry = &map->entries[map->slots[slot] - 1];
    if (entry->hash == hash && strcmp(entry->key, key) == 0) {
      break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

/* At most three quarters of the slots are taken. */
static bool grow_slots(tenon__string_map_t* map) {
  if (map->count < map->slot_count / 4 * 3) {
    return true;
  }
  const size_t slot_count = map->slot_count > 0 ? map->slot_count * 2 : 16;
  uint32_t* slots = tenon__allocate(map->allocator, slot_count, sizeof(*slots));
  if (slots == NULL) {
    return false;
  }
  tenon__free(map->allocator, map->slots, map->slot_count * sizeof(*map->slots));
  map->slots = slots;
  map->slot_count = slot_count;
  for (size_t i = 0; i < map->count; ++i) {
    map->slots[find_slot(map, map->entries[i].key, map->entries[i].hash)] = (uint32_t)i + 1;
  }
  return true;
}

bool tenon__string_map_set(tenon__string_map_t* map, const char* key, tenon__map_value_t value) {
  const uint64_t hash = hash_key(key);
  if (map->slot_count > 0) {
    const size_t slot = find_slot(map, key, hash);
    if (map->slots[slot] != 0) {
      map->entries[map->slots[slot] - 1].value = value;
      return true;
    }
  }
  if (map->count >= UINT32_MAX - 1 || !grow_slots(map) ||
      !TENON_GROW(map->allocator, map->entries, map->entry_capacity, map->count + 1)) {
    return false;
  }
  const size_t key_size = strlen(key) + 1;
  char* copy = tenon__allocate(map->allocator, 1, key_size);
  if (copy == NULL) {
    return false;
  }
  memcpy(copy, key, key_size);
  map->entries[map->count] = (tenon__string_map_entry_t){copy, hash, value};
  map->slots[find_slot(map, key, hash)] = (uint32_t)map->count + 1;
  ++map->count;
  return true;
}

const tenon__map_value_t* tenon__string_map_find(const tenon__string_map_t* map, const char* key) {
  if (map->count == 0) {
    return NULL;
  }
  const uint32_t number = map->slots[find_slot(map, key, hash_key(key))];
  return number != 0 ? &map->entries[number - 1].value : NULL;
}

void* tenon__string_map_pointer(const tenon__string_map_t* map, const char* key) {
  const tenon__map_value_t* value = tenon__string_map_find(map, key);
  return value == NULL ? NULL : value->pointer;
}

size_t tenon__string_map_count(const tenon__string_map_t* map) {
  return map->count;
}

const char* tenon__string_map_key(const tenon__string_map_t* map, size_t index) {
  assert(index < map->count);
  return map->entries[index].key;
}

tenon__map_value_t tenon__string_map_value(const tenon__string_map_t* map, size_t index) {
  assert(index < map->count);
  return map->entries[index].value;
}
