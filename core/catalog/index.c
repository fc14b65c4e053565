/* Sorted lists in a hash map. */
#include "core/catalog/index.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"

void tenon__index_initialize(tenon__index_t* out_index, tenon_allocator_t allocator) {
  out_index->allocator = allocator;
  tenon__string_map_initialize(&out_index->lists, allocator);
}

static void destroy_list(tenon_allocator_t allocator, tenon__index_list_t* list) {
  tenon__free(allocator, list->records, list->capacity * sizeof(tenon__index_record_t));
  tenon__free(allocator, list, sizeof(*list));
}

void tenon__index_deinitialize(tenon__index_t* index) {
  const size_t count = tenon__string_map_count(&index->lists);
  for (size_t i = 0; i < count; ++i) {
    destroy_list(index->allocator, tenon__string_map_value(&index->lists, i).pointer);
  }
  tenon__string_map_deinitialize(&index->lists);
}

static int compare(const tenon__index_record_t* a, const tenon__index_record_t* b) {
  if (a->rank != b->rank) {
    return a->rank < b->rank ? -1 : 1;
  }
  const int plugins = strcmp(a->plugin, b->plugin);
  return plugins != 0 ? plugins : strcmp(a->name, b->name);
}

static tenon__index_list_t* find_list(const tenon__index_t* index, const char* key) {
  return tenon__string_map_pointer(&index->lists, key);
}

static tenon__index_list_t* find_or_make_list(tenon__index_t* index, const char* key) {
  tenon__index_list_t* list = find_list(index, key);
  if (list != NULL) {
    return list;
  }
  list = tenon__allocate(index->allocator, 1, sizeof(*list));
  if (list == NULL) {
    return NULL;
  }
  if (!tenon__string_map_set(&index->lists, key, (tenon__map_value_t){.pointer = list})) {
    destroy_list(index->allocator, list);
    return NULL;
  }
  return list;
}

bool tenon__index_add(tenon__index_t* index, const char* key, const tenon__index_record_t* record) {
  tenon__index_list_t* list = find_or_make_list(index, key);
  if (list == NULL ||
      !TENON_GROW(index->allocator, list->records, list->capacity, list->count + 1)) {
    return false;
  }
  size_t place = list->count;
  while (place > 0 && compare(&list->records[place - 1], record) > 0) {
    --place;
  }
  memmove(&list->records[place + 1], &list->records[place],
          (list->count - place) * sizeof(tenon__index_record_t));
  list->records[place] = *record;
  ++list->count;
  return true;
}

const tenon__index_list_t* tenon__index_find(const tenon__index_t* index, const char* key) {
  static const tenon__index_list_t none = {.count = 0};
  const tenon__index_list_t* list = find_list(index, key);
  return list == NULL ? &none : list;
}

bool tenon__catalog_key(const char* first, const char* second, const char* third,
                        char out_key[TENON_OFFER_NAME_LIMIT + 1]) {
  const int length = snprintf(out_key, TENON_OFFER_NAME_LIMIT + 1, "%s:%s%s%s", first, second,
                              third == NULL ? "" : ":", third == NULL ? "" : third);
  return length >= 0 && length <= TENON_OFFER_NAME_LIMIT;
}
