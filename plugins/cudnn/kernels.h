/* The kernels on offer. */
#ifndef PLUGINS_CUDNN_KERNELS_H_
#define PLUGINS_CUDNN_KERNELS_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tenon__cudnn_convolutions;
extern const tenon_offering_t tenon__cudnn_pools;
extern const tenon_offering_t tenon__cudnn_attentions;
extern const tenon_offering_t tenon__cudnn_layers;

#endif
