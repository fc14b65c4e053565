/*
 * A network from bytes that nobody vouches for: cut off, damaged or made up. What comes out refers
 * only to what is there; whether it makes sense is for tenon__network_verify, which callers ask
 * before they use it.
 */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_READER_H_
#define TENON_CORE_PLAN_FILE_NETWORK_READER_H_

#include "core/network/network.h"

struct tenon__byte_reader_t;

/* Weights' bytes are not in it: whoever reads sets them. INVALID_DATA names the table and the byte.
 * What `find` does not find keeps its identity in `missing` form, through an operator that says
 * only its name (no texts). Nothing is left over where it fails. Operators that are found must have
 * the plan's contract; each is listed once. */
tenon_status_t tenon__network_read(tenon_allocator_t allocator, struct tenon__byte_reader_t* reader,
                                   tenon__find_operator_t find, void* find_user,
                                   const tenon_sink_t* sink, tenon__network_t** out_network);

#endif
