/* Pools with channels innermost. */
#ifndef PLUGINS_CUDA_CLOSED_POOL_H_
#define PLUGINS_CUDA_CLOSED_POOL_H_

#include "closed.h"

extern const tenon_kernel_t tenon__cuda_pool_kernel;

#endif
