/*
 * Types in which values are kept between steps, while layouts of one covering are chosen. A value
 * of lower precision is read and written in half the time if memory is the bottleneck. Programs
 * convert implicitly; other kernels request the type in their rules. For this module only.
 */
#ifndef TENON_CORE_LAYOUT_TYPING_H_
#define TENON_CORE_LAYOUT_TYPING_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* The build's permissions, and the permitted changes of each value of the graph. */
typedef struct typing_t {
  tenon__tuning_t* tuning;
  const tenon__graph_t* g;
  uint32_t graph;
  tenon__arena_t* arena; /* of the covering, for regions of other types */
  tenon_dtype_t types[TENON_NARROW_TYPE_LIMIT];
  uint32_t type_count;     /* 0: all values keep the network's types */
  bool* may_be_read;       /* per value: readable in lower precision, maybe with a conversion */
  bool* may_be_kept;       /* per value: its producer may write lower precision */
  tenon_dtype_t* dtype_of; /* per value: current type; UNDEFINED: its own type */
} typing_t;

/* Begins with no permissions until tenon__typing_permit. Tables are in `scratch`. Returns
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__typing_begin(tenon__tuning_t* tuning, uint32_t graph, tenon__arena_t* scratch,
                                   tenon__arena_t* arena, typing_t* out_typing);
/* Applies the build's options. Returns false if they permit nothing. */
bool tenon__typing_permit(typing_t* typing);

/* Returns true if the tactic requires no type that a value must not have. */
bool tenon__typing_allows(const typing_t* typing, const struct tenon_region_t* region,
                          const tenon__step_tactic_t* tactic);
/* Picks the first of its candidates' picks that is allowed and, unless `dtype` is UNDEFINED,
 * requires no other type. Sets is_forbidden if there is none. */
void tenon__typing_pick(const typing_t* typing, tenon_dtype_t dtype, tenon__chosen_t* inout_chosen);
/* Return the type in which that tactic (NULL: the region) reads or writes argument k; UNDEFINED:
 * the value's own. */
tenon_dtype_t tenon__typing_wanted(const typing_t* typing, const struct tenon_region_t* region,
                                   uint32_t k, const tenon__step_tactic_t* tactic);
tenon_dtype_t tenon__typing_made(const typing_t* typing, const struct tenon_region_t* region,
                                 uint32_t k, const tenon__step_tactic_t* tactic);
/* Returns true if the unit accepts input k in any type. */
bool tenon__typing_follows(const typing_t* typing, const tenon__unit_t* unit, uint32_t k);
/* Returns true if its outputs may have another type than their own. */
bool tenon__typing_may_narrow(const typing_t* typing, const tenon__unit_t* unit);
/* Sets the unit's region for the current types of its inputs, with outputs in `dtype` if permitted
 * (UNDEFINED: unchanged; a move's outputs follow its inputs), and its candidates. The pick is the
 * first that is allowed, or a faster tactic of the plain region whose rules request these types.
 * Does nothing if the unit has them already. */
tenon_status_t tenon__typing_set(typing_t* typing, tenon__unit_t* unit, tenon_dtype_t dtype);

/* Announces that the unit will be requested in that type together with its neighbours: see
 * tenon__candidates_expect. */
tenon_status_t tenon__typing_expect(typing_t* typing, const tenon__unit_t* unit,
                                    tenon_dtype_t dtype);

#endif
