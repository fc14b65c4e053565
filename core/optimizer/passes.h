/*
 * The passes. Each looks at one node and either leaves the network alone or makes one patch; it is
 * called again when something happened near the node.
 *
 * A visit may be for nothing and must then be cheap. A pass keeps nothing between visits but what
 * the rewriter holds for it, and changes the network through patch.h alone. It fails for want of
 * memory, or where a patch does; what it cannot do it leaves.
 */
#ifndef TENON_CORE_OPTIMIZER_PASSES_H_
#define TENON_CORE_OPTIMIZER_PASSES_H_

#include "core/optimizer/rewriter.h"

/* Name, whether it believes traits or rewrites (what plugins say besides what operators mean),
 * file. In the order in which they run: cheap and freeing ones first. A pass is one line here and
 * one file. */
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

/* Everything that no output, state or live shape needs, in one patch for each graph: what
 * remove_unused leaves because shapes might be read from it. True in *out_changed when something
 * went. */
tenon_status_t tenon__sweep(tenon__rewriter_t* rewriter, bool* out_changed);

#endif
