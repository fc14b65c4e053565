/* A kernel's slots: does a program stay within what one of them says that it takes? Asked before
 * the kernel's own `match`, so that a kernel which trusts its declaration is never handed more. */
#ifndef TENON_CORE_KERNEL_SLOT_H_
#define TENON_CORE_KERNEL_SLOT_H_

#include "core/region/region.h"

/* The kernel's slot of that number; NULL when it has fewer. */
const tenon_slot_t* tenon__kernel_slot(const tenon_kernel_t* kernel, uint32_t number);
/* Why the slot cannot hold what fills it: static text that names the limit; NULL when it can.
 * Linear in the program; no plugin is called. */
const char* tenon__slot_fault(const tenon_slot_t* slot, const tenon__region_slot_t* filling,
                              const tenon__dim_pool_t* pool);

#endif
