/*
 * Which device computes a node: the first of the build's that can, in the order in which they were
 * named, and the host where none can. A node with an expression or a map is asked about as such,
 * then by its operator's name. The host keeps what is no work for others: numbers that
 * shapes are made of, strings, sequences and control. For this room alone.
 */
#ifndef TENON_CORE_FUSION_DEVICES_H_
#define TENON_CORE_FUSION_DEVICES_H_

#include "core/fusion/grouping.h"

/* Fills device_of of nodes, and of values in the conversions: where its producer leaves each. What
 * is needed is known by then. Asks kernels about each node by itself, but not where the build is
 * for the host alone. */
tenon_status_t tenon__grouping_place_nodes(grouping_t* grouping);

#endif
