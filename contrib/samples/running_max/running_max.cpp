/* running_max: y[i] is the largest of x[0..i] along an axis, in C++20. No expression defines it,
 * because an element needs those before it. So the operator has a shape rule, and one kernel, which is a
 * template over the element's type. */
#include <algorithm>

#include "tenon/plugin.hpp"

TENON_PLUGIN_MANIFEST("running_max", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: operator running_max.running_max/1\n"
                      "offers: kernel scan running_max.running_max/1 cpu\n");

namespace {

/* ---- Operator ---- */

const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(tenon_attribute_descriptor_t),
                                                    .name = "axis",
                                                    .default_text = "-1",
                                                    .kind = TENON_ATTRIBUTE_INT}};
const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "f32 f64 i32 i64"}};
const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
const tenon_check_t checks[] = {{.size = sizeof(tenon_check_t),
                                 .condition = "axis >= -rank(x) && axis < rank(x)",
                                 .message = "axis {axis} is outside of the {rank(x)} axes of x"}};
const tenon_operator_t operators[] = {{.size = sizeof(tenon_operator_t),
                                       .name = "running_max.running_max/1",
                                       .summary = "the largest element so far along an axis",
                                       .attributes = tenon::list(attributes),
                                       .types = tenon::list(types),
                                       .inputs = tenon::list(inputs),
                                       .outputs = tenon::list(outputs),
                                       .checks = tenon::list(checks),
                                       .shape = "y = x",
                                       .operations = "elements(y)"}};

/* ---- Kernel ---- */

struct instance_t {
  int64_t axis;
};

tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) noexcept {
  auto* instance = tenon::allocate<instance_t>(call);
  if (instance == nullptr) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_instance = instance;
  return call->table->attribute_int(call->region, 0, "axis", &instance->axis);
}

/* NaN stays the largest from where it occurs, as in NumPy. */
template <class T>
T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

/* The elements of one position outside of the axis: `inner` scans side by side, in rows. */
template <class T>
void scan(const T* x, T* y, int64_t extent, int64_t inner) {
  std::copy(x, x + inner, y);
  for (int64_t k = inner; k < extent * inner; ++k) {
    y[k] = larger(y[k - inner], x[k]);
  }
}

template <class T>
tenon_status_t compute(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t& view = call->inputs[0].tensor;
  const int64_t given = static_cast<const instance_t*>(call->instance)->axis;
  const auto axis = static_cast<uint32_t>(given < 0 ? given + view.rank : given);
  const T* x = tenon::input<T>(call, 0);
  T* y = tenon::output<T>(call, 0);
  const int64_t outer = tenon::elements(view, 0, axis);
  const int64_t inner = tenon::elements(view, axis + 1, view.rank);
  const int64_t size = view.dims[axis] * inner;
  if (size == 0) {
    return TENON_OK; /* there is nothing to write */
  }
  /* Parts of at least 16 Ki elements: a smaller one takes less time than waking a thread. */
  const int64_t part = 16384 / size + 1 + outer / call->host->thread_count(call->run);
  auto body = [=](uint32_t index) {
    const int64_t end = std::min((index + 1) * part, outer);
    for (int64_t k = index * part; k < end; ++k) {
      scan(x + k * size, y + k * size, size / inner, inner);
    }
  };
  return tenon::parallel(call, static_cast<uint32_t>((outer + part - 1) / part), body);
}

/* The host has checked that the type is one of the operator's. */
tenon_status_t enqueue(const tenon_enqueue_t* call) noexcept {
  switch (call->inputs[0].tensor.dtype) {
    case TENON_DTYPE_FLOAT32:
      return compute<float>(call);
    case TENON_DTYPE_FLOAT64:
      return compute<double>(call);
    case TENON_DTYPE_INT32:
      return compute<int32_t>(call);
    default:
      return compute<int64_t>(call);
  }
}

const char* const computed[] = {"running_max.running_max/1", nullptr};
const char* const understood[] = {"axis", nullptr};
const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                   .name = "scan",
                                   .device = "cpu",
                                   .operators = computed,
                                   .attributes = understood,
                                   .version = 1,
                                   .prepare = prepare,
                                   .enqueue = enqueue}};

/* ---- Plugin ---- */

const tenon_offering_t offered[] = {tenon::offering("operator/1", operators),
                                    tenon::offering("kernel/1", kernels)};
const tenon_offering_t* const offerings[] = {&offered[0], &offered[1]};
const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "running_max", .version = "1.0.0",
                               .offerings = tenon::list(offerings)};

}  // namespace

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t*) {
  return &plugin;
}
