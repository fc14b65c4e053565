/*
 * Owners of a catalogue, and their declarations: names that a plugin will offer when it is loaded.
 * All functions are called under the catalogue's lock.
 */
#ifndef TENON_CORE_CATALOG_PROMISES_H_
#define TENON_CORE_CATALOG_PROMISES_H_

#include "core/catalog/state.h"

/* Special keys: the list of all owners that declare items of a kind, and a declaration of any
 * name. */
#define TENON_PROMISES_ALL ""
#define TENON_PROMISES_ANY "*"

/* Returns the owner's slot, created on first use. NULL: out of memory. */
tenon__owner_slot_t* tenon__promises_slot(tenon__catalog_t* catalog, const tenon__owner_t* owner);
/* Records that the slot's owner declares the name. False: out of memory. */
bool tenon__promises_enter(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                           tenon__owner_slot_t* slot, const char* name);
/* Loads an owner that was not loaded yet. Its status is in the slot. */
void tenon__promises_make_ready(tenon__catalog_t* catalog, tenon__owner_slot_t* slot,
                                const tenon_sink_t* sink);
/* Same for an owner that may have declared nothing. Returns true if it was loaded now, with or
 * without success. */
bool tenon__promises_load(tenon__catalog_t* catalog, const tenon__owner_t* owner,
                          const tenon_sink_t* sink);
/* Loads all owners that have declared the name, or any name, in the order of the search path. */
void tenon__promises_keep(tenon__catalog_t* catalog, tenon__offer_kind_t kind, const char* name,
                          const tenon_sink_t* sink);

#endif
