/*
 * A plugin's rewrite, given as text: parsed, matched at a node, applied as one patch. Patterns and
 * replacements are texts of calls (language/text.h), so that the core applies rewrites without
 * knowing an operator. A plugin's function builds only replacements that text cannot express.
 */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_H_
#define TENON_CORE_OPTIMIZER_REWRITE_H_

#include "core/base/arena.h"
#include "core/catalog/entry.h"
#include "core/language/syntax.h"
#include "core/language/text.h"
#include "core/network/match.h"
#include "core/optimizer/rewriter.h"

/* A parsed rewrite, in the rewriter's arena, for one run of the optimiser. Syntax trees borrow from
 * the plugin's texts during that run. */
typedef struct tenon__rewrite_t {
  const tenon__rewrite_entry_t* entry;
  const char* label; /* of its patches: "rewrite plugin:name" */
  tenon__calls_t pattern;
  tenon__calls_t replacement; /* no statements: by code */
  const tenon__syntax_t* when;
  uint32_t patch_count; /* number of applications */
  bool is_tried;
  bool is_refused; /* the trial's result */
} tenon__rewrite_t;

/* The outcome of a rewrite at a node. All except APPLIED leave the network unchanged. A trial
 * counts them to distinguish a rewrite that correctly does nothing from one that never can
 * apply. */
typedef enum tenon__rewrite_outcome_t {
  TENON_REWRITE_NO_MATCH,
  TENON_REWRITE_UNCLEAR,  /* its guard cannot be evaluated */
  TENON_REWRITE_GUARDED,  /* its guard is false */
  TENON_REWRITE_UNTRIED,  /* it must be tried before its first application */
  TENON_REWRITE_DECLINED, /* its code rejects the match */
  TENON_REWRITE_UNFIT,    /* the replacement cannot be made, or has another type */
  TENON_REWRITE_APPLIED,
} tenon__rewrite_outcome_t;

typedef struct tenon__rewrites_t {
  uint32_t count;
  tenon__rewrite_t* items;
} tenon__rewrites_t;

/* Parses its texts to the arena and reports errors. Returns INVALID_DATA for an error in a text, or
 * a missing pattern or replacement. The rewrite is then rejected and the build continues. */
tenon_status_t tenon__rewrite_parse(tenon__arena_t* arena, const tenon__rewrite_entry_t* entry,
                                    const tenon_sink_t* sink, tenon__rewrite_t* out_rewrite);
/* Visits a live node, and applies the rewrite only if it was tried or is trusted. Reasons for
 * UNCLEAR and UNFIT are sent to rewriter->explain. The last statement's operator is compared first,
 * so that most visits cost one comparison of names. Returns OUT_OF_MEMORY or CANCELLED only. */
tenon_status_t tenon__rewrite_visit(tenon__rewriter_t* rewriter, tenon__rewrite_t* rewrite,
                                    uint32_t graph, uint32_t node,
                                    tenon__rewrite_outcome_t* out_outcome);
/* Returns the rewrite with most applications in this rewriter; NULL if none was applied. */
const tenon__rewrite_t* tenon__rewrite_busiest(const tenon__rewriter_t* rewriter);

/* Adds the node of one statement, with arguments and attributes by name, and binds its results.
 * *out_value is the last result. A name in braces that the match contains is that attribute, else a
 * literal of the kind in which it is written. Returns UNSUPPORTED for an unknown operator, and
 * INVALID_DATA for an undefined argument. */
tenon_status_t tenon__rewrite_add_call(tenon__rewriter_t* rewriter, tenon__match_t* match,
                                       const tenon__call_statement_t* call, uint32_t* out_value);

#endif
