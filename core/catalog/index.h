/* Lists of what is on offer, each under a name and in a fixed order: rank, plugin, name, then order
 * of insertion. What is left out stays in its lists, and is skipped. Not thread safe: the catalogue
 * locks. */
#ifndef TENON_CORE_CATALOG_INDEX_H_
#define TENON_CORE_CATALOG_INDEX_H_

#include "core/base/string_map.h"
#include "core/catalog/entry.h"
#include "core/catalog/kinds.h"

/* Strings are borrowed from who is entered, and live as long as the catalogue. */
typedef struct tenon__index_record_t {
  void* entry;
  const char* plugin;
  const char* name;
  int64_t rank;                      /* lower comes first, whatever the plugin */
  const tenon__admission_t* verdict; /* NULL: nothing can turn out about it */
} tenon__index_record_t;

/* Sorted at all times: inserting is linear, and reading needs no lock but the catalogue's. */
typedef struct tenon__index_list_t {
  tenon__index_record_t* records;
  size_t count;
  size_t capacity;
} tenon__index_list_t;

typedef struct tenon__index_t {
  tenon_allocator_t allocator;
  tenon__string_map_t lists;
} tenon__index_t;

void tenon__index_initialize(tenon__index_t* out_index, tenon_allocator_t allocator);
void tenon__index_deinitialize(tenon__index_t* index);
/* False when memory is out: the index is as before. One thing may stand under several names; under
 * one it is entered once. */
bool tenon__index_add(tenon__index_t* index, const char* key, const tenon__index_record_t* record);
/* Empty when there is nothing under this key; valid until the next add. */
const tenon__index_list_t* tenon__index_find(const tenon__index_t* index, const char* key);
/* To be asked of each record of a list. */
static inline bool tenon__index_holds(const tenon__index_record_t* record) {
  return record->verdict == NULL || record->verdict->fault == NULL;
}

/* Joins two or three parts (third may be NULL) with ':'; false when the name is too long. */
bool tenon__catalog_key(const char* first, const char* second, const char* third,
                        char out_key[TENON_OFFER_NAME_LIMIT + 1]);

#endif
