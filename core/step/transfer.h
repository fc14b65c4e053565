/* Copies between the memory of the host and of devices, and waits of the host. */
#ifndef TENON_CORE_STEP_TRANSFER_H_
#define TENON_CORE_STEP_TRANSFER_H_

#include "core/frame/frame_state.h"

/* Waits for all devices except `device`, before the host, or another device, reads or changes
 * memory that a device may still use. 0, the host, waits for all. Returns at once if no work is in
 * progress. */
tenon_status_t tenon__run_settle(tenon__run_state_t* run, uint32_t device);
/* Waits for devices that write to the host's memory, before the host reads it without changes. */
tenon_status_t tenon__run_settle_for_host(tenon__run_state_t* run);
/* Enqueues the copy of a step. A copy to the host is complete after a wait for the device. */
tenon_status_t tenon__frame_transfer(tenon__frame_t* frame, uint32_t step);

#endif
