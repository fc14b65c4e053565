/* Whether cuDNN's convolutions may read from and write into a part of an image: rows further apart
 * than their pixels (a crop, the middle of a padded image, every second row) and pixels further
 * apart than their channels (every second column). Right, refused, or wrong without a word; fp16,
 * NHWC, bias and ReLU.
 *
 *   spatial_strides [proposals tried of each] */
#include "operation_graph.cuh"

static cudnnHandle_t handle;

struct layer_t {
  int in, out, extent, window;
};
/* In elements: how far columns and rows lie apart, and the first of them. */
struct place_t {
  const char* name;
  int64_t column, row, first, room; /* room: elements of an image */
};

static __global__ void reference(const half* x, const half* w, const half* bias, double* y,
                                 layer_t l, place_t xp, place_t yp, int batch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int k = i % l.out, q = i / l.out % l.extent, r = i / l.out / l.extent % l.extent,
            image = i / l.out / l.extent / l.extent;
  if (image >= batch) {
    return;
  }
  double sum = (double)__half2float(bias[k]);
  for (int a = 0; a < l.window; a++) {
    for (int b = 0; b < l.window; b++) {
      const int h = r + a - l.window / 2, v = q + b - l.window / 2;
      if (h >= 0 && v >= 0 && h < l.extent && v < l.extent) {
        for (int c = 0; c < l.in; c++) {
          sum +=
              (double)__half2float(x[image * xp.room + xp.first + h * xp.row + v * xp.column + c]) *
              (double)__half2float(w[((size_t)(k * l.window + a) * l.window + b) * l.in + c]);
        }
      }
    }
  }
  y[image * yp.room + yp.first + r * yp.row + q * yp.column + k] = fmax(sum, 0.0);
}

static void measure(const layer_t& l, const place_t& xp, const place_t& yp, int batch,
                    size_t most) {
  const size_t inputs = (size_t)(batch * xp.room), outputs = (size_t)(batch * yp.room);
  half *x = random_half(inputs, 1, 1),
       *w = random_half((size_t)l.out * l.window * l.window * l.in,
                        std::sqrt(3.f / (float)(l.window * l.window * l.in)), 2),
       *bias = random_half((size_t)l.out, 0.5f, 3), *y = device_new<half>(outputs);
  double* device_expected = device_new<double>(outputs); /* all bits set where nothing belongs */
  const int n = batch * l.extent * l.extent * l.out;
  reference<<<(unsigned)((n + 127) / 128), 128>>>(x, w, bias, device_expected, l, xp, yp, batch);
  std::vector<double> expected(outputs);
  CHECK(cudaMemcpy(expected.data(), device_expected, outputs * 8, cudaMemcpyDeviceToHost));
  std::vector<half> got(outputs);
  const extents_t xe = {batch, l.in, l.extent, l.extent}, we = {l.out, l.in, l.window, l.window},
                  be = {1, l.out, 1, 1}, ye = {batch, l.out, l.extent, l.extent},
                  one = {1, 1, 1, 1};
  static float zero = 0;
  printf("STRIDES %dx%d %d>%d @%d batch %d, input %s, output %s:", l.window, l.window, l.in, l.out,
         l.extent, batch, xp.name, yp.name);
  for (bool maximum : {false, true}) {
    dnn_graph_t g(handle);
    dnn_t value = g.between(ye), sum = g.between(ye);
    cudnnStatus_t status =
        g.convolution(g.tensor(CUDNN_DATA_HALF, xe, {xp.room, 1, xp.row, xp.column}, x + xp.first),
                      g.nhwc(CUDNN_DATA_HALF, we, w), value, 1, l.window / 2);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.pointwise(CUDNN_POINTWISE_ADD, value, g.nhwc(CUDNN_DATA_HALF, be, bias), sum);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      status =
          g.pointwise(maximum ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, sum,
                      maximum ? g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr,
                      g.tensor(CUDNN_DATA_HALF, ye, {yp.room, 1, yp.row, yp.column}, y + yp.first));
    }
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.finish();
    }
    size_t tried = 0, refused = 0, wrong = 0, outside = 0, missing = 0;
    spread_t best = {NAN, NAN, NAN};
    int64_t engine = -1, wrong_engine = -1;
    if (status == CUDNN_STATUS_SUCCESS) {
      const std::vector<dnn_t> all = g.proposals(CUDNN_HEUR_MODE_A);
      for (; tried < all.size() && tried < most; tried++) {
        dnn_plan_t plan;
        if (plan.build(handle, all[tried]) != CUDNN_STATUS_SUCCESS) {
          refused++;
          continue;
        }
        plan.bind(g.names, g.pointers);
        CHECK(cudaMemset(y, 0xff, outputs * 2));
        CHECK_DNN(cudnnSetStream(handle, nullptr));
        if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
          refused++;
          continue;
        }
        wait_or_die(nullptr, "convolution");
        CHECK(cudaMemcpy(got.data(), y, outputs * 2, cudaMemcpyDeviceToHost));
        size_t bad = 0, touched = 0, never = 0;
        for (size_t i = 0; i < outputs; i++) {
          const float v = (float)got[i];
          if (std::isnan(expected[i])) {
            touched += !std::isnan(v);
          } else {
            never += std::isnan(v);
            bad += !(std::fabs((double)v - expected[i]) <= 4e-3 + 1e-3 * expected[i]);
          }
        }
        if (bad || touched) {
          wrong++;
          outside = touched;
          missing = never;
          wrong_engine = engine_of(g, all[tried]).index;
          continue;
        }
        const spread_t us = step_time(
            [&](cudaStream_t s, int) {
              CHECK_DNN(cudnnSetStream(handle, s));
              CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
            },
            7, 4, 16);
        if (!(us.median >= best.median)) {
          best = us;
          engine = engine_of(g, all[tried]).index;
        }
      }
    }
    printf(" %s: %zu tried, %zu refused, %zu WRONG", maximum ? "compiled" : "known", tried, refused,
           wrong);
    if (wrong) {
      printf(" (engine %ld: %zu of %d not written, %zu written outside)", (long)wrong_engine,
             missing, n, outside);
    }
    printf(", best right %.2f (%.2f-%.2f), engine %ld;", best.median, best.low, best.high,
           (long)engine);
  }
  printf("\n");
  for (void* p : {(void*)x, (void*)w, (void*)bias, (void*)y, (void*)device_expected}) {
    CHECK(cudaFree(p));
  }
}

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? (size_t)atoi(argv[1]) : 6;
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  const int64_t c = 64, e = 28;
  const place_t packed = {"packed", c, e * c, 0, e * e * c},
                wider = {"in wider pixels", 2 * c, 2 * e * c, c, 2 * e * e * c},
                middle = {"in the middle of 30x30", c, (e + 2) * c, (e + 3) * c,
                          (e + 2) * (e + 2) * c},
                rows = {"every second row", c, 2 * e * c, 0, 2 * e * e * c},
                columns = {"every second column", 2 * c, 2 * e * c, 0, 2 * e * e * c},
                both = {"every second row and column", 2 * c, 4 * e * c, 0, 4 * e * e * c};
  for (int window : {1, 3}) {
    const layer_t l = {(int)c, (int)c, (int)e, window};
    for (const place_t& p : {packed, wider, middle, rows, columns, both}) {
      measure(l, packed, p, 2, most);
      if (&p != &packed) {
        measure(l, p, packed, 2, most);
      }
    }
  }
}
