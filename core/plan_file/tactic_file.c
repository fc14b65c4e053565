/* Tactics in a plan: what a kernel asked for when it was chosen. */
#include "core/plan_file/tactic_file.h"

#include "core/base/status.h"
#include "core/plan_file/layout_file.h"
#include "core/plan_file/plan_file.h"
#include "core/tensor/layout.h"

#define MOST_AXES 64u

/* ---- Writing ---- */

static void write_rules(const tenon_argument_rule_t* rules, uint32_t count,
                        tenon__byte_writer_t* writer) {
  tenon__write_u8(writer, rules != NULL ? 1 : 0);
  for (uint32_t k = 0; rules != NULL && k < count; ++k) {
    const tenon_argument_rule_t* rule = &rules[k];
    tenon__write_u8(writer, (uint8_t)rule->kind);
    tenon__write_u8(writer, rule->layout != NULL ? 1 : 0);
    tenon__write_u32(writer, rule->kind == TENON_LAYOUT_FOLLOWS ? rule->argument : 0);
    tenon__write_u32(writer, rule->flags);
    tenon__write_u32(writer, rule->in_place);
    tenon__write_u32(writer, rule->dtype);
    tenon__write_u32(writer, rule->alignment);
    if (rule->layout != NULL) {
      tenon__layout_write(rule->layout, writer);
    }
  }
}

void tenon__tactic_write(const tenon__step_tactic_t* tactic, uint32_t input_count,
                         uint32_t output_count, tenon__byte_writer_t* writer) {
  tenon__write_string(writer, tactic->name);
  tenon__write_u64(writer, tactic->configuration_size);
  tenon__write_bytes(writer, tactic->configuration, tactic->configuration_size);
  write_rules(tactic->input_rules, input_count, writer);
  write_rules(tactic->output_rules, output_count, writer);
  tenon__write_u32(writer, tactic->numerics.product_mantissa_bits);
  tenon__write_u32(writer, tactic->numerics.product_exponent_bits);
  tenon__write_u32(writer, tactic->numerics.accumulator_dtype);
  tenon__write_u32(writer, tactic->numerics.product_dtype);
  tenon__write_u32(writer, tactic->numerics.parts);
  tenon__write_u32(writer, tactic->numerics.reassociates);
  tenon__write_u32(writer, tactic->numerics.nondeterministic);
  tenon__write_u32(writer, tactic->numerics.flushes_denormals);
  tenon__write_f64(writer, tactic->numerics.error_bound);
  tenon__write_u64(writer, tactic->scratch_bytes);
  tenon__write_u64(writer, tactic->scratch_bytes_per_thread);
  tenon__write_u64(writer, tactic->zeroed_bytes);
  tenon__write_u64(writer, tactic->persistent_bytes);
  tenon__write_u32(writer, tactic->flags);
  tenon__write_u32(writer, tactic->launches);
}

/* ---- Reading ---- */

static tenon_status_t read_rule(tenon__plan_reader_t* reader, const struct tenon_region_t* region,
                                uint32_t value, tenon_argument_rule_t* rule) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  const tenon__value_node_t* v =
      value == TENON_NONE ? NULL : &region->network->graphs[region->graph]->values[value];
  rule->kind = tenon__read_u8(bytes);
  const bool has_layout = tenon__read_u8(bytes) != 0;
  rule->argument = tenon__read_u32(bytes);
  rule->flags = tenon__read_u32(bytes);
  rule->in_place = tenon__read_u32(bytes);
  rule->dtype = tenon__read_u32(bytes);
  rule->alignment = tenon__read_u32(bytes);
  if (bytes->failed || !tenon__rule_is_known(rule, region->input_count) ||
      (rule->kind == TENON_LAYOUT_EXACT && !has_layout)) {
    return tenon__plan_broken(reader, "a tactic's rule for an argument is none");
  }
  if (!has_layout) {
    return TENON_OK;
  }
  /* The layout of an absent argument keeps its own rank. */
  tenon__byte_reader_t ahead = *bytes;
  (void)tenon__read_string(&ahead);
  const uint32_t rank =
      v != NULL && v->type.rank != TENON_NONE ? v->type.rank : tenon__read_u32(&ahead);
  return tenon__plan_refused(reader,
                             tenon__layout_read(bytes, rank, &reader->plan->arena, &rule->layout),
                             "a tactic's layout");
}

static tenon_status_t read_rules(tenon__plan_reader_t* reader, const struct tenon_region_t* region,
                                 bool are_inputs, const tenon_argument_rule_t** out_rules) {
  const uint32_t count = are_inputs ? region->input_count : region->output_count;
  if (tenon__read_u8(&reader->bytes) == 0) {
    *out_rules = NULL;
    return TENON_OK;
  }
  tenon_argument_rule_t* rules = tenon__arena_allocate(&reader->plan->arena, count, sizeof *rules);
  TENON_TRY_MEMORY(rules != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t value = are_inputs ? region->inputs[k].value : region->outputs[k].value;
    TENON_TRY(read_rule(reader, region, value, &rules[k]));
  }
  *out_rules = rules;
  return TENON_OK;
}

static tenon_status_t read_configuration(tenon__plan_reader_t* reader,
                                         tenon__step_tactic_t* tactic) {
  const uint64_t size = tenon__read_u64(&reader->bytes);
  const void* bytes = tenon__read_view(&reader->bytes, size);
  if (bytes == NULL) {
    return tenon__plan_broken(reader, "a tactic's configuration ends early");
  }
  /* Copied, because kernels read it as structures. */
  tactic->configuration = tenon__arena_copy(&reader->plan->arena, bytes, size);
  tactic->configuration_size = size;
  return tactic->configuration == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t read_numerics(tenon__plan_reader_t* reader, tenon_numerics_t* numerics) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  numerics->size = sizeof *numerics;
  numerics->product_mantissa_bits = tenon__read_u32(bytes);
  numerics->product_exponent_bits = tenon__read_u32(bytes);
  numerics->accumulator_dtype = tenon__read_u32(bytes);
  numerics->product_dtype = tenon__read_u32(bytes);
  numerics->parts = tenon__read_u32(bytes);
  numerics->reassociates = tenon__read_u32(bytes);
  numerics->nondeterministic = tenon__read_u32(bytes);
  numerics->flushes_denormals = tenon__read_u32(bytes);
  numerics->error_bound = tenon__read_f64(bytes);
  if (bytes->failed || numerics->product_mantissa_bits > 64 ||
      numerics->product_exponent_bits > 64 || numerics->accumulator_dtype >= TENON_DTYPE_COUNT ||
      numerics->product_dtype >= TENON_DTYPE_COUNT) {
    return tenon__plan_broken(reader, "a tactic's numerics are of no data type");
  }
  return TENON_OK;
}

tenon_status_t tenon__tactic_read(tenon__plan_reader_t* reader, const struct tenon_region_t* region,
                                  tenon__step_tactic_t* out_tactic) {
  tenon__byte_reader_t* bytes = &reader->bytes;
  out_tactic->name = tenon__read_string(bytes);
  TENON_TRY(read_configuration(reader, out_tactic));
  TENON_TRY(read_rules(reader, region, true, &out_tactic->input_rules));
  TENON_TRY(read_rules(reader, region, false, &out_tactic->output_rules));
  TENON_TRY(read_numerics(reader, &out_tactic->numerics));
  out_tactic->scratch_bytes = tenon__read_u64(bytes);
  out_tactic->scratch_bytes_per_thread = tenon__read_u64(bytes);
  out_tactic->zeroed_bytes = tenon__read_u64(bytes);
  out_tactic->persistent_bytes = tenon__read_u64(bytes);
  out_tactic->flags = tenon__read_u32(bytes);
  out_tactic->launches = tenon__read_u32(bytes);
  return bytes->failed ? tenon__plan_broken(reader, "a tactic ends early") : TENON_OK;
}
