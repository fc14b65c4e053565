/* Pass: rewrites that plugins offer as patterns. */
#ifndef TENON_CORE_OPTIMIZER_REWRITES_H_
#define TENON_CORE_OPTIMIZER_REWRITES_H_

#include "core/base/arena.h"
#include "core/network/match.h"
#include "core/optimizer/bench.h"
#include "core/optimizer/rewriting.h"

/* Its texts; what is wrong with them is reported. In the arena. */
tenon_status_t tenon__rewrite_parse(tenon__arena_t* arena, const tenon__rewrite_entry_t* entry,
                                    const tenon_sink_t* sink, tenon__rewrite_t* out_rewrite);
/* At a node that is alive. Why it is UNCLEAR or UNFIT goes to bench->explain. Fails when memory is
 * out, or the caller asked to stop. */
tenon_status_t tenon__rewrite_visit(tenon__bench_t* bench, tenon__rewrite_t* rewrite,
                                    uint32_t graph, uint32_t node,
                                    tenon__rewrite_outcome_t* out_outcome);
/* The one that was applied most often in this bench; NULL when none was. */
const tenon__rewrite_t* tenon__rewrite_busiest(const tenon__bench_t* bench);

/* One statement of a text: adds its node, with arguments and attributes by name, and binds its
 * results. *out_value: the last of them. UNSUPPORTED when nobody offers the operator. */
tenon_status_t tenon__rewrite_add_call(tenon__bench_t* bench, tenon__match_t* match,
                                       const tenon__call_statement_t* call, tenon__arena_t* arena,
                                       uint32_t* out_value);

#endif
