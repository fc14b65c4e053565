/* The expression is compiled when the kernel is prepared; a context has a matcher of its own. */
#include "kernel.h"

#include "pattern.h"

enum { RANK_MAX = 64 };

tenon_status_t tenon__full_match_infer(void* state, tenon_shape_builder_t* builder,
                                       const tenon_shape_table_t* table) {
  (void)state;
  char message[TENON__PATTERN_MESSAGE_SIZE];
  tenon__pattern_t* pattern = NULL;
  tenon_dim_t dims[RANK_MAX];
  const char* text = "";
  const uint32_t rank = table->rank(builder, 0);
  if (table->attribute_string(builder, "pattern", &text) != TENON_OK || rank > RANK_MAX) {
    return TENON_ERROR_INTERNAL;
  }
  const tenon_status_t status = tenon__pattern_create(text, &pattern, message);
  tenon__pattern_destroy(pattern);
  if (status != TENON_OK) {
    table->refuse(builder, message);
    return status;
  }
  for (uint32_t axis = 0; axis < rank; ++axis) {
    dims[axis] = table->dim(builder, 0, axis);
  }
  return table->set_output(builder, 0, TENON_DTYPE_BOOL, rank, dims);
}

tenon_status_t tenon__full_match_prepare(const tenon_prepare_t* call, void** out_instance) {
  char message[TENON__PATTERN_MESSAGE_SIZE];
  tenon__pattern_t* pattern = NULL;
  const char* text = "";
  tenon_status_t status = call->table->attribute_string(call->region, 0, "pattern", &text);
  if (status == TENON_OK) {
    status = tenon__pattern_create(text, &pattern, message);
  }
  if (status != TENON_OK) {
    return status;
  }
  *out_instance = pattern;
  return TENON_OK;
}

tenon_status_t tenon__full_match_bind(void* instance, tenon_binding_t* binding,
                                      const tenon_bind_table_t* host, void** out_bound) {
  (void)binding, (void)host;
  tenon__matcher_t* matcher = NULL;
  const tenon_status_t status = tenon__matcher_create(instance, &matcher);
  *out_bound = matcher;
  return status;
}

static int64_t count_elements(const tenon_tensor_view_t* view) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < view->rank; ++axis) {
    count *= view->dims[axis];
  }
  return count;
}

tenon_status_t tenon__full_match_enqueue(const tenon_enqueue_t* call) {
  char message[TENON__PATTERN_MESSAGE_SIZE];
  const tenon_string_view_t* strings = call->inputs[0].tensor.data;
  bool* matches = call->outputs[0].tensor.data;
  const int64_t count = count_elements(&call->inputs[0].tensor);
  for (int64_t i = 0; i < count; ++i) {
    const tenon_status_t status =
        tenon__matcher_match(call->bound, strings[i], &matches[i], message);
    if (status != TENON_OK) {
      return call->host->fail(call->run, status, message);
    }
    if (call->host->cancelled(call->run) != 0) {
      return TENON_ERROR_CANCELLED;
    }
  }
  return TENON_OK;
}

void tenon__full_match_unbind(void* instance, void* bound) {
  (void)instance;
  tenon__matcher_destroy(bound);
}

void tenon__full_match_destroy(void* instance) {
  tenon__pattern_destroy(instance);
}
