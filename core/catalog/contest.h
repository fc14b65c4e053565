/*
 * Decides which of two owners that offer the same thing takes precedence, and removes the other
 * offer. catalog.h has the rule. It is applied here, so that a third owner is compared with one
 * winner. All functions are called under the catalogue's lock.
 */
#ifndef TENON_CORE_CATALOG_CONTEST_H_
#define TENON_CORE_CATALOG_CONTEST_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Of two definitions of an identity: returns true if the one of `there` takes precedence. */
bool tenon__definition_stays(const tenon__owner_t* there, const tenon__owner_t* comes,
                             const char* name);
/* Returns the plugin with operators that has the name of an identity's domain and has started, or
 * NULL. */
const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
                                                  const char* name);
/* Returns true if this owner's definition of the identity was rejected for another one. */
bool tenon__catalog_defines_otherwise(const tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                      const char* name);
/* Of two converters for the same version of a node type: returns true if `there` is asked first. */
bool tenon__converter_stays(const tenon__converter_entry_t* there,
                            const tenon__converter_entry_t* comes);
/* Owner and check result of an entry of any kind. */
typedef struct tenon__claim_t {
  const tenon__owner_t* owner;
  tenon__admission_t* verdict;
} tenon__claim_t;
tenon__claim_t tenon__entry_claim(tenon__offer_kind_t kind, const void* entry);
/* Compare a new entry with those under its key or name. One of two is rejected. Two converters for
 * one version both stay, and one is asked first, which is reported. */
void tenon__catalog_contest_converter(tenon__catalog_t* catalog, const char* key,
                                      const tenon__converter_entry_t* entry,
                                      const tenon_sink_t* sink);
void tenon__catalog_contest_name(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                 const char* name, const void* entry, const tenon_sink_t* sink);

#endif
