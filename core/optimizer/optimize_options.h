/* What the optimiser is asked for, and what it says that it did. */
#ifndef TENON_CORE_OPTIMIZER_OPTIMIZE_OPTIONS_H_
#define TENON_CORE_OPTIMIZER_OPTIMIZE_OPTIONS_H_

#include "core/catalog/entry.h"
#include "core/network/network.h"

/* Computes a closed node whose inputs are all constants. `outputs`: one view for each output,
 * dense, zero-filled, of the extents that were inferred (data NULL: not wanted). UNSUPPORTED,
 * without words, when nobody here computes it: the node then stays. [build] */
typedef tenon_status_t (*tenon__fold_t)(void* user, const tenon__network_t* network, uint32_t graph,
                                        uint32_t node, const tenon_tensor_view_t* outputs);

/* Decides whether a rewrite is applied at all, before that happens for the first time. [build] */
struct tenon__optimize_options_t;
typedef tenon_status_t (*tenon__admit_rewrite_t)(const struct tenon__optimize_options_t* options,
                                                 const tenon__rewrite_entry_t* entry,
                                                 tenon_allocator_t allocator,
                                                 const tenon_sink_t* sink, bool* out_refused);

/* Filled in by the build, or by a trial of one rewrite; everything in it is borrowed while the
 * optimiser runs. All zero is a valid one: all passes, no rewrites, nothing folded. */
typedef struct tenon__optimize_options_t {
  /* The passes that run, as a mask of 1 << index in tenon__optimizer_pass_name's order; 0: all. */
  uint32_t passes;
  uint32_t patch_limit; /* stop after so many patches; 0: no limit */
  bool verifies; /* the whole network after each patch: for tests and to find a faulty pass */
  bool strict;   /* no patch may change a rounding: scales stay where they are */
  bool merges_siblings; /* else that pass leaves all as it is */
  tenon__fold_t fold;   /* NULL: closed nodes stay */
  void* fold_user;
  const tenon__rewrite_entry_t* const* rewrites;
  uint32_t rewrite_count;
  tenon__admit_rewrite_t admit; /* tenon__rewrite_admit; NULL: rewrites are applied untried */
  tenon__catalog_t* catalog;    /* remembers which were tried; NULL: nobody does */
  tenon__find_operator_t find;  /* for the replacements of rewrites; NULL: none apply */
  void* find_user;
  /* Is there a kernel for the operator? One without is decomposed, if its declaration says how.
   * NULL: none is. */
  bool (*is_computed)(void* user, const tenon__operator_t* op);
  void* computed_user;
} tenon__optimize_options_t;

/* What was done, in order. Strings live as long as the report's arena, or the network's. */
typedef struct tenon__patch_record_t {
  const char* label; /* the pass, "fold constants", or the rewrite, "rewrite plugin:name" */
  const char* node;  /* the node that it was about */
} tenon__patch_record_t;

/* Made by tenon__optimize, freed with tenon__optimize_report_deinitialize. */
typedef struct tenon__optimize_report_t {
  tenon__arena_t arena;
  uint32_t patch_count;
  size_t patch_capacity;
  tenon__patch_record_t* patches;
  uint64_t visit_count; /* how often a pass looked at a node */
} tenon__optimize_report_t;

#endif
