/*
 * The operator tensorrt.boxes_3d/1 and its kernel for the CPU: the boxes of PointPillars above a
 * score, one behind the other.
 *
 *   scores      f32 [N, H, W, A K]   of the K classes of each anchor, before the sigmoid
 *   deltas      f32 [N, H, W, A 7]
 *   directions  f32 [N, H, W, A 2]
 *   boxes       f32 [N, H W A, 9]    x, y, z, extents, angle, class, score; zeros behind the last
 *   found       i32 [N]
 *
 * anchors  extents in x, y, z and angle of each anchor; A is a fourth of their number, and 2 K
 * bottoms  height of the bottom of the anchors of each class
 * range    x, y, z of the low corner of the map, then of the high one
 */
#ifndef TENSORRT_BOXES3D_H_
#define TENSORRT_BOXES3D_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tensorrt_boxes3d_operators;
extern const tenon_offering_t tensorrt_boxes3d_kernels;

#endif
