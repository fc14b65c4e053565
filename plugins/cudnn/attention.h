/*
 * Attention as cuDNN's one operation: softmax(scale * q k^T) v along the last axis, the scale one
 * number that is known when building. Masks, biases and other arithmetic on the scores are not
 * taken.
 *
 *   attention_region.c   which nodes are one, walked back from the product with v
 *   attention.c          proposing, match, tactics, prepare
 *   attention_run.c      bind: the graph and its plan; enqueue
 */
#ifndef PLUGINS_CUDNN_ATTENTION_H_
#define PLUGINS_CUDNN_ATTENTION_H_

#include "region.h"

enum {
  TENON_CUDNN_ATTENTION_NODES = 24,
  TENON_CUDNN_ATTENTION_INPUTS = 16,
  TENON_CUDNN_ATTENTION_AXES = 4,
  TENON_CUDNN_ATTENTION_FEATURES = 128, /* at most */
  TENON_CUDNN_ATTENTION_STEP = 8,       /* of features: words of 16 bytes */
};

typedef struct tenon__cudnn_attention_t {
  tenon__cudnn_region_t region;
  uint32_t node_count; /* that belong to it; the product with v first */
  uint32_t nodes[TENON_CUDNN_ATTENTION_NODES];
  const tenon_value_info_t* q;
  const tenon_value_info_t* kt; /* features, then keys */
  const tenon_value_info_t* v;
  const tenon_value_info_t* y;
  uint32_t rank; /* of all of them */
  double scale;
} tenon__cudnn_attention_t;

/* The attention whose product with v is `seed`, in a whole graph or in a region that is nothing
 * else. False, and why not. */
bool tenon__cudnn_attention_read(tenon__cudnn_region_t region, uint32_t seed,
                                 tenon__cudnn_attention_t* out_attention,
                                 tenon_refusal_t* out_refusal);

/* A tactic's configuration. */
typedef struct tenon__cudnn_attention_choice_t {
  uint8_t by_heads; /* the rows of all heads of the result lie side by side */
  uint8_t any_keys; /* k lies anyhow; else each key's features lie together */
  uint16_t reserved;
  /* What of a region in f32 is read and written as; UNDEFINED: everything in its own type. */
  tenon_dtype_t narrow;
} tenon__cudnn_attention_choice_t;

/* The most workspace of a plan. Behind it lies what of q, k and v is put in rows first: tokens,
 * then features. */
enum { TENON_CUDNN_ATTENTION_WORKSPACE = 32 << 20 };

typedef struct tenon__cudnn_attending_t {
  tenon__cudnn_state_t* state;
  tenon__cudnn_device_t* device;
  tenon__cudnn_attention_t attention;
  tenon__cudnn_attention_choice_t choice;
  cudnnDataType_t type;
} tenon__cudnn_attending_t;

/* Where rows of q (0), k (1) or v (2) begin in the scratch memory; 3: its end. */
uint64_t tenon__cudnn_attention_rows(const tenon__cudnn_attention_t* attention, uint32_t which);

tenon_status_t tenon__cudnn_attention_bind(void* instance, tenon_binding_t* binding,
                                           const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cudnn_attention_enqueue(const tenon_enqueue_t* call);
void tenon__cudnn_attention_unbind(void* instance, void* bound);

#endif
