/* include { ... } and exclude { ... }: a layer's rules about the state of the network. */
#include <string.h>

#include "fields.h"
#include "net.h"

static bool has_stage(const tenon__caffe_state_t* state, const tenon_string_view_t* stage) {
  for (uint32_t i = 0; i < state->stage_count; ++i) {
    if (strcmp(state->stages[i].data, stage->data) == 0) {
      return true;
    }
  }
  return false;
}

/* True when each stage (`wanted`), or none of them, is among the state's. */
static tenon_status_t check_stages(tenon_reader_t* reader, const tenon__caffe_node_t* rule,
                                   const char* name, bool wanted, const tenon__caffe_state_t* state,
                                   bool* inout_holds) {
  const tenon_string_view_t* stages = NULL;
  size_t count = 0;
  const tenon_status_t status = tenon__caffe_fields_strings(reader, rule, name, &stages, &count);
  if (status == TENON_OK) {
    for (size_t i = 0; i < count; ++i) {
      *inout_holds = *inout_holds && has_stage(state, &stages[i]) == wanted;
    }
  }
  return status == TENON_ERROR_NOT_FOUND ? TENON_OK : status;
}

/* All that one rule asks for. */
static tenon_status_t check_rule(tenon_reader_t* reader, const tenon__caffe_node_t* rule,
                                 const tenon__caffe_state_t* state, bool* out_holds) {
  const char* phase = state->phase;
  int64_t min_level = state->level;
  int64_t max_level = state->level;
  tenon_status_t status = tenon__caffe_fields_string(reader, rule, "phase", &phase);
  if (status == TENON_OK || status == TENON_ERROR_NOT_FOUND) {
    status = tenon__caffe_fields_int(reader, rule, "min_level", &min_level);
  }
  if (status == TENON_OK || status == TENON_ERROR_NOT_FOUND) {
    status = tenon__caffe_fields_int(reader, rule, "max_level", &max_level);
  }
  if (status != TENON_OK && status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  *out_holds =
      strcmp(phase, state->phase) == 0 && state->level >= min_level && state->level <= max_level;
  TENON_READER_TRY(check_stages(reader, rule, "stage", true, state, out_holds));
  return check_stages(reader, rule, "not_stage", false, state, out_holds);
}

/* Whether there are rules of that name, and whether one of them holds. */
static tenon_status_t check_rules(tenon_reader_t* reader, const tenon__caffe_node_t* layer,
                                  const char* name, const tenon__caffe_state_t* state,
                                  tenon__caffe_field_t** out_first, bool* out_holds) {
  *out_first = tenon__caffe_field_find(layer->message->first, name);
  *out_holds = false;
  for (tenon__caffe_field_t* field = *out_first; field != NULL;
       field = tenon__caffe_field_find(field->next, name)) {
    tenon__caffe_node_t rule;
    bool holds = false;
    field->is_read = true;
    TENON_READER_TRY(tenon__caffe_field_node(reader, field, &rule));
    TENON_READER_TRY(check_rule(reader, &rule, state, &holds));
    *out_holds = *out_holds || holds;
  }
  return TENON_OK;
}

tenon_status_t tenon__caffe_rules_hold(tenon_reader_t* reader, const tenon__caffe_node_t* layer,
                                       const tenon__caffe_state_t* state, bool* out_holds) {
  tenon__caffe_field_t* include = NULL;
  tenon__caffe_field_t* exclude = NULL;
  bool included = false;
  bool excluded = false;
  TENON_READER_TRY(check_rules(reader, layer, "include", state, &include, &included));
  TENON_READER_TRY(check_rules(reader, layer, "exclude", state, &exclude, &excluded));
  if (include != NULL && exclude != NULL) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_DATA,
        "line %u, column %u: a layer has include rules or exclude rules, not both", exclude->line,
        exclude->column);
  }
  *out_holds = include != NULL ? included : !excluded;
  return TENON_OK;
}
