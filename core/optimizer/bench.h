/* The workbench's insides, for bench.c and patch.c. */
#ifndef TENON_CORE_OPTIMIZER_BENCH_H_
#define TENON_CORE_OPTIMIZER_BENCH_H_

#include "core/optimizer/patch.h"

/* Takes up values, nodes and numbers that the network has and the bench does not know. */
bool tenon__bench_take_up(tenon__bench_t* bench, uint32_t graph);
/* And graphs, whole: bodies that code built. */
bool tenon__bench_take_up_graphs(tenon__bench_t* bench);
void tenon__bench_link(tenon__bench_t* bench, uint32_t graph, uint32_t node, uint32_t input);
void tenon__bench_unlink(tenon__bench_t* bench, uint32_t graph, uint32_t node, uint32_t input);
/* Numbers that lead to `old` lead to `value`. */
void tenon__bench_move_numbers(tenon__bench_t* bench, uint32_t graph, uint32_t old, uint32_t value);
/* The value's producer, and, when one node alone is left that reads it, that node. */
void tenon__bench_touch_around(tenon__bench_t* bench, uint32_t graph, uint32_t value);

#endif
