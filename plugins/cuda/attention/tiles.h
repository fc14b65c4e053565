/* In which tiles attention may be computed: what a tactic's configuration says, and how long each
 * might take. */
#ifndef PLUGINS_CUDA_ATTENTION_TILES_H_
#define PLUGINS_CUDA_ATTENTION_TILES_H_

#include "problem.h"

enum { TENON_CUDA_ATTENTION_TACTICS = 6 };

/* In what q, k, v and the powers are multiplied, and so stored; of tf32 as f32. */
typedef enum tenon__cuda_attention_product_t {
  TENON_CUDA_ATTENTION_F16,
  TENON_CUDA_ATTENTION_BF16,
  TENON_CUDA_ATTENTION_TF32,
  TENON_CUDA_ATTENTION_PRODUCTS
} tenon__cuda_attention_product_t;

/* [frozen in plans] The tactic's configuration. */
typedef struct tenon__cuda_attention_choice_t {
  uint8_t product;   /* tenon__cuda_attention_product_t */
  uint8_t rows;      /* warps with queries of their own */
  uint8_t parts;     /* warps that share the keys of the same queries */
  uint8_t tiles;     /* of 16 queries, of a warp */
  uint8_t groups;    /* of 16 keys, that a warp looks at at once */
  uint8_t staged;    /* keys and values come through shared memory */
  uint8_t by_heads;  /* the rows of all heads of the result lie side by side */
  uint8_t exchanged; /* warps share the values too, and exchange powers instead of sums */
} tenon__cuda_attention_choice_t;

/* At most TENON_CUDA_ATTENTION_TACTICS of that product, the fastest by estimate first, with the
 * estimates; the result's order is for the caller. */
uint32_t tenon__cuda_attention_choose(const tenon__cuda_attention_t* attention, uint8_t product,
                                      tenon__cuda_attention_choice_t* out_choices,
                                      double* out_seconds);
/* Is it one of all that there are? A plan may say anything. */
bool tenon__cuda_attention_knows(tenon__cuda_attention_choice_t choice);
/* Each warp has one tile of keys, whatever the extents. */
bool tenon__cuda_attention_is_once(const tenon__cuda_attention_t* attention,
                                   tenon__cuda_attention_choice_t choice);

static inline uint32_t tenon__cuda_attention_bytes(uint8_t product) {
  return product == TENON_CUDA_ATTENTION_TF32 ? 4 : 2;
}
static inline uint32_t tenon__cuda_attention_threads(tenon__cuda_attention_choice_t choice) {
  return 32U * choice.rows * choice.parts;
}
/* Of a block. */
static inline int64_t tenon__cuda_attention_queries(tenon__cuda_attention_choice_t choice) {
  return 16 * (int64_t)choice.rows * choice.tiles;
}
/* Of a block, in bytes: what elements.cuh says. */
uint32_t tenon__cuda_attention_shared(const tenon__cuda_attention_t* attention,
                                      tenon__cuda_attention_choice_t choice);

#endif
