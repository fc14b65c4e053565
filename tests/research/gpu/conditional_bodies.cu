/* What may stand in the body of a conditional node, who may set its handle, what changing and
 * launching such a graph costs the host and allows. */
#include "conditional.cuh"
#include "generated.cuh"
#include "library_product.cuh"

/* The same by a text compiled at run time: is a declaration enough, or must the device's runtime
 * library be linked? */
static const char* const setter_text = R"(
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);
extern "C" __global__ void generated(unsigned long long handle, const unsigned* value) {
  wait_for_predecessor();
  cudaGraphSetConditional(handle, *value);
}
)";

/* Loop in loop, decision in loop, child graph, library, copies, dependent launch; and what is
 * refused. */
static void bodies() {
  unsigned *round = device_new<unsigned>(1), *limit = device_new<unsigned>(1),
           *inner = device_new<unsigned>(1), *host_word;
  CHECK(cudaMallocHost((void**)&host_word, 4));
  chain_t chain;
  auto in_loop = [&](const char* name, unsigned rounds, auto record, unsigned expected) {
    put(limit, rounds);
    put(counter, 0);
    put(value, 1);
    cudaGraph_t graph;
    cudaGraphExec_t exec = nullptr;
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(round, 0, 4, s));
    const cudaGraphConditionalHandle handle = condition_handle(s, 1, true);
    cudaError_t status =
        record_body(condition_node(s, handle, cudaGraphCondTypeWhile, 1)[0], [&](cudaStream_t b) {
          record(b);
          count_round<<<1, 1, 0, b>>>(handle, round, limit);
        });
    const char* where = "recording the body";
    cudaError_t end = cudaStreamEndCapture(s, &graph);
    status = status ? status : end;
    if (status == cudaSuccess) {
      where = "instantiation";
      status = cudaGraphInstantiate(&exec, graph, 0);
    }
    if (status == cudaSuccess) {
      where = "run";
      status = cudaGraphLaunch(exec, s);
      wait_or_die(s, name);
    }
    if (status != cudaSuccess) {
      printf("BODY %s: refused at %s: %s (%s)\n", name, where, cudaGetErrorName(status),
             cudaGetErrorString(status));
      cudaGetLastError();
      return;
    }
    const unsigned got = get(counter);
    printf("BODY %s: %s (counted %u)\n", name, got == expected ? "right" : "WRONG", got);
  };
  in_loop(
      "kernel", 10, [&](cudaStream_t b) { add<<<1, 1, 0, b>>>(counter, 1); }, 10);
  in_loop(
      "if in while", 10,
      [&](cudaStream_t b) {
        const cudaGraphConditionalHandle h = condition_handle(b, 0, false);
        set_from<<<1, 1, 0, b>>>(h, value);
        record_body(condition_node(b, h, cudaGraphCondTypeIf, 1)[0],
                    [&](cudaStream_t c) { add<<<1, 1, 0, c>>>(counter, 2); });
      },
      20);
  in_loop(
      "while in while", 4,
      [&](cudaStream_t b) {
        CHECK(cudaMemsetAsync(inner, 0, 4, b));
        const cudaGraphConditionalHandle h = condition_handle(b, 1, true);
        set_from<<<1, 1, 0, b>>>(h, value); /* the default is not applied again */
        record_body(condition_node(b, h, cudaGraphCondTypeWhile, 1)[0], [&](cudaStream_t c) {
          add<<<1, 1, 0, c>>>(counter, 1);
          count_round<<<1, 1, 0, c>>>(h, inner, limit);
        });
      },
      16);
  in_loop(
      "while in while, inner handle set by its default alone", 4,
      [&](cudaStream_t b) {
        CHECK(cudaMemsetAsync(inner, 0, 4, b));
        const cudaGraphConditionalHandle h = condition_handle(b, 1, true);
        record_body(condition_node(b, h, cudaGraphCondTypeWhile, 1)[0], [&](cudaStream_t c) {
          add<<<1, 1, 0, c>>>(counter, 1);
          count_round<<<1, 1, 0, c>>>(h, inner, limit);
        });
      },
      16);
  graph_t child([&](cudaStream_t c) { add<<<1, 1, 0, c>>>(counter, 3); });
  in_loop(
      "child graph", 10, [&](cudaStream_t b) { add_child(b, child.graph); }, 30);
  in_loop(
      "copies: device to device, to and from pinned memory", 10,
      [&](cudaStream_t b) {
        add<<<1, 1, 0, b>>>(counter, 1);
        CHECK(cudaMemcpyAsync(sink, counter, 4, cudaMemcpyDeviceToDevice, b));
        CHECK(cudaMemcpyAsync(host_word, sink, 4, cudaMemcpyDeviceToHost, b));
        CHECK(cudaMemcpyAsync(sink, host_word, 4, cudaMemcpyHostToDevice, b));
        CHECK(cudaMemcpyAsync(counter, sink, 4, cudaMemcpyDeviceToDevice, b));
      },
      10);
  in_loop(
      "dependent launches", 10,
      [&](cudaStream_t b) {
        chain.enqueue(b, 4, true);
        add<<<1, 1, 0, b>>>(counter, 1);
      },
      10);
  in_loop(
      "fork and join of two streams", 10,
      [&](cudaStream_t b) {
        static cudaStream_t second = nullptr;
        static cudaEvent_t fork, join;
        if (!second) {
          CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
          CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
          CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
        }
        CHECK(cudaEventRecord(fork, b));
        CHECK(cudaStreamWaitEvent(second, fork, 0));
        add<<<1, 1, 0, b>>>(counter, 1);
        read_only<<<1, 1, 0, second>>>(value, sink);
        CHECK(cudaEventRecord(join, second));
        CHECK(cudaStreamWaitEvent(b, join, 0));
      },
      10);
  std::vector<generated_t> setter(1);
  setter[0].text = with_macros({}, setter_text);
  setter[0].compile();
  if (setter[0].load()) {
    in_loop(
        "if, its setter compiled at run time and launched dependently", 10,
        [&](cudaStream_t b) {
          cudaGraphConditionalHandle h = condition_handle(b, 0, false);
          void* arguments[] = {&h, &value};
          chain.enqueue(b, 1, true);
          setter[0].launch(dim3(1), dim3(1), 0, 1, true, b, arguments);
          record_body(condition_node(b, h, cudaGraphCondTypeIf, 1)[0], [&](cudaStream_t c) {
            chain.enqueue(c, 2, true);
            add<<<1, 1, 0, c>>>(counter, 2);
          });
          chain.enqueue(b, 1, true); /* dependent behind a conditional node */
        },
        20);
  }
  cublasLtHandle_t blas;
  CHECK_BLAS(cublasLtCreate(&blas));
  blas_product_t p(blas, 128, 768, 768, CUBLASLT_EPILOGUE_DEFAULT, nullptr);
  half *x = random_half(128 * 768, 1, 1), *w = random_half(768 * 768, 0.1f, 2),
       *y = device_new<half>(128 * 768), *expected = device_new<half>(128 * 768);
  const auto found = p.heuristics(8);
  for (const auto& f : found) {
    CHECK_BLAS(p.run(&f.algo, w, x, nullptr, expected, nullptr));
    CHECK(cudaMemset(y, 0xff, 128 * 768 * 2));
    in_loop(("cuBLASLt, " + algorithm_name(f.algo)).c_str(), 10,
            [&](cudaStream_t b) {
              CHECK_BLAS(p.run(&f.algo, w, x, nullptr, y, b));
              add<<<1, 1, 0, b>>>(counter, 1);
            },
            10);
    printf("  error against outside %.1e\n", relative_error(y, expected, 128 * 768));
  }
  in_loop(
      "host function", 2,
      [&](cudaStream_t b) {
        cudaLaunchHostFunc(
            b, [](void*) {}, nullptr);
      },
      0);
  in_loop(
      "event record for outside", 2,
      [&](cudaStream_t b) {
        cudaEvent_t e;
        CHECK(cudaEventCreate(&e));
        cudaEventRecordWithFlags(e, b, cudaEventRecordExternal);
      },
      0);
  in_loop(
      "stream-ordered memory", 2,
      [&](cudaStream_t b) {
        void* m = nullptr;
        if (cudaMallocAsync(&m, 4096, b) == cudaSuccess) {
          cudaFreeAsync(m, b);
        }
      },
      0);
}

/* What the host pays for a graph with conditions, and which changes it allows. */
static void host_side() {
  chain_t chain, second;
  put(value, 0);
  auto record = [&](chain_t& c, int decisions) {
    return [&c, decisions](cudaStream_t s) {
      for (int i = 0; i < 50; i++) {
        c.enqueue(s, 1, false);
        if (i < decisions) {
          const cudaGraphConditionalHandle handle = condition_handle(s, 0, false);
          set_from<<<1, 1, 0, s>>>(handle, value);
          record_body(condition_node(s, handle, cudaGraphCondTypeIf, 1)[0],
                      [&](cudaStream_t b) { c.enqueue(b, 5, false); });
        }
      }
    };
  };
  for (int decisions : {0, 1, 10}) {
    graph_t graph(record(chain, decisions));
    double begin = now_us();
    std::vector<double> makes;
    for (int i = 0; i < 5; i++) {
      begin = now_us();
      graph.make_executable();
      makes.push_back(now_us() - begin);
    }
    CHECK(cudaStreamSynchronize(graph.stream));
    std::vector<double> returns;
    for (int i = 0; i < 100; i++) {
      begin = now_us();
      CHECK(cudaGraphLaunch(graph.exec, graph.stream));
      returns.push_back(now_us() - begin);
      CHECK(cudaStreamSynchronize(graph.stream));
    }
    const spread_t r = spread_of(returns);
    printf(
        "HOST 50 layers and %d decisions not taken: instantiate %.0f us, launch returns after %.2f "
        "us (%.2f-%.2f), by events %.1f us\n",
        decisions, spread_of(makes).median, r.median, r.low, r.high, graph.time(31).median);
    if (!decisions) {
      continue;
    }
    cudaGraphExec_t again = nullptr;
    const cudaError_t twice = cudaGraphInstantiate(&again, graph.graph, 0);
    cudaGetLastError();
    graph_t other(record(second, decisions));
    cudaGraphExecUpdateResultInfo info = {};
    begin = now_us();
    const cudaError_t updated = cudaGraphExecUpdate(graph.exec, other.graph, &info);
    const double update = now_us() - begin;
    cudaGetLastError();
    cudaGraph_t clone = nullptr;
    const cudaError_t cloned = cudaGraphClone(&clone, graph.graph);
    cudaGetLastError();
    cudaGraph_t outer;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&outer, 0));
    const cudaError_t child = cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph.graph);
    cudaGetLastError();
    cudaGraphNodeParams move = {};
    move.type = cudaGraphNodeTypeGraph;
    move.graph.graph = other.graph;
    move.graph.ownership = cudaGraphChildGraphOwnershipMove;
    const cudaError_t moved = cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &move);
    cudaGetLastError();
    printf(
        "  second instantiation %s; executable update %s (result %d) in %.1f us; clone %s; as a "
        "child %s, moved %s\n",
        cudaGetErrorName(twice), cudaGetErrorName(updated), (int)info.result, update,
        cudaGetErrorName(cloned), cudaGetErrorName(child), cudaGetErrorName(moved));
    fflush(stdout);
    if (moved == cudaSuccess) {
      other.graph = nullptr;
    }
  }
  /* A kernel's parameters inside a body. */
  unsigned* c = device_new<unsigned>(1);
  put(c, 0);
  put(value, 1);
  cudaGraph_t body = nullptr;
  graph_t graph([&](cudaStream_t s) {
    const cudaGraphConditionalHandle handle = condition_handle(s, 1, true);
    body = condition_node(s, handle, cudaGraphCondTypeIf, 1)[0];
    record_body(body, [&](cudaStream_t b) { add<<<1, 1, 0, b>>>(c, 1); });
  });
  cudaGraphNode_t node;
  size_t count = 1;
  CHECK(cudaGraphGetNodes(body, &node, &count));
  unsigned increment = 100;
  void* arguments[] = {&c, &increment};
  cudaKernelNodeParams parameters = {};
  CHECK(cudaGraphKernelNodeGetParams(node, &parameters));
  parameters.kernelParams = arguments;
  const cudaError_t set = cudaGraphExecKernelNodeSetParams(graph.exec, node, &parameters);
  cudaGetLastError();
  graph.run();
  printf("HOST parameters of a kernel in a body: %s, counted %u\n", cudaGetErrorName(set), get(c));
}

int main() {
  print_device();
  conditional_setup();
  bodies();
  host_side();
}
