/*
 * The plan's open devices, and the weights that steps read there. An engine has one copy of each,
 * which its contexts share.
 */
#ifndef TENON_CORE_ENGINE_UPLOADS_H_
#define TENON_CORE_ENGINE_UPLOADS_H_

#include "core/engine/engine_state.h"

/* Opens the plan's devices. Warns if the machine is not the one for which the plan was tuned.
 * Returns NOT_FOUND if there is no device of that name. */
tenon_status_t tenon__engine_open_devices(tenon__engine_t* engine);
void tenon__engine_close_devices(tenon__engine_t* engine);
/* Copies the network's weights to the memory of the devices whose steps read them: after loading,
 * and again, to the same addresses, after a refit. The copies are complete when it returns. */
tenon_status_t tenon__engine_upload_weights(tenon__engine_t* engine);
void tenon__engine_drop_uploads(tenon__engine_t* engine);
/* Returns the bytes of a place of storage WEIGHTS; NULL for weights that a kernel has packed and
 * the plan does not keep. */
void* tenon__engine_weights(const tenon__engine_t* engine, const tenon__place_t* place);
/* Returns the device for which the plan was built; NULL: the host. Open while the engine lives. */
const tenon__device_t* tenon__engine_main_device(const tenon__engine_t* engine);
/* Returns the bytes now in that device's memory, packed weights included; 0 on the host. [any] */
uint64_t tenon__engine_uploaded_bytes(const tenon__engine_t* engine);

#endif
