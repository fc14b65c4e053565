/*
 * The clocks of a GPU, as its management library (libnvidia-ml.so.1, part of the driver) tells
 * them. Opened when somebody asks; where it is not there nobody knows them.
 */
#ifndef PLUGINS_CUDA_MANAGEMENT_H_
#define PLUGINS_CUDA_MANAGEMENT_H_

#include "device.h"

/* In hertz; 0: not known. [any] */
void tenon__cuda_clocks(tenon_device_t* device, double* out_processors, double* out_memory);
/* Once, when the plugin goes. NULL is fine. */
void tenon__cuda_management_close(tenon__cuda_state_t* state);

#endif
