/* Which form a program's kernels get: by the rules that were measured
 * (sdk/docs/gpu-experiments-2.md, sections 10 and 11; -5.md, section 33), from the extents that are
 * known when a plan is made. */
#ifndef PLUGINS_CUDA_FORM_H_
#define PLUGINS_CUDA_FORM_H_

#include "generate.h"

/* How often the rule's number of threads a row has: the timer tries half and twice as many. Where
 * there are no rows: half as many elements an access, so twice as many threads, where each has much
 * to compute. */
enum { TENON_CUDA_FORM_HALF = -1, TENON_CUDA_FORM_RULE = 0, TENON_CUDA_FORM_TWICE = 1 };

/* The variants worth a try, TENON_CUDA_FORM_RULE first: of rows all three. */
uint32_t tenon__cuda_form_variants(const tenon__cuda_analysis_t* analysis, int32_t out_variants[3]);

tenon__cuda_form_t tenon__cuda_form_choose(const tenon__cuda_analysis_t* analysis,
                                           const tenon_region_t* region,
                                           const tenon_region_table_t* table, int32_t variant);

#endif
