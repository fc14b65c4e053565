/* The registry: the plugins of this process, and what they offer. */
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/base/escape.h"
#include "core/catalog/catalog.h"
#include "core/catalog/check.h"
#include "core/catalog/left_out.h"
#include "core/optimizer/rewrite_trial.h"
#include "sdk/library/library.h"

enum { MESSAGE_SIZE = 4096 };

/* ---- Life ---- */

static void destroy(tenon_registry_t* registry) {
  tenon__catalog_destroy(registry->catalog);
  if (registry->plugins != NULL) {
    tenon__registry_destroy(registry->plugins);
  }
  tenon__free(registry->allocator, registry, sizeof(*registry));
}

/* A misspelt name would have no effect. */
static tenon_status_t check_preferred(tenon_registry_t* registry, const char* const* names) {
  for (; names != NULL && *names != NULL; ++names) {
    tenon__candidate_info_t info;
    const char* reason = "has not been found";
    for (uint32_t i = 0;
         reason != NULL && tenon__registry_candidate(registry->plugins, i, &info) == TENON_OK;
         ++i) {
      if (strcmp(info.name, *names) == 0) {
        reason = info.state == TENON_CANDIDATE_REFUSED ? info.message : NULL;
      }
    }
    if (reason != NULL) {
      return tenon__fail(&registry->sink, TENON_ERROR_NOT_FOUND,
                         "the preferred plugin '%s' is not used: it %s", *names, reason);
    }
  }
  return TENON_OK;
}

static tenon_status_t open_plugins(tenon_registry_t* registry,
                                   const tenon_registry_options_t* options) {
  tenon__arena_t arena;
  TENON_TRY(tenon__catalog_create(registry->allocator, &registry->catalog));
  tenon__arena_initialize(&arena, registry->allocator);
  const tenon__registry_options_t inner = {
      .paths = options->paths,
      .only_paths = options->only_paths != 0,
      .installed_directory = tenon__installed_directory(&arena),
      .policy = options->policy == TENON_POLICY_LISTED ? TENON_REGISTRY_POLICY_LISTED
                                                       : TENON_REGISTRY_POLICY_ANY,
      .digests = options->digests,
      .set_aside = options->set_aside,
      .prefer = options->prefer,
      .allocator = registry->allocator,
      .sink = registry->sink,
      .catalog = registry->catalog,
  };
  const tenon_status_t status = tenon__registry_create(&inner, &registry->plugins);
  tenon__arena_deinitialize(&arena);
  TENON_TRY(status);
  TENON_TRY(tenon__registry_scan(registry->plugins, &registry->sink));
  return check_preferred(registry, options->prefer);
}

tenon_status_t tenon_registry_create(const tenon_registry_options_t* options,
                                     tenon_registry_t** out_registry) {
  tenon_registry_options_t own;
  TENON_TRY(tenon__enter(__func__, "out_registry", out_registry != NULL));
  TENON_TRY(tenon__options_copy(&tenon__message_sink, "tenon_registry_options_t", options, &own,
                                sizeof(own)));
  tenon_registry_t young = {.allocator = tenon__allocator_default(), .logger = own.logger};
  const tenon_sink_t hearing = tenon__message_sink_of(&young);
  const tenon_sink_t* sink = &hearing;
  if (own.policy > TENON_POLICY_LISTED) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_registry_create: %u is not a policy", own.policy);
  }
  if (own.allocator != NULL && own.allocator->resize == NULL) {
    return tenon__fail_null(sink, __func__, "options->allocator->resize");
  }
  const tenon_allocator_t allocator =
      own.allocator != NULL ? *own.allocator : tenon__allocator_default();
  tenon_registry_t* registry = tenon__allocate(allocator, 1, sizeof(*registry));
  if (registry == NULL) {
    return tenon__fail_memory(sink);
  }
  atomic_init(&registry->reference_count, 1);
  registry->allocator = allocator;
  registry->logger = own.logger;
  registry->sink = tenon__message_sink_of(registry);
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = open_plugins(registry, &own);
  tenon__c_locale_leave(outer);
  if (status != TENON_OK) {
    destroy(registry);
    return tenon__tell(sink, __func__, status);
  }
  *out_registry = registry;
  return TENON_OK;
}

void tenon_registry_retain(tenon_registry_t* registry) {
  if (registry != NULL) {
    (void)atomic_fetch_add_explicit(&registry->reference_count, 1, memory_order_relaxed);
  }
}

void tenon_registry_release(tenon_registry_t* registry) {
  if (registry != NULL &&
      atomic_fetch_sub_explicit(&registry->reference_count, 1, memory_order_acq_rel) == 1) {
    destroy(registry);
  }
}

const tenon__operator_t* tenon__library_find_operator(void* user, const char* name) {
  tenon_registry_t* registry = user;
  return tenon__catalog_operator(registry->catalog, name, &registry->sink);
}

void tenon__library_suggest_operator(void* user, const char* name, tenon__nearest_t* nearest) {
  tenon_registry_t* registry = user;
  tenon__catalog_nearest_operators(registry->catalog, name, &registry->sink, nearest);
}

/* ---- What was found ---- */

uint32_t tenon_registry_plugin_count(const tenon_registry_t* registry) {
  return registry != NULL ? tenon__registry_candidate_count(registry->plugins) : 0;
}

tenon_status_t tenon_registry_get_plugin(const tenon_registry_t* registry, uint32_t index,
                                         tenon_plugin_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  tenon__candidate_info_t info;
  /* A pointer. NOLINTNEXTLINE(bugprone-sizeof-expression) */
  if (out_info != NULL && TENON_HAS(out_info, tenon_plugin_info_t, left_out)) {
    const locale_t outer = tenon__c_locale_enter();
    tenon__catalog_settle(registry->catalog, &registry->sink);
    tenon__c_locale_leave(outer);
  }
  if (tenon__registry_candidate(registry->plugins, index, &info) != TENON_OK) {
    return tenon__fail(&registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_registry_get_plugin: there is no plugin %u, only %u", index,
                       tenon_registry_plugin_count(registry));
  }
  const uint32_t state = info.state == TENON_CANDIDATE_LOADED    ? TENON_PLUGIN_LOADED
                         : info.state == TENON_CANDIDATE_REFUSED ? TENON_PLUGIN_REFUSED
                                                                 : TENON_PLUGIN_AVAILABLE;
  const tenon_plugin_info_t made = {
      .path = info.path,
      .name = info.name,
      .version = info.version,
      .vendor = info.vendor,
      .licence = info.licence,
      .reason = info.message,
      .offers = info.offers,
      .left_out = tenon__catalog_left_out_lines(registry->catalog, info.path),
      .state = state};
  return TENON_RESULT_FILL(&registry->sink, tenon_plugin_info_t, &made, out_info);
}

static void write_shown(tenon_write_t write, void* user, const char* text) {
  char shown[MESSAGE_SIZE]; /* longer than a path */
  (void)tenon__escape(text, shown, sizeof(shown));
  write(user, shown);
}

void tenon_registry_print_paths(const tenon_registry_t* registry, tenon_write_t write, void* user) {
  if (registry == NULL || write == NULL) {
    return;
  }
  const uint32_t count = tenon__registry_directory_count(registry->plugins);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__directory_info_t info;
    if (tenon__registry_directory(registry->plugins, i, &info) != TENON_OK) {
      continue;
    }
    write_shown(write, user, info.path);
    write(user, " (");
    write(user, info.origin);
    write(user, ")");
    if (info.reason != TENON_PLUGIN_REASON_NONE) {
      write(user, ": not searched: ");
      write_shown(write, user, info.message);
    }
    write(user, "\n");
  }
}

/* ---- The index ---- */

/* One line: {"kind": ..., "name": ..., "plugin": ..., KEY: VALUE}. */
typedef struct printing_t {
  tenon_write_t write;
  void* user;
  const void** entries; /* of one kind at a time */
  uint32_t capacity;
} printing_t;

static void begin_line(const printing_t* p, const char* kind, const char* name,
                       const char* plugin) {
  p->write(p->user, "{");
  tenon__write_json_field(p->write, p->user, true, "kind", kind);
  tenon__write_json_field(p->write, p->user, false, "name", name);
  tenon__write_json_field(p->write, p->user, false, "plugin", plugin);
}

static void add_field(const printing_t* p, const char* key, const char* text) {
  tenon__write_json_field(p->write, p->user, false, key, text);
}

static void add_number(const printing_t* p, const char* key, int64_t number) {
  char text[96];
  (void)snprintf(text, sizeof(text), ", \"%s\": %lld", key, (long long)number);
  p->write(p->user, text);
}

static void end_line(const printing_t* p) {
  p->write(p->user, "}\n");
}

static void print_operators(tenon_registry_t* registry, const printing_t* p) {
  const uint32_t count = tenon__catalog_operators(
      registry->catalog, &registry->sink, (const tenon__operator_t**)p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__operator_t* op = p->entries[i];
    begin_line(p, "operator", op->name, op->plugin);
    add_field(p, "summary", op->descriptor.summary);
    tenon__write_operator_ports(op, p->write, p->user);
    end_line(p);
  }
  const char** names = (const char**)p->entries;
  const uint32_t disabled =
      tenon__catalog_disabled_operators(registry->catalog, names, p->capacity);
  for (uint32_t i = 0; i < disabled && i < p->capacity; ++i) {
    begin_line(p, "operator", names[i], "");
    add_field(p, "disabled", tenon__catalog_disabled(registry->catalog, names[i]));
    end_line(p);
  }
}

static void print_kernels(tenon_registry_t* registry, const printing_t* p) {
  const uint32_t count =
      tenon__catalog_kernels(registry->catalog, NULL, 0, &registry->sink,
                             (const tenon__kernel_entry_t**)p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__kernel_entry_t* entry = p->entries[i];
    const tenon_kernel_t* kernel = &entry->kernel;
    begin_line(p, "kernel", kernel->name, entry->owner->plugin);
    add_field(p, "device", kernel->device);
    add_number(p, "version", kernel->version);
    if (kernel->isa != NULL) {
      add_field(p, "isa", kernel->isa);
    }
    p->write(p->user, ", \"computes\": [");
    if (kernel->operators != NULL) {
      for (uint32_t k = 0; kernel->operators[k] != NULL; ++k) {
        p->write(p->user, k == 0 ? "" : ", ");
        tenon__write_json_text(p->write, p->user, kernel->operators[k]);
      }
    }
    p->write(p->user, "]");
    if (kernel->pattern != NULL) {
      add_field(p, "pattern", kernel->pattern);
    }
    if ((kernel->flags & TENON_KERNEL_EXPRESSIONS) != 0) {
      add_field(p, "form", "expressions");
    } else if ((kernel->flags & TENON_KERNEL_MOVES) != 0) {
      add_field(p, "form", "moves");
    }
    if ((kernel->flags & TENON_KERNEL_REFERENCE) != 0) {
      add_field(p, "role", "reference");
    }
    end_line(p);
  }
}

static void print_converters(tenon_registry_t* registry, const printing_t* p) {
  const uint32_t count = tenon__catalog_all(registry->catalog, TENON_OFFER_CONVERTER,
                                            &registry->sink, p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__converter_entry_t* entry = p->entries[i];
    begin_line(p, "converter", entry->converter.type, entry->owner->plugin);
    add_field(p, "format", entry->converter.format);
    add_field(p, "domain", entry->converter.domain);
    add_number(p, "since", entry->converter.since);
    add_number(p, "until", entry->converter.until);
    end_line(p);
  }
}

/* Lists of any length: what is left out is for those who look for a fault. */
static tenon_status_t print_left_out(tenon_registry_t* registry, const printing_t* p) {
  const uint32_t count = tenon__catalog_left_out(registry->catalog, NULL, 0);
  tenon__left_out_t* items = tenon__allocate(registry->allocator, count + 1u, sizeof(*items));
  if (items == NULL) {
    return tenon__fail_memory(&registry->sink);
  }
  const uint32_t now = tenon__catalog_left_out(registry->catalog, items, count);
  for (uint32_t i = 0; i < count && i < now; ++i) {
    begin_line(p, items[i].kind, items[i].name, items[i].owner->plugin);
    add_field(p, "disabled", items[i].message);
    end_line(p);
  }
  tenon__free(registry->allocator, items, (count + 1u) * sizeof(*items));
  return TENON_OK;
}

static void print_others(tenon_registry_t* registry, const printing_t* p) {
  const tenon_sink_t* sink = &registry->sink;
  uint32_t count =
      tenon__catalog_all(registry->catalog, TENON_OFFER_DEVICE, sink, p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__device_entry_t* entry = p->entries[i];
    begin_line(p, "device", entry->device.name, entry->owner->plugin);
    add_field(p, "summary", entry->device.summary);
    end_line(p);
  }
  count = tenon__catalog_all(registry->catalog, TENON_OFFER_PARSER, sink, p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__parser_entry_t* entry = p->entries[i];
    begin_line(p, "parser", entry->parser.format, entry->owner->plugin);
    add_field(p, "summary", entry->parser.summary);
    add_field(p, "extensions", entry->parser.extensions);
    end_line(p);
  }
  count = tenon__catalog_all(registry->catalog, TENON_OFFER_REWRITE, sink, p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    const tenon__rewrite_entry_t* entry = p->entries[i];
    begin_line(p, "rewrite", entry->rewrite.name, entry->owner->plugin);
    add_field(p, "pattern", entry->rewrite.pattern);
    end_line(p);
  }
}

/* Patterns and rewrites with a fault are found by looking, rewrites that are wrong by trying. */
static tenon_status_t find_faults(tenon_registry_t* registry, const printing_t* p) {
  const tenon__optimize_options_t options = {
      .find = tenon__library_find_operator, .find_user = registry, .catalog = registry->catalog};
  TENON_TRY(tenon__catalog_check_texts(registry->catalog, &registry->sink));
  const uint32_t count = tenon__catalog_all(registry->catalog, TENON_OFFER_REWRITE, &registry->sink,
                                            p->entries, p->capacity);
  for (uint32_t i = 0; i < count && i < p->capacity; ++i) {
    bool is_refused = false;
    TENON_TRY(tenon__rewrite_admit(&options, p->entries[i], registry->allocator, &registry->sink,
                                   &is_refused));
  }
  return TENON_OK;
}

/* The number of entries of the largest kind, and at least 1. Loads every plugin. */
static uint32_t count_most(const tenon_registry_t* registry) {
  uint32_t most = 1;
  for (int kind = 0; kind < TENON_OFFER_COUNT; ++kind) {
    const uint32_t count =
        tenon__catalog_all(registry->catalog, (tenon__offer_kind_t)kind, &registry->sink, NULL, 0);
    most = count > most ? count : most;
  }
  return most;
}

tenon_status_t tenon_registry_print_index(tenon_registry_t* registry, tenon_write_t write,
                                          void* user) {
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "write", write != NULL));
  const uint32_t capacity = count_most(registry);
  const printing_t printing = {
      .write = write,
      .user = user,
      .entries = tenon__allocate(registry->allocator, capacity, sizeof(void*)),
      .capacity = capacity};
  if (printing.entries == NULL) {
    return tenon__fail_memory(&registry->sink);
  }
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t checked = find_faults(registry, &printing);
  print_others(registry, &printing);
  print_operators(registry, &printing);
  print_kernels(registry, &printing);
  print_converters(registry, &printing);
  const tenon_status_t status = print_left_out(registry, &printing);
  tenon__c_locale_leave(outer);
  tenon__free(registry->allocator, (void*)printing.entries, capacity * sizeof(void*));
  return tenon__tell(&registry->sink, __func__, checked == TENON_OK ? status : checked);
}

/* ---- Devices ---- */

/* Keeps the last words of a device's health check. */
typedef struct hearing_t {
  char message[512];
} hearing_t;

static void hear(void* user, int32_t severity, const char* message) {
  hearing_t* hearing = user;
  (void)severity;
  (void)snprintf(hearing->message, sizeof(hearing->message), "%s", message);
}

static void print_device(const tenon__device_entry_t* entry, uint32_t index, const printing_t* p) {
  hearing_t hearing = {""};
  const tenon_sink_t sink = {&hearing, hear};
  const tenon_device_descriptor_t* device = &entry->device;
  tenon_device_t* handle = NULL;
  tenon_status_t status = device->open(entry->owner->state, index, &sink, &handle);
  begin_line(p, "device", device->name, entry->owner->plugin);
  add_number(p, "index", index);
  if (status == TENON_OK) {
    add_field(p, "fingerprint", device->fingerprint(handle));
    status = device->health != NULL ? device->health(handle, &sink) : TENON_OK;
    device->close(handle);
  }
  add_field(p, "health",
            status == TENON_OK           ? "ok"
            : hearing.message[0] != '\0' ? hearing.message
                                         : tenon__status_text(status));
  end_line(p);
}

tenon_status_t tenon_registry_print_devices(tenon_registry_t* registry, tenon_write_t write,
                                            void* user) {
  enum { DEVICE_LIMIT = 64 };
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "write", write != NULL));
  const tenon__device_entry_t* entries[DEVICE_LIMIT];
  const printing_t printing = {.write = write, .user = user};
  const locale_t outer = tenon__c_locale_enter();
  const uint32_t found = tenon__catalog_all(registry->catalog, TENON_OFFER_DEVICE, &registry->sink,
                                            entries, DEVICE_LIMIT);
  for (uint32_t i = 0; i < found && i < DEVICE_LIMIT; ++i) {
    hearing_t hearing = {""};
    const tenon_sink_t sink = {&hearing, hear};
    const uint32_t count = entries[i]->device.count(entries[i]->owner->state, &sink);
    for (uint32_t k = 0; k < count; ++k) {
      print_device(entries[i], k, &printing);
    }
    if (count == 0) {
      begin_line(&printing, "device", entries[i]->device.name, entries[i]->owner->plugin);
      add_field(&printing, "health", hearing.message[0] != '\0' ? hearing.message : "none here");
      end_line(&printing);
    }
  }
  tenon__c_locale_leave(outer);
  return TENON_OK;
}
