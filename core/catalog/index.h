/* Lists of entries, each under a key and in a fixed order: rank, plugin, name, then order of
 * insertion. Rejected entries stay in their lists and are skipped. Not thread-safe: the catalogue
 * locks. */
#ifndef TENON_CORE_CATALOG_INDEX_H_
#define TENON_CORE_CATALOG_INDEX_H_

#include "core/base/string_map.h"
#include "core/catalog/entry.h"
#include "core/catalog/kinds.h"

/* Strings are borrowed from the entry and live as long as the catalogue. */
typedef struct tenon__index_record_t {
  void* entry;
  const char* plugin;
  const char* name;
  int64_t rank;                      /* lower is first, for all plugins */
  const tenon__admission_t* verdict; /* NULL: the entry is never rejected */
} tenon__index_record_t;

/* Always sorted: insertion is linear, and reading needs only the catalogue's lock. */
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
/* Returns false if out of memory; the index is then unchanged. An entry may have several keys, and
 * is added once under each. */
bool tenon__index_add(tenon__index_t* index, const char* key, const tenon__index_record_t* record);
/* Returns the list of a key, which may be empty. Valid until the next add. */
const tenon__index_list_t* tenon__index_find(const tenon__index_t* index, const char* key);
/* Returns true if the record is not rejected. Call it for each record of a list. */
static inline bool tenon__index_holds(const tenon__index_record_t* record) {
  return record->verdict == NULL || record->verdict->fault == NULL;
}

/* Joins two or three parts (the third may be NULL) with ':'. Returns false if the key is too
 * long. */
bool tenon__catalog_key(const char* first, const char* second, const char* third,
                        char out_key[TENON_OFFER_NAME_LIMIT + 1]);

#endif
