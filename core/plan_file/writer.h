/* Writes a plan. The same plan gives the same bytes: files contain no addresses, no orders of hash
 * tables and no padding. */
#ifndef TENON_CORE_PLAN_FILE_WRITER_H_
#define TENON_CORE_PLAN_FILE_WRITER_H_

#include "core/plan/plan.h"

/* Returns the whole file in memory of the allocator, which the caller owns and frees with
 * *out_size_bytes. It does not refer to the plan. Returns CANCELLED if `interrupt` is set; it may
 * be NULL. */
tenon_status_t tenon__plan_write(const tenon__plan_t* plan, tenon_allocator_t allocator,
                                 tenon__interrupt_t* interrupt, const tenon_sink_t* sink,
                                 void** out_data, size_t* out_size_bytes);
/* Returns the offset of the data that not every run reads, in a file of tenon__plan_write. It
 * allows a file to be written so that readers need not load this part (tenon__file_write_rare). */
size_t tenon__plan_cold_offset(const void* data, size_t size_bytes);

#endif
