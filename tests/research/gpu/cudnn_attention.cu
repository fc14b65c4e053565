/* Attention through cuDNN's backend interface: as its one operation, and as the products and the
 * softmax that the library knows as a pattern. BERT-base's heads, batch 1 and 32, reading one
 * packed qkv; checked against float64. */
#include "operation_graph.cuh"

enum { HEADS = 12, WIDTH = 64, CHANNELS = HEADS * WIDTH };
static cudnnHandle_t handle;

static __global__ void plain_attention(const half* qkv, double* y, int tokens) {
  extern __shared__ double weight[];
  const int query = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const half* base = qkv + (size_t)blockIdx.z * tokens * 3 * CHANNELS + head * WIDTH;
  double s = 0, most = -1e300, sum = 0, result = 0;
  for (int d = 0; d < WIDTH; d++) {
    s += (double)__half2float(base[query * 3 * CHANNELS + d]) *
         (double)__half2float(base[t * 3 * CHANNELS + CHANNELS + d]);
  }
  weight[t] = s / 8;
  __syncthreads();
  for (int i = 0; i < tokens; i++) {
    most = fmax(most, weight[i]);
  }
  if (t < WIDTH) {
    for (int i = 0; i < tokens; i++) {
      const double e = exp(weight[i] - most);
      sum += e;
      result += e * (double)__half2float(base[i * 3 * CHANNELS + 2 * CHANNELS + t]);
    }
    y[((size_t)blockIdx.z * tokens + query) * CHANNELS + head * WIDTH + t] = result / sum;
  }
}

struct attention_t {
  int64_t batch, tokens;
  half *qkv, *y;
  double* expected;
  float scale = 0.125f;
  extents_t packed() const {
    return {batch, HEADS, tokens, WIDTH};
  }
  extents_t packed_strides() const {
    return {tokens * 3 * CHANNELS, WIDTH, 3 * CHANNELS, 1};
  }
};

/* The library's own operation. */
static cudnnStatus_t one_operation(dnn_graph_t& g, attention_t& a) {
  dnn_t o = g.make(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  const extents_t one = {1, 1, 1, 1};
  dnn_t q = g.tensor(CUDNN_DATA_HALF, a.packed(), a.packed_strides(), a.qkv);
  dnn_t k = g.tensor(CUDNN_DATA_HALF, a.packed(), a.packed_strides(), a.qkv + CHANNELS);
  dnn_t v = g.tensor(CUDNN_DATA_HALF, a.packed(), a.packed_strides(), a.qkv + 2 * CHANNELS);
  dnn_t scale = g.tensor(CUDNN_DATA_FLOAT, one, one, &a.scale, true);
  dnn_t y = g.tensor(CUDNN_DATA_HALF, a.packed(), {a.tokens * CHANNELS, WIDTH, CHANNELS, 1}, a.y);
  dnn_one(o, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, q);
  dnn_one(o, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, k);
  dnn_one(o, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, v);
  dnn_one(o, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, scale);
  dnn_one(o, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
  g.operations.push_back(o);
  const cudnnStatus_t status = cudnnBackendFinalize(o);
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

/* Product, scale, maximum, difference, exponential, sum, quotient, product. */
static cudnnStatus_t pattern(dnn_graph_t& g, attention_t& a) {
  const extents_t one = {1, 1, 1, 1}, square = {a.batch, HEADS, a.tokens, a.tokens};
  const extents_t square_strides = {HEADS * a.tokens * a.tokens, a.tokens * a.tokens, a.tokens, 1};
  const extents_t row = {a.batch, HEADS, a.tokens, 1},
                  row_strides = {HEADS * a.tokens, a.tokens, 1, 1};
  const extents_t turned = {a.batch, HEADS, WIDTH, a.tokens},
                  turned_strides = {a.tokens * 3 * CHANNELS, WIDTH, 1, 3 * CHANNELS};
  auto middle = [&](cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return g.tensor(type, square, square_strides, nullptr);
  };
  auto line = [&] { return g.tensor(CUDNN_DATA_FLOAT, row, row_strides, nullptr); };
  dnn_t q = g.tensor(CUDNN_DATA_HALF, a.packed(), a.packed_strides(), a.qkv);
  dnn_t k = g.tensor(CUDNN_DATA_HALF, turned, turned_strides, a.qkv + CHANNELS);
  dnn_t v = g.tensor(CUDNN_DATA_HALF, a.packed(), a.packed_strides(), a.qkv + 2 * CHANNELS);
  dnn_t scale = g.tensor(CUDNN_DATA_FLOAT, one, one, &a.scale, true);
  dnn_t y = g.tensor(CUDNN_DATA_HALF, a.packed(), {a.tokens * CHANNELS, WIDTH, CHANNELS, 1}, a.y);
  dnn_t scores = middle(), scaled = middle(), most = line(), difference = middle(), e = middle(),
        sum = line(), weights = middle(CUDNN_DATA_HALF);
  cudnnStatus_t status = g.product(q, k, scores);
  auto then = [&](cudnnStatus_t next) { status = status == CUDNN_STATUS_SUCCESS ? next : status; };
  then(g.pointwise(CUDNN_POINTWISE_MUL, scores, scale, scaled));
  then(g.reduction(CUDNN_REDUCE_TENSOR_MAX, scaled, most));
  then(g.pointwise(CUDNN_POINTWISE_SUB, scaled, most, difference));
  then(g.pointwise(CUDNN_POINTWISE_EXP, difference, nullptr, e));
  then(g.reduction(CUDNN_REDUCE_TENSOR_ADD, e, sum));
  then(g.pointwise(CUDNN_POINTWISE_DIV, e, sum, weights));
  then(g.product(weights, v, y));
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

static void examine(const char* name, attention_t& a,
                    cudnnStatus_t (*build)(dnn_graph_t&, attention_t&)) {
  dnn_graph_t g(handle);
  if (build(g, a) != CUDNN_STATUS_SUCCESS) {
    printf("ATTENTION %s, batch %ld: graph refused: %s\n", name, (long)a.batch,
           dnn_words().c_str());
    return;
  }
  cudnnStatus_t status;
  const double t0 = now_us();
  const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A, &status);
  printf("ATTENTION %s, batch %ld: %zu proposals in %.1f ms (%s)\n", name, (long)a.batch,
         found.size(), (now_us() - t0) / 1e3,
         found.empty() ? dnn_words().c_str() : cudnnGetErrorString(status));
  const size_t n = (size_t)(a.batch * a.tokens * CHANNELS);
  for (size_t i = 0; i < found.size() && i < 6; i++) {
    dnn_plan_t plan;
    const double begin = now_us();
    if (plan.build(handle, found[i]) != CUDNN_STATUS_SUCCESS) {
      printf("  refused: %s\n", dnn_words().c_str());
      continue;
    }
    const double built = (now_us() - begin) / 1e3;
    plan.bind(g.names, g.pointers);
    CHECK(cudaMemset(a.y, 0xff, n * 2));
    CHECK_DNN(cudnnSetStream(handle, nullptr));
    if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
      printf("  does not run: %s\n", dnn_words().c_str());
      continue;
    }
    const double error = relative_error(a.y, a.expected, n);
    const spread_t t = step_time(
        [&](cudaStream_t s, int) {
          CHECK_DNN(cudnnSetStream(handle, s));
          CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
        },
        15, 10, 40);
    size_t nodes = 0;
    graph_t graph([&](cudaStream_t s) {
      CHECK_DNN(cudnnSetStream(handle, s));
      CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
      CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
    });
    CHECK(cudaGraphGetNodes(graph.graph, nullptr, &nodes));
    cudaGraphNode_t from[16], to[16];
    cudaGraphEdgeData data[16] = {};
    size_t edges = 16;
    CHECK(cudaGraphGetEdges(graph.graph, from, to, data, &edges));
    const dnn_engine_t e = engine_of(g, found[i]);
    printf(
        "  engine %ld behavior %x: built in %.1f ms, workspace %ld, error %.1e, %.2f us "
        "(%.2f-%.2f); twice in a graph: %zu "
        "nodes, edge type %d\n",
        (long)e.index, e.behavior, built, (long)plan.workspace_bytes, error, t.median, t.low,
        t.high, nodes, edges ? data[0].type : -1);
  }
}

int main() {
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  for (int64_t batch : {1, 32}) {
    attention_t a = {batch, 128};
    const size_t n = (size_t)(batch * a.tokens * CHANNELS);
    a.qkv = random_half(3 * n, 1.5f, 1);
    a.y = device_new<half>(n);
    a.expected = device_new<double>(n);
    plain_attention<<<dim3((unsigned)a.tokens, HEADS, (unsigned)batch), (unsigned)a.tokens,
                      a.tokens * 8>>>(a.qkv, a.expected, (int)a.tokens);
    CHECK(cudaDeviceSynchronize());
    examine("as one operation", a, one_operation);
    examine("as a pattern", a, pattern);
    for (void* p : {(void*)a.qkv, (void*)a.y, (void*)a.expected}) {
      CHECK(cudaFree(p));
    }
  }
}
