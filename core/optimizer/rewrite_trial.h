/*
 * Trying a rewrite on numbers before it is applied for the first time: small networks that hold its
 * pattern, of random types, shapes, attributes and elements, each computed as it is and as the
 * rewrite leaves it. A rewrite whose two sides differ, that matches what it made, or whose
 * replacement never fits, is refused. What cannot be computed here (operators without an
 * expression, move or decomposition) is not compared.
 *
 * A trial costs milliseconds, once for a rewrite and catalogue, and only where it is to be applied
 * at all. It proves nothing; but a rewrite with a wrong sign or a forgotten broadcast does not
 * survive it.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_TRIAL_H_
#define TENON_CORE_OPTIMIZER_REWRITE_TRIAL_H_

#include "core/base/arena.h"
#include "core/optimizer/optimize_options.h"

/* What a trial found. `fault`: words in the arena, NULL when the rewrite is to be kept. */
typedef struct tenon__rewrite_trial_t {
  const char* fault;
  uint32_t compared; /* networks of which both sides were computed */
  uint32_t applied;  /* networks that the rewrite changed */
} tenon__rewrite_trial_t;

/* Fails when memory is out alone. Nothing is found about a rewrite whose texts do not parse, or
 * where operators cannot be looked up: the fault is NULL, and `applied` 0. Silent. */
tenon_status_t tenon__rewrite_try(const tenon__optimize_options_t* options,
                                  const tenon__rewrite_entry_t* entry, tenon_allocator_t allocator,
                                  tenon__arena_t* arena, tenon__rewrite_trial_t* out_trial);
/* The same where the options' catalogue does not know the answer yet, and tells it; a refusal is
 * reported. Several builds may ask at once: then it may be tried twice, with the same answer. */
tenon_status_t tenon__rewrite_admit(const tenon__optimize_options_t* options,
                                    const tenon__rewrite_entry_t* entry,
                                    tenon_allocator_t allocator, const tenon_sink_t* sink,
                                    bool* out_refused);

#endif
