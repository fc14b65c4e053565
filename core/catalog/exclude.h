/* Offers that a build must not use: "PLUGIN" excludes all its kernels and rewrites, "PLUGIN:NAME"
 * the kernel and the rewrites of that name. Operators, converters and parsers cannot be excluded,
 * because they define the meaning of a network. */
#ifndef TENON_CORE_CATALOG_EXCLUDE_H_
#define TENON_CORE_CATALOG_EXCLUDE_H_

#include <stdbool.h>

#include "core/catalog/entry.h"

/* Returns true if the kernel or rewrite is excluded. `exclude` is NULL or ends with NULL. Called
 * for each kernel and rewrite; the list is short. */
bool tenon__is_excluded(const char* const* exclude, const char* plugin, const char* name);
/* Returns INVALID_ARGUMENT for an unknown name; the message lists the known ones. Loads plugins
 * that the list names. An entry that excludes nothing is most likely misspelt, and a build that
 * ignored it would use the kernel that it should exclude. */
tenon_status_t tenon__exclude_check(tenon__catalog_t* catalog, const char* const* exclude,
                                    const tenon_sink_t* sink);

#endif
