/* The insides of the kernel, shared by the files that choose, bind and run. */
#ifndef PLUGINS_CUBLAS_MAT_MUL_H_
#define PLUGINS_CUBLAS_MAT_MUL_H_

#include "epilogue.h"
#include "geometry.h"
#include "library.h"

enum {
  /* Of proposals that are asked for and tried. */
  TENON_CUBLAS_PROPOSALS = 8,
  /* cuBLASLt's own advice for Hopper; and what its address must be a multiple of. */
  TENON_CUBLAS_WORKSPACE = 32 << 20,
  TENON_CUBLAS_WORKSPACE_ALIGNMENT = 256,
  /* What most algorithms want of addresses. */
  TENON_CUBLAS_ALIGNMENT = 16,
  /* Inputs of a region: two operands, and what its slot reads. */
  TENON_CUBLAS_ARGUMENTS = 8
};

/* How an element type is multiplied. */
typedef struct tenon__cublas_type_t {
  tenon_dtype_t dtype;
  cudaDataType_t data;
  cublasComputeType_t compute;
  cudaDataType_t scale;
  uint32_t bytes;
} tenon__cublas_type_t;

/* A tactic's configuration: which of the library's proposals, with what. */
typedef struct tenon__cublas_choice_t {
  uint16_t proposal;
  uint8_t has_workspace;
  uint8_t is_tf32;
  /* What of a region in f32 is read and written as; UNDEFINED: everything in its own type. */
  tenon_dtype_t narrow;
} tenon__cublas_choice_t;

/* What prepare makes. */
typedef struct tenon__cublas_instance_t {
  tenon__cublas_state_t* state;
  tenon__cublas_handle_t* handle;
  tenon__cublas_choice_t choice;
  tenon__cublas_type_t type;
  tenon__cublas_epilogue_t epilogue;
  uint32_t a; /* region inputs */
  uint32_t b;
  uint32_t packs[TENON_CUBLAS_ARGUMENTS]; /* by input: which of the packed; TENON_NONE: none */
  /* The shapes at which the proposal was timed, in their optimum. */
  const tenon_value_info_t* optimum[2];
} tenon__cublas_instance_t;

tenon_status_t tenon__cublas_bind(void* instance, tenon_binding_t* handle,
                                  const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__cublas_enqueue(const tenon_enqueue_t* call);
void tenon__cublas_unbind(void* instance, void* bound);

extern const tenon_kernel_t tenon__cublas_mat_mul_kernel;

#endif
