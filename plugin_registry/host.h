/* What one host gives one plugin: the offer, and tables by versioned string.
 *   allocator/1, sink/1   every plugin; messages get the plugin's name in front
 *   library/1             plugins whose manifest asks for it: host-service: library/1
 * All of them live until the registry is destroyed. */
#ifndef TENON_PLUGIN_REGISTRY_HOST_H_
#define TENON_PLUGIN_REGISTRY_HOST_H_

#include "core/base/arena.h"
#include "core/base/status.h"
#include "plugin_registry/audit.h"

/* Stays where it is: tables point into it. One for each plugin and registry; the registry's arena
 * holds it as part of the candidate. */
typedef struct tenon__host_t {
  tenon_host_offer_t offer;
  tenon_allocator_t allocator;
  const tenon_sink_t* next; /* the registry's */
  tenon_sink_t sink;        /* what the plugin gets */
  tenon_library_table_t library;
  const tenon__manifest_t* manifest;
  const char* path;       /* of the plugin; libraries may be in the same folder */
  const char* prefix;     /* "acme: " */
  char last_message[512]; /* the last warning or error, while `listening` */
  bool listening;         /* while the plugin is started, by one thread */
} tenon__host_t;

/* `next`, manifest and path live as long as the host. False when memory is out. library/1 opens
 * only what the manifest names as `opened`; anything else is DENIED. A library beside the plugin is
 * opened after checks like the plugin's own, but for what it exports and needs; one that is not
 * there is looked for by its soname, as the loader would. */
bool tenon__host_initialize(tenon__host_t* out_host, tenon__arena_t* arena,
                            tenon_allocator_t allocator, const tenon_sink_t* next,
                            const tenon__manifest_t* manifest, const char* path,
                            tenon__abi_range_t range);

#endif
