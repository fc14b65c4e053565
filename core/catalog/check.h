/* Checks of texts that span operators: patterns, replacements, guards. Made once all plugins can be
 * asked. */
#ifndef TENON_CORE_CATALOG_CHECK_H_
#define TENON_CORE_CATALOG_CHECK_H_

#include "core/catalog/entry.h"

/* Checks the texts of rewrites and of kernels' patterns, those that were not checked before: that
 * they can be read, and that operators, attributes and names in them exist. What has a fault is
 * left out, with the text and the column. Loads who promised rewrites or patterns. Fails only when
 * memory is out. Not made when an entry is admitted, since its operators may be another plugin's
 * that is loaded later. Called before each build; what was checked costs a look. */
tenon_status_t tenon__catalog_check_texts(tenon__catalog_t* catalog, const tenon_sink_t* sink);
/* A rewrite was tried on numbers: it is kept, or with `fault` (words, copied) left out. Once for
 * each catalogue: later builds believe it. */
void tenon__catalog_judge(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                          const char* fault, const tenon_sink_t* sink);
/* Was it tried, by whomever, and left out for it? */
bool tenon__catalog_is_tried(tenon__catalog_t* catalog, const tenon__rewrite_entry_t* entry,
                             bool* out_refused);

#endif
