/* NHWC or NCHW for cuDNN's convolutions in fp16 and tf32, and what padding channels gives: the best
 * of the proposals for convolution + bias + ReLU. (What turning a tensor costs: elementwise.)
 *
 *   layouts [proposals tried of each] [--parts]   --parts: concatenation and slices alone */
#include "operation_graph.cuh"

static cudnnHandle_t handle;

struct place_t {
  const char* name;
  int64_t in, out, extent, window, stride;
};

/* One thread an output; strides in elements. */
struct strides_t {
  int64_t n, c, h, w;
};
template <class T>
static __global__ void reference(const T* x, const T* w, const T* bias, double* y, place_t p,
                                 int64_t batch, strides_t xs, strides_t ws, strides_t ys,
                                 int64_t extent_out) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= batch * p.out * extent_out * extent_out) {
    return;
  }
  const int64_t q = i % extent_out, r = i / extent_out % extent_out,
                k = i / extent_out / extent_out % p.out, n = i / extent_out / extent_out / p.out;
  double sum = (double)(float)bias[k];
  for (int64_t a = 0; a < p.window; a++) {
    for (int64_t b = 0; b < p.window; b++) {
      const int64_t h = r * p.stride + a - p.window / 2, v = q * p.stride + b - p.window / 2;
      if (h < 0 || v < 0 || h >= p.extent || v >= p.extent) {
        continue;
      }
      for (int64_t c = 0; c < p.in; c++) {
        sum += (double)(float)x[n * xs.n + c * xs.c + h * xs.h + v * xs.w] *
               (double)(float)w[k * ws.n + c * ws.c + a * ws.h + b * ws.w];
      }
    }
  }
  y[n * ys.n + k * ys.c + r * ys.h + q * ys.w] = sum > 0 ? sum : 0;
}

static extents_t packed(const extents_t& e, bool last) {
  return last ? channels_last(e) : extents_t{e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
}
static strides_t as_strides(const extents_t& s) {
  return {s[0], s[1], s[2], s[3]};
}
struct result_t {
  spread_t time = {NAN, NAN, NAN};
  int64_t engine = -1;
  double error = NAN;
  size_t proposals = 0, wrong = 0;
  bool tensor_cores = false;
};

/* Where a tensor lies inside a wider one: all its channels, and those in front of ours. */
struct part_t {
  int64_t all = 0, front = 0; /* 0: not a part */
  int64_t alignment(size_t element) const {
    const int64_t bytes = front * (int64_t)element;
    return bytes ? std::min<int64_t>(16, bytes & -bytes) : 16;
  }
};
static extents_t in_part(const extents_t& e, const part_t& part) {
  return {part.all * e[2] * e[3], 1, e[3] * part.all, part.all};
}

template <class T>
static result_t best(const place_t& p, int64_t batch, bool last, size_t most, part_t input = {},
                     part_t output = {}, bool compiled = false) {
  const int64_t e = (p.extent + 2 * (p.window / 2) - p.window) / p.stride + 1;
  const extents_t xe = {batch, p.in, p.extent, p.extent}, we = {p.out, p.in, p.window, p.window},
                  be = {1, p.out, 1, 1}, ye = {batch, p.out, e, e};
  const extents_t xs = input.all ? in_part(xe, input) : packed(xe, last), ws = packed(we, last),
                  ys = output.all ? in_part(ye, output) : packed(ye, last);
  const cudnnDataType_t type = sizeof(T) == 2 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  const size_t inputs = batch * (input.all ? input.all : p.in) * p.extent * p.extent,
               outputs = batch * (output.all ? output.all : p.out) * e * e;
  static float zero = 0;
  T *x = random_of<T>(inputs, 1, 1),
    *w = random_of<T>(p.out * p.in * p.window * p.window,
                      sqrtf(3.f / (float)(p.in * p.window * p.window)), 2),
    *bias = random_of<T>(p.out, 0.5f, 3), *y = device_new<T>(outputs);
  double* expected = device_new<double>(outputs);
  CHECK(cudaMemset(expected, 0, outputs * 8)); /* what is not ours stays 0 */
  reference<T><<<(unsigned)((outputs + 127) / 128), 128>>>(
      x + input.front, w, bias, expected + output.front, p, batch, as_strides(xs), as_strides(ws),
      as_strides(ys), e);
  CHECK(cudaGetLastError());
  result_t found;
  {
    dnn_graph_t g(handle);
    dnn_t between = g.tensor(CUDNN_DATA_FLOAT, ye, ys, nullptr),
          sum = g.tensor(CUDNN_DATA_FLOAT, ye, ys, nullptr);
    cudnnStatus_t status =
        g.convolution(g.tensor(type, xe, xs, x + input.front, false, 4, input.alignment(sizeof(T))),
                      g.tensor(type, we, ws, w), between, p.stride, p.window / 2);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.pointwise(CUDNN_POINTWISE_ADD, between, g.tensor(type, be, {p.out, 1, 1, 1}, bias),
                           sum);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      const extents_t one = {1, 1, 1, 1};
      dnn_t bound = compiled ? g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr;
      status = g.pointwise(
          compiled ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, sum, bound,
          g.tensor(type, ye, ys, y + output.front, false, 4, output.alignment(sizeof(T))));
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.finish();
    }
    if (status != CUDNN_STATUS_SUCCESS) {
      printf("refused (%s) ", dnn_words().c_str());
    } else {
      const std::vector<dnn_t> all = g.proposals(CUDNN_HEUR_MODE_A);
      found.proposals = all.size();
      for (size_t i = 0; i < all.size() && i < most; i++) {
        dnn_plan_t plan;
        if (plan.build(handle, all[i]) != CUDNN_STATUS_SUCCESS) {
          continue;
        }
        plan.bind(g.names, g.pointers);
        CHECK(cudaMemset(y, output.all ? 0 : 0xff, outputs * sizeof(T)));
        CHECK_DNN(cudnnSetStream(handle, nullptr));
        if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
          continue;
        }
        const double error = relative_error(y, expected, outputs);
        if (!(error < 2e-3)) {
          found.wrong++;
          continue;
        }
        const spread_t t = step_time(
            [&](cudaStream_t s, int) {
              CHECK_DNN(cudnnSetStream(handle, s));
              CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
            },
            7, batch > 1 ? 4 : 10, batch > 1 ? 14 : 40);
        if (!(t.median >= found.time.median)) {
          const dnn_engine_t engine = engine_of(g, all[i]);
          found.time = t;
          found.engine = engine.index;
          found.error = error;
          found.tensor_cores = engine.numerical >> CUDNN_NUMERICAL_NOTE_TENSOR_CORE & 1;
        }
      }
    }
  }
  for (void* q : {(void*)x, (void*)w, (void*)bias, (void*)y, (void*)expected}) {
    CHECK(cudaFree(q));
  }
  return found;
}

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? (size_t)atoi(argv[1]) : 8;
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  static const place_t places[] = {
      {"7x7/2 3>64 @224", 3, 64, 224, 7, 2},   {"7x7/2 4>64 @224", 4, 64, 224, 7, 2},
      {"7x7/2 8>64 @224", 8, 64, 224, 7, 2},   {"3x3/2 3>32 @224", 3, 32, 224, 3, 2},
      {"3x3/2 4>32 @224", 4, 32, 224, 3, 2},   {"3x3/2 8>32 @224", 8, 32, 224, 3, 2},
      {"1x1 64>256 @56", 64, 256, 56, 1, 1},   {"3x3 64>64 @56", 64, 64, 56, 3, 1},
      {"3x3 256>256 @14", 256, 256, 14, 3, 1}, {"1x1 256>1024 @14", 256, 1024, 14, 1, 1},
      {"1x1 96>24 @56", 96, 24, 56, 1, 1},     {"1x1 24>144 @56", 24, 144, 56, 1, 1},
      {"1x1 960>320 @7", 960, 320, 7, 1, 1},   {"1x1 256>255 @26", 256, 255, 26, 1, 1},
      {"1x1 256>256 @26", 256, 256, 26, 1, 1}, {"3x3 255>256 @26", 255, 256, 26, 3, 1},
      {"3x3 256>256 @26", 256, 256, 26, 3, 1}, {"3x3 100>100 @28", 100, 100, 28, 3, 1},
      {"3x3 104>104 @28", 104, 104, 28, 3, 1}};
  /* concatenation and slices of channels without a copy */
  static const struct {
    place_t place;
    part_t input, output;
  } parts[] = {{{"1x1 256>64 @28", 256, 64, 28, 1, 1}, {}, {256, 64}},
               {{"3x3 64>64 @28", 64, 64, 28, 3, 1}, {}, {256, 64}},
               {{"3x3 64>64 @28", 64, 64, 28, 3, 1}, {256, 64}, {256, 128}},
               {{"3x3 128>32 @28", 128, 32, 28, 3, 1}, {512, 0}, {512, 128}},
               {{"1x1 64>24 @28", 64, 24, 28, 1, 1}, {}, {100, 36}},
               {{"1x1 64>20 @28", 64, 20, 28, 1, 1}, {}, {50, 15}}};
  for (int64_t batch : {1, 32}) {
    for (const auto& p : parts) {
      printf("PART %s batch %ld, input %ld of %ld behind %ld, output %ld of %ld behind %ld:",
             p.place.name, (long)batch, (long)p.place.in, (long)p.input.all, (long)p.input.front,
             (long)p.place.out, (long)p.output.all, (long)p.output.front);
      for (bool compiled : {false, true}) {
        const result_t whole = best<half>(p.place, batch, true, most, {}, {}, compiled),
                       part = best<half>(p.place, batch, true, most, p.input, p.output, compiled);
        printf(
            " %s: packed %.2f us (engine %ld, of %zu), as parts %.2f us (%.2f-%.2f; engine %ld, of "
            "%zu, %zu wrong), "
            "error %.0e;",
            compiled ? "compiled" : "known", whole.time.median, (long)whole.engine, whole.proposals,
            part.time.median, part.time.low, part.time.high, (long)part.engine, part.proposals,
            part.wrong, part.error);
      }
      printf("\n");
      fflush(stdout);
    }
  }
  if (argc > 2) {
    return 0;
  }
  for (int64_t batch : {1, 32}) {
    for (const place_t& p : places) {
      printf("LAYOUT %s batch %ld:", p.name, (long)batch);
      for (bool half_type : {true, false}) {
        for (bool last : {true, false}) {
          const result_t r =
              half_type ? best<half>(p, batch, last, most) : best<float>(p, batch, last, most);
          printf(" %s %s %.2f us (%.2f-%.2f), engine %ld%s, of %zu, error %.0e%s;",
                 half_type ? "fp16" : "tf32", last ? "NHWC" : "NCHW", r.time.median, r.time.low,
                 r.time.high, (long)r.engine, r.tensor_cores ? "" : " without tensor cores",
                 r.proposals, r.error, r.wrong ? " SOME WRONG" : "");
        }
      }
      printf("\n");
      fflush(stdout);
    }
  }
}
