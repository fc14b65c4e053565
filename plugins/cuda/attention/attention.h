/* An attention that was prepared. */
#ifndef PLUGINS_CUDA_ATTENTION_ATTENTION_H_
#define PLUGINS_CUDA_ATTENTION_ATTENTION_H_

#include "attention/shape.h"
#include "compiler.h"
#include "launch.h"
#include "scores.h"
#include "tiles.h"

typedef struct tenon__cuda_attending_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  CUfunction wide; /* rows of q, k and v in words of 16 bytes */
  CUfunction any;
  tenon__cuda_attention_t attention;
  tenon__cuda_attention_choice_t choice;
  tenon__cuda_scores_t scores;
} tenon__cuda_attending_t;

/* run.c */
tenon_status_t tenon__cuda_attention_bind(void* instance, tenon_binding_t* handle,
                                          const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cuda_attention_enqueue(const tenon_enqueue_t* call);

#endif
