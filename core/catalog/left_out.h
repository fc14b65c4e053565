/* The offers that are left out: each is reported once and listed. */
#ifndef TENON_CORE_CATALOG_LEFT_OUT_H_
#define TENON_CORE_CATALOG_LEFT_OUT_H_

#include "core/catalog/state.h"

/* Under the lock. Reports an offer as a warning and adds it to the list. Texts are copied. If memory
 * for the list is out, the warning is all. */
void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink);
/* The same for an entry: it is not found any more. The entry stays where it is, as a thread may hold
 * it. */
void tenon__catalog_drop(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                         tenon__admission_t* verdict, const tenon_sink_t* sink);

/* The list so far, of the plugins loaded so far. Returns the count; writes up to capacity. */
uint32_t tenon__catalog_left_out(tenon__catalog_t* catalog, tenon__left_out_t* out_items,
                                 uint32_t capacity);
/* The same of the plugin in one file, a line each: "operator acme.blur/1: why\n". Valid for the
 * catalogue's life. */
const char* tenon__catalog_left_out_lines(tenon__catalog_t* catalog, const char* path);

#endif
