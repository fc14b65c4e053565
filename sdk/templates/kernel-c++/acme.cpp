/* acme.rms_norm: each row divided by the root of its mean square. The expression defines the
 * operator on all devices. The kernel computes it faster on the CPU, in float and in double; builds
 * measure both. */
#include <cmath>

#include "tenon/plugin.hpp"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: operator acme.rms_norm/1\n"
                      "offers: kernel rms_norm acme.rms_norm/1 cpu\n");

namespace {

/* ---- Operator ---- */

const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(tenon_attribute_descriptor_t),
                                                    .name = "epsilon",
                                                    .default_text = "1e-5",
                                                    .kind = TENON_ATTRIBUTE_FLOAT}};
const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "float"}};
const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
const tenon_case_t cases[] = {
    {.size = sizeof(tenon_case_t), .text = "y = x / sqrt(mean(x * x, [-1]) + epsilon)"}};
const tenon_check_t checks[] = {
    {.size = sizeof(tenon_check_t), .condition = "rank(x) > 0", .message = "x has no rows"}};
const tenon_operator_t operators[] = {{.size = sizeof(tenon_operator_t),
                                       .name = "acme.rms_norm/1",
                                       .summary = "x / sqrt(mean(x * x, -1) + epsilon)",
                                       .attributes = tenon::list(attributes),
                                       .types = tenon::list(types),
                                       .inputs = tenon::list(inputs),
                                       .outputs = tenon::list(outputs),
                                       .checks = tenon::list(checks),
                                       .cases = tenon::list(cases)}};

/* ---- Kernel ---- */

struct instance_t {
  double epsilon;
};

/* The host asks before it measures. It has checked operator, attributes and layout already. */
int32_t match(void*, const tenon_region_t* region, const tenon_region_table_t* table,
              tenon_refusal_t* out_refusal) noexcept {
  const tenon_dtype_t dtype = table->value(region, table->input(region, 0))->dtype;
  if (dtype != TENON_DTYPE_FLOAT32 && dtype != TENON_DTYPE_FLOAT64) {
    *out_refusal = {.reason = TENON_REFUSAL_DTYPE};
    return 0;
  }
  return 1;
}

/* Tolerances follow from the numerics: sums in another order than the operator's. */
tenon_status_t tactics(void*, const tenon_region_t*, const tenon_region_table_t*,
                       tenon_emit_t* emit,
                       tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) noexcept {
  const tenon_numerics_t numerics = {.size = sizeof(tenon_numerics_t), .reassociates = 1};
  const tenon_tactic_t tactic = {
      .size = sizeof(tenon_tactic_t), .name = "rows", .numerics = &numerics};
  return add(emit, &tactic);
}

tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) noexcept {
  auto* instance = tenon::allocate<instance_t>(call);
  if (instance == nullptr) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_instance = instance;
  return call->table->attribute_float(call->region, 0, "epsilon", &instance->epsilon);
}

template <class T>
void compute_row(const T* x, T* y, int64_t width, T epsilon) {
  T sums[8] = {}; /* independent sums, so that the compiler uses vectors */
  int64_t k = 0;
  for (; k + 8 <= width; k += 8) {
    for (int64_t lane = 0; lane < 8; ++lane) {
      sums[lane] += x[k + lane] * x[k + lane];
    }
  }
  for (; k < width; ++k) {
    sums[0] += x[k] * x[k];
  }
  const T sum =
      (sums[0] + sums[1]) + (sums[2] + sums[3]) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  const T factor = 1 / std::sqrt(sum / static_cast<T>(width) + epsilon);
  for (k = 0; k < width; ++k) {
    y[k] = x[k] * factor;
  }
}

template <class T>
tenon_status_t compute(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t& view = call->inputs[0].tensor;
  const T epsilon = static_cast<T>(static_cast<const instance_t*>(call->instance)->epsilon);
  const T* x = tenon::input<T>(call, 0);
  T* y = tenon::output<T>(call, 0);
  const int64_t width = view.dims[view.rank - 1];
  const int64_t rows = tenon::elements(view, 0, view.rank - 1);
  /* Parts of at least 16 Ki elements: a smaller one takes less time than waking a thread. */
  const int64_t part = 16384 / (width + 1) + 1 + rows / call->host->thread_count(call->run);
  auto body = [=](uint32_t index) {
    const int64_t end = (index + 1) * part < rows ? (index + 1) * part : rows;
    for (int64_t row = index * part; row < end; ++row) {
      compute_row(x + row * width, y + row * width, width, epsilon);
    }
  };
  return tenon::parallel(call, static_cast<uint32_t>((rows + part - 1) / part), body);
}

/* A run: no allocation, no lock, no message, no exception. */
tenon_status_t enqueue(const tenon_enqueue_t* call) noexcept {
  return call->inputs[0].tensor.dtype == TENON_DTYPE_FLOAT32 ? compute<float>(call)
                                                             : compute<double>(call);
}

const char* const computed[] = {"acme.rms_norm/1", nullptr};
const char* const understood[] = {"epsilon", nullptr};
const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                   .name = "rms_norm",
                                   .device = "cpu",
                                   .operators = computed,
                                   .attributes = understood,
                                   .version = 1, /* raise it with each change of the code */
                                   .match = match,
                                   .tactics = tactics,
                                   .prepare = prepare,
                                   .enqueue = enqueue}};

/* ---- Plugin ---- */

const tenon_offering_t offered[] = {tenon::offering("operator/1", operators),
                                    tenon::offering("kernel/1", kernels)};
const tenon_offering_t* const offerings[] = {&offered[0], &offered[1]};
const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                               .offerings = tenon::list(offerings)};

}  // namespace

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t*) {
  return &plugin;
}
