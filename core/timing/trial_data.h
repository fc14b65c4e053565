/*
 * Data that the trials of one region share: the same inputs for all tactics, in the layouts of
 * their rules (trial_inputs), and memory for outputs, with patterns that reveal unwritten elements
 * (trial_outputs). One thread. All memory belongs to the data and is invalid after
 * tenon__trial_data_end.
 */
#ifndef TENON_CORE_TIMING_TRIAL_DATA_H_
#define TENON_CORE_TIMING_TRIAL_DATA_H_

#include "core/kernel/dynamic_buffer.h"
#include "core/kernel/packed_store.h"
#include "core/timing/conversion.h"
#include "core/timing/part.h"
#include "core/timing/tuning.h"

/* A box of a contiguous tensor in which one argument is stored. Arrays have `rank` entries, at the
 * optimum. */
typedef struct tenon__box_t {
  bool is_input;
  uint32_t argument; /* of the region's inputs or outputs */
  uint32_t rank;
  const int64_t* dims;   /* of the whole */
  const int64_t* begin;  /* of the box in it */
  const uint32_t* order; /* of the whole; NULL: row-major */
} tenon__box_t;

/* An input in one order of dimensions. The checksum of the bytes before the current run shows
 * whether a kernel has overwritten them. On a device with its own memory, the bytes stay from the
 * first tactic that reads them to the end of the data. */
typedef struct tenon__trial_copy_t {
  tenon_tensor_view_t view;
  void* device; /* NULL: not on the device */
  uint64_t checksum;
  bool is_guarded; /* the checksum is valid */
  struct tenon__trial_copy_t* next;
} tenon__trial_copy_t;

/* `rows` of a constant is the network's own memory, which must not be overwritten. */
typedef struct tenon__trial_input_t {
  bool is_there;
  size_t size_bytes;
  tenon__trial_copy_t rows;     /* a constant's own bytes; else made up, or given */
  tenon__trial_copy_t* copies;  /* in the orders that tactics need */
  tenon__trial_copy_t* current; /* for the current tactic */
} tenon__trial_input_t;

typedef struct tenon__trial_output_t {
  uint32_t kind;             /* TENON_ARGUMENT_ABSENT, _TENSOR, or _ALLOCATE */
  tenon_tensor_view_t view;  /* ALLOCATE: valid after a run; if a part is compared: the part */
  size_t size_bytes;         /* same */
  tenon__part_t part;        /* the compared part */
  tenon_tensor_view_t whole; /* without memory of the host, if a part is compared */
  size_t whole_bytes;
  size_t zoned_bytes;              /* the host's memory between red zones; 0: none */
  tenon__dynamic_buffer_t* buffer; /* owner of the memory of strings and ALLOCATE */
} tenon__trial_output_t;

/* Outputs of one tactic. One set is in use and one is spare. If a result keeps its set, the next
 * tactic gets a new one. */
typedef struct tenon__trial_outputs_t {
  tenon__trial_output_t* items;
  tenon_argument_t* arguments; /* for the kernel's call */
  tenon__dynamic_buffer_t** buffers;
  struct tenon__trial_outputs_t* next;
} tenon__trial_outputs_t;

/* Tensors have the profile's optimum extents. Memory is from the tuning's blocks, small data from
 * the arena. */
typedef struct tenon__trial_data_t {
  tenon__tuning_t* tuning;
  const struct tenon_region_t* region;
  const tenon__conversion_t* conversion; /* NULL: layouts follow the tactic's rules */
  const tenon__box_t* box;               /* for arguments lent from now on; NULL: none */
  bool is_whole;                         /* outputs are compared completely, regardless of size */
  tenon__arena_t arena;
  tenon__trial_input_t* inputs;
  tenon_argument_t* arguments;  /* of the current tactic */
  tenon__part_t* parts;         /* of each output, when outputs exist */
  tenon__packed_store_t* store; /* packed weights, shared by tactics */
  tenon__trial_outputs_t* all;
  tenon__trial_outputs_t* spare;
  struct tenon__trial_block_t* blocks; /* in use, returned at the end */
} tenon__trial_data_t;

/* Begins the data without inputs and outputs. tenon__trial_inputs_make makes inputs, and outputs
 * are made when they are lent. Call tenon__trial_data_end in any case. Returns UNSUPPORTED if the
 * guessed extents of the region may break the rules of its operators. */
tenon_status_t tenon__trial_data_begin(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                       tenon__trial_data_t* out_data);
void tenon__trial_data_end(tenon__trial_data_t* data);

/* Returns the compared part of an output of these extents: see part.h. On the host always the
 * whole. */
tenon__part_t tenon__trial_data_part(const tenon__trial_data_t* data, uint32_t rank,
                                     const int64_t* dims, size_t size_bytes);
/* Returns a block with undefined contents, valid until the data end; NULL if out of memory. */
void* tenon__trial_data_take(tenon__trial_data_t* data, size_t size_bytes);
/* Same, between red zones (red_zone.h). */
void* tenon__trial_data_take_zoned(tenon__trial_data_t* data, size_t size_bytes);
/* Returns true if that argument is stored in the box. */
static inline bool tenon__trial_data_boxes(const tenon__trial_data_t* data, bool is_input,
                                           uint32_t argument) {
  return data->box != NULL && data->box->is_input == is_input && data->box->argument == argument;
}
/* Computes the strides of the box. Returns UNSUPPORTED if they overflow. */
tenon_status_t tenon__trial_data_box_strides(const tenon__trial_data_t* data, int64_t* out_strides);
/* Takes memory for the whole, as tenon__trial_data_take; *out_data is the start of the box in
 * it. */
tenon_status_t tenon__trial_data_take_box(tenon__trial_data_t* data, tenon_dtype_t dtype,
                                          void** out_data);
/* Describes a value at the optimum, contiguous and row-major, without memory. Returns UNSUPPORTED
 * if its size overflows. */
tenon_status_t tenon__trial_data_describe(tenon__trial_data_t* data,
                                          const tenon_value_info_t* value,
                                          tenon_tensor_view_t* out_view, size_t* out_bytes);
/* Computes the strides that a rule requires for a tensor of these extents. A rule that follows an
 * input takes the order of the lent input. Returns UNSUPPORTED if strides cannot express the rule,
 * or if it follows an input that is not lent yet. */
tenon_status_t tenon__trial_data_strides(const tenon__trial_data_t* data,
                                         const tenon_argument_rule_t* rule,
                                         const tenon_tensor_view_t* tensor, int64_t* out_strides);

#endif
