/* Options and report of the optimiser. */
#ifndef TENON_CORE_OPTIMIZER_OPTIMIZE_OPTIONS_H_
#define TENON_CORE_OPTIMIZER_OPTIMIZE_OPTIONS_H_

#include "core/catalog/entry.h"
#include "core/network/network.h"

/* Computes a closed node with constant inputs. `outputs` has one view for each output, contiguous,
 * zero-filled, with the inferred extents (data NULL: unused). Returns UNSUPPORTED without a message
 * if no kernel computes the node, which then stays. [build] */
typedef tenon_status_t (*tenon__fold_t)(void* user, const tenon__network_t* network, uint32_t graph,
                                        uint32_t node, const tenon_tensor_view_t* outputs);

/* Decides whether a rewrite is applied at all, before that happens for the first time. [build] */
struct tenon__optimize_options_t;
typedef tenon_status_t (*tenon__admit_rewrite_t)(const struct tenon__optimize_options_t* options,
                                                 const tenon__rewrite_entry_t* entry,
                                                 tenon_allocator_t allocator,
                                                 const tenon_sink_t* sink, bool* out_refused);

/* Filled in by the build, or by a trial of one rewrite. All members are borrowed while the
 * optimiser runs. All zeros are valid: all passes, no rewrites, no folding of closed nodes. */
typedef struct tenon__optimize_options_t {
  /* Mask of passes, 1 << index in tenon__optimizer_pass_name's order; 0: all. */
  uint32_t passes;
  uint32_t patch_limit; /* maximum number of patches; 0: no limit */
  bool verifies; /* verify the network after each patch, for tests and to find a faulty pass */
  bool strict;   /* no patch may change a rounding: scales are not moved */
  bool merges_siblings; /* false: that pass does nothing */
  tenon__fold_t fold;   /* NULL: closed nodes stay */
  void* fold_user;
  const tenon__rewrite_entry_t* const* rewrites;
  uint32_t rewrite_count;
  tenon__admit_rewrite_t admit; /* tenon__rewrite_admit; NULL: rewrites are applied untried */
  tenon__catalog_t* catalog;    /* stores the results of trials; may be NULL */
  tenon__find_operator_t find;  /* for the replacements of rewrites; NULL: none apply */
  void* find_user;
  /* Returns true if there is a kernel for the operator. Operators without a kernel are decomposed
   * if they declare a decomposition. NULL: none is decomposed. */
  bool (*is_computed)(void* user, const tenon__operator_t* op);
  void* computed_user;
} tenon__optimize_options_t;

/* One applied patch, in order. Strings live as long as the report's arena, or the network's. */
typedef struct tenon__patch_record_t {
  const char* label; /* the pass, "fold constants", or the rewrite, "rewrite plugin:name" */
  const char* node;  /* the node that it changed */
} tenon__patch_record_t;

/* Made by tenon__optimize, freed with tenon__optimize_report_deinitialize. */
typedef struct tenon__optimize_report_t {
  tenon__arena_t arena;
  uint32_t patch_count;
  size_t patch_capacity;
  tenon__patch_record_t* patches;
  uint64_t visit_count; /* number of visits of passes to nodes */
} tenon__optimize_report_t;

#endif
