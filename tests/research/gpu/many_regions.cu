/* Fifty fused regions of a network, compiled at run time: how long, how stored, how loaded, and
 * what a first run of all of them costs. 35 elementwise expressions, 15 row reductions.
 *
 *   many_regions [--here]      --here: without a GPU, compiling alone */
#include <cstring>

#include "interpreter.cuh"
#include "row_kernel.cuh"

enum { REGIONS = 50, ROW_REGIONS = 15 };

/* The body of region `r`, its kernel named `name`, what it defines undefined behind it. */
static std::string region_text(int r, const std::string& name) {
  if (r >= ROW_REGIONS) {
    return generated_body(random_expression(4 + r % 23, 1 + r % MOST_INPUTS, (unsigned)r), name);
  }
  const int length = 256 * (1 + r), threads = length <= 1024 ? 32 : 128;
  const std::vector<std::pair<std::string, std::string>> macros = {
      {"T", "half"},
      {"KIND", std::to_string(r % 3)},
      {"KEEP", "0"},
      {"THREADS", std::to_string(threads)},
      {"ROWS", threads == 32 ? "4" : "1"},
      {"CLUSTER", "1"},
      {"PER", std::to_string((length + threads * 8 - 1) / (threads * 8))},
      {"VECTOR", "8"},
      {"SHIFT", "0"},
      {"LENGTH", std::to_string(length)}};
  std::string text;
  for (const auto& m : macros) {
    text += "#define " + m.first + " " + m.second + "\n";
  }
  text += "namespace of_" + name + " {\n" + reduction_head + row_text + "}\n";
  const size_t at = text.find("generated(const T*");
  text.replace(at, strlen("generated"), name);
  for (const char* word : {"SPAN", "WARPS", "NEUTRAL", "OTHER"}) {
    text += std::string("#undef ") + word + "\n";
  }
  for (const auto& m : macros) {
    text += "#undef " + m.first + "\n";
  }
  return text;
}

/* Regions first, first + step ... as one text. */
struct module_t {
  generated_t generated;
  std::vector<int> regions;
  std::vector<CUkernel> kernels;
};
static std::string kernel_name(int region) {
  return "region_" + std::to_string(region);
}
static std::vector<module_t> modules(int count, bool ptx = false) {
  std::vector<module_t> all((size_t)count);
  for (int m = 0; m < count; m++) {
    std::string text = generated_head;
    for (int r = m; r < REGIONS; r += count) {
      text += region_text(r, kernel_name(r));
      all[(size_t)m].regions.push_back(r);
    }
    all[(size_t)m].generated.text = text;
    all[(size_t)m].generated.ptx = ptx;
  }
  return all;
}
static size_t bytes_of(const std::vector<module_t>& all) {
  size_t n = 0;
  for (const module_t& m : all) {
    n += m.generated.code.size();
  }
  return n;
}

static void compiling() {
  for (int count : {(int)REGIONS, 16, 4, 1}) {
    for (unsigned threads : {1u, 2u, 4u, 8u, 16u}) {
      if (threads > (unsigned)count ||
          (count != REGIONS && threads != 16 && threads != (unsigned)count)) {
        continue;
      }
      std::vector<module_t> all = modules(count);
      const double ms = compile_all(all, threads);
      std::vector<double> each;
      for (const module_t& m : all) {
        each.push_back(m.generated.ms);
        if (m.generated.code.empty()) {
          printf("REFUSED %.1500s\n", m.generated.log.c_str());
        }
      }
      const spread_t s = spread_of(each);
      printf(
          "COMPILE %d regions in %d modules, %u threads: %.0f ms in all, a module %.0f "
          "(%.0f-%.0f), "
          "%zu bytes\n",
          (int)REGIONS, count, threads, ms, s.median, s.low, s.high, bytes_of(all));
    }
  }
}

static size_t free_memory() {
  size_t free_bytes = 0, all_bytes = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  return free_bytes;
}

struct data_t {
  enum { ROWS = 64, LENGTH = 4096 };
  half* x = random_half((size_t)ROWS * LENGTH * 4, 1, 1);
  half* y = device_new<half>((size_t)ROWS * LENGTH * 2);
  void run(const module_t& m, cudaStream_t s) {
    const size_t n = (size_t)ROWS * LENGTH;
    half *p[4] = {x, x + n, x + 2 * n, x + 3 * n}, *second = y + n;
    unsigned rows = ROWS, elements = (unsigned)n;
    for (size_t i = 0; i < m.regions.size(); i++) {
      const int r = m.regions[i], length = 256 * (1 + r);
      generated_t one;
      one.kernel = m.kernels[i];
      if (r < ROW_REGIONS) {
        void* arguments[] = {&p[0], &p[1], &p[2], &p[3], &y, &second, &rows};
        one.launch(dim3(length <= 1024 ? rows / 4 : rows), dim3(128), 0, 1, true, s, arguments);
      } else {
        void* arguments[] = {&p[0], &p[1], &p[2], &p[3], &y, &elements};
        one.launch(dim3(elements / 1024), dim3(128), 0, 1, true, s, arguments);
      }
    }
  }
};

/* Loads, finds, runs, captures, unloads. */
static void load_and_run(const char* name, std::vector<module_t>& all, unsigned threads,
                         data_t& data) {
  std::vector<double> load, find, first, second, capture, instantiate, launched;
  double taken = 0, taken_by_run = 0;
  for (int round = 0; round < 5; round++) {
    const size_t before = free_memory();
    double begin = now_us();
    in_parallel(all.size(), threads, [&](size_t i) {
      CHECK(cudaSetDevice(0));
      generated_t& g = all[i].generated;
      CHECK_DRIVER(
          cuLibraryLoadData(&g.library, g.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    });
    load.push_back(now_us() - begin);
    begin = now_us();
    for (module_t& m : all) {
      m.kernels.clear();
      for (int r : m.regions) {
        CUkernel kernel;
        CHECK_DRIVER(cuLibraryGetKernel(&kernel, m.generated.library, kernel_name(r).c_str()));
        m.kernels.push_back(kernel);
      }
    }
    find.push_back(now_us() - begin);
    taken = (double)before - (double)free_memory();
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    if (round % 2) { /* captured before anything of it ever ran */
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      begin = now_us();
      CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
      for (const module_t& m : all) {
        data.run(m, s);
      }
      CHECK(cudaStreamEndCapture(s, &graph));
      capture.push_back(now_us() - begin);
      begin = now_us();
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      instantiate.push_back(now_us() - begin);
      begin = now_us();
      CHECK(cudaGraphLaunch(exec, s));
      CHECK(cudaStreamSynchronize(s));
      launched.push_back(now_us() - begin);
      CHECK(cudaGraphExecDestroy(exec));
      CHECK(cudaGraphDestroy(graph));
    } else {
      for (int turn = 0; turn < 2; turn++) {
        begin = now_us();
        for (const module_t& m : all) {
          data.run(m, s);
        }
        CHECK(cudaStreamSynchronize(s));
        (turn ? second : first).push_back(now_us() - begin);
      }
    }
    taken_by_run = (double)before - (double)free_memory();
    CHECK(cudaStreamDestroy(s));
    for (module_t& m : all) {
      m.generated.unload();
    }
  }
  auto ms = [](const std::vector<double>& v) { return spread_of(v).median / 1e3; };
  printf(
      "LOAD %s, %zu modules, %u threads, %zu bytes: load %.2f ms, first time %.2f, find %.3f; "
      "first run "
      "%.2f, second %.3f; or "
      "capture %.2f, instantiate %.2f, first launch %.3f; device memory %.1f MB, run too %.1f\n",
      name, all.size(), threads, bytes_of(all), ms(load), load[0] / 1e3, ms(find), ms(first),
      ms(second), ms(capture), ms(instantiate), ms(launched), taken / 1e6, taken_by_run / 1e6);
}

/* What a kernel made at run time may say to the graph it is in. */
static void graph_words() {
  generated_t g;
  g.text =
      "struct update { void* node; int field; char rest[36]; };\n"
      "extern \"C\" __device__ int cudaGraphKernelNodeSetGridDim(void* node, dim3 grid);\n"
      "extern \"C\" __device__ int cudaGraphKernelNodeSetEnabled(void* node, bool enable);\n"
      "extern \"C\" __global__ void generated(void* node, int* out) {\n"
      "  out[0] = cudaGraphKernelNodeSetGridDim(node, dim3(1));\n"
      "  out[1] = cudaGraphKernelNodeSetEnabled(node, true);\n}\n";
  g.compile();
  printf("WORDS for the graph's nodes from NVRTC: compiled to %zu bytes, %s\n", g.code.size(),
         g.load() ? "loads" : "does not load");
  g.unload();
}

int main(int argc, char** argv) {
  setenv("CUDA_CACHE_DISABLE", "1", 1); /* else PTX is compiled once for ever */
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1 && !strcmp(argv[1], "--here")) {
    compiling();
    return 0;
  }
  print_device();
  data_t data;
  CHECK(cudaDeviceSynchronize());
  for (int count : {(int)REGIONS, 16, 4, 1}) {
    std::vector<module_t> all = modules(count);
    compile_all(all);
    load_and_run("cubins", all, 1, data);
    if (count == REGIONS) {
      load_and_run("cubins", all, 4, data);
      load_and_run("cubins", all, 16, data);
    }
  }
  std::vector<module_t> texts = modules(REGIONS, true);
  const double ms = compile_all(texts);
  printf("COMPILE to PTX: %.0f ms in all\n", ms);
  load_and_run("PTX", texts, 1, data);
  load_and_run("PTX", texts, 16, data);
  graph_words();
  compiling();
}
