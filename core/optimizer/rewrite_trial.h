/*
 * The trial of a rewrite on numbers before its first application. Small networks that contain its
 * pattern, with random types, shapes, attributes and elements, are computed before and after the
 * rewrite. A rewrite is refused if the results differ, if it matches its own replacement, or if its
 * replacement never fits. Operators without an expression, move or decomposition cannot be computed
 * here and are not compared.
 *
 * A trial takes milliseconds, once for each rewrite and catalogue, and only if the rewrite is about
 * to be applied. It is no proof, but it detects a wrong sign or a forgotten broadcast.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_TRIAL_H_
#define TENON_CORE_OPTIMIZER_REWRITE_TRIAL_H_

#include "core/base/arena.h"
#include "core/optimizer/optimize_options.h"

/* The result of a trial. `fault` is a message in the arena; NULL: the rewrite is kept. */
typedef struct tenon__rewrite_trial_t {
  const char* fault;
  uint32_t compared; /* networks with both sides computed */
  uint32_t applied;  /* networks that the rewrite changed */
} tenon__rewrite_trial_t;

/* Tries a rewrite. If its texts do not parse, or operators cannot be looked up, `fault` is NULL and
 * `applied` 0. Sends no messages. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__rewrite_try(const tenon__optimize_options_t* options,
                                  const tenon__rewrite_entry_t* entry, tenon_allocator_t allocator,
                                  tenon__arena_t* arena, tenon__rewrite_trial_t* out_trial);
/* Same if the options' catalogue does not have the result yet. Stores the result there, and reports
 * a refusal. Several builds may call it in parallel; the rewrite may then be tried twice, with the
 * same result. */
tenon_status_t tenon__rewrite_admit(const tenon__optimize_options_t* options,
                                    const tenon__rewrite_entry_t* entry,
                                    tenon_allocator_t allocator, const tenon_sink_t* sink,
                                    bool* out_refused);

#endif
