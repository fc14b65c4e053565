/*
 * Owners of a catalogue, and their promises: names that a plugin will offer once it is loaded. All
 * functions are called under the catalogue's lock.
 */
#ifndef TENON_CORE_CATALOG_PROMISES_H_
#define TENON_CORE_CATALOG_PROMISES_H_

#include "core/catalog/state.h"

/* Keys beside names: the list of all that promised something of a kind, and a promise of any name. */
#define TENON_PROMISES_ALL ""
#define TENON_PROMISES_ANY "*"

/* The owner's slot, made at first. NULL: no memory. */
tenon__owner_slot_t* tenon__promises_slot(tenon__catalog_t* catalog, const tenon__owner_t* owner);
/* Notes that the slot's owner promises the name. False: no memory. */
bool tenon__promises_enter(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                           tenon__owner_slot_t* slot, const char* name);
/* Asks an owner that was not asked yet for what it promised. Its status is in the slot. */
void tenon__promises_make_ready(tenon__catalog_t* catalog, tenon__owner_slot_t* slot,
                                const tenon_sink_t* sink);
/* The same for an owner that may have promised nothing. Returns whether it was asked now, with
 * success or without. */
bool tenon__promises_load(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                          const tenon_sink_t* sink);
/* Asks all owners that promised the name, or any name, in the order of the search path. */
void tenon__promises_keep(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                          const tenon_sink_t* sink);

#endif
