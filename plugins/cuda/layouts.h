/* Layouts that rules ask for. */
#ifndef PLUGINS_CUDA_LAYOUTS_H_
#define PLUGINS_CUDA_LAYOUTS_H_

#include "tenon/plugin.h"

/* Channels innermost, for ranks 3 and 4. */
const tenon_layout_t* tenon__cuda_channels_last(uint32_t rank);

#endif
