/* A conversion as two rules, for the input and the output of a copy, and the signature of its
 * times. */
#include "core/timing/conversion.h"

#include "core/tensor/layout.h"

static void set_rule(uint32_t rank, const uint32_t* order, tenon_layout_t* layout,
                     tenon_argument_rule_t* out_rule) {
  *layout = (tenon_layout_t){.size = sizeof *layout, .rank = rank, .order = order};
  *out_rule = order == NULL ? (tenon_argument_rule_t){.kind = TENON_LAYOUT_ROW_MAJOR}
                            : (tenon_argument_rule_t){.kind = TENON_LAYOUT_EXACT, .layout = layout};
}

void tenon__conversion_initialize(tenon__conversion_t* out_conversion, uint32_t rank,
                                  const uint32_t* from, const uint32_t* to) {
  tenon__conversion_t* c = out_conversion;
  set_rule(rank, from, &c->layouts[0], &c->from);
  set_rule(rank, to, &c->layouts[1], &c->to);
}

bool tenon__conversion_suits(const tenon__conversion_t* conversion, const tenon_tactic_t* tactic) {
  const tenon_argument_rule_t* output = tactic->outputs;
  const bool reads_any = tactic->inputs != NULL && tenon__rule_is_strided(&tactic->inputs[0]);
  const bool writes_any =
      output != NULL && (tenon__rule_is_strided(output) || output->kind == TENON_LAYOUT_ANY);
  return reads_any && (writes_any || tenon__rules_alike(output, &conversion->to));
}

static void hash_layout(tenon__digest_state_t* state, const tenon_layout_t* layout) {
  const uint32_t rank = layout->order == NULL ? 0 : layout->rank;
  tenon__digest_add(state, &rank, sizeof rank);
  if (rank > 0) {
    tenon__digest_add(state, layout->order, rank * sizeof *layout->order);
  }
}

tenon__digest_t tenon__conversion_signature(const tenon__conversion_t* conversion,
                                            const tenon__digest_t* copy) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, copy, sizeof *copy);
  hash_layout(&state, &conversion->layouts[0]);
  hash_layout(&state, &conversion->layouts[1]);
  return tenon__digest_end(&state);
}
