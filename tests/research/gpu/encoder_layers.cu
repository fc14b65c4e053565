/* Twelve layers of an encoder (BERT-base's size) at large batch through the libraries: each product
 * with its bias, exact GELU or residual by cuBLASLt or by cuDNN's compiled form, an own pass where
 * cuBLASLt lacks the exact GELU; attention by cuDNN, norms by an own kernel; everything in one
 * graph.
 *
 *   encoder_layers --check      one small size, for the sanitizers */
#include <cstring>
#include <memory>

#include "hopper.cuh"
#include "library_product.cuh"
#include "operation_graph.cuh"

enum { LAYERS = 12, HEADS = 12, WIDTH = 64, CHANNELS = HEADS * WIDTH, HIDDEN = 4 * CHANNELS };
enum part_t { QKV, OUT, UP, DOWN, PARTS };
static const struct {
  const char* name;
  int columns, channels;
} shapes[PARTS] = {{"qkv", 3 * CHANNELS, CHANNELS},
                   {"out + residual", CHANNELS, CHANNELS},
                   {"up, gelu", HIDDEN, CHANNELS},
                   {"down + residual", CHANNELS, HIDDEN}};
static cudnnHandle_t dnn;
static cublasLtHandle_t blas;

/* In place, eight a thread. */
static __global__ void __launch_bounds__(256) gelu_pass(half* x, size_t n) {
  wait_for_predecessor();
  release_dependents();
  const size_t i = (blockIdx.x * (size_t)256 + threadIdx.x) * 8;
  if (i < n) {
    float v[8];
    uint32_t out[4];
    unpack_halves(*(const uint4*)(x + i), v);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      v[k] = 0.5f * v[k] * (1 + erff(v[k] * 0.70710678f));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      out[k] = pack_half(v[2 * k], v[2 * k + 1]);
    }
    *(uint4*)(x + i) = make_uint4(out[0], out[1], out[2], out[3]);
  }
}
/* A warp a row, three accesses of eight a lane; four rows a block. */
static __global__ void __launch_bounds__(128)
    norm_pass(const half* x, const half* scale, const half* shift, half* y, int rows) {
  wait_for_predecessor();
  release_dependents();
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) {
    return;
  }
  float v[3][8], sum = 0, square = 0;
#pragma unroll
  for (int j = 0; j < 3; j++) {
    unpack_halves(*(const uint4*)(x + (size_t)row * CHANNELS + (j * 32 + lane) * 8), v[j]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      sum += v[j][k];
      square += v[j][k] * v[j][k];
    }
  }
  for (int d = 16; d; d /= 2) {
    sum += __shfl_xor_sync(~0u, sum, d);
    square += __shfl_xor_sync(~0u, square, d);
  }
  const float mean = sum / CHANNELS,
              factor = rsqrtf(fmaxf(square / CHANNELS - mean * mean, 0.f) + 1e-5f);
#pragma unroll
  for (int j = 0; j < 3; j++) {
    const int c = (j * 32 + lane) * 8;
    float s[8], b[8];
    uint32_t out[4];
    unpack_halves(*(const uint4*)(scale + c), s);
    unpack_halves(*(const uint4*)(shift + c), b);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      out[k] = pack_half((v[j][2 * k] - mean) * factor * s[2 * k] + b[2 * k],
                         (v[j][2 * k + 1] - mean) * factor * s[2 * k + 1] + b[2 * k + 1]);
    }
    *(uint4*)(y + (size_t)row * CHANNELS + c) = make_uint4(out[0], out[1], out[2], out[3]);
  }
}
/* Some rows of a product in double. */
static __global__ void plain_rows(const half* x, const half* w, const half* bias,
                                  const half* residual, bool gelu, double* y, int columns,
                                  int channels, int first) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t row = (size_t)first + blockIdx.y;
  if (column < columns) {
    double sum = (double)__half2float(bias[column]);
    for (int c = 0; c < channels; c++) {
      sum += (double)__half2float(x[row * channels + c]) *
             (double)__half2float(w[(size_t)column * channels + c]);
    }
    sum = gelu ? 0.5 * sum * (1 + erf(sum * 0.70710678118654752)) : sum;
    sum += residual ? (double)__half2float(residual[row * columns + column]) : 0;
    y[(size_t)blockIdx.y * columns + column] = sum;
  }
}

/* Buffers of one size, weights of twelve layers. */
struct encoder_t {
  int sequences, tokens, rows;
  std::vector<half*> all;
  half *x, *qkv, *attended, *sum, *normed, *hidden, *scale, *shift;
  half *w[LAYERS][PARTS], *bias[LAYERS][PARTS];

  half* make(size_t n, float size = 0, unsigned seed = 0) {
    all.push_back(size > 0 ? random_half(n, size, seed) : device_new<half>(n));
    return all.back();
  }
  encoder_t(int sequences, int tokens)
      : sequences(sequences), tokens(tokens), rows(sequences * tokens) {
    const size_t n = (size_t)rows;
    x = make(n * CHANNELS, 1.5f, 1);
    qkv = make(n * 3 * CHANNELS, 1, 2);
    attended = make(n * CHANNELS, 1, 3);
    sum = make(n * CHANNELS, 1, 4);
    normed = make(n * CHANNELS, 1, 5);
    hidden = make(n * HIDDEN, 1, 6);
    scale = make(CHANNELS, 1, 7);
    shift = make(CHANNELS, 0.2f, 8);
    for (int l = 0; l < LAYERS; l++) {
      for (int p = 0; p < PARTS; p++) {
        w[l][p] =
            make((size_t)shapes[p].columns * shapes[p].channels, 0.06f, (unsigned)(l * 9 + p));
        bias[l][p] = make((size_t)shapes[p].columns, 0.2f, (unsigned)(l * 9 + p + 500));
      }
    }
  }
  encoder_t(const encoder_t&) = delete;
  encoder_t& operator=(const encoder_t&) = delete;
  ~encoder_t() {
    for (half* p : all) {
      cudaFree(p);
    }
  }
  /* What part `p` reads, writes and adds. */
  half* from(int p) const {
    return p == OUT ? attended : p == UP ? normed : p == DOWN ? hidden : x;
  }
  half* to(int p) const {
    return p == QKV ? qkv : p == UP ? hidden : sum;
  }
  half* added(int p) const {
    return p == OUT ? x : p == DOWN ? normed : nullptr;
  }
  void norm(cudaStream_t s, half* y) const {
    CHECK(launch(norm_pass, dim3((unsigned)(rows + 3) / 4), 128, 0, dim3(1), true, s,
                 (const half*)sum, (const half*)scale, (const half*)shift, y, rows));
  }
};

/* One way to compute one part, for each layer. */
struct way_t {
  std::string name;
  std::function<void(cudaStream_t, int)> run;
  spread_t us = {NAN, NAN, NAN};
  double error = NAN;
};

static double error_of(const encoder_t& e, int part, const way_t& w) {
  enum { LOOKED = 48 };
  const size_t columns = (size_t)shapes[part].columns, n = LOOKED * columns;
  double* expected = device_new<double>(n);
  double worst = 0;
  CHECK(cudaMemset(e.to(part), 0xff, (size_t)e.rows * columns * 2));
  CHECK(cudaDeviceSynchronize());
  w.run(nullptr, 0);
  wait_or_die(nullptr, w.name.c_str());
  for (int first : {0, e.rows - LOOKED}) {
    plain_rows<<<dim3((unsigned)(columns + 127) / 128, LOOKED), 128>>>(
        e.from(part), e.w[0][part], e.bias[0][part], e.added(part), part == UP, expected,
        (int)columns, shapes[part].channels, first);
    CHECK(cudaGetLastError());
    const double error = relative_error(e.to(part) + (size_t)first * columns, expected, n);
    worst = error <= worst ? worst : error;
  }
  CHECK(cudaFree(expected));
  return worst;
}

/* cuBLASLt: its bias; GELU as a pass behind it or by tanh in it; the residual by beta. */
static way_t by_blas(const encoder_t& e, int part, bool own_gelu) {
  const cublasLtEpilogue_t epilogue =
      part == UP && !own_gelu ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  auto product = std::make_shared<blas_product_t>(blas, e.rows, shapes[part].columns,
                                                  shapes[part].channels, epilogue, e.bias[0][part]);
  way_t best = {own_gelu && part == UP ? "cuBLASLt, own gelu" : "cuBLASLt", {}};
  for (const auto& h : product->heuristics(8)) {
    way_t w = {best.name, [&e, part, own_gelu, product, h](cudaStream_t s, int layer) {
                 product->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, e.bias[layer % LAYERS][part]);
                 CHECK_BLAS(product->run(&h.algo, e.w[layer % LAYERS][part], e.from(part),
                                         e.added(part), e.to(part), s));
                 if (part == UP && own_gelu) {
                   const size_t n = (size_t)e.rows * HIDDEN;
                   CHECK(launch(gelu_pass, dim3((unsigned)((n / 8 + 255) / 256)), 256, 0, dim3(1),
                                true, s, e.to(part), n));
                 }
               }};
    w.us = step_time(w.run, 5, 6, 18);
    if (!(w.us.median >= best.us.median)) {
      best = w;
    }
  }
  best.error = error_of(e, part, best);
  return best;
}

/* cuDNN: product, bias, exact GELU or residual as one graph. */
static way_t by_dnn(const encoder_t& e, int part, double seconds) {
  const int64_t m = e.rows, n = shapes[part].columns, k = shapes[part].channels;
  auto g = std::make_shared<dnn_graph_t>(dnn);
  auto real = [&](half* p, int64_t rows, int64_t columns) {
    return g->tensor(CUDNN_DATA_HALF, {1, rows, columns, 0}, {rows * columns, columns, 1, 0}, p,
                     false, 3);
  };
  auto middle = [&] {
    return g->tensor(CUDNN_DATA_FLOAT, {1, m, n, 0}, {m * n, n, 1, 0}, nullptr, false, 3);
  };
  dnn_t w = g->tensor(CUDNN_DATA_HALF, {1, k, n, 0}, {k * n, 1, k, 0}, e.w[0][part], false, 3);
  dnn_t value = middle(), y = real(e.to(part), m, n);
  cudnnStatus_t status = g->product(real(e.from(part), m, k), w, value);
  auto then = [&](cudnnPointwiseMode_t mode, dnn_t b, dnn_t to) {
    status = status == CUDNN_STATUS_SUCCESS ? g->pointwise(mode, value, b, to) : status;
    value = to;
  };
  then(CUDNN_POINTWISE_ADD, real(e.bias[0][part], 1, n), part == QKV ? y : middle());
  if (part == UP) {
    then(CUDNN_POINTWISE_GELU_FWD, nullptr, y);
  } else if (e.added(part)) {
    then(CUDNN_POINTWISE_ADD, real(e.added(part), m, n), y);
  }
  status = status == CUDNN_STATUS_SUCCESS ? g->finish() : status;
  way_t best = {"cuDNN", {}};
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  refused: %s\n", dnn_words().c_str());
    return best;
  }
  const std::vector<dnn_t> found = g->proposals(CUDNN_HEUR_MODE_A);
  const double begin = now_us();
  for (size_t i = 0; i < found.size() && now_us() - begin < seconds * 1e6; i++) {
    auto plan = std::make_shared<dnn_plan_t>();
    if (plan->build(dnn, found[i]) != CUDNN_STATUS_SUCCESS) {
      continue;
    }
    std::vector<dnn_t> packs;
    for (int l = 0; l < LAYERS; l++) {
      std::vector<void*> pointers = g->pointers;
      for (void*& p : pointers) {
        p = p == e.w[0][part] ? e.w[l][part] : p == e.bias[0][part] ? e.bias[l][part] : p;
      }
      plan->pack = nullptr; /* the packs live as long as the process */
      plan->bind(g->names, pointers);
      packs.push_back(plan->pack);
    }
    way_t w = {"cuDNN engine " + std::to_string(engine_of(*g, found[i]).index) + ", proposal " +
                   std::to_string(i + 1) + " of " + std::to_string(found.size()),
               [g, plan, packs](cudaStream_t s, int layer) {
                 CHECK_DNN(cudnnSetStream(dnn, s));
                 CHECK_DNN(cudnnBackendExecute(dnn, plan->plan, packs[(size_t)(layer % LAYERS)]));
               }};
    w.us = step_time(w.run, 5, 6, 18);
    if (!(w.us.median >= best.us.median)) {
      best = w;
    }
  }
  if (best.run) {
    best.error = error_of(e, part, best);
  }
  return best;
}

static way_t attention(const encoder_t& e) {
  auto g = std::make_shared<dnn_graph_t>(dnn);
  auto plan = std::make_shared<dnn_plan_t>();
  static float scale = 0.125f;
  const int64_t t = e.tokens;
  const extents_t packed = {e.sequences, HEADS, t, WIDTH}, one = {1, 1, 1, 1};
  const extents_t strides = {t * 3 * CHANNELS, WIDTH, 3 * CHANNELS, 1};
  dnn_t o = g->make(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  auto give = [&](cudnnBackendAttributeName_t name, dnn_t tensor) {
    dnn_one(o, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor);
  };
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, g->tensor(CUDNN_DATA_HALF, packed, strides, e.qkv));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
       g->tensor(CUDNN_DATA_HALF, packed, strides, e.qkv + CHANNELS));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,
       g->tensor(CUDNN_DATA_HALF, packed, strides, e.qkv + 2 * CHANNELS));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
       g->tensor(CUDNN_DATA_FLOAT, one, one, &scale, true));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
       g->tensor(CUDNN_DATA_HALF, packed, {t * CHANNELS, WIDTH, CHANNELS, 1}, e.attended));
  g->operations.push_back(o);
  CHECK_DNN(cudnnBackendFinalize(o));
  CHECK_DNN(g->finish());
  CHECK_DNN(plan->build(dnn, g->proposals(CUDNN_HEUR_MODE_A).at(0)));
  plan->bind(g->names, g->pointers);
  way_t w = {"attention", [g, plan](cudaStream_t s, int) {
               CHECK_DNN(cudnnSetStream(dnn, s));
               CHECK_DNN(cudnnBackendExecute(dnn, plan->plan, plan->pack));
             }};
  w.us = step_time(w.run, 7, 6, 18);
  return w;
}

static void whole(const encoder_t& e, const char* name, const way_t* const (&parts)[PARTS],
                  const way_t& attend, const half* start, half* kept) {
  graph_t g([&](cudaStream_t s) {
    for (int l = 0; l < LAYERS; l++) {
      parts[QKV]->run(s, l);
      attend.run(s, l);
      parts[OUT]->run(s, l);
      e.norm(s, e.normed);
      parts[UP]->run(s, l);
      parts[DOWN]->run(s, l);
      e.norm(s, e.x);
    }
  });
  const size_t n = (size_t)e.rows * CHANNELS;
  CHECK(cudaMemcpy(e.x, start, n * 2, cudaMemcpyDeviceToDevice));
  CHECK(cudaDeviceSynchronize());
  g.run(name);
  const bool first = kept != nullptr && *name == '!';
  if (first) {
    CHECK(cudaMemcpy(kept, e.x, n * 2, cudaMemcpyDeviceToDevice));
  }
  const double error = relative_error(e.x, kept, n);
  const spread_t us = g.time(21);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(g.graph, nullptr, &nodes));
  printf("  %s: %.1f us (%.1f-%.1f), %zu nodes, against the first %.1e\n", name + first, us.median,
         us.low, us.high, nodes, error);
}

static void measure(int sequences, int tokens, double seconds) {
  encoder_t e(sequences, tokens);
  double operations = 0;
  for (const auto& s : shapes) {
    operations += 2. * e.rows * s.columns * s.channels;
  }
  printf("ENCODER %d sequences of %d: products alone %.1f us a layer at 800 TFLOP/s\n", sequences,
         tokens, operations / 800e6);
  std::vector<way_t> exact, tanh, dnns;
  for (int part = 0; part < PARTS; part++) {
    exact.push_back(by_blas(e, part, true));
    tanh.push_back(part == UP ? by_blas(e, part, false) : exact.back());
    dnns.push_back(by_dnn(e, part, seconds));
    printf("  %s:", shapes[part].name);
    for (const way_t* w : {&exact.back(), &tanh.back(), &dnns.back()}) {
      printf(" %s %.2f (%.2f-%.2f), error %.1e;", w->name.c_str(), w->us.median, w->us.low,
             w->us.high, w->error);
    }
    printf("\n");
  }
  const way_t attend = attention(e);
  const spread_t norm = step_time([&](cudaStream_t s, int) { e.norm(s, e.normed); }, 7, 8, 24);
  printf("  attention %.2f, norm %.2f\n", attend.us.median, norm.median);
  const size_t n = (size_t)e.rows * CHANNELS;
  half *start = random_half(n, 1.5f, 1), *kept = device_new<half>(n);
  auto run = [&](const char* name, auto choose) {
    const way_t* parts[PARTS];
    for (int p = 0; p < PARTS; p++) {
      parts[p] = choose((size_t)p);
      if (!parts[p]->run) {
        return;
      }
    }
    whole(e, name, parts, attend, start, kept);
  };
  run("!cuBLASLt, own gelu", [&](size_t p) { return &exact[p]; });
  run("cuBLASLt, its gelu by tanh", [&](size_t p) { return &tanh[p]; });
  run("cuDNN", [&](size_t p) { return &dnns[p]; });
  run("best of each, exact",
      [&](size_t p) { return !(dnns[p].us.median >= exact[p].us.median) ? &dnns[p] : &exact[p]; });
  CHECK(cudaFree(start));
  CHECK(cudaFree(kept));
}

int main(int argc, char** argv) {
  print_device();
  CHECK_DNN(cudnnCreate(&dnn));
  CHECK_BLAS(cublasLtCreate(&blas));
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    measure(1, 128, 1);
    return 0;
  }
  measure(32, 128, 6);
  measure(8, 128, 6);
  measure(32, 197, 6);
}
