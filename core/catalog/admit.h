/*
 * The way into the catalogue: copies of full size, checked, entered under their names. What a
 * plugin hands over is believed from here on: everything that reads a descriptor relies on members
 * that this has seen.
 */
#ifndef TENON_CORE_CATALOG_ADMIT_H_
#define TENON_CORE_CATALOG_ADMIT_H_

#include "core/catalog/kinds.h"
#include "core/catalog/state.h"

/* Adds all items of an offering of a known kind; under the lock. A faulty item is reported and left
 * out, and the others go on; a faulty operator is listed as disabled, so that a model that needs it
 * is told why. Fails only when memory is out. */
tenon_status_t tenon__catalog_admit(tenon__catalog_t* catalog, tenon__offer_kind_t kind,
                                    const tenon__owner_t* owner, const tenon_offering_t* offering,
                                    const tenon_sink_t* sink);

#endif
