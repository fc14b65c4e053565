/* What plugin.c lists. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_OFFERING_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_OFFERING_H_

#include "tenon/plugin.h"

extern const tenon_offering_t far_kernel_offering;

#endif
