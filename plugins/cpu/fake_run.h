/* The life of a kernel under the fake host. */
#ifndef TENON_CPU_FAKE_RUN_H_
#define TENON_CPU_FAKE_RUN_H_

#include <time.h>

#include "fake_host.h"

/* Strides as the rule wants them: its order or, for ANY, a random one; gaps where they are welcome.
 */
static inline void fake_layout(fake_t* fake, fake_value_t* value,
                               const tenon_argument_rule_t* rule) {
  uint32_t order[FAKE_RANK];
  const uint32_t rank = value->info.rank;
  for (uint32_t k = 0; k < rank; k++) {
    order[k] = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order[k] : k;
  }
  if (rule->kind == TENON_LAYOUT_ANY) {
    for (uint32_t k = rank; k > 1; k--) {
      const uint32_t other = (uint32_t)fake_choice(&fake->seed, 0, k - 1);
      const uint32_t kept = order[k - 1];
      order[k - 1] = order[other];
      order[other] = kept;
    }
  }
  int64_t stride = 1;
  const bool gaps = (rule->flags & TENON_RULE_STRIDED) != 0 &&
                    fake_choice(&fake->seed, 0, 1) == 1 && value->info.constant_data == NULL;
  for (uint32_t k = rank; k-- > 0;) {
    value->strides[order[k]] = stride;
    stride *= value->dims[order[k]];
    if (gaps && k + 1 == rank) {
      stride += 3;
    }
  }
  free(value->memory);
  value->memory = calloc((size_t)(stride > 0 ? stride : 1), fake_bytes(value->info.dtype));
}

static inline int64_t fake_offset(const fake_value_t* value, int64_t index) {
  int64_t offset = 0;
  for (uint32_t k = value->info.rank; k-- > 0;) {
    offset += index % value->dims[k] * value->strides[k];
    index /= value->dims[k];
  }
  return offset;
}

/* A region's argument: as it is, or aligned to the space (leading axes of extent 1 added). */
static inline void fake_argument(fake_t* fake, fake_value_t* value, tenon_argument_t* out,
                                 bool aligned) {
  const uint32_t rank = aligned ? fake->space_rank : value->info.rank;
  for (uint32_t k = 0; k < rank; k++) {
    const bool there = k + value->info.rank >= rank;
    const uint32_t own = there ? k + value->info.rank - rank : 0;
    value->view_dims[k] = there ? value->dims[own] : 1;
    value->view_strides[k] = there && (value->dims[own] != 1 || !aligned) ? value->strides[own] : 0;
  }
  *out = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                            .tensor = {.data = value->memory,
                                       .dims = value->view_dims,
                                       .strides = value->view_strides,
                                       .rank = rank,
                                       .dtype = value->info.dtype,
                                       .layout = TENON_NONE}};
}

static inline void fake_place(fake_t* fake) {
  for (uint32_t k = 0; k < fake->input_count + fake->output_count; k++) {
    fake_value_t* value = &fake->values[k];
    const bool is_input = k < fake->input_count;
    const tenon_argument_rule_t* rule =
        is_input ? &fake->rules[0][k] : &fake->rules[1][k - fake->input_count];
    const bool slot_input = is_input && k >= fake->node_input_count;
    bool indexed = false;
    for (uint32_t o = 0; fake->program != NULL && o < fake->program->operand_count; o++) {
      indexed = indexed || (fake->program->operands[o].index == k && is_input &&
                            fake->program->operands[o].indexed != 0);
    }
    fake_layout(fake, value, rule);
    fake_argument(fake, value, is_input ? &fake->inputs[k] : &fake->outputs[k - fake->input_count],
                  (slot_input || fake->kind == TENON_REGION_EXPRESSION) && !indexed);
    const int64_t count = fake_count(value->info.rank, value->dims);
    for (int64_t i = 0; is_input && i < count; i++) {
      const size_t bytes = fake_bytes(value->info.dtype);
      fake_put(value->info.dtype, (char*)value->memory + fake_offset(value, i) * (int64_t)bytes,
               value->numbers[i]);
    }
  }
  for (uint32_t o = 0; fake->in_place && o < fake->output_count; o++) {
    const uint32_t input = fake->rules[1][o].in_place - 1u;
    if (input < fake->input_count) {
      fake->outputs[o].tensor.data = fake->inputs[input].tensor.data;
      fake->outputs[o].tensor.strides = fake->inputs[input].tensor.strides;
      memcpy(fake->values[fake->input_count + o].strides, fake->values[input].strides,
             sizeof(fake->values[input].strides));
    }
  }
}

static inline void fake_dense(fake_t* fake) {
  for (uint32_t k = 0; k < fake->input_count; k++) {
    fake_value_t* value = &fake->values[k];
    for (int64_t i = 0; i < fake_count(value->info.rank, value->dims); i++) {
      const size_t bytes = fake_bytes(value->info.dtype);
      fake_put(value->info.dtype, (char*)value->dense + (size_t)i * bytes, value->numbers[i]);
    }
  }
}

static inline void fake_collect(fake_t* fake) {
  for (uint32_t o = 0; o < fake->output_count; o++) {
    fake_value_t* value = &fake->values[fake->input_count + o];
    const size_t bytes = fake_bytes(value->info.dtype);
    const char* data = fake->outputs[o].tensor.data;
    for (int64_t i = 0; i < fake_count(value->info.rank, value->dims); i++) {
      value->numbers[i] =
          fake_get(value->info.dtype, data + fake_offset(value, i) * (int64_t)bytes);
    }
  }
}

/* With one thread its own time, which other programs do not disturb. */
static inline double fake_clock(const fake_t* fake) {
  struct timespec now;
  (void)clock_gettime(fake->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prepares, binds, runs the tactic that was kept; the outputs' numbers are what came out. */
static inline tenon_status_t fake_run_tactic(fake_t* fake, const tenon_kernel_t* kernel,
                                             const tenon__cpu_state_t* state) {
  void* instance = NULL;
  void* bound = NULL;
  fake->failure[0] = '\0';
  fake_place(fake);
  const uint64_t scratch_bytes =
      fake->tactic.scratch_bytes + fake->threads * fake->tactic.scratch_bytes_per_thread;
  fake->scratch = aligned_alloc(64, (scratch_bytes + 127) / 64 * 64);
  const tenon_prepare_t making = fake_prepare_call(fake, (void*)state);
  tenon_status_t status = kernel->prepare(&making, &instance);
  if (status == TENON_OK && kernel->bind != NULL) {
    status = kernel->bind(instance, (tenon_binding_t*)fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(fake, instance, bound);
  fake->seconds = 1e30;
  for (uint32_t k = 0; status == TENON_OK && k < (fake->repeats > 0 ? fake->repeats : 1); k++) {
    const double begin = fake_clock(fake);
    status = kernel->enqueue(&call);
    const double seconds = fake_clock(fake) - begin;
    fake->seconds = seconds < fake->seconds ? seconds : fake->seconds;
  }
  if (kernel->unbind != NULL) {
    kernel->unbind(instance, bound);
  }
  if (kernel->destroy != NULL) {
    kernel->destroy(instance);
  }
  fake_collect(fake);
  free(fake->scratch);
  fake_done(fake);
  return status;
}

/* Does the kernel take the region? Then tactic number `index` is kept; false when there is none. */
static inline bool fake_tactic(fake_t* fake, const tenon_kernel_t* kernel,
                               const tenon__cpu_state_t* state, uint32_t index,
                               tenon_refusal_t* out_refusal) {
  void* self = (void*)state;
  fake_dense(fake);
  *out_refusal = (tenon_refusal_t){0};
  if (kernel->match != NULL &&
      kernel->match(self, (const tenon_region_t*)fake, &fake_region_table, out_refusal) == 0) {
    return false;
  }
  fake->tactic_count = 0;
  fake->tactic_index = index;
  fake->tactic = (tenon_tactic_t){0};
  (void)kernel->tactics(self, (const tenon_region_t*)fake, &fake_region_table, (tenon_emit_t*)fake,
                        fake_add_tactic);
  return index < fake->tactic_count;
}

static inline uint32_t fake_states_of(const char* const* names, size_t name_count,
                                      tenon__cpu_state_t* out_states) {
  uint32_t count = 0;
  for (size_t k = 0; k < name_count; k++) {
    const tenon__cpu_isa_t* isa = tenon__cpu_isa_find(names[k]);
    if (isa != NULL) {
      out_states[count++] = (tenon__cpu_state_t){isa};
    } else {
      (void)printf("  %s: not on this machine\n", names[k]);
    }
  }
  return count;
}

/* Every instruction set that this machine and build have. */
static inline uint32_t fake_states(tenon__cpu_state_t* out_states) {
  static const char* const names[] = {"baseline", "avx2", "avx512"};
  return fake_states_of(names, 3, out_states);
}

/* The same with those that differ in integer products alone. */
enum { FAKE_INTEGER_STATES = 5 };
static inline uint32_t fake_integer_states(tenon__cpu_state_t* out_states) {
  static const char* const names[FAKE_INTEGER_STATES] = {"baseline", "avx2", "avx512", "avx512vnni",
                                                         "amx"};
  return fake_states_of(names, FAKE_INTEGER_STATES, out_states);
}

#endif
