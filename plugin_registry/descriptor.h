/*
 * A loaded plugin's own description: its root and offerings, copied in full size and compared with
 * its manifest. The registry uses the manifest without running the plugin. After the plugin has
 * run, its description must agree with the manifest, else a listing and a look-up would differ.
 */
#ifndef TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_
#define TENON_PLUGIN_REGISTRY_DESCRIPTOR_H_

#include "core/base/arena.h"
#include "plugin_registry/manifest.h"

/* Copies the root and its list of offerings in full size to the arena. Name and version must be the
 * manifest's. Strings and items belong to the plugin, which is never unloaded. Reasons: DESCRIPTOR,
 * MEMORY. */
tenon__finding_t tenon__descriptor_copy(tenon__arena_t* arena, const tenon_plugin_t* source,
                                        const tenon__manifest_t* manifest,
                                        tenon_plugin_t* out_root);
/* Checks that the offered and the declared items are the same. Kinds that this host does not know
 * are ignored on both sides, and a declaration of "*" may have no item. `scratch` may be freed
 * afterwards, except the detail. Reasons: PROMISE, DESCRIPTOR, MEMORY. */
tenon__finding_t tenon__descriptor_compare(tenon__arena_t* scratch, const tenon_plugin_t* root,
                                           const tenon__manifest_t* manifest);

#endif
