/*
 * A device of a plugin, opened without a host: for programs that drive a device, or kernels on it,
 * by the contract's tables alone. The plugin gets the tables that it may ask for when it starts.
 */
#ifndef TESTS_CONFORMANCE_OPENED_DEVICE_H_
#define TESTS_CONFORMANCE_OPENED_DEVICE_H_

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

/* What CTest takes for "skipped". */
enum { OPENED_SKIPPED = 77, OPENED_FAILED = 1 };

typedef struct opened_device_t {
  const tenon_plugin_t* plugin;
  void* state;
  const tenon_device_descriptor_t* table;
  tenon_device_t* device;
  uint32_t count;
  uint32_t index;
} opened_device_t;

/* The last words on the sink, and whether to print them. */
static char opened_words[512];
static inline void opened_report(void* user, int32_t severity, const char* message) {
  (void)user;
  (void)snprintf(opened_words, sizeof(opened_words), "%s", message);
  if (severity >= TENON_SEVERITY_WARNING) {
    (void)fprintf(stderr, "  (%s)\n", message);
  }
}
static const tenon_sink_t opened_sink = {NULL, opened_report};

static inline void* opened_resize(void* user, void* block, size_t old_size, size_t new_size) {
  (void)user;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  void* moved = aligned_alloc(64, (new_size + 63) / 64 * 64);
  if (moved != NULL && block != NULL) {
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    free(block);
  }
  return moved;
}
static inline const void* opened_table(void* host, const char* name) {
  static const tenon_allocator_t allocator = {NULL, opened_resize};
  (void)host;
  return strcmp(name, "allocator/1") == 0 ? (const void*)&allocator
         : strcmp(name, "sink/1") == 0    ? (const void*)&opened_sink
                                          : NULL;
}

static const tenon_host_offer_t opened_offer = {
    .abi_major = TENON_ABI_MAJOR, .abi_max_minor = TENON_ABI_MINOR, .table = opened_table};

static inline const tenon_plugin_t* opened_query(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  tenon_plugin_query_t query = NULL;
  void* symbol = library == NULL ? NULL : dlsym(library, TENON_PLUGIN_QUERY_SYMBOL);
  if (symbol == NULL) {
    (void)fprintf(stderr, "%s: %s\n", path, dlerror());
    return NULL;
  }
  memcpy(&query, &symbol, sizeof(query));
  return query(&opened_offer);
}

/* Item `index` of the offerings of one kind; NULL past the last. */
static inline const void* opened_offered(const tenon_plugin_t* plugin, const char* kind,
                                         uint32_t index) {
  const tenon_offering_t* const* offerings = plugin->offerings.items;
  for (uint32_t k = 0; k < plugin->offerings.count; k++) {
    const tenon_offering_t* offering = offerings[k];
    if (strcmp(offering->kind, kind) != 0) {
      continue;
    }
    if (index < offering->items.count) {
      return (const char*)offering->items.items + (size_t)index * offering->items.stride;
    }
    index -= offering->items.count;
  }
  return NULL;
}

/* A plugin from its file, started with a state of its own: one of kernels for a device that another
 * plugin offers, say. False: it cannot be had. */
static inline bool opened_start_plugin(const char* path, const tenon_plugin_t** out_plugin,
                                       void** out_state) {
  const tenon_plugin_t* plugin = opened_query(path);
  if (plugin == NULL ||
      (plugin->start != NULL && plugin->start(&opened_offer, out_state) != TENON_OK)) {
    return false;
  }
  *out_plugin = plugin;
  return true;
}

static inline void opened_stop_plugin(const tenon_plugin_t* plugin, void* state) {
  if (plugin != NULL && plugin->stop != NULL) {
    plugin->stop(state);
  }
}

/* 0, or the status to exit with. */
static inline int opened_start(opened_device_t* out, const char* path, const char* name,
                               uint32_t index) {
  *out = (opened_device_t){.index = index};
  if (!opened_start_plugin(path, &out->plugin, &out->state)) {
    return OPENED_FAILED;
  }
  for (uint32_t k = 0; out->table == NULL; k++) {
    const tenon_device_descriptor_t* table = opened_offered(out->plugin, "device/1", k);
    if (table == NULL) {
      (void)fprintf(stderr, "%s offers no device %s\n", path, name);
      return OPENED_FAILED;
    }
    out->table = strcmp(table->name, name) == 0 ? table : NULL;
  }
  out->count = out->table->count(out->state, &opened_sink);
  if (out->count <= index) {
    (void)printf("skipped: no device %s:%u here: %s\n", name, index, opened_words);
    return OPENED_SKIPPED;
  }
  return out->table->open(out->state, index, &opened_sink, &out->device) == TENON_OK
             ? 0
             : OPENED_FAILED;
}

static inline void opened_stop(const opened_device_t* opened) {
  if (opened->table != NULL && opened->device != NULL) {
    opened->table->close(opened->device);
  }
  opened_stop_plugin(opened->plugin, opened->state);
}

#endif
