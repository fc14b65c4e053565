/* The internal state of an engine, for the modules of the runtime only. All contexts of an engine
 * read it. Only refit writes it, while none of them runs. */
#ifndef TENON_CORE_ENGINE_ENGINE_STATE_H_
#define TENON_CORE_ENGINE_ENGINE_STATE_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"
#include "core/kernel/instance.h"
#include "core/kernel/packed_store.h"
#include "core/plan/plan.h"

/* One step of one graph; steps[graph][step]. */
typedef struct tenon__engine_step_t {
  tenon__instance_t* instance; /* NULL: a step of the core */
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
  void** uploads[TENON_DEVICE_LIMIT];          /* for each device: addresses of the weights */
  bool is_elsewhere;            /* the machine is not the one for which the plan was tuned */
  tenon__engine_step_t** steps; /* per graph */
  uint32_t step_count;          /* of all graphs */
  void** pending;               /* for each of the network's weights: set and not committed */
  uint8_t* reads_contents;      /* per handle of the network: its value has a CONTENT symbol */
  uint32_t generation;          /* of the weights: incremented by each refit */
};

#endif
