/* Functions of one element: a program's instructions, each as a line. */
#include <string.h>

#include "generate.h"

#define ADD tenon__cuda_text_add

typedef struct writer_t {
  const tenon__cuda_analysis_t* analysis;
  tenon__cuda_text_t* text;
  bool in_row; /* what is written belongs to the row: its values stay */
  bool rounds; /* what comes out shows no more than 16 bits of it */
  bool needed[TENON_CUDA_INSTRUCTIONS];
} writer_t;

#define SPELLING(name, spelling, operands, meaning) spelling,
static const char* const spellings[] = {TENON_OPCODES(SPELLING)};
#undef SPELLING

const char* tenon__cuda_value_type(tenon_dtype_t dtype) {
  const bool wide = tenon__cuda_bytes(dtype) == 8;
  switch (tenon__cuda_class(dtype)) {
    case 'b':
      return "bool";
    case 'i':
      return wide ? "i64" : "int";
    case 'u':
      return wide ? "u64" : "unsigned";
    default:
      return wide ? "double" : "float";
  }
}

bool tenon__cuda_output_is_of_row(const tenon__cuda_analysis_t* analysis, uint32_t output) {
  return analysis->program->outputs[output].reduced_axes != 0;
}

/* Written anew wherever they are read, for they cost nothing. */
static bool is_free(const tenon_instruction_t* in) {
  return in->opcode == TENON_OPCODE_CONSTANT || in->opcode == TENON_OPCODE_SIZE ||
         in->opcode == TENON_OPCODE_EXTENT;
}

static uint32_t coordinate_count(const tenon_instruction_t* in) {
  return in->opcode == TENON_OPCODE_LOAD ? in->operands[1] : 0;
}

static bool is_of_row(const writer_t* writer, uint32_t k) {
  return writer->analysis->uniform[k] && !is_free(&writer->analysis->program->instructions[k]);
}

/* Returns whether an i64 value is declared as int. The values of a row keep their type. */
static bool is_short(const writer_t* writer, uint32_t k) {
  return writer->analysis->fits[k] && !is_of_row(writer, k);
}

/* Returns whether an instruction on i64 values computes with ints. */
static bool works_short(const writer_t* writer, uint32_t k) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_instruction_t* in = &analysis->program->instructions[k];
  bool works = in->dtype == TENON_DTYPE_INT64 &&
               (is_short(writer, k) || tenon__cuda_result_type(in) != TENON_DTYPE_INT64);
  for (uint32_t n = 0; n < tenon__cuda_operand_count(in->opcode); n++) {
    const uint32_t source = in->operands[n];
    const tenon_dtype_t dtype = tenon__cuda_result_type(&analysis->program->instructions[source]);
    works = works && (dtype != TENON_DTYPE_INT64 || analysis->fits[source]);
  }
  return works;
}

/* Returns the cast from operand `source` to the type with which instruction k computes. */
static const char* cast_of(const writer_t* writer, uint32_t k, uint32_t source) {
  const tenon_instruction_t* from = &writer->analysis->program->instructions[source];
  if (tenon__cuda_result_type(from) != TENON_DTYPE_INT64) {
    return "";
  }
  return works_short(writer, k) ? "(int)" : is_short(writer, source) ? "(i64)" : "";
}

static const char* prefix(const writer_t* writer, uint32_t k) {
  return is_of_row(writer, k) ? "row." : "";
}

/* ---- What is read ---- */

/* All that a value of a point is made of, but what the row has. */
static void mark(writer_t* writer, uint32_t k) {
  const tenon_program_t* program = writer->analysis->program;
  const tenon_instruction_t* in = &program->instructions[k];
  if (writer->needed[k] || is_of_row(writer, k)) {
    return;
  }
  writer->needed[k] = true;
  if (tenon__cuda_is_reduction(in->opcode)) {
    return;
  }
  for (uint32_t n = 0; n < tenon__cuda_operand_count(in->opcode); n++) {
    mark(writer, in->operands[n]);
  }
  const uint32_t count = coordinate_count(in);
  for (uint32_t n = 0; n < count; n++) {
    mark(writer, program->coordinates[in->operands[0] + n]);
  }
}

/* What costs nothing and a value of a row reads; the rest the row has. */
static void mark_sources(writer_t* writer, uint32_t k) {
  const tenon_program_t* program = writer->analysis->program;
  const tenon_instruction_t* in = &program->instructions[k];
  for (uint32_t n = 0; n < tenon__cuda_operand_count(in->opcode); n++) {
    if (is_free(&program->instructions[in->operands[n]])) {
      writer->needed[in->operands[n]] = true;
    }
  }
  const uint32_t count = coordinate_count(in);
  for (uint32_t n = 0; n < count; n++) {
    const uint32_t source = program->coordinates[in->operands[0] + n];
    if (is_free(&program->instructions[source])) {
      writer->needed[source] = true;
    }
  }
}

/* ---- Single instructions ---- */

static void write_constant(const writer_t* writer, const tenon_instruction_t* in) {
  union {
    float f;
    uint32_t u;
  } single = {.f = (float)in->immediate.f};
  union {
    double f;
    uint64_t u;
  } wide = {.f = in->immediate.f};
  if (tenon__cuda_class(in->dtype) != 'f') {
    ADD(writer->text, "(%s)%lluull", tenon__cuda_value_type(in->dtype),
        (unsigned long long)in->immediate.i);
  } else if (in->dtype == TENON_DTYPE_FLOAT64) {
    ADD(writer->text, "__longlong_as_double(0x%llxll)", (unsigned long long)wide.u);
  } else {
    ADD(writer->text, "__uint_as_float(0x%xu)", single.u);
  }
}

/* The poison of a value: a fault's word, or 0. */
static void write_poison_of(const writer_t* writer, uint32_t k) {
  if (writer->analysis->poisons[k]) {
    ADD(writer->text, "%sp%u", prefix(writer, k), k);
  } else {
    ADD(writer->text, "0ull");
  }
}

/* Of several faults one, whole. */
static void write_poison(const writer_t* writer, uint32_t k) {
  const tenon_instruction_t* in = &writer->analysis->program->instructions[k];
  const uint32_t count =
      in->opcode == TENON_OPCODE_SELECT ? 1 : tenon__cuda_operand_count(in->opcode);
  ADD(writer->text, "  %s%sp%u = ", writer->in_row ? "" : "const u64 ", prefix(writer, k), k);
  for (uint32_t n = 0; n < count; n++) {
    ADD(writer->text, "worse(");
    write_poison_of(writer, in->operands[n]);
    ADD(writer->text, ", ");
  }
  if (in->opcode == TENON_OPCODE_SELECT) {
    ADD(writer->text, "%sv%u ? ", prefix(writer, in->operands[0]), in->operands[0]);
    write_poison_of(writer, in->operands[1]);
    ADD(writer->text, " : ");
    write_poison_of(writer, in->operands[2]);
  } else {
    ADD(writer->text, "0ull");
  }
  for (uint32_t n = 0; n < count; n++) {
    ADD(writer->text, ")");
  }
  ADD(writer->text, ";\n");
}

/* Coordinates are cut to the operand before it is read; one of no elements is not read. */
static void write_load(const writer_t* writer, uint32_t k) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_program_t* program = analysis->program;
  const tenon_instruction_t* in = &program->instructions[k];
  const uint32_t number = analysis->indexed[in->immediate.i];
  const char* from = tenon__cuda_mnemonic(program->operands[in->immediate.i].dtype);
  ADD(writer->text, "  u64 q%u = 0;\n  i64 l%u = 0;\n  bool e%u = false;\n", k, k, k);
  for (uint32_t axis = 0; axis < in->operands[1]; axis++) {
    const uint32_t source = program->coordinates[in->operands[0] + axis];
    const char* type = analysis->fits[source] ? "int" : "i64";
    ADD(writer->text, "  {\n    const %s x = (%s)%sv%u, n = (%s)p.dims[%u][%u];\n", type, type,
        prefix(writer, source), source, type, number, axis);
    ADD(writer->text, "    q%u = q%u != 0 ? q%u : ", k, k, k);
    write_poison_of(writer, source);
    ADD(writer->text,
        ";\n    if (q%u == 0 && (x < 0 || x >= n)) q%u = fault_at(%u, x, n);\n"
        "    e%u = e%u || n == 0;\n"
        "    l%u += (x < 0 ? 0 : x >= n ? n - 1 : x) * p.strides[%u][%u];\n  }\n",
        k, k, axis, k, k, k, number, axis);
  }
  ADD(writer->text,
      "  %s%sv%u = to_%s(e%u ? value_%s((stored_%s)0) : value_%s(((const "
      "stored_%s*)p.indexed[%u])[l%u]));\n",
      writer->in_row ? "" : "const auto ", prefix(writer, k), k, tenon__cuda_mnemonic(in->dtype), k,
      from, from, from, from, number, k);
  ADD(writer->text, "  %s%sp%u = q%u;\n", writer->in_row ? "" : "const u64 ", prefix(writer, k), k,
      k);
}

/* An INPUT or a coordinate: from the element's operands, or the row's. */
static void write_leaf(const writer_t* writer, const tenon_instruction_t* in) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const char* place = writer->in_row ? "row" : "in";
  if (in->opcode == TENON_OPCODE_INDEX) {
    ADD(writer->text, "to_%s(%s.c%u)", tenon__cuda_mnemonic(in->dtype), place,
        analysis->axis_walks[in->immediate.i]);
    return;
  }
  const uint32_t operand = (uint32_t)in->immediate.i;
  ADD(writer->text, "to_%s(value_%s(%s.s%u))", tenon__cuda_mnemonic(in->dtype),
      tenon__cuda_mnemonic(analysis->program->operands[operand].dtype), place,
      analysis->operand_walks[operand]);
}

static void write_operation(const writer_t* writer, uint32_t k) {
  const tenon_instruction_t* in = &writer->analysis->program->instructions[k];
  const char* mnemonic = tenon__cuda_mnemonic(in->dtype);
  const int kind = tenon__cuda_class(in->dtype);
  const bool narrow = (kind == 'i' || kind == 'u') && tenon__cuda_bytes(in->dtype) < 4 &&
                      tenon__cuda_result_type(in) != TENON_DTYPE_BOOL &&
                      in->opcode != TENON_OPCODE_CAST;
  if (in->opcode == TENON_OPCODE_CAST) {
    ADD(writer->text, "to_%s(", mnemonic);
  } else if (writer->rounds && tenon__cuda_near_function(in) != NULL) {
    ADD(writer->text, "%s", tenon__cuda_near_function(in));
  } else if (in->opcode == TENON_OPCODE_RANDOM) {
    ADD(writer->text, in->dtype == TENON_DTYPE_FLOAT64 ? "random_f64(" : "random_f32(");
  } else {
    ADD(writer->text, "%s%s%sop_%s(", narrow ? "wrap_" : "", narrow ? mnemonic : "",
        narrow ? "(" : "", spellings[in->opcode]);
  }
  for (uint32_t n = 0; n < tenon__cuda_operand_count(in->opcode); n++) {
    ADD(writer->text, "%s%s%sv%u", n == 0 ? "" : ", ",
        in->opcode == TENON_OPCODE_RANDOM ? "(u64)" : cast_of(writer, k, in->operands[n]),
        prefix(writer, in->operands[n]), in->operands[n]);
  }
  if (in->opcode == TENON_OPCODE_SHL || in->opcode == TENON_OPCODE_SHR) {
    ADD(writer->text, ", %u", tenon__cuda_bits(in->dtype));
  }
  ADD(writer->text, narrow ? "))" : ")");
}

static void write_instruction(const writer_t* writer, uint32_t k) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_instruction_t* in = &analysis->program->instructions[k];
  if (in->opcode == TENON_OPCODE_NOP || tenon__cuda_is_reduction(in->opcode)) {
    return;
  }
  if (in->opcode == TENON_OPCODE_LOAD) {
    write_load(writer, k);
    return;
  }
  const char* type =
      is_short(writer, k) ? "int" : tenon__cuda_value_type(tenon__cuda_result_type(in));
  if (is_of_row(writer, k)) {
    ADD(writer->text, "  row.v%u = ", k);
  } else {
    ADD(writer->text, "  const %s v%u = %s", type, k, is_short(writer, k) ? "(int)" : "");
  }
  switch (in->opcode) {
    case TENON_OPCODE_CONSTANT:
      write_constant(writer, in);
      break;
    case TENON_OPCODE_SIZE:
      ADD(writer->text, "(%s)p.size[%d]", type, (int)in->immediate.i);
      break;
    case TENON_OPCODE_EXTENT:
      ADD(writer->text, "(%s)p.dims[%u][%u]", type, analysis->indexed[in->immediate.i],
          in->operands[0]);
      break;
    case TENON_OPCODE_INPUT:
    case TENON_OPCODE_INDEX:
      write_leaf(writer, in);
      break;
    default:
      write_operation(writer, k);
      break;
  }
  ADD(writer->text, ";\n");
  if (analysis->poisons[k]) {
    write_poison(writer, k);
  }
}

static void write_needed(const writer_t* writer) {
  for (uint32_t k = 0; k < writer->analysis->program->instruction_count; k++) {
    if (writer->needed[k]) {
      write_instruction(writer, k);
    }
  }
}

/* ---- Structures ---- */

static bool walk_is_uniform(const tenon__cuda_analysis_t* analysis, uint32_t axis) {
  return analysis->reduces && (analysis->reduced_axes >> axis & 1) == 0;
}

static void write_sources(const writer_t* writer, bool of_row) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_program_t* program = analysis->program;
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (analysis->operand_walks[k] != TENON_NONE &&
        tenon__cuda_operand_is_uniform(analysis, k) == of_row) {
      ADD(writer->text, "  stored_%s s%u;\n", tenon__cuda_mnemonic(program->operands[k].dtype),
          analysis->operand_walks[k]);
    }
  }
  for (uint32_t axis = 0; axis < program->rank; axis++) {
    if (analysis->axis_walks[axis] != TENON_NONE && walk_is_uniform(analysis, axis) == of_row) {
      ADD(writer->text, "  i64 c%u;\n", analysis->axis_walks[axis]);
    }
  }
}

static void write_structures(const writer_t* writer) {
  const tenon_program_t* program = writer->analysis->program;
  ADD(writer->text, "struct in_t {\n");
  write_sources(writer, false);
  ADD(writer->text, "};\nstruct row_t {\n");
  write_sources(writer, true);
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    const char* type = tenon__cuda_value_type(tenon__cuda_result_type(in));
    if (!is_of_row(writer, k)) {
      continue;
    }
    ADD(writer->text, "  %s v%u;\n", type, k);
    if (writer->analysis->poisons[k]) {
      ADD(writer->text, "  u64 p%u;\n", k);
    }
    if (tenon__cuda_is_reduction(in->opcode)) {
      ADD(writer->text, "  %s a%u;\n", type, k);
    }
  }
  ADD(writer->text, "  u64 fault;\n};\nstruct out_t {\n");
  for (uint32_t k = 0; k < program->output_count; k++) {
    ADD(writer->text, "  stored_%s r%u;\n", tenon__cuda_mnemonic(program->outputs[k].dtype), k);
  }
  ADD(writer->text, "  u64 fault;\n};\n\n");
}

/* ---- Functions ---- */

/* Of a row: everything of this level that is the same along it. */
static void write_row_values(writer_t* writer, uint32_t level) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  memset(writer->needed, 0, sizeof(writer->needed));
  writer->in_row = true;
  for (uint32_t k = 0; k < analysis->program->instruction_count; k++) {
    if (is_of_row(writer, k) && analysis->level[k] == level) {
      writer->needed[k] = true;
      mark_sources(writer, k);
    }
  }
  write_needed(writer);
  writer->in_row = false;
}

static const char* adding_function(uint16_t opcode) {
  switch (opcode) {
    case TENON_OPCODE_PROD:
      return "op_mul";
    case TENON_OPCODE_REDUCE_MIN:
      return "op_min";
    case TENON_OPCODE_REDUCE_MAX:
      return "op_max";
    default:
      return "op_add";
  }
}

static void write_pass(writer_t* writer, uint32_t level) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_program_t* program = analysis->program;
  memset(writer->needed, 0, sizeof(writer->needed));
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    if (tenon__cuda_is_reduction(program->instructions[k].opcode) && analysis->level[k] == level) {
      mark(writer, program->instructions[k].operands[0]);
    }
  }
  ADD(writer->text, "INLINE void pass%u(const parameters_t& p, const in_t& in, row_t& row) {\n",
      level);
  write_needed(writer);
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const tenon_instruction_t* in = &program->instructions[k];
    const uint32_t source = in->operands[0];
    if (!tenon__cuda_is_reduction(in->opcode) || analysis->level[k] != level) {
      continue;
    }
    ADD(writer->text, "  row.a%u = %s(row.a%u, %s%sv%u);\n", k, adding_function(in->opcode), k,
        is_short(writer, source) ? "(i64)" : "", prefix(writer, source), source);
    if (analysis->poisons[source]) {
      ADD(writer->text, "  row.fault = worse(row.fault, %sp%u);\n", prefix(writer, source), source);
    }
  }
  ADD(writer->text, "}\n");
}

/* The outputs at a point, or those of the row. */
static void write_outputs(writer_t* writer, bool of_row) {
  const tenon__cuda_analysis_t* analysis = writer->analysis;
  const tenon_program_t* program = analysis->program;
  memset(writer->needed, 0, sizeof(writer->needed));
  for (uint32_t k = 0; k < program->output_count; k++) {
    if (tenon__cuda_output_is_of_row(analysis, k) == of_row) {
      mark(writer, program->outputs[k].instruction);
    }
  }
  ADD(writer->text, of_row
                        ? "INLINE void result(const parameters_t& p, row_t& row, out_t& out) {\n"
                        : "INLINE void element(const parameters_t& p, const in_t& in, row_t& row,"
                          " out_t& out) {\n");
  ADD(writer->text, "  out.fault = 0;\n");
  write_needed(writer);
  for (uint32_t k = 0; k < program->output_count; k++) {
    const uint32_t source = program->outputs[k].instruction;
    if (tenon__cuda_output_is_of_row(analysis, k) != of_row) {
      continue;
    }
    ADD(writer->text, "  out.r%u = store_%s(%sv%u);\n", k,
        tenon__cuda_mnemonic(program->outputs[k].dtype), prefix(writer, source), source);
    if (analysis->poisons[source]) {
      ADD(writer->text, "  out.fault = worse(out.fault, %sp%u);\n", prefix(writer, source), source);
    }
  }
  ADD(writer->text, "}\n\n");
}

void tenon__cuda_generate_values(const tenon__cuda_analysis_t* analysis, tenon__cuda_text_t* text) {
  writer_t writer = {
      .analysis = analysis, .text = text, .rounds = tenon__cuda_rounds(analysis->program)};
  write_structures(&writer);
  if (analysis->reduces) {
    ADD(text, "INLINE void after0(const parameters_t& p, row_t& row) {\n");
    write_row_values(&writer, 0);
    ADD(text, "}\n");
  }
  for (uint32_t level = 1; level <= analysis->levels; level++) {
    write_pass(&writer, level);
    ADD(text, "INLINE void after%u(const parameters_t& p, row_t& row) {\n", level);
    write_row_values(&writer, level);
    ADD(text, "}\n");
  }
  write_outputs(&writer, false);
  if (analysis->reduces) {
    write_outputs(&writer, true);
  }
}
