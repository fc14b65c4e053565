/* Owners, and the promises that they keep: the names of a plugin's offers are known before the plugin
 * is loaded. */
#include "core/catalog/promises.h"

#include <string.h>

#include "core/base/allocator.h"

/* The newest first: a registry promises and adds plugin by plugin. */
static tenon__owner_slot_t* find_slot(const tenon__catalog_t* catalog,
                                      const tenon__owner_t* owner) {
  for (size_t i = catalog->owner_count; i > 0; --i) {
    if (catalog->owners[i - 1]->owner == owner) {
      return catalog->owners[i - 1];
    }
  }
  return NULL;
}

tenon__owner_slot_t* tenon__promises_slot(tenon__catalog_t* catalog, const tenon__owner_t* owner) {
  tenon__owner_slot_t* slot = find_slot(catalog, owner);
  if (slot != NULL) {
    return slot;
  }
  if (!TENON_GROW(catalog->allocator, catalog->owners, catalog->owner_capacity,
                  catalog->owner_count + 1)) {
    return NULL;
  }
  slot = tenon__arena_allocate(&catalog->arena, 1, sizeof(*slot));
  if (slot != NULL) {
    slot->owner = owner;
    slot->readiness = owner->make_ready == NULL ? TENON_READINESS_DONE : TENON_READINESS_PROMISED;
    catalog->owners[catalog->owner_count++] = slot;
  }
  return slot;
}

static bool is_promised(const tenon__index_t* promises, const char* name,
                        const tenon__owner_slot_t* slot) {
  const tenon__index_list_t* list = tenon__index_find(promises, name);
  for (size_t i = 0; i < list->count; ++i) {
    if (list->records[i].entry == slot) {
      return true;
    }
  }
  return false;
}

bool tenon__promises_enter(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                           tenon__owner_slot_t* slot, const char* name) {
  tenon__index_t* promises = &catalog->promises[kind];
  const tenon__index_record_t record = {
      .entry = slot, .plugin = slot->owner->plugin, .name = "", .rank = slot->owner->search_rank};
  const uint32_t bit = 1u << (unsigned)kind;
  if ((slot->promised_kinds & bit) == 0) {
    if (!tenon__index_add(promises, TENON_PROMISES_ALL, &record)) {
      return false;
    }
    slot->promised_kinds |= bit;
  }
  return is_promised(promises, name, slot) || tenon__index_add(promises, name, &record);
}

void tenon__promises_make_ready(tenon__catalog_t* catalog, tenon__owner_slot_t* slot,
                                const tenon_sink_t* sink) {
  if (slot->readiness != TENON_READINESS_PROMISED || slot->promiser == NULL) {
    return;
  }
  tenon__owner_t* owner = slot->promiser;
  slot->readiness = TENON_READINESS_BUSY;
  slot->status = owner->make_ready(owner->user, owner, catalog, sink);
  slot->readiness = TENON_READINESS_DONE;
}

bool tenon__promises_load(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                          const tenon_sink_t* sink) {
  tenon__owner_slot_t* slot = find_slot(catalog, owner);
  const bool is_new = slot != NULL && slot->readiness == TENON_READINESS_PROMISED;
  if (is_new) {
    tenon__promises_make_ready(catalog, slot, sink);
  }
  return is_new && slot->readiness == TENON_READINESS_DONE;
}

/* Those at a place before `end`. */
static void keep_promises_of(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                             int64_t end, const tenon_sink_t* sink) {
  const tenon__index_t* promises = &catalog->promises[kind];
  const tenon__index_list_t* list = tenon__index_find(promises, name);
  for (size_t i = 0; i < list->count && list->records[i].rank < end; ++i) {
    tenon__promises_make_ready(catalog, list->records[i].entry, sink);
    list = tenon__index_find(promises, name);
  }
}

/* In the order of the search path, the library's own first. */
void tenon__promises_keep(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                          const tenon_sink_t* sink) {
  if (strcmp(name, TENON_PROMISES_ALL) == 0 || strcmp(name, TENON_PROMISES_ANY) == 0) {
    keep_promises_of(catalog, kind, name, UINT32_MAX, sink);
    return;
  }
  const tenon__index_list_t* list = tenon__index_find(&catalog->promises[kind], name);
  const size_t listed = list->count;
  for (size_t i = 0; i < listed; ++i) {
    const int64_t place = list->records[i].rank;
    keep_promises_of(catalog, kind, TENON_PROMISES_ANY, place, sink);
    list = tenon__index_find(&catalog->promises[kind], name);
    tenon__promises_make_ready(catalog, list->records[i].entry, sink);
    list = tenon__index_find(&catalog->promises[kind], name);
  }
  keep_promises_of(catalog, kind, TENON_PROMISES_ANY, UINT32_MAX, sink);
}
