/*
 * A rewrite that a plugin offers: a pattern of operators, a guard, and what stands instead.
 *
 * The pattern is matched backwards from its last statement. A name that a statement defines must be
 * made by the operator of that statement, and read by nobody else; any other name is an input of
 * the pattern, the same value wherever it occurs. An attribute in braces must have that value, or,
 * when it is a name, stands for the value in guard and replacement.
 */
#include "core/optimizer/rewrite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/lists.h"
#include "core/base/status.h"
#include "core/language/condition.h"
#include "core/network/builder.h"
#include "core/network/builder_values.h"
#include "core/network/node.h"
#include "core/operator/attribute.h"
#include "core/optimizer/patch.h"
#include "core/region/region.h"
#include "core/region/region_finish.h"
#include "core/region/region_table.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

enum { MOST_NUMBERS = 16 }; /* of a constant that a guard reads */

/* ---- By code: the function reads the match as a region and builds through a builder on the
 * network. What it built is taken up by the patch, or taken back with it. ---- */

static const tenon__operator_t* find_nothing(void* user, const char* name) {
  (void)user;
  (void)name;
  return NULL;
}

static tenon_status_t make_region(const tenon__rewriter_t* rewriter, const tenon__match_t* match,
                                  tenon__arena_t* arena, struct tenon_region_t* out_region) {
  tenon__profile_t* profile = tenon__arena_allocate(arena, 1, sizeof(*profile));
  uint32_t nodes[TENON_MATCH_NAMES];
  TENON_TRY_MEMORY(profile != NULL);
  TENON_TRY(tenon__profile_open(arena, rewriter->network->pool, profile));
  tenon__match_nodes(match, nodes);
  const tenon__node_group_t group = {
      nodes, match->node_count, match->inputs, match->input_count, &match->result, 1};
  TENON_TRY(tenon__region_of_nodes(arena, rewriter->network, match->graph, &group, out_region));
  return tenon__region_finish(arena, profile, out_region);
}

/* Runs the function; the value that it gives, TENON_NONE where it declines. */
static tenon_status_t run(tenon__rewriter_t* rewriter, const tenon__rewrite_entry_t* entry,
                          const tenon__match_t* match, const struct tenon_region_t* region,
                          tenon_builder_t* builder, uint32_t* out_value) {
  tenon_value_t inputs[TENON_MATCH_NAMES];
  tenon_value_t result = {0};
  for (uint32_t i = 0; i < match->input_count; ++i) {
    TENON_TRY(tenon__builder_handle(builder, match->graph, match->inputs[i], &inputs[i]));
  }
  const tenon_rewriting_t given = {.size = sizeof given,
                                   .state = entry->owner->state,
                                   .match = region,
                                   .table = tenon__region_table(),
                                   .builder = builder,
                                   .build = tenon__builder_table(),
                                   .inputs = inputs,
                                   .input_count = match->input_count};
  const tenon__call_t call = {entry->owner->plugin, "rewrite", entry->rewrite.name,
                              tenon__rewriter_node(rewriter, match->graph, match->root)->name};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const int32_t taken = entry->rewrite.rewrite(&given, &result);
  tenon__call_leave(outer);
  TENON_TRY(tenon__patch_take_up(rewriter));
  uint32_t graph = 0;
  *out_value = TENON_NONE;
  if (taken == 0) {
    return TENON_OK;
  }
  if (taken != 1 || tenon__builder_finish(builder) != TENON_OK ||
      !tenon__builder_look_up(builder, result, &graph, out_value) || graph != match->graph) {
    return TENON_ERROR_UNSUPPORTED;
  }
  return TENON_OK;
}

/* *out_value TENON_NONE: the function declines. UNSUPPORTED where it gives no value. Its builder is
 * fixed to the graph: it can add nodes but no inputs, outputs or states. What it built is taken up
 * even where it declines; the caller cancels the patch then. */
static tenon_status_t by_code(tenon__rewriter_t* rewriter, const tenon__rewrite_entry_t* entry,
                              const tenon__match_t* match, uint32_t* out_value) {
  struct tenon_region_t region;
  tenon_builder_t* builder = NULL;
  TENON_TRY(make_region(rewriter, match, &rewriter->scratch, &region));
  TENON_TRY(tenon__builder_create(
      rewriter->network, rewriter->options->find == NULL ? find_nothing : rewriter->options->find,
      rewriter->options->find_user, rewriter->sink, &builder));
  tenon__builder_set_graph(builder, match->graph);
  const tenon_status_t status = run(rewriter, entry, match, &region, builder, out_value);
  tenon__builder_destroy(builder);
  return status;
}

tenon_status_t tenon__rewrite_parse(tenon__arena_t* arena, const tenon__rewrite_entry_t* entry,
                                    const tenon_sink_t* sink, tenon__rewrite_t* out_rewrite) {
  const tenon_rewrite_t* texts = &entry->rewrite;
  tenon__rewrite_t rewrite = {.entry = entry};
  const char* prefix =
      tenon__arena_format(arena, "rewrite %s of %s: ", texts->name, entry->owner->plugin);
  rewrite.label = tenon__arena_format(arena, "rewrite %s:%s", entry->owner->plugin, texts->name);
  TENON_TRY_MEMORY(prefix != NULL && rewrite.label != NULL);
  tenon__prefix_sink_t prefixed;
  tenon__prefix_sink_initialize(&prefixed, sink, prefix);
  TENON_TRY(tenon__calls_parse(arena, texts->pattern, &prefixed.sink, &rewrite.pattern));
  if (texts->replacement != NULL) {
    TENON_TRY(tenon__calls_parse(arena, texts->replacement, &prefixed.sink, &rewrite.replacement));
  }
  if (texts->when != NULL) {
    TENON_TRY(tenon__text_parse_expression(arena, texts->when, &prefixed.sink, &rewrite.when));
  }
  if (rewrite.pattern.statement_count == 0 ||
      (rewrite.replacement.statement_count == 0 && texts->rewrite == NULL)) {
    return tenon__fail(&prefixed.sink, TENON_ERROR_INVALID_DATA,
                       "lacks a pattern or a replacement");
  }
  *out_rewrite = rewrite;
  return TENON_OK;
}

/* The shortest decimal number that is `number` in the type: 0.1, not 0.100000001490116. */
static double as_written(double number, tenon_dtype_t dtype) {
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(dtype);
  double written = number;
  bool is_it = !isfinite(number);
  for (int digits = 1; digits < 18 && !is_it; ++digits) {
    char text[40];
    uint64_t stored = 0;
    (void)snprintf(text, sizeof(text), "%.*g", digits, number);
    written = strtod(text, NULL);
    tenon__element_store(&stored, dtype, 0, (tenon__scalar_t){.f = written}, arithmetic);
    is_it = tenon__element_load(&stored, dtype, 0).f == number;
  }
  return written;
}

/* Contents are integers. What a guard may read of other short constants. */
static tenon_status_t read_numbers(tenon__rewriter_t* rewriter, const tenon__value_node_t* value,
                                   tenon__scope_value_t* inout_value) {
  const tenon__weights_t* weights =
      value->weights == TENON_NONE ? NULL : &rewriter->network->weights[value->weights];
  uint64_t count = 0;
  if (weights == NULL || weights->data == NULL || value->type.contents != NULL ||
      tenon__dtype_class(weights->dtype) != 'f' || weights->rank > 1 ||
      !tenon__element_count(weights->rank, weights->dims, &count) || count > MOST_NUMBERS) {
    return TENON_OK;
  }
  double* numbers = tenon__arena_allocate(&rewriter->scratch, count + 1, sizeof(*numbers));
  TENON_TRY_MEMORY(numbers != NULL);
  for (uint64_t i = 0; i < count; ++i) {
    numbers[i] =
        as_written(tenon__element_load(weights->data, weights->dtype, i).f, weights->dtype);
  }
  inout_value->numbers = numbers;
  inout_value->number_count = (uint32_t)count;
  return TENON_OK;
}

/* The guard: over attributes that the pattern names and the pattern's inputs. */
static tenon_status_t guard_holds(tenon__rewriter_t* rewriter, const tenon__rewrite_t* rewrite,
                                  const tenon__match_t* match, bool* out_holds) {
  *out_holds = true;
  if (rewrite->when == NULL) {
    return TENON_OK;
  }
  tenon__scope_port_t* ports =
      tenon__arena_allocate(&rewriter->scratch, match->name_count + 1u, sizeof(*ports));
  tenon__scope_value_t* values =
      tenon__arena_allocate(&rewriter->scratch, match->name_count + 1u, sizeof(*values));
  *out_holds = false;
  TENON_TRY_MEMORY(ports != NULL && values != NULL);
  uint32_t count = 0;
  for (uint32_t i = 0; i < match->name_count; ++i) {
    const tenon__value_node_t* value =
        tenon__rewriter_value(rewriter, match->graph, match->names[i].value);
    values[count] = (tenon__scope_value_t){.present = true, .type = value->type, .argument = count};
    TENON_TRY(read_numbers(rewriter, value, &values[count]));
    ports[count] = (tenon__scope_port_t){.name = match->names[i].name,
                                         .type = tenon__dtype_name(value->type.dtype),
                                         .count = 1,
                                         .values = &values[count]};
    ++count;
  }
  const tenon__scope_t scope = {.pool = rewriter->network->pool,
                                .input_count = count,
                                .inputs = ports,
                                .attribute_count = match->attribute_count,
                                .attributes = match->attributes};
  return tenon__condition_evaluate(&scope, rewrite->when, rewriter->explain, out_holds);
}

/* A literal's kind follows from how it is written; add_node converts it to what the operator
 * declares. */
static tenon_status_t replacement_attribute(const tenon__match_t* match,
                                            const tenon__call_attribute_t* given,
                                            tenon__arena_t* arena,
                                            tenon__scope_attribute_t* out_attribute) {
  static const uint32_t kinds[] = {
      TENON_ATTRIBUTE_INT,    TENON_ATTRIBUTE_FLOAT,   TENON_ATTRIBUTE_STRING, TENON_ATTRIBUTE_INTS,
      TENON_ATTRIBUTE_FLOATS, TENON_ATTRIBUTE_STRINGS, TENON_ATTRIBUTE_DTYPE};
  const tenon__scope_attribute_t* named =
      given->value->kind == TENON_SYNTAX_NAME
          ? tenon__attribute_find(match->attributes, match->attribute_count, given->value->text)
          : NULL;
  if (named != NULL) {
    *out_attribute = *named;
    out_attribute->name = given->name;
    return TENON_OK;
  }
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    tenon__scope_attribute_t attribute = {.name = given->name};
    const tenon_status_t status =
        tenon__attribute_from_syntax(arena, given->value, kinds[i], &attribute);
    if (status != TENON_ERROR_INVALID_DATA) {
      *out_attribute = attribute;
      out_attribute->name = given->name;
      return status;
    }
  }
  return TENON_ERROR_INVALID_DATA;
}

tenon_status_t tenon__rewrite_add_call(tenon__rewriter_t* rewriter, tenon__match_t* match,
                                       const tenon__call_statement_t* call, uint32_t* out_value) {
  tenon__arena_t* arena = &rewriter->scratch;
  const tenon__operator_t* op = rewriter->options->find(rewriter->options->find_user, call->op);
  uint32_t* inputs = tenon__arena_allocate(arena, call->argument_count + 1u, sizeof(*inputs));
  tenon__scope_attribute_t* attributes =
      tenon__arena_allocate(arena, call->attribute_count + 1u, sizeof(*attributes));
  TENON_TRY_MEMORY(inputs != NULL && attributes != NULL);
  if (op == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    inputs[i] = strcmp(call->arguments[i], "_") == 0
                    ? TENON_NONE
                    : tenon__match_value(match, call->arguments[i]);
    if (strcmp(call->arguments[i], "_") != 0 && !tenon__match_has(match, call->arguments[i])) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    TENON_TRY(replacement_attribute(match, &call->attributes[i], arena, &attributes[i]));
  }
  const tenon__node_request_t request = {.op = op,
                                         .input_count = call->argument_count,
                                         .inputs = inputs,
                                         .output_count = call->result_count,
                                         .attribute_count = call->attribute_count,
                                         .attributes = attributes};
  uint32_t node = 0;
  TENON_TRY(tenon__patch_add_node(rewriter, &request, &node));
  const tenon__node_t* made = tenon__rewriter_node(rewriter, match->graph, node);
  for (uint32_t i = 0; i < call->result_count && i < made->output_count; ++i) {
    *out_value = made->outputs[i];
    if (!tenon__match_bind(match, call->results[i], made->outputs[i])) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  return TENON_OK;
}

static tenon_status_t replacement_value(tenon__rewriter_t* rewriter,
                                        const tenon__rewrite_t* rewrite, tenon__match_t* match,
                                        uint32_t* out_value) {
  if (rewrite->replacement.statement_count == 0) {
    return by_code(rewriter, rewrite->entry, match, out_value);
  }
  if (rewriter->options->find == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < rewrite->replacement.statement_count; ++i) {
    TENON_TRY(
        tenon__rewrite_add_call(rewriter, match, &rewrite->replacement.statements[i], out_value));
  }
  return TENON_OK;
}

/* May it stand for the old one? */
static tenon_status_t check_fit(tenon__rewriter_t* rewriter, const tenon__match_t* match,
                                uint32_t old, uint32_t value) {
  if (value == TENON_NONE || value == old) {
    return tenon__fail(rewriter->explain, TENON_ERROR_UNSUPPORTED,
                       "it gives no value, or the one that is to be replaced");
  }
  if (!tenon__patch_fits(rewriter, match->graph, old, value)) {
    return tenon__fail(rewriter->explain, TENON_ERROR_UNSUPPORTED, "it gives %s for %s",
                       tenon__type_text(rewriter->network->pool,
                                        &tenon__rewriter_value(rewriter, match->graph, value)->type,
                                        &rewriter->scratch),
                       tenon__type_text(rewriter->network->pool,
                                        &tenon__rewriter_value(rewriter, match->graph, old)->type,
                                        &rewriter->scratch));
  }
  return TENON_OK;
}

/* Names as users know them: a new node takes that of a replaced one of its operator, which nobody
 * else has; the one that makes the result takes the root's where that is left. */
static void keep_names(tenon__rewriter_t* rewriter, const tenon__match_t* match, uint32_t result) {
  const uint32_t first = rewriter->first_new_node;
  const uint32_t count = rewriter->graphs[match->graph].node_count;
  bool is_named[TENON_MATCH_NAMES] = {false};
  bool root_is_left = true;
  for (uint32_t k = match->node_count; k-- > 0;) {
    const tenon__operator_t* op = tenon__rewriter_node(rewriter, match->graph, match->nodes[k])->op;
    uint32_t n = first;
    while (n < count && (n - first >= TENON_MATCH_NAMES || is_named[n - first] ||
                         tenon__rewriter_node(rewriter, match->graph, n)->op != op)) {
      ++n;
    }
    if (n < count) {
      is_named[n - first] = true;
      root_is_left = root_is_left && match->nodes[k] != match->root;
      tenon__patch_swap_names(rewriter, n, match->nodes[k]);
    }
  }
  const uint32_t made = tenon__rewriter_value(rewriter, match->graph, result)->producer;
  if (root_is_left && made != TENON_NONE && made >= first &&
      !(made - first < TENON_MATCH_NAMES && is_named[made - first])) {
    tenon__patch_swap_names(rewriter, made, match->root);
  }
}

static tenon_status_t apply(tenon__rewriter_t* rewriter, tenon__rewrite_t* rewrite,
                            tenon__match_t* match, tenon__rewrite_outcome_t* out_outcome) {
  const uint32_t old = match->result;
  if (!tenon__patch_begin(rewriter, rewrite->label, match->graph, match->root)) {
    return TENON_OK;
  }
  uint32_t value = TENON_NONE;
  tenon_status_t status = replacement_value(rewriter, rewrite, match, &value);
  if (status == TENON_OK && value == TENON_NONE && rewrite->replacement.statement_count == 0) {
    tenon__patch_cancel(rewriter);
    *out_outcome = TENON_REWRITE_DECLINED;
    return TENON_OK;
  }
  if (status == TENON_OK) {
    status = check_fit(rewriter, match, old, value);
  }
  if (status == TENON_OK && tenon__rewriter_leaves(rewriter, match->graph, old)) {
    status = tenon__patch_output_of(rewriter, value, &value);
  }
  if (status == TENON_OK) {
    keep_names(rewriter, match, value);
    tenon__patch_replace(rewriter, old, value);
    ++rewrite->patch_count;
  }
  *out_outcome = status == TENON_OK ? TENON_REWRITE_APPLIED : TENON_REWRITE_UNFIT;
  return tenon__patch_settle(rewriter, status);
}

static bool read_outside(const void* user, const tenon__match_t* match, uint32_t value) {
  const tenon__rewriter_t* rewriter = user;
  bool outside = tenon__rewriter_leaves(rewriter, match->graph, value);
  uint32_t use = tenon__rewriter_first_use(rewriter, match->graph, value);
  for (; use != TENON_NONE && !outside; use = tenon__rewriter_use(rewriter, use)->next) {
    outside = !tenon__list_holds(match->nodes, match->node_count,
                                 tenon__rewriter_use(rewriter, use)->node);
  }
  return outside;
}

tenon_status_t tenon__rewrite_visit(tenon__rewriter_t* rewriter, tenon__rewrite_t* rewrite,
                                    uint32_t graph, uint32_t index,
                                    tenon__rewrite_outcome_t* out_outcome) {
  const tenon__calls_t* pattern = &rewrite->pattern;
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  *out_outcome = TENON_REWRITE_NO_MATCH;
  if (rewrite->is_refused || node->op == NULL ||
      strcmp(pattern->statements[pattern->statement_count - 1].op, node->op->name) != 0) {
    return TENON_OK;
  }
  const tenon__match_uses_t uses = {read_outside, rewriter};
  tenon__match_t match;
  bool holds = false;
  if (tenon__match_pattern(rewriter->network, &uses, pattern, graph, index, &rewriter->scratch,
                           &match)) {
    const tenon_status_t guard = guard_holds(rewriter, rewrite, &match, &holds);
    *out_outcome = guard == TENON_OK ? TENON_REWRITE_GUARDED : TENON_REWRITE_UNCLEAR;
    if (guard == TENON_OK && holds) {
      *out_outcome = TENON_REWRITE_UNTRIED;
      if (rewrite->is_tried || rewriter->options->admit == NULL) {
        return apply(rewriter, rewrite, &match, out_outcome);
      }
    }
  }
  return TENON_OK;
}

const tenon__rewrite_t* tenon__rewrite_busiest(const tenon__rewriter_t* rewriter) {
  const tenon__rewrites_t* rewrites = rewriter->rewrites;
  const tenon__rewrite_t* busiest = NULL;
  if (rewrites == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < rewrites->count; ++i) {
    const tenon__rewrite_t* rewrite = &rewrites->items[i];
    if (rewrite->patch_count > (busiest == NULL ? 0 : busiest->patch_count)) {
      busiest = rewrite;
    }
  }
  return busiest;
}
