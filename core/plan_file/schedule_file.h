/* Schedules in a plan: places, steps, their regions and tactics. */
#ifndef TENON_CORE_PLAN_FILE_SCHEDULE_FILE_H_
#define TENON_CORE_PLAN_FILE_SCHEDULE_FILE_H_

#include "core/plan_file/plan_file.h"

/* The SCHEDULES section. Reading checks each number alone; tenon__schedules_check then checks how
 * they fit together, once the profile is known: see schedule_check.c. */
void tenon__schedules_write(const tenon__plan_t* plan, tenon__byte_writer_t* writer);
/* In the plan's arena; the network must be there already. */
tenon_status_t tenon__schedules_read(tenon__plan_reader_t* reader);

#endif
