/* Whether what a plan needs is here: the plugins that it was built with, and of them the kernels.
 */
#ifndef TENON_CORE_ENGINE_PROVISION_H_
#define TENON_CORE_ENGINE_PROVISION_H_

#include "core/engine/engine_state.h"

/* Compares the digest of each plugin that the plan names with that of the file here, as the options
 * say. INVALID_DATA for another file, NOT_FOUND for none. The device is open. Every one that
 * differs is named before it fails. A plugin is loaded for that, so that the file compared is the
 * one used. */
tenon_status_t tenon__engine_check_plugins(const tenon__engine_t* engine);
/* The digests again, once the engine is made: others are errors. */
tenon_status_t tenon__engine_compare_plugins(const tenon__engine_t* engine);
/* The entry of the step's kernel; NULL when it is not here, or not for this machine. NULL was told
 * already. */
const tenon__kernel_entry_t* tenon__engine_find_kernel(tenon__engine_t* engine,
                                                       const tenon__step_t* step);
/* Something that the plan needs is not as it was: an error, or, where it can be made again, a
 * warning. Returns `status`. */
tenon_status_t tenon__engine_lacks(const tenon__engine_t* engine, tenon_status_t status,
                                   const char* format, ...) __attribute__((format(printf, 3, 4)));

#endif
