/* What cuDNN answers on a machine without a GPU, from the properties of a device that another
 * machine wrote (cudnn_engines SECONDS FILE): proposals, plans, and plans as JSON.
 *
 *   cudnn_without_gpu FILE */
#include "operation_graph.cuh"

enum { CHANNELS = 256, COLUMNS = 1024, EXTENT = 14 };
enum form_t { RESIDUAL_FIRST, BIAS_FIRST, NO_RESIDUAL };
static const char* const forms[] = {"residual first", "bias first", "no residual"};

/* relu(convolution + bias (+ residual)); nothing runs, so the addresses mean nothing. */
static cudnnStatus_t make(dnn_graph_t& g, form_t form) {
  void* const somewhere = (void*)256;
  const extents_t xe = {1, CHANNELS, EXTENT, EXTENT}, we = {COLUMNS, CHANNELS, 1, 1},
                  be = {1, COLUMNS, 1, 1}, ye = {1, COLUMNS, EXTENT, EXTENT};
  const cudnnDataType_t half = CUDNN_DATA_HALF;
  dnn_t value = g.between(ye);
  cudnnStatus_t status =
      g.convolution(g.nhwc(half, xe, somewhere), g.nhwc(half, we, somewhere), value, 1, 0);
  auto add = [&](const extents_t& extents) {
    dnn_t sum = g.between(ye);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.pointwise(CUDNN_POINTWISE_ADD, value, g.nhwc(half, extents, somewhere), sum);
    }
    value = sum;
  };
  if (form == RESIDUAL_FIRST) {
    add(ye);
  }
  add(be);
  if (form == BIAS_FIRST) {
    add(ye);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.pointwise(CUDNN_POINTWISE_RELU_FWD, value, nullptr, g.nhwc(half, ye, somewhere));
  }
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

int main(int argc, char** argv) {
  FILE* f = argc > 1 ? fopen(argv[1], "rb") : nullptr;
  if (!f) {
    printf("usage: cudnn_without_gpu FILE\n");
    return 2;
  }
  std::string json;
  for (int c = fgetc(f); c != EOF; c = fgetc(f)) {
    json.push_back((char)c);
  }
  fclose(f);
  dnn_t properties;
  CHECK_DNN(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &properties));
  CHECK_DNN(dnn_set(properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                    (int64_t)json.size(), json.c_str()));
  CHECK_DNN(cudnnBackendFinalize(properties));
  for (form_t form : {RESIDUAL_FIRST, BIAS_FIRST, NO_RESIDUAL}) {
    dnn_graph_t g(nullptr);
    g.properties = properties;
    CHECK_DNN(make(g, form));
    const double begin = now_us();
    const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
    printf("FORM %s: %zu proposals in %.0f ms %s\n", forms[form], found.size(),
           (now_us() - begin) / 1e3, found.empty() ? dnn_words().c_str() : "");
    for (size_t i = 0; i < found.size() && i < 3; i++) {
      dnn_plan_t plan;
      const double start = now_us();
      const cudnnStatus_t status = plan.build(nullptr, found[i], properties);
      const double built = (now_us() - start) / 1e3;
      const bool good = status == CUDNN_STATUS_SUCCESS;
      printf("  engine %ld: %s in %.2f ms, %zu bytes as JSON %s\n",
             (long)engine_of(g, found[i]).index, cudnnGetErrorString(status), built,
             good ? plan.json().size() : 0, good ? "" : dnn_words().c_str());
    }
  }
}
