/* Observers of the steps of a run: a profiler and an observer of values. */
#ifndef TENON_CORE_FRAME_OBSERVER_H_
#define TENON_CORE_FRAME_OBSERVER_H_

#include "tenon/plugin.h"

/* See tenon__context_set_watcher. */
typedef void (*tenon__watcher_t)(void* user, uint32_t graph, uint32_t value,
                                 const tenon_tensor_view_t* tensor);

/* NULL: none. */
typedef struct tenon__observer_t {
  void (*profiler)(void* user, uint32_t step, double seconds);
  void* profiler_user;
  tenon__watcher_t watcher;
  void* watcher_user;
} tenon__observer_t;

#endif
