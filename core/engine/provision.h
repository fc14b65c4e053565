/* Checks that the plugins and kernels of a plan are available. */
#ifndef TENON_CORE_ENGINE_PROVISION_H_
#define TENON_CORE_ENGINE_PROVISION_H_

#include "core/engine/engine_state.h"

/* Compares the digest of each plugin that the plan names with that of the installed file, as the
 * options require. The devices are open. Plugins are loaded, so that the compared file is the one
 * in use. Names all plugins that differ, then returns INVALID_DATA for a different file, or
 * NOT_FOUND for an absent one. */
tenon_status_t tenon__engine_check_plugins(const tenon__engine_t* engine);
/* Compares the digests again, after the engine was created. Differences are errors. */
tenon_status_t tenon__engine_compare_plugins(const tenon__engine_t* engine);
/* Returns the entry of the step's kernel. NULL if it is absent or does not support this machine,
 * which has been reported. */
const tenon__kernel_entry_t* tenon__engine_find_kernel(tenon__engine_t* engine,
                                                       const tenon__step_t* step);
/* Reports that a requirement of the plan has changed, as an error, or as a warning if the plan can
 * be rebuilt. Returns `status`. */
tenon_status_t tenon__engine_lacks(const tenon__engine_t* engine, tenon_status_t status,
                                   const char* format, ...) __attribute__((format(printf, 3, 4)));

#endif
