/* What the device tells those who measure, and what it is told of ranges. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_WATCH_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_WATCH_H_

#include "device.h"

/* The service; with ranges where the device's setting says that somebody looks. */
const tenon_device_watch_t* far_watch(tenon_device_t* device);
/* What ranges there were since the reset: "a(b())c()". */
void far_ranges(uint32_t index, char* out_text, size_t size);

#endif
