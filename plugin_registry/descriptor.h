/* A plugin's own description, once it has been asked: its root and offerings, copied in full size
 * and compared with its manifest. */
#ifndef TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_
#define TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_

#include "core/base/arena.h"
#include "plugin_registry/manifest.h"

/* A full-size root whose offerings are a full-size array in the arena. Reasons: DESCRIPTOR, MEMORY.
 */
tenon__finding_t tenon__descriptor_copy(tenon__arena_t* arena, const tenon_plugin_t* source,
                                        const tenon__manifest_t* manifest,
                                        tenon_plugin_t* out_root);
/* Everything that is offered was promised, and the other way round. `scratch` may be thrown away
 * afterwards, but for the detail. Reasons: PROMISE, DESCRIPTOR, MEMORY. */
tenon__finding_t tenon__descriptor_compare(tenon__arena_t* scratch, const tenon_plugin_t* root,
                                           const tenon__manifest_t* manifest);

#endif
