/* Data that a host passes to one plugin: the offer, and tables by versioned string.
 *   allocator/1, sink/1   all plugins; messages get the plugin's name as prefix
 *   library/1             plugins whose manifest requests it: host-service: library/1
 * All of them live until the registry is destroyed. */
#ifndef TENON_PLUGIN_REGISTRY_HOST_H_
#define TENON_PLUGIN_REGISTRY_HOST_H_

#include "core/base/arena.h"
#include "core/base/status.h"
#include "plugin_registry/audit.h"

/* Do not move it, because tables point into it. One for each plugin and registry; it is part of the
 * candidate in the registry's arena. */
typedef struct tenon__host_t {
  tenon_host_offer_t offer;
  tenon_allocator_t allocator;
  const tenon_sink_t* next; /* the registry's */
  tenon_sink_t sink;        /* passed to the plugin */
  tenon_library_table_t library;
  const tenon__manifest_t* manifest;
  const char* path;       /* of the plugin; libraries may be in the same folder */
  const char* prefix;     /* "acme: " */
  char last_message[512]; /* the last warning or error, while `listening` */
  bool listening;         /* while the plugin is started, by one thread */
} tenon__host_t;

/* `next`, manifest and path live as long as the host. library/1 opens only libraries that the
 * manifest lists as `opened`; others are DENIED. A library in the plugin's folder is opened after
 * the plugin's own checks, except those of exports and needed libraries. If it is not there, the
 * loader searches for its soname. Returns false if out of memory. */
bool tenon__host_initialize(tenon__host_t* out_host, tenon__arena_t* arena,
                            tenon_allocator_t allocator, const tenon_sink_t* next,
                            const tenon__manifest_t* manifest, const char* path,
                            tenon__abi_range_t range);

#endif
