/* Converters for the open plugins of TensorRT, and the operators that they need. */
#include "boxes3d.h"
#include "families.h"
#include "pooled.h"
#include "select.h"
#include "voxels.h"

/* X(file, operator, kernel): own operators. Offers are exact: a host that does not need them does not
 * load the plugin. */
#define OPERATORS(X)          \
  X(boxes3d, "boxes_3d")      \
  X(pooled, "pooled_regions") \
  X(select, "select_boxes")   \
  X(voxels, "voxels")
#define OFFER(file, name)           \
  "offers: operator tensorrt." name \
  "/1\n"                            \
  "offers: kernel " name " tensorrt." name "/1 cpu\n"
#define ENTRY(file, name) &tensorrt_##file##_operators, &tensorrt_##file##_kernels,

TENON_PLUGIN_MANIFEST("tensorrt", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: converter *\n" OPERATORS(OFFER));

static const tenon_offering_t* const offerings[] = {TENSORRT_FAMILIES(TENSORRT_FAMILY_ENTRY)
                                                        OPERATORS(ENTRY)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "tensorrt",
    .version = "0.1.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
