/* BERT-base's twelve layers at 128 tokens as one chain of 60 dependent launches: products by
 * product128 with layer norms folded into them by row statistics, attention by attention128.
 * Checked against plain kernels in float64, tuned in place.
 *
 *   bert_chain [seconds for tuning]
 *   bert_chain --check                   one layer, no tuning, for compute-sanitizer */
#include <map>

#include <cstring>

#include "attention128.cuh"
#include "product_choices.cuh"

enum { LAYERS_MAX = 12, WIDTH = 768, HEADS = 12, TOKENS = PRODUCT_ROWS, WIDEST = 3072 };
enum { QKV, OUTPUT, FIRST, SECOND, PRODUCTS };
static const int columns_of[PRODUCTS] = {2304, 768, 3072, 768},
                 channels_of[PRODUCTS] = {768, 768, 768, 3072};
static const char* const names[PRODUCTS] = {"query, key, value", "output", "first of MLP",
                                            "second of MLP"};

/* ---- plain kernels in float64; between them values are fp16, as in the chain ---- */
static __global__ void plain_norm(const half* x, const float* gamma, const float* beta, half* y) {
  const int row = blockIdx.x;
  double mean = 0, square = 0;
  for (int i = 0; i < WIDTH; i++) {
    mean += (double)__half2float(x[row * WIDTH + i]) / WIDTH;
  }
  for (int i = 0; i < WIDTH; i++) {
    const double d = (double)__half2float(x[row * WIDTH + i]) - mean;
    square += d * d / WIDTH;
  }
  for (int i = threadIdx.x; i < WIDTH; i += blockDim.x) {
    const double v = ((double)__half2float(x[row * WIDTH + i]) - mean) * rsqrt(square + 1e-12);
    y[row * WIDTH + i] = __double2half(v * gamma[i] + beta[i]);
  }
}
static __global__ void plain_product(const half* x, const half* w, const float* bias,
                                     const half* residual, half* y, int columns, int channels,
                                     int gelu) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  double s = bias[column];
  for (int k = 0; k < channels; k++) {
    s += (double)__half2float(x[row * channels + k]) *
         (double)__half2float(w[(size_t)column * channels + k]);
  }
  s = gelu ? 0.5 * s * (1 + erf(s * 0.70710678118654752)) : s;
  s += residual ? (double)__half2float(residual[row * columns + column]) : 0;
  y[row * columns + column] = __double2half(s);
}
static __global__ void plain_attention(const half* qkv,
                                       half* y) { /* a block: one query of one head, 128 threads */
  __shared__ double weight[TOKENS];
  const int query = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  double s = 0, most = -1e300, sum = 0, result = 0;
  for (int d = 0; d < 64; d++) {
    s += (double)__half2float(qkv[query * 3 * WIDTH + head * 64 + d]) *
         (double)__half2float(qkv[t * 3 * WIDTH + WIDTH + head * 64 + d]);
  }
  weight[t] = s / 8;
  __syncthreads();
  for (int i = 0; i < TOKENS; i++) {
    most = fmax(most, weight[i]);
  }
  if (t < 64) {
    for (int i = 0; i < TOKENS; i++) {
      sum += exp(weight[i] - most);
      result += exp(weight[i] - most) *
                (double)__half2float(qkv[i * 3 * WIDTH + 2 * WIDTH + head * 64 + t]);
    }
    y[query * WIDTH + head * 64 + t] = __double2half(result / sum);
  }
}

/* Folds a norm before a product into its weights and bias. One warp a column. */
static __global__ void fold(half* folded, const half* w, const float* gamma, const float* beta,
                            const float* bias, float* folded_bias, int channels) {
  const size_t column = blockIdx.x;
  double extra = 0;
  for (int k = threadIdx.x; k < channels; k += 32) {
    const float v = __half2float(w[column * channels + k]);
    folded[column * channels + k] = __float2half(v * gamma[k]);
    extra += (double)v * beta[k];
  }
  for (int i = 16; i; i /= 2) {
    extra += __shfl_xor_sync(~0u, extra, i);
  }
  if (!threadIdx.x) {
    folded_bias[column] = (float)(bias[column] + extra);
  }
}

struct weights_t {
  half *raw, *packed;
  float *bias, *folded_bias, *sums;
};
struct layer_t {
  weights_t product[PRODUCTS];
  float *gamma[2], *beta[2]; /* of the norm before the layer, and of the one behind attention */
  half *in, *middle, *expected;
  float2 *in_statistics, *middle_statistics;
};
static layer_t layer[LAYERS_MAX + 1];
static int layers = LAYERS_MAX;
static half *qkv, *context, *hidden;
static product_choice_t chosen[PRODUCTS];
static int attention_release_late, distance; /* of the weights brought into L2, in products */

static void make_weights() {
  const int n = TOKENS * WIDTH;
  for (int l = 0; l <= layers; l++) {
    layer_t& a = layer[l];
    for (int i = 0; i < 2; i++) {
      a.gamma[i] = random_float(WIDTH, 1, 0.2f, 1000 + l * 4 + i);
      a.beta[i] = random_float(WIDTH, 0, 0.2f, 1002 + l * 4 + i);
    }
    a.in = l ? device_new<half>(n) : random_half(n, 1.5f, 5);
    a.middle = device_new<half>(n);
    a.expected = device_new<half>(n);
    a.in_statistics = device_new<float2>(96 * TOKENS);
    a.middle_statistics = device_new<float2>(96 * TOKENS);
    for (int k = 0; k < PRODUCTS && l < layers; k++) {
      const int columns = columns_of[k], channels = channels_of[k];
      const size_t size = (size_t)columns * channels;
      weights_t& w = a.product[k];
      w.raw = random_half(size, 1.2f * sqrtf(3.f / channels), 10 + l * 4 + k);
      w.bias = random_float(columns, 0, 0.1f, 500 + l * 4 + k);
      w.packed = device_new<half>(size);
      w.folded_bias = device_new<float>(columns);
      w.sums = device_new<float>(columns);
      half* folded = device_new<half>(size);
      const bool has_norm = k == QKV || k == FIRST;
      if (has_norm) {
        fold<<<columns, 32>>>(folded, w.raw, a.gamma[k == FIRST], a.beta[k == FIRST], w.bias,
                              w.folded_bias, channels);
        weight_sums<<<columns, 32>>>(folded, channels, w.sums);
      }
      pack_product_weights<<<(size + 255) / 256, 256>>>(w.packed, has_norm ? folded : w.raw,
                                                        columns, channels);
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaFree(folded));
    }
  }
  qkv = device_new<half>(TOKENS * 3 * WIDTH);
  context = device_new<half>(n);
  hidden = device_new<half>(TOKENS * WIDEST);
}

static void make_expected() {
  half *normed = device_new<half>(TOKENS * WIDTH), *q = device_new<half>(TOKENS * 3 * WIDTH),
       *c = device_new<half>(TOKENS * WIDTH), *m = device_new<half>(TOKENS * WIDTH),
       *h = device_new<half>(TOKENS * WIDEST);
  const half* x = layer[0].in;
  auto product = [&](const weights_t& w, int k, const half* from, const half* residual, half* to) {
    plain_product<<<dim3(columns_of[k] / 128, TOKENS), 128>>>(
        from, w.raw, w.bias, residual, to, columns_of[k], channels_of[k], k == FIRST);
  };
  for (int l = 0; l < layers; l++) {
    const layer_t& a = layer[l];
    plain_norm<<<TOKENS, 128>>>(x, a.gamma[0], a.beta[0], normed);
    product(a.product[QKV], QKV, normed, nullptr, q);
    plain_attention<<<dim3(TOKENS, HEADS), TOKENS>>>(q, c);
    product(a.product[OUTPUT], OUTPUT, c, normed, m);
    plain_norm<<<TOKENS, 128>>>(m, a.gamma[1], a.beta[1], normed);
    product(a.product[FIRST], FIRST, normed, nullptr, h);
    product(a.product[SECOND], SECOND, h, normed, layer[l + 1].expected);
    x = layer[l + 1].expected;
  }
  CHECK(cudaDeviceSynchronize());
  for (half* p : {normed, q, c, m, h}) {
    CHECK(cudaFree(p));
  }
}

static product_step_t step_of(int l, int k) {
  const layer_t& a = layer[l];
  const weights_t& w = a.product[k];
  product_step_t s = {columns_of[k], channels_of[k],
                      k == QKV || k == FIRST ? PRODUCT_NORMALISE : PRODUCT_RESIDUAL};
  const bool behind_attention = k == FIRST || k == SECOND;
  s.weights = w.packed;
  if (distance) {
    const int other = (l * PRODUCTS + k + distance) % (layers * PRODUCTS), kind = other % PRODUCTS;
    s.ahead = layer[other / PRODUCTS].product[kind].packed;
    s.ahead_bytes = (size_t)columns_of[kind] * channels_of[kind] * 2;
  }
  s.gelu = k == FIRST;
  const float2* statistics = behind_attention ? a.middle_statistics : a.in_statistics;
  s.statistics_count = product_statistics(chosen[behind_attention ? OUTPUT : SECOND], WIDTH);
  if (s.mode == PRODUCT_NORMALISE) {
    s.input = behind_attention ? a.middle : a.in;
    s.output = behind_attention ? hidden : qkv;
    s.bias = w.folded_bias;
    s.weight_sums = w.sums;
    s.input_statistics = statistics;
  } else {
    s.input = behind_attention ? hidden : context;
    s.residual = behind_attention ? a.middle : a.in;
    s.output = behind_attention ? layer[l + 1].in : a.middle;
    s.output_statistics = behind_attention ? layer[l + 1].in_statistics : a.middle_statistics;
    s.bias = w.bias;
    s.gamma = a.gamma[behind_attention];
    s.beta = a.beta[behind_attention];
    s.residual_statistics = statistics;
  }
  return s;
}

static CUtensorMap plane_map(const half* from, int columns, int rows) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                           cudaEnableDefault, &result));
  }
  CUtensorMap map;
  const cuuint64_t extents[2] = {(cuuint64_t)columns, TOKENS},
                   strides[1] = {(cuuint64_t)columns * 2};
  const cuuint32_t box[2] = {64, (cuuint32_t)rows}, steps[2] = {1, 1};
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void*)from, extents, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    printf("FAILED tensor map\n");
    _exit(2);
  }
  return map;
}
static void enqueue_attention(cudaStream_t stream, bool dependent, half* to,
                              unsigned long long* stamps = nullptr) {
  attention_arguments_t a = {plane_map(qkv, 3 * WIDTH, ATTENTION_QUERIES),
                             plane_map(qkv, 3 * WIDTH, TOKENS),
                             to,
                             WIDTH,
                             attention_release_late,
                             stamps};
  CHECK(launch(attention128, dim3(TOKENS / ATTENTION_QUERIES, HEADS), ATTENTION_THREADS, 0, dim3(1),
               dependent, stream, a));
}
static void enqueue_all(cudaStream_t stream, bool dependent, int skip = 0,
                        bool late_weights = false) {
  for (int l = 0; l < layers; l++) {
    for (int k = 0; k < PRODUCTS; k++) {
      product_launch_t p = {};
      if (!product_plan(step_of(l, k), chosen[k], &p)) {
        printf("FAILED %s does not fit\n", names[k]);
        _exit(2);
      }
      p.arguments.skip = skip;
      p.arguments.late_weights = late_weights;
      product_enqueue(p, dependent, stream);
      if (k == QKV) {
        enqueue_attention(stream, dependent, context);
      }
    }
  }
}
/* The first layer's statistics come from nobody in the chain: made anew for each choice of its
 * readers. */
static void make_first_statistics() {
  const int parts = product_statistics(chosen[SECOND], WIDTH);
  partial_statistics<<<parts, TOKENS>>>(layer[0].in, WIDTH, WIDTH / parts, layer[0].in_statistics);
  CHECK(cudaDeviceSynchronize());
}
static spread_t whole(int count, bool dependent = true, int skip = 0, bool late_weights = false,
                      void* evict = nullptr) {
  make_first_statistics();
  graph_t graph([&](cudaStream_t s) { enqueue_all(s, dependent, skip, late_weights); });
  return graph.time(count, evict, evict ? 256 << 20 : 0);
}
static void verify(const char* when) {
  make_first_statistics();
  for (int l = 1; l <= layers; l++) {
    CHECK(cudaMemset(layer[l].in, 0xff, TOKENS * WIDTH * 2));
  }
  graph_t graph([&](cudaStream_t s) { enqueue_all(s, true); });
  graph.time(10);
  double worst = 0, last = 0;
  for (int l = 1; l <= layers; l++) {
    last = relative_error(layer[l].in, layer[l].expected, TOKENS * WIDTH);
    worst = last <= worst ? worst : last;
  }
  printf("BERT %s: error of the last layer %.1e, worst %.1e\n", when, last, worst);
}
static void report(const char* when, void* evict) {
  const spread_t t = whole(101), plain = whole(51, false), cold = whole(31, true, 0, false, evict);
  printf(
      "BERT %s: %.1f us (%.1f-%.1f), plain edges %.1f, cold %.1f, weights after the wait %.1f, "
      "without products %.1f, "
      "input %.1f, moments %.1f, all %.1f\n",
      when, t.median, t.low, t.high, plain.median, cold.median, whole(31, true, 0, true).median,
      whole(31, true, PRODUCT_SKIP_PRODUCTS).median, whole(31, true, PRODUCT_SKIP_INPUT).median,
      whole(31, true, PRODUCT_SKIP_MOMENTS).median, whole(31, true, 15).median);
}

/* Each product alone in a chain of itself: its best choices. */
static std::vector<product_choice_t> tune_alone(int k) {
  std::vector<product_choice_t> all = product_choices(step_of(0, k), false);
  for (product_choice_t& choice : all) {
    graph_t graph([&](cudaStream_t s) {
      for (int i = 0; i < 36; i++) {
        product_launch_t p = {};
        product_step_t step = step_of(i % layers, k);
        step.statistics_count = 48;
        product_plan(step, choice, &p);
        product_enqueue(p, true, s);
      }
    });
    choice.us = graph.time(7).median / 36;
  }
  std::sort(all.begin(), all.end(),
            [](const product_choice_t& a, const product_choice_t& b) { return a.us < b.us; });
  return all;
}

/* Attention in a chain of itself, and where a block's time goes. */
static void print_attention() {
  const spread_t t = step_time([&](cudaStream_t s, int) { enqueue_attention(s, true, context); });
  enum { STEPS = 20, BLOCKS = TOKENS / ATTENTION_QUERIES * HEADS };
  unsigned long long* stamps = device_new<unsigned long long>(STEPS * BLOCKS * 8);
  graph_t graph([&](cudaStream_t s) {
    for (int i = 0; i < STEPS; i++) {
      enqueue_attention(s, true, context, stamps + i * BLOCKS * 8);
    }
  });
  graph.time(3);
  std::vector<unsigned long long> v(STEPS * BLOCKS * 8);
  CHECK(cudaMemcpy(v.data(), stamps, v.size() * 8, cudaMemcpyDeviceToHost));
  std::vector<double> phase[5];
  for (int i = 6 * BLOCKS; i < STEPS * BLOCKS; i++) {
    for (int k = 0; k < 5; k++) {
      phase[k].push_back((double)(v[i * 8 + k + 1] - v[i * 8 + k]));
    }
  }
  printf(
      "ATTENTION releasing %s: %.2f us (%.2f-%.2f); ns: start to go %.0f, queries and keys %.0f, "
      "scores %.0f, weights %.0f, "
      "values and result %.0f\n",
      attention_release_late ? "late" : "early", t.median, t.low, t.high,
      spread_of(phase[0]).median, spread_of(phase[1]).median, spread_of(phase[2]).median,
      spread_of(phase[3]).median, spread_of(phase[4]).median);
  CHECK(cudaFree(stamps));
}

/* Several chains at once, each on a stream of its own. They share their buffers: only the time
 * counts. */
static void print_contexts() {
  for (int count : {1, 2, 4, 8}) {
    std::vector<graph_t*> graphs;
    for (int i = 0; i < count; i++) {
      graphs.push_back(new graph_t([&](cudaStream_t s) { enqueue_all(s, true); }));
      graphs[i]->run();
    }
    const int rounds = 200;
    const double begin = now_us();
    for (int r = 0; r < rounds; r++) {
      for (graph_t* g : graphs) {
        CHECK(cudaGraphLaunch(g->exec, g->stream));
      }
    }
    for (graph_t* g : graphs) {
      CHECK(cudaStreamSynchronize(g->stream));
    }
    const double us = now_us() - begin;
    printf("CONTEXTS %d: %.0f sequences a second, %.1f us for each of a context's\n", count,
           rounds * count / us * 1e6, us / rounds);
    for (graph_t* g : graphs) {
      delete g;
    }
  }
}

int main(int argc, char** argv) {
  print_device();
  const bool only_check = argc > 1 && !strcmp(argv[1], "--check");
  const double budget = argc > 1 ? atof(argv[1]) : 20, begin = now_us();
  layers = only_check ? 1 : LAYERS_MAX;
  product_setup();
  CHECK(cudaFuncSetAttribute(attention128, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  void* evict = device_new<uint8_t>(256 << 20);
  make_weights();
  make_expected();
  std::vector<product_choice_t> best[PRODUCTS];
  for (int k :
       {OUTPUT, SECOND, QKV, FIRST}) {   /* the first two leave the statistics of the others */
    for (product_choice_t& c : chosen) { /* any, so that a step can be described */
      c = c.instance < 0 ? product_choices({768, 768, PRODUCT_RESIDUAL}, true)[0] : c;
    }
    best[k] = only_check ? product_choices(step_of(0, k), true) : tune_alone(k);
    chosen[k] = best[k][0];
    printf("ALONE %s: %.2f us %s\n", names[k], best[k][0].us, product_name(best[k][0]).c_str());
  }
  verify("tuned alone");
  if (only_check) {
    return 0;
  }
  report("tuned alone", evict);
  double time = whole(31).median;
  for (int round = 0; round < 3 && now_us() - begin < budget * 1e6; round++) {
    const double before = time;
    for (int k = 0; k < PRODUCTS; k++) {
      product_choice_t keep = chosen[k];
      std::vector<product_choice_t> options(best[k].begin(),
                                            best[k].begin() + std::min<size_t>(best[k].size(), 40));
      for (int pad : {0, 1, 2}) {
        options.push_back(keep);
        options.back().pad = pad;
      }
      for (const product_choice_t& c : options) {
        chosen[k] = c;
        if (now_us() - begin < budget * 1e6 && whole(9).median < time - 0.3) {
          const double t = whole(31).median;
          if (t < time - 0.2) {
            time = t;
            keep = c;
          }
        }
      }
      chosen[k] = keep;
    }
    auto keep_if_faster = [&](int& what, int value) {
      const int kept = what;
      what = value;
      const double t = whole(31).median;
      what = t < time - 0.2 ? value : kept;
      time = t < time - 0.2 ? t : time;
    };
    keep_if_faster(attention_release_late, !attention_release_late);
    for (int d : {0, 1, 2, 3, 4}) {
      keep_if_faster(distance, d);
    }
    printf("round %d: %.1f to %.1f us\n", round, before, time);
    if (before - time < 0.5) {
      break;
    }
  }
  verify("tuned in place");
  report("tuned in place", evict);
  for (int k = 0; k < PRODUCTS; k++) {
    printf("CHOSEN %s: %s\n", names[k], product_name(chosen[k]).c_str());
  }
  printf("weights brought to L2 %d products ahead, attention releases %s\n", distance,
         attention_release_late ? "late" : "early");
  const int tuned_distance = distance, tuned_late = attention_release_late;
  for (distance = 0; distance < 5; distance++) {
    printf("distance %d: %.1f us\n", distance, whole(51).median);
  }
  distance = tuned_distance;
  for (attention_release_late = 0; attention_release_late < 2; attention_release_late++) {
    print_attention();
  }
  attention_release_late = tuned_late;
  for (int late : {0, 1}) {
    product_choice_t kept[PRODUCTS];
    std::copy(chosen, chosen + PRODUCTS, kept);
    const int attention = attention_release_late;
    for (product_choice_t& c : chosen) {
      c.release_late = late;
    }
    attention_release_late = late;
    printf("all release %s: %.1f us\n", late ? "late" : "early", whole(51).median);
    std::copy(kept, kept + PRODUCTS, chosen);
    attention_release_late = attention;
  }
  print_contexts();
  printf("%.0f s\n", (now_us() - begin) / 1e6);
}
