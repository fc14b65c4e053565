/* Writes a plan. The same plan gives the same bytes: no addresses, no orders of hash tables and no
 * bytes between members go into a file. */
#ifndef TENON_CORE_PLAN_FILE_WRITER_H_
#define TENON_CORE_PLAN_FILE_WRITER_H_

#include "core/plan/plan.h"

/* The whole file, in memory of the allocator; the caller's. The same plan gives the same bytes. The
 * caller frees *out_size_bytes of them; the plan may go. CANCELLED where somebody wants its end
 * meanwhile; no interrupt: nobody does. */
tenon_status_t tenon__plan_write(const tenon__plan_t* plan, tenon_allocator_t allocator,
                                 tenon__interrupt_t* interrupt, const tenon_sink_t* sink,
                                 void** out_data, size_t* out_size_bytes);
/* Where, in a file that tenon__plan_write made, that begins which not every run reads. For writing
 * the file so that readers need not load it (tenon__file_write_rare). */
size_t tenon__plan_cold_offset(const void* data, size_t size_bytes);

#endif
