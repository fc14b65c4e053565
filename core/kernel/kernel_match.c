/* A region offered to a kernel: the checks of the core come first, such as device, pattern and
 * slots, then the kernel's own match. */
#include "core/kernel/kernel_match.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/bytes.h"
#include "core/base/call.h"
#include "core/base/file.h"
#include "core/kernel/slot.h"
#include "core/network/match.h"
#include "core/region/region_table.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

const char* tenon__refusal_text(uint32_t reason) {
  static const char* const texts[] = {
#define REFUSAL_TEXT(name, text) text,
      TENON_REFUSALS(REFUSAL_TEXT)
#undef REFUSAL_TEXT
  };
  return texts[reason < TENON_REFUSAL_COUNT ? reason : TENON_REFUSAL_OTHER];
}

static bool refuse(uint32_t reason, const char* detail, tenon_refusal_t* out_refusal) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return false;
}

static bool is_listed(const char* const* names, const char* name) {
  while (*names != NULL && strcmp(*names, name) != 0) {
    ++names;
  }
  return *names != NULL;
}

/* Is it a kernel for such regions? Nobody computes an operator that is not here: what it demands of
 * its node was not checked. */
static bool is_for(const tenon_kernel_t* kernel, const struct tenon_region_t* region,
                   tenon_refusal_t* out_refusal) {
  if (region->kind != TENON_REGION_OPERATOR) {
    const uint32_t flag =
        region->kind == TENON_REGION_EXPRESSION ? TENON_KERNEL_EXPRESSIONS : TENON_KERNEL_MOVES;
    return (kernel->flags & flag) != 0 || refuse(TENON_REFUSAL_OPERATOR, NULL, out_refusal);
  }
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  for (uint32_t k = 0; k < region->node_count; ++k) {
    const tenon__node_t* node = &graph->nodes[region->nodes[k]];
    if (node->op == NULL || node->op->is_missing) {
      return refuse(TENON_REFUSAL_OPERATOR, "an operator that no plugin offers here", out_refusal);
    }
  }
  const char* op = graph->nodes[region->nodes[0]].op->name;
  const bool looks_itself = kernel->pattern != NULL || kernel->propose != NULL;
  const bool lists_it =
      region->node_count == 1 && kernel->operators != NULL && is_listed(kernel->operators, op);
  return looks_itself || lists_it || refuse(TENON_REFUSAL_OPERATOR, op, out_refusal);
}

/* Attributes that a kernel does not know must have their defaults; inputs past its limit must be
 * absent. */
static bool knows_node(const tenon_kernel_t* kernel, const struct tenon_region_t* region,
                       tenon_refusal_t* out_refusal) {
  if (region->kind != TENON_REGION_OPERATOR || region->node_count > 1) {
    return true; /* the pattern named them, or the kernel chose them itself */
  }
  const tenon__node_t* node = &region->network->graphs[region->graph]->nodes[region->nodes[0]];
  if (kernel->attributes != NULL) {
    for (uint32_t k = 0; k < node->attribute_count; ++k) {
      const tenon__scope_attribute_t* attribute = &node->attributes[k];
      if (attribute->defined && !is_listed(kernel->attributes, attribute->name)) {
        return refuse(TENON_REFUSAL_UNKNOWN_ATTRIBUTE, attribute->name, out_refusal);
      }
    }
  }
  const uint32_t first_unknown = kernel->input_limit > 0 ? kernel->input_limit : node->input_count;
  for (uint32_t k = first_unknown; k < node->input_count; ++k) {
    if (node->inputs[k] != TENON_NONE) {
      return refuse(TENON_REFUSAL_UNKNOWN_INPUT, NULL, out_refusal);
    }
  }
  return true;
}

/* Each program that fills a slot is within what the kernel's slot of that number says. */
static bool has_slots(const tenon_kernel_t* kernel, const struct tenon_region_t* region,
                      tenon_refusal_t* out_refusal) {
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    const tenon_slot_t* slot = tenon__kernel_slot(kernel, region->slots[k].slot);
    const char* fault = slot == NULL
                            ? "it has no such slot"
                            : tenon__slot_fault(slot, &region->slots[k], region->network->pool);
    if (fault != NULL) {
      return refuse(TENON_REFUSAL_SLOT, fault, out_refusal);
    }
  }
  return true;
}

static bool runs_here(const tenon__kernel_binding_t* binding, tenon_refusal_t* out_refusal) {
  const tenon_kernel_t* kernel = binding->kernel;
  if (kernel->device != NULL &&
      strcmp(kernel->device, binding->device->source.descriptor->name) != 0) {
    return refuse(TENON_REFUSAL_DEVICE, NULL, out_refusal);
  }
  return tenon__device_has(binding->device, kernel->isa) ||
         refuse(TENON_REFUSAL_INSTRUCTION_SET, kernel->isa, out_refusal);
}

/* ---- Regions of several nodes ---- */

/* A slot may have changed which value an output is. */
static bool is_output(const struct tenon_region_t* region, uint32_t index, uint32_t value) {
  bool is_it = index < region->output_count && region->outputs[index].value == value;
  for (uint32_t s = 0; s < region->slot_count && !is_it; ++s) {
    const tenon_program_t* program = &region->slots[s].expression.program;
    for (uint32_t o = 0; o < program->output_count; ++o) {
      is_it = is_it || program->outputs[o].index == index;
    }
  }
  return is_it;
}

/* The inputs that are no slot's: plain, and in this order. */
static bool has_inputs(const struct tenon_region_t* region, const uint32_t* values,
                       uint32_t count) {
  bool has =
      region->input_count >= count && (region->slot_count > 0 || region->input_count == count);
  for (uint32_t k = 0; k < count && has; ++k) {
    has = region->inputs[k].value == values[k] && !region->inputs[k].aligned;
  }
  return has;
}

/* What the nodes make on the way stays among them: where another step reads it, nobody writes it,
 * which others look for. */
static bool is_result(const void* user, const tenon__match_t* made, uint32_t value) {
  const tenon__graph_t* graph = user;
  return graph->values[value].producer == made->root;
}

static bool follows_pattern(const tenon_kernel_t* kernel, const struct tenon_region_t* region) {
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  const tenon__match_uses_t uses = {is_result, graph};
  uint32_t nodes[TENON_MATCH_NAMES];
  tenon__calls_t pattern;
  tenon__match_t made;
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, region->network->allocator);
  bool follows = tenon__calls_parse(&arena, kernel->pattern, NULL, &pattern) == TENON_OK &&
                 tenon__match_pattern(region->network, &uses, &pattern, region->graph,
                                      region->nodes[0], &arena, &made) &&
                 made.node_count == region->node_count && region->output_count == 1;
  if (follows) {
    tenon__match_nodes(&made, nodes);
    follows = memcmp(nodes, region->nodes, made.node_count * sizeof *nodes) == 0 &&
              has_inputs(region, made.inputs, made.input_count) &&
              is_output(region, 0, made.result);
  }
  tenon__arena_deinitialize(&arena);
  return follows;
}

/* Outputs are some of the nodes', in their order. */
static bool follows_proposal(const struct tenon_region_t* region) {
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  uint32_t inputs[TENON_REGION_MOST_PROPOSED];
  uint32_t count = 0;
  uint32_t output = 0;
  if (!tenon__region_reads(graph, region->nodes, region->node_count, inputs, &count) ||
      !has_inputs(region, inputs, count)) {
    return false;
  }
  for (uint32_t n = 0; n < region->node_count; ++n) {
    const tenon__node_t* node = &graph->nodes[region->nodes[n]];
    for (uint32_t k = 0; k < node->output_count; ++k) {
      output += node->outputs[k] != TENON_NONE && output < region->output_count &&
                        is_output(region, output, node->outputs[k])
                    ? 1u
                    : 0u;
    }
  }
  return output == region->output_count;
}

/* Kernels of several nodes find their arguments by place. */
static bool has_its_arguments(const tenon_kernel_t* kernel, const struct tenon_region_t* region,
                              tenon_refusal_t* out_refusal) {
  return region->node_count < 2 || (kernel->pattern != NULL && follows_pattern(kernel, region)) ||
         (kernel->propose != NULL && follows_proposal(region)) ||
         refuse(TENON_REFUSAL_OPERATOR, "its nodes and arguments are not as the kernel asks",
                out_refusal);
}

/* ---- match ---- */

/* The largest constant whose bytes are not here. */
static size_t absent_bytes(const struct tenon_region_t* region) {
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  size_t bytes = 0;
  for (uint32_t k = 0; k < region->value_count; ++k) {
    const uint32_t weights = graph->values[region->graph_values[k]].weights;
    const bool is_absent = weights != TENON_NONE && region->values[k].constant_data == NULL;
    if (is_absent && region->network->weights[weights].size_bytes >= bytes) {
      bytes = region->network->weights[weights].size_bytes + 1;
    }
  }
  return bytes;
}

const char* tenon__kernel_validity(const tenon__kernel_binding_t* binding) {
  if (binding->kernel->validity == NULL) {
    return "";
  }
  const tenon__call_t call = {binding->plugin, "validity", binding->kernel->name, ""};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const char* text = binding->kernel->validity(binding->state, binding->device->handle);
  tenon__call_leave(outer);
  return text == NULL ? "" : text;
}

static bool match(const tenon__kernel_binding_t* binding, const struct tenon_region_t* region,
                  tenon_refusal_t* out_refusal) {
  *out_refusal = (tenon_refusal_t){0};
  if (binding->kernel->match == NULL) {
    return true;
  }
  const tenon__call_t call = {binding->plugin, "match", binding->kernel->name,
                              tenon__region_name(region)};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const int32_t taken =
      binding->kernel->match(binding->state, region, tenon__region_table(), out_refusal);
  tenon__call_leave(outer);
  if (taken != 0) {
    return true;
  }
  return out_refusal->reason != TENON_REFUSAL_NONE
             ? false
             : refuse(TENON_REFUSAL_OTHER, "its function `match` refuses and gives no reason",
                      out_refusal);
}

/* A plan does not hold the bytes of what its kernels have packed, but a constant is one still: the
 * region with zeros in their place. */
typedef struct filled_t {
  struct tenon_region_t region;
  tenon_value_info_t* values;
  const void* zeros;
  size_t zeros_size;
} filled_t;

/* Where nothing is absent, as it is. False when memory is out. */
static bool fill(const struct tenon_region_t* region, filled_t* out_filled) {
  const tenon__graph_t* graph = region->network->graphs[region->graph];
  *out_filled = (filled_t){.region = *region, .zeros_size = absent_bytes(region)};
  if (out_filled->zeros_size == 0) {
    return true;
  }
  out_filled->zeros = tenon__zeros_map(out_filled->zeros_size);
  out_filled->values =
      tenon__allocate(region->network->allocator, region->value_count, sizeof *out_filled->values);
  if (out_filled->zeros == NULL || out_filled->values == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < region->value_count; ++k) {
    tenon_value_info_t* value = &out_filled->values[k];
    *value = region->values[k];
    const bool is_constant = graph->values[region->graph_values[k]].weights != TENON_NONE;
    if (is_constant && value->constant_data == NULL) {
      value->constant_data = out_filled->zeros;
    }
  }
  out_filled->region.values = out_filled->values;
  return true;
}

static void release(const filled_t* filled) {
  tenon__free(filled->region.network->allocator, filled->values,
              filled->region.value_count * sizeof *filled->values);
  tenon__zeros_unmap(filled->zeros, filled->zeros_size);
}

static bool suits(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                  tenon_refusal_t* out_refusal) {
  return runs_here(kernel, out_refusal) && is_for(kernel->kernel, region, out_refusal) &&
         tenon__region_is_known(region, kernel->known, out_refusal) &&
         has_slots(kernel->kernel, region, out_refusal) &&
         knows_node(kernel->kernel, region, out_refusal) &&
         has_its_arguments(kernel->kernel, region, out_refusal);
}

/* ---- tactics ---- */

struct tenon_emit_t {
  tenon__take_tactic_t take;
  void* user;
};

/* In full size, with the bits that its types have. */
static bool copy_numerics(const tenon_numerics_t* given, tenon_numerics_t* out_numerics) {
  if (!tenon__structure_copy(given, sizeof *given, given->size, sizeof *given, out_numerics)) {
    return false;
  }
  const tenon__float_form_t product = tenon__dtype_float_form(out_numerics->product_dtype);
  if (product.is_float && out_numerics->product_mantissa_bits == 0) {
    out_numerics->product_mantissa_bits = product.mantissa_bits;
  }
  if (product.is_float && out_numerics->product_exponent_bits == 0) {
    out_numerics->product_exponent_bits = product.exponent_bits;
  }
  return true;
}

static tenon_status_t pass_on(tenon_emit_t* emit, const tenon_tactic_t* given) {
  tenon_tactic_t tactic;
  tenon_numerics_t numerics = {.size = sizeof numerics};
  bool is_one = given != NULL &&
                tenon__structure_copy(given, sizeof tactic, given->size, sizeof tactic, &tactic);
  if (is_one) {
    is_one = tactic.numerics == NULL || copy_numerics(tactic.numerics, &numerics);
    tactic.numerics = &numerics;
  }
  return emit->take(emit->user, is_one ? &tactic : NULL);
}

tenon_status_t tenon__kernel_tactics(const tenon__kernel_binding_t* kernel,
                                     const struct tenon_region_t* region, tenon__take_tactic_t take,
                                     void* user) {
  if (kernel->kernel->tactics == NULL) {
    static const tenon_numerics_t exact = {.size = sizeof exact};
    const tenon_tactic_t single = {.size = sizeof single, .name = "default", .numerics = &exact};
    return take(user, &single);
  }
  tenon_emit_t emit = {.take = take, .user = user};
  const tenon__call_t call = {kernel->plugin, "tactics", kernel->kernel->name,
                              tenon__region_name(region)};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      kernel->kernel->tactics(kernel->state, region, tenon__region_table(), &emit, pass_on);
  tenon__call_leave(outer);
  return status;
}

/* The tactic of the plan, and whether the kernel has one like it. */
typedef struct confirmation_t {
  const struct tenon_region_t* region;
  tenon__step_tactic_t* tactic;
  bool is_confirmed;
} confirmation_t;

tenon_argument_rule_t tenon__rule_in_plan(const tenon_argument_rule_t* rule) {
  tenon_argument_rule_t planned = *rule;
  if (rule->kind != TENON_LAYOUT_EXACT) {
    planned.layout = NULL;
  } else if (rule->layout == NULL || tenon__layout_is_rows(rule->layout)) {
    planned.kind = TENON_LAYOUT_ROW_MAJOR; /* gaps in order are not any strides */
    planned.layout = NULL;
    planned.flags &= ~(uint32_t)TENON_RULE_STRIDED;
  }
  return planned;
}

/* `values`: of the region, TENON_NONE for what is absent and lies nowhere. */
static bool same_rules(const tenon_argument_rule_t* planned, const tenon_argument_rule_t* emitted,
                       const uint32_t* values, uint32_t count) {
  bool same = (planned == NULL) == (emitted == NULL);
  for (uint32_t k = 0; planned != NULL && same && k < count; ++k) {
    const tenon_argument_rule_t rule = tenon__rule_in_plan(&emitted[k]);
    same = values[k] == TENON_NONE ||
           (tenon__rules_alike(&planned[k], &rule) && planned[k].in_place == rule.in_place);
  }
  return same;
}

/* What decides how the kernel computes, and where its arguments may lie. */
static bool same_tactic(const confirmation_t* c, const tenon_tactic_t* emitted) {
  const tenon__step_tactic_t* planned = c->tactic;
  const size_t size = emitted->configuration_size;
  return strcmp(planned->name, emitted->name == NULL ? "" : emitted->name) == 0 &&
         planned->configuration_size == size &&
         (size == 0 || memcmp(planned->configuration, emitted->configuration, size) == 0) &&
         same_rules(planned->input_rules, emitted->inputs, c->region->input_values,
                    c->region->input_count) &&
         same_rules(planned->output_rules, emitted->outputs, c->region->output_values,
                    c->region->output_count);
}

/* What the kernel needs for it is what it says now. */
static tenon_status_t confirm(void* user, const tenon_tactic_t* emitted) {
  confirmation_t* c = user;
  if (emitted != NULL && !c->is_confirmed && same_tactic(c, emitted)) {
    c->is_confirmed = true;
    c->tactic->scratch_bytes = emitted->scratch_bytes;
    c->tactic->scratch_bytes_per_thread = emitted->scratch_bytes_per_thread;
    c->tactic->zeroed_bytes = emitted->zeroed_bytes;
    c->tactic->persistent_bytes = emitted->persistent_bytes;
    c->tactic->flags = emitted->flags;
    c->tactic->launches = emitted->launches;
    c->tactic->numerics = *emitted->numerics;
  }
  return TENON_OK;
}

static bool has_tactic(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                       tenon__step_tactic_t* inout_tactic, tenon_refusal_t* out_refusal) {
  confirmation_t confirmation = {.region = region, .tactic = inout_tactic};
  if (inout_tactic == NULL) {
    return true;
  }
  return (tenon__kernel_tactics(kernel, region, confirm, &confirmation) == TENON_OK &&
          confirmation.is_confirmed) ||
         refuse(TENON_REFUSAL_OTHER, "it has no such tactic", out_refusal);
}

bool tenon__kernel_confirms(const tenon__kernel_binding_t* kernel,
                            const struct tenon_region_t* region, tenon__step_tactic_t* inout_tactic,
                            tenon_refusal_t* out_refusal) {
  filled_t filled;
  if (!suits(kernel, region, out_refusal)) {
    return false;
  }
  const bool taken = fill(region, &filled)
                         ? match(kernel, &filled.region, out_refusal) &&
                               has_tactic(kernel, &filled.region, inout_tactic, out_refusal)
                         : refuse(TENON_REFUSAL_OTHER, "out of memory", out_refusal);
  release(&filled);
  return taken;
}

bool tenon__kernel_takes(const tenon__kernel_binding_t* kernel, const struct tenon_region_t* region,
                         tenon_refusal_t* out_refusal) {
  return tenon__kernel_confirms(kernel, region, NULL, out_refusal);
}
