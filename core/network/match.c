/* Matching a pattern backwards from its last statement. */
#include "core/network/match.h"

#include <string.h>

#include "core/base/lists.h"
#include "core/network/node.h"
#include "core/operator/attribute.h"

typedef struct matcher_t {
  const tenon__match_uses_t* uses;
  const tenon__graph_t* g;
  const tenon__calls_t* pattern;
  tenon__arena_t* arena;
  tenon__match_t* match;
} matcher_t;

/* The place of a name; `name_count` where it has none. */
static uint32_t place_of(const tenon__match_t* match, const char* name) {
  uint32_t at = 0;
  while (at < match->name_count && strcmp(match->names[at].name, name) != 0) {
    ++at;
  }
  return at;
}

uint32_t tenon__match_value(const tenon__match_t* match, const char* name) {
  const uint32_t at = place_of(match, name);
  return at == match->name_count ? TENON_NONE : match->names[at].value;
}

bool tenon__match_has(const tenon__match_t* match, const char* name) {
  return place_of(match, name) < match->name_count;
}

bool tenon__match_bind(tenon__match_t* match, const char* name, uint32_t value) {
  const uint32_t at = place_of(match, name);
  if (at == TENON_MATCH_NAMES) {
    return false;
  }
  match->names[at] = (tenon__match_name_t){name, value};
  match->name_count += at == match->name_count ? 1 : 0;
  return true;
}

/* The statement before `before` that defines a name, and which of its results it is. */
static uint32_t definition(const tenon__calls_t* pattern, uint32_t before, const char* name,
                           uint32_t* out_result) {
  for (uint32_t s = before; s > 0; --s) {
    const tenon__call_statement_t* call = &pattern->statements[s - 1];
    for (uint32_t r = 0; r < call->result_count; ++r) {
      if (strcmp(call->results[r], name) == 0) {
        *out_result = r;
        return s - 1;
      }
    }
  }
  return TENON_NONE;
}

/* A name stands for the attribute, everywhere with the same value; a literal must be its value. */
static bool match_attribute(const matcher_t* matcher, const tenon__node_t* node,
                            const tenon__call_attribute_t* wanted) {
  const tenon__scope_attribute_t* own = tenon__node_attribute(node, wanted->name);
  tenon__match_t* match = matcher->match;
  if (own == NULL) {
    return false;
  }
  tenon__scope_attribute_t literal = {.name = wanted->name};
  if (tenon__attribute_from_syntax(matcher->arena, wanted->value, own->kind, &literal) ==
      TENON_OK) {
    return tenon__attribute_equal(&literal, own);
  }
  if (wanted->value->kind != TENON_SYNTAX_NAME) {
    return false;
  }
  const tenon__scope_attribute_t* known =
      tenon__attribute_find(match->attributes, match->attribute_count, wanted->value->text);
  if (known != NULL) {
    return tenon__attribute_equal(known, own);
  }
  if (match->attribute_count == TENON_MATCH_ATTRIBUTES) {
    return false;
  }
  match->attributes[match->attribute_count] = *own;
  match->attributes[match->attribute_count++].name = wanted->value->text;
  return true;
}

static bool match_statement(const matcher_t* matcher, uint32_t statement, uint32_t node);

/* An argument: absent, the result of an earlier statement, or an input of the pattern. */
static bool match_argument(const matcher_t* matcher, uint32_t statement, const char* name,
                           uint32_t value) {
  tenon__match_t* match = matcher->match;
  if (strcmp(name, "_") == 0) {
    return value == TENON_NONE;
  }
  if (value == TENON_NONE) {
    return false;
  }
  const uint32_t bound = tenon__match_value(match, name);
  if (bound != TENON_NONE) {
    return bound == value;
  }
  uint32_t result = 0;
  const uint32_t made_by = definition(matcher->pattern, statement, name, &result);
  if (made_by == TENON_NONE) {
    match->inputs[match->input_count] = value;
    return match->input_count < TENON_MATCH_NAMES - 1 && tenon__match_bind(match, name, value) &&
           ++match->input_count > 0;
  }
  const tenon__value_node_t* made = &matcher->g->values[value];
  return made->producer != TENON_NONE && made->producer_output == result &&
         match_statement(matcher, made_by, made->producer);
}

static bool match_statement(const matcher_t* matcher, uint32_t statement, uint32_t index) {
  const tenon__call_statement_t* call = &matcher->pattern->statements[statement];
  const tenon__node_t* node = &matcher->g->nodes[index];
  tenon__match_t* match = matcher->match;
  if (node->op == NULL || strcmp(node->op->name, call->op) != 0 ||
      match->node_count == TENON_MATCH_NAMES ||
      tenon__list_holds(match->nodes, match->node_count, index)) {
    return false;
  }
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    if (!match_attribute(matcher, node, &call->attributes[i])) {
      return false;
    }
  }
  const uint32_t count =
      call->argument_count > node->input_count ? call->argument_count : node->input_count;
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = i < call->argument_count ? call->arguments[i] : "_";
    const uint32_t value = i < node->input_count ? node->inputs[i] : TENON_NONE;
    if (!match_argument(matcher, statement, name, value)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < call->result_count && i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE &&
        !tenon__match_bind(match, call->results[i], node->outputs[i])) {
      return false;
    }
  }
  match->nodes[match->node_count++] = index;
  return true;
}

void tenon__match_nodes(const tenon__match_t* match, uint32_t* out_nodes) {
  for (uint32_t k = 0; k < match->node_count; ++k) {
    out_nodes[k] = match->nodes[match->node_count - 1 - k];
  }
}

/* Values between the nodes of the match are read by these alone. */
static bool is_closed(const matcher_t* matcher) {
  const tenon__match_t* match = matcher->match;
  for (uint32_t n = 0; n < match->node_count; ++n) {
    const tenon__node_t* node = &matcher->g->nodes[match->nodes[n]];
    const uint32_t inner_count = match->nodes[n] == match->root ? 0 : node->output_count;
    for (uint32_t o = 0; o < inner_count; ++o) {
      if (node->outputs[o] != TENON_NONE &&
          matcher->uses->read_outside(matcher->uses->user, match, node->outputs[o])) {
        return false;
      }
    }
  }
  return true;
}

bool tenon__match_pattern(const tenon__network_t* network, const tenon__match_uses_t* uses,
                          const tenon__calls_t* pattern, uint32_t graph, uint32_t root,
                          tenon__arena_t* arena, tenon__match_t* out_match) {
  memset(out_match, 0, sizeof(*out_match));
  out_match->graph = graph;
  out_match->root = root;
  const uint32_t last = pattern->statement_count - 1;
  const tenon__call_statement_t* call = &pattern->statements[last];
  const tenon__graph_t* g = network->graphs[graph];
  const tenon__node_t* node = &g->nodes[root];
  const matcher_t matcher = {uses, g, pattern, arena, out_match};
  if (call->result_count != 1 || node->outputs[0] == TENON_NONE ||
      !uses->read_outside(uses->user, out_match, node->outputs[0]) ||
      !match_statement(&matcher, last, root)) {
    return false;
  }
  for (uint32_t i = 1; i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE) {
      return false; /* nothing would replace it */
    }
  }
  out_match->result = node->outputs[0];
  return is_closed(&matcher);
}
