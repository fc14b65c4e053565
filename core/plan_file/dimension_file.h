/* The pool of dimensions in a plan. */
#ifndef TENON_CORE_PLAN_FILE_DIMENSION_FILE_H_
#define TENON_CORE_PLAN_FILE_DIMENSION_FILE_H_

#include "core/dimension/dimension.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Writes symbols, then nodes in order of ids, without derivable data. The writer remembers a failed
 * allocation. */
void tenon__dim_pool_write(const tenon__dim_pool_t* pool, struct tenon__byte_writer_t* writer);
/* Reads and checks ids, kinds and order of operands. Dimensions are restored with their ids and not
 * simplified again, because other tables refer to them. */
tenon_status_t tenon__dim_pool_read(tenon_allocator_t allocator,
                                    struct tenon__byte_reader_t* reader, const tenon_sink_t* sink,
                                    tenon__dim_pool_t** out_pool);

#endif
