/* A network from bytes that nobody vouches for. */
#ifndef TENON_CORE_PLAN_FILE_NETWORK_READER_H_
#define TENON_CORE_PLAN_FILE_NETWORK_READER_H_

#include "core/network/network.h"

struct tenon__byte_reader_t;

/* What `find` does not find keeps its identity in `missing` form, through an operator that says
 * only its name (no texts). */
tenon_status_t tenon__network_read(tenon_allocator_t allocator, struct tenon__byte_reader_t* reader,
                                   tenon__find_operator_t find, void* find_user,
                                   const tenon_sink_t* sink, tenon__network_t** out_network);

#endif
