/*
 * The insides of engines and contexts. A context has a frame for each graph of the plan: where each
 * place's memory is now, and each step's arguments and bound kernel. Bodies reuse their frames from
 * iteration to iteration.
 *
 * Only this room looks in here. An engine's part is read by all its contexts and written by refit
 * alone, when none is running; a context's is written by its one thread.
 */
#ifndef TENON_CORE_RUNTIME_STATE_H_
#define TENON_CORE_RUNTIME_STATE_H_

#include "core/base/interrupt.h"
#include "core/base/thread_pool.h"
#include "core/catalog/entry.h"
#include "core/kernel/bind.h"
#include "core/kernel/dynamic_buffer.h"
#include "core/kernel/packed_store.h"
#include "core/plan/plan.h"
#include "core/runtime/space.h"
#include "core/runtime/types.h"

/* One step of one graph; steps[graph][step]. */
typedef struct tenon__engine_step_t {
  tenon__instance_t* instance; /* NULL: the core does it */
  uint32_t number;             /* over all graphs, for the profiler */
} tenon__engine_step_t;

/* catalog and options.sink are borrowed and outlive it; plan, store, instances and pending bytes
 * are its own. */
struct tenon__engine_t {
  tenon_allocator_t allocator;
  tenon__engine_options_t options;
  _Atomic uint32_t reference_count;
  tenon__catalog_t* catalog;
  tenon__plan_t* plan;
  tenon__packed_store_t* store;
  tenon__device_t devices[TENON_DEVICE_LIMIT]; /* the plan's */
  void** uploads[TENON_DEVICE_LIMIT]; /* of each device: where each of the network's weights is */
  bool is_elsewhere;                  /* not on the machine that the plan was tuned for */
  tenon__engine_step_t** steps;       /* per graph */
  uint32_t step_count;                /* of all graphs */
  void** pending;                     /* of each of the network's weights: set and not committed */
  uint8_t* reads_contents; /* per number of the network: is there a CONTENT symbol of that value? */
  uint32_t generation;     /* of the weights: one more with each refit */
};

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

/* What the application lends in the device's memory: lent.h. */
typedef struct tenon__lent_t {
  void* data;           /* NULL: nothing */
  uint32_t crossing;    /* the main graph's step that copies it there or back; TENON_NONE */
  bool is_read_on_host; /* inputs: by something besides */
  bool is_replaceable;  /* outputs: the crossing's source can lie in the application's memory */
  bool is_found;        /* outputs: the run finds the extents, and the source is at its bound */
} tenon__lent_t;

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

/* A chain's steps with one set of extents and addresses. */
typedef struct tenon__recorded_t {
  const void** key;  /* of each step what it is bound to, and its arguments' addresses */
  bool is_used;      /* the key means something */
  bool was_enqueued; /* step by step, since they were bound */
  void* recording;   /* the device's; NULL: none yet */
  uint64_t used_at;
} tenon__recorded_t;

/* Steps that are recorded together: chains.h. Keys have `key_count` entries, in the arena. */
typedef struct tenon__chain_t {
  uint32_t first;
  uint32_t count;
  uint32_t device;
  const char* name; /* of its replays, for tools that want it; NULL: none does */
  uint32_t key_count;
  const void** key;     /* of this run, as it is made */
  uint64_t version;     /* of the frame's addresses for which `current` was found; 0: none was */
  uint32_t current;     /* of `recorded` */
  bool is_unrecordable; /* a recording failed: the steps are enqueued one by one */
  tenon__recorded_t recorded[TENON_FORM_LIMIT];
} tenon__chain_t;

/* What the run does with a value's numbers when they are there: takes them for symbols, compares
 * them with what the plan knows. */
enum { TENON_NUMBERS_LEARNT = 1u << 0, TENON_NUMBERS_COMPARED = 1u << 1 };

/* An extent that a symbol stands for, of a value that was replaced: its shape says it otherwise. */
typedef struct tenon__following_t {
  uint32_t symbol;
  tenon_dim_t dim;
} tenon__following_t;

/* Lists lie in the context's arena. schedule, requirements: the plan's. places[p], numbers[p],
 * steps[k] and repeats[k] stand beside the schedule's places and steps. */
typedef struct tenon__frame_t {
  struct tenon__context_t* context;
  uint32_t graph;
  const tenon__schedule_t* schedule;
  char* memory[TENON_DEVICE_LIMIT]; /* of each device's activations: the graph's part */
  tenon__place_state_t* places;
  tenon__step_state_t* steps;
  uint8_t* numbers;     /* of each place: TENON_NUMBERS_* */
  uint32_t found_count; /* symbols that this graph's own steps find, anew in every run */
  uint32_t* found;
  uint32_t sizing_count; /* views whose numbers are extents elsewhere: no step of theirs says so */
  uint32_t* sizing;
  uint32_t given_count; /* places that no step makes, whose numbers a run looks at */
  uint32_t* given;
  uint32_t following_count;
  tenon__following_t* following;
  tenon__at_bound_t* at_bounds; /* in the order of the steps that make them */
  uint32_t at_bound_count;
  bool learns;      /* a run finds extents, or looks at numbers */
  bool is_bound;    /* static steps are */
  uint64_t version; /* one more whenever an address or a bound step may be another one */
  uint64_t clock;   /* of forms: which was used last */
  uint32_t chain_count;
  tenon__chain_t* chains;                 /* in order */
  struct tenon__repeat_state_t** repeats; /* per step, once it has run */
  uint32_t requirement_count;
  const tenon__requirement_t* requirements; /* of this graph, in the plan */
  uint64_t checked_version;                 /* of the extents for which they were found to hold */
} tenon__frame_t;

/* How a state becomes what it is to be. */
typedef enum tenon__state_way_t {
  TENON_STATE_STAYS,        /* it does not */
  TENON_STATE_IN_PLACE,     /* steps write over it */
  TENON_STATE_TURNS,        /* steps write `next`, which takes turns with `data` */
  TENON_STATE_COPIED,       /* the host copies it from another place, when the run is over */
  TENON_STATE_COPIED_ASIDE, /* likewise by way of `next`: the other place is of a state */
} tenon__state_way_t;

/* Dense rows. `next`: NULL where there is none. */
typedef struct tenon__state_memory_t {
  tenon__state_way_t way;
  uint32_t space; /* number of the device whose memory it is */
  void* data;
  void* next;
  size_t size_bytes;
} tenon__state_memory_t;

/* Spaces are its own, one for each of the plan's devices; arrays lie in its arena. Per input:
 * inputs, input_is_set, input_dims, input_strides, lent_inputs; per output: outputs, lent_outputs,
 * results and their dims and strides. */
struct tenon__context_t {
  tenon_allocator_t allocator;
  tenon__engine_t* engine;
  uint32_t state_place_count;
  uint32_t generation;  /* of the engine's weights that the frames know */
  tenon__arena_t arena; /* frames and arrays: made once */
  tenon__thread_pool_t* pool;
  tenon__space_t spaces[TENON_DEVICE_LIMIT];
  bool zeroed_is_dirty;   /* a run failed: what its kernels left there, nobody knows */
  bool has_begun;         /* steps of the run were asked for */
  bool is_lost;           /* a device that it needs says that it works no more */
  bool awaits_collection; /* enqueued, and the host has not waited yet */
  bool awaits_words;      /* likewise for what devices leave for the host to read */
  bool is_in_a_row;       /* all is recorded on one stream, whatever lanes the plan has */
  bool is_steady;         /* the last run was one replay, and nothing was set since: lent.h */
  tenon__extents_t extents;
  tenon__extents_t bounds;  /* likewise, what a run finds at its bound: device_words.h */
  bool has_bounds;          /* is there a value that lies at its bound? Else `bounds` is nothing */
  tenon__frame_t* frames;   /* per graph */
  bool has_faults;          /* some step's kernel may tell one: device_words.h */
  tenon_argument_t* inputs; /* as set; kind ABSENT until then */
  bool* input_is_set;
  bool shapes_changed;
  tenon__lent_t* lent_inputs;
  tenon__lent_t* lent_outputs;
  tenon_tensor_view_t* outputs; /* the application's memory; data NULL: ours */
  int64_t (*output_dims)[64];   /* and how much it holds */
  int64_t (*output_strides)[64];
  tenon_argument_t* results;
  int64_t (*result_strides)[64];
  int64_t (*result_dims)[64];
  int64_t (*input_dims)[64];
  int64_t (*input_strides)[64];
  tenon__state_memory_t* states;
  uint32_t* state_places; /* of the main graph: those that lie in the memory of states */
  tenon__interrupt_t interrupt;
  void (*profiler)(void* user, uint32_t step, double seconds);
  void* profiler_user;
  tenon__watcher_t watcher;
  void* watcher_user;
  struct tenon__timing_t* timing; /* NULL: nobody asked */
  const tenon__device_t* watched; /* whose maker's tools want steps' names; NULL: none does */
};

/* The value that a place holds. */
static inline const tenon__value_node_t* tenon__frame_value(const tenon__frame_t* frame,
                                                            uint32_t place) {
  return &frame->context->engine->plan->network->graphs[frame->graph]
              ->values[frame->schedule->places[place].value];
}

/* Of a place whose storage is STATE or NEXT: where it is until the next update of states. */
static inline void* tenon__state_data(const struct tenon__context_t* context,
                                      const tenon__place_t* place) {
  const tenon__state_memory_t* state = &context->states[place->index];
  return place->storage == TENON_STORAGE_NEXT ? state->next : state->data;
}

#endif
