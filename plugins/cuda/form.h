/* Which form a program's kernels get: by the rules that were measured
 * (row_reductions.md, elementwise.md and strided_reductions.md in tests/research), from the extents that are
 * known when a plan is made. */
#ifndef PLUGINS_CUDA_FORM_H_
#define PLUGINS_CUDA_FORM_H_

#include "generate.h"

/* How often the rule's number of threads a row has: the timer tries half and twice as many. Where
 * there are no rows: half as many elements an access, so twice as many threads, where each has much
 * to compute; and twice as many accesses a thread, where there are many points. */
enum {
  TENON_CUDA_FORM_HALF = -1,
  TENON_CUDA_FORM_RULE = 0,
  TENON_CUDA_FORM_TWICE = 1,
  TENON_CUDA_FORM_SPLIT = 2 /* several blocks a row */
};

/* How operands lie that vary along the whole space. Where rows are innermost in one of two orders
 * and not in the other, each has a form of its own. Without rows one form serves every order, and
 * where an operand is spread over part of the space it is tried with channels last besides: in rows
 * its accesses may end too early. */
enum { TENON_CUDA_ORDER_ANY, TENON_CUDA_ORDER_ROWS, TENON_CUDA_ORDER_CHANNELS_LAST };

typedef struct tenon__cuda_choice_t {
  int32_t variant;
  int32_t order;
} tenon__cuda_choice_t;

/* Lists the candidates. In each axis order, the form by rule is first and split rows are second. If
 * the first candidates of an order are slow, the host does not measure the others. */
enum { TENON_CUDA_CHOICES = 9 };
uint32_t tenon__cuda_form_choices(const tenon__cuda_analysis_t* analysis,
                                  const tenon_region_t* region, const tenon_region_table_t* table,
                                  tenon__cuda_choice_t out_choices[TENON_CUDA_CHOICES]);

/* Returns whether rows in this axis order are so few and long that several blocks should share each
 * row. `out_scratch_bytes` gets the scratch size for the largest extents. */
bool tenon__cuda_form_splits(const tenon__cuda_analysis_t* analysis, const tenon_region_t* region,
                             const tenon_region_table_t* table, int32_t order,
                             uint64_t* out_scratch_bytes);

/* Returns whether no extent of the iteration space or of an operand can exceed
 * TENON_CUDA_SHORT_EXTENT. */
bool tenon__cuda_extents_are_short(const tenon__cuda_analysis_t* analysis,
                                   const tenon_region_t* region, const tenon_region_table_t* table);

/* A plan may say anything. */
bool tenon__cuda_choice_is_one(tenon__cuda_choice_t choice, const tenon_program_t* program);

tenon__cuda_form_t tenon__cuda_form_choose(const tenon__cuda_analysis_t* analysis,
                                           const tenon_region_t* region,
                                           const tenon_region_table_t* table,
                                           tenon__cuda_choice_t choice);

#endif
