/* The normal form: operands in an order of their own, every instruction emitted anew with
 * simplification, then what the outputs need gathered depth first. */
#include "core/program/normalise.h"

#include <string.h>

#include "core/base/status.h"
#include "core/program/simplify.h"

/* ---- Gathering ---- */

typedef struct gathering_t {
  const tenon__program_builder_t* from;
  tenon__program_builder_t to;
  uint32_t* placed;   /* instruction of `from` -> of `to`; TENON_NONE: not yet */
  uint32_t* operands; /* operand of `from` -> of `to` */
  uint32_t* stack;
} gathering_t;

static void place(gathering_t* g, uint32_t index) {
  uint32_t coordinates[TENON_RANK_LIMIT];
  const tenon_instruction_t own = tenon__instruction_renumber(
      g->from->coordinates, &g->from->instructions[index], g->placed, g->operands, coordinates);
  g->placed[index] = tenon__emit(&g->to, &own, coordinates);
}

/* Depth first without recursion: an instruction stays on the stack until all that it needs is
 * placed. */
static void place_tree(gathering_t* g, uint32_t root) {
  uint32_t depth = 0;
  g->stack[depth++] = root;
  while (depth > 0) {
    const uint32_t index = g->stack[depth - 1];
    uint32_t count = 0;
    const uint32_t* needs =
        tenon__instruction_needs(g->from->coordinates, &g->from->instructions[index], &count);
    uint32_t next = 0;
    while (next < count && g->placed[needs[next]] != TENON_NONE) {
      ++next;
    }
    if (next < count) {
      g->stack[depth++] = needs[next]; /* smaller than index: the stack never holds one twice */
      continue;
    }
    if (g->placed[index] == TENON_NONE) {
      place(g, index);
    }
    --depth;
  }
}

/* Marks what the outputs need and adds the operands among them, in their order. */
static void place_operands(gathering_t* g, const tenon_program_output_t* outputs,
                           uint32_t output_count, uint32_t* needed) {
  for (uint32_t k = 0; k < output_count; ++k) {
    needed[outputs[k].instruction] = 1;
  }
  tenon__count_needs(g->from->instructions, g->from->coordinates, g->from->instruction_count, true,
                     needed);
  uint32_t* used = g->stack; /* not in use yet */
  for (uint32_t i = 0; i < g->from->instruction_count; ++i) {
    const tenon_instruction_t* instruction = &g->from->instructions[i];
    if (needed[i] && tenon__opcode_reads_operand(instruction->opcode)) {
      used[instruction->immediate.i] = 1;
    }
  }
  for (uint32_t k = 0; k < g->from->operand_count; ++k) {
    if (used[k]) {
      g->operands[k] = tenon__emit_operand(&g->to, &g->from->operands[k], &g->from->accesses[k]);
    }
    used[k] = 0;
  }
}

tenon_status_t tenon__expression_gather(const tenon__program_builder_t* builder,
                                        const tenon__expression_t* like,
                                        const tenon_program_output_t* outputs,
                                        tenon__arena_t* arena,
                                        tenon__expression_t* out_expression) {
  const uint32_t count = builder->instruction_count + builder->operand_count + 1;
  const uint32_t output_count = like->program.output_count;
  gathering_t g = {.from = builder};
  tenon__program_builder_initialize(&g.to, arena);
  g.placed = tenon__arena_allocate(arena, count, sizeof(uint32_t));
  g.operands = tenon__arena_allocate(arena, count, sizeof(uint32_t));
  g.stack = tenon__arena_allocate(arena, count, sizeof(uint32_t));
  uint32_t* needed = tenon__arena_allocate(arena, count, sizeof(uint32_t));
  tenon_program_output_t* own = tenon__arena_allocate(arena, output_count + 1u, sizeof(*own));
  TENON_TRY_MEMORY(!builder->failed && g.placed != NULL && g.operands != NULL && g.stack != NULL &&
                   needed != NULL && own != NULL);
  memset(g.placed, 0xff, count * sizeof(*g.placed)); /* TENON_NONE */
  place_operands(&g, outputs, output_count, needed);
  for (uint32_t k = 0; k < output_count && !g.to.failed; ++k) {
    place_tree(&g, outputs[k].instruction);
    own[k] = outputs[k];
    own[k].instruction = g.placed[outputs[k].instruction];
  }
  TENON_TRY_MEMORY(!g.to.failed);
  *out_expression = *like;
  out_expression->accesses = g.to.accesses;
  out_expression->program = tenon__builder_program(&g.to, like->program.rank);
  out_expression->program.outputs = own;
  out_expression->program.output_count = output_count;
  return TENON_OK;
}

/* ---- The normal form ---- */

/* The slot's value first, then what is broadcast least; then by type, number and access. */
static int compare_operands(const tenon__expression_t* e, uint32_t a, uint32_t b) {
  const tenon_operand_t* x = &e->program.operands[a];
  const tenon_operand_t* y = &e->program.operands[b];
  const uint64_t left[] = {x->kind == TENON_OPERAND_SLOT_VALUE ? 0u : 1u, x->indexed,
                           x->broadcast_axes, x->dtype, x->index};
  const uint64_t right[] = {y->kind == TENON_OPERAND_SLOT_VALUE ? 0u : 1u, y->indexed,
                            y->broadcast_axes, y->dtype, y->index};
  for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); ++i) {
    if (left[i] != right[i]) {
      return left[i] < right[i] ? -1 : 1;
    }
  }
  const tenon__access_t* p = &e->accesses[a];
  const tenon__access_t* q = &e->accesses[b];
  const uint32_t common = p->rank < q->rank ? p->rank : q->rank;
  const uint32_t compared = x->indexed == 0 ? common : 0;
  for (uint32_t i = 0; i < compared; ++i) {
    if (p->coordinates[i].id != q->coordinates[i].id) {
      return p->coordinates[i].id < q->coordinates[i].id ? -1 : 1;
    }
  }
  return p->rank < q->rank ? -1 : p->rank > q->rank ? 1 : 0;
}

/* Emits all operands in their order; `out_operands`: old number -> new one. */
static void emit_operands(const tenon__expression_t* e, uint32_t* order, uint32_t* out_operands,
                          tenon__program_builder_t* builder) {
  const uint32_t count = e->program.operand_count;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = i;
    for (; at > 0 && compare_operands(e, i, order[at - 1]) < 0; --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
  for (uint32_t i = 0; i < count; ++i) {
    out_operands[order[i]] =
        tenon__emit_operand(builder, &e->program.operands[order[i]], &e->accesses[order[i]]);
  }
}

static void emit_instructions(const tenon__expression_t* e, const uint32_t* operands,
                              tenon__simplifier_t* simplifier, uint32_t* out_map) {
  const tenon_program_t* program = &e->program;
  for (uint32_t k = 0; k < program->instruction_count && !simplifier->builder.failed; ++k) {
    uint32_t coordinates[TENON_RANK_LIMIT];
    const tenon_instruction_t i = tenon__instruction_renumber(
        program->coordinates, &program->instructions[k], out_map, operands, coordinates);
    out_map[k] = tenon__simplify_emit(simplifier, &i, coordinates);
  }
}

tenon_status_t tenon__expression_normalise(const tenon__expression_t* expression,
                                           tenon__arena_t* arena,
                                           tenon__expression_t* out_expression) {
  const tenon_program_t* program = &expression->program;
  tenon__simplifier_t simplifier;
  tenon__simplifier_initialize(&simplifier, arena);
  uint32_t* operands =
      tenon__arena_allocate(arena, 2u * (size_t)program->operand_count + 1, sizeof(*operands));
  uint32_t* map = tenon__arena_allocate(arena, program->instruction_count + 1u, sizeof(*map));
  tenon_program_output_t* outputs =
      tenon__arena_allocate(arena, program->output_count + 1u, sizeof(*outputs));
  TENON_TRY_MEMORY(operands != NULL && map != NULL && outputs != NULL);
  emit_operands(expression, operands + program->operand_count, operands, &simplifier.builder);
  emit_instructions(expression, operands, &simplifier, map);
  for (uint32_t k = 0; k < program->output_count; ++k) {
    outputs[k] = program->outputs[k];
    outputs[k].instruction = map[outputs[k].instruction];
  }
  return tenon__expression_gather(&simplifier.builder, expression, outputs, arena, out_expression);
}
