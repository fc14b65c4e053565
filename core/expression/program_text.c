/* Programs for people: text and a cost. */
#include <stdio.h>
#include <string.h>

#include "core/expression/program.h"
#include "core/expression/scalar.h"

enum { TEXT_CAPACITY = 1024 };

typedef struct text_t {
  const tenon_program_t* program;
  char buffer[TEXT_CAPACITY];
  size_t size;
} text_t;

static void put(text_t* t, const char* text) {
  const size_t length = strlen(text);
  const size_t room = TEXT_CAPACITY - 1 - t->size;
  const size_t taken = length < room ? length : room;
  memcpy(t->buffer + t->size, text, taken);
  t->size += taken;
  t->buffer[t->size] = 0;
}

static const char* infix_of(uint32_t opcode) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return " + ";
    case TENON_OPCODE_SUB:
      return " - ";
    case TENON_OPCODE_MUL:
      return " * ";
    case TENON_OPCODE_DIV:
      return " / ";
    case TENON_OPCODE_EQ:
      return " == ";
    case TENON_OPCODE_LT:
      return " < ";
    case TENON_OPCODE_LE:
      return " <= ";
    default:
      return NULL;
  }
}

static void put_constant(text_t* t, const tenon_instruction_t* i) {
  char number[40];
  if (tenon__dtype_class(i->dtype) == 'f') {
    (void)snprintf(number, sizeof number, "%g", i->immediate.f);
  } else {
    (void)snprintf(number, sizeof number, "%lld", (long long)i->immediate.i);
  }
  put(t, number);
}

static void put_operand(text_t* t, int64_t index) {
  const tenon_operand_t* operand = &t->program->operands[index];
  char name[32];
  if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
    (void)snprintf(name, sizeof name, "it");
  } else {
    (void)snprintf(name, sizeof name, "in%u", operand->index);
  }
  put(t, name);
}

static void put_instruction(text_t* t, uint32_t index);

static void put_list(text_t* t, const uint32_t* items, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    put(t, k == 0 ? "" : ", ");
    put_instruction(t, items[k]);
  }
}

/* Recursion ends early when the buffer is full: shared parts are written out each time. */
static void put_instruction(text_t* t, uint32_t index) {
  const tenon_instruction_t* i = &t->program->instructions[index];
  char suffix[48] = "";
  if (t->size >= TEXT_CAPACITY - 1) {
    return;
  }
  switch (i->opcode) {
    case TENON_OPCODE_INPUT:
      put_operand(t, i->immediate.i);
      return;
    case TENON_OPCODE_CONSTANT:
      put_constant(t, i);
      return;
    case TENON_OPCODE_LOAD:
      put_operand(t, i->immediate.i);
      put(t, "[");
      put_list(t, t->program->coordinates + i->operands[0], i->operands[1]);
      put(t, "]");
      return;
    case TENON_OPCODE_INDEX:
    case TENON_OPCODE_SIZE:
      (void)snprintf(suffix, sizeof suffix, "%s(%lld)", tenon__opcode_name(i->opcode),
                     (long long)i->immediate.i);
      put(t, suffix);
      return;
    default:
      break;
  }
  if (infix_of(i->opcode) != NULL) {
    put(t, "(");
    put_instruction(t, i->operands[0]);
    put(t, infix_of(i->opcode));
    put_instruction(t, i->operands[1]);
    put(t, ")");
    return;
  }
  put(t, i->opcode == TENON_OPCODE_CAST ? tenon__dtype_name(i->dtype)
                                        : tenon__opcode_name(i->opcode));
  put(t, "(");
  put_list(t, i->operands, tenon__opcode_operand_count(i->opcode));
  if (tenon__opcode_is_reduction(i->opcode)) {
    (void)snprintf(suffix, sizeof suffix, "; axes 0x%llx", (unsigned long long)i->immediate.i);
    put(t, suffix);
  }
  put(t, ")");
}

const char* tenon__program_text(const tenon_program_t* program, uint32_t output,
                                tenon__arena_t* arena) {
  text_t t = {.program = program};
  put_instruction(&t, program->outputs[output].instruction);
  if (t.size >= TEXT_CAPACITY - 1) {
    memcpy(t.buffer + TEXT_CAPACITY - 4, "...", 4);
  }
  const char* copy = tenon__arena_copy_string(arena, t.buffer);
  return copy == NULL ? "?" : copy;
}

uint32_t tenon__program_cost(const tenon_program_t* program) {
  uint32_t cost = 0;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const uint16_t opcode = program->instructions[k].opcode;
    if (opcode == TENON_OPCODE_INPUT || opcode == TENON_OPCODE_CONSTANT) {
      continue;
    }
    const bool slow = opcode == TENON_OPCODE_POW || opcode == TENON_OPCODE_LOAD ||
                      (opcode >= TENON_OPCODE_EXP && opcode <= TENON_OPCODE_SOFTPLUS) ||
                      opcode == TENON_OPCODE_RANDOM;
    const bool medium = opcode == TENON_OPCODE_DIV || opcode == TENON_OPCODE_SQRT ||
                        opcode == TENON_OPCODE_RSQRT || opcode == TENON_OPCODE_RECIP ||
                        opcode == TENON_OPCODE_MOD || opcode == TENON_OPCODE_FMOD;
    cost += slow ? 10 : medium ? 4 : 1;
  }
  return cost;
}
