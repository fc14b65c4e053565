/* Evaluates programs in doubles over the whole iteration space, for tests of the expression kernel. */
#ifndef TENON_CPU_EXPRESSION_ORACLE_H_
#define TENON_CPU_EXPRESSION_ORACLE_H_

#include "fake_program.h"
#include "fake_run.h"
#include "kernels.h"
#include "program.h"

static inline double apply(uint32_t opcode, double a, double b, double c) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return a + b;
    case TENON_OPCODE_SUB:
      return a - b;
    case TENON_OPCODE_MUL:
      return a * b;
    case TENON_OPCODE_DIV:
      return a / b;
    case TENON_OPCODE_MIN:
      return a < b ? a : b;
    case TENON_OPCODE_MAX:
      return a > b ? a : b;
    case TENON_OPCODE_NEG:
      return -a;
    case TENON_OPCODE_ABS:
      return fabs(a);
    case TENON_OPCODE_EXP:
      return exp(a);
    case TENON_OPCODE_TANH:
      return tanh(a);
    case TENON_OPCODE_SIGMOID:
      return 1 / (1 + exp(-a));
    case TENON_OPCODE_ERF:
      return erf(a);
    case TENON_OPCODE_SQRT:
      return sqrt(a);
    case TENON_OPCODE_RSQRT:
      return 1 / sqrt(a);
    case TENON_OPCODE_POW:
      return pow(a, b);
    case TENON_OPCODE_LT:
      return a < b;
    case TENON_OPCODE_GT:
      return a > b;
    case TENON_OPCODE_FLOOR_DIV:
      return floor(a / b);
    case TENON_OPCODE_MOD:
      return a - floor(a / b) * b;
    case TENON_OPCODE_NOT:
      return a == 0;
    case TENON_OPCODE_SELECT:
      return a != 0 ? b : c;
    default:
      return a; /* CAST */
  }
}

typedef struct oracle_t {
  const fake_t* fake;
  const tenon_program_t* program;
  int64_t points;
  double* values[MOST];
} oracle_t;

static inline void coordinates_of(const oracle_t* oracle, int64_t point, int64_t* out) {
  for (uint32_t k = oracle->program->rank; k-- > 0;) {
    /* No axis is empty. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    out[k] = point % oracle->fake->space[k];
    point /= oracle->fake->space[k];
  }
}

static inline double read_operand(const oracle_t* oracle, uint32_t operand, int64_t point) {
  const fake_value_t* value = &oracle->fake->values[oracle->program->operands[operand].index];
  int64_t at[FAKE_RANK];
  coordinates_of(oracle, point, at);
  int64_t index = 0;
  for (uint32_t k = 0; k < value->info.rank; k++) {
    const int64_t c = at[k + oracle->program->rank - value->info.rank];
    index = index * value->dims[k] + (value->dims[k] == 1 ? 0 : c);
  }
  return value->numbers[index];
}

static inline double load(const oracle_t* oracle, const tenon_instruction_t* in, int64_t point) {
  const fake_value_t* value =
      &oracle->fake->values[oracle->program->operands[in->immediate.i].index];
  int64_t index = 0;
  for (uint32_t k = 0; k < in->operands[1]; k++) {
    const uint32_t c = oracle->program->coordinates[in->operands[0] + k];
    double at = oracle->values[c][point];
    at = at < 0 ? 0 : at >= (double)value->dims[k] ? (double)(value->dims[k] - 1) : at;
    index = index * value->dims[k] + (int64_t)at;
  }
  return value->numbers[index];
}

/* Returns the first point of the group that is reduced to the same element. */
static inline int64_t reduced_point(const oracle_t* oracle, int64_t point, int64_t mask) {
  int64_t at[FAKE_RANK];
  int64_t index = 0;
  coordinates_of(oracle, point, at);
  for (uint32_t k = 0; k < oracle->program->rank; k++) {
    index = index * oracle->fake->space[k] + ((mask >> k & 1) != 0 ? 0 : at[k]);
  }
  return index;
}

static inline void reduce(oracle_t* oracle, uint32_t i, const tenon_instruction_t* in) {
  const double* a = oracle->values[in->operands[0]];
  double* y = oracle->values[i];
  int64_t count = 1;
  for (uint32_t k = 0; k < oracle->program->rank; k++) {
    count *= (in->immediate.i >> k & 1) != 0 ? oracle->fake->space[k] : 1;
  }
  for (int64_t p = 0; p < oracle->points; p++) {
    y[p] = in->opcode == TENON_OPCODE_REDUCE_MAX   ? -1e300
           : in->opcode == TENON_OPCODE_REDUCE_MIN ? 1e300
           : in->opcode == TENON_OPCODE_PROD       ? 1
                                                   : 0;
  }
  for (int64_t p = 0; p < oracle->points; p++) {
    double* sum = &y[reduced_point(oracle, p, in->immediate.i)];
    *sum = in->opcode == TENON_OPCODE_REDUCE_MAX   ? fmax(*sum, a[p])
           : in->opcode == TENON_OPCODE_REDUCE_MIN ? fmin(*sum, a[p])
           : in->opcode == TENON_OPCODE_PROD       ? *sum * a[p]
           : in->opcode == TENON_OPCODE_MEAN       ? *sum + a[p] / (double)count
                                                   : *sum + a[p];
  }
  for (int64_t p = oracle->points; p-- > 0;) {
    y[p] = y[reduced_point(oracle, p, in->immediate.i)];
  }
}

static inline void evaluate(oracle_t* oracle) {
  const tenon_program_t* program = oracle->program;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const tenon_instruction_t* in = &program->instructions[i];
    oracle->values[i] = calloc((size_t)oracle->points + 1, sizeof(double));
    if (tenon__cpu_opcode_reduces(in->opcode)) {
      reduce(oracle, i, in);
      continue;
    }
    for (int64_t p = 0; p < oracle->points; p++) {
      int64_t at[FAKE_RANK];
      double x[3] = {0};
      for (uint32_t k = 0; k < tenon__cpu_opcode_operands(in->opcode); k++) {
        x[k] = oracle->values[in->operands[k]][p];
      }
      coordinates_of(oracle, p, at);
      oracle->values[i][p] =
          in->opcode == TENON_OPCODE_INPUT ? read_operand(oracle, (uint32_t)in->immediate.i, p)
          : in->opcode == TENON_OPCODE_CONSTANT
              ? (in->dtype == TENON_DTYPE_FLOAT32 ? in->immediate.f : (double)in->immediate.i)
          : in->opcode == TENON_OPCODE_INDEX ? (double)at[in->immediate.i]
          : in->opcode == TENON_OPCODE_SIZE  ? (double)oracle->fake->space[in->immediate.i]
          : in->opcode == TENON_OPCODE_EXTENT
              ? (double)oracle->fake->values[in->immediate.i].dims[in->operands[0]]
          : in->opcode == TENON_OPCODE_LOAD ? load(oracle, in, p)
                                            : apply(in->opcode, x[0], x[1], x[2]);
    }
  }
}

static inline void check_output(const oracle_t* oracle, uint32_t o,
                                const tenon_program_output_t* output, double tolerance,
                                const char* isa) {
  const fake_value_t* value = &oracle->fake->values[oracle->fake->input_count + o];
  const double* expected = oracle->values[output->instruction];
  int64_t k = 0;
  for (int64_t p = 0; p < oracle->points; p++) {
    if (reduced_point(oracle, p, (int64_t)output->reduced_axes) != p) {
      continue;
    }
    if (!(fabs(value->numbers[k] - expected[p]) <= tolerance * (1 + fabs(expected[p])))) {
      EXPECT_NEAR(value->numbers[k], expected[p], tolerance);
      (void)fprintf(stderr, "  isa %s, output %u, element %lld\n", isa, o, (long long)k);
      break;
    }
    k++;
  }
}

/* Checks every element of every output for each instruction set, with the tactic of the kernel and
 * random layouts. */
static inline void check(fake_t* fake, draft_t* draft, double tolerance) {
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  fake->kind = TENON_REGION_EXPRESSION;
  fake->program = &draft->program;
  fake->space_rank = draft->program.rank;
  oracle_t oracle = {fake, &draft->program, fake_count(fake->space_rank, fake->space), {0}};
  evaluate(&oracle);
  for (uint32_t s = 0; s < count * 2; s++) {
    tenon_refusal_t refusal;
    fake->threads = 1 + s % 2;
    /* A failed test may leak. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    REQUIRE(fake_tactic(fake, &tenon__cpu_expression_kernel, &states[s / 2], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(fake, &tenon__cpu_expression_kernel, &states[s / 2]), TENON_OK);
    for (uint32_t o = 0; o < fake->output_count; o++) {
      check_output(&oracle, o, &draft->outputs[o], tolerance, states[s / 2].isa->name);
    }
  }
  for (uint32_t i = 0; i < draft->program.instruction_count; i++) {
    free(oracle.values[i]);
  }
  fake_free(fake);
}

/* Makes a space of random extents with at most `most` elements. */
static inline void random_space(fake_t* fake, uint32_t rank, int64_t most) {
  int64_t left = most;
  for (uint32_t k = 0; k < rank; k++) {
    const int64_t wide = fake_choice(&fake->seed, 0, 3) == 0 ? 200 : 9;
    const int64_t limit = left < wide ? left : wide;
    fake->space[k] = fake_choice(&fake->seed, 1, limit < 1 ? 1 : limit);
    left /= fake->space[k];
  }
}

/* Adds an input with the extents of the space. Some random extents become 1. */
static inline void random_input(fake_t* fake, uint32_t rank, tenon_dtype_t dtype) {
  int64_t dims[FAKE_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    dims[k] = fake_choice(&fake->seed, 0, 3) == 0 ? 1 : fake->space[k];
  }
  (void)fake_input(fake, dtype, rank, dims, false, false);
}

/* Adds an output in which every axis of the mask has extent 1. */
static inline void reduced_output(fake_t* fake, uint32_t rank, tenon_dtype_t dtype,
                                  uint64_t reduced) {
  int64_t dims[FAKE_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    dims[k] = (reduced >> k & 1) != 0 ? 1 : fake->space[k];
  }
  (void)fake_output(fake, dtype, rank, dims);
}

#endif
