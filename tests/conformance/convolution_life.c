/* Running cases by a device's kernels: every tactic, once and recorded. */
#include "convolution_case.h"

enum { INPUTS = CONVOLUTION_INPUTS, TAIL_BYTES = 256 };

int convolution_refused;
bool convolution_is_loud;
bool convolution_is_own;
uint32_t convolution_tactics;

/* ---- On the device ---- */

/* The arguments, inputs and then the output, each in a block of its own. */
typedef struct placed_t {
  kernel_life_t life;
  tenon_tensor_view_t views[INPUTS + 1];
  int64_t strides[INPUTS + 1][CONVOLUTION_RANK];
  uint8_t* blocks[INPUTS + 1];
  size_t sizes[INPUTS + 1];
  size_t shift; /* bytes in front of each argument that may begin anywhere */
} placed_t;

/* Dense strides by the rule's order. */
static void lay_out(const tenon_argument_rule_t* rule, const tenon_tensor_view_t* view,
                    int64_t* out_strides) {
  int64_t step = 1;
  for (uint32_t place = view->rank; place-- > 0;) {
    const uint32_t axis = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order[place] : place;
    out_strides[axis] = step;
    step *= view->dims[axis];
  }
}

/* Copies a dense tensor into other strides, or back. */
static void rearrange(const tenon_tensor_view_t* view, const int64_t* strides, const uint8_t* from,
                      uint8_t* to, bool back) {
  const size_t bytes = tenon__number_bits(view->dtype) / 8; /* as it is on the device */
  int64_t at[CONVOLUTION_RANK] = {0};
  for (size_t k = 0; k < (size_t)tenon__dims_product(view->dims, 0, view->rank); k++) {
    size_t place = 0;
    for (uint32_t a = 0; a < view->rank; a++) {
      place += (size_t)(at[a] * strides[a]);
    }
    memcpy(to + (back ? k : place) * bytes, from + (back ? place : k) * bytes, bytes);
    (void)tenon__point_next(at, view->dims, view->rank);
  }
}

static size_t bytes_of(const tenon_tensor_view_t* view) {
  return (size_t)tenon__dims_product(view->dims, 0, view->rank) * tenon__number_bits(view->dtype) /
         8;
}

/* What is behind the last element must stay as it is. */
static tenon_status_t place(const made_t* m, const tenon_tactic_t* tactic, uint32_t k,
                            placed_t* placed) {
  const fake_t* fake = &m->fake;
  const bool is_output = k == fake->input_count;
  const tenon_argument_t* from = is_output ? &fake->outputs[0] : &fake->inputs[k];
  tenon_tensor_view_t* view = &placed->views[k];
  void* block = NULL;
  const tenon_argument_rule_t* rule = is_output ? tactic->outputs : &tactic->inputs[k];
  *view = from->tensor;
  view->dtype = rule->dtype != TENON_DTYPE_UNDEFINED ? rule->dtype : view->dtype;
  lay_out(is_output ? tactic->outputs : &tactic->inputs[k], view, placed->strides[k]);
  placed->sizes[k] = bytes_of(view) + TAIL_BYTES;
  const tenon_status_t status =
      kernel_life_block(&placed->life, placed->sizes[k], KERNEL_UNTOUCHED, &block);
  placed->blocks[k] = block;
  const size_t shift =
      is_output || rule->alignment == 0 || placed->shift % rule->alignment == 0 ? placed->shift : 0;
  view->data = status == TENON_OK ? placed->blocks[k] + shift : NULL;
  view->strides = placed->strides[k];
  *(is_output ? &placed->life.outputs[0] : &placed->life.inputs[k]) =
      (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = *view};
  return status;
}

/* In the type that the tactic asks for. */
static tenon_status_t copy_in(const tenon_tensor_view_t* from, const placed_t* placed, uint32_t k) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  const tenon_tensor_view_t* view = &placed->views[k];
  const size_t size = bytes_of(view);
  if (size == 0) {
    return TENON_OK;
  }
  uint8_t* dense = malloc(size);
  uint8_t* moved = malloc(size);
  for (int64_t n = 0; n < tenon__dims_product(view->dims, 0, view->rank); n++) {
    tenon__number_store(dense, 0, view->dtype, n,
                        tenon__number_load(from->data, 0, from->dtype, n));
  }
  rearrange(view, placed->strides[k], dense, moved, false);
  free(dense);
  const tenon_status_t status = t->copy(kernel_device.device, placed->life.stream,
                                        TENON_COPY_TO_DEVICE, placed->views[k].data, moved, size);
  (void)t->synchronize(kernel_device.device, placed->life.stream);
  free(moved);
  return status;
}

static tenon_status_t place_all(const made_t* m, const tenon_tactic_t* tactic, placed_t* placed) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; status == TENON_OK && k <= m->fake.input_count; k++) {
    status = place(m, tactic, k, placed);
    if (status == TENON_OK && k < m->fake.input_count) {
      status = copy_in(&m->fake.inputs[k].tensor, placed, k);
    }
  }
  return status;
}

/* ---- Running ---- */

/* What came out, and whether the bytes around it are as they were. */
static bool read_result(const made_t* m, const placed_t* placed, uint8_t* out_dense) {
  const uint32_t k = m->fake.input_count;
  const size_t size = bytes_of(&placed->views[k]);
  uint8_t* bytes = malloc(placed->sizes[k]);
  bool good =
      kernel_life_read(&placed->life, placed->blocks[k], placed->sizes[k], bytes) == TENON_OK;
  if (good) {
    rearrange(&placed->views[k], placed->strides[k], bytes + placed->shift, out_dense, true);
  }
  for (size_t n = 0; good && n < placed->sizes[k]; n++) {
    good = (n >= placed->shift && n < placed->shift + size) || bytes[n] == KERNEL_UNTOUCHED;
  }
  free(bytes);
  return good;
}

/* Weights that are no constants may be others in the next run: nothing may be kept of them. */
static tenon_status_t forget_weights(const made_t* m, const placed_t* placed) {
  const kernel_life_t* life = &placed->life;
  return life->persistent == NULL || m->c->kind >= KIND_MAX_POOL ||
                 (m->fake.values[1].info.flags & TENON_VALUE_CONSTANT) != 0
             ? TENON_OK
             : kernel_device.table->fill(kernel_device.device, life->stream, life->persistent, 0xEE,
                                         m->fake.tactic.persistent_bytes);
}

/* Recorded, the result wiped, and replayed. */
static bool run_recorded(const made_t* m, const placed_t* placed) {
  const kernel_life_t* life = &placed->life;
  const uint32_t y = m->fake.input_count;
  void* recording = NULL;
  if (kernel_life_record(life, &recording) != TENON_OK) {
    return false;
  }
  const bool is_wiped =
      forget_weights(m, placed) == TENON_OK &&
      kernel_device.table->fill(kernel_device.device, life->stream, placed->blocks[y],
                                KERNEL_UNTOUCHED, placed->sizes[y]) == TENON_OK;
  return kernel_life_play(life, recording) == TENON_OK && is_wiped;
}

static bool run_twice(const made_t* m, const tenon_tactic_t* tactic, const placed_t* placed) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  uint8_t* dense = calloc(1, bytes_of(&placed->views[m->fake.input_count]) + 1);
  bool good = kernel_life_enqueue(&placed->life) == TENON_OK &&
              t->synchronize(kernel_device.device, placed->life.stream) == TENON_OK &&
              read_result(m, placed, dense) && convolution_compare(m, tactic, dense);
  if (good && (tactic->flags & TENON_TACTIC_RECORDABLE) != 0) {
    good = run_recorded(m, placed) && read_result(m, placed, dense) &&
           convolution_compare(m, tactic, dense);
  }
  free(dense);
  return good;
}

/* Of the tactic that the fake keeps. 1: right; 0: wrong; -1: refused. */
static int run_tactic(made_t* m, const tenon_kernel_t* kernel) {
  const tenon_tactic_t* tactic = &m->fake.tactic;
  placed_t placed = {.shift = 0};
  int result = 0;
  /* What asks for no alignment may begin at any element, as a piece of another tensor does. */
  if (m->c->seed % 2 != 0 && tactic->outputs->alignment <= 4) {
    placed.shift = m->c->dtype == TENON_DTYPE_FLOAT32 ? 4 : 2;
  }
  if (kernel_life_begin(&placed.life, kernel, &m->fake) == TENON_OK &&
      place_all(m, tactic, &placed) == TENON_OK) {
    const tenon_status_t status = kernel_life_bind(&placed.life);
    result = status == TENON_ERROR_UNSUPPORTED                     ? -1
             : status == TENON_OK && run_twice(m, tactic, &placed) ? 1
                                                                   : 0;
  }
  if (convolution_is_loud || result == 0) {
    (void)printf("%s | %s | %s\n", m->c->name, tactic->name, result > 0 ? "right" : opened_words);
  }
  kernel_life_end(&placed.life);
  return result;
}

tenon_status_t convolution_lend(made_t* m, const tenon_kernel_t* kernel,
                                void (*use)(const kernel_life_t* life, void* user), void* user) {
  placed_t placed = {.shift = 0};
  tenon_status_t status = kernel_life_begin(&placed.life, kernel, &m->fake);
  status = status == TENON_OK ? place_all(m, &m->fake.tactic, &placed) : status;
  status = status == TENON_OK ? kernel_life_bind(&placed.life) : status;
  status = status == TENON_OK ? kernel_life_enqueue(&placed.life) : status;
  if (status == TENON_OK) {
    use(&placed.life, user);
  }
  kernel_life_end(&placed.life);
  return status;
}

bool convolution_narrows(const tenon_tactic_t* tactic) {
  return tactic->numerics->product_exponent_bits == 5 ||
         tactic->numerics->product_mantissa_bits == 7;
}

/* The tactic that the fake keeps: is it one of those that the case asks for? */
static bool is_tried(const made_t* m) {
  const tenon_tactic_t* tactic = &m->fake.tactic;
  const char* wanted = m->c->wanted_tactics;
  return !(m->c->is_single && convolution_narrows(tactic)) &&
         (wanted == NULL || strncmp(tactic->name, wanted, strlen(wanted)) == 0);
}

/* Of one kernel; of own ones not all, but others in each case. */
static bool run_tactics(made_t* m, const tenon_kernel_t* kernel, uint32_t* inout_count,
                        int* inout_right) {
  const uint32_t count = kernel_take_tactic(kernel, &m->fake, 0);
  const uint32_t step =
      convolution_tactics == 0 || count <= convolution_tactics ? 1 : count / convolution_tactics;
  const uint32_t first = m->c->seed % step;
  bool good = true;
  for (uint32_t k = first; k < count; k += step) {
    (void)kernel_take_tactic(kernel, &m->fake, k);
    if (is_tried(m)) {
      kernel_expect_tactics(kernel, &m->fake, k, k + 1, 1);
    }
  }
  for (uint32_t k = first; k < count; k += step) {
    (void)kernel_take_tactic(kernel, &m->fake, k);
    if (!is_tried(m)) {
      continue;
    }
    const int result = run_tactic(m, kernel);
    *inout_right += result > 0 ? 1 : 0;
    convolution_refused += result < 0 ? 1 : 0;
    good = good && result != 0;
  }
  *inout_count += count;
  return good;
}

void convolution_check(const convolution_case_t* c) {
  static made_t made;
  tenon_refusal_t refusal = {0};
  const tenon_kernel_t* kernel = NULL;
  bool good = convolution_make(c, &made);
  bool taken = false;
  uint32_t count = 0;
  int right = 0;
  kernel_is_quiet = true;
  for (uint32_t nth = 0; good && (kernel = kernel_find_nth(&made.fake, nth)) != NULL; nth++) {
    /* What is offered as references are device_operators compares. */
    if ((kernel->flags & TENON_KERNEL_REFERENCE) == 0 &&
        kernel_takes(kernel, &made.fake, &refusal)) {
      taken = true;
      good = run_tactics(&made, kernel, &count, &right);
    }
  }
  kernel_runs += right;
  const bool must = convolution_must_run(c);
  const bool may_refuse =
      !must && (taken || convolution_is_own || c->kind >= KIND_MAX_POOL || c->extent[0] == 0);
  if (!good || (right == 0 && !may_refuse)) {
    (void)printf("FAILED %s: %d of %u tactics right%s%s\n", c->name, right, count,
                 refusal.detail == NULL ? "" : ": ", refusal.detail == NULL ? "" : refusal.detail);
    kernel_failures++;
  }
  fake_done(&made.fake);
}
