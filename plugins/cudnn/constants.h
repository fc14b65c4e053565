/*
 * Constants as a convolution's tactic wants them: in its type and, where they have the image's
 * axes, in its order. Packed when the plan is built, so that no run converts or turns them.
 */
#ifndef PLUGINS_CUDNN_CONSTANTS_H_
#define PLUGINS_CUDNN_CONSTANTS_H_

#include "convolution.h"

/* Is the region's input packed? Weights that are turned, and for narrow types every constant. */
bool tenon__cudnn_is_packed(tenon__cudnn_region_t region, tenon__cudnn_choice_t choice,
                            uint32_t input);
/* All of them, in the order of the inputs; which is which is kept in `packs`. */
tenon_status_t tenon__cudnn_pack_constants(const tenon_prepare_t* call,
                                           tenon__cudnn_convolution_t* convolution);

#endif
