/* Engines as everyone may know them. */
#ifndef TENON_CORE_ENGINE_TYPES_H_
#define TENON_CORE_ENGINE_TYPES_H_

#include "core/base/allocator.h"
#include "tenon/plugin.h"

typedef struct tenon__engine_t tenon__engine_t;

/* Copied into the engine. */
typedef struct tenon__engine_options_t {
  tenon_allocator_t allocator;
  uint32_t device_index;
  bool verify;         /* compare every digest in the plan: reads all of its bytes */
  bool verify_read;    /* compare those of the weights that each run reads */
  bool accepts_others; /* plugins of other digests than the plan's: a warning, and they are used */
  /* Not NULL: set when plugins are others, or lack what the plan needs, and the plan holds what it
   * takes to make it again. It is then refused with warnings, no errors. For the call alone. */
  bool* out_is_stale;
  const tenon_sink_t* sink; /* must live as long as the engine */
  /* Called once when the engine goes: the plan's bytes may go too. May be NULL. */
  void (*release_data)(void* user);
  void* release_user;
} tenon__engine_options_t;

#endif
