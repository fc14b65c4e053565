/* Memory of places, and the arguments and bound kernel of a step, in one frame. */
#ifndef TENON_CORE_FRAME_STEP_STATE_H_
#define TENON_CORE_FRAME_STEP_STATE_H_

#include "core/kernel/bind.h"
#include "core/kernel/dynamic_buffer.h"
#include "core/plan/plan.h"

/* A value at its bound, whose extents are in its device's memory: device_words.h. Arrays have an
 * entry for each of its axes. */
typedef struct tenon__at_bound_t {
  uint32_t place;
  uint32_t step;   /* that writes it */
  uint64_t offset; /* of its extents, in bytes from the start of the device's status block */
  int64_t* dims;   /* its bound for the current inputs, and its layout for all actual extents */
  int64_t* strides;
  bool is_read; /* the host knows its extents in this run */
} tenon__at_bound_t;

/* Memory of a place that has its own (not VIEW, PART). `data` may change from run to run (INPUT,
 * OUTPUT, PARAMETER, GROWING), so arguments read it before each call. */
typedef struct tenon__place_state_t {
  void* data;
  tenon__at_bound_t* at_bound;     /* NULL: not at its bound */
  tenon__dynamic_buffer_t* buffer; /* GROWING; staging of inputs and outputs; NULL otherwise */
  tenon_argument_t argument;       /* sequences and optionals; PARAMETER: the borrowed argument */
  /* Extents of the memory. INPUT: as set. PARAMETER: as passed. Others are planned, or those of the
   * growing buffer. */
  uint32_t rank;
  int64_t* dims;
  int64_t* strides; /* PARAMETER */
} tenon__place_state_t;

/* Source of an argument's data: root->data + byte_offset, read before each call. Arrays are in the
 * context's arena and have `capacity` entries. */
typedef struct tenon__bound_argument_t {
  tenon__place_state_t* root; /* NULL: absent */
  int64_t byte_offset;
  int64_t* dims; /* one entry for each axis that the kernel sees */
  int64_t* strides;
  uint32_t capacity;
} tenon__bound_argument_t;

/* The action of a copy step in this run. */
typedef enum tenon__transfer_t {
  TENON_TRANSFER_CROSSES, /* copies between memories as planned */
  TENON_TRANSFER_WITHIN,  /* the copy for the host stays in the device's memory */
  TENON_TRANSFER_NONE     /* no copy: the target is the source, or has its data already */
} tenon__transfer_t;

/* Maximum number of sets of extents for which a step stays bound, and of sets of extents and
 * addresses for which a chain stays recorded. The latest ones are kept, so that alternating runs do
 * not bind and record each time. */
enum { TENON_FORM_LIMIT = 4 };

/* A step bound for one set of extents. */
typedef struct tenon__bound_form_t {
  tenon__bound_t* bound; /* NULL: none */
  int64_t* signature;    /* all dims and strides for which it was bound */
  uint32_t signature_count;
  uint32_t signature_capacity;
  uint64_t used_at;
} tenon__bound_form_t;

/* The arguments of the kernel's call, and its bound forms. Lists have as many entries as the plan's
 * step. `bound` is that of the current form; NULL: not bound yet. */
typedef struct tenon__step_state_t {
  tenon_argument_t* inputs;
  tenon_argument_t* outputs;
  tenon__bound_argument_t* input_bindings;
  tenon__bound_argument_t* output_bindings;
  tenon__dynamic_buffer_t** buffers; /* one for each output */
  tenon__bound_t* bound;
  tenon__bound_form_t forms[TENON_FORM_LIMIT];
  tenon__transfer_t transfer;
  tenon_fault_t* fault; /* in its device's memory; NULL: its kernel reports no data errors */
  bool reads_host;      /* a device's step that reads numbers in the host's memory */
  bool has_dynamic_map; /* a move with data-dependent coordinates, which no signature has */
} tenon__step_state_t;

#endif
