/* The devices of a build. */
#ifndef TENON_CORE_BUILDER_DEVICES_H_
#define TENON_CORE_BUILDER_DEVICES_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"
#include "core/plan/plan.h"

/* The plan's devices, open. All zero: none. */
typedef struct tenon__build_devices_t {
  uint32_t count;
  const tenon__device_entry_t* entries[TENON_DEVICE_LIMIT];
  tenon__device_t items[TENON_DEVICE_LIMIT];
  tenon_stream_t* streams[TENON_DEVICE_LIMIT]; /* for trials */
} tenon__build_devices_t;

/* Opens the devices and adds their names to the plan. The options say "npu", "npu:1" or
 * "npu:0,npu:1", all of this machine, in order of preference. The host is added as number 0, and is
 * the only device if the options name none or the host. If several devices have the host's memory,
 * the first by name is used, with a warning, as only the order decides. Returns NOT_FOUND if a
 * device is absent; the message lists the available ones. */
tenon_status_t tenon__build_devices_open(tenon__catalog_t* catalog,
                                         const tenon__build_options_t* options, tenon__plan_t* plan,
                                         tenon__build_devices_t* out_devices);
void tenon__build_devices_close(tenon__build_devices_t* devices);

#endif
