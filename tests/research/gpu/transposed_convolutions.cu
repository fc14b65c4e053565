/* Transposed convolutions as plain ones, one for each pixel of a stride's square (a single one
 * where the window is the stride), and a kernel that puts their results side by side; beside
 * cuDNN's own operation, with bias and ReLU. fp16, NHWC.
 *
 *   transposed_convolutions [seconds for each graph] */
#include "operation_graph.cuh"

static cudnnHandle_t handle;

struct transposed_t {
  const char* name;
  int in, out, extent, window, stride, padding;
  int output() const {
    return (extent - 1) * stride + window - 2 * padding;
  }
};

/* w as [in][window][window][out] */
static __global__ void reference(const half* x, const half* w, const half* bias, double* y,
                                 transposed_t p, int extent_out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int k = i % p.out, q = i / p.out % extent_out, r = i / p.out / extent_out % extent_out;
  const size_t image = i / p.out / extent_out / extent_out;
  double sum = (double)__half2float(bias[k]);
  for (int a = 0; a < p.window; a++) {
    for (int b = 0; b < p.window; b++) {
      const int h = r + p.padding - a, v = q + p.padding - b;
      if (h < 0 || v < 0 || h % p.stride || v % p.stride || h / p.stride >= p.extent ||
          v / p.stride >= p.extent) {
        continue;
      }
      const half *xp = x + ((image * p.extent + h / p.stride) * p.extent + v / p.stride) * p.in,
                 *wp = w + ((size_t)a * p.window + b) * p.out + k;
      for (int c = 0; c < p.in; c++) {
        sum += (double)__half2float(xp[c]) *
               (double)__half2float(wp[(size_t)c * p.window * p.window * p.out]);
      }
    }
  }
  y[i] = fmax(sum, 0.0);
}

/* Which pixels of the input a phase of the result sees along one axis: `taps` of them, the first
 * `first` behind the pixel (or in front of it, negative); tap u has the window's place last - u *
 * stride. */
struct phase_t {
  int taps, first, last, output, pre, post;
};
static phase_t phase_of(const transposed_t& p, int phase) {
  const int a0 = (phase + p.padding) % p.stride, taps = (p.window - a0 + p.stride - 1) / p.stride,
            d0 = (phase + p.padding - a0) / p.stride;
  phase_t f;
  f.taps = taps;
  f.first = d0 - (taps - 1);
  f.last = a0 + (taps - 1) * p.stride;
  f.output = (p.output() - phase + p.stride - 1) / p.stride;
  f.pre = -f.first;
  f.post = f.output - 1 + d0 - (p.extent - 1);
  return f;
}

/* to as [phases][out][rows' taps][columns' taps][in]; `phases` is the square of the stride where
 * each phase has one tap, else 1. */
static __global__ void take_phase(half* to, const half* w, transposed_t p, phase_t row,
                                  phase_t column, int phases, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int c = i % p.in, v = i / p.in % column.taps, u = i / p.in / column.taps % row.taps,
            k = i / p.in / column.taps / row.taps % p.out,
            phase = i / p.in / column.taps / row.taps / p.out;
  const int a = phases > 1 ? phase / p.stride : row.last - u * p.stride,
            b = phases > 1 ? phase % p.stride : column.last - v * p.stride;
  to[i] = w[(((size_t)c * p.window + a) * p.window + b) * p.out + k];
}

/* Where the results of the phases lie: pixel [image][row][column] of phase f begins at `first[f]`,
 * `pitch` elements from the next. */
struct results_t {
  size_t first[4];
  int rows[4], columns[4], pitch;
};
/* The whole result from those of its phases, eight channels a thread. */
static __global__ void __launch_bounds__(128)
    interleave(const half* from, half* y, const __grid_constant__ results_t r, int stride,
               int extent, int channels, int images) {
  const unsigned t = blockIdx.x * 128 + threadIdx.x, packs = channels / 8, c = t % packs * 8,
                 q = t / packs;
  const int column = q % extent, row = q / extent % extent, image = q / extent / extent;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (image < images) {
    const int f = row % stride * stride + column % stride;
    const size_t pixel =
        ((size_t)image * r.rows[f] + row / stride) * r.columns[f] + column / stride;
    *(uint4*)(y + (size_t)q * channels + c) =
        *(const uint4*)(from + r.first[f] + pixel * r.pitch + c);
  }
}

struct best_t {
  spread_t us = {NAN, NAN, NAN};
  int64_t engine = -1;
  dnn_plan_t* plan = nullptr;
  size_t tried = 0, proposals = 0, wrong = 0;
};

struct data_t {
  transposed_t p;
  int batch;
  size_t outputs;
  half *x, *w, *bias, *wide_bias, *y, *parts;
  double* expected;
  data_t(const transposed_t& p, int batch) : p(p), batch(batch) {
    const int e = p.output();
    outputs = (size_t)batch * e * e * p.out;
    x = random_half((size_t)batch * p.extent * p.extent * p.in, 1, 1);
    w = random_half(
        (size_t)p.in * p.window * p.window * p.out,
        std::sqrt(3.f * (float)(p.stride * p.stride) / (float)(p.in * p.window * p.window)), 2);
    bias = random_half((size_t)p.out, 0.5f, 3);
    wide_bias = device_new<half>((size_t)p.out * p.stride * p.stride);
    for (int i = 0; i < p.stride * p.stride; i++) {
      CHECK(cudaMemcpy(wide_bias + (size_t)i * p.out, bias, (size_t)p.out * 2,
                       cudaMemcpyDeviceToDevice));
    }
    y = device_new<half>(outputs);
    parts = device_new<half>(outputs);
    expected = device_new<double>(outputs);
    reference<<<(unsigned)((outputs + 127) / 128), 128>>>(x, w, bias, expected, p, e, outputs);
    CHECK(cudaDeviceSynchronize());
  }
  data_t(const data_t&) = delete;
  data_t& operator=(const data_t&) = delete;
  ~data_t() {
    for (void* q : {(void*)x, (void*)w, (void*)bias, (void*)wide_bias, (void*)y, (void*)parts,
                    (void*)expected}) {
      cudaFree(q);
    }
  }
  /* of what is there: all, or 4 M at the end */
  double error() const {
    const size_t looked = std::min<size_t>(outputs, 4 << 20), from = outputs - looked;
    return relative_error(y + from, expected + from, looked);
  }
};

/* Bias and ReLU (as a maximum with 0: the compiled form) behind `value`. */
static cudnnStatus_t finish(dnn_graph_t& g, dnn_t value, dnn_t sum, dnn_t bias, dnn_t y,
                            bool maximum) {
  static float zero = 0;
  const extents_t one = {1, 1, 1, 1};
  cudnnStatus_t status = g.pointwise(CUDNN_POINTWISE_ADD, value, bias, sum);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.pointwise(maximum ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, sum,
                         maximum ? g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr, y);
  }
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

static void execute(const dnn_plan_t& plan, cudaStream_t s) {
  CHECK_DNN(cudnnSetStream(handle, s));
  CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
}

/* The fastest proposal; whether results are right is known only with all phases, unless `check`. */
static best_t best_of(dnn_graph_t& g, const data_t& d, double seconds, bool check) {
  best_t best;
  const std::vector<dnn_t> all = g.proposals(CUDNN_HEUR_MODE_A);
  best.proposals = all.size();
  const double begin = now_us();
  for (; best.tried < all.size() && now_us() - begin < seconds * 1e6; best.tried++) {
    dnn_plan_t* plan = new dnn_plan_t;
    bool kept = false;
    if (plan->build(handle, all[best.tried]) == CUDNN_STATUS_SUCCESS) {
      plan->bind(g.names, g.pointers);
      CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
      CHECK_DNN(cudnnSetStream(handle, nullptr));
      if (cudnnBackendExecute(handle, plan->plan, plan->pack) == CUDNN_STATUS_SUCCESS) {
        wait_or_die(nullptr, "convolution");
        if (check && !(d.error() < 2e-3)) {
          best.wrong++;
        } else {
          const spread_t us = step_time([&](cudaStream_t s, int) { execute(*plan, s); }, 7, 4,
                                        d.batch > 1 ? 12 : 24);
          if (!(us.median >= best.us.median)) {
            delete best.plan;
            best.plan = plan;
            best.us = us;
            best.engine = engine_of(g, all[best.tried]).index;
            kept = true;
          }
        }
      }
    }
    if (!kept) {
      delete plan;
    }
  }
  return best;
}

static void library(const data_t& d, bool fused, double seconds) {
  const transposed_t& p = d.p;
  const int e = p.output();
  const extents_t xe = {d.batch, p.in, p.extent, p.extent}, we = {p.in, p.out, p.window, p.window},
                  ye = {d.batch, p.out, e, e}, be = {1, p.out, 1, 1};
  dnn_graph_t g(handle);
  dnn_t result = g.nhwc(CUDNN_DATA_HALF, ye, d.y), middle = fused ? g.between(ye) : result;
  cudnnStatus_t status =
      g.transposed(g.nhwc(CUDNN_DATA_HALF, xe, d.x), g.nhwc(CUDNN_DATA_HALF, we, d.w), middle,
                   p.stride, p.padding);
  if (status == CUDNN_STATUS_SUCCESS) {
    status =
        fused ? finish(g, middle, g.between(ye), g.nhwc(CUDNN_DATA_HALF, be, d.bias), result, false)
              : g.finish();
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  cuDNN's own%s: refused: %s\n", fused ? " with bias and ReLU" : "",
           dnn_words().c_str());
    return;
  }
  const best_t best = best_of(g, d, seconds, fused);
  printf("  cuDNN's own%s: %.2f (%.2f-%.2f), engine %ld, %zu of %zu tried, %zu wrong\n",
         fused ? " with bias and ReLU" : " alone", best.us.median, best.us.low, best.us.high,
         (long)best.engine, best.tried, best.proposals, best.wrong);
  delete best.plan;
}

static void phases(const data_t& d, bool maximum, double seconds) {
  const transposed_t& p = d.p;
  const int joined = p.window == p.stride ? p.stride * p.stride : 1,
            count = p.stride * p.stride / joined;
  std::vector<best_t> plans;
  std::vector<half*> weights;
  std::vector<dnn_graph_t*> graphs;
  results_t results = {};
  results.pitch = p.out * joined;
  size_t first = 0;
  bool complete = true;
  for (int f = 0; f < count && complete; f++) {
    const phase_t row = phase_of(p, f / p.stride), column = phase_of(p, f % p.stride);
    const int wide = p.out * joined;
    const size_t n = (size_t)wide * row.taps * column.taps * p.in;
    weights.push_back(device_new<half>(n));
    take_phase<<<(unsigned)((n + 255) / 256), 256>>>(weights.back(), d.w, p, row, column, joined,
                                                     n);
    for (int side = 0; side < joined; side++) {
      results.first[f + side] = first + (size_t)side * p.out;
      results.rows[f + side] = row.output;
      results.columns[f + side] = column.output;
    }
    const extents_t xe = {d.batch, p.in, p.extent, p.extent},
                    we = {wide, p.in, row.taps, column.taps},
                    ye = {d.batch, wide, row.output, column.output}, be = {1, wide, 1, 1};
    dnn_graph_t* g = new dnn_graph_t(handle);
    graphs.push_back(g);
    dnn_t value = g->between(ye);
    cudnnStatus_t status = g->convolution(
        g->nhwc(CUDNN_DATA_HALF, xe, d.x), g->nhwc(CUDNN_DATA_HALF, we, weights.back()), value,
        g->window({1, 1}, {row.pre, column.pre}, {row.post, column.post}));
    if (status == CUDNN_STATUS_SUCCESS) {
      status = finish(*g, value, g->between(ye), g->nhwc(CUDNN_DATA_HALF, be, d.wide_bias),
                      g->nhwc(CUDNN_DATA_HALF, ye, d.parts + first), maximum);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      plans.push_back(best_of(*g, d, seconds, false));
    }
    complete = status == CUDNN_STATUS_SUCCESS && plans.back().plan;
    if (!complete) {
      printf("  phases, %s form: refused: %s\n", maximum ? "compiled" : "known",
             dnn_words().c_str());
    }
    first += (size_t)d.batch * row.output * column.output * wide;
  }
  if (complete) {
    cudaStream_t other[3];
    cudaEvent_t events[4];
    for (cudaStream_t& s : other) {
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    }
    for (cudaEvent_t& v : events) {
      CHECK(cudaEventCreateWithFlags(&v, cudaEventDisableTiming));
    }
    auto convolutions = [&](cudaStream_t s, bool at_once) {
      if (at_once) {
        CHECK(cudaEventRecord(events[3], s));
      }
      for (size_t i = 0; i < plans.size(); i++) {
        cudaStream_t q = at_once && i ? other[i - 1] : s;
        if (q != s) {
          CHECK(cudaStreamWaitEvent(q, events[3], 0));
        }
        execute(*plans[i].plan, q);
        if (q != s) {
          CHECK(cudaEventRecord(events[i - 1], q));
        }
      }
      for (size_t i = 1; at_once && i < plans.size(); i++) {
        CHECK(cudaStreamWaitEvent(s, events[i - 1], 0));
      }
    };
    auto whole = [&](cudaStream_t s, bool at_once) {
      convolutions(s, at_once);
      CHECK(launch(interleave, dim3((unsigned)((d.outputs / 8 + 127) / 128)), 128, 0, dim3(1), true,
                   s, (const half*)d.parts, d.y, results, p.stride, p.output(), p.out, d.batch));
    };
    CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
    CHECK(cudaMemset(d.parts, 0xff, d.outputs * 2));
    whole(nullptr, false);
    wait_or_die(nullptr, "phases");
    const double error = d.error();
    auto time = [&](auto step) { return step_time(step, 11, 4, d.batch > 1 ? 12 : 24); };
    const spread_t alone = time([&](cudaStream_t s, int) { convolutions(s, false); }),
                   row = time([&](cudaStream_t s, int) { whole(s, false); }),
                   once = time([&](cudaStream_t s, int) { whole(s, true); });
    printf(
        "  %zu convolutions, %s form, and a move: %.2f (%.2f-%.2f), convolutions alone %.2f, on "
        "streams %.2f "
        "(%.2f-%.2f), engine %ld, %zu of %zu tried, error %.1e%s\n",
        plans.size(), maximum ? "compiled" : "known", row.median, row.low, row.high, alone.median,
        once.median, once.low, once.high, (long)plans[0].engine, plans[0].tried, plans[0].proposals,
        error, error < 2e-3 ? "" : " WRONG");
    for (cudaStream_t s : other) {
      CHECK(cudaStreamDestroy(s));
    }
    for (cudaEvent_t v : events) {
      CHECK(cudaEventDestroy(v));
    }
  }
  for (const best_t& b : plans) {
    delete b.plan;
  }
  for (dnn_graph_t* g : graphs) {
    delete g;
  }
  for (half* w : weights) {
    CHECK(cudaFree(w));
  }
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  static const transposed_t all[] = {{"2x2/2 512>256 @32", 512, 256, 32, 2, 2, 0},
                                     {"2x2/2 128>64 @128", 128, 64, 128, 2, 2, 0},
                                     {"2x2/2 64>32 @128", 64, 32, 128, 2, 2, 0},
                                     {"4x4/2 256>128 @16", 256, 128, 16, 4, 2, 1}};
  for (int batch : {1, 32}) {
    for (const transposed_t& p : all) {
      data_t d(p, batch);
      const double inputs = (double)batch * p.in * p.extent * p.extent,
                   weights = (double)p.in * p.out * p.window * p.window;
      printf("TRANSPOSED %s, batch %d: bytes %.2f us\n", p.name, batch,
             2 * (inputs + weights + (double)d.outputs) / 2.98e6);
      library(d, false, seconds);
      library(d, true, seconds);
      phases(d, false, seconds);
      phases(d, true, seconds);
    }
  }
}
