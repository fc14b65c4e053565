/* Where a kernel had better release its dependents, and what several contexts gain. */
#include <thread>

#include "small_chain.cuh"

/* Where a kernel releases its dependents, how long the chain is, how much room a block leaves. */
static void releases() {
  CHECK(cudaFuncSetAttribute(layer, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  CHECK(cudaFuncSetAttribute(layer, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  const char* names[] = {"at the end", "at the start", "after the wait"};
  for (int rounds : {0, 30}) {
    for (int blocks : {56, 112}) {
      for (int shared : {0, 77000, 116000}) {
        for (int length : {50, 500}) {
          printf("RELEASE %d blocks, %d rounds, %d KB shared, %d launches: plain", blocks, rounds,
                 shared / 1000, length);
          for (int turn = 0; turn < 2; turn++) {
            chain_t chain;
            graph_t plain([&](cudaStream_t q) {
              chain.enqueue(q, length, false, false, AT_START, blocks, rounds, shared);
            });
            printf(" %.2f", plain.time(15).median / length);
          }
          for (release_t release : {AT_END, AT_START, AFTER_WAIT}) {
            printf(", dependent %s", names[release]);
            for (int turn = 0; turn < 2; turn++) {
              chain_t chain;
              graph_t graph([&](cudaStream_t q) {
                chain.enqueue(q, length, true, false, release, blocks, rounds, shared);
              });
              printf(" %.2f", graph.time(15).median / length);
            }
          }
          printf(" us a launch\n");
        }
      }
    }
  }
}

/* Several graphs on several streams: chains finished per second. */
static void contexts() {
  for (bool dependent : {true, false}) {
    for (int count : {1, 2, 4, 8}) {
      for (bool threads : {false, true}) {
        std::vector<chain_t> chain(count);
        std::vector<graph_t*> graph;
        for (int i = 0; i < count; i++) {
          graph.push_back(new graph_t([&](cudaStream_t q) { chain[i].enqueue(q, 51, dependent); }));
          graph[i]->run();
        }
        const int rounds = 300;
        std::vector<double> latency;
        const double begin = now_us();
        if (threads) {
          std::vector<std::thread> workers;
          for (int i = 0; i < count; i++) {
            workers.emplace_back([&, i] {
              for (int r = 0; r < rounds; r++) {
                CHECK(cudaGraphLaunch(graph[i]->exec, graph[i]->stream));
                CHECK(cudaStreamSynchronize(graph[i]->stream));
              }
            });
          }
          for (std::thread& w : workers) {
            w.join();
          }
        } else {
          for (int r = 0; r < rounds; r++) {
            for (graph_t* g : graph) {
              CHECK(cudaGraphLaunch(g->exec, g->stream));
            }
          }
          for (graph_t* g : graph) {
            CHECK(cudaStreamSynchronize(g->stream));
          }
        }
        const double us = now_us() - begin;
        printf("CONTEXTS %d, %s, %s: %.0f chains of 51 a second, %.1f us for each of a context's\n",
               count, dependent ? "dependent" : "plain",
               threads ? "a thread each, waiting for each run" : "one thread, queued",
               rounds * count / us * 1e6, us / rounds);
        for (graph_t* g : graph) {
          delete g;
        }
      }
    }
  }
}

int main() {
  print_device();
  small_chain_setup();
  releases();
  contexts();
}
