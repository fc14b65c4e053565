/* What a kernel offers for a region: its tactics, copied, and checked against what the build
 * permits and what a plan can carry out. */
#include "core/candidate/collect.h"

#include <math.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/candidate/search.h"
#include "core/kernel/kernel_match.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

/* Tried, of one kernel for one region; and looked at, to find those. */
enum { MOST_TACTICS = 64, MOST_OFFERED = 1024 };

typedef struct emission_t {
  search_t* search;
  const tenon__kernel_entry_t* entry;
  uint32_t offered;
} emission_t;

/* ---- Copies ---- */

/* False when memory is out; nothing is copied of NULL. */
static bool copy_numbers(tenon__arena_t* arena, const uint32_t* numbers, uint32_t count,
                         const uint32_t** out_copy) {
  *out_copy = numbers == NULL ? NULL : tenon__arena_copy(arena, numbers, count * sizeof(uint32_t));
  return numbers == NULL || *out_copy != NULL;
}

static bool copy_layout(tenon__arena_t* arena, const tenon_layout_t* layout,
                        const tenon_layout_t** out_copy) {
  tenon_layout_t* copy = tenon__arena_allocate(arena, 1, sizeof *copy);
  *out_copy = copy;
  if (copy == NULL) {
    return false;
  }
  *copy = (tenon_layout_t){.size = sizeof *copy, .rank = layout->rank};
  copy->name = layout->name == NULL ? NULL : tenon__arena_copy_string(arena, layout->name);
  return (layout->name == NULL || copy->name != NULL) &&
         copy_numbers(arena, layout->order, layout->rank, &copy->order);
}

/* Layouts are orders of dimensions. `values`: of the region, TENON_NONE for what is absent and lies
 * nowhere. */
static bool copy_rules(tenon__arena_t* arena, const tenon_argument_rule_t* rules,
                       const uint32_t* values, uint32_t count,
                       const tenon_argument_rule_t** out_copy) {
  *out_copy = NULL;
  if (rules == NULL) {
    return true;
  }
  tenon_argument_rule_t* copy = tenon__arena_allocate(arena, count + 1u, sizeof *copy);
  bool good = copy != NULL;
  for (uint32_t k = 0; good && k < count; ++k) {
    copy[k] = values[k] == TENON_NONE ? (tenon_argument_rule_t){0} : tenon__rule_in_plan(&rules[k]);
    good = copy[k].layout == NULL || copy_layout(arena, copy[k].layout, &copy[k].layout);
  }
  *out_copy = copy;
  return good;
}

/* ---- Checks ---- */

static bool refuse(uint32_t reason, const char* detail, tenon_refusal_t* out_refusal) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return false;
}

/* Are the products of that form at least? What a tactic says of its error counts instead, where it
 * does: in fp32's own, which has 23 bits. */
static bool reaches(const tenon_numerics_t* numerics, tenon__float_form_t form) {
  const double most = form.mantissa_bits >= 23 ? 2.0 : ldexp(1.0, 23 - (int)form.mantissa_bits);
  if (numerics->error_bound > 0 || numerics->parts > 1) {
    return numerics->error_bound <= most;
  }
  if (numerics->product_dtype != TENON_DTYPE_UNDEFINED &&
      !tenon__dtype_float_form(numerics->product_dtype).is_float) {
    return !form.is_float;
  }
  return (numerics->product_mantissa_bits == 0 ||
          numerics->product_mantissa_bits >= form.mantissa_bits) &&
         (numerics->product_exponent_bits == 0 ||
          numerics->product_exponent_bits >= form.exponent_bits);
}

/* The value whose type the region computes in: its first input, or what a prologue makes in that
 * one's place. */
static uint32_t first_value(const struct tenon_region_t* region) {
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    if (region->slots[k].kind == TENON_SLOT_PROLOGUE && region->slots[k].index == 0) {
      return region->network->graphs[region->graph]->nodes[region->nodes[0]].inputs[0];
    }
  }
  return region->input_count == 0 ? TENON_NONE : region->inputs[0].value;
}

/* Less accurate than the region's own type in fp32? What a tactic says of its error counts; where
 * it says nothing, products of a narrower type in one part do. */
static bool is_rough(const struct tenon_region_t* region, const tenon_numerics_t* numerics) {
  const uint32_t first = first_value(region);
  if (numerics->error_bound > 0 || numerics->parts > 1 || first == TENON_NONE) {
    return numerics->error_bound > 2.0;
  }
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const tenon__float_form_t own = tenon__dtype_float_form(g->values[first].type.dtype);
  return !reaches(numerics, own);
}

/* Is it as good as something that the build permits? */
static bool is_roughly_permitted(uint32_t permits, const tenon_numerics_t* numerics) {
  static const tenon__float_form_t tf32 = {
      .is_float = true, .mantissa_bits = 10, .exponent_bits = 8};
  const tenon__float_form_t f16 = tenon__dtype_float_form(TENON_DTYPE_FLOAT16);
  const tenon__float_form_t bf16 = tenon__dtype_float_form(TENON_DTYPE_BFLOAT16);
  return ((permits & TENON__PERMIT_TF32) != 0 && reaches(numerics, tf32)) ||
         ((permits & TENON__PERMIT_F16) != 0 && reaches(numerics, f16)) ||
         ((permits & TENON__PERMIT_BF16) != 0 && reaches(numerics, bf16));
}

/* Does the profile leave the region's values one shape alone? */
static bool has_one_shape(const struct tenon_region_t* region) {
  for (uint32_t k = 0; k < region->value_count; ++k) {
    const tenon_value_info_t* value = &region->values[k];
    for (uint32_t d = 0; d < value->rank; ++d) {
      if (value->dims_min[d] != value->dims_max[d]) {
        return false;
      }
    }
  }
  return true;
}

/* Does the tactic stay within what the build permits? */
static bool is_permitted(const search_t* search, const tenon_tactic_t* tactic,
                         tenon_refusal_t* out_refusal) {
  const tenon__tuning_options_t* options = &search->subject.tuning->options;
  const uint64_t limit = options->workspace_limit_bytes;
  const tenon__step_tactic_t needs = {.scratch_bytes = tactic->scratch_bytes,
                                      .scratch_bytes_per_thread = tactic->scratch_bytes_per_thread};
  uint64_t scratch_bytes = 0;
  if (!tenon__tactic_scratch_bytes(&needs, options->thread_count, &scratch_bytes) ||
      (limit > 0 && scratch_bytes > limit)) {
    return refuse(TENON_REFUSAL_WORKSPACE, NULL, out_refusal);
  }
  if (is_rough(search->subject.region, tactic->numerics) &&
      !is_roughly_permitted(options->permits, tactic->numerics)) {
    return refuse(TENON_REFUSAL_ACCURACY, NULL, out_refusal);
  }
  if (tactic->numerics->nondeterministic != 0 &&
      (options->permits & TENON__PERMIT_NONDETERMINISTIC) == 0) {
    return refuse(TENON_REFUSAL_ACCURACY, "two runs of it may differ", out_refusal);
  }
  if ((tactic->flags & TENON_TACTIC_EXACT_SHAPES) != 0 && !has_one_shape(search->subject.region)) {
    return refuse(TENON_REFUSAL_DYNAMIC_SHAPE, "the tactic is for one shape, the profile has more",
                  out_refusal);
  }
  return true;
}

/* Does the build permit that a tensor of this type is kept in the other? */
static bool is_kept_as(uint32_t permits, const tenon__type_t* type, tenon_dtype_t dtype) {
  tenon_dtype_t types[TENON_NARROW_TYPE_LIMIT];
  const uint32_t count = tenon__permitted_types(permits, types);
  bool is_permitted = false;
  for (uint32_t k = 0; k < count; ++k) {
    is_permitted = is_permitted || types[k] == dtype;
  }
  return is_permitted && type->kind == TENON_ARGUMENT_TENSOR && type->dtype == TENON_DTYPE_FLOAT32;
}

/* An argument's rule: can a place in a plan be as it says? */
static bool is_carried(const search_t* search, uint32_t value, const tenon_argument_rule_t* rule,
                       tenon_refusal_t* out_refusal) {
  const struct tenon_region_t* region = search->subject.region;
  if (!tenon__rule_is_known(rule, region->input_count)) {
    return refuse(TENON_REFUSAL_LAYOUT,
                  "a rule has an unknown kind, flag, alignment, input or extension", out_refusal);
  }
  if (value == TENON_NONE) {
    return true;
  }
  const tenon__type_t* type = &region->network->graphs[region->graph]->values[value].type;
  if (rule->dtype != TENON_DTYPE_UNDEFINED && rule->dtype != type->dtype &&
      !is_kept_as(search->subject.tuning->options.permits, type, rule->dtype)) {
    return refuse(TENON_REFUSAL_LAYOUT,
                  "asks for another element type than the network's, which the build does not "
                  "permit",
                  out_refusal);
  }
  if (rule->kind != TENON_LAYOUT_EXACT) {
    return true;
  }
  const uint32_t rank = type->rank;
  if (rule->layout == NULL || rule->layout->rank != rank || !tenon__layout_valid(rule->layout)) {
    return refuse(TENON_REFUSAL_LAYOUT, "a rule's layout is none of a tensor of that rank",
                  out_refusal);
  }
  return true;
}

static bool are_carried(const search_t* search, const tenon_tactic_t* tactic,
                        tenon_refusal_t* out_refusal) {
  const struct tenon_region_t* region = search->subject.region;
  for (uint32_t k = 0; tactic->inputs != NULL && k < region->input_count; ++k) {
    if (!is_carried(search, region->inputs[k].value, &tactic->inputs[k], out_refusal)) {
      return false;
    }
  }
  for (uint32_t k = 0; tactic->outputs != NULL && k < region->output_count; ++k) {
    if (tenon__rule_is_host(&tactic->outputs[k])) {
      return refuse(TENON_REFUSAL_LAYOUT, "an output's rule says HOST, which inputs alone can",
                    out_refusal);
    }
    if (!is_carried(search, region->outputs[k].value, &tactic->outputs[k], out_refusal)) {
      return false;
    }
  }
  return true;
}

/* Arguments of programs may always be strided. */
static bool converts(const search_t* search, const tenon_tactic_t* tactic,
                     tenon_refusal_t* out_refusal) {
  return search->subject.conversion == NULL ||
         search->subject.region->kind == TENON_REGION_EXPRESSION ||
         tenon__conversion_suits(search->subject.conversion, tactic) ||
         refuse(TENON_REFUSAL_LAYOUT, "does not copy from any strides to this order of dimensions",
                out_refusal);
}

/* ---- One tactic ---- */

static bool copy_tactic(tenon__arena_t* arena, const struct tenon_region_t* region,
                        const tenon_tactic_t* tactic, tenon__step_tactic_t* out_copy) {
  *out_copy = (tenon__step_tactic_t){
      .name = tenon__arena_copy_string(arena, tactic->name == NULL ? "" : tactic->name),
      .configuration_size = tactic->configuration_size,
      .scratch_bytes = tactic->scratch_bytes,
      .scratch_bytes_per_thread = tactic->scratch_bytes_per_thread,
      .zeroed_bytes = tactic->zeroed_bytes,
      .persistent_bytes = tactic->persistent_bytes,
      .flags = tactic->flags,
      .numerics = *tactic->numerics,
      .launches = tactic->launches};
  bool good = out_copy->name != NULL &&
              copy_rules(arena, tactic->inputs, region->input_values, region->input_count,
                         &out_copy->input_rules) &&
              copy_rules(arena, tactic->outputs, region->output_values, region->output_count,
                         &out_copy->output_rules);
  if (good && tactic->configuration_size > 0) {
    out_copy->configuration =
        tenon__arena_copy(arena, tactic->configuration, tactic->configuration_size);
    good = out_copy->configuration != NULL;
  }
  return good;
}

static tenon_status_t add_tactic(void* user, const tenon_tactic_t* tactic) {
  emission_t* emission = user;
  search_t* search = emission->search;
  tenon__tuning_t* tuning = search->subject.tuning;
  tenon_refusal_t refusal = {0};
  emission->offered += 1;
  if (tactic == NULL) {
    refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_OTHER,
                                .detail = "the size of a tactic or of its numerics is wrong"};
    tenon__search_note(search, emission->entry, NULL, &refusal);
    return TENON_OK;
  }
  if (emission->offered > MOST_OFFERED) {
    refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_OTHER,
                                .detail = "the kernel offers more than 1024 tactics"};
  } else if (is_permitted(search, tactic, &refusal) && are_carried(search, tactic, &refusal)) {
    (void)converts(search, tactic, &refusal);
  }
  if (refusal.reason != TENON_REFUSAL_NONE) {
    tenon__search_note(search, emission->entry, tactic->name, &refusal);
    return TENON_OK;
  }
  tenon__candidate_t candidate = {.kernel = emission->entry};
  if (tactic->estimate_seconds > 0) {
    candidate.time = (tenon__time_t){TENON_FIGURE_ESTIMATED, tactic->estimate_seconds};
  }
  TENON_TRY_MEMORY(
      copy_tactic(tuning->arena, search->subject.region, tactic, &candidate.tactic) &&
      TENON_GROW(tuning->allocator, search->found, search->capacity, search->count + 1u));
  search->found[search->count++] = candidate;
  return TENON_OK;
}

/* ---- One kernel ---- */

/* Keeps those of lowest estimate, in the order in which they were offered where that says nothing.
 */
static void leave_out(search_t* search, const tenon__kernel_entry_t* entry, uint32_t first) {
  const tenon_refusal_t refusal = {
      .reason = TENON_REFUSAL_OTHER,
      .detail = "64 others of this kernel, whose estimates are not higher, are tried"};
  if (search->count - first <= MOST_TACTICS) {
    return;
  }
  tenon__candidates_sort(search->found + first, search->count - first);
  for (uint32_t k = first + MOST_TACTICS; k < search->count; ++k) {
    tenon__search_note(search, entry, search->found[k].tactic.name, &refusal);
  }
  search->count = first + MOST_TACTICS;
}

tenon_status_t tenon__search_collect(search_t* search, const tenon__kernel_entry_t* entry) {
  const tenon__kernel_binding_t binding =
      tenon__tuning_binding(search->subject.tuning, search->subject.region, entry);
  emission_t emission = {.search = search, .entry = entry};
  const uint32_t first = search->count;
  tenon_refusal_t refusal = {.reason = TENON_REFUSAL_OTHER, .detail = "it offers no tactic"};
  const tenon_status_t status =
      tenon__kernel_tactics(&binding, search->subject.region, add_tactic, &emission);
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    return tenon__fail(search->subject.tuning->sink, status,
                       "kernel '%s' of plugin '%s': out of memory", entry->kernel.name,
                       entry->owner->plugin);
  }
  if (status != TENON_OK) {
    refusal.reason = TENON_REFUSAL_FAILED;
    refusal.detail = tenon__arena_format(search->subject.tuning->arena,
                                         "its function `tactics`: %s", tenon__status_text(status));
  }
  if (status != TENON_OK || emission.offered == 0) {
    search->count = first;
    tenon__search_note(search, entry, NULL, &refusal);
    return TENON_OK;
  }
  leave_out(search, entry, first);
  return TENON_OK;
}
