/*
 * Units (planned steps): each becomes a step, a view, contents or a control step. Choice fills
 * units in, and schedule makes steps and places of them.
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

/* Alternatives for the slots of an operator's kernel: its epilogue first, then the prologues of its
 * inputs. */
enum { TENON_UNIT_MOST_FUSIONS = 4 };
typedef struct tenon__unit_fusions_t {
  uint32_t count;
  uint32_t items[TENON_UNIT_MOST_FUSIONS];
} tenon__unit_fusions_t;

/* Seconds are those of the picked tactic; 0: no figure. */
typedef struct tenon__unit_t {
  tenon__unit_kind_t kind;
  uint32_t node;   /* VIEW, CONTENTS, CONTROL; REGION: its first node, for order */
  uint32_t device; /* number of the device whose memory it uses */
  uint32_t output; /* VIEW: of the node */
  tenon__chosen_t chosen;
  /* REGION: the region with all values in their own types, if the chosen one differs; see
   * typing.h. */
  struct tenon_region_t* plain;
  const tenon__candidates_t* plain_candidates;
  tenon_dtype_t dtype; /* requested type of its outputs, if possible; UNDEFINED: their own */
  tenon__unit_fusions_t fusions;
  double own_seconds;    /* of its step */
  double copies_seconds; /* of its inputs and outputs */
} tenon__unit_t;

typedef struct tenon__units_t {
  uint32_t count;
  tenon__unit_t* items; /* in an execution order */
} tenon__units_t;

/* Copies of values in other layouts than steps need. The time is the sum of the copies, plus losses
 * of steps that read another order instead; MEASURED if there is none. */
typedef struct tenon__copies_t {
  uint32_t count;
  tenon__time_t time;
} tenon__copies_t;

#endif
