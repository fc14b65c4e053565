/* cuDNN's graph API on convolution + bias (+ residual) + ReLU in fp16, NHWC: how many proposals,
 * how long plans take, how fast they run in a chain, whether they serialise, populate graphs and
 * keep their precision.
 *
 *   cudnn_engines [seconds for each layer] [file for the device's properties]
 *   cudnn_engines --parallel THREADS
 *   cudnn_engines --load FILE              a plan that another process wrote */
#include <cstring>
#include <map>
#include <thread>

#include "convolution.cuh"

static cudnnHandle_t handle;

static void one_layer(const layer_t& layer, int64_t batch, form_t form, double seconds) {
  convolution_data_t<half> d(layer, batch);
  dnn_graph_t g(handle);
  const double t0 = now_us();
  const cudnnStatus_t status = residual_graph(g, d, form);
  const double t1 = now_us();
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("ENGINES %s batch %ld: refused: %s\n", layer.name, (long)batch, dnn_words().c_str());
    return;
  }
  const std::vector<dnn_t> a = g.proposals(CUDNN_HEUR_MODE_A);
  const double t2 = now_us();
  const std::vector<dnn_t> b = g.proposals(CUDNN_HEUR_MODE_B);
  const double t3 = now_us();
  const std::vector<dnn_t> fallback = g.proposals(CUDNN_HEUR_MODE_FALLBACK);
  const double t4 = now_us();
  printf(
      "ENGINES %s batch %ld, %s: graph %.2f ms, %ld engines; mode A %zu in %.1f ms, B %zu in %.1f, "
      "fallback %zu in %.1f\n",
      layer.name, (long)batch, form_names[form], (t1 - t0) / 1e3, (long)g.engines(), a.size(),
      (t2 - t1) / 1e3, b.size(), (t3 - t2) / 1e3, fallback.size(), (t4 - t3) / 1e3);
  std::vector<plan_result_t> results;
  std::vector<double> builds;
  const double begin = now_us();
  for (size_t i = 0; i < a.size() && now_us() - begin < seconds * 1e6; i++) {
    results.push_back(measure_plan(handle, g, d, a[i], 2e-3));
    builds.push_back(results.back().build_ms);
  }
  size_t refused = 0, wrong = 0, best = 0;
  for (size_t i = 0; i < results.size(); i++) {
    refused += results[i].workspace < 0;
    wrong += results[i].workspace >= 0 && !(results[i].error < 2e-3);
    if (!(results[i].us.median >= results[best].us.median) && !std::isnan(results[i].us.median)) {
      best = i;
    }
  }
  if (results.empty()) {
    return;
  }
  const spread_t build = spread_of(builds);
  printf(
      "  %zu plans tried in %.1f s (%.0f ms a plan, %.0f-%.0f), %zu refused, %zu wrong; first "
      "proposal %.2f us, best "
      "(number %zu) %.2f us, engine %ld, behavior %x, workspace %ld, error %.1e; own kernel %.2f\n",
      results.size(), (now_us() - begin) / 1e6, build.median, build.low, build.high, refused, wrong,
      results[0].us.median, best, results[best].us.median, (long)results[best].engine.index,
      results[best].engine.behavior, (long)results[best].workspace, results[best].error,
      batch == 1 ? layer.own_us : NAN);
  printf("  ");
  std::map<int64_t, std::pair<int, double>> by_engine;
  for (const plan_result_t& r : results) {
    std::pair<int, double>& e =
        by_engine.emplace(r.engine.index, std::make_pair(0, INFINITY)).first->second;
    e.first++;
    e.second = r.us.median < e.second ? r.us.median : e.second;
  }
  for (const auto& e : by_engine) {
    printf(" engine %ld: %d, best %.2f;", (long)e.first, e.second.first, e.second.second);
  }
  for (int64_t index : {2, 4}) {
    dnn_t configuration = engine_configuration(g, index);
    if (configuration) {
      const plan_result_t r = measure_plan(handle, g, d, configuration, 2e-3);
      printf(" by number %ld: built in %.0f ms, %.2f us;", (long)index, r.build_ms, r.us.median);
    }
  }
  printf("\n");
}

static void layer_table(double seconds) {
  for (int64_t batch : {1, 32}) {
    for (const layer_t& layer : layers) {
      one_layer(layer, batch, RESIDUAL_FIRST, seconds);
      one_layer(layer, batch, layer.residual ? BIAS_FIRST : RELU_AS_MAXIMUM, seconds);
    }
  }
}

/* Plans of one layer, compiled at run time, built on several threads with a handle and a graph
 * each. The library keeps what a process has compiled, so that each number of threads needs a
 * process of its own. */
static void parallel_builds(int threads) {
  convolution_data_t<half> d(layers[2], 1);
  std::vector<std::thread> workers;
  std::vector<int> built(threads, 0);
  const double begin = now_us();
  for (int t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      cudnnHandle_t own;
      CHECK_DNN(cudnnCreate(&own));
      {
        dnn_graph_t g(own);
        CHECK_DNN(residual_graph(g, d, BIAS_FIRST));
        const std::vector<dnn_t> a = g.proposals(CUDNN_HEUR_MODE_A);
        for (size_t i = t; i < a.size(); i += threads) {
          dnn_plan_t plan;
          built[t] += plan.build(own, a[i]) == CUDNN_STATUS_SUCCESS;
        }
      }
      cudnnDestroy(own);
    });
  }
  int sum = 0;
  for (int t = 0; t < threads; t++) {
    workers[t].join();
    sum += built[t];
  }
  printf("PARALLEL %d threads: %d plans in %.0f ms\n", threads, sum, (now_us() - begin) / 1e3);
}

static const char* const plan_file = "/tmp/cudnn_plan.json";

/* The last plan that was compiled at run time, in a process that has compiled nothing: the names of
 * the graph's tensors are those of residual_graph. */
static void load_plan(const char* path) {
  convolution_data_t<half> d(layers[2], 1);
  dnn_graph_t g(handle);
  CHECK_DNN(residual_graph(g, d, BIAS_FIRST));
  std::string json;
  FILE* f = fopen(path, "rb");
  for (int c = f ? fgetc(f) : EOF; c != EOF; c = fgetc(f)) {
    json.push_back((char)c);
  }
  if (f) {
    fclose(f);
  }
  dnn_plan_t plan;
  double begin = now_us();
  const cudnnStatus_t status = plan.load(handle, json);
  const double load = now_us() - begin;
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("LOADED %zu bytes: %s (%s)\n", json.size(), cudnnGetErrorString(status),
           dnn_words().c_str());
    return;
  }
  plan.bind(g.names, g.pointers);
  CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
  begin = now_us();
  CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
  CHECK(cudaDeviceSynchronize());
  printf("LOADED %zu bytes of another process in %.2f ms, first run %.2f ms, error %.1e\n",
         json.size(), load / 1e3, (now_us() - begin) / 1e3,
         relative_error(d.y, d.expected, d.outputs));
}

/* The library's own way to a graph, a change of the output's address, and whether both are right.
 */
static void print_native_graph(dnn_graph_t& g, dnn_plan_t& plan, convolution_data_t<half>& d,
                               cudaStream_t s) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  double begin = now_us();
  cudnnStatus_t status = cudnnBackendPopulateCudaGraph(handle, plan.plan, plan.pack, graph);
  const double populate = now_us() - begin;
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  populate refused: %s (%s)\n", cudnnGetErrorString(status), dnn_words().c_str());
    CHECK(cudaGraphDestroy(graph));
    return;
  }
  size_t nodes = 0;
  cudaGraphExec_t exec;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  auto run = [&](half* y) {
    CHECK(cudaMemset(y, 0xff, d.outputs * 2));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    return relative_error(y, d.expected, d.outputs);
  };
  const double error = run(d.y);
  half* other = device_new<half>(d.outputs);
  std::vector<void*> pointers = g.pointers;
  pointers.back() = other;
  plan.bind(g.names, pointers);
  begin = now_us();
  status = cudnnBackendUpdateCudaGraph(handle, plan.plan, plan.pack, graph);
  const double update = now_us() - begin;
  cudaGraphExecUpdateResultInfo info;
  begin = now_us();
  const cudaError_t applied = cudaGraphExecUpdate(exec, graph, &info);
  const double apply = now_us() - begin;
  printf(
      "  populate %.1f us, %zu nodes, error %.1e; update %s %.1f us, executable update %s %.1f "
      "us, error %.1e\n",
      populate, nodes, error, cudnnGetErrorString(status), update, cudaGetErrorString(applied),
      apply, run(other));
  plan.bind(g.names, g.pointers);
  CHECK(cudaFree(other));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

/* A plan as JSON, written for --load if it was compiled, and read again by another handle. */
static void print_serialised(dnn_graph_t& g, const dnn_plan_t& plan, bool compiled,
                             convolution_data_t<half>& d) {
  double begin = now_us();
  const std::string json = plan.json();
  const double write = now_us() - begin;
  if (json.empty()) {
    printf("  serialisation refused: %s\n", dnn_words().c_str());
    return;
  }
  FILE* f = compiled ? fopen(plan_file, "wb") : nullptr;
  if (f) {
    fwrite(json.data(), 1, json.size(), f);
    fclose(f);
  }
  cudnnHandle_t other;
  CHECK_DNN(cudnnCreate(&other));
  {
    dnn_plan_t loaded;
    begin = now_us();
    const cudnnStatus_t status = loaded.load(other, json);
    const double load = now_us() - begin;
    double error = NAN;
    if (status == CUDNN_STATUS_SUCCESS) {
      loaded.bind(g.names, g.pointers);
      CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
      CHECK_DNN(cudnnBackendExecute(other, loaded.plan, loaded.pack));
      error = relative_error(d.y, d.expected, d.outputs);
    }
    printf("  serialised in %.2f ms to %zu bytes, loaded in %.2f ms: %s, error %.1e\n", write / 1e3,
           json.size(), load / 1e3, cudnnGetErrorString(status), error);
  }
  CHECK_DNN(cudnnDestroy(other));
}

/* One plan of each engine: what it costs to build, run, put into a graph, keep. */
static void life_of_a_plan(const layer_t& layer, form_t form) {
  convolution_data_t<half> d(layer, 1);
  dnn_graph_t g(handle);
  CHECK_DNN(residual_graph(g, d, form));
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  std::vector<int64_t> seen;
  for (dnn_t configuration : g.proposals(CUDNN_HEUR_MODE_A)) {
    const dnn_engine_t engine = engine_of(g, configuration);
    if (std::count(seen.begin(), seen.end(), engine.index) || seen.size() == 6) {
      continue;
    }
    dnn_plan_t plan;
    double begin = now_us();
    if (plan.build(handle, configuration) != CUDNN_STATUS_SUCCESS) {
      continue;
    }
    const double build = now_us() - begin;
    seen.push_back(engine.index);
    plan.bind(g.names, g.pointers);
    CHECK_DNN(cudnnSetStream(handle, s));
    auto run = [&] { CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack)); };
    begin = now_us();
    run();
    const double first = now_us() - begin;
    CHECK(cudaStreamSynchronize(s));
    const spread_t again = host_time(run, 200);
    CHECK(cudaStreamSynchronize(s));
    const spread_t pack = host_time([&] { plan.bind(g.names, g.pointers); }, 200);
    printf(
        "PLAN engine %ld behavior %x: build %.1f ms, first execute %.0f us, later %.2f us "
        "(%.2f-%.2f) of host time, variant pack %.2f us\n",
        (long)engine.index, engine.behavior, build / 1e3, first, again.median, again.low,
        again.high, pack.median);
    print_native_graph(g, plan, d, s);
    print_serialised(g, plan, engine.behavior != 0, d);
  }
  CHECK(cudaStreamDestroy(s));
}

/* Which fp32 engines are tf32: numerical notes beside the error. */
static void precision() {
  for (int number : {0, 1}) {
    const layer_t layer = layers[number];
    convolution_data_t<float> d(layer, 1);
    dnn_graph_t g(handle);
    CHECK_DNN(residual_graph(g, d, RESIDUAL_FIRST));
    for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      const std::vector<dnn_t> found = g.proposals(mode);
      printf("PRECISION fp32 %s, mode %d, %zu proposals:", layer.name, mode, found.size());
      std::map<std::pair<int64_t, unsigned>, std::array<double, 4>>
          kinds; /* count, smallest, largest error, best time */
      for (size_t i = 0; i < found.size(); i++) {
        const plan_result_t r = measure_plan(handle, g, d, found[i], 1);
        std::array<double, 4>& k = kinds
                                       .emplace(std::make_pair(r.engine.index, r.engine.numerical),
                                                std::array<double, 4>{0, 1, 0, INFINITY})
                                       .first->second;
        k = {k[0] + 1, std::min(k[1], r.error), std::max(k[2], r.error),
             std::min(k[3], r.us.median)};
      }
      for (const auto& k : kinds) {
        printf(" [engine %ld notes %x: %.0f, error %.1e-%.1e, best %.2f us]", (long)k.first.first,
               k.first.second, k.second[0], k.second[1], k.second[2], k.second[3]);
      }
      printf("\n");
    }
  }
}

static void device_properties(const char* path) {
  dnn_t p;
  CHECK_DNN(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &p));
  dnn_one(p, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, handle);
  cudnnStatus_t status = cudnnBackendFinalize(p);
  int64_t size = 0, got = 0;
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnBackendGetAttribute(p, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                      0, &size, nullptr);
  }
  std::string json((size_t)size, 0);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnBackendGetAttribute(p, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                      size, &got, &json[0]);
  }
  printf("PROPERTIES %s, %ld bytes\n", cudnnGetErrorString(status), (long)size);
  if (status == CUDNN_STATUS_SUCCESS && path) {
    FILE* f = fopen(path, "wb");
    if (f) {
      fwrite(json.data(), 1, strlen(json.c_str()), f);
      fclose(f);
    }
  }
  cudnnBackendDestroyDescriptor(p);
}

int main(int argc, char** argv) {
  print_device();
  size_t before = 0, after = 0, total = 0;
  CHECK(cudaMemGetInfo(&before, &total));
  const double begin = now_us();
  CHECK_DNN(cudnnCreate(&handle));
  const double created = now_us() - begin;
  CHECK(cudaMemGetInfo(&after, &total));
  printf("CUDNN %zu: create %.1f ms, %.1f MB of device memory\n", cudnnGetVersion(), created / 1e3,
         (double)(before - after) / 1e6);
  if (argc == 3 && !strcmp(argv[1], "--parallel")) {
    parallel_builds(atoi(argv[2]));
    return 0;
  }
  if (argc == 3 && !strcmp(argv[1], "--load")) {
    load_plan(argv[2]);
    return 0;
  }
  device_properties(argc > 2 ? argv[2] : nullptr);
  layer_table(argc > 1 ? atof(argv[1]) : 6);
  life_of_a_plan(layers[1], RESIDUAL_FIRST);
  life_of_a_plan(layers[2], BIAS_FIRST);
  fflush(stdout);
  if (system((std::string(argv[0]) + " --load " + plan_file).c_str())) {
    printf("FAILED to load\n");
  }
  precision();
  CHECK(cudaMemGetInfo(&after, &total));
  printf("CUDNN all in all %.1f MB of device memory\n", (double)(before - after) / 1e6);
}
