/* What a program is, see analysis.h. */
#include "analysis.h"

#include <string.h>

#define OPERANDS(name, spelling, operands, meaning) operands,
static const uint8_t operand_counts[] = {TENON_OPCODES(OPERANDS)};
#undef OPERANDS
#define MNEMONIC(name, mnemonic, bits, kind) mnemonic,
static const char* const mnemonics[] = {TENON_DTYPES(MNEMONIC)};
#undef MNEMONIC
#define CLASS(name, mnemonic, bits, kind) kind,
static const uint8_t classes[] = {TENON_DTYPES(CLASS)};
#undef CLASS
#define BITS(name, mnemonic, bits, kind) bits,
static const uint8_t bits_of[] = {TENON_DTYPES(BITS)};
#undef BITS

uint32_t tenon__cuda_operand_count(uint16_t opcode) {
  return opcode < TENON_OPCODE_COUNT ? operand_counts[opcode] : 0;
}
const char* tenon__cuda_mnemonic(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? mnemonics[dtype] : "undefined";
}
int tenon__cuda_class(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? classes[dtype] : 'x';
}
uint32_t tenon__cuda_bits(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? bits_of[dtype] : 0;
}
uint32_t tenon__cuda_bytes(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? bits_of[dtype] / 8U : 0;
}

bool tenon__cuda_is_reduction(uint16_t opcode) {
  return opcode == TENON_OPCODE_SUM || opcode == TENON_OPCODE_PROD ||
         opcode == TENON_OPCODE_REDUCE_MIN || opcode == TENON_OPCODE_REDUCE_MAX ||
         opcode == TENON_OPCODE_MEAN;
}

tenon_dtype_t tenon__cuda_result_type(const tenon_instruction_t* instruction) {
  switch (instruction->opcode) {
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_NE:
    case TENON_OPCODE_LT:
    case TENON_OPCODE_LE:
    case TENON_OPCODE_GT:
    case TENON_OPCODE_GE:
    case TENON_OPCODE_IS_NAN:
    case TENON_OPCODE_IS_INF:
      return TENON_DTYPE_BOOL;
    default:
      return instruction->dtype;
  }
}

/* ---- What is taken ---- */

static bool has_type(tenon_dtype_t dtype) {
  const int kind = tenon__cuda_class(dtype);
  return kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f';
}

/* What integers have no meaning for: from SQRT to SOFTPLUS, but RECIP. */
static bool is_for_floats(uint16_t opcode) {
  return (opcode >= TENON_OPCODE_SQRT && opcode <= TENON_OPCODE_SOFTPLUS &&
          opcode != TENON_OPCODE_RECIP) ||
         opcode == TENON_OPCODE_ATAN2 || opcode == TENON_OPCODE_RANDOM;
}
static bool is_for_integers(uint16_t opcode) {
  return opcode >= TENON_OPCODE_AND && opcode <= TENON_OPCODE_SHR;
}

static const char* check_instruction(const tenon_instruction_t* in, uint32_t* out_reason) {
  const bool is_float = tenon__cuda_class((tenon_dtype_t)in->dtype) == 'f';
  if (in->opcode >= TENON_OPCODE_COUNT) {
    *out_reason = TENON_REFUSAL_OTHER;
    return "an opcode is newer than this kernel";
  }
  if (in->opcode == TENON_OPCODE_NOP) {
    return NULL;
  }
  *out_reason = TENON_REFUSAL_DTYPE;
  return !has_type(in->dtype) || (is_for_floats(in->opcode) && !is_float) ||
                 (is_for_integers(in->opcode) && is_float)
             ? "in the program's arithmetic"
             : NULL;
}

static const char* check(const tenon_program_t* program, uint32_t* out_reason) {
  *out_reason = TENON_REFUSAL_RANK;
  if (program->rank > TENON_CUDA_AXES) {
    return "more than eight axes";
  }
  *out_reason = TENON_REFUSAL_OTHER;
  if (program->instruction_count > TENON_CUDA_INSTRUCTIONS ||
      program->operand_count + program->output_count > TENON_CUDA_TENSORS) {
    return "the program is too long";
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (program->operands[k].kind != TENON_OPERAND_ARGUMENT) {
      return "an operand is no argument";
    }
    *out_reason = TENON_REFUSAL_DTYPE;
    if (!has_type(program->operands[k].dtype)) {
      return "of an operand";
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    if (!has_type(program->outputs[k].dtype)) {
      return "of an output";
    }
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const char* why = check_instruction(&program->instructions[k], out_reason);
    if (why != NULL) {
      return why;
    }
  }
  return NULL;
}

/* ---- What it is ---- */

static void number_walks(tenon__cuda_analysis_t* out) {
  const tenon_program_t* program = out->program;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    const bool is_indexed = program->operands[k].indexed != 0;
    out->operand_walks[k] = is_indexed ? TENON_NONE : out->walk_count++;
    out->indexed[k] = is_indexed ? out->indexed_count++ : TENON_NONE;
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    out->output_walks[k] = out->walk_count++;
  }
  memset(out->axis_walks, 0xFF, sizeof(out->axis_walks));
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    if (in->opcode == TENON_OPCODE_INDEX && out->axis_walks[in->immediate.i] == TENON_NONE) {
      out->axis_walks[in->immediate.i] = out->walk_count++;
    }
    out->loads = out->loads || in->opcode == TENON_OPCODE_LOAD;
  }
}

static bool find_rows(tenon__cuda_analysis_t* out) {
  const tenon_program_t* program = out->program;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    if (!tenon__cuda_is_reduction(in->opcode)) {
      continue;
    }
    if (out->reduces && out->reduced_axes != (uint64_t)in->immediate.i) {
      return false;
    }
    out->reduces = true;
    out->reduced_axes = (uint64_t)in->immediate.i;
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const uint64_t axes = program->outputs[k].reduced_axes;
    if (axes != 0 && (!out->reduces || axes != out->reduced_axes)) {
      return false;
    }
  }
  return true;
}

bool tenon__cuda_operand_is_uniform(const tenon__cuda_analysis_t* analysis, uint32_t operand) {
  return analysis->reduces &&
         (analysis->reduced_axes & ~analysis->program->operands[operand].broadcast_axes) == 0;
}

/* Of what the instruction reads, all together. */
typedef struct sources_t {
  uint8_t level;
  bool uniform;
  bool poisons;
} sources_t;

static void add_source(const tenon__cuda_analysis_t* analysis, uint32_t source,
                       sources_t* sources) {
  const uint8_t level = analysis->level[source];
  sources->level = level > sources->level ? level : sources->level;
  sources->uniform = sources->uniform && analysis->uniform[source];
  sources->poisons = sources->poisons || analysis->poisons[source];
}

static void describe(tenon__cuda_analysis_t* out, uint32_t k) {
  const tenon_program_t* program = out->program;
  const tenon_instruction_t* in = &program->instructions[k];
  sources_t sources = {0, out->reduces, false};
  for (uint32_t n = 0; n < tenon__cuda_operand_count(in->opcode); n++) {
    add_source(out, in->operands[n], &sources);
  }
  switch (in->opcode) {
    case TENON_OPCODE_LOAD:
      for (uint32_t n = 0; n < in->operands[1]; n++) {
        add_source(out, program->coordinates[in->operands[0] + n], &sources);
      }
      sources.poisons = true;
      break;
    case TENON_OPCODE_INPUT:
      sources.uniform = tenon__cuda_operand_is_uniform(out, (uint32_t)in->immediate.i);
      break;
    case TENON_OPCODE_INDEX:
      sources.uniform = out->reduces && (out->reduced_axes >> in->immediate.i & 1) == 0;
      break;
    default:
      break;
  }
  if (tenon__cuda_is_reduction(in->opcode)) {
    sources = (sources_t){(uint8_t)(sources.level + 1), true, false};
    out->levels = sources.level > out->levels ? sources.level : out->levels;
  }
  out->level[k] = sources.level;
  out->uniform[k] = sources.uniform;
  out->poisons[k] = sources.poisons;
}

bool tenon__cuda_is_narrow(const tenon_program_t* program) {
  bool is_narrow = false;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    is_narrow = is_narrow || tenon__cuda_bytes(program->operands[k].dtype) == 0;
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    is_narrow = is_narrow || tenon__cuda_bytes(program->outputs[k].dtype) == 0;
  }
  return is_narrow;
}

const char* tenon__cuda_analyse(const tenon_program_t* program, tenon__cuda_analysis_t* out,
                                uint32_t* out_reason) {
  const char* why = check(program, out_reason);
  if (why != NULL) {
    return why;
  }
  memset(out, 0, sizeof(*out));
  out->program = program;
  if (!find_rows(out)) {
    *out_reason = TENON_REFUSAL_OTHER;
    return "reductions over different axes";
  }
  number_walks(out);
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    describe(out, k);
  }
  return NULL;
}
