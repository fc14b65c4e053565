/* cuDNN's convolutions of eight-bit integers beside fp16: which engines there are, what may stand
 * behind the sum (scale, bias, residual, ReLU, conversion), how results are rounded.
 *
 *   int8_convolutions [seconds for each graph] */
#include "int8_data.cuh"
#include "int8_legacy.cuh"

enum form_t { RAW, SCALED, INT8, HALF, SINGLE, RESIDUAL, SATURATED, FORMS };
static const char* const form_names[] = {"int32 alone",
                                         "one scale, ReLU, int8",
                                         "scales, bias, ReLU, int8",
                                         "scales, bias, ReLU, fp16",
                                         "scales, bias, ReLU, fp32",
                                         "scales, bias, int8 residual, ReLU, int8",
                                         "scales, bias, two bounds, int8"};

/* Best of the proposals within `seconds`; the graph is finished or `status` says why not. */
static result_t best_of(dnn_graph_t& g, cudnnStatus_t status, const int8_data_t& d, form_t form,
                        double seconds) {
  result_t r;
  if (status != CUDNN_STATUS_SUCCESS) {
    r.words = dnn_words();
    return r;
  }
  const std::vector<dnn_t> all = g.proposals(CUDNN_HEUR_MODE_A, &status);
  r.proposals = all.size();
  if (all.empty()) {
    r.words = dnn_words();
  }
  const double begin = now_us();
  for (size_t i = 0; i < all.size() && now_us() - begin < seconds * 1e6; i++) {
    dnn_plan_t plan;
    r.tried++;
    const double start = now_us();
    if (plan.build(d.handle, all[i]) != CUDNN_STATUS_SUCCESS) {
      r.refused++;
      r.words = dnn_words();
      continue;
    }
    const double ms = (now_us() - start) / 1e3;
    plan.bind(g.names, g.pointers);
    d.poison();
    CHECK_DNN(cudnnSetStream(d.handle, nullptr));
    if (cudnnBackendExecute(d.handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
      r.refused++;
      continue;
    }
    wait_or_die(nullptr, "convolution");
    const agreement_t agreement = form == FORMS ? d.agreement_half() : d.agreement(form);
    if (!agreement.right()) {
      r.wrong++;
      r.worst_agreement = agreement;
      continue;
    }
    const spread_t us = step_time(
        [&](cudaStream_t s, int) {
          CHECK_DNN(cudnnSetStream(d.handle, s));
          CHECK_DNN(cudnnBackendExecute(d.handle, plan.plan, plan.pack));
        },
        7, 6, d.layer.batch > 1 ? 18 : 30);
    if (std::isnan(r.first.median)) {
      r.first = us;
    }
    if (!(us.median >= r.best.median)) {
      r.best = us;
      r.engine = engine_of(g, all[i]);
      r.agreement = agreement;
      r.build_ms = ms;
    }
  }
  return r;
}

static result_t int8_graph(const int8_data_t& d, form_t form, cudnnDataType_t middle,
                           double seconds) {
  const layer_t& l = d.layer;
  const extents_t xe = {l.batch, l.in, l.extent, l.extent}, we = {l.out, l.in, l.window, l.window},
                  ke = {1, l.out, 1, 1}, ye = {l.batch, l.out, l.output(), l.output()},
                  one = {1, 1, 1, 1};
  static float zero = 0, bound = 127;
  float scale = d.one_scale;
  dnn_graph_t g(d.handle);
  g.compute = CUDNN_DATA_INT32;
  const bool raw = form == RAW;
  const cudnnDataType_t type = form == HALF     ? CUDNN_DATA_HALF
                               : form == SINGLE ? CUDNN_DATA_FLOAT
                                                : CUDNN_DATA_INT8;
  dnn_t sum = raw ? g.nhwc(CUDNN_DATA_INT32, ye, d.y) : g.between(ye, middle),
        y = raw ? nullptr : g.nhwc(type, ye, d.y);
  cudnnStatus_t status =
      g.convolution(g.nhwc(CUDNN_DATA_INT8, xe, d.x), g.nhwc(CUDNN_DATA_INT8, we, d.w), sum,
                    l.stride, l.window / 2);
  auto next = [&](cudnnPointwiseMode_t mode, dnn_t a, dnn_t b, dnn_t to) {
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.pointwise(mode, a, b, to);
    }
  };
  dnn_t scaled = g.between(ye), biased = g.between(ye);
  if (form == SCALED) {
    next(CUDNN_POINTWISE_MUL, sum, g.tensor(CUDNN_DATA_FLOAT, one, one, &scale, true), scaled);
    next(CUDNN_POINTWISE_RELU_FWD, scaled, nullptr, y);
  } else if (!raw) {
    next(CUDNN_POINTWISE_MUL, sum, g.nhwc(CUDNN_DATA_FLOAT, ke, d.scales), scaled);
    next(CUDNN_POINTWISE_ADD, scaled, g.nhwc(CUDNN_DATA_FLOAT, ke, d.bias), biased);
    if (form == RESIDUAL) {
      dnn_t factor = g.between(ye), added = g.between(ye);
      static float residual_scale = RESIDUAL_SCALE;
      next(CUDNN_POINTWISE_MUL, g.nhwc(CUDNN_DATA_INT8, ye, d.residual),
           g.tensor(CUDNN_DATA_FLOAT, one, one, &residual_scale, true), factor);
      next(CUDNN_POINTWISE_ADD, biased, factor, added);
      biased = added;
    }
    if (form == SATURATED) {
      dnn_t low = g.between(ye);
      next(CUDNN_POINTWISE_MAX, biased, g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true), low);
      next(CUDNN_POINTWISE_MIN, low, g.tensor(CUDNN_DATA_FLOAT, one, one, &bound, true), y);
    } else {
      next(CUDNN_POINTWISE_RELU_FWD, biased, nullptr, y);
    }
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.finish();
  }
  return best_of(g, status, d, form, seconds);
}

static result_t half_graph(const int8_data_t& d, bool compiled, double seconds) {
  const layer_t& l = d.layer;
  const extents_t xe = {l.batch, l.in, l.extent, l.extent}, we = {l.out, l.in, l.window, l.window},
                  ke = {1, l.out, 1, 1}, ye = {l.batch, l.out, l.output(), l.output()},
                  one = {1, 1, 1, 1};
  static float zero = 0;
  dnn_graph_t g(d.handle);
  dnn_t sum = g.between(ye), biased = g.between(ye);
  cudnnStatus_t status =
      g.convolution(g.nhwc(CUDNN_DATA_HALF, xe, d.half_x), g.nhwc(CUDNN_DATA_HALF, we, d.half_w),
                    sum, l.stride, l.window / 2);
  if (status == CUDNN_STATUS_SUCCESS) {
    status =
        g.pointwise(CUDNN_POINTWISE_ADD, sum, g.nhwc(CUDNN_DATA_HALF, ke, d.half_bias), biased);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.pointwise(compiled ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, biased,
                         compiled ? g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr,
                         g.nhwc(CUDNN_DATA_HALF, ye, d.y));
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.finish();
  }
  return best_of(g, status, d, FORMS, seconds);
}

static void print(const char* what, const result_t& r) {
  printf(
      "  %s: best %.2f (%.2f-%.2f), first %.2f, engine %ld%s%s, %zu of %zu tried, %zu refused, %zu "
      "wrong, plan %.0f ms; %s%s\n",
      what, r.best.median, r.best.low, r.best.high, r.first.median, (long)r.engine.index,
      r.engine.behavior >> CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION & 1 ? " compiled" : "",
      r.engine.numerical >> CUDNN_NUMERICAL_NOTE_TENSOR_CORE & 1 ? "" : " without tensor cores",
      r.tried, r.proposals, r.refused, r.wrong, r.build_ms, r.agreement.text().c_str(),
      r.wrong           ? (" WRONG: " + r.worst_agreement.text()).c_str()
      : r.words.empty() ? ""
                        : (" (" + r.words + ")").c_str());
  fflush(stdout);
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 2;
  print_device();
  cudnnHandle_t handle;
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  static const layer_t layers[] = {{256, 256, 14, 3, 1, 1},  {64, 64, 56, 3, 1, 1},
                                   {128, 128, 28, 3, 1, 1},  {512, 512, 7, 3, 1, 1},
                                   {1024, 256, 14, 1, 1, 1}, {256, 1024, 14, 1, 1, 1},
                                   {4, 64, 224, 7, 2, 1}};
  for (int batch : {1, 32}) {
    for (layer_t l : layers) {
      l.batch = batch;
      const bool all = l.in == 256 && l.window == 3;
      int8_data_t d(handle, l);
      printf("INT8 %dx%d/%d %d>%d @%d batch %d\n", l.window, l.window, l.stride, l.in, l.out,
             l.extent, l.batch);
      print("fp16 known", half_graph(d, false, std::min(seconds, 1.0)));
      print("fp16 compiled", half_graph(d, true, seconds));
      for (int form = RAW; form < FORMS; form++) {
        if (all || form == INT8 || form == HALF) {
          print(form_names[form], int8_graph(d, (form_t)form, CUDNN_DATA_INT32,
                                             form == INT8 ? 2 * seconds : seconds));
        }
        if (all && form == SCALED) {
          print((std::string(form_names[form]) + ", sums as fp32").c_str(),
                int8_graph(d, (form_t)form, CUDNN_DATA_FLOAT, seconds));
        }
      }
      for (int vector : {1, 4, 32}) {
        if (l.in % vector == 0) {
          legacy(d, vector);
        }
      }
    }
  }
}
