/* Tactics in a plan: a kernel's requirements when it was chosen. */
#ifndef TENON_CORE_PLAN_FILE_TACTIC_FILE_H_
#define TENON_CORE_PLAN_FILE_TACTIC_FILE_H_

#include "core/plan_file/plan_file.h"

/* The reader checks rules and sizes against the region, which was read before. The kernel checks
 * its own configuration when the step is prepared. */
void tenon__tactic_write(const tenon__step_tactic_t* tactic, uint32_t input_count,
                         uint32_t output_count, tenon__byte_writer_t* writer);
tenon_status_t tenon__tactic_read(tenon__plan_reader_t* reader, const struct tenon_region_t* region,
                                  tenon__step_tactic_t* out_tactic);

#endif
