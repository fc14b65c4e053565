/* Conditional nodes of a graph: what IF, WHILE and SWITCH cost with their bodies, and the same
 * decided on the host. (What may stand in a body, and what the host pays: conditional_bodies.) */
#include "conditional.cuh"

static void print(const char* what, spread_t t) {
  printf("%s: %.2f us (%.2f-%.2f)\n", what, t.median, t.low, t.high);
}
static spread_t slope(spread_t a, spread_t b, double n) {
  return {(b.median - a.median) / n, (b.low - a.median) / n, (b.high - a.median) / n};
}

/* `count` decisions in a row, each with a setter in front and a layer behind it; bodies of `size`
 * kernels. */
static spread_t decisions(int count, cudaGraphConditionalNodeType type, unsigned ways, int size,
                          bool setter, chain_t& chain) {
  graph_t graph([&](cudaStream_t s) {
    chain.enqueue(s, 1, false);
    for (int i = 0; i < count; i++) {
      const cudaGraphConditionalHandle handle = condition_handle(s, 1, !setter);
      if (setter) {
        set_from<<<1, 1, 0, s>>>(handle, value);
      }
      const std::vector<cudaGraph_t> bodies = condition_node(s, handle, type, ways);
      for (cudaGraph_t body : bodies) {
        record_body(body, [&](cudaStream_t b) { chain.enqueue(b, size, false); });
      }
      chain.enqueue(s, 1, false);
    }
  });
  return graph.time(31);
}

static void if_and_switch() {
  chain_t chain;
  auto plain = [&](int count, int size, bool setter) {
    graph_t graph([&](cudaStream_t s) {
      chain.enqueue(s, 1, false);
      for (int i = 0; i < count; i++) {
        if (setter) {
          read_only<<<1, 1, 0, s>>>(value, sink);
        }
        chain.enqueue(s, size + 1, false);
      }
    });
    return graph.time(31);
  };
  for (int size : {0, 1, 5, 20}) {
    print(("DECISION none, " + std::to_string(size) + " kernels, a step").c_str(),
          slope(plain(4, size, false), plain(14, size, false), 10));
  }
  print("DECISION none, a small kernel as a setter would be, 1 kernel, a step",
        slope(plain(4, 1, true), plain(14, 1, true), 10));
  static const struct {
    const char* name;
    cudaGraphConditionalNodeType type;
    unsigned ways, value;
    bool taken;
  } cases[] = {{"if, true", cudaGraphCondTypeIf, 1, 1, true},
               {"if, false", cudaGraphCondTypeIf, 1, 0, false},
               {"if/else, true", cudaGraphCondTypeIf, 2, 1, true},
               {"if/else, false", cudaGraphCondTypeIf, 2, 0, true},
               {"switch of 4, third", cudaGraphCondTypeSwitch, 4, 2, true},
               {"switch of 16, last", cudaGraphCondTypeSwitch, 16, 15, true},
               {"switch of 4, none", cudaGraphCondTypeSwitch, 4, 9, false}};
  for (const auto& c : cases) {
    put(value, c.value);
    for (int size : {1, 5, 20}) {
      print((std::string("DECISION ") + c.name + ", body of " + std::to_string(size) +
             ", with its setter and one layer behind, a step")
                .c_str(),
            slope(decisions(4, c.type, c.ways, size, true, chain),
                  decisions(14, c.type, c.ways, size, true, chain), 10));
    }
  }
  print("DECISION if by default value, no setter, body of 1, a step",
        slope(decisions(4, cudaGraphCondTypeIf, 1, 1, false, chain),
              decisions(14, cudaGraphCondTypeIf, 1, 1, false, chain), 10));
}

/* The host reads a word and launches one of two graphs. */
static void decided_on_host() {
  chain_t chain;
  volatile unsigned* word;
  unsigned* word_on_device;
  CHECK(cudaHostAlloc((void**)&word, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&word_on_device, (void*)word, 0));
  put(value, 1);
  auto first_half = [&](cudaStream_t s, bool copy) {
    chain.enqueue(s, 1, false);
    if (copy) {
      CHECK(cudaMemcpyAsync((void*)word, value, 4, cudaMemcpyDeviceToHost, s));
    } else {
      read_only<<<1, 1, 0, s>>>(value, word_on_device);
    }
  };
  graph_t copied([&](cudaStream_t s) { first_half(s, true); });
  graph_t written([&](cudaStream_t s) { first_half(s, false); });
  graph_t body([&](cudaStream_t s) { chain.enqueue(s, 2, false); });
  graph_t other([&](cudaStream_t s) { chain.enqueue(s, 3, false); });
  graph_t whole([&](cudaStream_t s) {
    first_half(s, false);
    chain.enqueue(s, 2, false);
  });
  graph_t inside([&](cudaStream_t s) {
    chain.enqueue(s, 1, false);
    const cudaGraphConditionalHandle handle = condition_handle(s, 0, false);
    set_from<<<1, 1, 0, s>>>(handle, value);
    record_body(condition_node(s, handle, cudaGraphCondTypeIf, 1)[0],
                [&](cudaStream_t b) { chain.enqueue(b, 1, false); });
    chain.enqueue(s, 1, false);
  });
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  auto end = [&] { CHECK(cudaStreamSynchronize(s)); };
  print("HOST one graph, no decision, to the end", host_time(
                                                       [&] {
                                                         CHECK(cudaGraphLaunch(whole.exec, s));
                                                         end();
                                                       },
                                                       200, 20));
  print("HOST conditional node, to the end", host_time(
                                                 [&] {
                                                   CHECK(cudaGraphLaunch(inside.exec, s));
                                                   end();
                                                 },
                                                 200, 20));
  for (bool copy : {true, false}) {
    print(copy ? "HOST copy of 4 bytes, synchronise, second graph, to the end"
               : "HOST word in mapped memory, synchronise, second graph, to the end",
          host_time(
              [&] {
                CHECK(cudaGraphLaunch(copy ? copied.exec : written.exec, s));
                end();
                CHECK(cudaGraphLaunch(*word == 1 ? body.exec : other.exec, s));
                end();
              },
              200, 20));
  }
  print("HOST word in mapped memory, looked at in a loop, second graph, to the end",
        host_time(
            [&] {
              *word = 77;
              CHECK(cudaGraphLaunch(written.exec, s));
              while (*word == 77) {
              }
              CHECK(cudaGraphLaunch(*word == 1 ? body.exec : other.exec, s));
              end();
            },
            200, 20));
}

enum ending_t { OWN_KERNEL, LAST_KERNEL };

static void loops() {
  chain_t chain;
  unsigned *round = device_new<unsigned>(1), *limit = device_new<unsigned>(1),
           *arrived = device_new<unsigned>(1);
  put(arrived, 0);
  for (int size : {0, 1, 5, 20}) {
    for (ending_t ending : {OWN_KERNEL, LAST_KERNEL}) {
      for (bool dependent : {false, true}) {
        if (dependent && size < 5) {
          continue;
        }
        graph_t graph([&](cudaStream_t s) {
          CHECK(cudaMemsetAsync(round, 0, 4, s));
          const cudaGraphConditionalHandle handle = condition_handle(s, 1, true);
          record_body(condition_node(s, handle, cudaGraphCondTypeWhile, 1)[0], [&](cudaStream_t b) {
            chain.enqueue(b, size, dependent);
            if (ending == OWN_KERNEL) {
              count_round<<<1, 1, 0, b>>>(handle, round, limit);
            } else {
              work_and_count<<<BLOCKS, 128, 0, b>>>(handle, round, limit, arrived);
            }
          });
        });
        spread_t t[2];
        const unsigned rounds[2] = {20, 220};
        bool right = true;
        for (int i = 0; i < 2; i++) {
          put(limit, rounds[i]);
          t[i] = graph.time(15);
          right &= get(round) == rounds[i];
        }
        graph_t flat([&](cudaStream_t s) {
          for (int i = 0; i < 20; i++) {
            chain.enqueue(s, size, dependent);
            read_only<<<ending == OWN_KERNEL ? 1 : BLOCKS, 1, 0, s>>>(value, sink);
          }
        });
        const spread_t a = slope(t[0], t[1], 200), b = flat.time(15);
        printf(
            "WHILE %d layers%s and %s: %.2f us a round (%.2f-%.2f), unrolled %.2f; 20 rounds %.1f "
            "in all; rounds %s\n",
            size, dependent ? " dependent" : "",
            ending == OWN_KERNEL ? "a kernel that counts" : "a kernel of 112 blocks that counts",
            a.median, a.low, a.high, b.median / 20, t[0].median, right ? "right" : "WRONG");
      }
    }
  }
  /* The same round launched by the host: knowing the count, or asking each time. */
  volatile unsigned* word;
  unsigned* word_on_device;
  CHECK(cudaHostAlloc((void**)&word, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&word_on_device, (void*)word, 0));
  for (int size : {1, 5, 20}) {
    graph_t round_graph([&](cudaStream_t s) {
      chain.enqueue(s, size, false);
      read_only<<<1, 1, 0, s>>>(value, word_on_device);
    });
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    auto run = [&](bool ask) {
      return host_time(
          [&] {
            for (int i = 0; i < 50; i++) {
              CHECK(cudaGraphLaunch(round_graph.exec, s));
              if (ask) {
                CHECK(cudaStreamSynchronize(s));
              }
            }
            CHECK(cudaStreamSynchronize(s));
          },
          11);
    };
    const spread_t known = run(false), asked = run(true);
    printf("WHILE %d layers, by the host: count known %.2f us a round, asked each round %.2f\n",
           size, known.median / 50, asked.median / 50);
  }
}

int main() {
  print_device();
  conditional_setup();
  if_and_switch();
  decided_on_host();
  loops();
}
