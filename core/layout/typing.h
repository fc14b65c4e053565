/*
 * In which types values are kept between steps, while layouts of one covering are chosen. A value
 * in a narrower type than its own is read and written in half the time where memory is what takes
 * it; programs convert on the way, others ask for it in their rules. For this room alone.
 */
#ifndef TENON_CORE_LAYOUT_TYPING_H_
#define TENON_CORE_LAYOUT_TYPING_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* What the build permits, and of each value of the graph what may be done with it. */
typedef struct typing_t {
  tenon__tuning_t* tuning;
  const tenon__graph_t* g;
  uint32_t graph;
  tenon__arena_t* arena; /* of the covering: regions of other types lie there */
  tenon_dtype_t types[TENON_NARROW_TYPE_LIMIT];
  uint32_t type_count;     /* 0: everything is as the network says */
  bool* may_be_read;       /* per value: in a narrower type, after a conversion if need be */
  bool* may_be_kept;       /* per value: its producer may write it so */
  tenon_dtype_t* dtype_of; /* per value, as its unit leaves it now; UNDEFINED: its own type */
} typing_t;

/* Nothing is permitted until tenon__typing_permit. Tables lie in `scratch`. OUT_OF_MEMORY only. */
tenon_status_t tenon__typing_begin(tenon__tuning_t* tuning, uint32_t graph, tenon__arena_t* scratch,
                                   tenon__arena_t* arena, typing_t* out_typing);
/* As the build's options say. False: they permit nothing. */
bool tenon__typing_permit(typing_t* typing);

/* Of a picked tactic: does it ask for no type that a value must not be in? */
bool tenon__typing_allows(const typing_t* typing, const struct tenon_region_t* region,
                          const tenon__step_tactic_t* tactic);
/* The first of its candidates' picks that is allowed and, unless `dtype` is UNDEFINED, asks for no
 * other type than that; is_forbidden where none is. */
void tenon__typing_pick(const typing_t* typing, tenon_dtype_t dtype, tenon__chosen_t* inout_chosen);
/* In which type argument k is wanted or made by that tactic (NULL: as the region says); UNDEFINED:
 * the value's own. */
tenon_dtype_t tenon__typing_wanted(const typing_t* typing, const struct tenon_region_t* region,
                                   uint32_t k, const tenon__step_tactic_t* tactic);
tenon_dtype_t tenon__typing_made(const typing_t* typing, const struct tenon_region_t* region,
                                 uint32_t k, const tenon__step_tactic_t* tactic);
/* Can the unit take input k in whatever type it comes? */
bool tenon__typing_follows(const typing_t* typing, const tenon__unit_t* unit, uint32_t k);
/* May what it makes be in another type than its own? */
bool tenon__typing_may_narrow(const typing_t* typing, const tenon__unit_t* unit);
/* The unit's region for the types in which its inputs lie now, its results kept in `dtype` where
 * they may be (UNDEFINED: as they are; a move's follow its inputs), and who computes that. The
 * unit's pick is the first that is allowed. Where a tactic of the plain region asks for those types
 * by its rules and is faster, it is that. Nothing happens where that is what it has. */
tenon_status_t tenon__typing_set(typing_t* typing, tenon__unit_t* unit, tenon_dtype_t dtype);

/* Says that the unit will be asked for in that type, where all around it is in it too: see
 * tenon__candidates_expect. */
tenon_status_t tenon__typing_expect(typing_t* typing, const tenon__unit_t* unit,
                                    tenon_dtype_t dtype);

#endif
