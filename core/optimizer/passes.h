/*
 * The passes. Each looks at one node and either leaves the network alone or makes one patch; it is
 * called again when something happened near the node.
 */
#ifndef TENON_CORE_OPTIMIZER_PASSES_H_
#define TENON_CORE_OPTIMIZER_PASSES_H_

#include "core/optimizer/bench.h"

tenon_status_t tenon__pass_remove_unused(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_enter_bodies(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_choose_branch(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_fold_constants(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_merge_equal(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_cancel_moves(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_sink_moves(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_move_scales(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_decompose(tenon__bench_t* bench, uint32_t graph, uint32_t node);
tenon_status_t tenon__pass_rewrites(tenon__bench_t* bench, uint32_t graph, uint32_t node);

/* Everything that no output, state or live shape needs, in one patch for each graph: what
 * remove_unused leaves because shapes might be read from it. True in *out_changed when something
 * went. */
tenon_status_t tenon__sweep(tenon__bench_t* bench, bool* out_changed);

#endif
