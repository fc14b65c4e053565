/*
 * Programs that nobody wrote: instructions that are exact in every type (no functions of accuracy,
 * no sums of fractions), so that the device must give the reference's very values. And what stays
 * right when it is recorded, and when a module comes from a blob.
 */
#include "kernel_case.h"
#include "kernel_tables.h"
#include "kernels.h"

enum { F32 = TENON_DTYPE_FLOAT32, VALUES = 40 };

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static const uint16_t both[] = {TENON_OPCODE_ADD, TENON_OPCODE_SUB, TENON_OPCODE_MUL,
                                TENON_OPCODE_MIN, TENON_OPCODE_MAX, TENON_OPCODE_DIV,
                                TENON_OPCODE_FMOD};
static const uint16_t single[] = {TENON_OPCODE_NEG, TENON_OPCODE_ABS, TENON_OPCODE_SIGN,
                                  TENON_OPCODE_FLOOR, TENON_OPCODE_TRUNC};
static const uint16_t tests[] = {TENON_OPCODE_EQ, TENON_OPCODE_NE, TENON_OPCODE_LT,
                                 TENON_OPCODE_LE, TENON_OPCODE_GT, TENON_OPCODE_GE};
static const tenon_dtype_t types[] = {F32,
                                      TENON_DTYPE_FLOAT16,
                                      TENON_DTYPE_INT32,
                                      TENON_DTYPE_INT64,
                                      TENON_DTYPE_UINT8,
                                      TENON_DTYPE_INT8,
                                      TENON_DTYPE_FLOAT64,
                                      TENON_DTYPE_BFLOAT16};

typedef struct made_t {
  kernel_case_t* c;
  uint32_t values[VALUES];
  uint32_t count;
  uint64_t axes; /* of the reductions */
} made_t;

static tenon_dtype_t type_of(const made_t* made, uint32_t value) {
  return tenon__opcode_result(&made->c->instructions[value]);
}

/* A value of this type, converted if need be. */
static uint32_t pick(made_t* made, tenon_dtype_t dtype) {
  const uint32_t value = made->values[draw(made->count)];
  return type_of(made, value) == dtype ? value
                                       : kernel_add(made->c, TENON_OPCODE_CAST, dtype, value, 0, 0);
}

static void add_value(made_t* made) {
  const tenon_dtype_t dtype = types[draw(sizeof(types) / sizeof(*types))];
  const uint32_t a = pick(made, dtype);
  const uint32_t b = pick(made, dtype);
  kernel_case_t* c = made->c;
  uint32_t value = 0;
  switch (draw(made->axes == 0 ? 4 : 6)) {
    case 0:
      value = kernel_add(c, single[draw(5)], dtype, a, 0, 0);
      break;
    case 1: {
      const uint32_t test = kernel_add(c, tests[draw(6)], dtype, a, b, 0);
      value = kernel_add(c, TENON_OPCODE_SELECT, dtype, test, b, a);
      break;
    }
    case 4:
      value = kernel_reduce(c, draw(2) == 0 ? TENON_OPCODE_REDUCE_MIN : TENON_OPCODE_REDUCE_MAX,
                            dtype, a, made->axes);
      break;
    case 5: {
      const uint32_t whole = pick(made, TENON_DTYPE_INT32);
      value = kernel_reduce(c, TENON_OPCODE_SUM, TENON_DTYPE_INT32, whole, made->axes);
      break;
    }
    default:
      value = kernel_add(c, both[draw(7)], dtype, a, b, 0);
      break;
  }
  made->values[made->count++] = value;
}

static void make_lie(kernel_case_t* c, uint32_t order[FAKE_RANK], kernel_lie_t* out) {
  for (uint32_t axis = 0; axis < c->rank; axis++) {
    order[axis] = axis;
  }
  for (uint32_t axis = c->rank; draw(3) == 0 && axis-- > 1;) {
    const uint32_t other = draw(axis + 1);
    const uint32_t kept = order[axis];
    order[axis] = order[other];
    order[other] = kept;
  }
  *out = (kernel_lie_t){.order = order,
                        .pitch = draw(4) == 0 ? draw(9) : 0,
                        .step = draw(6) == 0 ? 2 : 1,
                        .reversed = draw(5) == 0 ? draw(1u << c->rank) : 0};
}

static void check_one(unsigned number) {
  kernel_case_t c;
  made_t made = {.c = &c};
  int64_t space[4];
  char name[64];
  state = number * 7919u + 17u;
  const uint32_t rank = 1 + draw(4);
  for (uint32_t axis = 0; axis < rank; axis++) {
    space[axis] = draw(6) == 0 ? 1 : draw(3) == 0 ? 8 * (1 + draw(5)) : 1 + draw(19);
  }
  kernel_case_begin(&c, rank, space);
  c.seed = number;
  c.shift = draw(4) == 0 ? draw(5) : 0;
  made.axes = draw(2) == 0 ? 0 : 1 + draw((1u << rank) - 1);
  for (uint32_t k = 1 + draw(4); k-- > 0;) {
    uint32_t order[FAKE_RANK];
    kernel_lie_t lie;
    make_lie(&c, order, &lie);
    lie.broadcast = draw(3) == 0 ? draw(1u << rank) : 0;
    lie.spreads = draw(2) == 0;
    made.values[made.count++] = kernel_operand(&c, types[draw(8)], &lie);
  }
  for (uint32_t k = 2 + draw(20); k-- > 0;) {
    add_value(&made);
  }
  for (uint32_t k = 1 + draw(3); k-- > 0;) {
    uint32_t order[FAKE_RANK];
    kernel_lie_t lie;
    make_lie(&c, order, &lie);
    const uint32_t value = made.values[made.count - 1 - draw(made.count > 4 ? 4 : made.count)];
    const bool of_row = tenon__opcode_reduces(c.instructions[value].opcode);
    kernel_output(&c, types[draw(8)], value, of_row ? made.axes : 0, &lie);
  }
  (void)snprintf(name, sizeof(name), "random program %u", number);
  kernel_check(&c, name, 0);
}

void kernels_check_random(unsigned count) {
  for (unsigned number = 1; number <= count; number++) {
    check_one(number);
  }
}

/* ---- Recorded, and from blobs ---- */

static void make_swish(kernel_case_t* c) {
  kernel_case_begin(c, DIMS(1 << 16));
  const uint32_t x = kernel_operand(c, F32, NULL);
  const uint32_t s = kernel_add(c, TENON_OPCODE_SIGMOID, F32, x, 0, 0);
  kernel_output(c, F32, kernel_add(c, TENON_OPCODE_MUL, F32, x, s, 0), 0, NULL);
}

/* A chain in one recording: each step doubles what is there, ten replays of seven of them. */
static void check_recorded(void) {
  enum { STEPS = 7, REPLAYS = 3, COUNT = 5000 };
  const tenon_device_descriptor_t* t = kernel_device.table;
  kernel_case_t c;
  kernel_life_t life;
  void* recording = NULL;
  float back[COUNT];
  kernel_case_begin(&c, DIMS(COUNT));
  c.whole_numbers = true;
  const uint32_t x = kernel_operand(&c, F32, NULL);
  kernel_output(&c, F32, kernel_add(&c, TENON_OPCODE_ADD, F32, x, x, 0), 0, NULL);
  bool good = kernel_case_live(&c, 0, &life) == TENON_OK;
  life.outputs[0].tensor.data = life.inputs[0].tensor.data; /* in place */
  good = good && t->begin_record(kernel_device.device, life.stream) == TENON_OK;
  for (int step = 0; good && step < STEPS; step++) {
    good = kernel_life_enqueue(&life) == TENON_OK;
  }
  good = good && t->end_record(kernel_device.device, life.stream, &recording) == TENON_OK;
  for (int k = 0; good && k < REPLAYS; k++) {
    good = t->replay(kernel_device.device, life.stream, recording) == TENON_OK;
  }
  good = good &&
         t->copy(kernel_device.device, life.stream, TENON_COPY_TO_HOST, back,
                 life.inputs[0].tensor.data, sizeof(back)) == TENON_OK &&
         t->synchronize(kernel_device.device, life.stream) == TENON_OK;
  const float* begun = c.tensors[0].view.data;
  for (int k = 0; good && k < COUNT; k++) {
    good = back[k] == begun[k] * (float)(1 << (STEPS * REPLAYS));
  }
  t->destroy_recording(kernel_device.device, recording);
  kernel_life_end(&life);
  kernel_case_end(&c);
  kernel_runs++;
  if (!good) {
    (void)printf("FAILED recorded chain\n");
    kernel_failures++;
  }
}

void kernels_check_recorded(void) {
  kernel_case_t c;
  kernel_forget_blobs();
  make_swish(&c);
  kernel_check(&c, "swish", 16); /* a product of two functions, 4 units each, and the rounding */
  if (kernel_blob_count() != 1) {
    (void)printf("FAILED blob: %u were saved\n", kernel_blob_count());
    kernel_failures++;
  }
  make_swish(&c);
  kernel_check(&c, "swish from a blob", 16);
  check_recorded();
}
