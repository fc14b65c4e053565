/* Tuning in place: kernels exchanged inside an instantiated graph. What may change and what stays
 * behind, what each way costs, whether the changed graph is as fast as a new one, how many replays
 * a decision takes, and what coordinate descent gains over each layer's own best. The chain is made
 * of ResNet-50's sixteen 3x3 convolutions with dependent launches.
 *
 *   exchange_nodes --check      for the sanitizers */
#include <cstring>
#include <memory>

#include "convolution_choices.cuh"
#include "node_probe.cuh"

/* ---- The chain ---- */

/* The layer of each step: ResNet-50's 3x3 convolutions without stride. */
static const int layer_of[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3};
enum { STEPS = sizeof layer_of / sizeof layer_of[0], LAYERS = 4 };

static __global__ void stand_in(const __grid_constant__ tile_arguments_t) {
  wait_for_predecessor();
}
/* The same kernel with its cluster compiled into it. */
template <int GROUPS, int HEIGHT, int N8, int SPLIT, int SOURCE>
static __global__ void __cluster_dims__(SPLIT)
    __launch_bounds__(GROUPS * 128 + (SOURCE == WINDOW_COPIES ? 32 : 128))
        convolve_fixed(const __grid_constant__ tile_arguments_t p) {
  convolve_tile<GROUPS, HEIGHT, N8, SPLIT, SOURCE>(p);
}
static std::vector<std::pair<tile_kernel_t, tile_kernel_t>> fixed_kernels;
static tile_kernel_t fixed_kernel(const tile_instance_t& t) {
  for (const auto& pair : fixed_kernels) {
    if (pair.first == t.kernel) {
      return pair.second;
    }
  }
  return nullptr;
}
template <int GROUPS, int HEIGHT, int N8, int SPLIT>
static void add_both() {
  add_instances<GROUPS, HEIGHT, N8, SPLIT>(instances());
  fixed_kernels.emplace_back(convolve<GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES>,
                             convolve_fixed<GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES>);
  fixed_kernels.emplace_back(convolve<GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES>,
                             convolve_fixed<GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES>);
}

struct network_t {
  std::vector<std::unique_ptr<convolution_data_t<half>>> data;
  std::vector<std::unique_ptr<own_t>> own;
  std::vector<choice_t> all[LAYERS];
  half* y[STEPS];
  int chosen[STEPS] = {};
  tile_arguments_t arguments[STEPS];

  explicit network_t(bool few) {
    for (int l = 0; l < LAYERS; l++) {
      data.emplace_back(new convolution_data_t<half>(three_by_three[l], 1));
      own.emplace_back(new own_t(*data[l]));
      all[l] =
          choices(three_by_three[l], (int)(data[l]->outputs / (size_t)data[l]->layer.out), few);
    }
    for (int i = 0; i < STEPS; i++) {
      y[i] = device_new<half>(data[layer_of[i]]->outputs);
    }
  }
  /* Right ones first by their time alone; wrong ones are left out. */
  void measure_alone() {
    for (int l = 0; l < LAYERS; l++) {
      std::vector<choice_t> right;
      for (choice_t c : all[l]) {
        if (own[l]->error(c) < 1e-3) {
          c.us = own[l]->time(c, own[l]->arguments(c), true, 5);
          right.push_back(c);
        }
      }
      std::sort(right.begin(), right.end(),
                [](const choice_t& a, const choice_t& b) { return a.us.median < b.us.median; });
      printf("ALONE %s: %zu of %zu choices right, best %s %.2f us\n", three_by_three[l].name,
             right.size(), all[l].size(), right[0].name().c_str(), right[0].us.median);
      all[l] = right;
    }
  }
  const choice_t& choice(int i) const {
    return all[layer_of[i]][chosen[i]];
  }
  void prepare(int i) {
    arguments[i] = own[layer_of[i]]->arguments(choice(i));
    arguments[i].weights = own[layer_of[i]]->packed[i % 12];
    arguments[i].y = y[i];
  }
  /* As it is usually done: each kernel launched with its cluster as an attribute. */
  void make(chain_graph_t& g) {
    g.capture(STEPS, [&](cudaStream_t s, int i) {
      prepare(i);
      own[layer_of[i]]->enqueue(choice(i), arguments[i], true, s);
    });
    g.instantiate();
  }
  /* To be exchanged: a kernel without a cluster stands in for each, and the executable's nodes are
   * given those that bring their clusters with them. */
  void make_open(chain_graph_t& g) {
    g.capture(STEPS, [&](cudaStream_t s, int i) {
      prepare(i);
      CHECK(launch(stand_in, dim3(1), 32, 0, dim3(1), true, s, arguments[i]));
    });
    g.instantiate();
    for (int i = 0; i < STEPS; i++) {
      exchange(g, i, chosen[i]);
    }
  }
  cudaKernelNodeParams parameters(int i, void** slot) {
    prepare(i);
    const tile_instance_t& t = *choice(i).instance;
    const tile_arguments_t& a = arguments[i];
    slot[0] = &arguments[i];
    cudaKernelNodeParams p =
        node_parameters((void*)fixed_kernel(t), t.split, t.groups * 128 + (t.source ? 128 : 32),
                        slot, (size_t)t.shared_bytes(choice(i).stages));
    p.gridDim.y = (unsigned)(a.columns / (8 * t.n8));
    p.gridDim.z = (unsigned)((a.rows + t.rows - 1) / t.rows);
    return p;
  }
  /* Exchanges step i's kernel in the executable of an open graph. */
  void exchange(chain_graph_t& g, int i, int to) {
    chosen[i] = to;
    void* slot[1];
    const cudaKernelNodeParams p = parameters(i, slot);
    CHECK(cudaGraphExecKernelNodeSetParams(g.exec, g.nodes[i], &p));
  }
  std::vector<uint64_t> outputs() const {
    std::vector<uint64_t> sums;
    for (int i = 0; i < STEPS; i++) {
      std::vector<uint16_t> host(data[layer_of[i]]->outputs);
      CHECK(cudaMemcpy(host.data(), y[i], host.size() * 2, cudaMemcpyDeviceToHost));
      uint64_t h = 1469598103934665603u;
      for (uint16_t v : host) {
        h = (h ^ v) * 1099511628211u;
      }
      sums.push_back(h);
      CHECK(cudaMemset(y[i], 0xff, host.size() * 2));
    }
    return sums;
  }
};

/* ---- Right, and as fast as a new graph ---- */

static void compare_with_new(network_t& n, int rounds, bool timed) {
  unsigned seed = 7;
  chain_graph_t changed, fresh;
  n.make_open(changed);
  int wrong = 0;
  std::vector<double> exchange_us, new_us, ratios;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < STEPS; i++) {
      seed = seed * 1664525u + 1013904223u;
      const int to = (int)(seed >> 8) % (int)n.all[layer_of[i]].size();
      const double begin = now_us();
      n.exchange(changed, i, to);
      exchange_us.push_back(now_us() - begin);
    }
    const double begin = now_us();
    n.make(fresh);
    new_us.push_back(now_us() - begin);
    changed.once();
    const std::vector<uint64_t> a = n.outputs();
    fresh.once();
    wrong += a != n.outputs();
    if (timed) {
      std::vector<double> x, y;
      for (int k = 0; k < 41; k++) {
        x.push_back(changed.once());
        y.push_back(fresh.once());
      }
      ratios.push_back(spread_of(x).median / spread_of(y).median);
    }
  }
  const spread_t e = spread_of(exchange_us), w = spread_of(new_us), q = spread_of(ratios);
  printf(
      "EXCHANGE %d rounds of %d steps: %d wrong; host us an exchange %.2f (%.2f-%.2f), captured "
      "and "
      "instantiated %.0f (%.0f-%.0f); time against a new graph %.4f (%.4f-%.4f)\n",
      rounds, (int)STEPS, wrong, e.median, e.low, e.high, w.median, w.low, w.high, q.median, q.low,
      q.high);
}

/* How well n replays tell two graphs apart: the spread of a median of n, of the difference of two
 * that take turns, and of n replays between one pair of events. */
static void resolution(chain_graph_t& a, chain_graph_t& b) {
  const int total = 1500;
  std::vector<double> x, y;
  for (int i = 0; i < total; i++) {
    x.push_back(a.once());
    y.push_back(b.once());
  }
  const spread_t one = spread_of(x), other = spread_of(y);
  printf("REPLAY one %.2f us (%.2f-%.2f), other %.2f (%.2f-%.2f)\n", one.median, one.low, one.high,
         other.median, other.low, other.high);
  for (int n : {1, 3, 5, 9, 15, 31}) {
    std::vector<double> medians, differences, least;
    for (int i = 0; i + n <= total; i += n) {
      const std::vector<double> u(x.begin() + i, x.begin() + i + n),
          v(y.begin() + i, y.begin() + i + n);
      medians.push_back(spread_of(u).median);
      least.push_back(*std::min_element(u.begin(), u.end()));
      differences.push_back(spread_of(u).median - spread_of(v).median);
    }
    const spread_t m = spread_of(medians), d = spread_of(differences), l = spread_of(least);
    printf(
        "  %2d replays: median %.2f-%.2f, least %.2f-%.2f, difference by turns %.2f (%.2f to "
        "%.2f)\n",
        n, m.low, m.high, l.low, l.high, d.median, d.low, d.high);
  }
  for (int n : {5, 20}) {
    std::vector<double> means;
    for (int i = 0; i < 100; i++) {
      CHECK(cudaEventRecord(a.begin, a.stream));
      for (int k = 0; k < n; k++) {
        CHECK(cudaGraphLaunch(a.exec, a.stream));
      }
      CHECK(cudaEventRecord(a.end, a.stream));
      wait_or_die(a.stream, "replays");
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, a.begin, a.end));
      means.push_back(ms * 1e3 / n);
    }
    const spread_t m = spread_of(means);
    printf("  %2d replays between one pair of events: %.2f (%.2f-%.2f)\n", n, m.median, m.low,
           m.high);
  }
}

/* ---- Coordinate descent ---- */

/* Exchanges each step's kernel for each of the `width` best alone, and keeps what makes the whole
 * chain faster by more than `margin`. */
static void descend(network_t& n, int width, int replays, int sweeps, bool by_layer) {
  for (int& c : n.chosen) {
    c = 0;
  }
  chain_graph_t g;
  n.make_open(g);
  const double margin = 0.05;
  const double first = g.time(101).median, begin = now_us();
  int tried = 0, kept = 0;
  double now = g.time(31).median;
  for (int sweep = 0; sweep < sweeps; sweep++) {
    const int kept_before = kept;
    for (int i = 0; i < STEPS; i++) {
      if (by_layer && i > 0 && layer_of[i] == layer_of[i - 1]) {
        continue;
      }
      auto set = [&](int to) {
        for (int k = i; k < STEPS && (k == i || (by_layer && layer_of[k] == layer_of[i])); k++) {
          n.exchange(g, k, to);
        }
      };
      const int count = std::min(width, (int)n.all[layer_of[i]].size());
      for (int to = 0; to < count; to++) {
        const int before = n.chosen[i];
        if (to == before) {
          continue;
        }
        set(to);
        tried++;
        double t = g.time(replays).median;
        if (t < now - margin) { /* again, by turns with what it replaces */
          set(before);
          const double old = g.time(4 * replays).median;
          set(to);
          t = g.time(4 * replays).median;
          if (t < old - margin) {
            now = t;
            kept++;
            continue;
          }
          now = old;
        }
        set(before);
      }
    }
    if (kept == kept_before) {
      break;
    }
  }
  const double seconds = (now_us() - begin) / 1e6;
  const spread_t last = g.time(101);
  chain_graph_t fresh;
  n.make(fresh);
  printf(
      "DESCENT %s, %d best of each, %d replays: %.2f us, after %d tries in %.2f s and %d exchanges "
      "%.2f (%.2f-%.2f), as a new graph %.2f\n",
      by_layer ? "a choice a shape" : "a choice a step", width, replays, first, tried, seconds,
      kept, last.median, last.low, last.high, fresh.time(101).median);
}

int main(int argc, char** argv) {
  print_device();
  add_both<1, 1, 4, 2>();
  add_both<1, 1, 4, 4>();
  add_both<1, 1, 4, 6>();
  add_both<1, 1, 4, 8>();
  add_both<1, 1, 8, 1>();
  add_both<1, 1, 8, 2>();
  add_both<1, 1, 8, 4>();
  add_both<1, 1, 8, 6>();
  add_both<1, 1, 8, 8>();
  add_both<2, 1, 8, 2>();
  add_both<1, 1, 4, 1>();
  prepare_instances();
  for (const auto& pair : fixed_kernels) {
    CHECK(cudaFuncSetAttribute(pair.second, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(pair.second, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
  const bool few = argc > 1 && !strcmp(argv[1], "--check");
  probe("captured without a cluster", probe_plain, 1);
  probe("captured with clusters of 2 by attribute", probe_plain, 2);
  probe("captured compiled for clusters of 2", probe_compiled<2>, 1);
  network_t n(few);
  if (few) {
    compare_with_new(n, 2, false);
    return 0;
  }
  n.measure_alone();
  compare_with_new(n, 20, true);
  for (int& c : n.chosen) {
    c = 0;
  }
  chain_graph_t a, b;
  n.make(a);
  n.chosen[8] = 1;
  n.make(b);
  resolution(a, b);
  descend(n, 8, 5, 3, false);
  descend(n, 24, 5, 3, false);
  descend(n, 24, 15, 3, false);
  descend(n, 24, 5, 3, true);
  descend(n, 100, 5, 3, false);
}
