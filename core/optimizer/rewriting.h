/* What the files about rewrites and decompositions share. */
#ifndef TENON_CORE_OPTIMIZER_REWRITING_H_
#define TENON_CORE_OPTIMIZER_REWRITING_H_

#include "core/network/match.h"
#include "core/optimizer/passes.h"

/* One statement of a text: adds its node, with arguments and attributes by name, and binds its
 * results. *out_value: the last of them. UNSUPPORTED when nobody offers the operator. */
tenon_status_t tenon__rewrite_add_call(tenon__bench_t* bench, tenon__match_t* match,
                                       const tenon__call_statement_t* call, tenon__arena_t* arena,
                                       uint32_t* out_value);

/* The replacement by a plugin's function. UNSUPPORTED when it declines. */
tenon_status_t tenon__rewrite_by_code(tenon__bench_t* bench, const tenon__rewrite_entry_t* entry,
                                      const tenon__match_t* match, tenon__arena_t* arena,
                                      uint32_t* out_value);

#endif
