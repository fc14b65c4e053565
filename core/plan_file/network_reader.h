/*
 * Reads a network from untrusted bytes, which may be truncated, damaged or malicious. All ids in
 * the result are valid. Callers must call tenon__network_verify before they use it, which checks
 * its meaning.
 */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_READER_H_
#define TENON_CORE_PLAN_FILE_NETWORK_READER_H_

#include "core/network/network.h"

struct tenon__byte_reader_t;

/* The bytes of weights are not included; the caller sets them. An operator that `find` does not
 * find is replaced by one with only its identity. Operators that are found must have the plan's
 * contract; each is listed once. Returns INVALID_DATA with the table and the byte offset. Nothing
 * remains allocated after a failure. */
tenon_status_t tenon__network_read(tenon_allocator_t allocator, struct tenon__byte_reader_t* reader,
                                   tenon__find_operator_t find, void* find_user,
                                   const tenon_sink_t* sink, tenon__network_t** out_network);

#endif
