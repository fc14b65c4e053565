/* The way into the catalogue: copies of full size, checked, entered under their names. */
#ifndef TENON_CORE_CATALOG_ADMIT_H_
#define TENON_CORE_CATALOG_ADMIT_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Adds all items of an offering of a known kind; under the lock. */
tenon_status_t tenon__catalog_admit(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                    const tenon__owner_t* owner, const tenon_offering_t* offering,
                                    const tenon_sink_t* sink);

#endif
