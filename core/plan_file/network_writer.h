/* A network as bytes. */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_WRITER_H_
#define TENON_CORE_PLAN_FILE_NETWORK_WRITER_H_

#include "core/network/network.h"

struct tenon__byte_writer_t;

/* Operators are written by identity and contract, weights as references; the caller stores their
 * bytes (by index). Dead nodes and values are written too, so that ids are valid in all
 * sections. */
void tenon__network_write(const tenon__network_t* network, struct tenon__byte_writer_t* writer);

#endif
