/* A convolution that was prepared. */
#ifndef PLUGINS_CUDA_CONVOLUTION_CONVOLUTION_H_
#define PLUGINS_CUDA_CONVOLUTION_CONVOLUTION_H_

#include "compiler.h"
#include "epilogue.h"
#include "tiles.h"

typedef struct tenon__cuda_convolution_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  CUfunction function;
  tenon__cuda_problem_t problem;
  tenon__cuda_choice_t choice;
  tenon__cuda_epilogue_t epilogue;
  uint32_t x; /* the call's input */
  size_t bias_at;
} tenon__cuda_convolution_t;

/* run.c */
tenon_status_t tenon__cuda_convolution_bind(void* instance, tenon_binding_t* handle,
                                            const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cuda_convolution_enqueue(const tenon_enqueue_t* call);
void tenon__cuda_convolution_unbind(void* instance, void* bound);

#endif
