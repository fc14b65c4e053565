/*
 * The standard operators: what they mean. Descriptors and rewrites; kernels are in other plugins.
 * The catalogue is README.md; each family is one table in the file of its name.
 */
#include "families.h"
#include "rewrites.h"

TENON_PLUGIN_MANIFEST("standard", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: operator *\n"
                      "offers: rewrite *\n");

#define FAMILY_ENTRY(family, summary) &tenon__##family##_family,
static const tenon_offering_t* const offerings[] = {TENON__FAMILIES(FAMILY_ENTRY) &
                                                    tenon__rewrites};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "standard",
    .version = "0.2.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
