/* cuDNN's graph API through its C backend interface, as far as the experiments need it: tensors in
 * NHWC, convolution, product, pointwise, reduction; proposals of the heuristics, plans, execution.
 * A refusal is a status, not an end. */
#pragma once

#include <cudnn_graph.h>

#include <array>
#include <initializer_list>

#include "measure.cuh"

#define CHECK_DNN(call)                                                                          \
  do {                                                                                           \
    cudnnStatus_t check_status = (call);                                                         \
    if (check_status != CUDNN_STATUS_SUCCESS) {                                                  \
      char check_words[400] = "";                                                                \
      cudnnGetLastErrorString(check_words, sizeof check_words);                                  \
      printf("%s:%d %s: %s: %s\n", __FILE__, __LINE__, #call, cudnnGetErrorString(check_status), \
             check_words);                                                                       \
      fflush(stdout);                                                                            \
      _exit(2);                                                                                  \
    }                                                                                            \
  } while (0)

typedef cudnnBackendDescriptor_t dnn_t;
typedef std::array<int64_t, 4> extents_t; /* N, C, H, W; for products 1, batch... see product() */

inline cudnnStatus_t dnn_set(dnn_t d, cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  return cudnnBackendSetAttribute(d, name, type, count, values);
}
template <class T>
void dnn_one(dnn_t d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
  CHECK_DNN(dnn_set(d, name, type, 1, &value));
}

inline extents_t channels_last(const extents_t& e) {
  return {e[1] * e[2] * e[3], 1, e[3] * e[1], e[1]};
}

/* Words that cuDNN left about the last refusal of this thread, on one line. */
inline std::string dnn_words() {
  char words[300] = "";
  cudnnGetLastErrorString(words, sizeof words);
  for (char* c = words; *c; c++) {
    if (*c == '\n') {
      *c = ' ';
    }
  }
  return words;
}

struct dnn_graph_t {
  cudnnHandle_t handle; /* NULL: without a device, by its `properties` alone */
  dnn_t properties = nullptr;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  std::vector<dnn_t> owned, operations;
  std::vector<int64_t> names;
  std::vector<void*> pointers;
  dnn_t graph = nullptr;
  int64_t next_name = 1;

  explicit dnn_graph_t(cudnnHandle_t handle) : handle(handle) {}
  dnn_graph_t(const dnn_graph_t&) = delete;
  dnn_graph_t& operator=(const dnn_graph_t&) = delete;
  ~dnn_graph_t() {
    for (size_t i = owned.size(); i > 0; i--) {
      cudnnBackendDestroyDescriptor(owned[i - 1]);
    }
  }
  dnn_t make(cudnnBackendDescriptorType_t type) {
    dnn_t d = nullptr;
    CHECK_DNN(cudnnBackendCreateDescriptor(type, &d));
    owned.push_back(d);
    return d;
  }
  /* `pointer` NULL: a value between two operations. `dimensions`: 3 for products, else 4. */
  dnn_t tensor(cudnnDataType_t type, const extents_t& extents, const extents_t& strides,
               void* pointer, bool by_value = false, int dimensions = 4, int64_t alignment = 16) {
    dnn_t d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    dnn_one(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    CHECK_DNN(
        dnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dimensions, extents.data()));
    CHECK_DNN(dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dimensions, strides.data()));
    dnn_one(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, next_name);
    dnn_one(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
    dnn_one(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, pointer == nullptr);
    dnn_one(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, by_value);
    CHECK_DNN(cudnnBackendFinalize(d));
    if (pointer) {
      names.push_back(next_name);
      pointers.push_back(pointer);
    }
    next_name++;
    return d;
  }
  dnn_t nhwc(cudnnDataType_t type, const extents_t& extents, void* pointer) {
    return tensor(type, extents, channels_last(extents), pointer);
  }
  dnn_t between(const extents_t& extents, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return tensor(type, extents, channels_last(extents), nullptr);
  }
  /* A window's strides and paddings in front and behind, of rows and of columns. */
  dnn_t window(const int64_t (&strides)[2], const int64_t (&pre)[2], const int64_t (&post)[2]) {
    const int64_t dilations[2] = {1, 1};
    dnn_t c = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    dnn_one(c, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute);
    dnn_one(c, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
            CUDNN_CROSS_CORRELATION);
    dnn_one(c, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, (int64_t)2);
    CHECK_DNN(dnn_set(c, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides));
    CHECK_DNN(dnn_set(c, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pre));
    CHECK_DNN(dnn_set(c, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, post));
    CHECK_DNN(dnn_set(c, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilations));
    CHECK_DNN(cudnnBackendFinalize(c));
    return c;
  }
  cudnnStatus_t convolution(dnn_t x, dnn_t w, dnn_t y, int64_t stride, int64_t padding) {
    return convolution(x, w, y, window({stride, stride}, {padding, padding}, {padding, padding}));
  }
  cudnnStatus_t convolution(dnn_t x, dnn_t w, dnn_t y, dnn_t c) {
    dnn_t o = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            c);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, w);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.f);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.f);
    operations.push_back(o);
    return cudnnBackendFinalize(o);
  }
  /* The transposed one: x becomes y, whose window moves over it. */
  cudnnStatus_t transposed(dnn_t x, dnn_t w, dnn_t y, int64_t stride, int64_t padding) {
    dnn_t c = window({stride, stride}, {padding, padding}, {padding, padding});
    dnn_t o = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            c);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_TYPE_BACKEND_DESCRIPTOR, w);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1.f);
    dnn_one(o, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 0.f);
    operations.push_back(o);
    return cudnnBackendFinalize(o);
  }
  cudnnStatus_t product(dnn_t a, dnn_t b, dnn_t c) {
    dnn_t m = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    dnn_one(m, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute);
    CHECK_DNN(cudnnBackendFinalize(m));
    dnn_t o = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    dnn_one(o, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, m);
    dnn_one(o, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, a);
    dnn_one(o, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, b);
    dnn_one(o, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, c);
    operations.push_back(o);
    return cudnnBackendFinalize(o);
  }
  /* `b` NULL for one operand, `condition` only for BINARY_SELECT. */
  cudnnStatus_t pointwise(cudnnPointwiseMode_t mode, dnn_t x, dnn_t b, dnn_t y,
                          dnn_t condition = nullptr) {
    dnn_t p = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    dnn_one(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    dnn_one(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    cudnnStatus_t status = cudnnBackendFinalize(p);
    if (status != CUDNN_STATUS_SUCCESS) {
      return status;
    }
    dnn_t o = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    dnn_one(o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, p);
    dnn_one(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    if (b) {
      dnn_one(o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, b);
    }
    if (condition) {
      dnn_one(o, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, condition);
    }
    dnn_one(o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    operations.push_back(o);
    return cudnnBackendFinalize(o);
  }
  cudnnStatus_t reduction(cudnnReduceTensorOp_t op, dnn_t x, dnn_t y) {
    dnn_t r = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    dnn_one(r, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    dnn_one(r, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op);
    const cudnnStatus_t status = cudnnBackendFinalize(r);
    if (status != CUDNN_STATUS_SUCCESS) {
      return status;
    }
    dnn_t o = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    dnn_one(o, CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, r);
    dnn_one(o, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    dnn_one(o, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    operations.push_back(o);
    return cudnnBackendFinalize(o);
  }
  cudnnStatus_t finish() {
    graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (handle) {
      dnn_one(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
    }
    CHECK_DNN(dnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      (int64_t)operations.size(), operations.data()));
    return cudnnBackendFinalize(graph);
  }
  int64_t engines() {
    int64_t count = 0, got = 0;
    CHECK_DNN(cudnnBackendGetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                                       CUDNN_TYPE_INT64, 1, &got, &count));
    return count;
  }
  /* Engine configurations in the order of the heuristics; empty if they refuse. */
  std::vector<dnn_t> proposals(cudnnBackendHeurMode_t mode, cudnnStatus_t* out_status = nullptr) {
    std::vector<dnn_t> configurations;
    dnn_t h = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    dnn_one(h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph);
    dnn_one(h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    if (properties) {
      dnn_one(h, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, properties);
    }
    cudnnStatus_t status = cudnnBackendFinalize(h);
    int64_t count = 0, got = 0;
    if (status == CUDNN_STATUS_SUCCESS) {
      status = cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
    }
    if (status == CUDNN_STATUS_SUCCESS && count > 0) {
      for (int64_t i = 0; i < count; i++) {
        configurations.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      }
      status =
          cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   count, &got, configurations.data());
      configurations.resize(status == CUDNN_STATUS_SUCCESS ? got : 0);
    }
    if (out_status) {
      *out_status = status;
    }
    return configurations;
  }
};

/* The configuration of an engine that the heuristics did not propose, with its own defaults; NULL:
 * it refuses. */
inline dnn_t engine_configuration(dnn_graph_t& graph, int64_t index) {
  dnn_t engine = graph.make(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
        configuration = graph.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  dnn_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph.graph);
  dnn_one(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, index);
  if (cudnnBackendFinalize(engine) != CUDNN_STATUS_SUCCESS) {
    return nullptr;
  }
  dnn_one(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, engine);
  return cudnnBackendFinalize(configuration) == CUDNN_STATUS_SUCCESS ? configuration : nullptr;
}

struct dnn_engine_t {
  int64_t index = -1;
  unsigned numerical = 0, behavior = 0; /* bits: 1 << note */
};

inline dnn_engine_t engine_of(dnn_graph_t& graph, dnn_t configuration) {
  dnn_engine_t e;
  dnn_t engine = graph.make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  int64_t got = 0;
  if (cudnnBackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got,
                               &engine) != CUDNN_STATUS_SUCCESS) {
    return e;
  }
  cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &got,
                           &e.index);
  cudnnBackendNumericalNote_t numerical[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  cudnnBackendBehaviorNote_t behavior[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
  got = 0;
  cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                           CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &got, numerical);
  for (int64_t i = 0; i < got; i++) {
    e.numerical |= 1u << numerical[i];
  }
  got = 0;
  cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                           CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &got, behavior);
  for (int64_t i = 0; i < got; i++) {
    e.behavior |= 1u << behavior[i];
  }
  return e;
}

/* A plan with its workspace and a pack of the graph's pointers. */
struct dnn_plan_t {
  dnn_t plan = nullptr, pack = nullptr;
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
  dnn_plan_t() = default;
  dnn_plan_t(const dnn_plan_t&) = delete;
  dnn_plan_t& operator=(const dnn_plan_t&) = delete;
  ~dnn_plan_t() {
    if (pack) {
      cudnnBackendDestroyDescriptor(pack);
    }
    if (plan) {
      cudnnBackendDestroyDescriptor(plan);
    }
    cudaFree(workspace);
  }
  cudnnStatus_t build(cudnnHandle_t handle, dnn_t configuration, dnn_t properties = nullptr) {
    CHECK_DNN(cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    if (properties) {
      dnn_one(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              properties);
    } else {
      dnn_one(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    }
    dnn_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            configuration);
    return cudnnBackendFinalize(plan);
  }
  cudnnStatus_t load(cudnnHandle_t handle, const std::string& json) {
    CHECK_DNN(cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    dnn_one(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    const cudnnStatus_t status = dnn_set(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                         CUDNN_TYPE_CHAR, (int64_t)json.size(), json.c_str());
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendFinalize(plan) : status;
  }
  std::string json() const {
    int64_t size = 0, got = 0;
    if (cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                 CUDNN_TYPE_CHAR, 0, &size, nullptr) != CUDNN_STATUS_SUCCESS) {
      return "";
    }
    std::string text((size_t)size, 0);
    cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                             size, &got, &text[0]);
    return text;
  }
  void bind(const std::vector<int64_t>& names, const std::vector<void*>& pointers,
            void* shared_workspace = nullptr) {
    if (pack) {
      cudnnBackendDestroyDescriptor(pack);
    }
    int64_t got = 0;
    CHECK_DNN(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &got, &workspace_bytes));
    if (workspace_bytes && !workspace && !shared_workspace) {
      workspace = device_new<uint8_t>(workspace_bytes);
    }
    CHECK_DNN(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    CHECK_DNN(dnn_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                      (int64_t)names.size(), names.data()));
    CHECK_DNN(dnn_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                      (int64_t)pointers.size(), pointers.data()));
    dnn_one(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
            shared_workspace ? shared_workspace : workspace);
    CHECK_DNN(cudnnBackendFinalize(pack));
  }
};
