/* Sizes that sampling.c and resize.cuh share. They are defined in front of the source of
 * resize.cuh. */
#ifndef PLUGINS_CUDA_CLOSED_RESIZE_H_
#define PLUGINS_CUDA_CLOSED_RESIZE_H_

#define RESIZE_TILE 64        /* maximum units of a row in a block */
#define RESIZE_ROWS 64        /* maximum rows in a block */
#define RESIZE_ACCESS 16      /* bytes: maximum access of a thread */
#define RESIZE_OF_TWO_TAPS 4  /* maximum elements of a unit with 1 or 2 taps per axis */
#define RESIZE_OF_FOUR_TAPS 2 /* the same with 4 taps per axis: cubic */

#define RESIZE_SPELLED(number) #number
#define RESIZE_DEFINED(name, number) "#define " name " " RESIZE_SPELLED(number) "\n"
#define RESIZE_DEFINITIONS                          \
  RESIZE_DEFINED("TILE", RESIZE_TILE)               \
  RESIZE_DEFINED("ROWS", RESIZE_ROWS)               \
  RESIZE_DEFINED("ACCESS_BYTES", RESIZE_ACCESS)     \
  RESIZE_DEFINED("OF_TWO_TAPS", RESIZE_OF_TWO_TAPS) \
  RESIZE_DEFINED("OF_FOUR_TAPS", RESIZE_OF_FOUR_TAPS)
#define RESIZE_LAST_DEFINITIONS "#define LAST 1\n" RESIZE_DEFINITIONS

#endif
