/* Checks programs against the limits of a kernel's slots. Called before the kernel's own `match`,
 * so that a kernel never gets a program that exceeds its declaration. */
#ifndef TENON_CORE_KERNEL_SLOT_H_
#define TENON_CORE_KERNEL_SLOT_H_

#include "core/region/region.h"

/* Returns the kernel's slot of that number, or NULL. */
const tenon_slot_t* tenon__kernel_slot(const tenon_kernel_t* kernel, uint32_t number);
/* Returns NULL if the slot accepts the program, else a static text that names the exceeded limit.
 * Linear in the program; calls no plugin. */
const char* tenon__slot_fault(const tenon_slot_t* slot, const tenon__region_slot_t* filling,
                              const tenon__dim_pool_t* pool);

#endif
