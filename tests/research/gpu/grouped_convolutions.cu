/* Grouped 3x3 convolutions of ResNeXt-50 (32x4d) in fp16, NHWC, bias and ReLU: cuDNN with the
 * groups as they are, cuDNN with groups of 64 channels whose weights are filled up with zeros, own
 * tiles over the same, and an own kernel without matrix instructions.
 *
 *   grouped_convolutions [seconds for each of cuDNN's graphs]
 *   grouped_convolutions --check      for the sanitizers */
#include <cstring>

#include "convolution_choices.cuh"

static void add_all_instances() {
  std::vector<tile_instance_t>& all = instances();
  add_instances<1, 1, 4, 1>(all);
  add_instances<1, 1, 8, 1>(all);
  add_instances<1, 1, 8, 3>(all);
  add_instances<2, 1, 8, 1>(all);
  add_instances<3, 1, 8, 1>(all);
  prepare_instances();
}

static cudnnHandle_t handle;

/* Zeros outside of groups of `width` channels; w as [out][9][in], in = out. */
static __global__ void keep_groups(half* w, int channels, int width, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) {
    const int c = i % channels, k = i / channels / 9;
    if (c / width != k / width) {
      w[i] = __float2half(0.f);
    } else { /* as large as if only the group's weights were summed up */
      w[i] = __float2half(__half2float(w[i]) * sqrtf((float)channels / width));
    }
  }
}
/* to as [out][9][block]: the part of w that output k's block of `block` channels sees. */
static __global__ void take_blocks(half* to, const half* w, int channels, int block, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) {
    const int c = i % block, tap = i / block % 9, k = i / block / 9;
    to[i] = w[((size_t)k * 9 + tap) * channels + k / block * block + c];
  }
}
/* A thread has eight channels of one pixel of the result; w as [9][width][out], so that neighbours
 * read neighbours. Groups of 4, 8, 16 or 32. */
static __global__ void reorder(half* to, const half* compact, int channels, int width, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) {
    const int k = i % channels, c = i / channels % width, tap = i / channels / width;
    to[i] = compact[((size_t)k * 9 + tap) * width + c];
  }
}
template <int WIDTH, int V>
static __global__ void __launch_bounds__(128)
    direct(const half* x, const half* w, const half* bias, half* y, int channels, int extent,
           int output, int stride, int pixels) {
  struct alignas(2 * V) pack_t {
    half v[V];
  };
  const int t = blockIdx.x * 128 + threadIdx.x, packs = channels / V, k = t % packs * V,
            pixel = t / packs;
  const int q = pixel % output, r = pixel / output % output, image = pixel / output / output;
  constexpr int IN = WIDTH > V ? WIDTH : V; /* channels of the input that V of the output see */
  const int first = k / IN * IN;
  const pack_t b = *(const pack_t*)(bias + k);
  float sum[V];
#pragma unroll
  for (int i = 0; i < V; i++) {
    sum[i] = __half2float(b.v[i]);
  }
  wait_for_predecessor();
  release_dependents();
  if (pixel >= pixels) {
    return;
  }
#pragma unroll 1
  for (int tap = 0; tap < 9; tap++) {
    const int h = r * stride + tap / 3 - 1, v = q * stride + tap % 3 - 1;
    if (h < 0 || v < 0 || h >= extent || v >= extent) {
      continue;
    }
    const half* from = x + (((size_t)image * extent + h) * extent + v) * channels + first;
#pragma unroll
    for (int c = 0; c < IN; c += V) {
      const pack_t in = *(const pack_t*)(from + c);
#pragma unroll
      for (int j = 0; j < V; j++) {
        const float value = __half2float(in.v[j]);
        if constexpr (WIDTH >= V) {
          const pack_t ws = *(const pack_t*)(w + ((size_t)tap * WIDTH + c + j) * channels + k);
#pragma unroll
          for (int i = 0; i < V; i++) {
            sum[i] = fmaf(value, __half2float(ws.v[i]), sum[i]);
          }
        } else { /* V / WIDTH groups in one access */
          struct alignas(2 * WIDTH) part_t {
            half v[WIDTH];
          };
          const part_t ws = *(const part_t*)(w + ((size_t)tap * WIDTH + j % WIDTH) * channels + k +
                                             j / WIDTH * WIDTH);
#pragma unroll
          for (int i = 0; i < WIDTH; i++) {
            sum[j / WIDTH * WIDTH + i] =
                fmaf(value, __half2float(ws.v[i]), sum[j / WIDTH * WIDTH + i]);
          }
        }
      }
    }
  }
  pack_t out;
#pragma unroll
  for (int i = 0; i < V; i++) {
    out.v[i] = __float2half(fmaxf(sum[i], 0.f));
  }
  *(pack_t*)(y + (size_t)pixel * channels + k) = out;
}

struct grouped_t {
  convolution_data_t<half> d;
  own_t own;
  int width, channels;
  std::vector<half*> packed, blocks, compact,
      ordered; /* for tiles; [out][9][64]; [out][9][width]; direct */
  grouped_t(const layer_t& layer, int width, int64_t batch)
      : d(layer, batch), own(d), width(width), channels((int)layer.out) {
    const size_t n = (size_t)channels * channels * 9;
    auto count = [](size_t m) { return (unsigned)((m + 255) / 256); };
    for (half* w : d.w) {
      keep_groups<<<count(n), 256>>>(w, channels, width, n);
      const size_t m = (size_t)channels * 9 * 64, k = (size_t)channels * 9 * width;
      blocks.push_back(device_new<half>(m));
      packed.push_back(device_new<half>(m));
      compact.push_back(device_new<half>(k));
      ordered.push_back(device_new<half>(k));
      take_blocks<<<count(m), 256>>>(blocks.back(), w, channels, 64, m);
      take_blocks<<<count(k), 256>>>(compact.back(), w, channels, width, k);
      pack_tile_weights<<<count(m), 256>>>(packed.back(), blocks.back(), channels, 64);
      reorder<<<count(k), 256>>>(ordered.back(), compact.back(), channels, width, k);
    }
    CHECK(cudaGetLastError());
    d.reference(true, false);
  }
  grouped_t(const grouped_t&) = delete;
  grouped_t& operator=(const grouped_t&) = delete;
  ~grouped_t() {
    for (const auto& list : {packed, blocks, compact, ordered}) {
      for (half* p : list) {
        cudaFree(p);
      }
    }
  }
  tile_arguments_t arguments(const choice_t& c) const {
    tile_arguments_t a = own.arguments(c);
    a.channels = 64;
    a.diagonal = 1;
    a.weights = packed[0];
    return a;
  }
};

static void tiles(const grouped_t& g, bool check) {
  layer_t narrow = g.d.layer; /* what a block of 64 channels sees */
  narrow.in = 64;
  std::vector<choice_t> all = choices(narrow, (int)(g.d.outputs / (size_t)g.channels), check);
  const choice_t* best = nullptr;
  double worst = 0;
  size_t tried = 0;
  for (choice_t& c : all) {
    if (c.instance->source != WINDOW_COPIES) {
      continue;
    }
    tried++;
    const double error =
        g.own.error_of("tiles", [&] { g.own.enqueue(c, g.arguments(c), true, nullptr); });
    if (!(error < 1e-3)) {
      printf("  WRONG %s: %.1e\n", c.name().c_str(), error);
      continue;
    }
    worst = std::max(worst, error);
    if (!check) {
      tile_arguments_t a = g.arguments(c);
      c.us = step_time(
          [&](cudaStream_t s, int i) {
            a.weights = g.packed[(size_t)i % g.packed.size()];
            g.own.enqueue(c, a, true, s);
          },
          9, 10, 34);
    }
    if (!best || c.us.median < best->us.median) {
      best = &c;
    }
  }
  if (best) {
    printf("  own tiles, %zu choices, largest error %.1e: best %.2f (%.2f-%.2f), %s\n", tried,
           worst, best->us.median, best->us.low, best->us.high, best->name().c_str());
  }
}

template <int WIDTH, int V>
static void direct_line(const grouped_t& g, bool check) {
  const int e = (int)g.d.layer.output_extent(), pixels = (int)(g.d.outputs / (size_t)g.channels);
  auto step = [&](cudaStream_t s, int i) {
    CHECK(launch(direct<WIDTH, V>, dim3((unsigned)((g.d.outputs / V + 127) / 128)), 128, 0, dim3(1),
                 true, s, (const half*)g.d.x, (const half*)g.ordered[(size_t)i % g.ordered.size()],
                 (const half*)g.d.bias, g.d.y, g.channels, (int)g.d.layer.extent, e,
                 (int)g.d.layer.stride, pixels));
  };
  const double error = g.own.error_of("direct", [&] { step(nullptr, 0); });
  const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 9, 10, 34);
  printf("  own, %d channels a thread, no matrix instructions: %.2f (%.2f-%.2f), error %.1e%s\n", V,
         us.median, us.low, us.high, error, error < 1e-3 ? "" : " WRONG");
}
template <int WIDTH>
static void directs(const grouped_t& g, bool check) {
  direct_line<WIDTH, 2>(g, check);
  direct_line<WIDTH, 4>(g, check);
  direct_line<WIDTH, 8>(g, check);
}

/* Groups of `width` channels for cuDNN, weights [out][9][width]. */
static void library(grouped_t& g, int width, const std::vector<half*>& weights, bool fused,
                    bool maximum, double seconds) {
  convolution_data_t<half>& d = g.d;
  static float zero = 0;
  const extents_t we = {g.channels, width, 3, 3}, one = {1, 1, 1, 1};
  dnn_graph_t graph(handle);
  dnn_t y = graph.nhwc(CUDNN_DATA_HALF, d.ye, d.y), value = graph.between(d.ye),
        sum = graph.between(d.ye);
  dnn_t x = graph.nhwc(CUDNN_DATA_HALF, d.xe, d.x), w = graph.nhwc(CUDNN_DATA_HALF, we, weights[0]);
  const size_t second = graph.pointers.size() - 1; /* the weights */
  cudnnStatus_t status = graph.convolution(x, w, fused ? value : y, d.layer.stride, 1);
  if (fused && status == CUDNN_STATUS_SUCCESS) {
    status =
        graph.pointwise(CUDNN_POINTWISE_ADD, value, graph.nhwc(CUDNN_DATA_HALF, d.be, d.bias), sum);
  }
  if (fused && status == CUDNN_STATUS_SUCCESS) {
    status = graph.pointwise(
        maximum ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, sum,
        maximum ? graph.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr, y);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = graph.finish();
  }
  const char* form = !fused ? "alone" : maximum ? "compiled form" : "known form";
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  cuDNN, groups of %d, %s: refused: %s\n", width, form, dnn_words().c_str());
    return;
  }
  d.reference(fused, false);
  const std::vector<dnn_t> found = graph.proposals(CUDNN_HEUR_MODE_A);
  const double begin = now_us();
  spread_t best = {NAN, NAN, NAN};
  int64_t engine = -1;
  size_t tried = 0, refused = 0, wrong = 0;
  for (; tried < found.size() && now_us() - begin < seconds * 1e6; tried++) {
    dnn_plan_t plan;
    if (plan.build(handle, found[tried]) != CUDNN_STATUS_SUCCESS) {
      refused++;
      continue;
    }
    std::vector<dnn_t> packs;
    for (half* other : weights) {
      std::vector<void*> pointers = graph.pointers;
      pointers[second] = other;
      plan.pack = nullptr;
      plan.bind(graph.names, pointers);
      packs.push_back(plan.pack);
    }
    plan.pack = nullptr;
    CHECK_DNN(cudnnSetStream(handle, nullptr));
    bool runs = true;
    const double error = g.own.error_of("cuDNN", [&] {
      runs = cudnnBackendExecute(handle, plan.plan, packs[0]) == CUDNN_STATUS_SUCCESS;
    });
    if (!runs) {
      refused++;
    } else if (!(error < 2e-3)) {
      wrong++;
    } else {
      const spread_t us = step_time(
          [&](cudaStream_t s, int i) {
            CHECK_DNN(cudnnSetStream(handle, s));
            CHECK_DNN(cudnnBackendExecute(handle, plan.plan, packs[(size_t)i % packs.size()]));
          },
          7, 6, 18);
      if (!(us.median >= best.median)) {
        best = us;
        engine = engine_of(graph, found[tried]).index;
      }
    }
    for (dnn_t p : packs) {
      cudnnBackendDestroyDescriptor(p);
    }
  }
  printf(
      "  cuDNN, groups of %d, %s: best %.2f (%.2f-%.2f), engine %ld, %zu of %zu tried, %zu "
      "refused, %zu wrong\n",
      width, form, best.median, best.low, best.high, (long)engine, tried, found.size(), refused,
      wrong);
  d.reference(true, false);
}

static void one_layer(const layer_t& layer, int width, int64_t batch, double seconds, bool check) {
  grouped_t g(layer, width, batch);
  const double inputs = (double)batch * layer.in * layer.extent * layer.extent;
  printf("GROUPED %s, groups of %d, batch %ld: bytes %.2f us\n", layer.name, width, (long)batch,
         2 * (inputs + (double)g.d.outputs + (double)layer.out * 9 * width) / 2.98e6);
  tiles(g, check);
  if (width == 4) {
    directs<4>(g, check);
  } else if (width == 8) {
    directs<8>(g, check);
  } else if (width == 16) {
    directs<16>(g, check);
  } else {
    directs<32>(g, check);
  }
  if (check) {
    return;
  }
  library(g, width, g.compact, false, false, seconds);
  library(g, width, g.compact, true, false, seconds);
  library(g, width, g.compact, true, true, seconds);
  library(g, 64, g.blocks, true, false, seconds);
  library(g, 64, g.blocks, true, true, seconds);
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  const double seconds = argc > 1 && !check ? atof(argv[1]) : 1;
  print_device();
  add_all_instances();
  if (check) {
    one_layer({"128>128 @9", 128, 128, 9, 3, 1, false, 0}, 4, 2, 0, true);
    one_layer({"128>128 @10/2", 128, 128, 10, 3, 2, false, 0}, 32, 1, 0, true);
    return 0;
  }
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  static const struct {
    layer_t layer;
    int width;
  } all[] = {{{"128>128 @56", 128, 128, 56, 3, 1, false, 0}, 4},
             {{"256>256 @28", 256, 256, 28, 3, 1, false, 0}, 8},
             {{"512>512 @14", 512, 512, 14, 3, 1, false, 0}, 16},
             {{"1024>1024 @7", 1024, 1024, 7, 3, 1, false, 0}, 32},
             {{"256>256 @56/2", 256, 256, 56, 3, 2, false, 0}, 8}};
  for (int64_t batch : {1, 32}) {
    for (const auto& l : all) {
      one_layer(l.layer, l.width, batch, seconds, false);
    }
  }
}
