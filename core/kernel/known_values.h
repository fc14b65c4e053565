/* Values of the contract's open enumerations that a plugin knows: those of the version with which
 * it was built. The host refuses regions with newer values for its kernels. */
#ifndef TENON_CORE_KERNEL_KNOWN_VALUES_H_
#define TENON_CORE_KERNEL_KNOWN_VALUES_H_

#include <stdbool.h>

#include "core/region/region.h"

/* Values from these counts on are unknown. */
typedef struct tenon__known_values_t {
  uint32_t version; /* in the format of TENON_ABI_VERSION */
  uint32_t opcode_count;
  uint32_t dtype_count;
  uint32_t argument_count; /* TENON_ARGUMENT_* */
  uint32_t operand_count;  /* TENON_OPERAND_* */
} tenon__known_values_t;

/* Returns static values for a plugin's `built` version; 0 is this host's. */
const tenon__known_values_t* tenon__known_values_of(uint32_t built);
/* Returns true if all values of the region, its programs and its nodes' programs are known, else a
 * refusal: DTYPE, SLOT, or OTHER. Linear in the region; immediate for plugins of this host's
 * version. */
bool tenon__region_is_known(const struct tenon_region_t* region, const tenon__known_values_t* known,
                            tenon_refusal_t* out_refusal);

#endif
