/* Equality and hashes of nodes and constants. */
#include "core/optimizer/node_equal.h"

#include <string.h>

#include "core/base/string_map.h"
#include "core/operator/attribute.h"

/* Constants beyond this size are not compared byte by byte. */
enum { COMPARED_BYTES = 4096 };

static bool bytes_equal(const void* a, const void* b, size_t count, size_t size) {
  return count == 0 || memcmp(a, b, count * size) == 0;
}

static bool accesses_equal(const tenon__access_t* a, const tenon__access_t* b) {
  return a->rank == b->rank &&
         (a->rank == TENON_NONE || tenon__dims_equal(a->coordinates, b->coordinates, a->rank));
}

static bool expressions_equal(const tenon__expression_t* a, const tenon__expression_t* b) {
  const tenon_program_t* p = &a->program;
  const tenon_program_t* q = &b->program;
  if (p->instruction_count != q->instruction_count || p->operand_count != q->operand_count ||
      p->output_count != q->output_count || p->coordinate_count != q->coordinate_count ||
      p->rank != q->rank || !tenon__dims_equal(a->space, b->space, p->rank) ||
      !bytes_equal(p->instructions, q->instructions, p->instruction_count,
                   sizeof(*p->instructions)) ||
      !bytes_equal(p->operands, q->operands, p->operand_count, sizeof(*p->operands)) ||
      !bytes_equal(p->outputs, q->outputs, p->output_count, sizeof(*p->outputs)) ||
      !bytes_equal(p->coordinates, q->coordinates, p->coordinate_count, sizeof(*p->coordinates))) {
    return false;
  }
  for (uint32_t k = 0; k < p->operand_count; ++k) {
    if (!accesses_equal(&a->accesses[k], &b->accesses[k])) {
      return false;
    }
  }
  for (uint32_t o = 0; o < p->output_count; ++o) {
    if (a->output_ranks[o] != b->output_ranks[o] ||
        !bytes_equal(a->output_axes[o], b->output_axes[o], a->output_ranks[o], sizeof(uint32_t))) {
      return false;
    }
  }
  return true;
}

static bool maps_equal(const tenon__index_map_t* a, const tenon__index_map_t* b) {
  if (a->kind != b->kind || a->rank != b->rank || !tenon__dims_equal(a->dims, b->dims, a->rank) ||
      a->source_count != b->source_count || a->fill != b->fill ||
      (a->fill == TENON_FILL_INPUT && a->fill_input != b->fill_input) ||
      (a->fill == TENON_FILL_VALUE &&
       (a->fill_dtype != b->fill_dtype || a->fill_value.i != b->fill_value.i))) {
    return false;
  }
  for (uint32_t i = 0; i < a->source_count; ++i) {
    const tenon__map_source_t* p = &a->sources[i];
    const tenon__map_source_t* q = &b->sources[i];
    const bool both = (p->coordinates == NULL) == (q->coordinates == NULL);
    if (p->input != q->input || p->rank != q->rank ||
        !tenon__dims_equal(p->dims, q->dims, p->rank) || !both ||
        (p->coordinates != NULL && !tenon__dims_equal(p->coordinates, q->coordinates, p->rank))) {
      return false;
    }
  }
  return true;
}

/* y = a op b, where the order of a and b does not matter, if they are read alike. */
static bool is_commutative(const tenon__node_t* node) {
  if (node->form != TENON_NODE_OPERATOR || node->input_count != 2 || node->expression == NULL) {
    return false;
  }
  const tenon_program_t* program = &node->expression->program;
  if (program->instruction_count != 3 || program->operand_count != 2 ||
      program->instructions[0].opcode != TENON_OPCODE_INPUT ||
      program->instructions[1].opcode != TENON_OPCODE_INPUT ||
      program->operands[0].index == program->operands[1].index) {
    return false;
  }
  switch (program->instructions[2].opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_NE:
    case TENON_OPCODE_AND:
    case TENON_OPCODE_OR:
    case TENON_OPCODE_XOR:
      return program->instructions[2].operands[0] != program->instructions[2].operands[1];
    default:
      return false;
  }
}

/* Where a commutative node reads an input. */
static const tenon__access_t* access_of(const tenon__expression_t* expression, uint32_t input) {
  return &expression->accesses[expression->program.operands[0].index == input ? 0 : 1];
}

/* The same operation, which reads `a`'s first input where `b`'s reads its second, and the other way
 * round? */
static bool is_swapped(const tenon__node_t* a, const tenon__node_t* b) {
  if (!is_commutative(a) || !is_commutative(b) || a->inputs[0] != b->inputs[1] ||
      a->inputs[1] != b->inputs[0]) {
    return false;
  }
  const tenon__expression_t* p = a->expression;
  const tenon__expression_t* q = b->expression;
  return p->program.instructions[2].opcode == q->program.instructions[2].opcode &&
         p->program.rank == q->program.rank &&
         tenon__dims_equal(p->space, q->space, p->program.rank) &&
         accesses_equal(access_of(p, 0), access_of(q, 1)) &&
         accesses_equal(access_of(p, 1), access_of(q, 0));
}

static bool inputs_equal(const tenon__node_t* a, const tenon__node_t* b) {
  if (a->input_count != b->input_count) {
    return false;
  }
  return bytes_equal(a->inputs, b->inputs, a->input_count, sizeof(*a->inputs)) || is_swapped(a, b);
}

bool tenon__node_same_attributes(const tenon__node_t* a, const tenon__node_t* b) {
  if (a->attribute_count != b->attribute_count) {
    return false;
  }
  for (uint32_t i = 0; i < a->attribute_count; ++i) {
    /* A text may ask whether an attribute was set. */
    if (a->attributes[i].defined != b->attributes[i].defined ||
        !tenon__attribute_equal(&a->attributes[i], &b->attributes[i])) {
      return false;
    }
  }
  return true;
}

bool tenon__node_equal(const tenon__node_t* a, const tenon__node_t* b) {
  if (a->form != b->form || a->op != b->op || a->output_count != b->output_count ||
      a->body_count != 0 || b->body_count != 0 || !inputs_equal(a, b) ||
      !tenon__node_same_attributes(a, b)) {
    return false;
  }
  switch (a->form) {
    case TENON_NODE_EXPRESSION:
      return expressions_equal(a->expression, b->expression);
    case TENON_NODE_MOVE:
      return maps_equal(&a->maps[0], &b->maps[0]);
    default:
      return true;
  }
}

static uint64_t mix(uint64_t hash, const void* data, size_t size) {
  return tenon__hash_bytes(data, size, hash);
}

static uint64_t attribute_hash(uint64_t hash, const tenon__scope_attribute_t* attribute) {
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_FLOAT:
      return mix(hash, &attribute->number, sizeof(attribute->number));
    case TENON_ATTRIBUTE_STRING:
      return mix(hash, attribute->string, strlen(attribute->string));
    case TENON_ATTRIBUTE_INTS:
      return mix(hash, attribute->integers, attribute->count * sizeof(*attribute->integers));
    case TENON_ATTRIBUTE_FLOATS:
      return mix(hash, attribute->numbers, attribute->count * sizeof(*attribute->numbers));
    default:
      return mix(hash, &attribute->integer, sizeof(attribute->integer));
  }
}

uint64_t tenon__node_hash(const tenon__node_t* node) {
  uint64_t hash = mix((uint64_t)node->form, &node->op, sizeof(void*));
  if (is_commutative(node)) {
    const uint32_t low = node->inputs[0] < node->inputs[1] ? 0 : 1;
    hash = mix(hash, &node->inputs[low], sizeof(uint32_t));
    hash = mix(hash, &node->inputs[1 - low], sizeof(uint32_t));
  } else {
    for (uint32_t i = 0; i < node->input_count; ++i) {
      hash = mix(hash, &node->inputs[i], sizeof(uint32_t));
    }
  }
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    hash = attribute_hash(hash, &node->attributes[i]);
  }
  if (node->form == TENON_NODE_EXPRESSION) {
    const tenon_program_t* program = &node->expression->program;
    hash = mix(hash, program->instructions,
               program->instruction_count * sizeof(*program->instructions));
  } else if (node->form == TENON_NODE_MOVE) {
    hash = mix(hash, node->maps[0].dims, node->maps[0].rank * sizeof(*node->maps[0].dims));
  }
  return hash;
}

bool tenon__weights_equal(const tenon__weights_t* a, const tenon__weights_t* b) {
  if (a->dtype != b->dtype || a->rank != b->rank || a->size_bytes != b->size_bytes ||
      !bytes_equal(a->dims, b->dims, a->rank, sizeof(*a->dims))) {
    return false;
  }
  if (a->data == b->data) {
    return true;
  }
  return a->size_bytes <= COMPARED_BYTES && a->dtype != TENON_DTYPE_STRING &&
         bytes_equal(a->data, b->data, a->size_bytes, 1);
}

uint64_t tenon__weights_hash(const tenon__weights_t* weights) {
  uint64_t hash = mix(weights->dtype, weights->dims, weights->rank * sizeof(*weights->dims));
  if (weights->size_bytes <= COMPARED_BYTES && weights->dtype != TENON_DTYPE_STRING) {
    return mix(hash, weights->data, weights->size_bytes);
  }
  return mix(hash, &weights->data, sizeof(weights->data));
}
