/* Blocks of GoogLeNet by cuDNN's convolutions, each layer's best proposal: in a row, on streams of
 * their own, and with the 1x1 convolutions that share their input joined into one. All write into
 * one wide tensor: [to 3x3 | to 5x5 | 1x1 | 3x3 | 5x5 | behind the pooling]. fp16, NHWC.
 *
 *   inception [compiled proposals tried] [known ones] */
#include "operation_graph.cuh"

static cudnnHandle_t handle;

struct block_t {
  const char* name;
  int extent, in, one, to_three, three, to_five, five, pooled;
};

struct layer_t {
  const char* name;
  int in, in_pitch, out, out_pitch, window;
  half *x, *w, *bias, *y;
  dnn_graph_t* graph = nullptr;
  dnn_plan_t* plan = nullptr;
  spread_t us = {NAN, NAN, NAN};
  int64_t engine = -1;
  bool compiled = false;
  double error = NAN;
};

static __global__ void pool(const half* x, half* y, int extent, int channels, int images) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, packs = channels / 8;
  const int c = i % packs * 8, q = i / packs % extent, r = i / packs / extent % extent,
            image = i / packs / extent / extent;
  if (image >= images) {
    return;
  }
  half2 most[4];
  for (half2& m : most) {
    m = __float2half2_rn(-INFINITY);
  }
  for (int a = max(r - 1, 0); a <= min(r + 1, extent - 1); a++) {
    for (int b = max(q - 1, 0); b <= min(q + 1, extent - 1); b++) {
      const uint4 v =
          *(const uint4*)(x + (((size_t)image * extent + a) * extent + b) * channels + c);
      for (int k = 0; k < 4; k++) {
        most[k] = __hmax2(most[k], ((const half2*)&v)[k]);
      }
    }
  }
  *(uint4*)(y + (((size_t)image * extent + r) * extent + q) * channels + c) = *(uint4*)most;
}
static __global__ void pool_reference(const half* x, double* y, int extent, int channels,
                                      size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int c = i % channels, q = i / channels % extent, r = i / channels / extent % extent;
  const size_t image = i / channels / extent / extent;
  double most = -1e30;
  for (int a = r - 1; a <= r + 1; a++) {
    for (int b = q - 1; b <= q + 1; b++) {
      if (a >= 0 && b >= 0 && a < extent && b < extent) {
        most =
            fmax(most, (double)__half2float(x[((image * extent + a) * extent + b) * channels + c]));
      }
    }
  }
  y[i] = most;
}
/* Packed, compared with a slice by `slice_error`. */
static __global__ void reference(layer_t l, double* y, int extent, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int k = i % l.out, q = i / l.out % extent, r = i / l.out / extent % extent;
  const size_t image = i / l.out / extent / extent;
  double sum = (double)__half2float(l.bias[k]);
  for (int a = 0; a < l.window; a++) {
    for (int b = 0; b < l.window; b++) {
      const int h = r + a - l.window / 2, v = q + b - l.window / 2;
      if (h >= 0 && v >= 0 && h < extent && v < extent) {
        const half *x = l.x + ((image * extent + h) * extent + v) * l.in_pitch,
                   *w = l.w + ((size_t)(k * l.window + a) * l.window + b) * l.in;
        for (int c = 0; c < l.in; c++) {
          sum += (double)__half2float(x[c]) * (double)__half2float(w[c]);
        }
      }
    }
  }
  y[i] = fmax(sum, 0.0);
}
static double slice_error(const half* y, int pitch, int width, const double* expected, size_t n) {
  std::vector<double> want(n);
  const size_t pixels = n / (size_t)width;
  std::vector<half> all(n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(want.data(), expected, n * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2D(all.data(), (size_t)width * 2, y, (size_t)pitch * 2, (size_t)width * 2, pixels,
                     cudaMemcpyDeviceToHost));
  double difference = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    difference += ((double)(float)all[i] - want[i]) * ((double)(float)all[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(difference / size);
}

static void execute(const layer_t& l, cudaStream_t s) {
  CHECK_DNN(cudnnSetStream(handle, s));
  CHECK_DNN(cudnnBackendExecute(handle, l.plan->plan, l.plan->pack));
}

/* Keeps the fastest right proposal of both forms. */
static void choose(layer_t& l, int extent, int batch, int compiled, int known) {
  const extents_t xe = {batch, l.in, extent, extent}, we = {l.out, l.in, l.window, l.window},
                  be = {1, l.out, 1, 1}, ye = {batch, l.out, extent, extent}, one = {1, 1, 1, 1};
  auto pitched = [&](int pitch) {
    return extents_t{(int64_t)pitch * extent * extent, 1, (int64_t)pitch * extent, pitch};
  };
  const size_t n = (size_t)batch * extent * extent * l.out;
  double* expected = device_new<double>(n);
  reference<<<(unsigned)((n + 127) / 128), 128>>>(l, expected, extent, n);
  CHECK(cudaGetLastError());
  static float zero = 0;
  for (bool form : {true, false}) {
    dnn_graph_t* g = new dnn_graph_t(handle);
    dnn_t between = g->between(ye), sum = g->between(ye);
    cudnnStatus_t status =
        g->convolution(g->tensor(CUDNN_DATA_HALF, xe, pitched(l.in_pitch), l.x),
                       g->nhwc(CUDNN_DATA_HALF, we, l.w), between, 1, l.window / 2);
    if (status == CUDNN_STATUS_SUCCESS) {
      status =
          g->pointwise(CUDNN_POINTWISE_ADD, between, g->nhwc(CUDNN_DATA_HALF, be, l.bias), sum);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g->pointwise(form ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, sum,
                            form ? g->tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr,
                            g->tensor(CUDNN_DATA_HALF, ye, pitched(l.out_pitch), l.y));
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g->finish();
    }
    bool used = false;
    if (status == CUDNN_STATUS_SUCCESS) {
      const std::vector<dnn_t> all = g->proposals(CUDNN_HEUR_MODE_A);
      for (size_t i = 0; i < all.size() && i < (size_t)(form ? compiled : known); i++) {
        dnn_plan_t* plan = new dnn_plan_t;
        bool kept = false;
        if (plan->build(handle, all[i]) == CUDNN_STATUS_SUCCESS) {
          plan->bind(g->names, g->pointers);
          CHECK_DNN(cudnnSetStream(handle, nullptr));
          const bool runs =
              cudnnBackendExecute(handle, plan->plan, plan->pack) == CUDNN_STATUS_SUCCESS;
          const double error = runs ? slice_error(l.y, l.out_pitch, l.out, expected, n) : INFINITY;
          if (error < 2e-3) {
            const spread_t us = step_time(
                [&](cudaStream_t s, int) {
                  CHECK_DNN(cudnnSetStream(handle, s));
                  CHECK_DNN(cudnnBackendExecute(handle, plan->plan, plan->pack));
                },
                7, 6, 24);
            if (!(us.median >= l.us.median)) {
              if (l.plan && l.plan != plan) {
                delete l.plan;
              }
              l.plan = plan;
              l.us = us;
              l.engine = engine_of(*g, all[i]).index;
              l.compiled = form;
              l.error = error;
              kept = used = true;
            }
          }
        }
        if (!kept) {
          delete plan;
        }
      }
    }
    if (used) {
      l.graph = g; /* its descriptors live as long as the program */
    }
  }
  if (!l.plan) {
    printf("FAILED %s: no proposal\n", l.name);
    exit(1);
  }
  execute(l, nullptr); /* the next layer's input */
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(expected));
  printf("  %s %dx%d %d>%d: %.2f (%.2f-%.2f), engine %ld %s, error %.1e\n", l.name, l.window,
         l.window, l.in, l.out, l.us.median, l.us.low, l.us.high, (long)l.engine,
         l.compiled ? "compiled" : "known", l.error);
}

static void measure(const block_t& b, int batch, int compiled, int known) {
  const int pitch = b.to_three + b.to_five + b.one + b.three + b.five + b.pooled;
  const size_t pixels = (size_t)batch * b.extent * b.extent;
  half *x = random_half(pixels * (size_t)b.in, 1, 1), *y = device_new<half>(pixels * (size_t)pitch),
       *p = device_new<half>(pixels * (size_t)b.in);
  CHECK(cudaMemset(y, 0, pixels * (size_t)pitch * 2));
  printf("INCEPTION %s, batch %d\n", b.name, batch);
  /* the joined 1x1 has the weights of the three behind one another */
  const int joined = b.to_three + b.to_five + b.one;
  half *w = random_half((size_t)joined * (size_t)b.in, sqrtf(3.f / (float)b.in), 2),
       *bias = random_half((size_t)pitch, 0.5f, 3);
  auto layer = [&](const char* name, const half* from, int in, int in_pitch, int at, int out,
                   int window, half* weights) {
    layer_t l = {name,
                 in,
                 in_pitch,
                 out,
                 pitch,
                 window,
                 (half*)from,
                 weights
                     ? weights
                     : random_half((size_t)out * in * window * window,
                                   sqrtf(3.f / (float)(in * window * window)), (unsigned)at + 9),
                 bias + at,
                 y + at};
    return l;
  };
  const size_t row = (size_t)b.in;
  layer_t to_three = layer("to 3x3", x, b.in, b.in, 0, b.to_three, 1, w),
          to_five = layer("to 5x5", x, b.in, b.in, b.to_three, b.to_five, 1, w + row * b.to_three),
          one = layer("1x1", x, b.in, b.in, b.to_three + b.to_five, b.one, 1,
                      w + row * (size_t)(b.to_three + b.to_five)),
          all = layer("joined", x, b.in, b.in, 0, joined, 1, w),
          three = layer("3x3", y, b.to_three, pitch, joined, b.three, 3, nullptr),
          five =
              layer("5x5", y + b.to_three, b.to_five, pitch, joined + b.three, b.five, 5, nullptr),
          pooled = layer("behind pooling", p, b.in, b.in, joined + b.three + b.five, b.pooled, 1,
                         nullptr);
  auto run_pool = [&](cudaStream_t s) {
    pool<<<(unsigned)((pixels * (size_t)b.in / 8 + 127) / 128), 128, 0, s>>>(x, p, b.extent, b.in,
                                                                             batch);
    CHECK(cudaGetLastError());
  };
  run_pool(nullptr);
  double* expected = device_new<double>(pixels * row);
  pool_reference<<<(unsigned)((pixels * row + 127) / 128), 128>>>(x, expected, b.extent, b.in,
                                                                  pixels * row);
  const double pool_error = relative_error(p, expected, pixels * row);
  CHECK(cudaFree(expected));
  const spread_t pool_us = step_time([&](cudaStream_t s, int) { run_pool(s); }, 7, 6, 24);
  printf("  pooling %.2f (%.2f-%.2f)%s\n", pool_us.median, pool_us.low, pool_us.high,
         pool_error == 0 ? "" : " WRONG");
  for (layer_t* l : {&to_three, &to_five, &one, &all, &three, &five, &pooled}) {
    choose(*l, b.extent, batch, compiled, known);
  }
  cudaStream_t streams[3];
  cudaEvent_t events[5];
  for (cudaStream_t& s : streams) {
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  for (cudaEvent_t& e : events) {
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  }
  auto fork = [&](cudaStream_t s, int from, int to) {
    CHECK(cudaEventRecord(events[3], s));
    for (int i = from; i < to; i++) {
      CHECK(cudaStreamWaitEvent(streams[i], events[3], 0));
    }
  };
  auto join = [&](cudaStream_t s, int from, int to) {
    for (int i = from; i < to; i++) {
      CHECK(cudaEventRecord(events[i], streams[i]));
      CHECK(cudaStreamWaitEvent(s, events[i], 0));
    }
  };
  auto in_a_row = [&](cudaStream_t s, int) {
    execute(to_three, s);
    execute(to_five, s);
    execute(one, s);
    run_pool(s);
    execute(three, s);
    execute(five, s);
    execute(pooled, s);
  };
  auto joined_row = [&](cudaStream_t s, int) {
    execute(all, s);
    run_pool(s);
    execute(three, s);
    execute(five, s);
    execute(pooled, s);
  };
  auto four_streams = [&](cudaStream_t s, int) {
    fork(s, 0, 3);
    execute(to_three, s);
    execute(three, s);
    execute(to_five, streams[0]);
    execute(five, streams[0]);
    run_pool(streams[1]);
    execute(pooled, streams[1]);
    execute(one, streams[2]);
    join(s, 0, 3);
  };
  /* the longest branch alone, everything else behind one another */
  auto two_streams = [&](cudaStream_t s, int) {
    fork(s, 0, 1);
    execute(to_three, s);
    execute(three, s);
    execute(to_five, streams[0]);
    execute(five, streams[0]);
    run_pool(streams[0]);
    execute(pooled, streams[0]);
    execute(one, streams[0]);
    join(s, 0, 1);
  };
  auto joined_streams = [&](cudaStream_t s, int) {
    fork(s, 0, 1);
    run_pool(streams[0]);
    execute(pooled, streams[0]);
    execute(all, s);
    CHECK(cudaEventRecord(events[4], s));
    CHECK(cudaStreamWaitEvent(streams[1], events[4], 0));
    execute(five, streams[1]);
    execute(three, s);
    join(s, 0, 2);
  };
  std::vector<half> results[5];
  int at = 0;
  auto show = [&](const char* name, auto step) {
    CHECK(cudaMemset(y, 0, pixels * (size_t)pitch * 2));
    graph_t graph([&](cudaStream_t s) { step(s, 0); });
    graph.run(name);
    results[at].resize(pixels * (size_t)pitch);
    CHECK(cudaMemcpy(results[at].data(), y, results[at].size() * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (size_t i = 0; i < results[0].size(); i++) {
      const double a = (double)(float)results[0][i], d = a - (double)(float)results[at][i];
      difference += d * d;
      size += a * a;
    }
    const double error = std::sqrt(difference / size); /* another engine may round otherwise */
    const spread_t us = step_time(step, 15, 4, 16);
    printf("  %s: %.2f (%.2f-%.2f)%s\n", name, us.median, us.low, us.high,
           error < 1e-3 ? "" : " WRONG");
    at++;
  };
  show("in a row", in_a_row);
  show("two streams", two_streams);
  show("four streams", four_streams);
  show("1x1 joined, in a row", joined_row);
  show("1x1 joined, three streams", joined_streams);
  for (cudaStream_t s : streams) {
    CHECK(cudaStreamDestroy(s));
  }
  for (cudaEvent_t e : events) {
    CHECK(cudaEventDestroy(e));
  }
}

int main(int argc, char** argv) {
  const int compiled = argc > 1 ? atoi(argv[1]) : 4, known = argc > 2 ? atoi(argv[2]) : 3;
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  static const block_t blocks[] = {{"3a @28", 28, 192, 64, 96, 128, 16, 32, 32},
                                   {"4c @14", 14, 512, 128, 128, 256, 24, 64, 64},
                                   {"5b @7", 7, 832, 384, 192, 384, 48, 128, 128}};
  for (int batch : {1, 32}) {
    for (const block_t& b : blocks) {
      measure(b, batch, compiled, known);
    }
  }
}
