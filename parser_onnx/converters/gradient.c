/*
 * Gradient: derivatives of y by the tensors xs. The nodes between them are walked from y back, and
 * each passes on to what it reads its share of what its result got (the chain rule), by a text that
 * its row in `rules` has for each of its inputs. What is read along several ways gets the sum.
 */
#include <string.h>

#include "families.h"
#include "scope.h"
#include "source.h"

/* `texts`: what input a gets, then input b; of a, b, the result c, and d, what c got. */
typedef struct rule_t {
  const char* type;
  const char* texts[2];
} rule_t;

static const rule_t rules[] = {
    {"Abs", {"y = d * sign(a)"}},
    {"Add", {"y = d", "y = d"}},
    {"Cos", {"y = -d * sin(a)"}},
    {"Div", {"y = d / b", "y = -d * c / b"}},
    {"Exp", {"y = d * c"}},
    {"Identity", {"y = d"}},
    {"Log", {"y = d / a"}},
    {"Mul", {"y = d * b", "y = d * a"}},
    {"Neg", {"y = -d"}},
    {"Pow", {"y = d * b * pow(a, b - 1.0)", "y = d * c * log(a)"}},
    {"Reciprocal", {"y = -d * c * c"}},
    {"Relu", {"y = a > 0.0 ? d : 0.0"}},
    {"Sigmoid", {"y = d * c * (1.0 - c)"}},
    {"Sin", {"y = d * cos(a)"}},
    {"Softplus", {"y = d * sigmoid(a)"}},
    {"Sqrt", {"y = d / (2.0 * c)"}},
    {"Sub", {"y = d", "y = -d"}},
    {"Tanh", {"y = d * (1.0 - c * c)"}},
};

typedef struct derivation_t {
  tenon_make_t* make;
  tenon_reader_t* reader;
  tenon__onnx_program_t* program;
  tenon__onnx_scope_t* scope;
  tenon_reader_names_t given; /* xs and zs: what made them does not matter */
  /* Of tensors that change with xs: what they got, a tenon_value_t, absent as yet. */
  tenon_reader_names_t shares;
} derivation_t;

static tenon_value_t find_value(const derivation_t* d, const char* name) {
  tenon_value_t value = {0};
  if (tenon_make_ok(d->make)) {
    d->make->status = tenon__onnx_scope_find(d->program, d->scope, name, &value);
  }
  return value;
}

static tenon_value_t* share_of(const derivation_t* d, const char* name) {
  return tenon_reader_names_find(&d->shares, name);
}

static void begin_share(derivation_t* d, const char* name) {
  tenon_value_t* share = tenon_make_memory(d->make, 1, sizeof(*share));
  if (share != NULL) {
    d->make->status = tenon_reader_names_set(d->reader, &d->shares, name, share);
  }
}

/* As large as `like`, all of this number. */
static tenon_value_t filled_like(tenon_make_t* make, tenon_value_t like, double number) {
  const tenon_value_t value = tenon_make_number(make, tenon_make_dtype(make, like), number);
  return tenon_make_2(make, "filled", value, tenon_make_shape(make, like));
}

/* The sum over the axes along which `like` was broadcast. */
static tenon_value_t sum_to(tenon_make_t* make, tenon_value_t share, tenon_value_t like) {
  const uint32_t rank = tenon_make_rank(make, share);
  const uint32_t own = tenon_make_rank(make, like);
  int64_t axes[TENON_RANK_LIMIT];
  int64_t dims[TENON_RANK_LIMIT];
  size_t count = 0;
  for (uint32_t k = 0; tenon_make_ok(make) && k < rank; ++k) {
    const int64_t from = tenon_make_dim(make, share, k);
    const int64_t to = k < rank - own ? 1 : tenon_make_dim(make, like, k - (rank - own));
    if (from < 0 || to < 0) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                      "the derivative of a node of two inputs needs known extents");
    }
    if (k >= rank - own) {
      dims[k - (rank - own)] = to;
    }
    if (from != to || k < rank - own) {
      axes[count++] = k;
    }
  }
  return count == 0
             ? share
             : tenon_make_reshape(
                   make, tenon_make_reduce(make, "reduce_sum", share, axes, count, 0), dims, own);
}

static void pass_on(derivation_t* d, const Onnx__NodeProto* node, const rule_t* rule) {
  tenon_make_t* make = d->make;
  const tenon_value_t got = *share_of(d, tenon__onnx_text(node->output[0]));
  tenon_value_t values[4] = {{0}, {0}, find_value(d, tenon__onnx_text(node->output[0])), got};
  for (size_t i = 0; i < 2; ++i) {
    values[i] = find_value(d, tenon__onnx_text(node->input[i < node->n_input ? i : 0]));
  }
  for (size_t i = 0; i < node->n_input && tenon_make_ok(make); ++i) {
    tenon_value_t* share = share_of(d, tenon__onnx_text(node->input[i]));
    if (share != NULL) {
      tenon_value_t part = tenon_make_math(make, rule->texts[i], 4, values);
      part = node->n_input == 1 ? part : sum_to(make, part, values[i]);
      *share = tenon_make_present(*share) ? tenon_make_2(make, "add", *share, part) : part;
    }
  }
}

static const rule_t* find_rule(const Onnx__NodeProto* node) {
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
    const size_t inputs = rules[i].texts[1] == NULL ? 1 : 2;
    if (strcmp(rules[i].type, tenon__onnx_text(node->op_type)) == 0 && node->n_input == inputs &&
        node->n_output == 1 && tenon__onnx_domain(node->domain)[0] == '\0') {
      return &rules[i];
    }
  }
  return NULL;
}

static void derive(derivation_t* d, const Onnx__NodeProto* node) {
  const rule_t* rule = find_rule(node);
  if (rule != NULL) {
    pass_on(d, node, rule);
  } else {
    tenon_make_fail(d->make, TENON_ERROR_UNSUPPORTED, "the derivative of %s is not known",
                    tenon__onnx_node_text(d->reader, node));
  }
}

static bool changes(const derivation_t* d, const Onnx__NodeProto* node) {
  for (size_t i = 0; i < node->n_input; ++i) {
    if (share_of(d, tenon__onnx_text(node->input[i])) != NULL) {
      return true;
    }
  }
  return false;
}

static void begin_shares(derivation_t* d, const Onnx__NodeProto* node) {
  for (size_t i = 0; i < node->n_output; ++i) {
    const char* name = tenon__onnx_text(node->output[i]);
    if (tenon_reader_names_find(&d->given, name) == NULL) {
      begin_share(d, name);
    }
  }
}

/* What changes with xs; returns how many nodes of the block's order come before this one. */
static size_t follow(derivation_t* d) {
  const tenon__onnx_block_t* block = d->scope->block;
  size_t count = 0;
  while (count < block->node_count && tenon_make_ok(d->make) &&
         block->nodes[block->order[count]] != d->make->source->node) {
    const Onnx__NodeProto* node = block->nodes[block->order[count++]];
    if (changes(d, node)) {
      begin_shares(d, node);
    }
  }
  return count;
}

/* Names in `attribute` are the node's inputs from `first` on: it is there that the derivative is
 * taken, and nowhere else. */
static uint32_t read_names(derivation_t* d, const char* attribute, uint32_t first) {
  const tenon_source_t* source = d->make->source;
  const Onnx__AttributeProto* names = tenon__onnx_source_attribute(source, attribute);
  const size_t count = names == NULL ? 0 : names->n_strings;
  for (size_t i = 0; i < count && tenon_make_ok(d->make); ++i) {
    const ProtobufCBinaryData* text = &names->strings[i];
    const char* name =
        tenon_reader_format(d->reader, "%.*s", (int)text->len, (const char*)text->data);
    const size_t input = first + i;
    if (name == NULL || input >= source->node->n_input ||
        strcmp(name, tenon__onnx_text(source->node->input[input])) != 0) {
      tenon_make_fail(d->make, TENON_ERROR_UNSUPPORTED,
                      "%s: entry %zu is not its input %zu: derivatives are taken where the graph "
                      "is, not elsewhere",
                      attribute, i, input);
    } else {
      d->make->status = tenon_reader_names_set(d->reader, &d->given, name, d);
    }
  }
  return (uint32_t)count;
}

void tenon__onnx_gradient(tenon_make_t* make) {
  derivation_t d = {.make = make,
                    .reader = make->source->program->reader,
                    .program = make->source->program,
                    .scope = make->source->scope};
  const char* y = tenon_make_get_string(make, "y", "");
  const uint32_t count = read_names(&d, "xs", 0);
  for (uint32_t i = 0; i < count && tenon_make_ok(make); ++i) {
    begin_share(&d, tenon__onnx_text(make->source->node->input[i]));
  }
  (void)read_names(&d, "zs", count);
  size_t last = follow(&d);
  tenon_value_t* seed = share_of(&d, y);
  if (seed != NULL) {
    *seed = filled_like(make, find_value(&d, y), 1);
  }
  while (last-- > 0 && tenon_make_ok(make)) {
    const Onnx__NodeProto* node = d.scope->block->nodes[d.scope->block->order[last]];
    for (size_t i = 0; i < node->n_output && tenon_make_ok(make); ++i) {
      const char* name = tenon__onnx_text(node->output[i]);
      const tenon_value_t* share = share_of(&d, name);
      if (share != NULL && tenon_make_present(*share) &&
          tenon_reader_names_find(&d.given, name) == NULL) {
        derive(&d, node);
      }
    }
  }
  for (uint32_t i = 0; i < count && tenon_make_ok(make); ++i) {
    const tenon_value_t* share = share_of(&d, tenon__onnx_text(make->source->node->input[i]));
    tenon_make_output(
        make, i,
        tenon_make_present(*share) ? *share : filled_like(make, tenon_make_input(make, i), 0));
  }
}
