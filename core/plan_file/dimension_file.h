/* The pool of dimensions in a plan. */
#ifndef TENON_CORE_PLAN_FILE_DIMENSION_FILE_H_
#define TENON_CORE_PLAN_FILE_DIMENSION_FILE_H_

#include "core/dimension/dimension.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Symbols, then nodes in order of ids, without what can be derived. A writer that runs out of
 * memory says so at its end. */
void tenon__dim_pool_write(const tenon__dim_pool_t* pool, struct tenon__byte_writer_t* writer);
/* Checks everything: ids, kinds, order of operands. Each dimension has the id that it had: they are
 * restored as they stand, not simplified anew, so that other tables may refer to them. */
tenon_status_t tenon__dim_pool_read(tenon_allocator_t allocator,
                                    struct tenon__byte_reader_t* reader, const tenon_sink_t* sink,
                                    tenon__dim_pool_t** out_pool);

#endif
