/* A whole step of a decoder of GPT-2's size with its cache, one token for one to eight sequences,
 * in one graph: own products with norm, bias, GELU and residual in them and attention that appends,
 * against a chain of cuBLASLt's products; weights of 16, 8 and 4 bits. Sampling is left out.
 *
 *   decoder_step --check      for the sanitizers */
#include "whole_layers.cuh"

#include <cstring>
#include <memory>

#include "library_product.cuh"

static cublasLtHandle_t handle;
static int layers = LAYERS;

template <int TYPE>
static const std::vector<few_rows_choice_t>& choices_for(bool norm) {
  return norm ? few_rows_choices<TYPE, true>() : few_rows_choices<TYPE, false>();
}
static const struct {
  const std::vector<few_rows_choice_t>& (*choices)(bool norm);
  void (*fill)(uint4*, half*, int, int, uint32_t);
  void (*whole)(const whole_t); /* NULL: rows as they lie */
} types[] = {{choices_for<FP16_ROWS>, fill_weights<FP16_ROWS>, nullptr},
             {choices_for<FP16>, fill_weights<FP16>, whole_layers<FP16>},
             {choices_for<INT8>, fill_weights<INT8>, whole_layers<INT8>},
             {choices_for<FLOAT8>, fill_weights<FLOAT8>, whole_layers<FLOAT8>},
             {choices_for<INT4>, fill_weights<INT4>, whole_layers<INT4>}};

struct linear_t {
  int type, columns, channels;
  uint32_t seed;
  uint4* w;
  half *scales, *bias;
  float2* norm;

  linear_t(int type, int part, uint32_t seed)
      : type(type),
        columns(part_shapes[part].columns),
        channels(part_shapes[part].channels),
        seed(seed) {
    const size_t padded = (size_t)(columns + TILE - 1) / TILE * TILE;
    const size_t accesses = padded * (size_t)(channels / in_access(type));
    w = device_new<uint4>(accesses);
    scales = device_new<half>(padded * (size_t)(type == INT4 ? channels / 128 : 1));
    types[type].fill<<<(unsigned)((accesses + 127) / 128), 128>>>(w, scales, columns, channels,
                                                                  seed);
    bias = random_half((size_t)columns, 0.1f, seed + 1);
    norm = part_shapes[part].norm ? device_new<float2>((size_t)columns) : nullptr;
    if (norm) {
      plain_sums<<<(unsigned)(columns + 127) / 128, 128>>>(type, norm, bias, columns, channels,
                                                           seed);
    }
    CHECK(cudaGetLastError());
  }
  linear_t(const linear_t&) = delete;
  linear_t& operator=(const linear_t&) = delete;
  ~linear_t() {
    for (void* p : {(void*)w, (void*)scales, (void*)bias, (void*)norm}) {
      cudaFree(p);
    }
  }
  /* At most as much as the largest product of a layer has. */
  uint32_t some_bytes() const {
    return (uint32_t)std::min<size_t>((size_t)columns * channels * (size_t)bits_of(type) / 8,
                                      (size_t)HIDDEN * CHANNELS * 2);
  }
  double bytes() const {
    return (double)columns * channels * (bits_of(type) / 8. + (type == INT4 ? 2. / 128 : 0));
  }
};

/* How one shape of product is launched. */
struct how_t {
  size_t choice;
  int warps;
  bool release_first;
};

struct decoder_t {
  int type, rows, length;
  std::vector<std::unique_ptr<linear_t>> linears; /* four a layer, then the last */
  half *words, *positions, *h, *qkv, *attended, *hidden, *logits, *keys, *values;
  int *tokens, *lengths;
  unsigned* barrier = device_new<unsigned>(1);
  layer_t* of_layers;
  cache_t c = {};
  std::vector<half*> all;
  how_t how[PARTS] = {{0, 8, false}, {0, 16, false}, {0, 8, false}, {0, 16, false}, {0, 8, false}};
  int attention_parts = 4;
  int l2_ahead = 0; /* so many products on, weights are brought into L2; 0: none */

  half* make(size_t n, float scale = 0, unsigned seed = 0) {
    all.push_back(scale > 0 ? random_half(n, scale, seed) : device_new<half>(n));
    return all.back();
  }
  decoder_t(int type, int rows, int length) : type(type), rows(rows), length(length) {
    for (int l = 0; l < layers; l++) {
      for (int p = 0; p < PARTS_OF_LAYER; p++) {
        linears.emplace_back(new linear_t(type, p, (uint32_t)(l * 10 + p + 1) * 16));
      }
    }
    linears.emplace_back(new linear_t(type, LAST, 7));
    const size_t n = (size_t)rows;
    words = make((size_t)WORDS * CHANNELS, 1, 1);
    positions = make((size_t)ROOM * CHANNELS, 0.2f, 2);
    keys = make((size_t)layers * n * CACHE, 1, 3);
    values = make((size_t)layers * n * CACHE, 1, 4);
    h = make(n * CHANNELS);
    qkv = make(n * 3 * CHANNELS);
    attended = make(n * CHANNELS);
    hidden = make(n * HIDDEN);
    logits = make(n * WORDS);
    tokens = device_new<int>(8);
    lengths = device_new<int>(8);
    std::vector<int> t;
    for (int r = 0; r < 8; r++) {
      t.push_back(1000 + 777 * r);
    }
    CHECK(cudaMemcpy(tokens, t.data(), 32, cudaMemcpyHostToDevice));
    c.partial = device_new<float>(n * MOST_PARTS * HEADS * (WIDTH + 2));
    c.arrived = device_new<unsigned>(n * HEADS);
    CHECK(cudaMemset(c.arrived, 0, n * HEADS * 4));
    c.q = qkv;
    c.y = attended;
    c.lengths = lengths;
    c.room = ROOM;
    c.heads = HEADS;
    c.pitch = 3 * CHANNELS;
    c.scale = 0.125f;
    c.new_keys = qkv + CHANNELS;
    c.new_values = qkv + 2 * CHANNELS;
    std::vector<layer_t> host((size_t)layers);
    for (size_t i = 0; i < host.size() * PARTS_OF_LAYER; i++) {
      const linear_t& l = *linears[i];
      const int p = (int)(i % PARTS_OF_LAYER);
      layer_t& to = host[i / PARTS_OF_LAYER];
      to.w[p] = l.w;
      to.scales[p] = l.scales;
      to.around[p] = {l.norm, l.bias, p == OUT || p == DOWN ? h : nullptr, p == UP, nullptr, 0};
    }
    of_layers = device_new<layer_t>(host.size());
    CHECK(cudaMemcpy(of_layers, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice));
    rewind();
  }
  decoder_t(const decoder_t&) = delete;
  decoder_t& operator=(const decoder_t&) = delete;
  ~decoder_t() {
    for (half* p : all) {
      cudaFree(p);
    }
    for (void* p : {(void*)tokens, (void*)lengths, (void*)c.partial, (void*)c.arrived,
                    (void*)barrier, (void*)of_layers}) {
      cudaFree(p);
    }
  }
  void rewind() const {
    const std::vector<int> l(8, length);
    CHECK(cudaMemcpy(lengths, l.data(), 32, cudaMemcpyHostToDevice));
  }
  double bytes() const {
    double sum = (double)layers * rows * HEADS * length * WIDTH * 4;
    for (const auto& l : linears) {
      sum += l->bytes();
    }
    return sum;
  }
  cache_t cache_of(int layer) const {
    cache_t of = c;
    of.keys = keys + (size_t)layer * rows * CACHE;
    of.values = values + (size_t)layer * rows * CACHE;
    return of;
  }
  void attend(cudaStream_t s, int layer, bool dependent) const {
    const unsigned parts = (unsigned)attention_parts;
    CHECK(launch(decode_matrix<WIDTH, 1, 0, BY_CLUSTER, 2, true>,
                 dim3(parts, HEADS, (unsigned)rows), 128, 0, dim3(parts), dependent, s,
                 cache_of(layer), true));
  }
  void multiply_by(cudaStream_t s, int part, int layer, const half* x, half* y,
                   const half* residual, bool dependent) const {
    const size_t number =
        part == LAST ? linears.size() - 1 : (size_t)(layer * PARTS_OF_LAYER + part);
    const linear_t& l = *linears[number];
    const bool more = l2_ahead && number + (size_t)l2_ahead < linears.size();
    const linear_t& later = *linears[more ? number + (size_t)l2_ahead : 0];
    const how_t& w = how[part];
    const few_rows_choice_t& k = types[type].choices(l.norm)[w.choice];
    const around_t around = {l.norm,
                             l.bias,
                             residual,
                             part == UP,
                             more ? later.w : nullptr,
                             more ? later.some_bytes() : 0};
    CHECK(launch(k.kernel, dim3((unsigned)(l.columns + k.tiles * TILE - 1) / (k.tiles * TILE)),
                 w.warps * 32, 0, dim3(1), dependent, s, (const uint4*)l.w, (const half*)l.scales,
                 x, y, l.columns, l.channels, rows, (int)w.release_first, around));
  }
  void begin(cudaStream_t s) const {
    embed<<<(unsigned)rows, 256, 0, s>>>(words, positions, tokens, lengths, h);
  }
  void end(cudaStream_t s) const {
    advance<<<1, 32, 0, s>>>(lengths, rows);
  }
  void record(cudaStream_t s, bool dependent) const {
    begin(s);
    for (int l = 0; l < layers; l++) {
      multiply_by(s, QKV, l, h, qkv, nullptr, dependent);
      attend(s, l, dependent);
      multiply_by(s, OUT, l, attended, h, h, dependent);
      multiply_by(s, UP, l, h, hidden, nullptr, dependent);
      multiply_by(s, DOWN, l, hidden, h, h, dependent);
    }
    multiply_by(s, LAST, 0, h, logits, nullptr, dependent);
    end(s);
  }
  /* All layers in one cooperative launch. */
  void record_whole(cudaStream_t s, int parts) const {
    const whole_t w = {of_layers, layers, rows,   parts,    cache_of(0), (size_t)rows * CACHE,
                       h,         qkv,    hidden, attended, barrier};
    void* arguments[] = {(void*)&w};
    int blocks = 0;
    CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMemsetAsync(barrier, 0, 4, s));
    begin(s);
    CHECK(cudaLaunchCooperativeKernel((void*)types[type].whole, dim3((unsigned)blocks),
                                      dim3(BLOCK_WARPS * 32), arguments, 0, s));
    multiply_by(s, LAST, 0, h, logits, nullptr, false);
    end(s);
  }
  /* The logits of the step that `graph` makes, against those in double. */
  double error(graph_t& graph) const {
    const size_t n = (size_t)rows;
    double *x = device_new<double>(n * CHANNELS), *next = device_new<double>(n * CHANNELS),
           *wide = device_new<double>(n * HIDDEN), *expected = device_new<double>(n * WORDS);
    rewind();
    embed<<<(unsigned)rows, 256>>>(words, positions, tokens, lengths, h);
    as_double<<<(unsigned)(rows * CHANNELS + 255) / 256, 256>>>(h, x, rows * CHANNELS);
    auto linear = [&](const linear_t& l, const double* from, double* to, const double* residual,
                      bool gelu) {
      plain_linear<<<dim3((unsigned)(l.columns + 63) / 64, (unsigned)rows), 64>>>(
          type, from, to, l.columns, l.channels, l.seed, l.norm != nullptr, l.bias, residual, gelu);
    };
    for (int l = 0; l < layers; l++) {
      const auto* of = &linears[(size_t)(l * PARTS_OF_LAYER)];
      const cache_t cache = cache_of(l);
      linear(*of[QKV], x, wide, nullptr, false);
      plain_attention<<<dim3(HEADS, (unsigned)rows), WIDTH>>>(wide, cache.keys, cache.values,
                                                              lengths, next);
      linear(*of[OUT], next, x, x, false);
      linear(*of[UP], x, wide, nullptr, true);
      linear(*of[DOWN], wide, x, x, false);
    }
    linear(*linears.back(), x, expected, nullptr, false);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(logits, 0xff, n * WORDS * 2));
    CHECK(cudaDeviceSynchronize());
    graph.run("step");
    const double e = relative_error(logits, expected, n * WORDS);
    for (double* p : {x, next, wide, expected}) {
      CHECK(cudaFree(p));
    }
    rewind();
    return e;
  }
};

/* Each shape in turn, in place: what makes the whole step fastest. */
static void tune(decoder_t& d) {
  auto now = [&] {
    d.rewind();
    graph_t g([&](cudaStream_t s) { d.record(s, true); });
    return g.time(5).median;
  };
  double best = now();
  for (int part = 0; part < PARTS; part++) {
    how_t least = d.how[part];
    for (size_t choice = 0; choice < types[d.type].choices(true).size(); choice++) {
      for (int warps : {4, 8, 16}) {
        for (bool release_first : {false, true}) {
          d.how[part] = {choice, warps, release_first};
          const double us = now();
          if (us < best * 0.998) {
            best = us;
            least = d.how[part];
          }
        }
      }
    }
    d.how[part] = least;
  }
  CHECK(cudaFuncSetAttribute(decode_matrix<WIDTH, 1, 0, BY_CLUSTER, 2, true>,
                             cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  auto choose = [&](int& of, std::initializer_list<int> values) {
    int least = of;
    for (int value : values) {
      of = value;
      const double us = now();
      if (us < best * 0.998) {
        best = us;
        least = value;
      }
    }
    of = least;
  };
  choose(d.attention_parts, {1, 2, 4, 8, 16});
  choose(d.l2_ahead, {1, 2, 3, 4, 6});
}

/* Norm, product, attention, product, norm, product, product: bias, GELU and residual in cuBLASLt.
 */
struct library_t {
  decoder_t& d;
  half* normed;
  std::vector<std::unique_ptr<blas_product_t>> products;
  std::vector<cublasLtMatmulAlgo_t> algorithms;

  explicit library_t(decoder_t& d) : d(d), normed(device_new<half>((size_t)d.rows * CHANNELS)) {
    for (int p = 0; p < PARTS; p++) {
      const cublasLtEpilogue_t epilogue =
          p == UP ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
      products.emplace_back(new blas_product_t(handle, d.rows, part_shapes[p].columns,
                                               part_shapes[p].channels, epilogue,
                                               d.linears[0]->bias));
      const auto found = products.back()->heuristics(8);
      double best = 1e30;
      algorithms.push_back(found[0].algo);
      for (const auto& f : found) {
        const double us = step_time(
                              [&](cudaStream_t s, int i) {
                                multiply_by(s, p, i % layers, d.hidden, d.logits, nullptr, &f.algo);
                              },
                              5, 12, 36)
                              .median;
        if (us < best) {
          best = us;
          algorithms.back() = f.algo;
        }
      }
    }
  }
  library_t(const library_t&) = delete;
  library_t& operator=(const library_t&) = delete;
  ~library_t() {
    cudaFree(normed);
  }
  void multiply_by(cudaStream_t s, int part, int layer, const half* x, half* y,
                   const half* residual, const cublasLtMatmulAlgo_t* algorithm = nullptr) {
    const linear_t& l =
        *d.linears[part == LAST ? d.linears.size() - 1 : (size_t)(layer * PARTS_OF_LAYER + part)];
    products[(size_t)part]->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, l.bias);
    CHECK_BLAS(products[(size_t)part]->run(algorithm ? algorithm : &algorithms[(size_t)part], l.w,
                                           x, residual, y, s));
  }
  void record(cudaStream_t s) {
    d.begin(s);
    auto norm = [&] { norm_rows<<<(unsigned)d.rows, 256, 0, s>>>(d.h, normed); };
    for (int l = 0; l < layers; l++) {
      norm();
      multiply_by(s, QKV, l, normed, d.qkv, nullptr);
      d.attend(s, l, false);
      multiply_by(s, OUT, l, d.attended, d.h, d.h);
      norm();
      multiply_by(s, UP, l, normed, d.hidden, nullptr);
      multiply_by(s, DOWN, l, d.hidden, d.h, d.h);
    }
    norm();
    multiply_by(s, LAST, 0, normed, d.logits, nullptr);
    d.end(s);
  }
};

static void show(const decoder_t& d, const char* name, graph_t& g, double error) {
  d.rewind();
  const spread_t us = g.time(31);
  d.rewind();
  const spread_t host = host_time([&] { CHECK(cudaGraphLaunch(g.exec, g.stream)); }, 1, 0);
  CHECK(cudaStreamSynchronize(g.stream));
  d.rewind();
  const spread_t end = host_time([&] { g.run("step"); }, 31);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(g.graph, nullptr, &nodes));
  printf(
      "  %s: %.1f us (%.1f-%.1f), to the end %.1f (%.1f-%.1f), one launch %.1f, %zu nodes, error "
      "%.1e\n",
      name, us.median, us.low, us.high, end.median, end.low, end.high, host.median, nodes, error);
}

static void measure(int type, int rows, int length, bool check) {
  decoder_t d(type, rows, length);
  printf("STEP %s, %d sequences, %d rows before: %.1f MB, bytes %.1f us\n", weight_names[type],
         rows, length, d.bytes() / 1e6, d.bytes() / 2.98e6);
  if (!check) {
    tune(d);
  }
  graph_t own([&](cudaStream_t s) { d.record(s, true); });
  const double error = d.error(own);
  for (int parts : {1, 2, 4, 8, 11}) {
    if (types[type].whole && (parts == 1 || rows * parts * HEADS <= 132)) {
      graph_t g([&](cudaStream_t s) { d.record_whole(s, parts); });
      const double e = d.error(g);
      if (check) {
        printf("  one launch, %d parts: error %.1e%s\n", parts, e, e < 1e-2 ? "" : " WRONG");
      } else {
        show(d, ("layers in one launch, attention in " + std::to_string(parts)).c_str(), g, e);
      }
    }
  }
  if (check) {
    printf("  error %.1e%s\n", error, error < 1e-2 ? "" : " WRONG");
    return;
  }
  show(d, "own, tuned in place", own, error);
  for (int part = 0; part < PARTS; part++) {
    const few_rows_choice_t& k = types[type].choices(part_shapes[part].norm)[d.how[part].choice];
    printf("    %s: %d tiles, %d ahead, %d warps, release %s\n", part_shapes[part].name, k.tiles,
           k.ahead, d.how[part].warps, d.how[part].release_first ? "first" : "behind");
  }
  printf("    attention: %d parts; weights brought into L2 %d products ahead\n", d.attention_parts,
         d.l2_ahead);
  const int chosen = d.l2_ahead;
  for (int ahead : {0, 1, 2, 3, 4, 6}) {
    d.l2_ahead = ahead;
    d.rewind();
    graph_t g([&](cudaStream_t s) { d.record(s, true); });
    const spread_t us = g.time(31);
    printf("    L2 %d ahead: %.1f (%.1f-%.1f)\n", ahead, us.median, us.low, us.high);
  }
  d.l2_ahead = chosen;
  graph_t plain([&](cudaStream_t s) { d.record(s, false); });
  show(d, "plain edges", plain, d.error(plain));
  if (type == FP16_ROWS) {
    library_t library(d);
    graph_t g([&](cudaStream_t s) { library.record(s); });
    show(d, "cuBLASLt's products, norms apart", g, d.error(g));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (check) {
    layers = 1;
    measure(FP16, 2, 77, true);
    measure(INT8, 3, 130, true);
    measure(INT4, 8, 33, true);
    return 0;
  }
  CHECK_BLAS(cublasLtCreate(&handle));
  for (int rows : {1, 4, 8}) {
    for (int type : {(int)FP16_ROWS, (int)FP16, (int)INT8, (int)INT4}) {
      measure(type, rows, 512, false);
    }
  }
  measure(FP16, 1, 128, false);
  measure(FP16, 1, 900, false);
}
