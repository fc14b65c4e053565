/* The host's side of a start. */
#include "plugin_registry/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin_registry/image.h"
#include "plugin_registry/inspect.h"

static void report(void* user, int32_t severity, const char* message) {
  tenon__host_t* host = user;
  if (host->listening && severity >= TENON_SEVERITY_WARNING) {
    (void)snprintf(host->last_message, sizeof(host->last_message), "%s",
                   message == NULL ? "" : message);
  }
  tenon__report(host->next, severity, "%s%s", host->prefix, message == NULL ? "" : message);
}

/* ---- library/1 ---- */

static bool may_open(const tenon__manifest_t* manifest, const char* soname) {
  for (size_t i = 0; i < manifest->library_count; ++i) {
    if (manifest->libraries[i].opened && strcmp(manifest->libraries[i].soname, soname) == 0) {
      return true;
    }
  }
  return false;
}

/* A file beside the plugin keeps the rules of a plugin, but for what it exports and needs. */
static tenon__finding_t open_beside(tenon__arena_t* arena, const char* path, void** out_handle) {
  tenon__trust_t trust;
  tenon__trust_initialize(&trust);
  int descriptor = -1;
  tenon__file_identity_t identity;
  tenon__finding_t finding = tenon__inspect_open(&trust, arena, path, &descriptor, &identity);
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    return finding;
  }
  const tenon__elf_source_t source = tenon__elf_source_of_file(&descriptor, identity.size_bytes);
  tenon__elf_t elf;
  finding = tenon__elf_read(arena, &source, &elf);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    finding = tenon__audit_library(arena, &elf);
  }
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    (void)close(descriptor);
    return finding;
  }
  const tenon__image_t* image = NULL;
  finding = tenon__image_open(arena, descriptor, &identity, &image);
  if (finding.reason == TENON_PLUGIN_REASON_NONE) {
    *out_handle = image->handle;
  }
  return finding;
}

/* By soname, as the loader would find a library that the plugin is linked to. */
static tenon_status_t open_installed(tenon__host_t* host, const char* soname, void** out_handle) {
  void* handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char* message = dlerror();
    return tenon__fail(&host->sink, TENON_ERROR_NOT_FOUND, "cannot open %s: %s", soname,
                       message == NULL ? "" : message);
  }
  *out_handle = handle;
  return TENON_OK;
}

static tenon_status_t open_library(void* user, const char* soname, void** out_handle) {
  tenon__host_t* host = user;
  if (soname == NULL || out_handle == NULL || strchr(soname, '/') != NULL) {
    return tenon__fail(&host->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "name a library by its soname, not by a path");
  }
  if (!may_open(host->manifest, soname)) {
    return tenon__fail(&host->sink, TENON_ERROR_DENIED,
                       "the manifest lacks the line 'needs-library: %s opened'", soname);
  }
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, host->allocator);
  const char* slash = strrchr(host->path, '/');
  const int length = slash == NULL ? 0 : (int)(slash - host->path);
  const char* beside = tenon__arena_format(&arena, "%.*s/%s", length, host->path, soname);
  tenon_status_t status = TENON_OK;
  if (beside == NULL) {
    status = TENON_ERROR_OUT_OF_MEMORY;
  } else if (access(beside, F_OK) != 0) {
    status = open_installed(host, soname, out_handle);
  } else {
    const tenon__finding_t finding = open_beside(&arena, beside, out_handle);
    if (finding.reason != TENON_PLUGIN_REASON_NONE) {
      status = tenon__fail(&host->sink, TENON_ERROR_DENIED, "%s %s%s%s", beside,
                           tenon__plugin_reason_text(finding.reason),
                           finding.detail[0] == '\0' ? "" : ": ", finding.detail);
    }
  }
  tenon__arena_deinitialize(&arena);
  return status;
}

/* ---- The offer ---- */

static bool asks_for(const tenon__manifest_t* manifest, const char* service) {
  for (size_t i = 0; i < manifest->service_count; ++i) {
    if (strcmp(manifest->services[i], service) == 0) {
      return true;
    }
  }
  return false;
}

static const void* table(void* user, const char* name) {
  tenon__host_t* host = user;
  if (name == NULL) {
    return NULL;
  }
  if (strcmp(name, "allocator/1") == 0) {
    return &host->allocator;
  }
  if (strcmp(name, "sink/1") == 0) {
    return &host->sink;
  }
  if (strcmp(name, "library/1") == 0 && asks_for(host->manifest, name)) {
    return &host->library;
  }
  return NULL;
}

bool tenon__host_initialize(tenon__host_t* out_host, tenon__arena_t* arena,
                            tenon_allocator_t allocator, const tenon_sink_t* next,
                            const tenon__manifest_t* manifest, const char* path,
                            tenon__abi_range_t range) {
  const char* prefix = tenon__arena_format(arena, "%s: ", manifest->name);
  if (prefix == NULL) {
    return false;
  }
  memset(out_host, 0, sizeof(*out_host));
  out_host->offer = (tenon_host_offer_t){.abi_major = TENON_ABI_MAJOR,
                                         .abi_min_minor = range.min_minor,
                                         .abi_max_minor = range.max_minor,
                                         .host = out_host,
                                         .table = table};
  out_host->allocator = allocator;
  out_host->next = next;
  out_host->sink = (tenon_sink_t){out_host, report};
  out_host->library =
      (tenon_library_table_t){sizeof(tenon_library_table_t), out_host, open_library};
  out_host->manifest = manifest;
  out_host->path = path;
  out_host->prefix = prefix;
  return true;
}
