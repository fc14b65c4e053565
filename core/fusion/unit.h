/*
 * Units: what becomes one step, a view, contents or a control step, before there are places. What
 * choosing and scheduling share: the one fills units in, the other turns them into steps and
 * places.
 */
#ifndef TENON_CORE_FUSION_UNIT_H_
#define TENON_CORE_FUSION_UNIT_H_

#include "core/candidate/chosen.h"

/* A unit of a graph's schedule before places are made. */
typedef enum tenon__unit_kind_t {
  TENON_UNIT_REGION,
  TENON_UNIT_VIEW, /* a node whose output is a view of its input */
  TENON_UNIT_CONTENTS,
  TENON_UNIT_CONTROL,
} tenon__unit_kind_t;

/* Of the alternatives: what the slots of an operator's kernel hold, or could hold. Its epilogue
 * comes first, then the prologues of its inputs. */
enum { TENON_UNIT_MOST_FUSIONS = 4 };
typedef struct tenon__unit_fusions_t {
  uint32_t count;
  uint32_t items[TENON_UNIT_MOST_FUSIONS];
} tenon__unit_fusions_t;

/* Seconds are those of the picked tactic, 0 where there is no figure. */
typedef struct tenon__unit_t {
  tenon__unit_kind_t kind;
  uint32_t node;   /* VIEW, CONTENTS, CONTROL; REGION: its first node, for order */
  uint32_t device; /* number of the one whose memory it reads and writes */
  uint32_t output; /* VIEW: of the node */
  tenon__chosen_t chosen;
  /* REGION: with all values in their own types, where the chosen one is not so; see typing.h. */
  struct tenon_region_t* plain;
  const tenon__candidates_t* plain_candidates;
  tenon_dtype_t dtype; /* in which it is to leave its results where it can; UNDEFINED: their own */
  tenon__unit_fusions_t fusions;
  double own_seconds;    /* its step */
  double copies_seconds; /* of what it reads and makes */
} tenon__unit_t;

typedef struct tenon__units_t {
  uint32_t count;
  tenon__unit_t* items; /* in an order in which they can run */
} tenon__units_t;

/* Steps' copies of what lies otherwise. The time is theirs, one after the other, and what is lost
 * where a step reads out of order instead; MEASURED where there is none. */
typedef struct tenon__copies_t {
  uint32_t count;
  tenon__time_t time;
} tenon__copies_t;

#endif
