/* What a build is not to use of what plugins offer: "PLUGIN", all its kernels and rewrites, or
 * "PLUGIN:NAME", the kernel and the rewrites of that name. Operators, converters and parsers say
 * what a network means, and are not chosen among. */
#ifndef TENON_CORE_CATALOG_EXCLUDE_H_
#define TENON_CORE_CATALOG_EXCLUDE_H_

#include <stdbool.h>

#include "core/catalog/entry.h"

/* `exclude`: NULL, or ended by NULL. Asked for each kernel and rewrite; the list is short. */
bool tenon__is_excluded(const char* const* exclude, const char* plugin, const char* name);
/* INVALID_ARGUMENT for what there is not, naming what there is. Loads plugins of which something is
 * named. A word that excludes nothing is most likely misspelt, and a build that ignored it would
 * use what was not to be used. */
tenon_status_t tenon__exclude_check(tenon__catalog_t* catalog, const char* const* exclude,
                                    const tenon_sink_t* sink);

#endif
