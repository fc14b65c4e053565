/* Copies between the memory of the host and of devices, and when the host must wait for one. */
#ifndef TENON_CORE_STEP_TRANSFER_H_
#define TENON_CORE_STEP_TRANSFER_H_

#include "core/frame/frame_state.h"

/* Waits for every device but `device`: before the host, or another device, looks at or changes what
 * a device may still read or write. 0, the host, waits for all. Costs nothing where nothing is
 * under way. */
tenon_status_t tenon__run_settle(tenon__run_state_t* run, uint32_t device);
/* Waits for what devices write into the host's memory: before the host reads, and changes nothing.
 */
tenon_status_t tenon__run_settle_for_host(tenon__run_state_t* run);
/* A step that copies, enqueued: when the target is the host's, it is there once the device has
 * settled. */
tenon_status_t tenon__frame_transfer(tenon__frame_t* frame, uint32_t step);

#endif
