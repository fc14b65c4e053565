/* Types of values between steps. A unit gets another type if its tactic asks for it or if its
 * program can convert. Its region is then made again with these types, once for each type. */
#include "core/layout/typing.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/plan/place.h"
#include "core/region/region_finish.h"
#include "core/region/retype.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

/* ---- What may be in which type ---- */

static void look_at_value(typing_t* t, uint32_t value) {
  const tenon__tuning_t* tuning = t->tuning;
  const tenon__value_node_t* v = &t->g->values[value];
  const bool is_kept =
      tuning->kept != NULL && tuning->kept[t->graph] != NULL && tuning->kept[t->graph][value] != 0;
  t->may_be_read[value] =
      v->alive && !is_kept && tenon__type_is_plain(&v->type) && v->type.contents == NULL &&
      v->type.dtype == TENON_DTYPE_FLOAT32 &&
      !tenon__value_is_dynamic(tuning->network, t->graph, value, &tuning->profile->max);
  t->may_be_kept[value] = t->may_be_read[value] && v->weights == TENON_NONE &&
                          v->state == TENON_NONE && v->producer != TENON_NONE &&
                          !tenon__value_is_update(tuning->network, t->graph, value);
}

tenon_status_t tenon__typing_begin(tenon__tuning_t* tuning, uint32_t graph, tenon__arena_t* scratch,
                                   tenon__arena_t* arena, typing_t* out_typing) {
  typing_t* t = out_typing;
  *t = (typing_t){
      .tuning = tuning, .g = tuning->network->graphs[graph], .graph = graph, .arena = arena};
  const size_t count = t->g->value_count + 1u;
  t->may_be_read = tenon__arena_allocate(scratch, count, sizeof *t->may_be_read);
  t->may_be_kept = tenon__arena_allocate(scratch, count, sizeof *t->may_be_kept);
  t->dtype_of = tenon__arena_allocate(scratch, count, sizeof *t->dtype_of);
  TENON_TRY_MEMORY(t->may_be_read != NULL && t->may_be_kept != NULL && t->dtype_of != NULL);
  return TENON_OK;
}

bool tenon__typing_permit(typing_t* t) {
  t->type_count = tenon__permitted_types(t->tuning->options.permits, t->types);
  const uint32_t count = t->type_count == 0 ? 0 : t->g->value_count;
  for (uint32_t v = 0; v < count; ++v) {
    look_at_value(t, v);
  }
  return t->type_count > 0;
}

/* ---- Tactics ---- */

static tenon_dtype_t unless_own(const typing_t* t, uint32_t value, tenon_dtype_t dtype) {
  return value == TENON_NONE || dtype == t->g->values[value].type.dtype
             ? (tenon_dtype_t)TENON_DTYPE_UNDEFINED
             : dtype;
}

tenon_dtype_t tenon__typing_wanted(const typing_t* t, const struct tenon_region_t* region,
                                   uint32_t k, const tenon__step_tactic_t* tactic) {
  const tenon_argument_rule_t* rules = tactic == NULL ? NULL : tactic->input_rules;
  return unless_own(t, region->inputs[k].value,
                    tenon__region_input_dtype(region, k, tenon__rule_at(rules, k)));
}

tenon_dtype_t tenon__typing_made(const typing_t* t, const struct tenon_region_t* region, uint32_t k,
                                 const tenon__step_tactic_t* tactic) {
  const tenon_argument_rule_t* rules = tactic == NULL ? NULL : tactic->output_rules;
  return unless_own(t, region->outputs[k].value,
                    tenon__region_output_dtype(region, k, tenon__rule_at(rules, k)));
}

bool tenon__typing_allows(const typing_t* t, const struct tenon_region_t* region,
                          const tenon__step_tactic_t* tactic) {
  for (uint32_t k = 0; k < region->input_count; ++k) {
    if (tenon__typing_wanted(t, region, k, tactic) != TENON_DTYPE_UNDEFINED &&
        !t->may_be_read[region->inputs[k].value]) {
      return false;
    }
  }
  for (uint32_t k = 0; k < region->output_count; ++k) {
    if (tenon__typing_made(t, region, k, tactic) != TENON_DTYPE_UNDEFINED &&
        !t->may_be_kept[region->outputs[k].value]) {
      return false;
    }
  }
  return true;
}

/* ---- Units ---- */

bool tenon__typing_follows(const typing_t* t, const tenon__unit_t* unit, uint32_t k) {
  return t->type_count > 0 && unit->kind == TENON_UNIT_REGION &&
         tenon__region_converts_input(unit->plain, k);
}

bool tenon__typing_may_narrow(const typing_t* t, const tenon__unit_t* unit) {
  const struct tenon_region_t* region = unit->plain;
  const bool is_program = t->type_count > 0 && region->kind != TENON_REGION_MOVE;
  const uint32_t count = is_program ? region->output_count : 0;
  bool may = false;
  for (uint32_t k = 0; k < count && !may; ++k) {
    may = tenon__region_converts_output(region, k) && t->may_be_kept[region->outputs[k].value];
  }
  return may;
}

typedef struct variant_t {
  tenon_dtype_t* inputs;
  tenon_dtype_t* outputs;
  bool is_plain;
} variant_t;

/* All of a move's are in one type, that of what it reads, or in their own. */
static void describe_move(const typing_t* t, const struct tenon_region_t* region,
                          variant_t* variant) {
  const tenon_dtype_t first =
      region->input_count == 0 ? TENON_DTYPE_UNDEFINED : t->dtype_of[region->inputs[0].value];
  bool is_one = first != TENON_DTYPE_UNDEFINED && region->outputs[0].value != TENON_NONE &&
                t->may_be_kept[region->outputs[0].value];
  for (uint32_t k = 0; k < region->input_count && is_one; ++k) {
    is_one =
        tenon__region_converts_input(region, k) && t->dtype_of[region->inputs[k].value] == first;
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    variant->inputs[k] = is_one ? first : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  }
  variant->outputs[0] = is_one ? first : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  variant->is_plain = !is_one;
}

static void describe_program(const typing_t* t, const struct tenon_region_t* region,
                             tenon_dtype_t dtype, variant_t* variant) {
  variant->is_plain = true;
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const uint32_t value = region->inputs[k].value;
    variant->inputs[k] = tenon__region_converts_input(region, k)
                             ? t->dtype_of[value]
                             : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
    variant->is_plain = variant->is_plain && variant->inputs[k] == TENON_DTYPE_UNDEFINED;
  }
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const bool may =
        tenon__region_converts_output(region, k) && t->may_be_kept[region->outputs[k].value];
    variant->outputs[k] = may ? dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
    variant->is_plain = variant->is_plain && variant->outputs[k] == TENON_DTYPE_UNDEFINED;
  }
}

/* Has the unit's region these types already? */
static bool is_so(const struct tenon_region_t* region, const variant_t* variant) {
  bool is_so = true;
  for (uint32_t k = 0; k < region->input_count && is_so; ++k) {
    is_so = region->inputs[k].dtype == variant->inputs[k];
  }
  for (uint32_t k = 0; k < region->output_count && is_so; ++k) {
    is_so = region->outputs[k].dtype == variant->outputs[k];
  }
  return is_so;
}

/* Does the tactic ask for its arguments' own types, or for that one? */
static bool asks_only(const typing_t* t, const struct tenon_region_t* region,
                      const tenon__step_tactic_t* tactic, tenon_dtype_t dtype) {
  bool is_so = true;
  for (uint32_t k = 0; k < region->input_count && is_so; ++k) {
    const tenon_dtype_t wanted = tenon__typing_wanted(t, region, k, tactic);
    is_so = wanted == TENON_DTYPE_UNDEFINED || wanted == dtype;
  }
  for (uint32_t k = 0; k < region->output_count && is_so; ++k) {
    const tenon_dtype_t made = tenon__typing_made(t, region, k, tactic);
    is_so = made == TENON_DTYPE_UNDEFINED || made == dtype;
  }
  return is_so;
}

void tenon__typing_pick(const typing_t* t, tenon_dtype_t dtype, tenon__chosen_t* chosen) {
  const tenon__candidates_t* c = chosen->candidates;
  uint32_t p = 0;
  while (p < c->pick_count &&
         (!tenon__typing_allows(t, chosen->region, &c->items[c->picks[p]].tactic) ||
          (dtype != TENON_DTYPE_UNDEFINED &&
           !asks_only(t, chosen->region, &c->items[c->picks[p]].tactic, dtype)))) {
    ++p;
  }
  chosen->is_forbidden = c->pick_count > 0 && p == c->pick_count;
  chosen->pick = c->pick_count == 0 || p == c->pick_count ? 0 : c->picks[p];
  chosen->order = NULL;
}

static tenon_status_t retype(typing_t* t, tenon__unit_t* unit, const variant_t* variant) {
  struct tenon_region_t* region = tenon__arena_allocate(t->arena, 1, sizeof *region);
  TENON_TRY_MEMORY(region != NULL);
  TENON_TRY(tenon__region_retype(t->arena, unit->plain, variant->inputs, variant->outputs, region));
  TENON_TRY(tenon__region_finish(t->arena, t->tuning->profile, region));
  unit->chosen.region = region;
  return tenon__candidates_find(t->tuning, region, NULL, &unit->chosen.candidates);
}

tenon_status_t tenon__typing_expect(typing_t* t, const tenon__unit_t* unit, tenon_dtype_t dtype) {
  const struct tenon_region_t* plain = unit->plain;
  variant_t variant = {
      .inputs = tenon__arena_allocate(t->arena, plain->input_count + 1u, sizeof *variant.inputs),
      .outputs =
          tenon__arena_allocate(t->arena, plain->output_count + 1u, sizeof *variant.outputs)};
  struct tenon_region_t* region = tenon__arena_allocate(t->arena, 1, sizeof *region);
  TENON_TRY_MEMORY(variant.inputs != NULL && variant.outputs != NULL && region != NULL);
  for (uint32_t k = 0; k < plain->input_count; ++k) {
    const bool may =
        tenon__region_converts_input(plain, k) && t->may_be_kept[plain->inputs[k].value];
    variant.inputs[k] = may ? dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  }
  for (uint32_t k = 0; k < plain->output_count; ++k) {
    const bool may =
        tenon__region_converts_output(plain, k) && t->may_be_kept[plain->outputs[k].value];
    variant.outputs[k] = may ? dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  }
  TENON_TRY(tenon__region_retype(t->arena, plain, variant.inputs, variant.outputs, region));
  TENON_TRY(tenon__region_finish(t->arena, t->tuning->profile, region));
  return tenon__candidates_expect(t->tuning, region);
}

/* Does the tactic of the plain region ask for those types itself, wherever the program of a retyped
 * one would convert? */
static bool asks_for(const typing_t* t, const struct tenon_region_t* plain,
                     const tenon__step_tactic_t* tactic, const variant_t* variant) {
  bool is_so = tenon__typing_allows(t, plain, tactic);
  for (uint32_t k = 0; k < plain->input_count && is_so; ++k) {
    is_so = !tenon__region_converts_input(plain, k) ||
            tenon__typing_wanted(t, plain, k, tactic) == variant->inputs[k];
  }
  for (uint32_t k = 0; k < plain->output_count && is_so; ++k) {
    is_so = !tenon__region_converts_output(plain, k) ||
            tenon__typing_made(t, plain, k, tactic) == variant->outputs[k];
  }
  return is_so;
}

/* A kernel need not know programs that convert in order to take a type: where the unit's retyped
 * region is slower than a pick of the plain one that asks for the same types, or nobody takes it,
 * that is chosen. The one that it had, where it did. */
static void prefer_plain(const typing_t* t, const variant_t* variant, const tenon__chosen_t* before,
                         tenon__unit_t* unit) {
  const tenon__candidates_t* c = unit->plain_candidates;
  tenon__chosen_t plain = {.region = unit->plain, .candidates = c};
  uint32_t p = 0;
  while (p < c->pick_count && !asks_for(t, unit->plain, &c->items[c->picks[p]].tactic, variant)) {
    ++p;
  }
  if (p == c->pick_count) {
    return;
  }
  plain.pick = c->picks[p];
  if (before->region == unit->plain && !before->is_forbidden &&
      asks_for(t, unit->plain, &c->items[before->pick].tactic, variant)) {
    plain = *before;
  }
  const tenon__chosen_t* now = &unit->chosen;
  if (now->region == unit->plain || now->is_forbidden ||
      tenon__time_compare(c->items[plain.pick].time, now->candidates->items[now->pick].time) < 0) {
    unit->chosen = plain;
  }
}

tenon_status_t tenon__typing_set(typing_t* t, tenon__unit_t* unit, tenon_dtype_t dtype) {
  const struct tenon_region_t* plain = unit->plain;
  const tenon__chosen_t before = unit->chosen;
  variant_t variant = {
      .inputs = tenon__arena_allocate(t->arena, plain->input_count + 1u, sizeof *variant.inputs),
      .outputs =
          tenon__arena_allocate(t->arena, plain->output_count + 1u, sizeof *variant.outputs)};
  TENON_TRY_MEMORY(variant.inputs != NULL && variant.outputs != NULL);
  if (plain->kind == TENON_REGION_MOVE) {
    describe_move(t, plain, &variant);
  } else {
    describe_program(t, plain, dtype, &variant);
  }
  unit->dtype = dtype;
  if (is_so(unit->chosen.region, &variant)) {
    return TENON_OK;
  }
  if (variant.is_plain) {
    unit->chosen.region = unit->plain;
    unit->chosen.candidates = unit->plain_candidates;
  } else {
    TENON_TRY(retype(t, unit, &variant));
  }
  if (unit->chosen.candidates->count == 0 && !variant.is_plain) { /* nobody takes it so */
    unit->chosen.region = unit->plain;
    unit->chosen.candidates = unit->plain_candidates;
  }
  tenon__typing_pick(t, TENON_DTYPE_UNDEFINED, &unit->chosen);
  if (!variant.is_plain && plain->kind != TENON_REGION_MOVE) {
    prefer_plain(t, &variant, &before, unit);
  }
  return TENON_OK;
}
