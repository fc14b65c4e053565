/*
 * The passes. Each visits one node and makes one patch or none. It is called again after changes
 * near the node.
 *
 * A visit without effect must be cheap. Between visits a pass keeps only data in the rewriter, and
 * it changes the network only through patch.h. It fails only if out of memory, or if a patch fails.
 * It skips nodes that it cannot handle.
 */
#ifndef TENON_CORE_OPTIMIZER_PASSES_H_
#define TENON_CORE_OPTIMIZER_PASSES_H_

#include "core/optimizer/rewriter.h"

/* Name, whether it relies on traits or rewrites (declarations of plugins besides the operators'
 * definitions), file. In running order: cheap passes and passes that remove nodes first. A pass is
 * one line here and one file. */
#define TENON_PASSES(X)                      \
  X("remove unused", false, remove_unused)   \
  X("decompose", false, decompose)           \
  X("enter bodies", false, enter_bodies)     \
  X("choose branch", false, choose_branch)   \
  X("fold constants", false, fold_constants) \
  X("merge equal", true, merge_equal)        \
  X("cancel moves", false, cancel_moves)     \
  X("sink moves", true, sink_moves)          \
  X("rewrites", true, rewrites)              \
  X("move scales", true, move_scales)        \
  X("merge siblings", true, merge_siblings)

#define TENON_PASS_DECLARE(name, believes, file) \
  tenon_status_t tenon__pass_##file(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node);
TENON_PASSES(TENON_PASS_DECLARE)
#undef TENON_PASS_DECLARE

/* Removes everything that no output, state or live shape needs, in one patch for each graph.
 * remove_unused keeps nodes from which shapes might be read; this function removes them too.
 * *out_changed is true if a node was removed. */
tenon_status_t tenon__sweep(tenon__rewriter_t* rewriter, bool* out_changed);

#endif
