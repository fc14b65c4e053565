/*
 * The plan's devices, open, and the weights that steps read there: one copy of each for an engine,
 * shared by its contexts.
 */
#ifndef TENON_CORE_ENGINE_UPLOADS_H_
#define TENON_CORE_ENGINE_UPLOADS_H_

#include "core/engine/engine_state.h"

/* Opens what the plan was built for. NOT_FOUND where nobody offers a device of that name; a warning
 * where the machine is another than the plan was tuned for. */
tenon_status_t tenon__engine_open_devices(tenon__engine_t* engine);
void tenon__engine_close_devices(tenon__engine_t* engine);
/* The network's weights into the memory of the devices whose steps read them: after loading, and
 * again, to the same addresses, when they were replaced. When it returns they are there. */
tenon_status_t tenon__engine_upload_weights(tenon__engine_t* engine);
void tenon__engine_drop_uploads(tenon__engine_t* engine);
/* Where a place of storage WEIGHTS finds its bytes; NULL for those that a kernel packed and nobody
 * kept. */
void* tenon__engine_weights(const tenon__engine_t* engine, const tenon__place_t* place);
/* The device that the plan was built for; NULL: the host alone. Open as long as the engine lives.
 */
const tenon__device_t* tenon__engine_main_device(const tenon__engine_t* engine);
/* In that device's memory now, with what kernels packed; 0 on the host. [any] */
uint64_t tenon__engine_uploaded_bytes(const tenon__engine_t* engine);

#endif
