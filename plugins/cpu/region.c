/* Reading regions, describing layouts, dividing work. */
#include "cpu.h"

static const tenon_value_info_t* value_of(tenon__cpu_region_t region, uint32_t value) {
  return value == TENON_NONE ? NULL : region.table->value(region.handle, value);
}

const tenon_value_info_t* tenon__cpu_region_input(tenon__cpu_region_t region, uint32_t index) {
  if (index >= region.table->node_input_count(region.handle, 0)) {
    return NULL;
  }
  return value_of(region, region.table->node_input(region.handle, 0, index));
}

const tenon_value_info_t* tenon__cpu_region_output(tenon__cpu_region_t region, uint32_t index) {
  if (index >= region.table->node_output_count(region.handle, 0)) {
    return NULL;
  }
  return value_of(region, region.table->node_output(region.handle, 0, index));
}

uint32_t tenon__cpu_region_argument(tenon__cpu_region_t region, uint32_t index) {
  const tenon_value_info_t* info = tenon__cpu_region_input(region, index);
  if (info == NULL) {
    return TENON_NONE;
  }
  return info->input != TENON_NONE ? info->input : index; /* before a prologue */
}

int64_t tenon__cpu_region_int(tenon__cpu_region_t region, const char* name, int64_t otherwise) {
  int64_t value = otherwise;
  return region.table->attribute_int(region.handle, 0, name, &value) == TENON_OK ? value
                                                                                 : otherwise;
}

double tenon__cpu_region_float(tenon__cpu_region_t region, const char* name, double otherwise) {
  double value = otherwise;
  return region.table->attribute_float(region.handle, 0, name, &value) == TENON_OK ? value
                                                                                   : otherwise;
}

const char* tenon__cpu_region_string(tenon__cpu_region_t region, const char* name) {
  const char* value = "";
  return region.table->attribute_string(region.handle, 0, name, &value) == TENON_OK ? value : "";
}

int64_t tenon__cpu_region_item(tenon__cpu_region_t region, const char* name, size_t index,
                               int64_t otherwise) {
  const int64_t* values = NULL;
  size_t count = 0;
  if (region.table->attribute_ints(region.handle, 0, name, &values, &count) != TENON_OK) {
    return otherwise;
  }
  return index < count ? values[index] : otherwise;
}

size_t tenon__cpu_region_length(tenon__cpu_region_t region, const char* name) {
  const int64_t* values = NULL;
  size_t count = 0;
  return region.table->attribute_ints(region.handle, 0, name, &values, &count) == TENON_OK ? count
                                                                                           : 0;
}

int32_t tenon__cpu_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  out_refusal->reason = reason;
  out_refusal->detail = detail;
  return 0;
}

void* tenon__cpu_allocate_prepared(void* preparation, size_t size_bytes) {
  const tenon__cpu_preparation_t* p = preparation;
  return p->host->allocate(p->handle, size_bytes);
}

const tenon_layout_t* tenon__cpu_channels_last(uint32_t rank) {
  static const uint32_t order_3[] = {0, 2, 1};
  static const uint32_t order_4[] = {0, 2, 3, 1};
  static const uint32_t order_5[] = {0, 2, 3, 4, 1};
  static const tenon_layout_t layouts[] = {
      {.size = sizeof(tenon_layout_t), .name = "channels last", .order = order_3, .rank = 3},
      {.size = sizeof(tenon_layout_t), .name = "channels last", .order = order_4, .rank = 4},
      {.size = sizeof(tenon_layout_t), .name = "channels last", .order = order_5, .rank = 5},
  };
  return rank >= 3 && rank <= 5 ? &layouts[rank - 3] : NULL;
}

bool tenon__cpu_is_cancelled(const tenon_enqueue_t* call) {
  return TENON_HAS(call->host, tenon_run_table_t, cancelled) && call->host->cancelled != NULL &&
         call->host->cancelled(call->run) != 0;
}

typedef struct work_t {
  const tenon_enqueue_t* call;
  tenon__cpu_body_t body;
  void* user;
} work_t;

static void run_index(void* user, uint32_t index, uint32_t thread) {
  const work_t* work = user;
  if (!tenon__cpu_is_cancelled(work->call)) {
    work->body(work->user, index, thread);
  }
}

void tenon__cpu_parallel(const tenon_enqueue_t* call, uint32_t count, tenon__cpu_body_t body,
                         void* user) {
  work_t work = {call, body, user};
  if (count > 1 && call->host->thread_count(call->run) > 1) {
    call->host->parallel(call->run, count, run_index, &work);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    run_index(&work, i, 0);
  }
}

size_t tenon__cpu_element_bytes(tenon_dtype_t dtype) {
  static const uint8_t bits[TENON_DTYPE_COUNT] = {
#define DTYPE_BITS(name, mnemonic, count, kind) count,
      TENON_DTYPES(DTYPE_BITS)
#undef DTYPE_BITS
  };
  return dtype < TENON_DTYPE_COUNT && bits[dtype] % 8 == 0 ? bits[dtype] / 8U : 0;
}
