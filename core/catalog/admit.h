/*
 * Entry into the catalogue. Descriptors are copied to structures of full size, checked, and entered
 * under their names. All other code trusts a descriptor's members because they are checked here.
 */
#ifndef TENON_CORE_CATALOG_ADMIT_H_
#define TENON_CORE_CATALOG_ADMIT_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Adds all items of an offering of a known kind, under the lock. An item with an error is reported
 * and rejected, and the others are added. An operator with an error is listed as disabled, so that
 * models that need it get its reason. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__catalog_admit(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                    const tenon__owner_t* owner, const tenon_offering_t* offering,
                                    const tenon_sink_t* sink);

#endif
