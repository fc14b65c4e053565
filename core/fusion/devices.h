/*
 * Assigns a device to each node: the first of the build's devices, in the given order, that can
 * compute it, else the host. A node with an expression or a map is tried as such, then by its
 * operator's name. The host computes shape values, strings, sequences and control. For this module
 * only.
 */
#ifndef TENON_CORE_FUSION_DEVICES_H_
#define TENON_CORE_FUSION_DEVICES_H_

#include "core/fusion/grouping.h"

/* Fills device_of of nodes, and of values in the conversions (the device to which the producer
 * writes). `needed` is known before. Asks kernels about each node alone, unless the build is for
 * the host only. */
tenon_status_t tenon__grouping_place_nodes(grouping_t* grouping);

#endif
