/* A set of names as a hash table with open addressing. */
#include "export/names.h"

#include <stdint.h>
#include <string.h>

#include "text/memory.h"

enum { FIRST_CAPACITY = 64 };

/* FNV-1a, then mixed: the low bits choose the slot. */
static size_t hash_of(const char* name) {
  uint64_t hash = 14695981039346656037u;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ (uint8_t)*name) * 1099511628211u;
  }
  return (size_t)(hash ^ (hash >> 32));
}

/* The slot that holds the name, or the free one where it belongs. */
static char** slot_of(const tool_names_t* names, const char* name) {
  size_t index = hash_of(name) & (names->capacity - 1);
  while (names->slots[index] != NULL && strcmp(names->slots[index], name) != 0) {
    index = (index + 1) & (names->capacity - 1);
  }
  return &names->slots[index];
}

static void grow(tool_names_t* names) {
  tool_names_t larger = {.capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2,
                         .count = names->count};
  larger.slots = tool_allocate(larger.capacity, sizeof(*larger.slots));
  for (size_t i = 0; i < names->capacity; ++i) {
    if (names->slots[i] != NULL) {
      *slot_of(&larger, names->slots[i]) = names->slots[i];
    }
  }
  tool_free(names->slots);
  *names = larger;
}

bool tool_names_add(tool_names_t* names, const char* name) {
  if (names->count * 4 >= names->capacity * 3) {
    grow(names);
  }
  char** slot = slot_of(names, name);
  if (*slot != NULL) {
    return false;
  }
  *slot = tool_copy_text(name);
  ++names->count;
  return true;
}

bool tool_names_has(const tool_names_t* names, const char* name) {
  return names->capacity > 0 && *slot_of(names, name) != NULL;
}

void tool_names_free(tool_names_t* names) {
  for (size_t i = 0; i < names->capacity; ++i) {
    tool_free(names->slots[i]);
  }
  tool_free(names->slots);
  *names = (tool_names_t){0};
}
