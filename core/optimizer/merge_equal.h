/* The table of what merge_equal has seen, which lives as long as the rewriter. */
#ifndef TENON_CORE_OPTIMIZER_MERGE_EQUAL_H_
#define TENON_CORE_OPTIMIZER_MERGE_EQUAL_H_

#include "core/optimizer/rewriter.h"

void tenon__equals_destroy(tenon__rewriter_t* rewriter);

#endif
