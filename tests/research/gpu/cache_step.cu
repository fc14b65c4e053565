/* One step of a decoder with a key-value cache of the size of GPT-2's, in one graph: how the
 * position reaches the kernels that write a row of the cache in place and attend over it.
 *
 *   cache_step
 *   cache_step --check         for the sanitizers */
#include <cstring>

#include "small_chain.cuh"

enum { LAYERS = 12, HEADS = 12, WIDTH = 64, LENGTH = 1024, CHANNELS = HEADS * WIDTH };
enum { CACHE = HEADS * LENGTH * WIDTH }; /* of keys, and of values, a layer */

/* q, k and v of one token lie behind one another; the rows go to [head][position][width]. */
static __global__ void append(const half* qkv, half* keys, half* values, const int* position,
                              int at) {
  const int p = position ? *position : at, c = threadIdx.x + blockIdx.x * blockDim.x;
  if (c < CHANNELS && p < LENGTH) {
    const size_t to = ((size_t)(c / WIDTH) * LENGTH + p) * WIDTH + c % WIDTH;
    keys[to] = qkv[CHANNELS + c];
    values[to] = qkv[2 * CHANNELS + c];
  }
}
/* Appends as well if `store`; blocks (head, part of the past); every part beyond the position ends
 * at once. 128 threads: 16 of them hold a row of 64. Parts leave sum, maximum and product. */
enum { PARTS = 8, PART = LENGTH / PARTS };
static __global__ void __launch_bounds__(128)
    attend(const half* qkv, half* keys, half* values, float* partial, const int* position, int at,
           bool store) {
  const int p = position ? *(volatile const int*)position : at;
  const int head = blockIdx.x, first = blockIdx.y * PART, t = threadIdx.x, lane = t % 8,
            row = t / 8;
  float* out = partial + (head * PARTS + blockIdx.y) * (WIDTH + 2);
  if (first > p) {
    return;
  }
  const int last = min(p + 1, first + PART);
  const half* q = qkv + head * WIDTH + lane * 8;
  half* k = keys + (size_t)head * LENGTH * WIDTH;
  half* v = values + (size_t)head * LENGTH * WIDTH;
  float qf[8], sum = 0, most = -1e30f, o[8] = {};
  for (int d = 0; d < 8; d++) {
    qf[d] = __half2float(q[d]) * 0.125f;
  }
  for (int r = first + row; r < last; r += 16) {
    half kr[8], vr[8];
    const bool fresh = store && r == p;
    *(uint4*)kr =
        fresh ? *(const uint4*)(q + CHANNELS) : *(const uint4*)(k + (size_t)r * WIDTH + lane * 8);
    *(uint4*)vr = fresh ? *(const uint4*)(q + 2 * CHANNELS)
                        : *(const uint4*)(v + (size_t)r * WIDTH + lane * 8);
    if (fresh) {
      *(uint4*)(k + (size_t)r * WIDTH + lane * 8) = *(const uint4*)kr;
      *(uint4*)(v + (size_t)r * WIDTH + lane * 8) = *(const uint4*)vr;
    }
    float s = 0;
    for (int d = 0; d < 8; d++) {
      s += qf[d] * __half2float(kr[d]);
    }
    const unsigned group = 0xffu << (t & 24);
    s += __shfl_xor_sync(group, s, 4);
    s += __shfl_xor_sync(group, s, 2);
    s += __shfl_xor_sync(group, s, 1);
    const float m = fmaxf(most, s), before = __expf(most - m), now = __expf(s - m);
    sum = sum * before + now;
    most = m;
    for (int d = 0; d < 8; d++) {
      o[d] = o[d] * before + now * __half2float(vr[d]);
    }
  }
  __shared__ float all[16][WIDTH], sums[16], mosts[16];
  for (int d = 0; d < 8; d++) {
    all[row][lane * 8 + d] = o[d];
  }
  if (lane == 0) {
    sums[row] = sum;
    mosts[row] = most;
  }
  __syncthreads();
  float m = mosts[0], total = 0, mine = 0;
  for (int r = 1; r < 16; r++) {
    m = fmaxf(m, mosts[r]);
  }
  for (int r = 0; r < 16; r++) {
    const float f = __expf(mosts[r] - m);
    total += f * sums[r];
    mine += t < WIDTH ? f * all[r][t] : 0;
  }
  if (t < WIDTH) {
    out[t] = mine;
  }
  if (t == 0) {
    out[WIDTH] = total;
    out[WIDTH + 1] = m;
  }
}
static __global__ void combine(const float* partial, half* y, const int* position, int at) {
  const int p = position ? *(volatile const int*)position : at, head = blockIdx.x;
  const int parts = p / PART + 1;
  const float* in = partial + head * PARTS * (WIDTH + 2);
  float m = -1e30f, total = 0, sum = 0;
  for (int i = 0; i < parts; i++) {
    m = fmaxf(m, in[i * (WIDTH + 2) + WIDTH + 1]);
  }
  for (int i = 0; i < parts; i++) {
    const float f = __expf(in[i * (WIDTH + 2) + WIDTH + 1] - m);
    total += f * in[i * (WIDTH + 2) + WIDTH];
    sum += f * in[i * (WIDTH + 2) + threadIdx.x];
  }
  y[head * WIDTH + threadIdx.x] = __float2half(sum / total);
}
static __global__ void advance(int* position) {
  *position += 1;
}
/* Scatters out of a full copy: what a network does that has its past as an input and an output. */
static __global__ void copy_cache(const uint4* from, uint4* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    to[i] = from[i];
  }
}

static half *qkv, *keys, *values, *other, *y;
static float* partial;
static int *position, *pinned, *pinned_seen;

enum way_t { DEVICE_WORD, COPIED_WORD, MAPPED_WORD, ADVANCED, NODES, COPY_NODES };

static void layers_of(cudaStream_t s, const int* where, int at, bool fused, bool whole_copy,
                      bool copy_nodes) {
  for (int l = 0; l < LAYERS; l++) {
    half *k = keys + (size_t)l * CACHE, *v = values + (size_t)l * CACHE;
    if (whole_copy) {
      for (half* from : {k, v}) {
        copy_cache<<<CACHE / 8 / 256, 256, 0, s>>>((const uint4*)from, (uint4*)other, CACHE / 8);
        copy_cache<<<CACHE / 8 / 256, 256, 0, s>>>((const uint4*)other, (uint4*)from, CACHE / 8);
      }
    }
    if (copy_nodes) {
      for (half* cache : {k, v}) {
        CHECK(cudaMemcpy2DAsync(cache + at * WIDTH, (size_t)LENGTH * WIDTH * 2,
                                qkv + (cache == k ? CHANNELS : 2 * CHANNELS), WIDTH * 2, WIDTH * 2,
                                HEADS, cudaMemcpyDeviceToDevice, s));
      }
    } else if (!fused) {
      append<<<3, 256, 0, s>>>(qkv, k, v, where, at);
    }
    attend<<<dim3(HEADS, PARTS), 128, 0, s>>>(qkv, k, v, partial, where, at, fused);
    combine<<<HEADS, WIDTH, 0, s>>>(partial, y, where, at);
  }
}

static double check_last(int p) {
  std::vector<half> k(CACHE), v(CACHE), q(3 * CHANNELS), got(CHANNELS);
  CHECK(cudaDeviceSynchronize());
  const size_t last = (size_t)(LAYERS - 1) * CACHE;
  CHECK(cudaMemcpy(k.data(), keys + last, CACHE * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(v.data(), values + last, CACHE * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(q.data(), qkv, 3 * CHANNELS * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), y, CHANNELS * 2, cudaMemcpyDeviceToHost));
  double difference = 0, size = 0;
  for (int h = 0; h < HEADS; h++) {
    for (int d = 0; d < WIDTH; d++) { /* the row must be in the cache */
      if ((float)k[((size_t)h * LENGTH + p) * WIDTH + d] != (float)q[CHANNELS + h * WIDTH + d] ||
          (float)v[((size_t)h * LENGTH + p) * WIDTH + d] !=
              (float)q[2 * CHANNELS + h * WIDTH + d]) {
        return INFINITY;
      }
    }
    std::vector<double> w(p + 1);
    double most = -1e300, sum = 0;
    for (int i = 0; i <= p; i++) {
      for (int d = 0; d < WIDTH; d++) {
        w[i] += (double)(float)q[h * WIDTH + d] *
                (double)(float)k[((size_t)h * LENGTH + i) * WIDTH + d] / 8;
      }
      most = std::max(most, w[i]);
    }
    for (double& x : w) {
      sum += x = exp(x - most);
    }
    for (int d = 0; d < WIDTH; d++) {
      double e = 0;
      for (int i = 0; i <= p; i++) {
        e += w[i] / sum * (double)(float)v[((size_t)h * LENGTH + i) * WIDTH + d];
      }
      const double g = (double)(float)got[h * WIDTH + d];
      difference += (e - g) * (e - g);
      size += e * e;
    }
  }
  return std::sqrt(difference / size);
}

static void put_position(int p) {
  *(volatile int*)pinned = p;
  CHECK(cudaMemcpy(position, &p, 4, cudaMemcpyHostToDevice));
}

static std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph, cudaGraphNodeType wanted) {
  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> all(count), found;
  CHECK(cudaGraphGetNodes(graph, all.data(), &count));
  for (cudaGraphNode_t n : all) {
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(n, &type));
    if (type == wanted) {
      found.push_back(n);
    }
  }
  return found;
}

/* New value of the kernel's parameter `number`, an int, for all kernels of the graph. */
static void set_parameters(cudaGraphExec_t exec, const std::vector<cudaGraphNode_t>& nodes,
                           const std::vector<cudaKernelNodeParams>& known, int p) {
  for (size_t i = 0; i < nodes.size(); i++) {
    void* arguments[8];
    cudaKernelNodeParams changed = known[i];
    const bool is_append = changed.func == (void*)append, is_attend = changed.func == (void*)attend;
    const int number = is_append ? 4 : is_attend ? 5 : 3, count = is_append ? 5 : is_attend ? 7 : 4;
    std::copy(known[i].kernelParams, known[i].kernelParams + count, arguments);
    arguments[number] = &p;
    changed.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[i], &changed));
  }
}

static bool brief;

static void print(const char* name, spread_t host, spread_t end, spread_t device, double error) {
  printf(
      "CACHE %s: host %.2f us (%.2f-%.2f), to the end %.1f (%.1f-%.1f), device alone %.1f; error "
      "%.1e\n",
      name, host.median, host.low, host.high, end.median, end.low, end.high, device.median, error);
}

template <class Prepare>
static void run(const char* name, graph_t& g, Prepare prepare, int from) {
  const int steps = brief ? 12 : 64;
  std::vector<double> host, end;
  int p = from;
  put_position(from);
  for (int i = 0; i < steps; i++, p++) {
    const double begin = now_us();
    prepare(p);
    CHECK(cudaGraphLaunch(g.exec, g.stream));
    const double returned = now_us();
    CHECK(cudaStreamSynchronize(g.stream));
    if (i > 8) {
      host.push_back(returned - begin);
      end.push_back(now_us() - begin);
    }
  }
  const double error = check_last(p - 1);
  put_position(from);
  spread_t device = {0, 0, 0};
  if (strncmp(name, "advanced", 8)) {
    device = g.time(brief ? 1 : 21);
  }
  print(name, spread_of(host), spread_of(end), device, error);
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  brief = check;
  print_device();
  qkv = random_half(3 * CHANNELS, 1, 1);
  keys = random_half((size_t)LAYERS * CACHE, 1, 2);
  values = random_half((size_t)LAYERS * CACHE, 1, 3);
  other = device_new<half>(CACHE);
  y = device_new<half>(CHANNELS);
  partial = device_new<float>(HEADS * PARTS * (WIDTH + 2));
  position = device_new<int>(1);
  CHECK(cudaHostAlloc((void**)&pinned, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&pinned_seen, pinned, 0));
  CHECK(cudaDeviceSynchronize());
  const int from = 500;
  auto nothing = [](int) {};
  auto write = [](int p) { *(volatile int*)pinned = p; };
  for (bool fused : {false, true}) {
    const std::string tail = fused ? ", append inside attention" : ", append as a kernel";
    graph_t fixed([&](cudaStream_t s) { layers_of(s, nullptr, from, fused, false, false); });
    run(("position constant" + tail).c_str(), fixed, nothing, from - (check ? 11 : 63));
    graph_t mapped([&](cudaStream_t s) { layers_of(s, pinned_seen, 0, fused, false, false); });
    if (!check) /* 100 times as slow, under a sanitizer without end */
      run(("word in mapped host memory" + tail).c_str(), mapped, write, from);
    graph_t copied([&](cudaStream_t s) {
      CHECK(cudaMemcpyAsync(position, pinned, 4, cudaMemcpyHostToDevice, s));
      layers_of(s, position, 0, fused, false, false);
    });
    run(("word copied by a node in front" + tail).c_str(), copied, write, from);
    graph_t advanced([&](cudaStream_t s) {
      layers_of(s, position, 0, fused, false, false);
      advance<<<1, 1, 0, s>>>(position);
    });
    run(("advanced by the graph" + tail).c_str(), advanced, nothing, from);
    graph_t outside([&](cudaStream_t s) { layers_of(s, position, 0, fused, false, false); });
    run(("word copied by the stream in front of the graph" + tail).c_str(), outside,
        [&](int p) {
          *(volatile int*)pinned = p;
          CHECK(cudaMemcpyAsync(position, pinned, 4, cudaMemcpyHostToDevice, outside.stream));
        },
        from);
    graph_t set([&](cudaStream_t s) { layers_of(s, nullptr, from, fused, false, false); });
    const std::vector<cudaGraphNode_t> nodes = nodes_of(set.graph, cudaGraphNodeTypeKernel);
    std::vector<cudaKernelNodeParams> known(nodes.size());
    for (size_t i = 0; i < nodes.size(); i++) {
      CHECK(cudaGraphKernelNodeGetParams(nodes[i], &known[i]));
    }
    run((std::to_string(nodes.size()) + " nodes' parameters" + tail).c_str(), set,
        [&](int p) { set_parameters(set.exec, nodes, known, p); }, from);
    graph_t updated([&](cudaStream_t s) { layers_of(s, nullptr, from, fused, false, false); });
    run(("graph captured again and executable updated" + tail).c_str(), updated,
        [&](int p) {
          cudaGraph_t next;
          cudaGraphExecUpdateResultInfo info;
          CHECK(cudaStreamBeginCapture(updated.stream, cudaStreamCaptureModeThreadLocal));
          layers_of(updated.stream, nullptr, p, fused, false, false);
          CHECK(cudaStreamEndCapture(updated.stream, &next));
          CHECK(cudaGraphExecUpdate(updated.exec, next, &info));
          CHECK(cudaGraphDestroy(next));
        },
        from);
  }
  graph_t copies([&](cudaStream_t s) { layers_of(s, nullptr, from, false, false, true); });
  graph_t whole([&](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(position, pinned, 4, cudaMemcpyHostToDevice, s));
    layers_of(s, position, 0, false, true, false);
  });
  run("rows by copy nodes, position constant", copies, nothing, from - (check ? 11 : 63));
  for (bool rows_together :
       {check, true}) { /* [head][position][width], or [position][head][width] */
    graph_t g([&](cudaStream_t s) {
      if (!rows_together) {
        layers_of(s, nullptr, from, false, false, true);
        return;
      }
      for (int l = 0; l < 2 * LAYERS; l++) {
        CHECK(cudaMemcpyAsync((l % 2 ? values : keys) + (size_t)l / 2 * CACHE + from * CHANNELS,
                              qkv + (1 + l % 2) * CHANNELS, CHANNELS * 2, cudaMemcpyDeviceToDevice,
                              s));
      }
    });
    const std::vector<cudaGraphNode_t> nodes = nodes_of(g.graph, cudaGraphNodeTypeMemcpy);
    cudaError_t status = cudaSuccess;
    const spread_t changed = host_time(
        [&] {
          for (size_t i = 0; i < nodes.size() && status == cudaSuccess; i++) {
            cudaMemcpy3DParms p;
            CHECK(cudaGraphMemcpyNodeGetParams(nodes[i], &p));
            p.dstPtr.ptr = (half*)p.dstPtr.ptr + WIDTH;
            status = cudaGraphExecMemcpyNodeSetParams(g.exec, nodes[i], &p);
          }
          CHECK(cudaGraphLaunch(g.exec, g.stream));
        },
        40);
    CHECK(cudaStreamSynchronize(g.stream));
    cudaGetLastError();
    printf(
        "CACHE addresses of %zu copy nodes, %s: %s, with launch %.1f us of host time (%.1f-%.1f)\n",
        nodes.size(), rows_together ? "one piece each" : "two-dimensional",
        cudaGetErrorName(status), changed.median, changed.low, changed.high);
  }
  run("whole cache copied out and back", whole, write, from);
  if (check) {
    return 0;
  }
  /* how the time follows the position when the grid is made for the longest */
  graph_t mapped([&](cudaStream_t s) { layers_of(s, pinned_seen, 0, true, false, false); });
  graph_t copied([&](cudaStream_t s) {
    CHECK(cudaMemcpyAsync(position, pinned, 4, cudaMemcpyHostToDevice, s));
    layers_of(s, position, 0, true, false, false);
  });
  for (int p : {0, 127, 255, 511, 1023}) {
    put_position(p);
    const spread_t a = mapped.time(31), b = copied.time(31);
    printf(
        "CACHE at position %d, 12 layers of attention: word in mapped memory %.1f us (%.1f-%.1f), "
        "in "
        "device memory %.1f (%.1f-%.1f)\n",
        p, a.median, a.low, a.high, b.median, b.low, b.high);
  }
}
