/*
 * The operator tensorrt.voxels/1 and its kernel for the CPU: points of a cloud, in the columns of a
 * grid.
 *
 *   points  f32 [N, M, C]            x, y, z and other numbers, C from 3 on
 *   counts  i32 [N]                  valid points of each cloud, at most M
 *   voxels  f32 [N, V, P, features]  each point's C numbers, then its offsets from the mean of x, y, z
 *                                    in its column, then from the centre of the column in x and y,
 *                                    and in z if features is C + 6; zeros behind the last point
 *   coords  i32 [N, V, 4]            0, 0, row, column; zeros behind the last column
 *   found   i32 [N]                  columns with points, at most V
 *
 * Columns are in the order of rows, points in the order of the cloud. If a column has more than P
 * points, the others are ignored.
 *
 * range   x, y, z of the low corner, then of the high one, which is outside
 * size    extents of a column in x, y, z
 * grid    rows, columns
 */
#ifndef TENSORRT_VOXELS_H_
#define TENSORRT_VOXELS_H_

#include "tenon/plugin.h"

extern const tenon_offering_t tensorrt_voxels_operators;
extern const tenon_offering_t tensorrt_voxels_kernels;

enum { TENSORRT_VOXELS_CELLS_MAX = 1 << 26 };

#endif
