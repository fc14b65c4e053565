/* Why other coverings were not chosen: notes for the report. */
#include "core/choice/explain.h"

#include "core/base/status.h"
#include "core/choice/savings.h"
#include "core/kernel/kernel_match.h"

typedef struct explaining_t {
  grouping_t* grouping;
  const covering_t* covering;
  uint32_t* unit_of; /* of each node */
} explaining_t;

static tenon_status_t add_note(explaining_t* e, tenon__unit_t* unit, const char* text) {
  tenon__tuning_t* tuning = e->grouping->tuning;
  const char* old = unit->chosen.notes;
  unit->chosen.notes =
      text == NULL ? NULL
                   : tenon__arena_format(tuning->arena, "%s%s", old == NULL ? "" : old, text);
  return unit->chosen.notes == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static const char* plural_of(uint32_t count) {
  return count == 1 ? "" : "s";
}

static bool was_tried(const claim_class_t* class) {
  return class->with_seconds > 0 || class->without_seconds > 0;
}

/* Why a claim with which the whole takes less time is not taken. */
static const char* doubt_text(const explaining_t* e, const tenon__unit_t* unit) {
  tenon__arena_t* arena = e->grouping->tuning->arena;
  const tenon__candidates_t* candidates = unit->chosen.candidates;
  const tenon__candidate_t* chosen =
      candidates == NULL || candidates->count == 0 ? NULL : &candidates->items[unit->chosen.pick];
  return chosen != NULL && chosen->is_disturbed
             ? tenon__arena_format(arena,
                                   "not known well enough: other programs kept the machine busy "
                                   "while %s:%s was measured",
                                   chosen->kernel->owner->plugin, chosen->kernel->kernel.name)
             : "saves less than times vary";
}

/* "acme:swish: 1 node at once: was slower: measured 3 us; all steps and copies together 9 us with
 * it, 8 us without it" */
static const char* loss_text(const explaining_t* e, const tenon__unit_t* unit,
                             const claim_t* claim) {
  tenon__tuning_t* tuning = e->grouping->tuning;
  const claim_class_t* class = &e->grouping->alternatives->classes[claim->class_index];
  const tenon__candidate_t* best = &class->candidates->items[0];
  const char* own = tenon__time_text(tuning, best->time);
  const char* reason = was_tried(class) && class->with_seconds < class->without_seconds
                           ? doubt_text(e, unit)
                           : tenon__refusal_text(TENON_REFUSAL_SLOWER);
  const char* text =
      own == NULL || reason == NULL
          ? NULL
          : tenon__arena_format(tuning->arena, "%s:%s: %u node%s at once: %s: %s",
                                best->kernel->owner->plugin, best->kernel->kernel.name,
                                claim->node_count, plural_of(claim->node_count), reason, own);
  if (text == NULL) {
    return NULL;
  }
  return was_tried(class)
             ? tenon__arena_format(tuning->arena,
                                   "%s; all steps and copies together %.4g us with it, %.4g us "
                                   "without it\n",
                                   text, class->with_seconds * 1e6, class->without_seconds * 1e6)
             : tenon__arena_format(tuning->arena, "%s, more than the steps in its place\n", text);
}

/* "2 nodes one by one: was slower: all steps and copies together 4 us, so 3 us" */
static const char* gain_text(const explaining_t* e, const claim_t* claim) {
  tenon__arena_t* arena = e->grouping->tuning->arena;
  const claim_class_t* class = &e->grouping->alternatives->classes[claim->class_index];
  const char* plural = plural_of(claim->node_count);
  if (class->without_seconds < class->with_seconds) {
    return tenon__arena_format(arena, "%u node%s one by one: their times are known less well\n",
                               claim->node_count, plural);
  }
  return tenon__arena_format(
      arena, "%u node%s one by one: %s: all steps and copies together %.4g us, so %.4g us\n",
      claim->node_count, plural, tenon__refusal_text(TENON_REFUSAL_SLOWER),
      class->without_seconds * 1e6, class->with_seconds * 1e6);
}

/* Why the claim is not taken; what the taken one took the place of. */
static tenon_status_t explain_claim(explaining_t* e, const claim_t* claim) {
  const claim_class_t* class = &e->grouping->alternatives->classes[claim->class_index];
  const uint32_t index = e->unit_of[claim->nodes[0]];
  if (index == TENON_NONE) {
    return TENON_OK;
  }
  tenon__unit_t* unit = &e->covering->units.items[index];
  if (unit->chosen.region->nodes == claim->region->nodes) {
    return was_tried(class) ? add_note(e, unit, gain_text(e, claim)) : TENON_OK;
  }
  if (class->candidates->count > 0) {
    return add_note(e, unit, loss_text(e, unit, claim));
  }
  return class->candidates->refusals == NULL
             ? TENON_OK
             : add_note(e, unit,
                        tenon__arena_format(e->grouping->tuning->arena, "%u node%s at once: %s",
                                            claim->node_count, plural_of(claim->node_count),
                                            class->candidates->refusals));
}

/* "; all steps and copies together 9 us one by one, 8 us at once" */
static const char* totals_text(const explaining_t* e, const fusion_t* fusion) {
  return fusion->fused_seconds <= 0
             ? ""
             : tenon__arena_format(
                   e->grouping->tuning->arena,
                   "; all steps and copies together %.4g us one by one, %.4g us at once",
                   fusion->apart_seconds * 1e6, fusion->fused_seconds * 1e6);
}

/* "2 nodes one by one: measured 3 us, at once measured 2 us" */
static tenon_status_t explain_fusion(explaining_t* e, tenon__unit_t* unit, const fusion_t* fusion) {
  tenon__tuning_t* tuning = e->grouping->tuning;
  const tenon__candidate_t* fused = &fusion->fused->items[0];
  const uint32_t count = fusion->base_count + fusion->node_count;
  const char* together = tenon__time_text(tuning, fused->time);
  const char* apart = tenon__time_text(tuning, fusion->apart);
  const char* totals = totals_text(e, fusion);
  if (fusion->apart.figure == TENON_FIGURE_NONE) {
    return TENON_OK;
  }
  TENON_TRY_MEMORY(together != NULL && apart != NULL && totals != NULL);
  return add_note(
      e, unit,
      unit->chosen.region->slot_count > 0 && fusion->limit > 0
          ? tenon__arena_format(tuning->arena, "%u nodes one by one: %s, at once %s%s\n", count,
                                apart, together, totals)
          : tenon__arena_format(tuning->arena, "%s:%s: %u nodes at once %s, one by one %s%s\n",
                                fused->kernel->owner->plugin, fused->kernel->kernel.name, count,
                                together, apart, totals));
}

tenon_status_t tenon__covering_explain(grouping_t* grouping, const covering_t* covering) {
  explaining_t e = {.grouping = grouping, .covering = covering};
  const alternatives_t* a = grouping->alternatives;
  if (!grouping->tuning->options.keep_refusals) {
    return TENON_OK;
  }
  covered_t covered;
  TENON_TRY(
      tenon__covering_by_nodes(covering, grouping->g->node_count, &grouping->scratch, &covered));
  e.unit_of = covered.unit_of;
  for (uint32_t k = 0; k < a->claim_count; ++k) {
    TENON_TRY(explain_claim(&e, &a->claims[k]));
  }
  for (uint32_t u = 0; u < covering->units.count; ++u) {
    tenon__unit_t* unit = &covering->units.items[u];
    for (uint32_t k = 0; k < unit->fusions.count; ++k) {
      TENON_TRY(explain_fusion(&e, unit, &a->fusions[unit->fusions.items[k]]));
    }
  }
  return TENON_OK;
}
