/* From a promise to a started plugin whose offerings stand in the catalogue. Runs under the
 * catalogue's lock, so each candidate is loaded by one thread, once. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/call.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/descriptor.h"
#include "plugin_registry/state.h"

/* One load. Details lie in `scratch`; what lasts is copied at the end. */
typedef struct load_t {
  tenon__registry_t* registry;
  tenon__plugin_candidate_t* candidate;
  tenon__catalog_t* catalog;
  const tenon_sink_t* sink;
  tenon__arena_t scratch;
} load_t;

static tenon__call_t called(const tenon__plugin_candidate_t* candidate, const char* function) {
  return (tenon__call_t){candidate->owner.plugin, function, candidate->path, ""};
}

/* The file that is checked here is the one that is loaded: both go through one descriptor. */
static tenon__finding_t open_image(load_t* load) {
  tenon__plugin_candidate_t* candidate = load->candidate;
  tenon__registry_t* registry = load->registry;
  tenon__trust_t trust;
  tenon__trust_initialize(&trust);
  tenon__inspection_t inspection;
  tenon__inspect_plugin(&trust, &load->scratch, candidate->path, registry->range, &inspection);
  tenon__finding_t result = inspection.finding;
  if (result.reason != TENON_PLUGIN_REASON_NONE) {
    return result;
  }
  if (!tenon__same_file(&inspection.identity, &candidate->identity)) {
    result = tenon__finding(TENON_PLUGIN_REASON_CHANGED, "look again (refresh)");
  } else {
    result =
        tenon__registry_permit(registry, inspection.descriptor, inspection.identity.size_bytes);
  }
  if (result.reason != TENON_PLUGIN_REASON_NONE) {
    (void)close(inspection.descriptor);
    return result;
  }
  const tenon__image_t* image = NULL;
  const tenon__call_t call = called(candidate, "a constructor");
  const tenon__call_t* outer = tenon__call_enter(&call);
  result = tenon__image_open(&load->scratch, inspection.descriptor, &inspection.identity, &image);
  tenon__call_leave(outer);
  (void)pthread_mutex_lock(&registry->mutex);
  candidate->image = image;
  (void)pthread_mutex_unlock(&registry->mutex);
  return result;
}

static tenon__finding_t make_host(load_t* load) {
  tenon__registry_t* registry = load->registry;
  tenon__plugin_candidate_t* candidate = load->candidate;
  (void)pthread_mutex_lock(&registry->mutex);
  const bool good = tenon__host_initialize(&candidate->host, &registry->arena, registry->allocator,
                                           &registry->sink, candidate->manifest, candidate->path,
                                           registry->range);
  (void)pthread_mutex_unlock(&registry->mutex);
  return good ? TENON_FINDING_NONE : TENON_FINDING_MEMORY;
}

/* dlsym gives an object pointer; POSIX says that it holds a function's address. */
static tenon_plugin_query_t query_of(void* symbol) {
  tenon_plugin_query_t query = NULL;
  _Static_assert(sizeof(query) == sizeof(symbol), "function and object pointers have one size");
  memcpy(&query, &symbol, sizeof(query));
  return query;
}

static tenon__finding_t ask(load_t* load, tenon_plugin_t* out_root) {
  tenon__plugin_candidate_t* candidate = load->candidate;
  void* symbol = dlsym(candidate->image->handle, TENON_PLUGIN_QUERY_SYMBOL);
  if (symbol == NULL) {
    return tenon__finding(TENON_PLUGIN_REASON_NO_QUERY, "");
  }
  const tenon__call_t call = called(candidate, "query");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_plugin_t* descriptor = query_of(symbol)(&candidate->host.offer);
  tenon__call_leave(outer);
  if (descriptor == NULL) {
    return tenon__finding(TENON_PLUGIN_REASON_DECLINED, "");
  }
  tenon__finding_t result =
      tenon__descriptor_copy(&load->scratch, descriptor, candidate->manifest, out_root);
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = tenon__descriptor_compare(&load->scratch, out_root, candidate->manifest);
  }
  return result;
}

static tenon__finding_t start(load_t* load, const tenon_plugin_t* root) {
  tenon__registry_t* registry = load->registry;
  tenon__plugin_candidate_t* candidate = load->candidate;
  if (!TENON_GROW(registry->allocator, registry->started, registry->started_capacity,
                  registry->started_count + 1)) {
    return TENON_FINDING_MEMORY;
  }
  if (root->start != NULL) {
    void* state = NULL;
    candidate->host.listening = true;
    const tenon__call_t call = called(candidate, "start");
    const tenon__call_t* outer = tenon__call_enter(&call);
    const tenon_status_t status = root->start(&candidate->host.offer, &state);
    tenon__call_leave(outer);
    candidate->host.listening = false;
    if (status != TENON_OK) {
      const char* message = candidate->host.last_message;
      return tenon__finding(
          TENON_PLUGIN_REASON_START_FAILED,
          tenon__arena_format(&load->scratch, "%s%s%s", tenon__status_text(status),
                              message[0] == '\0' ? "" : "; ", message));
    }
    candidate->owner.state = state;
  }
  candidate->stop = root->stop;
  registry->started[registry->started_count++] = candidate;
  return TENON_FINDING_NONE;
}

static tenon__finding_t add_offerings(load_t* load, const tenon_plugin_t* root) {
  const tenon_offering_t* const* offerings = root->offerings.items;
  for (uint32_t i = 0; i < root->offerings.count; ++i) {
    if (tenon__catalog_add(load->catalog, &load->candidate->owner, offerings[i], load->sink) !=
        TENON_OK) {
      return TENON_FINDING_MEMORY;
    }
  }
  return TENON_FINDING_NONE;
}

static tenon__finding_t load_plugin(load_t* load) {
  tenon_plugin_t root;
  tenon__finding_t result = open_image(load);
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = make_host(load);
  }
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = ask(load, &root);
  }
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = start(load, &root);
  }
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    result = add_offerings(load, &root);
  }
  return result;
}

static tenon_status_t status_of(tenon__plugin_reason_t reason) {
  switch (reason) {
    case TENON_PLUGIN_REASON_NONE:
      return TENON_OK;
    case TENON_PLUGIN_REASON_MEMORY:
      return TENON_ERROR_OUT_OF_MEMORY;
    case TENON_PLUGIN_REASON_UNREADABLE:
      return TENON_ERROR_IO;
    case TENON_PLUGIN_REASON_GONE:
    case TENON_PLUGIN_REASON_CHANGED:
    case TENON_PLUGIN_REASON_REQUIRES:
      return TENON_ERROR_NOT_FOUND;
    case TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS:
    case TENON_PLUGIN_REASON_NOT_LISTED:
    case TENON_PLUGIN_REASON_SHADOWED:
      return TENON_ERROR_DENIED;
    case TENON_PLUGIN_REASON_MACHINE:
    case TENON_PLUGIN_REASON_INSTRUCTION_SET:
    case TENON_PLUGIN_REASON_ABI_MAJOR:
    case TENON_PLUGIN_REASON_NEEDS_NEWER_HOST:
    case TENON_PLUGIN_REASON_TOO_OLD:
    case TENON_PLUGIN_REASON_DECLINED:
    case TENON_PLUGIN_REASON_LOAD_FAILED:
    case TENON_PLUGIN_REASON_START_FAILED:
    case TENON_PLUGIN_REASON_NO_PROC:
      return TENON_ERROR_UNSUPPORTED;
    default:
      return TENON_ERROR_INVALID_DATA;
  }
}

/* Notes how it ended; the words to report, NULL when there is nothing to say. */
static const char* conclude(load_t* load, tenon__finding_t result) {
  tenon__registry_t* registry = load->registry;
  tenon__plugin_candidate_t* candidate = load->candidate;
  const char* message = NULL;
  (void)pthread_mutex_lock(&registry->mutex);
  if (result.reason == TENON_PLUGIN_REASON_NONE) {
    candidate->state = TENON_CANDIDATE_LOADED;
  } else {
    result.detail = tenon__arena_copy_string(&registry->arena, result.detail);
    tenon__candidate_refuse(candidate, result.detail == NULL ? TENON_FINDING_MEMORY : result);
    candidate->reported = true;
    message = candidate->message;
  }
  (void)pthread_mutex_unlock(&registry->mutex);
  return message;
}

tenon_status_t tenon__candidate_make_ready(void* user, tenon__owner_t* owner,
                                           tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  tenon__plugin_candidate_t* candidate = user;
  (void)owner;
  load_t load = {
      .registry = candidate->registry, .candidate = candidate, .catalog = catalog, .sink = sink};
  (void)pthread_mutex_lock(&load.registry->mutex);
  const bool refused = candidate->state == TENON_CANDIDATE_REFUSED;
  const tenon__plugin_reason_t reason = candidate->finding.reason;
  (void)pthread_mutex_unlock(&load.registry->mutex);
  if (refused) {
    return status_of(reason); /* it was reported when it was refused */
  }
  tenon__arena_initialize(&load.scratch, load.registry->allocator);
  const tenon__finding_t result = load_plugin(&load);
  const char* message = conclude(&load, result);
  tenon__arena_deinitialize(&load.scratch);
  if (message != NULL) {
    tenon__report(sink, TENON_SEVERITY_WARNING, "plugin %s %s (%s) is not used: it %s",
                  candidate->owner.plugin, candidate->owner.version, candidate->path, message);
  }
  return status_of(result.reason);
}

/* ---- Digests ---- */

/* `image` may be NULL: then of the file that is there now. */
static tenon_status_t make_digest(const tenon__plugin_candidate_t* candidate,
                                  const tenon__image_t* image, const tenon_sink_t* sink,
                                  tenon__digest_t* out_digest) {
  if (image != NULL) {
    return tenon__inspect_digest(image->descriptor, image->identity.size_bytes, out_digest)
               ? TENON_OK
               : tenon__fail(sink, TENON_ERROR_IO, "cannot read '%s'", candidate->path);
  }
  tenon__arena_t scratch;
  tenon__arena_initialize(&scratch, candidate->registry->allocator);
  tenon__trust_t trust;
  tenon__trust_initialize(&trust);
  int descriptor = -1;
  tenon__file_identity_t identity;
  const tenon__finding_t result =
      tenon__inspect_open(&trust, &scratch, candidate->path, &descriptor, &identity);
  tenon_status_t status = TENON_OK;
  if (result.reason != TENON_PLUGIN_REASON_NONE) {
    status = tenon__fail(sink, status_of(result.reason), "'%s' %s%s%s", candidate->path,
                         tenon__plugin_reason_text(result.reason),
                         result.detail[0] == '\0' ? "" : ": ", result.detail);
  } else if (!tenon__inspect_digest(descriptor, identity.size_bytes, out_digest)) {
    status = tenon__fail(sink, TENON_ERROR_IO, "cannot read '%s'", candidate->path);
  }
  if (descriptor >= 0) {
    (void)close(descriptor);
  }
  tenon__arena_deinitialize(&scratch);
  return status;
}

tenon_status_t tenon__candidate_digest(void* user, const tenon__owner_t* owner,
                                       const tenon_sink_t* sink, tenon__digest_t* out_digest) {
  tenon__plugin_candidate_t* candidate = user;
  tenon__registry_t* registry = candidate->registry;
  (void)owner;
  (void)pthread_mutex_lock(&registry->mutex);
  const bool known = candidate->digest_known;
  tenon__digest_t digest = candidate->digest;
  const tenon__image_t* image = candidate->image;
  (void)pthread_mutex_unlock(&registry->mutex);
  if (!known) {
    TENON_TRY(make_digest(candidate, image, sink, &digest));
    /* Only an image's bytes stay what they are. */
    (void)pthread_mutex_lock(&registry->mutex);
    candidate->digest_known = image != NULL;
    candidate->digest = digest;
    (void)pthread_mutex_unlock(&registry->mutex);
  }
  *out_digest = digest;
  return TENON_OK;
}
