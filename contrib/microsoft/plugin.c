/* Converters for the operators of ONNX Runtime's domain com.microsoft. */
#include "families.h"
#include "inverse.h"

TENON_PLUGIN_MANIFEST("microsoft", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: converter *\n"
                      "offers: operator *\n"
                      "offers: kernel inverse microsoft.inverse/1 cpu\n");

static const tenon_offering_t* const offerings[] = {
    MICROSOFT_FAMILIES(MICROSOFT_FAMILY_ENTRY) & microsoft_inverse_operators,
    &microsoft_inverse_kernels};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "microsoft",
    .version = "0.1.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
