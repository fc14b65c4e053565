/* Rejected offers: each is reported once and listed. */
#ifndef TENON_CORE_CATALOG_LEFT_OUT_H_
#define TENON_CORE_CATALOG_LEFT_OUT_H_

#include "core/catalog/state.h"

/* Reports an offer as a warning and adds a copy to the list, under the lock. If out of memory, only
 * the warning is sent. */
void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink);
/* Same for an entry, which look-ups no longer find. The entry keeps its address, because a thread
 * may use it. */
void tenon__catalog_drop(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                         tenon__admission_t* verdict, const tenon_sink_t* sink);

/* Lists the rejected offers of the plugins loaded so far. Returns the count; writes up to
 * capacity. */
uint32_t tenon__catalog_left_out(tenon__catalog_t* catalog, tenon__left_out_t* out_items,
                                 uint32_t capacity);
/* Same for the plugin in one file, as text with one line each: "operator acme.blur/1: reason\n".
 * Valid for the catalogue's life. */
const char* tenon__catalog_left_out_lines(tenon__catalog_t* catalog, const char* path);

#endif
