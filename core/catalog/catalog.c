/* Owners, promises and lookups. Every lookup takes the lock, makes ready whoever promised something
 * of that name (or "*"), in the order of the search path, and reads a sorted list. */
#include "core/catalog/catalog.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/catalog/admit.h"
#include "core/catalog/contest.h"
#include "core/catalog/promises.h"

static void lock(tenon__catalog_t* catalog) {
  (void)pthread_mutex_lock(&catalog->mutex);
}

static void unlock(tenon__catalog_t* catalog) {
  (void)pthread_mutex_unlock(&catalog->mutex);
}

tenon_status_t tenon__catalog_create(tenon_allocator_t allocator, tenon__catalog_t** out_catalog) {
  tenon__catalog_t* catalog = tenon__allocate(allocator, 1, sizeof(*catalog));
  TENON_TRY_MEMORY(catalog != NULL);
  catalog->allocator = allocator;
  pthread_mutexattr_t attributes;
  (void)pthread_mutexattr_init(&attributes);
  (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  (void)pthread_mutex_init(&catalog->mutex, &attributes);
  (void)pthread_mutexattr_destroy(&attributes);
  tenon__arena_initialize(&catalog->arena, allocator);
  for (int kind = 0; kind < TENON_OFFER_COUNT; ++kind) {
    tenon__index_initialize(&catalog->offers[kind], allocator);
    tenon__index_initialize(&catalog->promises[kind], allocator);
  }
  tenon__string_map_initialize(&catalog->definitions, allocator);
  tenon__string_map_initialize(&catalog->kernels, allocator);
  *out_catalog = catalog;
  return TENON_OK;
}

void tenon__catalog_destroy(tenon__catalog_t* catalog) {
  if (catalog == NULL) {
    return;
  }
  const tenon_allocator_t allocator = catalog->allocator;
  tenon__string_map_deinitialize(&catalog->kernels);
  tenon__string_map_deinitialize(&catalog->definitions);
  for (int kind = 0; kind < TENON_OFFER_COUNT; ++kind) {
    tenon__index_deinitialize(&catalog->promises[kind]);
    tenon__index_deinitialize(&catalog->offers[kind]);
  }
  tenon__free(allocator, catalog->left_out,
              catalog->left_out_capacity * sizeof(*catalog->left_out));
  tenon__free(allocator, catalog->owners, catalog->owner_capacity * sizeof(void*));
  tenon__arena_deinitialize(&catalog->arena);
  (void)pthread_mutex_destroy(&catalog->mutex);
  tenon__free(allocator, catalog, sizeof(*catalog));
}

/* ---- Owners ---- */

tenon_status_t tenon__catalog_promise(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                      const char* kind_word, const char* name) {
  const tenon__offer_kind_t kind = tenon__offer_kind_of_word(kind_word);
  if (kind == TENON_OFFER_COUNT) {
    return TENON_OK;
  }
  lock(catalog);
  tenon__owner_slot_t* slot = tenon__promises_slot(catalog, owner);
  const bool good = slot != NULL && tenon__promises_enter(catalog, kind, slot, name);
  if (good) {
    slot->promiser = owner;
  }
  unlock(catalog);
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

tenon_status_t tenon__catalog_make_ready(tenon__catalog_t* catalog, tenon__owner_t* owner,
                                         const tenon_sink_t* sink) {
  lock(catalog);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  tenon__owner_slot_t* slot = tenon__promises_slot(catalog, owner);
  if (slot != NULL) {
    slot->promiser = owner;
    tenon__promises_make_ready(catalog, slot, sink);
    status = slot->status;
  }
  unlock(catalog);
  return status;
}

tenon_status_t tenon__catalog_add(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                  const tenon_offering_t* offering, const tenon_sink_t* sink) {
  const char* fault = tenon__offering_fault(offering);
  if (fault != NULL) {
    tenon__report(sink, TENON_SEVERITY_WARNING, "plugin %s (%s): %s (%s); it is left out",
                  owner->plugin, owner->path, fault,
                  offering->kind == NULL ? "no kind" : offering->kind);
    return TENON_OK;
  }
  const tenon__offer_kind_t kind = tenon__offer_kind_of_offering(offering->kind);
  if (kind == TENON_OFFER_COUNT) {
    return TENON_OK;
  }
  lock(catalog);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  tenon__owner_slot_t* slot = tenon__promises_slot(catalog, owner);
  if (slot != NULL) {
    slot->offered_kinds |= 1u << (unsigned)kind;
    status = tenon__catalog_admit(catalog, kind, owner, offering, sink);
  }
  unlock(catalog);
  return status;
}

/* ---- Operators that several plugins offer ---- */

static bool is_contested(const tenon__catalog_t* catalog, const char* name,
                         const tenon__index_list_t* promisers) {
  const tenon__owner_slot_t* slot = promisers->records[0].entry;
  const tenon__owner_t* home = tenon__catalog_domain_owner(catalog, name);
  return promisers->count > 1 || tenon__string_map_find(&catalog->definitions, name) != NULL ||
         (home != NULL && home != slot->owner && !slot->owner->is_installed);
}

static void settle(tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  const tenon__index_t* promises = &catalog->promises[TENON_OFFER_OPERATOR];
  const tenon__index_list_t* any = tenon__index_find(promises, TENON_PROMISES_ANY);
  bool is_open = false; /* operators of other plugins than the library's may have any name */
  for (size_t i = 0; i < any->count && !is_open; ++i) {
    const tenon__owner_slot_t* slot = any->records[i].entry;
    is_open = !slot->owner->is_installed;
  }
  if (is_open) {
    tenon__promises_keep(catalog, TENON_OFFER_OPERATOR, TENON_PROMISES_ANY, sink);
  }
  for (size_t i = 0; i < tenon__string_map_count(&promises->lists); ++i) {
    const char* name = tenon__string_map_key(&promises->lists, i);
    if (strcmp(name, TENON_PROMISES_ALL) != 0 && strcmp(name, TENON_PROMISES_ANY) != 0 &&
        is_contested(catalog, name, tenon__index_find(promises, name))) {
      tenon__promises_keep(catalog, TENON_OFFER_OPERATOR, name, sink);
    }
  }
}

void tenon__catalog_settle(tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  lock(catalog);
  if (catalog->settled_count < catalog->owner_count) {
    catalog->settled_count = catalog->owner_count; /* before: a plugin that starts may ask again */
    settle(catalog, sink);
  }
  unlock(catalog);
}

/* ---- Lookups ---- */

/* The first entry under `name`, after those who promised it were asked. */
static const void* find_first(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                              const tenon_sink_t* sink) {
  lock(catalog);
  tenon__promises_keep(catalog, kind, name, sink);
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[kind], name);
  const void* entry = NULL;
  for (size_t i = 0; entry == NULL && i < list->count; ++i) {
    entry = tenon__index_holds(&list->records[i]) ? list->records[i].entry : NULL;
  }
  unlock(catalog);
  return entry;
}

/* `out_items` is an array of pointers, of whatever type. */
static void put(void* out_items, uint32_t capacity, const void* item, uint32_t* inout_count) {
  if (*inout_count < capacity) {
    memcpy((char*)out_items + *inout_count * sizeof(void*), &item, sizeof(void*));
  }
  ++*inout_count;
}

static uint32_t list_all(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                         const tenon_sink_t* sink, void* out_entries, uint32_t capacity) {
  lock(catalog);
  tenon__promises_keep(catalog, kind, name, sink);
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[kind], name);
  uint32_t count = 0;
  for (size_t i = 0; i < list->count; ++i) {
    if (tenon__index_holds(&list->records[i])) {
      put(out_entries, capacity, list->records[i].entry, &count);
    }
  }
  unlock(catalog);
  return count;
}

/* Operators that can be used, or the names of those that cannot. */
static uint32_t list_definitions(tenon__catalog_t* catalog, bool are_disabled, void* out_items,
                                 uint32_t capacity) {
  const tenon__index_list_t* list =
      tenon__index_find(&catalog->offers[TENON_OFFER_OPERATOR], TENON_PROMISES_ALL);
  uint32_t count = 0;
  for (size_t i = 0; i < list->count; ++i) {
    const tenon__definition_t* definition = list->records[i].entry;
    if ((definition->disabled != NULL) == are_disabled) {
      put(out_items, capacity, are_disabled ? (const void*)definition->name : definition->op,
          &count);
    }
  }
  return count;
}

const tenon__operator_t* tenon__catalog_operator(tenon__catalog_t* catalog, const char* name,
                                                 const tenon_sink_t* sink) {
  lock(catalog);
  tenon__promises_keep(catalog, TENON_OFFER_OPERATOR, name, sink);
  const tenon__definition_t* definition = tenon__string_map_pointer(&catalog->definitions, name);
  const bool usable = definition != NULL && definition->disabled == NULL;
  const tenon__operator_t* op = usable ? definition->op : NULL;
  unlock(catalog);
  return op;
}

const tenon__device_entry_t* tenon__catalog_device(tenon__catalog_t* catalog, const char* name,
                                                   const tenon_sink_t* sink) {
  return find_first(catalog, TENON_OFFER_DEVICE, name, sink);
}

const tenon__parser_entry_t* tenon__catalog_parser(tenon__catalog_t* catalog, const char* format,
                                                   const tenon_sink_t* sink) {
  return find_first(catalog, TENON_OFFER_PARSER, format, sink);
}

/* Those that are there stay in order; the last one may fall off. */
static void insert_converter(const tenon__converter_entry_t* entry,
                             const tenon__converter_entry_t** inout_entries, uint32_t capacity,
                             uint32_t count) {
  uint32_t place = count < capacity ? count : capacity;
  for (; place > 0 && !tenon__converter_stays(inout_entries[place - 1], entry); --place) {
    if (place < capacity) {
      inout_entries[place] = inout_entries[place - 1];
    }
  }
  if (place < capacity) {
    inout_entries[place] = entry;
  }
}

uint32_t tenon__catalog_converters(tenon__catalog_t* catalog, const tenon__node_key_t* node,
                                   const tenon_sink_t* sink,
                                   const tenon__converter_entry_t** out_entries,
                                   uint32_t capacity) {
  char key[TENON_OFFER_NAME_LIMIT + 1];
  if (!tenon__catalog_key(node->format, node->domain, node->type, key)) {
    return 0;
  }
  lock(catalog);
  tenon__promises_keep(catalog, TENON_OFFER_CONVERTER, key, sink);
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[TENON_OFFER_CONVERTER], key);
  const tenon__owner_t* last = NULL;
  uint32_t count = 0;
  for (size_t i = 0; i < list->count; ++i) {
    const tenon__converter_entry_t* entry = list->records[i].entry;
    const tenon_converter_t* converter = &entry->converter;
    const bool has_it = tenon__index_holds(&list->records[i]) &&
                        converter->since <= node->version &&
                        (converter->until == 0 || node->version < converter->until);
    if (has_it && entry->owner != last) { /* plugin by plugin, its newest range first */
      insert_converter(entry, out_entries, capacity, count++);
      last = entry->owner;
    }
  }
  unlock(catalog);
  return count;
}

uint32_t tenon__catalog_kernels(tenon__catalog_t* catalog, const char* op, uint32_t flags,
                                const tenon_sink_t* sink, const tenon__kernel_entry_t** out_entries,
                                uint32_t capacity) {
  const char* name = op;
  if (op == NULL) {
    name = (flags & TENON_KERNEL_EXPRESSIONS) != 0 ? "*expressions"
           : (flags & TENON_KERNEL_MOVES) != 0     ? "*moves"
                                                   : TENON_PROMISES_ALL;
  }
  lock(catalog);
  tenon__promises_keep(catalog, TENON_OFFER_KERNEL, name, sink);
  const tenon__index_list_t* list = tenon__index_find(&catalog->offers[TENON_OFFER_KERNEL], name);
  uint32_t count = 0;
  for (size_t i = 0; i < list->count; ++i) {
    const tenon__kernel_entry_t* entry = list->records[i].entry;
    if (tenon__index_holds(&list->records[i]) &&
        (op == NULL || !tenon__catalog_defines_otherwise(catalog, entry->owner, op))) {
      put((void*)out_entries, capacity, entry, &count);
    }
  }
  unlock(catalog);
  return count;
}

const tenon__kernel_entry_t* tenon__catalog_kernel(tenon__catalog_t* catalog, const char* plugin,
                                                   const char* name, const tenon_sink_t* sink) {
  char key[TENON_OFFER_NAME_LIMIT + 1];
  if (!tenon__catalog_key(plugin, name, NULL, key)) {
    return NULL;
  }
  lock(catalog);
  for (size_t i = 0; i < catalog->owner_count; ++i) {
    tenon__owner_slot_t* slot = catalog->owners[i];
    if (strcmp(slot->owner->plugin, plugin) == 0 &&
        (slot->promised_kinds & 1u << (unsigned)TENON_OFFER_KERNEL) != 0) {
      tenon__promises_make_ready(catalog, slot, sink);
    }
  }
  const tenon__kernel_entry_t* entry = tenon__string_map_pointer(&catalog->kernels, key);
  unlock(catalog);
  return entry;
}

uint32_t tenon__catalog_all(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                            const tenon_sink_t* sink, void* out_entries, uint32_t capacity) {
  return list_all(catalog, kind, TENON_PROMISES_ALL, sink, out_entries, capacity);
}

uint32_t tenon__catalog_operators(tenon__catalog_t* catalog, const tenon_sink_t* sink,
                                  const tenon__operator_t** out_entries, uint32_t capacity) {
  lock(catalog);
  tenon__promises_keep(catalog, TENON_OFFER_OPERATOR, TENON_PROMISES_ALL, sink);
  const uint32_t count = list_definitions(catalog, false, (void*)out_entries, capacity);
  unlock(catalog);
  return count;
}

/* The name within its domain: "blur" of "acme.blur/1". */
static void word_of(const char* name, char out_word[TENON_OFFER_NAME_LIMIT + 1]) {
  const char* dot = strrchr(name, '.');
  const char* word = dot == NULL ? name : dot + 1;
  const size_t length = strcspn(word, "/");
  (void)snprintf(out_word, TENON_OFFER_NAME_LIMIT + 1, "%.*s", (int)length, word);
}

/* By the name within the domain; that of the same domain first. */
void tenon__catalog_nearest_operators(tenon__catalog_t* catalog, const char* name,
                                      const tenon_sink_t* sink, tenon__nearest_t* inout_nearest) {
  char wanted[TENON_OFFER_NAME_LIMIT + 1];
  char word[TENON_OFFER_NAME_LIMIT + 1];
  word_of(name, wanted);
  lock(catalog);
  tenon__promises_keep(catalog, TENON_OFFER_OPERATOR, TENON_PROMISES_ALL, sink);
  const tenon__index_list_t* list =
      tenon__index_find(&catalog->offers[TENON_OFFER_OPERATOR], TENON_PROMISES_ALL);
  for (size_t i = 0; i < list->count; ++i) {
    const tenon__definition_t* definition = list->records[i].entry;
    word_of(definition->name, word);
    const size_t likeness = tenon__likeness(wanted, word);
    const size_t length = strlen(wanted) < strlen(word) ? strlen(wanted) : strlen(word);
    if (definition->disabled == NULL && 5 * likeness >= 3 * length) {
      tenon__nearest_offer(inout_nearest, definition->name,
                           64 * likeness + tenon__likeness(name, definition->name));
    }
  }
  unlock(catalog);
}

tenon__owner_t* tenon__catalog_owner(tenon__catalog_t* catalog, const char* plugin) {
  tenon__owner_t* found = NULL;
  lock(catalog);
  for (size_t i = 0; i < catalog->owner_count && found == NULL; ++i) {
    const tenon__owner_t* owner = catalog->owners[i]->owner;
    found = strcmp(owner->plugin, plugin) == 0 ? tenon__drop_const(owner) : NULL;
  }
  unlock(catalog);
  return found;
}

const char* tenon__catalog_disabled(tenon__catalog_t* catalog, const char* name) {
  lock(catalog);
  const tenon__definition_t* definition = tenon__string_map_pointer(&catalog->definitions, name);
  const char* reason = definition == NULL ? NULL : definition->disabled;
  unlock(catalog);
  return reason;
}

uint32_t tenon__catalog_disabled_operators(tenon__catalog_t* catalog, const char** out_names,
                                           uint32_t capacity) {
  lock(catalog);
  const uint32_t count = list_definitions(catalog, true, (void*)out_names, capacity);
  unlock(catalog);
  return count;
}
