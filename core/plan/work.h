/* The work of a step at given extents: operations, and bytes that it must read and write. For
 * reports only; no decision depends on it. */
#ifndef TENON_CORE_PLAN_WORK_H_
#define TENON_CORE_PLAN_WORK_H_

#include "core/plan/plan.h"

/* Doubles, because a count may exceed 2^64 and rounding does not matter. */
typedef struct tenon__work_t {
  double operations;     /* a multiply-add counts 2, each function of the expressions 1 */
  bool operations_known; /* false: an operator of the step does not declare them */
  double bytes_read;     /* each tensor once, even if it is read repeatedly */
  double bytes_written;
  bool is_copy;        /* only changes a layout */
  bool is_elementwise; /* runs a program of expressions without reductions, and nothing else */
  bool is_constant;    /* same in each run: all inputs are weights or outputs of such steps */
  bool is_shape;       /* computes only numbers from which shapes are computed */
} tenon__work_t;

/* Computes the work of a kernel's step; other steps have no work of their own. Unknown extents
 * count as 0 and clear `operations_known`. */
tenon_status_t tenon__step_work(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                const tenon__extents_t* extents, tenon__work_t* out_work);

/* Computes only the operations, of all nodes of a region. */
tenon_status_t tenon__region_operations(tenon_allocator_t allocator,
                                        const struct tenon_region_t* region,
                                        const tenon__extents_t* extents, double* out_operations);

#endif
