/* Tables of alternatives: places are grouped by the key of their region, so that equal places are
 * decided together. */
#include "core/fusion/alternatives.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/region/region_finish.h"

void tenon__alternatives_initialize(alternatives_t* out_alternatives, tenon_allocator_t allocator) {
  *out_alternatives = (alternatives_t){.allocator = allocator};
  tenon__string_map_initialize(&out_alternatives->class_index, allocator);
  tenon__string_map_initialize(&out_alternatives->fusion_index, allocator);
}

void tenon__alternatives_deinitialize(alternatives_t* a) {
  tenon__string_map_deinitialize(&a->class_index);
  tenon__string_map_deinitialize(&a->fusion_index);
  tenon__free(a->allocator, a->claims, a->claim_capacity * sizeof *a->claims);
  tenon__free(a->allocator, a->classes, a->class_capacity * sizeof *a->classes);
  tenon__free(a->allocator, a->fusions, a->fusion_capacity * sizeof *a->fusions);
}

static tenon_status_t add_class(grouping_t* grouping, const tenon__kernel_entry_t* entry,
                                const claim_t* claim, const char* key) {
  alternatives_t* a = grouping->alternatives;
  const tenon__candidates_t* found = NULL;
  TENON_TRY(tenon__candidates_find(grouping->tuning, claim->region, entry, &found));
  if (!TENON_GROW(a->allocator, a->classes, a->class_capacity, a->class_count + 1u) ||
      !tenon__string_map_set(&a->class_index, key,
                             (tenon__map_value_t){.number = a->class_count})) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  a->classes[a->class_count++] =
      (claim_class_t){.entry = entry, .candidates = found, .region = claim->region};
  return TENON_OK;
}

tenon_status_t tenon__alternatives_add_claim(grouping_t* grouping,
                                             const tenon__kernel_entry_t* entry, claim_t* claim) {
  alternatives_t* a = grouping->alternatives;
  char key[TENON_REGION_KEY_SIZE];
  TENON_TRY(
      tenon__region_finish(grouping->tuning->arena, grouping->tuning->profile, claim->region));
  tenon__candidates_key(claim->region, entry, key);
  if (tenon__string_map_find(&a->class_index, key) == NULL) {
    TENON_TRY(add_class(grouping, entry, claim, key));
  }
  claim->class_index = (uint32_t)tenon__string_map_find(&a->class_index, key)->number;
  TENON_TRY_MEMORY(TENON_GROW(a->allocator, a->claims, a->claim_capacity, a->claim_count + 1u));
  a->claims[a->claim_count++] = *claim;
  return TENON_OK;
}

uint32_t tenon__alternatives_find_fusion(const alternatives_t* alternatives, const char* key) {
  const tenon__map_value_t* found = tenon__string_map_find(&alternatives->fusion_index, key);
  return found == NULL ? TENON_NONE : (uint32_t)found->number;
}

tenon_status_t tenon__alternatives_add_fusion(alternatives_t* a, const char* key, fusion_t fusion,
                                              uint32_t* out_index) {
  if (!TENON_GROW(a->allocator, a->fusions, a->fusion_capacity, a->fusion_count + 1u) ||
      !tenon__string_map_set(&a->fusion_index, key,
                             (tenon__map_value_t){.number = a->fusion_count})) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_index = a->fusion_count;
  a->fusions[a->fusion_count++] = fusion;
  return TENON_OK;
}

tenon_status_t tenon__alternatives_renew(tenon__tuning_t* tuning, alternatives_t* a) {
  a->taken_count = 0;
  a->fusion_count = 0;
  tenon__string_map_deinitialize(&a->fusion_index);
  tenon__string_map_initialize(&a->fusion_index, a->allocator);
  for (uint32_t k = 0; k < a->class_count; ++k) {
    TENON_TRY(tenon__candidates_renew(tuning, a->classes[k].candidates));
    a->classes[k].with_seconds = 0;
    a->classes[k].without_seconds = 0;
  }
  return TENON_OK;
}
