/* What tests are offered, and what is written for those that only see files. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_REPORT_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_REPORT_H_

#include "tenon/plugin.h"

/* The table of control.h. */
extern const tenon_offering_t far_control_offering;
/* The devices as the environment has them; once a process, before anything else. */
void far_begin(void);
/* Appends a line of a device's counts to the file that the environment names. */
void far_report(uint32_t index);

#endif
