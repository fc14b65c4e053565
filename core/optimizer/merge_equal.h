/* The table of what merge_equal has seen, which lives as long as the bench. */
#ifndef TENON_CORE_OPTIMIZER_MERGE_EQUAL_H_
#define TENON_CORE_OPTIMIZER_MERGE_EQUAL_H_

#include "core/optimizer/bench.h"

void tenon__equals_destroy(tenon__bench_t* bench);

#endif
