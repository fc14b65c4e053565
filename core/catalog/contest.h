/*
 * Two owners that offer the same thing: who stays, and how the other leaves. The rule stands in
 * catalog.h; here it is carried out, so that a third owner that comes later finds one winner. All
 * under the catalogue's lock.
 */
#ifndef TENON_CORE_CATALOG_CONTEST_H_
#define TENON_CORE_CATALOG_CONTEST_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Of two definitions of an identity: does that of `there` count? */
bool tenon__definition_stays(const tenon__owner_t* there, const tenon__owner_t* comes,
                             const char* name);
/* The plugin with operators that bears the name of an identity's domain, if it did not fail to
 * start; NULL. */
const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
                                                  const char* name);
/* Was a definition of the identity by this owner left out for another one? */
bool tenon__catalog_defines_otherwise(const tenon__catalog_t* catalog, const tenon__owner_t* owner,
                                      const char* name);
/* Of two that have the same version of a node type: is `there` asked first? */
bool tenon__converter_stays(const tenon__converter_entry_t* there,
                            const tenon__converter_entry_t* comes);
/* Whose an entry of any kind is, and its verdict. */
typedef struct tenon__claim_t {
  const tenon__owner_t* owner;
  tenon__admission_t* verdict;
} tenon__claim_t;
tenon__claim_t tenon__entry_claim(tenon__offer_kind_t kind, const void* entry);
/* A new entry against those that are there under its key or name. One of two is left out. Of two
 * converters for one version both stay, and one is asked first: that is reported. */
void tenon__catalog_contest_converter(tenon__catalog_t* catalog, const char* key,
                                      const tenon__converter_entry_t* entry,
                                      const tenon_sink_t* sink);
void tenon__catalog_contest_name(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                 const char* name, const void* entry, const tenon_sink_t* sink);

#endif
