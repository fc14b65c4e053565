/* Converters for the operators of ONNX Runtime's domain com.microsoft. */
#include "families.h"
#include "inverse.h"
#include "nbits.h"

/* Exact offers: a host that does not need them does not load the plugin. */
#define KERNEL(set) "offers: kernel mat_mul_nbits_" set " microsoft.mat_mul_nbits/1 cpu\n"
#if defined(TENON_WITH_AVX512)
#define KERNEL_AVX512 KERNEL("avx512")
#else
#define KERNEL_AVX512
#endif
#if defined(TENON_WITH_AVX2)
#define KERNEL_AVX2 KERNEL("avx2")
#else
#define KERNEL_AVX2
#endif

TENON_PLUGIN_MANIFEST("microsoft", "0.1.0",
                      "licence: Apache-2.0\n"
                      "offers: converter *\n"
                      "offers: operator microsoft.dequantize_nbits/1\n"
                      "offers: operator microsoft.mat_mul_nbits/1\n"
                      "offers: operator microsoft.matrix_inverse/1\n"
                      "offers: operator microsoft.packed_bytes/1\n"
                      "offers: operator microsoft.scaled_numbers/1\n"
                      "offers: operator microsoft.unpacked_bits/1\n"
                      "offers: kernel matrix_inverse microsoft.matrix_inverse/1 cpu\n" KERNEL_AVX512
                          KERNEL_AVX2 KERNEL("baseline"));

static const tenon_offering_t* const offerings[] = {
    MICROSOFT_FAMILIES(MICROSOFT_FAMILY_ENTRY) & microsoft_inverse_operators,
    &microsoft_inverse_kernels, &microsoft_nbits_operators, &microsoft_nbits_kernels};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "microsoft",
    .version = "0.1.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
