/*
 * What the trials of one region share: the same inputs for every tactic, each as its rules want
 * them (trial_inputs), and memory for outputs, in which shows what was not written (trial_outputs).
 * One thread; everything lent is the data's, and void when they end.
 */
#ifndef TENON_CORE_TIMING_TRIAL_DATA_H_
#define TENON_CORE_TIMING_TRIAL_DATA_H_

#include "core/kernel/dynamic_buffer.h"
#include "core/kernel/packed_store.h"
#include "core/timing/conversion.h"
#include "core/timing/part.h"
#include "core/timing/tuning.h"

/* A box of a dense tensor in which one argument is to lie; arrays of `rank` entries, at the
 * optimum.
 */
typedef struct tenon__box_t {
  bool is_input;
  uint32_t argument; /* of the region's inputs or outputs */
  uint32_t rank;
  const int64_t* dims;   /* of the whole */
  const int64_t* begin;  /* of the box in it */
  const uint32_t* order; /* in which the whole lies; NULL: rows */
} tenon__box_t;

/* An input in one order of dimensions. The checksum is of the bytes before the run at hand, to see
 * whether a kernel wrote there. On a device with memory of its own the same bytes stay from the
 * first tactic that reads them to the end of the data. */
typedef struct tenon__trial_copy_t {
  tenon_tensor_view_t view;
  void* device; /* NULL: not there */
  uint64_t checksum;
  bool is_guarded; /* the checksum is there */
  struct tenon__trial_copy_t* next;
} tenon__trial_copy_t;

/* `rows` of a constant is the network's own memory, which nobody else may write to. */
typedef struct tenon__trial_input_t {
  bool is_there;
  size_t size_bytes;
  tenon__trial_copy_t rows;     /* a constant's own bytes; else made up, or given */
  tenon__trial_copy_t* copies;  /* the orders that tactics asked for */
  tenon__trial_copy_t* current; /* to the tactic at hand */
} tenon__trial_input_t;

typedef struct tenon__trial_output_t {
  uint32_t kind;             /* TENON_ARGUMENT_ABSENT, _TENSOR, or _ALLOCATE */
  tenon_tensor_view_t view;  /* ALLOCATE: after a run; of a part: the part */
  size_t size_bytes;         /* likewise */
  tenon__part_t part;        /* what of it is looked at */
  tenon_tensor_view_t whole; /* without memory of the host's, where that is a part */
  size_t whole_bytes;
  size_t zoned_bytes;              /* the host's memory between red zones; 0: it has none */
  tenon__dynamic_buffer_t* buffer; /* strings, and ALLOCATE: whose memory it is */
} tenon__trial_output_t;

/* Outputs of one tactic. One set is in use and one spare, unless an answer keeps its set: then the
 * next tactic gets a new one. */
typedef struct tenon__trial_outputs_t {
  tenon__trial_output_t* items;
  tenon_argument_t* arguments; /* as the kernel sees them */
  tenon__dynamic_buffer_t** buffers;
  struct tenon__trial_outputs_t* next;
} tenon__trial_outputs_t;

/* Tensors are of the profile's optimum. Memory comes from the tuning's blocks, small things from
 * the arena. */
typedef struct tenon__trial_data_t {
  tenon__tuning_t* tuning;
  const struct tenon_region_t* region;
  const tenon__conversion_t* conversion; /* NULL: arguments lie as the tactic's rules say */
  const tenon__box_t* box;               /* for what is lent from now on; NULL: none */
  bool is_whole;                         /* outputs are looked at as a whole, however large */
  tenon__arena_t arena;
  tenon__trial_input_t* inputs;
  tenon_argument_t* arguments;  /* of the tactic at hand */
  tenon__part_t* parts;         /* of each output, once outputs are made */
  tenon__packed_store_t* store; /* what kernels pack: several tactics pack alike */
  tenon__trial_outputs_t* all;
  tenon__trial_outputs_t* spare;
  struct tenon__trial_block_t* blocks; /* taken, to be given back */
} tenon__trial_data_t;

/* Nothing is made yet: the inputs by tenon__trial_inputs_make, outputs when they are lent. End it
 * whatever it returns. Returns UNSUPPORTED if the guessed extents of
 * the region may break the rules of its operators. */
tenon_status_t tenon__trial_data_begin(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                       tenon__trial_data_t* out_data);
void tenon__trial_data_end(tenon__trial_data_t* data);

/* What of an output of these extents is looked at: see part.h. On the host always the whole. */
tenon__part_t tenon__trial_data_part(const tenon__trial_data_t* data, uint32_t rank,
                                     const int64_t* dims, size_t size_bytes);
/* A block until the data end, of whatever was there before; NULL when memory is out. */
void* tenon__trial_data_take(tenon__trial_data_t* data, size_t size_bytes);
/* The same between red zones (red_zone.h). */
void* tenon__trial_data_take_zoned(tenon__trial_data_t* data, size_t size_bytes);
/* Is that argument to lie in a box? */
static inline bool tenon__trial_data_boxes(const tenon__trial_data_t* data, bool is_input,
                                           uint32_t argument) {
  return data->box != NULL && data->box->is_input == is_input && data->box->argument == argument;
}
/* Strides of the box. UNSUPPORTED where they overflow. */
tenon_status_t tenon__trial_data_box_strides(const tenon__trial_data_t* data, int64_t* out_strides);
/* Memory for the whole, as tenon__trial_data_take; *out_data is where the box begins in it. */
tenon_status_t tenon__trial_data_take_box(tenon__trial_data_t* data, tenon_dtype_t dtype,
                                          void** out_data);
/* A value's dense rows at the optimum, without memory. UNSUPPORTED where they cannot be counted. */
tenon_status_t tenon__trial_data_describe(tenon__trial_data_t* data,
                                          const tenon_value_info_t* value,
                                          tenon_tensor_view_t* out_view, size_t* out_bytes);
/* Where a rule wants a tensor of these extents to lie. UNSUPPORTED where strides cannot say it, or
 * where it follows what is not lent yet. A rule that follows an input takes the order in which that
 * one is lent. */
tenon_status_t tenon__trial_data_strides(const tenon__trial_data_t* data,
                                         const tenon_argument_rule_t* rule,
                                         const tenon_tensor_view_t* tensor, int64_t* out_strides);

#endif
