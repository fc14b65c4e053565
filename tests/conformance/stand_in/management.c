/* A stand-in for NVIDIA's management library: the stand-in's GPU has the clock that
 * STAND_IN_CLOCKS says, "1980,1700" the first time that it is asked and the second, in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

enum {
  PROCESSORS = 1,
  MEMORY = 2,
  MEMORY_MEGAHERTZ = 2619,
  SUCCESS = 0,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6
};

/* Their names are not ours. NOLINTBEGIN(readability-identifier-naming) */
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** out_handle);
int nvmlDeviceGetClockInfo(void* handle, int type, unsigned* out_megahertz);
/* NOLINTEND(readability-identifier-naming) */

static int one_gpu;
static unsigned times_asked;

int nvmlInit_v2(void) {
  return SUCCESS;
}
int nvmlShutdown(void) {
  return SUCCESS;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** out_handle) {
  *out_handle = &one_gpu;
  return strcmp(bus_id, STAND_IN_BUS_ID) == 0 ? SUCCESS : NOT_FOUND;
}
int nvmlDeviceGetClockInfo(void* handle, int type, unsigned* out_megahertz) {
  const char* text = getenv("STAND_IN_CLOCKS");
  unsigned clocks[2] = {0, 0};
  if (handle != &one_gpu || text == NULL ||
      sscanf(text, "%u,%u", &clocks[0], &clocks[1]) != 2) { /* NOLINT(cert-err34-c) */
    return NOT_SUPPORTED;
  }
  *out_megahertz = type == PROCESSORS ? clocks[times_asked++ % 2] : MEMORY_MEGAHERTZ;
  return type == PROCESSORS || type == MEMORY ? SUCCESS : NOT_SUPPORTED;
}
