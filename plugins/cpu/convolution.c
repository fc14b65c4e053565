/*
 * Convolution with channels last: a product of the image's patches with the packed weights, tile by
 * tile with the epilogue. 1 x 1 windows read the image itself. Small groups are not
 * computed as matrix products. Weights that are no constants are packed in each run, before it begins.
 */
#include "convolution.h"

#include <string.h>

#include "kernels.h"

enum {
  FEW_CHANNELS = 4, /* of an image that is read plane by plane */
  LARGEST_SMALL_GROUP = 8
};

typedef struct problem_t {
  int64_t groups;
  int64_t in_channels;
  int64_t out_channels;
  int64_t kernel[TENON_CPU_AXES];
  uint32_t rank;     /* spatial */
  bool small_groups; /* 1, 2, 4 or 8 inputs and as many outputs in each group */
} problem_t;

/* Groups whose inputs are lanes of the vector that has its outputs. */
static bool has_small_groups(const tenon__cpu_isa_t* isa, const problem_t* problem) {
  const int64_t channels = problem->in_channels;
  const bool even =
      channels == 1 || channels == 2 || channels == 4 || channels == LARGEST_SMALL_GROUP;
  return problem->groups > 1 && problem->rank <= 2 && channels == problem->out_channels && even &&
         channels <= (int64_t)isa->tiles->vector_floats;
}

static problem_t read_problem(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  problem_t problem = {.groups = tenon__cpu_region_int(region, "groups", 1),
                       .in_channels = w->dims_max[1],
                       .rank = w->rank - 2};
  problem.out_channels = w->dims_max[0] / (problem.groups > 0 ? problem.groups : 1);
  memcpy(problem.kernel, w->dims_max + 2, problem.rank * sizeof(int64_t));
  problem.small_groups = has_small_groups(isa, &problem);
  return problem;
}

/* Does each output read one pixel alone, without a step between them? Then no pixel is made twice,
 * and none is outside of the image: what lies there is zero whatever the prologue makes of it. */
static bool reads_single_pixels(tenon__cpu_region_t region, const problem_t* problem) {
  tenon__cpu_window_t window;
  bool is_so = problem->groups == 1;
  tenon__cpu_window_read(region, problem->rank, problem->kernel, &window);
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    is_so = is_so && window.kernel[a] == 1 && window.stride[a] == 1 && window.pad_begin[a] == 0;
  }
  for (size_t k = 0; k < tenon__cpu_region_length(region, "pads"); k++) {
    is_so = is_so && tenon__cpu_region_item(region, "pads", k, 0) == 0;
  }
  return is_so;
}

static bool takes_prologue(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region,
                           tenon_refusal_t* out_refusal) {
  const tenon_program_t* program = region.table->slot_program(region.handle, TENON_CPU_PROLOGUE);
  if (program == NULL) {
    return true;
  }
  const problem_t problem = read_problem(isa, region);
  const tenon_value_info_t* own =
      region.table->value(region.handle, region.table->input(region.handle, 0));
  if (own->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, "of what the prologue reads");
  }
  return reads_single_pixels(region, &problem)
             ? tenon__cpu_rows_accepts(isa->elements, program, out_refusal)
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT,
                                 "before windows of single pixels alone");
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 2);
  const tenon_program_t* program = table->slot_program(handle, 0);
  if (x->dtype != TENON_DTYPE_FLOAT32 || w->dtype != TENON_DTYPE_FLOAT32 ||
      (b != NULL && b->dtype != TENON_DTYPE_FLOAT32)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 5) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (w->constant_data == NULL) {
    for (uint32_t k = 0; k < w->rank; k++) {
      if (w->dims_min[k] != w->dims_max[k]) {
        return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
      }
    }
  }
  if (table->input_count(handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands");
  }
  return (program == NULL || tenon__cpu_rows_accepts(cpu->isa->elements, program, out_refusal)) &&
         takes_prologue(cpu->isa, region, out_refusal);
}

/* Scratch of a thread for bands or patches. */
static size_t image_bytes(tenon__cpu_region_t region, const problem_t* problem) {
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  tenon__cpu_window_t window;
  if (problem->small_groups) {
    return 0;
  }
  tenon__cpu_window_read(region, problem->rank, problem->kernel, &window);
  const size_t depth = (size_t)(problem->in_channels * tenon__cpu_window_taps(&window));
  size_t bytes = tenon__cpu_product_scratch((size_t)TENON_CPU_ROW_BLOCK * 2, depth) * sizeof(float);
  if (problem->rank <= 2) {
    const size_t band =
        tenon__cpu_band_bytes(&window, problem->in_channels,
                              problem->rank == 2 ? y->dims_max[2] : 1, y->dims_max[y->rank - 1]);
    bytes = band > bytes ? band : bytes;
  }
  return (bytes + 63) / 64 * 64;
}

/* Floats of one group's packed weights. */
static size_t packed_group(const tenon__cpu_isa_t* isa, const tenon__cpu_window_t* window,
                           const problem_t* problem) {
  const size_t taps = (size_t)tenon__cpu_window_taps(window);
  return problem->small_groups
             ? taps * (size_t)(problem->in_channels * problem->out_channels)
             : tenon__cpu_packed_size(isa->tiles, (size_t)problem->in_channels * taps,
                                      (size_t)problem->out_channels);
}

static size_t packed_bytes(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region,
                           const problem_t* problem) {
  tenon__cpu_window_t window;
  tenon__cpu_window_read(region, problem->rank, problem->kernel, &window);
  const size_t floats = tenon__cpu_convolution_floats(problem->small_groups, problem->groups,
                                                      packed_group(isa, &window, problem));
  return (floats * sizeof(float) + 63) / 64 * 64;
}

/* Buffers of a thread for both slots' programs. */
static size_t slots_bytes(tenon__cpu_region_t region) {
  return tenon__cpu_rows_scratch(region.table->slot_program(region.handle, TENON_CPU_EPILOGUE)) +
         tenon__cpu_rows_scratch(region.table->slot_program(region.handle, TENON_CPU_PROLOGUE));
}

static double estimate(const tenon__cpu_isa_t* isa, const tenon_value_info_t* y,
                       const problem_t* problem) {
  double work = 2.0 * (double)problem->in_channels;
  for (uint32_t k = 0; k < problem->rank; k++) {
    work *= (double)problem->kernel[k];
  }
  for (uint32_t k = 0; k < y->rank; k++) {
    work *= (double)y->dims_opt[k];
  }
  return work / (4e9 * isa->tiles->vector_floats * (problem->small_groups ? 0.3 : 1.0)) + 1e-6;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const problem_t problem = read_problem(cpu->isa, region);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const uint32_t x = tenon__cpu_region_argument(region, 0);
  const uint8_t once = tenon__cpu_region_input(region, 1)->constant_data != NULL;
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  tenon_argument_rule_t output;
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    tenon__cpu_image_rule(region, k, &rules[k]);
  }
  tenon__cpu_output_rule(y->rank, &output);
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const size_t slot = image_bytes(region, &problem) + slots_bytes(region);
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = !problem.small_groups      ? "channels last"
                                   : problem.in_channels == 1 ? "depthwise, channels last"
                                                              : "small groups, channels last",
                           .configuration = &once,
                           .configuration_size = sizeof(once),
                           .inputs = rules,
                           .outputs = &output,
                           .numerics = &numerics,
                           .scratch_bytes = once ? 0 : packed_bytes(cpu->isa, region, &problem),
                           .estimate_seconds = estimate(cpu->isa, y, &problem),
                           .launches = 1,
                           .scratch_bytes_per_thread = slot};
  tenon_status_t status = add(emit, &tactic);
  if (status == TENON_OK && !problem.small_groups && problem.groups == 1 &&
      table->slot_program(handle, TENON_CPU_PROLOGUE) == NULL &&
      problem.in_channels <= FEW_CHANNELS) {
    rules[x] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ROW_MAJOR, .flags = TENON_RULE_STRIDED};
    tactic.name = "planes to channels last";
    status = add(emit, &tactic);
  }
  return status;
}

/* ---- Preparing ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  tenon__cpu_convolution_t* c = call->host->allocate(call->preparation, sizeof(*c));
  if (c == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const problem_t problem = read_problem(cpu->isa, region);
  c->isa = cpu->isa;
  c->groups = problem.groups;
  c->in_channels = problem.in_channels;
  c->out_channels = problem.out_channels;
  tenon__cpu_window_read(region, problem.rank, problem.kernel, &c->window);
  c->small_groups = problem.small_groups;
  c->depth = (size_t)(problem.in_channels * tenon__cpu_window_taps(&c->window));
  c->packed_group = packed_group(cpu->isa, &c->window, &problem);
  c->x = tenon__cpu_region_argument(region, 0);
  c->w = tenon__cpu_region_argument(region, 1);
  c->bias = tenon__cpu_region_argument(region, 2);
  c->image_bytes = image_bytes(region, &problem);
  c->epilogue_bytes =
      tenon__cpu_rows_scratch(call->table->slot_program(call->region, TENON_CPU_EPILOGUE));
  c->slot_bytes = c->image_bytes + slots_bytes(region);
  /* At load a constant's data may be gone, so the tactic remembers whether it is one. */
  const bool once =
      call->tactic->configuration_size == 1 && *(const uint8_t*)call->tactic->configuration != 0;
  c->shared_bytes = once ? 0 : packed_bytes(cpu->isa, region, &problem);
  *out_instance = c;
  if (call->tactic->scratch_bytes < c->shared_bytes || /* a plan may say so */
      call->tactic->scratch_bytes_per_thread < c->slot_bytes) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_program_t* prologue = call->table->slot_program(call->region, TENON_CPU_PROLOGUE);
  tenon_status_t status =
      once ? tenon__cpu_convolution_pack_once(c, region, &preparation) : TENON_OK;
  if (status == TENON_OK && prologue != NULL) {
    status = tenon__cpu_program_create(prologue, tenon__cpu_allocate_prepared, &preparation,
                                       &c->prologue);
  }
  return status != TENON_OK ? status
                            : tenon__cpu_epilogue_prepare(cpu->isa->elements, region, 1,
                                                          tenon__cpu_allocate_prepared,
                                                          &preparation, &c->epilogue);
}

static const char* const operators[] = {"standard.convolution/1", NULL};
static const char* const attributes[] = {"strides", "dilations", "pads",
                                         "groups",  "auto_pad",  NULL};
enum {
  ANY_BROADCAST = TENON_BROADCAST_SCALAR | TENON_BROADCAST_CHANNEL | TENON_BROADCAST_ROW |
                  TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER
};
const tenon_slot_t tenon__cpu_any_slot[1] = {{
    .size = sizeof(tenon_slot_t),
    .kind = TENON_SLOT_EPILOGUE,
    .index = 0,
    .max_operands = 16,
    .broadcasts = ANY_BROADCAST,
    .channel_axis = 1,
}};

static const tenon_slot_t slots[] = {
    {.size = sizeof(tenon_slot_t),
     .kind = TENON_SLOT_EPILOGUE,
     .max_operands = 16,
     .broadcasts = ANY_BROADCAST,
     .channel_axis = 1},
    {.size = sizeof(tenon_slot_t),
     .kind = TENON_SLOT_PROLOGUE,
     .max_operands = 8,
     .broadcasts = ANY_BROADCAST,
     .channel_axis = 1},
};

const tenon_kernel_t tenon__cpu_convolution_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "convolution",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = TENON_LIST(slots),
    .version = 3,
    .input_limit = 3,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = tenon__cpu_convolution_bind,
    .enqueue = tenon__cpu_convolution_enqueue,
};
