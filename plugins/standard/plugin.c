/*
 * The standard operators: what they mean. Descriptors and rewrites; kernels are in other plugins.
 * The catalogue is README.md; each family is one table in the file of its name.
 */
#include "families.h"
#include "rewrites.h"

TENON_PLUGIN_MANIFEST("standard", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: operator *\n"
                      "offers: rewrite *\n");

#define OFFERING(family, rows, summary)  \
  {.size = sizeof(tenon_offering_t),     \
   .kind = "operator/1",                 \
   .items = tenon__##family##_operators, \
   .count = (rows),                      \
   .stride = (uint32_t)sizeof(tenon_operator_t)},

static const tenon_offering_t offerings[] = {
    TENON__FAMILIES(OFFERING) /* and what holds between them */
    {.size = sizeof(tenon_offering_t),
     .kind = "rewrite/1",
     .items = tenon__standard_rewrites,
     .count = STANDARD_REWRITE_COUNT,
     .stride = (uint32_t)sizeof(tenon_rewrite_t)},
};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "standard",
    .version = "0.1.0",
    .offerings = offerings,
    .offering_count = (uint32_t)(sizeof(offerings) / sizeof(offerings[0])),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
