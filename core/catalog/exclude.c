/* Items of an exclusion list, each compared with the names of plugins and of their kernels and
 * rewrites. */
#include "core/catalog/exclude.h"

#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/catalog/state.h"

enum { LIST_SIZE = 1536 };

/* Is `item` of that plugin: "PLUGIN" or "PLUGIN:..."? */
static bool is_of(const char* item, const char* plugin) {
  const size_t length = strlen(plugin);
  return strncmp(item, plugin, length) == 0 && (item[length] == '\0' || item[length] == ':');
}

bool tenon__is_excluded(const char* const* exclude, const char* plugin, const char* name) {
  const size_t length = strlen(plugin);
  for (; exclude != NULL && *exclude != NULL; ++exclude) {
    if (is_of(*exclude, plugin) &&
        ((*exclude)[length] == '\0' || strcmp(*exclude + length + 1, name) == 0)) {
      return true;
    }
  }
  return false;
}

/* ---- What there is ---- */

/* Names with commas between, as far as they fit, each once. */
typedef struct names_t {
  char text[LIST_SIZE];
  size_t used;
  const char* last;
} names_t;

static void list(names_t* names, const char* name) {
  const bool is_again = names->last != NULL && strcmp(names->last, name) == 0;
  if (!is_again && names->used + strlen(name) + 8 < sizeof(names->text)) {
    names->used += (size_t)snprintf(names->text + names->used, sizeof(names->text) - names->used,
                                    "%s%s", names->used == 0 ? "" : ", ", name);
  }
  names->last = name;
}

static bool list_kind(const tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* plugin,
                      const char* name, names_t* names) {
  const tenon__index_list_t* found = tenon__index_find(&catalog->offers[kind], "");
  bool is_there = false;
  for (size_t i = 0; i < found->count; ++i) {
    const tenon__index_record_t* record = &found->records[i];
    if (strcmp(record->plugin, plugin) == 0) {
      is_there = is_there || strcmp(record->name, name) == 0;
      list(names, record->name);
    }
  }
  return is_there;
}

/* The owner whose plugin the item names; NULL when there is none. */
static tenon__owner_slot_t* find_owner(const tenon__catalog_t* catalog, const char* item,
                                       names_t* names) {
  for (size_t i = 0; i < catalog->owner_count; ++i) {
    list(names, catalog->owners[i]->owner->plugin);
    if (is_of(item, catalog->owners[i]->owner->plugin)) {
      return catalog->owners[i];
    }
  }
  return NULL;
}

static tenon_status_t check_item(tenon__catalog_t* catalog, const char* item,
                                 const tenon_sink_t* sink) {
  names_t names = {.used = 0};
  tenon__owner_slot_t* slot = find_owner(catalog, item, &names);
  if (slot == NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "'%s' cannot be excluded: there is no such plugin; there are: %s", item,
                       names.text);
  }
  const char* plugin = slot->owner->plugin;
  const char* colon = item + strlen(plugin);
  if (*colon == '\0') {
    return TENON_OK;
  }
  if (slot->promiser != NULL) {
    (void)tenon__catalog_make_ready(catalog, slot->promiser, sink);
  }
  names = (names_t){.used = 0};
  const bool is_kernel = list_kind(catalog, TENON_OFFER_KERNEL, plugin, colon + 1, &names);
  const bool is_rewrite = list_kind(catalog, TENON_OFFER_REWRITE, plugin, colon + 1, &names);
  if (is_kernel || is_rewrite) {
    return TENON_OK;
  }
  return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                     "'%s' cannot be excluded: plugin %s has no such kernel or rewrite; %s%s", item,
                     plugin, names.used == 0 ? "it has none" : "it has: ", names.text);
}

tenon_status_t tenon__exclude_check(tenon__catalog_t* catalog, const char* const* exclude,
                                    const tenon_sink_t* sink) {
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&catalog->mutex);
  for (; status == TENON_OK && exclude != NULL && *exclude != NULL; ++exclude) {
    status = check_item(catalog, *exclude, sink);
  }
  (void)pthread_mutex_unlock(&catalog->mutex);
  return status;
}
