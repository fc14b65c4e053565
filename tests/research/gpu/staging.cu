/* Inputs and outputs in ordinary memory: what contexts that take turns hide of the copies, and how
 * a large input had better reach the device.
 *
 *   staging --check      for the sanitizers */
#include <cstring>
#include <memory>
#include <thread>

#include "small_chain.cuh"

/* A context: pinned staging, device memory, a graph of copy, layers, copy. */
struct context_t {
  size_t in_bytes, out_bytes;
  uint8_t *staged_in = nullptr, *staged_out = nullptr, *in, *out;
  chain_t chain;
  std::unique_ptr<graph_t> graph;
  bool busy = false;

  context_t(size_t in_bytes, size_t out_bytes, int length)
      : in_bytes(in_bytes),
        out_bytes(out_bytes),
        in(device_new<uint8_t>(in_bytes)),
        out(device_new<uint8_t>(out_bytes)) {
    CHECK(cudaMallocHost(&staged_in, in_bytes));
    CHECK(cudaMallocHost(&staged_out, out_bytes));
    graph.reset(new graph_t([&](cudaStream_t s) {
      CHECK(cudaMemcpyAsync(in, staged_in, in_bytes, cudaMemcpyHostToDevice, s));
      CHECK(cudaMemcpyAsync(out, in, out_bytes, cudaMemcpyDeviceToDevice, s));
      chain.enqueue(s, length, true, false, AFTER_WAIT);
      CHECK(cudaMemcpyAsync(staged_out, out, out_bytes, cudaMemcpyDeviceToHost, s));
    }));
  }
  context_t(const context_t&) = delete;
  context_t& operator=(const context_t&) = delete;
  ~context_t() {
    graph.reset();
    CHECK(cudaFreeHost(staged_in));
    CHECK(cudaFreeHost(staged_out));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
  }
  void begin(const uint8_t* from) {
    if (from) {
      memcpy(staged_in, from, in_bytes);
    }
    CHECK(cudaGraphLaunch(graph->exec, graph->stream));
    busy = true;
  }
  /* Waits for what was begun; the caller has it in `to`. */
  void finish(uint8_t* to) {
    if (busy) {
      CHECK(cudaStreamSynchronize(graph->stream));
      if (to) {
        memcpy(to, staged_out, out_bytes);
      }
      busy = false;
    }
  }
};

/* Microseconds a request: `contexts` that take turns in one thread, or a thread each. */
static void requests(size_t in_bytes, size_t out_bytes, int length, int count) {
  std::vector<uint8_t> from(in_bytes), to(out_bytes);
  for (size_t i = 0; i < in_bytes; i++) {
    from[i] = (uint8_t)(i * 31 + (i >> 8));
  }
  printf("REQUESTS %zu KB in, %zu KB out, %d layers:", in_bytes >> 10, out_bytes >> 10, length);
  for (bool staged : {true, false}) {
    for (int contexts : {1, 2, 3, 4}) {
      for (bool threads : {false, true}) {
        if (threads && contexts == 1) {
          continue;
        }
        std::vector<std::unique_ptr<context_t>> all;
        std::vector<std::vector<uint8_t>> results((size_t)contexts, to);
        for (int i = 0; i < contexts; i++) {
          all.emplace_back(new context_t(in_bytes, out_bytes, length));
          memcpy(all[i]->staged_in, from.data(), in_bytes);
          all[i]->begin(from.data());
          all[i]->finish(nullptr);
        }
        auto one = [&](int c) {
          all[c]->finish(staged ? results[c].data() : nullptr);
          all[c]->begin(staged ? from.data() : nullptr);
        };
        std::vector<double> times;
        for (int turn = 0; turn < 7; turn++) {
          const double begin = now_us();
          if (threads) {
            std::vector<std::thread> workers;
            for (int c = 0; c < contexts; c++) {
              workers.emplace_back([&, c] {
                for (int r = 0; r < count / contexts; r++) {
                  one(c);
                }
              });
            }
            for (std::thread& w : workers) {
              w.join();
            }
          } else {
            for (int r = 0; r < count; r++) {
              one(r % contexts);
            }
          }
          for (auto& c : all) {
            c->finish(to.data());
          }
          times.push_back((now_us() - begin) / (count / contexts * contexts));
        }
        const bool right = !memcmp(to.data(), from.data(), std::min(out_bytes, in_bytes));
        const spread_t us = spread_of(times);
        printf("%s %s, %d %s %.1f (%.1f-%.1f)%s", contexts == 1 ? "\n " : ",",
               staged ? "staged" : "already pinned", contexts, threads ? "threads" : "in turn",
               us.median, us.low, us.high, right ? "" : " WRONG");
      }
    }
  }
  printf("\n");
}

/* One large input from ordinary memory to the device, seen by the host. */
static void large(size_t bytes, int count) {
  std::vector<uint8_t> from(bytes), back(bytes);
  for (size_t i = 0; i < bytes; i++) {
    from[i] = (uint8_t)(i * 7 + (i >> 10));
  }
  uint8_t *device = device_new<uint8_t>(bytes), *pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, bytes));
  memset(pinned, 1, bytes);
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  auto show = [&](const char* name, auto work) {
    CHECK(cudaMemset(device, 0, bytes));
    const spread_t us = host_time(work, count, 2);
    CHECK(cudaMemcpy(back.data(), device, bytes, cudaMemcpyDeviceToHost));
    printf(", %s %.0f (%.0f-%.0f)%s", name, us.median, us.low, us.high,
           memcmp(back.data(), from.data(), bytes) ? " WRONG" : "");
  };
  printf("LARGE %.1f MB", (double)bytes / 1e6);
  show("ordinary", [&] {
    CHECK(cudaMemcpyAsync(device, from.data(), bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
  });
  show("registered for it", [&] {
    CHECK(cudaHostRegister(from.data(), bytes, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, from.data(), bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaHostUnregister(from.data()));
  });
  show("staged whole", [&] {
    memcpy(pinned, from.data(), bytes);
    CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
  });
  memcpy(pinned, from.data(), bytes);
  show("pinned all along", [&] {
    CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaStreamSynchronize(s));
  });
  /* pieces: each is copied to the device as soon as it is staged */
  for (int threads : {1, 2, 4, 8}) {
    for (size_t piece : {(size_t)256 << 10, (size_t)1 << 20, (size_t)4 << 20}) {
      char name[60];
      snprintf(name, sizeof name, "%d threads, pieces of %zu KB", threads, piece >> 10);
      show(name, [&] {
        std::vector<std::thread> workers;
        auto work = [&](int t) {
          for (size_t at = t * piece; at < bytes; at += threads * piece) {
            const size_t size = std::min(piece, bytes - at);
            memcpy(pinned + at, from.data() + at, size);
            CHECK(cudaMemcpyAsync(device + at, pinned + at, size, cudaMemcpyHostToDevice, s));
          }
        };
        for (int t = 1; t < threads; t++) {
          workers.emplace_back(work, t);
        }
        work(0);
        for (std::thread& w : workers) {
          w.join();
        }
        CHECK(cudaStreamSynchronize(s));
      });
    }
  }
  printf("\n");
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
}

int main(int argc, char** argv) {
  print_device();
  small_chain_setup();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    requests(20000, 4000, 5, 8);
    large(3000000, 2);
    return 0;
  }
  requests(600 << 10, 4 << 10, 50, 300);
  requests(600 << 10, 600 << 10, 50, 300);
  requests(2400 << 10, 1200 << 10, 50, 200);
  requests(600 << 10, 4 << 10, 10, 300);
  large(600 << 10, 50);
  large(2400 << 10, 50);
  large((size_t)19 << 20, 15);
  large((size_t)77 << 20, 9);
}
