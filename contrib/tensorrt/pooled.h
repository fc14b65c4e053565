/*
 * The operator tensorrt.pooled_regions/1 and its kernel for the CPU: regions of interest, each read
 * from the level of a feature pyramid that fits its size.
 *
 *   rois  f32 [N, R, 4]
 *   maps  f32 [N, C, H, W] each; the first has the highest resolution
 *   y     f32 [N, R, C, height, width]
 *
 * A bin is the mean of sampling_ratio x sampling_ratio samples, with bilinear interpolation;
 * positions are clamped to the map. sampling_ratio 0: as many as a bin has pixels, at least 1.
 *
 * The area of a region selects its level: map k + 1 if the area exceeds first_area 4^k.
 *
 * mode 'pyramid'     corners are clamped to the image and divided by its extents; an area is a part
 *                    of the image
 * mode 'multilevel'  corners y1, x1, y2, x2 in pixels; map k has 1 / 2^(k + 2) of the resolution; an
 *                    area is in pixels; a region that is empty or leaves the image gives zeros
 */
#ifndef TENSORRT_POOLED_H_
#define TENSORRT_POOLED_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tensorrt_pooled_operators;
extern const tenon_offering_t tensorrt_pooled_kernels;

#endif
