/* A registry's life, and what it found. */
#include "plugin_registry/registry.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/call.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/state.h"

/* Version 0.7 changed the layout of descriptors, so plugins of earlier versions are refused. */
#define HOST_MIN_MINOR 7u
#define HOST_MAX_MINOR TENON_ABI_MINOR

#if defined(TENON_PLUGIN_DIRECTORY)
#define INSTALLED_DIRECTORY TENON_PLUGIN_DIRECTORY
#else
#define INSTALLED_DIRECTORY NULL
#endif

const char* tenon__plugin_reason_text(tenon__plugin_reason_t reason) {
  static const char* const texts[TENON_PLUGIN_REASON_COUNT] = {
#define REASON_TEXT(name, text) text,
      TENON_PLUGIN_REASONS(REASON_TEXT)
#undef REASON_TEXT
  };
  return (unsigned)reason < TENON_PLUGIN_REASON_COUNT ? texts[reason] : "";
}

/* ---- Create and destroy ---- */

static bool parse_digest(const char* text, tenon__digest_t* out_digest) {
  for (size_t i = 0; i < 2 * sizeof(out_digest->bytes); ++i) {
    const char c = text[i];
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (value < 0) {
      return false;
    }
    uint8_t* byte = &out_digest->bytes[i / 2];
    *byte = (uint8_t)((i % 2 == 0 ? 0u : (unsigned)*byte << 4) | (unsigned)value);
  }
  return text[2 * sizeof(out_digest->bytes)] == '\0';
}

static tenon_status_t copy_digests(tenon__registry_t* registry, const char* const* digests) {
  size_t count = 0;
  while (digests != NULL && digests[count] != NULL) {
    ++count;
  }
  tenon__digest_t* copies = tenon__arena_allocate(&registry->arena, count + 1, sizeof(*copies));
  TENON_TRY_MEMORY(copies != NULL);
  for (size_t i = 0; i < count; ++i) {
    if (!parse_digest(digests[i], &copies[i])) {
      return tenon__fail(&registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                         "'%s' is not a SHA-256 digest of 64 hexadecimal digits", digests[i]);
    }
  }
  registry->digests = copies;
  registry->digest_count = count;
  return TENON_OK;
}

static tenon_status_t copy_texts(tenon__registry_t* registry, const char* const* texts,
                                 const char* const** out_copies) {
  size_t count = 0;
  while (texts != NULL && texts[count] != NULL) {
    ++count;
  }
  const char** copies = tenon__arena_allocate(&registry->arena, count + 1, sizeof(*copies));
  TENON_TRY_MEMORY(copies != NULL);
  for (size_t i = 0; i < count; ++i) {
    copies[i] = tenon__arena_copy_string(&registry->arena, texts[i]);
    TENON_TRY_MEMORY(copies[i] != NULL);
  }
  *out_copies = copies;
  return TENON_OK;
}

static tenon_status_t take_options(tenon__registry_t* registry,
                                   const tenon__registry_options_t* options) {
  registry->policy = options->policy;
  registry->range.min_minor = options->abi_min_minor == 0 ? HOST_MIN_MINOR : options->abi_min_minor;
  registry->range.max_minor = options->abi_max_minor == 0 ? HOST_MAX_MINOR : options->abi_max_minor;
  for (const char* const* path = options->paths; path != NULL && *path != NULL; ++path) {
    if ((*path)[0] != '/') {
      return tenon__fail(&registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                         "the plugin path '%s' is not absolute", *path);
    }
  }
  TENON_TRY(copy_digests(registry, options->digests));
  TENON_TRY(copy_texts(registry, options->set_aside, &registry->set_aside));
  TENON_TRY(copy_texts(registry, options->prefer, &registry->prefer));
  const char* installed = options->installed_directory;
  return tenon__search_path_make(&registry->arena, options->paths, options->only_paths,
                                 installed == NULL ? INSTALLED_DIRECTORY : installed,
                                 &registry->search_path)
             ? TENON_OK
             : TENON_ERROR_OUT_OF_MEMORY;
}

tenon_status_t tenon__registry_create(const tenon__registry_options_t* options,
                                      tenon__registry_t** out_registry) {
  tenon__registry_t* registry = tenon__allocate(options->allocator, 1, sizeof(*registry));
  TENON_TRY_MEMORY(registry != NULL);
  registry->allocator = options->allocator;
  registry->sink = options->sink;
  registry->catalog = options->catalog;
  (void)pthread_mutex_init(&registry->scan_mutex, NULL);
  (void)pthread_mutex_init(&registry->mutex, NULL);
  tenon__arena_initialize(&registry->arena, options->allocator);
  tenon__trust_initialize(&registry->trust);
  const tenon_status_t status = take_options(registry, options);
  if (status != TENON_OK) {
    tenon__registry_destroy(registry);
    return status;
  }
  *out_registry = registry;
  return TENON_OK;
}

void tenon__registry_destroy(tenon__registry_t* registry) {
  if (registry == NULL) {
    return;
  }
  for (size_t i = registry->started_count; i > 0; --i) {
    tenon__plugin_candidate_t* candidate = registry->started[i - 1];
    if (candidate->stop != NULL) {
      const tenon__call_t call = {candidate->owner.plugin, "stop", candidate->path, ""};
      const tenon__call_t* outer = tenon__call_enter(&call);
      candidate->stop(candidate->owner.state);
      tenon__call_leave(outer);
    }
  }
  const tenon_allocator_t allocator = registry->allocator;
  tenon__free(allocator, registry->started, registry->started_capacity * sizeof(void*));
  tenon__free(allocator, registry->candidates, registry->candidate_capacity * sizeof(void*));
  tenon__arena_deinitialize(&registry->arena);
  (void)pthread_mutex_destroy(&registry->mutex);
  (void)pthread_mutex_destroy(&registry->scan_mutex);
  tenon__free(allocator, registry, sizeof(*registry));
}

/* ---- What was found ---- */

void tenon__candidate_refuse(tenon__plugin_candidate_t* candidate, tenon__finding_t finding) {
  const char* text = tenon__plugin_reason_text(finding.reason);
  const char* message =
      finding.detail[0] == '\0'
          ? text
          : tenon__arena_format(&candidate->registry->arena, "%s: %s", text, finding.detail);
  candidate->state = TENON_CANDIDATE_REFUSED;
  candidate->finding = finding;
  candidate->message = message == NULL ? text : message;
}

uint32_t tenon__registry_candidate_count(tenon__registry_t* registry) {
  (void)pthread_mutex_lock(&registry->mutex);
  const uint32_t count = (uint32_t)registry->candidate_count;
  (void)pthread_mutex_unlock(&registry->mutex);
  return count;
}

/* NULL past the end. */
static tenon__plugin_candidate_t* get_candidate(tenon__registry_t* registry, uint32_t index) {
  (void)pthread_mutex_lock(&registry->mutex);
  tenon__plugin_candidate_t* candidate =
      index < registry->candidate_count ? registry->candidates[index] : NULL;
  (void)pthread_mutex_unlock(&registry->mutex);
  return candidate;
}

tenon_status_t tenon__registry_candidate(tenon__registry_t* registry, uint32_t index,
                                         tenon__candidate_info_t* out_info) {
  const tenon__plugin_candidate_t* candidate = get_candidate(registry, index);
  if (candidate == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  static const tenon__manifest_t unknown = {
      .name = "", .version = "", .vendor = "", .licence = "", .url = "", .offers_text = ""};
  const tenon__manifest_t* manifest = candidate->manifest == NULL ? &unknown : candidate->manifest;
  (void)pthread_mutex_lock(&registry->mutex);
  *out_info = (tenon__candidate_info_t){.path = candidate->path,
                                        .name = manifest->name,
                                        .version = manifest->version,
                                        .vendor = manifest->vendor,
                                        .licence = manifest->licence,
                                        .url = manifest->url,
                                        .offers = manifest->offers_text,
                                        .built = manifest->built,
                                        .needed = manifest->needed,
                                        .state = candidate->state,
                                        .reason = candidate->finding.reason,
                                        .message = candidate->message};
  (void)pthread_mutex_unlock(&registry->mutex);
  return TENON_OK;
}

tenon_status_t tenon__registry_load(tenon__registry_t* registry, uint32_t index,
                                    const tenon_sink_t* sink) {
  tenon__plugin_candidate_t* candidate = get_candidate(registry, index);
  if (candidate == NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "there is no candidate %u", index);
  }
  return tenon__catalog_make_ready(registry->catalog, &candidate->owner, sink);
}

tenon_status_t tenon__registry_digest(tenon__registry_t* registry, uint32_t index,
                                      const tenon_sink_t* sink, tenon__digest_t* out_digest) {
  tenon__plugin_candidate_t* candidate = get_candidate(registry, index);
  if (candidate == NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "there is no candidate %u", index);
  }
  return tenon__candidate_digest(candidate, &candidate->owner, sink, out_digest);
}

uint32_t tenon__registry_directory_count(tenon__registry_t* registry) {
  return (uint32_t)registry->search_path.count;
}

tenon_status_t tenon__registry_directory(tenon__registry_t* registry, uint32_t index,
                                         tenon__directory_info_t* out_info) {
  if (index >= registry->search_path.count) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  (void)pthread_mutex_lock(&registry->mutex);
  const tenon__directory_t* directory = &registry->search_path.directories[index];
  *out_info = (tenon__directory_info_t){directory->path, directory->origin,
                                        directory->finding.reason, directory->finding.detail};
  (void)pthread_mutex_unlock(&registry->mutex);
  return TENON_OK;
}
