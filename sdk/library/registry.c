/* tenon.h: registry. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

#include <sys/stat.h>

TENON_API const char* tenon_version(void) { return TENON_VERSION; }

TENON_API const char* tenon_status_text(tenon_status_t status) {
  return tenon__status_text(status);
}

void tenon__options_copy(void* target, size_t target_size, const void* source) {
  size_t size = 0;
  memset(target, 0, target_size);
  if (source != NULL) {
    memcpy(&size, source, sizeof size);
    memcpy(target, source, size < target_size ? size : target_size);
  }
  memcpy(target, &target_size, sizeof target_size);
}

/* Where our own plugins lie, seen from this library: <prefix>/lib/tenon/plugins when installed, ../plugins in a
 * build tree. False when neither is there. */
static bool installed_directory(char* out_path, size_t capacity) {
  static const char* const kPlaces[] = {"/tenon/plugins", "/../plugins"};
  Dl_info info;
  char real[4096];
  if (dladdr((const void*)(uintptr_t)&kPlaces, &info) == 0 || info.dli_fname == NULL ||
      realpath(info.dli_fname, real) == NULL) {
    return false;
  }
  char* slash = strrchr(real, '/');
  if (slash == NULL) {
    return false;
  }
  *slash = 0;
  for (size_t k = 0; k < sizeof kPlaces / sizeof *kPlaces; ++k) {
    char place[4200];
    char resolved[4096];
    struct stat status;
    (void)snprintf(place, sizeof place, "%s%s", real, kPlaces[k]);
    if (realpath(place, resolved) != NULL && stat(resolved, &status) == 0 &&
        S_ISDIR(status.st_mode) && strlen(resolved) < capacity) {
      memcpy(out_path, resolved, strlen(resolved) + 1);
      return true;
    }
  }
  return false;
}

static void destroy(tenon_registry_t* registry) {
  tenon__catalog_destroy(registry->catalog);
  tenon__registry_destroy(registry->registry);
  tenon__free(registry->allocator, registry, sizeof *registry);
}

static tenon_status_t initialize(tenon_registry_t* registry,
                                 const tenon_registry_options_t* options) {
  char installed[4096];
  const bool has_installed = installed_directory(installed, sizeof installed);
  TENON_TRY(tenon__catalog_create(registry->allocator, &registry->catalog));
  const tenon__registry_options_t own = {
      .paths = options->paths,
      .only_paths = options->only_paths != 0,
      .installed_directory = has_installed ? installed : NULL,
      .policy = options->policy == TENON_POLICY_LISTED ? TENON_REGISTRY_POLICY_LISTED
                                                       : TENON_REGISTRY_POLICY_ANY,
      .digests = options->digests,
      .allocator = registry->allocator,
      .sink = registry->logger,
      .catalog = registry->catalog,
  };
  TENON_TRY(tenon__registry_create(&own, &registry->registry));
  return tenon__registry_scan(registry->registry, &registry->logger);
}

TENON_API tenon_status_t tenon_registry_create(const tenon_registry_options_t* options,
                                               tenon_registry_t** out_registry) {
  tenon_registry_options_t own;
  if (out_registry == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__options_copy(&own, sizeof own, options);
  const tenon_allocator_t allocator =
      own.allocator == NULL ? tenon__allocator_default() : *own.allocator;
  tenon_registry_t* registry = tenon__allocate(allocator, 1, sizeof *registry);
  if (registry == NULL) {
    return tenon__fail_memory(&own.logger);
  }
  registry->allocator = allocator;
  registry->logger = own.logger;
  atomic_init(&registry->reference_count, 1);
  const tenon_status_t status = initialize(registry, &own);
  if (status != TENON_OK) {
    destroy(registry);
    return status;
  }
  *out_registry = registry;
  return TENON_OK;
}

TENON_API void tenon_registry_retain(tenon_registry_t* registry) {
  if (registry != NULL) {
    atomic_fetch_add_explicit(&registry->reference_count, 1, memory_order_relaxed);
  }
}

TENON_API void tenon_registry_release(tenon_registry_t* registry) {
  if (registry != NULL && atomic_fetch_sub_explicit(&registry->reference_count, 1,
                                                    memory_order_acq_rel) == 1) {
    destroy(registry);
  }
}

TENON_API uint32_t tenon_registry_plugin_count(const tenon_registry_t* registry) {
  return registry == NULL ? 0 : tenon__registry_candidate_count(registry->registry);
}

TENON_API tenon_status_t tenon_registry_get_plugin(const tenon_registry_t* registry, uint32_t index,
                                                   tenon_plugin_info_t* out_info) {
  tenon__candidate_info_t info;
  if (registry == NULL || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  TENON_TRY(tenon__registry_candidate(registry->registry, index, &info));
  *out_info = (tenon_plugin_info_t){
      .path = info.path,
      .name = info.name,
      .version = info.version,
      .vendor = info.vendor,
      .licence = info.licence,
      .reason = info.words,
      .offers = info.offers,
      .state = info.state == TENON_CANDIDATE_LOADED    ? TENON_PLUGIN_LOADED
               : info.state == TENON_CANDIDATE_REFUSED ? TENON_PLUGIN_REFUSED
                                                       : TENON_PLUGIN_AVAILABLE,
  };
  return TENON_OK;
}

TENON_API void tenon_registry_print_paths(const tenon_registry_t* registry, tenon_write_t write,
                                          void* user) {
  const uint32_t count = tenon__registry_directory_count(registry->registry);
  for (uint32_t k = 0; k < count; ++k) {
    tenon__directory_info_t info;
    if (tenon__registry_directory(registry->registry, k, &info) != TENON_OK) {
      continue;
    }
    write(user, info.path);
    write(user, " (");
    write(user, info.origin);
    write(user, ")");
    write(user, info.words[0] == 0 ? "" : ": ");
    write(user, info.words);
    write(user, "\n");
  }
}

static void print_entry(tenon_write_t write, void* user, const char* kind, const char* name,
                        const char* plugin) {
  char line[1024];
  /* Names are identifiers: nothing in them needs escaping. */
  (void)snprintf(line, sizeof line, "{\"kind\": \"%s\", \"name\": \"%s\", \"plugin\": \"%s\"}\n",
                 kind, name, plugin);
  write(user, line);
}

enum { MOST_ENTRIES = 4096 };

typedef union entries_t {
  const tenon__operator_t* operators[MOST_ENTRIES];
  const tenon__device_entry_t* devices[MOST_ENTRIES];
  const tenon__parser_entry_t* parsers[MOST_ENTRIES];
  const tenon__rewrite_entry_t* rewrites[MOST_ENTRIES];
  const tenon__calibrator_entry_t* calibrators[MOST_ENTRIES];
  const tenon__kernel_entry_t* kernels[MOST_ENTRIES];
} entries_t;

static uint32_t at_most(uint32_t count) { return count < MOST_ENTRIES ? count : MOST_ENTRIES; }

static void print_kernels(tenon_registry_t* registry, entries_t* entries, const char* op,
                          uint32_t flags, const char* label, tenon_write_t write, void* user) {
  const uint32_t count = at_most(tenon__catalog_kernels(
      registry->catalog, op, flags, &registry->logger, entries->kernels, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    char name[512];
    (void)snprintf(name, sizeof name, "%s for %s", entries->kernels[k]->kernel.name, label);
    print_entry(write, user, "kernel", name, entries->kernels[k]->owner->plugin);
  }
}

TENON_API tenon_status_t tenon_registry_print_index(tenon_registry_t* registry, tenon_write_t write,
                                                    void* user) {
  if (registry == NULL || write == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_sink_t* sink = &registry->logger;
  tenon__catalog_t* catalog = registry->catalog;
  entries_t* e = tenon__allocate(registry->allocator, 2, sizeof *e);
  if (e == NULL) {
    return tenon__fail_memory(sink);
  }
  uint32_t count = at_most(tenon__catalog_operators(catalog, sink, e->operators, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    print_entry(write, user, "operator", e->operators[k]->name, e->operators[k]->plugin);
    print_kernels(registry, e + 1, e->operators[k]->name, 0, e->operators[k]->name, write, user);
  }
  print_kernels(registry, e, NULL, TENON_KERNEL_EXPRESSIONS, "expressions", write, user);
  print_kernels(registry, e, NULL, TENON_KERNEL_MOVES, "moves", write, user);
  count = at_most(tenon__catalog_devices(catalog, sink, e->devices, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    print_entry(write, user, "device", e->devices[k]->device.name, e->devices[k]->owner->plugin);
  }
  count = at_most(tenon__catalog_parsers(catalog, sink, e->parsers, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    print_entry(write, user, "parser", e->parsers[k]->parser.format, e->parsers[k]->owner->plugin);
  }
  count = at_most(tenon__catalog_rewrites(catalog, sink, e->rewrites, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    print_entry(write, user, "rewrite", e->rewrites[k]->rewrite.name,
                e->rewrites[k]->owner->plugin);
  }
  count = at_most(tenon__catalog_calibrators(catalog, sink, e->calibrators, MOST_ENTRIES));
  for (uint32_t k = 0; k < count; ++k) {
    print_entry(write, user, "calibrator", e->calibrators[k]->calibrator.name,
                e->calibrators[k]->owner->plugin);
  }
  tenon__free(registry->allocator, e, 2 * sizeof *e);
  return TENON_OK;
}

static void print_device(tenon_registry_t* registry, const tenon__device_entry_t* entry,
                         tenon_write_t write, void* user) {
  const tenon_device_descriptor_t* device = &entry->device;
  tenon_device_t* handle = NULL;
  char line[1024];
  const uint32_t count = device->count(entry->owner->state, &registry->logger);
  for (uint32_t k = 0; k < count; ++k) {
    if (device->open(entry->owner->state, k, &registry->logger, &handle) != TENON_OK) {
      continue;
    }
    const bool healthy =
        device->health == NULL || device->health(handle, &registry->logger) == TENON_OK;
    (void)snprintf(line, sizeof line,
                   "{\"device\": \"%s\", \"index\": %u, \"fingerprint\": \"%s\", "
                   "\"healthy\": %s, \"plugin\": \"%s\"}\n",
                   device->name, k, device->fingerprint(handle), healthy ? "true" : "false",
                   entry->owner->plugin);
    write(user, line);
    device->close(handle);
  }
}

TENON_API tenon_status_t tenon_registry_print_devices(tenon_registry_t* registry,
                                                      tenon_write_t write, void* user) {
  const tenon__device_entry_t* entries[64];
  if (registry == NULL || write == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const uint32_t count =
      tenon__catalog_devices(registry->catalog, &registry->logger, entries, 64);
  for (uint32_t k = 0; k < count && k < 64; ++k) {
    print_device(registry, entries[k], write, user);
  }
  return TENON_OK;
}
