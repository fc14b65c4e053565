/* Rewrites whose replacement a plugin's function builds. */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_CODE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_CODE_H_

#include "core/network/match.h"
#include "core/optimizer/rewriter.h"

/* The replacement by a plugin's function. *out_value TENON_NONE: it declines. UNSUPPORTED where it
 * gives no value. The function sees the matched nodes as a region and builds through a builder that
 * is fixed to the graph: it can add nodes but no inputs, outputs or states. What it built is taken
 * up even where it declines; the caller cancels the patch then. */
tenon_status_t tenon__rewrite_by_code(tenon__rewriter_t* rewriter,
                                      const tenon__rewrite_entry_t* entry,
                                      const tenon__match_t* match, uint32_t* out_value);

#endif
