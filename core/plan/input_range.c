/*
 * A value *follows* the input if each of its elements is an element of the input plus one constant,
 * its shift. Values that follow are found from the input on: through index maps, and through
 * expressions that cast, add and subtract. The ports that read them limit the input.
 */
#include "core/plan/input_range.h"

#include <math.h>

#include "core/base/status.h"
#include "core/network/node.h"
#include "core/network/order.h"
#include "core/operator/domain.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

typedef struct follower_t {
  bool is_one;
  double shift;
} follower_t;

typedef struct search_t {
  const tenon__plan_t* plan;
  const tenon__graph_t* graph;
  tenon__arena_t* arena;
  follower_t* values; /* one for each of the graph */
  uint32_t* found;    /* values that follow, in the order in which they were found */
  uint32_t found_count;
  tenon__input_range_t range;
} search_t;

static void add(search_t* s, uint32_t value, double shift) {
  if (value != TENON_NONE && !s->values[value].is_one) {
    s->values[value] = (follower_t){true, shift};
    s->found[s->found_count++] = value;
  }
}

/* The one element of a constant. */
static bool find_number(const search_t* s, uint32_t value, double* out_number) {
  const tenon__value_node_t* v = &s->graph->values[value];
  const tenon__weights_t* w =
      v->weights == TENON_NONE ? NULL : &s->plan->network->weights[v->weights];
  uint64_t count = 0;
  if (w == NULL || w->data == NULL || !tenon__element_count(w->rank, w->dims, &count) ||
      count != 1 || w->dtype == TENON_DTYPE_STRING) {
    return false;
  }
  const tenon__scalar_t scalar = tenon__element_load(w->data, w->dtype, 0);
  *out_number = tenon__dtype_class(w->dtype) == 'f' ? scalar.f : (double)scalar.i;
  return true;
}

/* ---- Limits ---- */

static void limit(search_t* s, double min, double max) {
  min = fmax(min, s->range.min);
  max = fmin(max, s->range.max);
  if (min <= max) {
    s->range = (tenon__input_range_t){min, max};
  }
}

/* The smallest extent that a run within the profile has there; 0: unknown. */
static int64_t smallest_extent(const search_t* s, tenon_dim_t dim) {
  const tenon__extents_t* const points[3] = {&s->plan->profile.min, &s->plan->profile.optimum,
                                             &s->plan->profile.max};
  int64_t smallest = 0;
  for (int i = 0; i < 3; ++i) {
    int64_t extent = 0;
    if (tenon__extents_get(points[i], dim, &extent) && extent > 0) {
      smallest = smallest == 0 || extent < smallest ? extent : smallest;
    }
  }
  return smallest;
}

/* Indices along one axis, or tuples of them: the smallest of the axes serves all. */
static void limit_places(search_t* s, const tenon__node_t* node, const tenon__domain_t* domain,
                         double shift) {
  const uint32_t source =
      domain->input < node->input_count ? node->inputs[domain->input] : TENON_NONE;
  if (source == TENON_NONE) {
    return;
  }
  const tenon__type_t* type = &s->graph->values[source].type;
  int64_t axis = domain->axis;
  if (domain->axis_attribute != NULL) {
    axis = tenon__node_attribute(node, domain->axis_attribute)->integer;
  }
  if (type->rank == TENON_NONE || axis < -(int64_t)type->rank || axis >= (int64_t)type->rank) {
    return;
  }
  const uint32_t first = (uint32_t)(axis < 0 ? axis + type->rank : axis);
  const uint32_t end = domain->places == TENON_DOMAIN_INDEX ? first + 1 : type->rank;
  for (uint32_t d = first; d < end; ++d) {
    const int64_t extent = smallest_extent(s, type->dims[d]);
    if (extent > 0) {
      limit(s, 0 - shift, (double)(extent - 1) - shift); /* 0 - 0: messages print no -0 */
    }
  }
}

static void limit_port(search_t* s, const tenon__node_t* node, const tenon_port_t* port,
                       uint32_t value) {
  const double shift = s->values[value].shift;
  const bool is_float = tenon__dtype_class(s->graph->values[value].type.dtype) == 'f';
  tenon__domain_t domain;
  const char* fault = NULL;
  if (port->domain == NULL ||
      !tenon__domain_parse(&node->op->descriptor, port->domain, &domain, &fault)) {
    return;
  }
  if (domain.places != TENON_DOMAIN_NO_PLACES) {
    limit_places(s, node, &domain, shift);
  }
  if (domain.has_range) {
    limit(s, domain.min - shift, domain.max - shift);
  }
  if (domain.is_positive || (domain.is_nonzero && !is_float)) {
    limit(s, (is_float ? 0.0625 : 1) - shift, INFINITY);
  }
}

/* ---- Followers ---- */

/* The result of an instruction: unknown, a number, or the searched input plus a shift. */
typedef struct term_t {
  enum { UNKNOWN, NUMBER, FOLLOWS } kind;
  double number; /* or the shift */
} term_t;

static term_t input_term(const search_t* s, const tenon__node_t* node,
                         const tenon_operand_t* operand) {
  const uint32_t value = node->inputs[operand->index];
  term_t term = {UNKNOWN, 0};
  if (value == TENON_NONE) {
    return term;
  }
  if (s->values[value].is_one) {
    return (term_t){FOLLOWS, s->values[value].shift};
  }
  term.kind = find_number(s, value, &term.number) ? NUMBER : UNKNOWN;
  return term;
}

static term_t find_term(const search_t* s, const tenon__node_t* node, const tenon_instruction_t* in,
                        const term_t* terms) {
  static const term_t unknown = {UNKNOWN, 0};
  const tenon_program_t* program = &node->expression->program;
  const bool is_float = tenon__dtype_class(in->dtype) == 'f';
  term_t a = unknown;
  term_t b = unknown;
  switch (in->opcode) {
    case TENON_OPCODE_INPUT:
      return input_term(s, node, &program->operands[in->immediate.i]);
    case TENON_OPCODE_CONSTANT:
      return (term_t){NUMBER, is_float ? in->immediate.f : (double)in->immediate.i};
    case TENON_OPCODE_CAST:
      return in->dtype == TENON_DTYPE_BOOL ? unknown : terms[in->operands[0]];
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
      a = terms[in->operands[0]];
      b = terms[in->operands[1]];
      break;
    default:
      return unknown;
  }
  if (in->opcode == TENON_OPCODE_SUB) {
    b.kind = b.kind == NUMBER ? NUMBER : UNKNOWN;
    b.number = -b.number;
  }
  const bool is_known =
      a.kind != UNKNOWN && b.kind != UNKNOWN && !(a.kind == FOLLOWS && b.kind == FOLLOWS);
  return is_known ? (term_t){a.kind > b.kind ? a.kind : b.kind, a.number + b.number} : unknown;
}

static tenon_status_t follow_expression(search_t* s, const tenon__node_t* node) {
  const tenon_program_t* program = &node->expression->program;
  term_t* terms = tenon__arena_allocate(s->arena, program->instruction_count, sizeof *terms);
  TENON_TRY_MEMORY(terms != NULL);
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    terms[k] = find_term(s, node, &program->instructions[k], terms);
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    const term_t* term = &terms[program->outputs[k].instruction];
    if (term->kind == FOLLOWS && k < node->output_count) {
      add(s, node->outputs[k], term->number);
    }
  }
  return TENON_OK;
}

static void follow_maps(search_t* s, const tenon__node_t* node, uint32_t value) {
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const tenon__index_map_t* map = &node->maps[o];
    for (uint32_t k = 0; k < map->source_count; ++k) {
      if (node->inputs[map->sources[k].input] == value) {
        add(s, node->outputs[o], s->values[value].shift);
      }
    }
  }
}

/* ---- All ---- */

/* A node that reads the value. */
static tenon_status_t look_at(search_t* s, const tenon__node_t* node, uint32_t value) {
  const uint32_t ports = node->op == NULL ? 0 : node->op->descriptor.input_count;
  const uint32_t count = ports == 0 ? 0 : node->input_count;
  for (uint32_t k = 0; k < count; ++k) {
    if (node->inputs[k] == value) {
      limit_port(s, node, &node->op->descriptor.inputs[k < ports ? k : ports - 1], value);
    }
  }
  if (node->maps != NULL) {
    follow_maps(s, node, value);
  }
  return node->expression != NULL ? follow_expression(s, node) : TENON_OK;
}

tenon_status_t tenon__input_range_find(const tenon__plan_t* plan, uint32_t input,
                                       tenon__arena_t* arena, tenon__input_range_t* out_range) {
  const tenon__graph_t* g = plan->network->graphs[0];
  search_t s = {.plan = plan,
                .graph = g,
                .arena = arena,
                .values = tenon__arena_allocate(arena, g->value_count, sizeof *s.values),
                .found = tenon__arena_allocate(arena, g->value_count, sizeof *s.found),
                .range = {-INFINITY, INFINITY}};
  tenon__lists_t uses;
  TENON_TRY_MEMORY(s.values != NULL && s.found != NULL);
  TENON_TRY(tenon__graph_uses(plan->network, 0, arena, &uses));
  add(&s, g->inputs[input], 0);
  for (uint32_t f = 0; f < s.found_count; ++f) {
    const uint32_t* users = tenon__lists_get(&uses, s.found[f]);
    for (uint32_t u = 0; u < tenon__lists_count(&uses, s.found[f]); ++u) {
      TENON_TRY(look_at(&s, &g->nodes[users[u]], s.found[f]));
    }
  }
  *out_range = s.range;
  return TENON_OK;
}
