/*
 * A rewrite that a plugin offers as texts: parsed, matched at a node, applied as one patch.
 * Patterns and replacements are texts of calls (language/text.h), so that the core applies
 * rewrites without knowing an operator; only what no text can say is built by a plugin's function
 *.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_H_

#include "core/base/arena.h"
#include "core/catalog/entry.h"
#include "core/language/syntax.h"
#include "core/language/text.h"
#include "core/network/match.h"
#include "core/optimizer/rewriter.h"

/* A rewrite with its texts parsed. In the rewriter's arena, one for each run of the optimiser;
 * trees borrow from the plugin's texts no longer than that. */
typedef struct tenon__rewrite_t {
  const tenon__rewrite_entry_t* entry;
  const char* label; /* of its patches: "rewrite plugin:name" */
  tenon__calls_t pattern;
  tenon__calls_t replacement; /* no statements: by code */
  const tenon__syntax_t* when;
  uint32_t patch_count; /* how often it was applied */
  bool is_tried;
  bool is_refused; /* the trial's verdict */
} tenon__rewrite_t;

/* What became of a rewrite at a node. All but the last leave the network as it was. A trial counts
 * them to tell a rewrite that rightly does nothing from one that never can. */
typedef enum tenon__rewrite_outcome_t {
  TENON_REWRITE_NO_MATCH,
  TENON_REWRITE_UNCLEAR,  /* its guard cannot be evaluated */
  TENON_REWRITE_GUARDED,  /* its guard does not hold */
  TENON_REWRITE_UNTRIED,  /* it is to be tried before it is applied for the first time */
  TENON_REWRITE_DECLINED, /* its code does not take what matches */
  TENON_REWRITE_UNFIT,    /* what replaces the value cannot be made, or is of another type */
  TENON_REWRITE_APPLIED,
} tenon__rewrite_outcome_t;

typedef struct tenon__rewrites_t {
  uint32_t count;
  tenon__rewrite_t* items;
} tenon__rewrites_t;

/* Its texts; what is wrong with them is reported. In the arena. INVALID_DATA for a fault in a text,
 * or where pattern or replacement is missing: the rewrite is then left out and the build goes on.
 */
tenon_status_t tenon__rewrite_parse(tenon__arena_t* arena, const tenon__rewrite_entry_t* entry,
                                    const tenon_sink_t* sink, tenon__rewrite_t* out_rewrite);
/* At a node that is alive; applied only if it is tried, or trusted. Why it is UNCLEAR or UNFIT goes
 * to rewriter->explain. Fails when memory is out, or the caller asked to stop. The last statement's
 * operator is compared first, so that most visits cost one comparison of names. */
tenon_status_t tenon__rewrite_visit(tenon__rewriter_t* rewriter, tenon__rewrite_t* rewrite,
                                    uint32_t graph, uint32_t node,
                                    tenon__rewrite_outcome_t* out_outcome);
/* The one that was applied most often in this rewriter; NULL when none was. */
const tenon__rewrite_t* tenon__rewrite_busiest(const tenon__rewriter_t* rewriter);

/* One statement of a text: adds its node, with arguments and attributes by name, and binds its
 * results. *out_value: the last of them. UNSUPPORTED when nobody offers the operator. A name in
 * braces that the match knows is that attribute, else a literal of whatever kind it is written as.
 * INVALID_DATA for an argument that nothing defines. */
tenon_status_t tenon__rewrite_add_call(tenon__rewriter_t* rewriter, tenon__match_t* match,
                                       const tenon__call_statement_t* call, uint32_t* out_value);

#endif
