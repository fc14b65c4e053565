/* Which devices a build is for. */
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

/* Opens them, and names them in the plan. The options say "npu", "npu:1" or "npu:0,npu:1": in
 * order of preference, all of this machine. The host comes with them: it is number 0, and the only
 * one where nothing, or itself, is named. Of several devices with the host's memory that is the
 * first by name, with a warning: order alone decides. NOT_FOUND where a device is not here, with
 * those that are on offer. */
tenon_status_t tenon__build_devices_open(tenon__catalog_t* catalog,
                                         const tenon__build_options_t* options, tenon__plan_t* plan,
                                         tenon__build_devices_t* out_devices);
void tenon__build_devices_close(tenon__build_devices_t* devices);

#endif
