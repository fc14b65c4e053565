/* The registry's internal state, for registry.c (creation, results), scan.c and load.c.
 *
 * Locks, in locking order: `scan_mutex` (one scan at a time), the catalogue's, `mutex`. `mutex`
 * guards the list of candidates, their changing members and the arena. Neither a plugin nor a sink
 * is called under it. */
#ifndef TENON_PLUGIN_REGISTRY_STATE_H_
#define TENON_PLUGIN_REGISTRY_STATE_H_

#include <pthread.h>

#include "core/base/string_map.h"
#include "plugin_registry/host.h"
#include "plugin_registry/image.h"
#include "plugin_registry/inspect.h"
#include "plugin_registry/registry.h"
#include "plugin_registry/search_path.h"

/* One inspected file. If a later scan finds it changed, another candidate replaces it in the list.
 * The old one stays in the arena, because the catalogue refers to its owner. It never moves.
 * Members above the mutex comment do not change after creation. */
typedef struct tenon__plugin_candidate_t {
  struct tenon__registry_t* registry;
  const char* path;
  tenon__file_identity_t identity;
  const tenon__manifest_t* manifest; /* NULL when it could not be read */
  tenon__owner_t owner;
  /* Guarded by the registry's mutex. */
  tenon__candidate_state_t state;
  tenon__finding_t finding;
  const char* message;
  bool reported;
  bool promised;
  bool seen; /* by the current scan */
  bool digest_known;
  tenon__digest_t digest;
  const tenon__image_t* image; /* after loading */
  /* Set while the plugin is loaded, under the catalogue's lock. */
  tenon__host_t host;
  void (*stop)(void* state);
} tenon__plugin_candidate_t;

/* Its arena grows with each scan that finds a new file, and is freed at the end. `started` is
 * written under the catalogue's lock, `candidates` under the mutex. */
struct tenon__registry_t {
  tenon_allocator_t allocator;
  tenon_sink_t sink;
  tenon__catalog_t* catalog;
  tenon__registry_policy_t policy;
  tenon__abi_range_t range;
  const tenon__digest_t* digests;
  size_t digest_count;
  const char* const* set_aside; /* NULL-terminated, as the next */
  const char* const* prefer;
  pthread_mutex_t scan_mutex;
  pthread_mutex_t mutex;
  tenon__arena_t arena;
  tenon__trust_t trust;
  tenon__search_path_t search_path;
  tenon__plugin_candidate_t** candidates;
  size_t candidate_count;
  size_t candidate_capacity;
  tenon__plugin_candidate_t** started; /* in the order of their start */
  size_t started_count;
  size_t started_capacity;
};

/* Under the mutex: sets state and message from a finding whose detail lives as long as the
 * registry. */
void tenon__candidate_refuse(tenon__plugin_candidate_t* candidate, tenon__finding_t finding);
/* Returns NONE or NOT_LISTED (or UNREADABLE), by the registry's policy. With the policy ANY nothing
 * is read. */
tenon__finding_t tenon__registry_permit(const tenon__registry_t* registry, int descriptor,
                                        uint64_t size_bytes);
/* The catalogue calls these as tenon__owner_t.make_ready and .digest; `user` is the candidate.
 * make_ready loads and starts a declared plugin and adds its offerings to the catalogue, under the
 * catalogue's lock. A refusal is reported once and remembered. */
tenon_status_t tenon__candidate_make_ready(void* user, tenon__owner_t* owner,
                                           tenon__catalog_t* catalog, const tenon_sink_t* sink);
tenon_status_t tenon__candidate_digest(void* user, const tenon__owner_t* owner,
                                       const tenon_sink_t* sink, tenon__digest_t* out_digest);

#endif
