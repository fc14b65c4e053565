/* Schedules in a plan: places, steps, their regions and tactics. */
#ifndef TENON_CORE_PLAN_FILE_SCHEDULE_FILE_H_
#define TENON_CORE_PLAN_FILE_SCHEDULE_FILE_H_

#include "core/plan_file/plan_file.h"

/* The SCHEDULES section. The reader checks each number alone. tenon__schedules_check then checks
 * their consistency, when the profile is known: see schedule_check.c. */
void tenon__schedules_write(const tenon__plan_t* plan, tenon__byte_writer_t* writer);
/* Reads the schedules to the plan's arena. The network must be read before. */
tenon_status_t tenon__schedules_read(tenon__plan_reader_t* reader);

#endif
