/*
 * In which tiles a convolution may be computed: what a tactic's configuration says, which of them
 * fit, and how long each might take, so that the few that are worth a measurement are tried.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_TILES_H_
#define PLUGINS_CUDA_CONVOLUTION_TILES_H_

#include "problem.h"
#include "shape.h"

typedef enum tenon__cuda_form_kind_t {
  TENON_CUDA_DIRECT = 1,    /* direct.cuh: a window of one pixel */
  TENON_CUDA_PATCH = 2,     /* patch.cuh */
  TENON_CUDA_NARROW = 3,    /* patch.cuh, up to four channels that may lie anyhow */
  TENON_CUDA_DEPTHWISE = 4, /* depthwise.cuh: as many groups as channels, and as outputs */
  TENON_CUDA_STREAMING = 5, /* stream.cuh: some of DIRECT, of many pixels (stream.h) */
  TENON_CUDA_WARPGROUP = 6  /* warpgroup.cuh: some of DIRECT and PATCH, on sm_90 (warpgroup.h) */
} tenon__cuda_form_kind_t;

enum {
  TENON_CUDA_TILE_TACTICS = 4,  /* of 8 the fastest is among these but for 2 % (README.md) */
  TENON_CUDA_TILE_OUTPUTS = 64, /* the most of a tile; weights are packed up to whole ones */
  TENON_CUDA_TILE_ELEMENTS = 4, /* neighbours that a thread ends with */
  TENON_CUDA_STREAM_ELEMENTS = 8,
  TENON_CUDA_WARPGROUP_STEP = 128,  /* WARPGROUP: bytes of a pixel in a step */
  TENON_CUDA_WARPGROUP_TILE = 1024, /* WARPGROUP: bytes of the weights of 8 outputs in a step */
  TENON_CUDA_MULTIPROCESSORS = 132  /* for estimates */
};

static inline int64_t tenon__cuda_up(int64_t count, int64_t of) {
  return (count + of - 1) / of;
}

/* In what an image is multiplied, and so stored; of tf32 as f32. */
typedef enum tenon__cuda_product_t {
  TENON_CUDA_PRODUCT_F16,
  TENON_CUDA_PRODUCT_BF16,
  TENON_CUDA_PRODUCT_F32,  /* DEPTHWISE alone */
  TENON_CUDA_PRODUCT_TF32, /* all but DEPTHWISE */
  TENON_CUDA_PRODUCT_COUNT
} tenon__cuda_product_t;

/* [frozen in plans] The tactic's configuration. */
typedef struct tenon__cuda_choice_t {
  uint8_t kind;    /* tenon__cuda_form_kind_t */
  uint8_t product; /* tenon__cuda_product_t */
  uint8_t rows;    /* tiles of 16 pixels that a warp multiplies; DEPTHWISE: rows of a thread */
  uint8_t across;  /* tiles of 8 outputs; DEPTHWISE: columns of a thread */
  uint8_t along;   /* warps beside one another; DEPTHWISE: channels of a thread; WARPGROUP: 2 if a
                      block computes several tiles (repeated.cuh) */
  uint8_t parts;   /* warps that share a sum; WARPGROUP: blocks that share a sum; STREAMING: blocks
                      of a multiprocessor at once */
  uint8_t steps;   /* of the sum for which a warp keeps weights; WARPGROUP: steps of a block */
  uint8_t reserved;
} tenon__cuda_choice_t;

/* Returns the kind that multiplies the problem's values in this type, except STREAMING and
 * WARPGROUP. 0, with a reason, if there is none. */
tenon__cuda_form_kind_t tenon__cuda_kind_of(const tenon__cuda_problem_t* problem, uint8_t product,
                                            const char** out_why);
/* Pixels of x that a sum is over. */
int64_t tenon__cuda_taps_of(const tenon__cuda_problem_t* problem);
/* Whether it is over more than one. */
static inline bool tenon__cuda_is_window(const tenon__cuda_problem_t* problem) {
  return tenon__cuda_taps_of(problem) > 1;
}
/* WARPGROUP: whether a block computes several tiles. */
static inline bool tenon__cuda_is_repeated(tenon__cuda_choice_t choice) {
  return choice.along == 2;
}
/* Steps of the whole sum, by the choice's kind and product. */
int64_t tenon__cuda_steps_of(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice);

/* At most TENON_CUDA_TILE_TACTICS of that kind and product, the fastest by estimate first, with the
 * estimates; 0: none. */
uint32_t tenon__cuda_tiles_choose(const tenon__cuda_problem_t* problem, uint8_t kind,
                                  uint8_t product, tenon__cuda_choice_t* out_choices,
                                  double* out_seconds);
/* Inserts a choice into a list that is sorted by estimates. The list keeps the `most` fastest. */
void tenon__cuda_rank(tenon__cuda_choice_t choice, double seconds, uint32_t most,
                      uint32_t* inout_count, tenon__cuda_choice_t* inout_choices,
                      double* inout_seconds);
tenon_dtype_t tenon__cuda_product_type(tenon__cuda_choice_t choice);
/* Of an element that is multiplied. */
int64_t tenon__cuda_product_bytes(tenon__cuda_choice_t choice);
/* Neighbouring outputs that a thread ends with. */
uint32_t tenon__cuda_choice_elements(tenon__cuda_choice_t choice);

uint32_t tenon__cuda_choice_threads(tenon__cuda_choice_t choice);
int64_t tenon__cuda_choice_pixels(tenon__cuda_choice_t choice);
int64_t tenon__cuda_choice_outputs(tenon__cuda_choice_t choice);

/* Extents of an image and of the result, along y and x, and how many images; of what is spread both
 * are the image's. */
typedef struct tenon__cuda_extents_t {
  int64_t images;
  int64_t x[2];
  int64_t y[2];
} tenon__cuda_extents_t;

/* The problem's extents at the optimum. */
tenon__cuda_extents_t tenon__cuda_extents_opt(const tenon__cuda_problem_t* problem);

/* Of all kinds but WARPGROUP: fills in tile, patch and where they lie in shared memory, and the bytes
 * of that. False: more than `limit_bytes` however small the tile. */
bool tenon__cuda_tiles_lay(const tenon__cuda_problem_t* problem, tenon__cuda_choice_t choice,
                           const tenon__cuda_extents_t* extents, int64_t limit_bytes,
                           tenon__cuda_shape_t* out_shape, int64_t* out_bytes);

#endif
