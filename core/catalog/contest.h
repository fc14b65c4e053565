/*
 * Two owners that offer the same thing: who stays, and how the other leaves. The rule stands in
 * catalog.h; here it is carried out, so that a third owner that comes later finds one winner. All
 * under the catalogue's lock.
 */
#ifndef TENON_CORE_CATALOG_CONTEST_H_
#define TENON_CORE_CATALOG_CONTEST_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Reports it as an error and adds it to the list of what was left out; texts are copied. Where
 * memory for the list is out the words are said all the same. */
void tenon__catalog_leave_out(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                              const tenon_sink_t* sink);
/* The same for what was entered already: it is not found any more. The entry stays where it is, as
 * somebody may hold it. */
void tenon__catalog_drop(tenon__catalog_t* catalog, const tenon__left_out_t* item,
                         tenon__admission_t* verdict, const tenon_sink_t* sink);
/* Less than 0 where `a` is heard before `b` as to the domain of an identity; 0: equals. */
int tenon__operator_owners_compare(const tenon__owner_t* a, const tenon__owner_t* b,
                                   const char* name);
/* The plugin of the library that bears the name of an identity's domain; NULL. */
const tenon__owner_t* tenon__catalog_domain_owner(const tenon__catalog_t* catalog,
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
