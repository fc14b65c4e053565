/* Programs as a person reads them: "max(in0 + in1, 0)". What is used more than once is named first.
 */
#include "core/program/program_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/program/scalar.h"

enum { TEXT_SIZE = 8192, TEXT_DEPTH = 100 };

typedef struct text_t {
  const tenon_program_t* program;
  uint32_t* uses;
  uint32_t* names; /* number of the let + 1 */
  size_t used;
  bool full;
  char data[TEXT_SIZE];
} text_t;

__attribute__((format(printf, 2, 3))) static void put(text_t* text, const char* format, ...) {
  if (text->full) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(text->data + text->used, TEXT_SIZE - text->used, format, arguments);
  va_end(arguments);
  if (written < 0 || (size_t)written >= TEXT_SIZE - text->used - 4) {
    text->full = true;
    (void)snprintf(text->data + text->used, 4, "...");
    return;
  }
  text->used += (size_t)written;
}

/* The shortest number that reads back as the same value. */
static void put_float(text_t* text, tenon_dtype_t dtype, double value) {
  char digits[40];
  for (int precision = 1; precision <= 17; ++precision) {
    (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
    const tenon__scalar_t back = {.f = strtod(digits, NULL)};
    if (tenon__scalar_fit(dtype, back).f == value || isnan(value)) {
      break;
    }
  }
  put(text, "%s", digits);
}

static const struct {
  const char* text;
  uint32_t opcode;
  int bind; /* how tightly it binds */
} signs[] = {
    {" | ", TENON_OPCODE_OR, 2},  {" ^ ", TENON_OPCODE_XOR, 2}, {" & ", TENON_OPCODE_AND, 2},
    {" == ", TENON_OPCODE_EQ, 3}, {" != ", TENON_OPCODE_NE, 3}, {" < ", TENON_OPCODE_LT, 4},
    {" <= ", TENON_OPCODE_LE, 4}, {" > ", TENON_OPCODE_GT, 4},  {" >= ", TENON_OPCODE_GE, 4},
    {" + ", TENON_OPCODE_ADD, 5}, {" - ", TENON_OPCODE_SUB, 5}, {" * ", TENON_OPCODE_MUL, 6},
    {" / ", TENON_OPCODE_DIV, 6}, {" % ", TENON_OPCODE_MOD, 6},
};

static void put_value(text_t* text, uint32_t index, int bind, uint32_t depth);

/* All that an instruction needs, with commas. */
static void put_values(text_t* text, const char* open, const tenon_instruction_t* instruction,
                       uint32_t depth) {
  uint32_t count = 0;
  const uint32_t* needs = tenon__instruction_needs(text->program->coordinates, instruction, &count);
  put(text, "%s", open);
  for (uint32_t i = 0; i < count; ++i) {
    put(text, "%s", i > 0 ? ", " : "");
    put_value(text, needs[i], 0, depth + 1);
  }
}

/* The input's number, with a stroke for each operand before it that reads the same input. */
static void put_operand(text_t* text, uint32_t operand) {
  const tenon_operand_t* operands = text->program->operands;
  if (operands[operand].kind == TENON_OPERAND_SLOT_VALUE) {
    put(text, "value");
    return;
  }
  put(text, "in%u", operands[operand].index);
  for (uint32_t i = 0; i < operand; ++i) {
    if (operands[i].kind == operands[operand].kind &&
        operands[i].index == operands[operand].index) {
      put(text, "'");
    }
  }
}

static void put_reduction(text_t* text, const tenon_instruction_t* instruction, uint32_t depth) {
  static const char* const names[] = {"sum", "prod", "min", "max", "mean"};
  put(text, "%s(", names[instruction->opcode - TENON_OPCODE_SUM]);
  put_value(text, instruction->operands[0], 0, depth + 1);
  put(text, ", [");
  const char* comma = "";
  for (uint32_t k = 0; k < 64; ++k) {
    if ((((uint64_t)instruction->immediate.i >> k) & 1u) != 0) {
      put(text, "%s%u", comma, k);
      comma = ", ";
    }
  }
  put(text, "])");
}

static bool put_leaf(text_t* text, const tenon_instruction_t* instruction, uint32_t depth) {
  switch (instruction->opcode) {
    case TENON_OPCODE_INPUT:
      put_operand(text, (uint32_t)instruction->immediate.i);
      return true;
    case TENON_OPCODE_CONSTANT:
      if (tenon__dtype_class(instruction->dtype) == 'f') {
        put_float(text, instruction->dtype, instruction->immediate.f);
      } else {
        put(text, "%lld", (long long)instruction->immediate.i);
      }
      return true;
    case TENON_OPCODE_INDEX:
    case TENON_OPCODE_SIZE:
      put(text, "%s(%lld)", tenon__opcode_name(instruction->opcode),
          (long long)instruction->immediate.i);
      return true;
    case TENON_OPCODE_EXTENT:
      put(text, "extent(");
      put_operand(text, (uint32_t)instruction->immediate.i);
      put(text, ", %u)", instruction->operands[0]);
      return true;
    case TENON_OPCODE_LOAD:
      put_operand(text, (uint32_t)instruction->immediate.i);
      put_values(text, "[", instruction, depth);
      put(text, "]");
      return true;
    default:
      return false;
  }
}

/* `/` divides floats, and floors integers; the other two divisions are functions. */
static uint32_t sign_opcode(const tenon_instruction_t* instruction) {
  const bool is_float = tenon__dtype_class(instruction->dtype) == 'f';
  const uint32_t opcode = instruction->opcode;
  if (opcode != TENON_OPCODE_DIV && opcode != TENON_OPCODE_FLOOR_DIV) {
    return opcode;
  }
  return is_float == (opcode == TENON_OPCODE_DIV) ? TENON_OPCODE_DIV : TENON_OPCODE_NOP;
}

static void put_operation(text_t* text, const tenon_instruction_t* instruction, int bind,
                          uint32_t depth) {
  const uint32_t opcode = sign_opcode(instruction);
  for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); ++i) {
    if (signs[i].opcode == opcode) {
      put(text, "%s", signs[i].bind < bind ? "(" : "");
      put_value(text, instruction->operands[0], signs[i].bind, depth + 1);
      put(text, "%s", signs[i].text);
      put_value(text, instruction->operands[1], signs[i].bind + 1, depth + 1);
      put(text, "%s", signs[i].bind < bind ? ")" : "");
      return;
    }
  }
  if (instruction->opcode == TENON_OPCODE_SELECT) {
    put(text, "%s", bind > 0 ? "(" : "");
    put_value(text, instruction->operands[0], 1, depth + 1);
    put(text, " ? ");
    put_value(text, instruction->operands[1], 1, depth + 1);
    put(text, " : ");
    put_value(text, instruction->operands[2], 0, depth + 1);
    put(text, "%s", bind > 0 ? ")" : "");
    return;
  }
  if (instruction->opcode == TENON_OPCODE_NEG) {
    put(text, "-");
    put_value(text, instruction->operands[0], 7, depth + 1);
    return;
  }
  put(text, "%s",
      instruction->opcode == TENON_OPCODE_CAST ? tenon__dtype_name(instruction->dtype)
                                               : tenon__opcode_name(instruction->opcode));
  put_values(text, "(", instruction, depth);
  put(text, ")");
}

static void put_instruction(text_t* text, uint32_t index, int bind, uint32_t depth) {
  const tenon_instruction_t* instruction = &text->program->instructions[index];
  if (depth > TEXT_DEPTH) {
    put(text, "...");
  } else if (put_leaf(text, instruction, depth)) {
    return;
  } else if (tenon__opcode_is_reduction(instruction->opcode)) {
    put_reduction(text, instruction, depth);
  } else {
    put_operation(text, instruction, bind, depth);
  }
}

static void put_value(text_t* text, uint32_t index, int bind, uint32_t depth) {
  if (text->names[index] != 0) {
    put(text, "t%u", text->names[index] - 1);
  } else {
    put_instruction(text, index, bind, depth);
  }
}

const char* tenon__program_text(const tenon_program_t* program, uint32_t output,
                                tenon__arena_t* arena) {
  text_t* text = tenon__arena_allocate(arena, 1, sizeof(*text));
  uint32_t* arrays =
      tenon__arena_allocate(arena, program->instruction_count + 1u, 2 * sizeof(*arrays));
  if (text == NULL || arrays == NULL) {
    return "?";
  }
  const uint32_t root = program->outputs[output].instruction;
  text->program = program;
  text->uses = arrays;
  text->names = arrays + program->instruction_count + 1;
  text->uses[root] = 1;
  tenon__count_needs(program->instructions, program->coordinates, root + 1, true, text->uses);
  uint32_t lets = 0;
  for (uint32_t i = 0; i < root; ++i) {
    const uint32_t opcode = program->instructions[i].opcode;
    const bool is_leaf = opcode != TENON_OPCODE_LOAD && tenon__opcode_operand_count(opcode) == 0;
    if (text->uses[i] > 1 && !is_leaf) {
      put(text, "let t%u = ", lets);
      put_instruction(text, i, 0, 0);
      put(text, "; ");
      text->names[i] = ++lets;
    }
  }
  put_instruction(text, root, 0, 0);
  const char* copy = tenon__arena_copy_string(arena, text->data);
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
