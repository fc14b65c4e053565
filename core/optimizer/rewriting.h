/* What the files about rewrites and decompositions share. */
#ifndef TENON_CORE_OPTIMIZER_REWRITING_H_
#define TENON_CORE_OPTIMIZER_REWRITING_H_

#include "core/catalog/entry.h"
#include "core/language/syntax.h"
#include "core/language/text_calls.h"

/* A rewrite with its texts parsed. */
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

/* What became of a rewrite at a node. */
typedef enum tenon__rewrite_outcome_t {
  TENON_REWRITE_NO_MATCH,
  TENON_REWRITE_UNCLEAR,  /* its guard cannot be evaluated */
  TENON_REWRITE_GUARDED,  /* its guard does not hold */
  TENON_REWRITE_DECLINED, /* its code does not take what matches */
  TENON_REWRITE_UNFIT,    /* what replaces the value cannot be made, or is of another type */
  TENON_REWRITE_APPLIED,
} tenon__rewrite_outcome_t;

typedef struct tenon__rewrites_t {
  uint32_t count;
  tenon__rewrite_t* items;
} tenon__rewrites_t;

#endif
