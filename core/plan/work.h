/* What a step does at given extents: arithmetic, and the bytes that it must read and write. For
 * reports; nothing is chosen by it. */
#ifndef TENON_CORE_PLAN_WORK_H_
#define TENON_CORE_PLAN_WORK_H_

#include "core/plan/plan.h"

/* Doubles, since a count may exceed 2^64 and an error of a bit says nothing. */
typedef struct tenon__work_t {
  double operations;     /* a multiply-add counts two; each function of the expressions one */
  bool operations_known; /* false: an operator of the step does not say */
  double bytes_read;     /* each tensor once, however often it is read */
  double bytes_written;
  bool is_copy;        /* changes a layout alone */
  bool is_elementwise; /* runs a program of expressions without reductions, and nothing else */
  bool is_constant;    /* the same in each run: from weights, and what such steps make, alone */
  bool is_shape;       /* makes numbers that shapes are made of, and nothing else */
} tenon__work_t;

/* Of a kernel's step; others do no work of their own. What the extents do not know counts as 0 and
 * is not `operations_known`. */
tenon_status_t tenon__step_work(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                const tenon__extents_t* extents, tenon__work_t* out_work);

/* The arithmetic alone, of all nodes of a region. */
tenon_status_t tenon__region_operations(tenon_allocator_t allocator,
                                        const struct tenon_region_t* region,
                                        const tenon__extents_t* extents, double* out_operations);

#endif
