/* Checks of expressions that span operators: patterns, replacements, guards. They run when all
 * plugins are available. */
#ifndef TENON_CORE_CATALOG_CHECK_H_
#define TENON_CORE_CATALOG_CHECK_H_

#include "core/catalog/entry.h"

/* Checks the expressions of rewrites and of kernels' patterns that were not checked before: their
 * syntax, and that the operators, attributes and names in them exist. Entries with errors are
 * rejected, with the expression and the column. Loads owners that have declared rewrites or
 * patterns. Returns OUT_OF_MEMORY only. This is not done when an entry is admitted, because its
 * operators may belong to a plugin that is loaded later. Called before each build; repeated checks
 * are cheap. */
tenon_status_t tenon__catalog_check_texts(tenon__catalog_t* catalog, const tenon_sink_t* sink);
/* Records the result of a rewrite's trial on numbers. With `fault` (a message, copied) the rewrite
 * is rejected, else it is kept. It is tried once for each catalogue; later builds use the
 * result. */
void tenon__catalog_judge(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                          const char* fault, const tenon_sink_t* sink);
/* Returns true if the rewrite was tried; *out_refused is true if it was rejected for the result. */
bool tenon__catalog_is_tried(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                             bool* out_refused);

#endif
