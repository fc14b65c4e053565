/* What another process, and another version of the library, makes of stored cuDNN plans and
 * cuBLASLt algorithms. The versions are those that the loader finds.
 *
 *   versions --write FOLDER
 *   versions --read FOLDER */
#include <cstring>
#include <fstream>
#include <sstream>

#include "convolution.cuh"
#include "library_product.cuh"

static cudnnHandle_t handle;
static cublasLtHandle_t blas;

static std::string file_of(const std::string& folder, int layer, int form, int number) {
  return folder + "/plan_" + std::to_string(layer) + "_" + std::to_string(form) + "_" +
         std::to_string(number) + ".json";
}

template <class Item>
static void each_plan(Item item) {
  for (int layer : {1, 2}) {
    for (form_t form : {RESIDUAL_FIRST, BIAS_FIRST, RELU_AS_MAXIMUM}) {
      convolution_data_t<half> d(layers[layer], 1);
      dnn_graph_t g(handle);
      CHECK_DNN(residual_graph(g, d, form));
      item(d, g, layer, form);
    }
  }
}

static double run(dnn_plan_t& plan, dnn_graph_t& g, convolution_data_t<half>& d, spread_t* time) {
  plan.bind(g.names, g.pointers);
  CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
  CHECK_DNN(cudnnSetStream(handle, nullptr));
  if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
    printf("  does not run: %s\n", dnn_words().c_str());
    return NAN;
  }
  const double error = relative_error(d.y, d.expected, d.outputs);
  *time = step_time(
      [&](cudaStream_t s, int) {
        CHECK_DNN(cudnnSetStream(handle, s));
        CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
      },
      9);
  return error;
}

static void write_plans(const std::string& folder) {
  each_plan([&](convolution_data_t<half>& d, dnn_graph_t& g, int layer, form_t form) {
    const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
    std::vector<int64_t> seen;
    int number = 0;
    for (size_t i = 0; i < found.size() && number < 4; i++) { /* each engine once */
      const int64_t engine = engine_of(g, found[i]).index;
      if (std::find(seen.begin(), seen.end(), engine) != seen.end()) {
        continue;
      }
      seen.push_back(engine);
      dnn_plan_t plan;
      if (plan.build(handle, found[i]) != CUDNN_STATUS_SUCCESS) {
        continue;
      }
      spread_t t = {NAN, NAN, NAN};
      const double error = run(plan, g, d, &t);
      const std::string json = plan.json();
      std::ofstream(file_of(folder, layer, form, number), std::ios::binary) << json;
      printf("WRITTEN %s, %s, engine %ld: %zu bytes, %.2f us (%.2f-%.2f), error %.1e\n",
             layers[layer].name, form_names[form], (long)engine, json.size(), t.median, t.low,
             t.high, error);
      if (number == 0) {
        printf("  begins: %.240s\n", json.c_str());
      }
      number++;
    }
  });
}

static void read_plans(const std::string& folder) {
  each_plan([&](convolution_data_t<half>& d, dnn_graph_t& g, int layer, form_t form) {
    for (int number = 0; number < 4; number++) {
      std::ifstream file(file_of(folder, layer, form, number), std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      if (!file) {
        continue;
      }
      dnn_plan_t plan;
      const double begin = now_us();
      const cudnnStatus_t status = plan.load(handle, text.str());
      const double took = (now_us() - begin) / 1e3;
      printf("READ %s, %s, %d: %s in %.1f ms", layers[layer].name, form_names[form], number,
             cudnnGetErrorString(status), took);
      if (status != CUDNN_STATUS_SUCCESS) {
        printf(" (%s)\n", dnn_words().c_str());
        continue;
      }
      spread_t t = {NAN, NAN, NAN};
      const double error = run(plan, g, d, &t);
      printf(", %.2f us (%.2f-%.2f), error %.1e\n", t.median, t.low, t.high, error);
    }
  });
}

struct stored_t {
  int columns, channels;
  cublasLtMatmulAlgo_t algorithm;
};
static const int bert[4][2] = {{2304, 768}, {768, 768}, {3072, 768}, {768, 3072}};

static void algorithms(const std::string& folder, bool write) {
  std::vector<stored_t> stored;
  half *x = random_half(128 * 3072, 1, 2), *w = random_half(3072 * 768, 0.05f, 3),
       *bias = random_half(4096, 0.5f, 1), *y = device_new<half>(128 * 3072),
       *expected = device_new<half>(128 * 3072);
  const std::string path = folder + "/algorithms";
  if (write) {
    for (const auto& size : bert) {
      blas_product_t p(blas, 128, size[0], size[1], CUBLASLT_EPILOGUE_BIAS, bias);
      for (const auto& f : p.heuristics(8)) {
        stored.push_back({size[0], size[1], f.algo});
      }
    }
    std::ofstream(path, std::ios::binary)
        .write((const char*)stored.data(), stored.size() * sizeof(stored_t));
    printf("WRITTEN %zu algorithms\n", stored.size());
    return;
  }
  std::ifstream file(path, std::ios::binary);
  stored_t one;
  while (file.read((char*)&one, sizeof one)) {
    stored.push_back(one);
  }
  int same = 0, fits = 0, right = 0;
  std::string refusals;
  size_t at = 0;
  for (const auto& size : bert) {
    blas_product_t p(blas, 128, size[0], size[1], CUBLASLT_EPILOGUE_BIAS, bias);
    const auto own = p.heuristics(8);
    CHECK_BLAS(p.run(&own[0].algo, w, x, nullptr, expected, nullptr));
    auto time_of = [&](const cublasLtMatmulAlgo_t& a) {
      return step_time([&](cudaStream_t s, int) { CHECK_BLAS(p.run(&a, w, x, nullptr, y, s)); }, 9)
          .median;
    };
    double best = INFINITY, best_stored = INFINITY;
    for (const auto& o : own) {
      best = std::min(best, time_of(o.algo));
    }
    for (; at < stored.size() && stored[at].columns == size[0] && stored[at].channels == size[1];
         at++) {
      const cublasLtMatmulAlgo_t& a = stored[at].algorithm;
      for (const auto& o : own) {
        if (!memcmp(&o.algo, &a, sizeof a)) {
          same++;
          break;
        }
      }
      cublasLtMatmulHeuristicResult_t result;
      const cublasStatus_t check = cublasLtMatmulAlgoCheck(blas, p.operation, p.weights, p.input,
                                                           p.output, p.output, &a, &result);
      if (check != CUBLAS_STATUS_SUCCESS) {
        refusals += std::string(" ") + cublasLtGetStatusName(check);
        continue;
      }
      fits++;
      CHECK(cudaMemset(y, 0xff, 128 * size[0] * 2));
      if (p.run(&a, w, x, nullptr, y, nullptr) == CUBLAS_STATUS_SUCCESS &&
          relative_error(y, expected, 128 * size[0]) < 1e-3) {
        right++;
        best_stored = std::min(best_stored, time_of(a));
      }
    }
    printf("  128x%dx%d: best of its own eight %.2f us, best of the stored %.2f\n", size[0],
           size[1], best, best_stored);
  }
  printf(
      "READ %zu algorithms: %d among this library's own proposals, %d pass the check, %d "
      "right;%s\n",
      stored.size(), same, fits, right, refusals.c_str());
}

int main(int argc, char** argv) {
  print_device();
  if (argc < 3) {
    printf("versions --write | --read FOLDER\n");
    return 1;
  }
  CHECK_DNN(cudnnCreate(&handle));
  CHECK_BLAS(cublasLtCreate(&blas));
  const bool write = !strcmp(argv[1], "--write");
  printf("VERSIONS %s: cuDNN %zu (built with %d), cuBLASLt %zu\n", write ? "write" : "read",
         cudnnGetVersion(), CUDNN_VERSION, cublasLtGetVersion());
  write ? write_plans(argv[2]) : read_plans(argv[2]);
  algorithms(argv[2], write);
}
