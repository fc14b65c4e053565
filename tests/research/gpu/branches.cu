/* Independent branches of one graph, on several streams or in a row: a layer, `branches` chains of
 * `length` layers, a layer that waits for all. Layers of fewer blocks leave room for others.
 *
 *   branches */
#include "small_chain.cuh"

static spread_t branched(int branches, int length, int blocks, bool dependent, bool parallel) {
  chain_t trunk;
  std::vector<chain_t> chains(branches);
  std::vector<cudaStream_t> streams(branches);
  std::vector<cudaEvent_t> events(branches + 1);
  for (cudaStream_t& s : streams) {
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  for (cudaEvent_t& e : events) {
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  auto once = [&](cudaStream_t s) {
    trunk.enqueue(s, 1, dependent, false, AFTER_WAIT, blocks);
    if (!parallel) {
      for (chain_t& c : chains) {
        c.enqueue(s, length, dependent, false, AFTER_WAIT, blocks);
      }
    } else {
      CHECK(cudaEventRecord(events[branches], s));
      for (int b = 0; b < branches; b++) {
        cudaStream_t q = b ? streams[b] : s; /* the first stays where it is */
        if (b) {
          CHECK(cudaStreamWaitEvent(q, events[branches], 0));
        }
        chains[b].enqueue(q, length, dependent, false, AFTER_WAIT, blocks);
        if (b) {
          CHECK(cudaEventRecord(events[b], q));
        }
      }
      for (int b = 1; b < branches; b++) {
        CHECK(cudaStreamWaitEvent(s, events[b], 0));
      }
    }
    trunk.enqueue(s, 1, dependent, false, AFTER_WAIT, blocks);
  };
  spread_t t[2];
  for (int i = 0; i < 2; i++) {
    graph_t graph([&](cudaStream_t s) {
      for (int k = 0; k < (i ? 12 : 4); k++) {
        once(s);
      }
    });
    t[i] = graph.time(31);
  }
  for (cudaStream_t s : streams) {
    CHECK(cudaStreamDestroy(s));
  }
  for (cudaEvent_t e : events) {
    CHECK(cudaEventDestroy(e));
  }
  for (const chain_t& c : chains) {
    CHECK(cudaFree(c.x[0]));
    CHECK(cudaFree(c.x[1]));
    CHECK(cudaFree(c.stamps));
  }
  return {(t[1].median - t[0].median) / 8, (t[1].low - t[0].median) / 8,
          (t[1].high - t[0].median) / 8};
}

int main() {
  print_device();
  small_chain_setup();
  for (int blocks : {28, 56, 112}) {
    for (int branches : {2, 4}) {
      for (int length : {1, 2, 4, 8}) {
        printf("BRANCHES %d of %d layers of %d blocks:", branches, length, blocks);
        for (bool dependent : {false, true}) {
          const spread_t row = branched(branches, length, blocks, dependent, false),
                         parallel = branched(branches, length, blocks, dependent, true);
          printf(" %s: in a row %.2f us (%.2f-%.2f), at once %.2f (%.2f-%.2f);",
                 dependent ? "dependent" : "plain", row.median, row.low, row.high, parallel.median,
                 parallel.low, parallel.high);
        }
        printf("\n");
      }
    }
  }
}
