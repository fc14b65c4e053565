/*
 * What the trials of one region share: the same inputs for every tactic, each as its rules want
 * them, and memory for outputs, in which shows what was not written.
 */
#ifndef TENON_CORE_CANDIDATE_TRIAL_DATA_H_
#define TENON_CORE_CANDIDATE_TRIAL_DATA_H_

#include "core/candidate/tuning.h"
#include "core/kernel/growing.h"

/* An input in one order of dimensions. */
typedef struct tenon__trial_copy_t {
  tenon_tensor_view_t view;
  uint64_t checksum;
  bool is_guarded; /* the checksum is there */
  struct tenon__trial_copy_t* next;
} tenon__trial_copy_t;

typedef struct tenon__trial_input_t {
  bool is_there;
  size_t size_bytes;
  tenon__trial_copy_t rows;    /* a constant's own bytes; else made up, or given */
  tenon__trial_copy_t* copies; /* the orders that tactics asked for */
  tenon__trial_copy_t* lent;   /* to the tactic at hand */
} tenon__trial_input_t;

typedef struct tenon__trial_output_t {
  uint32_t kind;             /* TENON_ARGUMENT_ABSENT, _TENSOR, or _ALLOCATE */
  tenon_tensor_view_t view;  /* ALLOCATE: after a run */
  size_t size_bytes;         /* likewise */
  tenon__growing_t* growing; /* strings, and ALLOCATE: whose memory it is */
} tenon__trial_output_t;

/* Outputs of one tactic. */
typedef struct tenon__trial_outputs_t {
  tenon__trial_output_t* items;
  tenon_argument_t* arguments; /* as the kernel sees them */
  tenon__growing_t** growing;
  struct tenon__trial_outputs_t* next;
} tenon__trial_outputs_t;

typedef struct tenon__trial_data_t {
  tenon__tuning_t* tuning;
  const struct tenon_region_t* region;
  tenon__arena_t arena;
  tenon__trial_input_t* inputs;
  tenon_argument_t* arguments; /* of the tactic at hand */
  tenon__trial_outputs_t* all;
  tenon__trial_outputs_t* spare;
  struct tenon__trial_block_t* blocks; /* taken, to be given back */
} tenon__trial_data_t;

/* `given`: dense rows for each of the region's inputs that is no constant; NULL: made up as the
 * domains of the ports say. UNSUPPORTED where the region cannot be tried alone: sequences. End it
 * whatever it returns. */
tenon_status_t tenon__trial_data_begin(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                       const tenon_tensor_view_t* given,
                                       tenon__trial_data_t* out_data);
void tenon__trial_data_end(tenon__trial_data_t* data);
/* Fills data->arguments, and outputs, for a tactic. */
tenon_status_t tenon__trial_data_lend(tenon__trial_data_t* data, const tenon__step_tactic_t* tactic,
                                      tenon__trial_outputs_t** out_outputs);
/* Before each run: outputs hold the pattern (see trial_memory.h), and nothing is allocated yet. */
tenon_status_t tenon__trial_outputs_clear(tenon__trial_outputs_t* outputs, uint32_t count,
                                          uint32_t pattern);
/* After a run: where what the kernel allocated is. */
void tenon__trial_outputs_collect(tenon__trial_outputs_t* outputs, uint32_t count);
/* For the next tactic. */
void tenon__trial_data_give_back(tenon__trial_data_t* data, tenon__trial_outputs_t* outputs);

/* A block until the data end; NULL when memory is out. */
void* tenon__trial_data_take(tenon__trial_data_t* data, size_t size_bytes);
/* Dense rows of input k. */
const tenon_tensor_view_t* tenon__trial_data_rows(const tenon__trial_data_t* data, uint32_t k);

#endif
