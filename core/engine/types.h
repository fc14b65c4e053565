/* Public types of engines. */
#ifndef TENON_CORE_ENGINE_TYPES_H_
#define TENON_CORE_ENGINE_TYPES_H_

#include "core/base/allocator.h"
#include "tenon/plugin.h"

typedef struct tenon__engine_t tenon__engine_t;

/* Copied into the engine. */
typedef struct tenon__engine_options_t {
  tenon_allocator_t allocator;
  uint32_t device_index;
  bool verify;         /* compare all digests in the plan; reads all of its bytes */
  bool verify_read;    /* compare the digests of weights that each run reads */
  bool accepts_others; /* plugins of other digests are used, with a warning */
  /* If not NULL: set to true if plugins have changed, or do not satisfy the plan, and the plan
   * contains the data to be rebuilt. It is then refused with warnings instead of errors. Used only
   * during the call. */
  bool* out_is_stale;
  const tenon_sink_t* sink; /* must live as long as the engine */
  /* Called once when the engine is destroyed; the plan's bytes may then be freed. May be NULL. */
  void (*release_data)(void* user);
  void* release_user;
} tenon__engine_options_t;

#endif
