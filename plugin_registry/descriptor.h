/*
 * A plugin's own description, once it has been asked: its root and offerings, copied in full size
 * and compared with its manifest. The manifest was believed when the plugin was promised, without
 * running it; here the plugin has run, and what it says must be the same, or a listing and a
 * look-up would disagree.
 */
#ifndef TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_
#define TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_

#include "core/base/arena.h"
#include "plugin_registry/manifest.h"

/* A full-size root whose list of offerings lies in the arena, each copied in full size. Reasons:
 * DESCRIPTOR, MEMORY. Name and version must be the manifest's. Strings and items stay the plugin's,
 * which is never unloaded. */
tenon__finding_t tenon__descriptor_copy(tenon__arena_t* arena, const tenon_plugin_t* source,
                                        const tenon__manifest_t* manifest,
                                        tenon_plugin_t* out_root);
/* Everything that is offered was promised, and the other way round. `scratch` may be thrown away
 * afterwards, but for the detail. Reasons: PROMISE, DESCRIPTOR, MEMORY. Kinds that this host does
 * not know are passed over on both sides, and a promise of every name, "*", may be kept by none. */
tenon__finding_t tenon__descriptor_compare(tenon__arena_t* scratch, const tenon_plugin_t* root,
                                           const tenon__manifest_t* manifest);

#endif
