/* Memory of places, and the arguments and bound kernel of a step, in one frame. */
#ifndef TENON_CORE_FRAME_STEP_STATE_H_
#define TENON_CORE_FRAME_STEP_STATE_H_

#include "core/kernel/bind.h"
#include "core/kernel/dynamic_buffer.h"
#include "core/plan/plan.h"

/* A value at its bound, whose extents lie in its device's memory: device_words.h. Arrays have an
 * entry for each of its axes. */
typedef struct tenon__at_bound_t {
  uint32_t place;
  uint32_t step;   /* that makes it */
  uint64_t offset; /* of its extents, in bytes from the device's words */
  int64_t* dims;   /* its bound for the inputs at hand, and how it lies whatever is found */
  int64_t* strides;
  bool is_read; /* the host knows its extents in this run */
} tenon__at_bound_t;

/* Memory of a place that has its own (not VIEW, PART). `data` may move from run to run (INPUT,
 * OUTPUT, PARAMETER, GROWING), so arguments take it anew before each call. */
typedef struct tenon__place_state_t {
  void* data;
  tenon__at_bound_t* at_bound;     /* NULL: no such place */
  tenon__dynamic_buffer_t* buffer; /* GROWING; staging of inputs and outputs; NULL otherwise */
  tenon_argument_t argument;       /* sequences and optionals; PARAMETER: what is lent */
  /* Extents that the memory has, INPUT: as set, PARAMETER: as lent. Others' are planned, or the
   * growing's. */
  uint32_t rank;
  int64_t* dims;
  int64_t* strides; /* PARAMETER */
} tenon__place_state_t;

/* Where an argument's data come from: root->data + byte_offset, looked up before each call. Arrays
 * lie in the context's arena and have `capacity` entries. */
typedef struct tenon__bound_argument_t {
  tenon__place_state_t* root; /* NULL: absent */
  int64_t byte_offset;
  int64_t* dims; /* rank of the argument as the kernel sees it */
  int64_t* strides;
  uint32_t capacity;
} tenon__bound_argument_t;

/* What a step that copies between memories does in this run. */
typedef enum tenon__transfer_t {
  TENON_TRANSFER_CROSSES, /* as planned */
  TENON_TRANSFER_WITHIN,  /* what would go to the host stays in the device's memory */
  TENON_TRANSFER_NONE     /* the target is the source, or has it already */
} tenon__transfer_t;

/* How many sets of extents a step stays bound for, and of extents and addresses a chain recorded
 * for, the latest ones: so that runs that take turns do not bind and record each time. */
enum { TENON_FORM_LIMIT = 4 };

/* A step bound for one set of extents. */
typedef struct tenon__bound_form_t {
  tenon__bound_t* bound; /* NULL: none */
  int64_t* signature;    /* what it was bound for: all dims and strides */
  uint32_t signature_count;
  uint32_t signature_capacity;
  uint64_t used_at;
} tenon__bound_form_t;

/* Arguments as the kernel is called with them, and what it is bound for; lists have as many entries
 * as the plan's step. `bound`: that of the form at hand; NULL: not bound yet. */
typedef struct tenon__step_state_t {
  tenon_argument_t* inputs;
  tenon_argument_t* outputs;
  tenon__bound_argument_t* input_bindings;
  tenon__bound_argument_t* output_bindings;
  tenon__dynamic_buffer_t** buffers; /* one for each output */
  tenon__bound_t* bound;
  tenon__bound_form_t forms[TENON_FORM_LIMIT];
  tenon__transfer_t transfer;
  tenon_fault_t* fault; /* in its device's memory; NULL: its kernel has none to tell */
  bool writes_nothing;  /* its outputs have no elements: the kernel is not called */
  bool reads_host;      /* a device's step that reads numbers in the host's memory */
  bool has_dynamic_map; /* a move whose places depend on what the run finds: no signature says it */
} tenon__step_state_t;

#endif
