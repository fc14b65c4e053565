/* What the environment says of the devices, read once. README.md lists the variables. */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_ENVIRONMENT_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_ENVIRONMENT_H_

#include "device.h"

/* As many readings have clocks of their own, then they begin again. */
enum { FAR_CLOCKS = 2 };

typedef struct far_environment_t {
  uint32_t count;
  size_t range; /* bytes of addresses */
  uint64_t settings[FAR_SETTING_COUNT];
  far_failure_t failures[FAR_CALL_COUNT];
  uint64_t loss;
  const char* report;        /* NULL: no file */
  double clocks[FAR_CLOCKS]; /* megahertz; 0: the device does not tell */
} far_environment_t;

const far_environment_t* far_environment(void);

#endif
