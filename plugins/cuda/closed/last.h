/* Kernels for channels that lie innermost: see last.c. */
#ifndef PLUGINS_CUDA_CLOSED_LAST_H_
#define PLUGINS_CUDA_CLOSED_LAST_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tenon__cuda_last_kernels;

#endif
