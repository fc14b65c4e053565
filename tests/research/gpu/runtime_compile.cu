/* What compiling a fused expression at run time costs: NVRTC's time by kernel, options and threads,
 * the size of the code, loading, the first launch.
 *
 *   runtime_compile [folder of CUDA's headers] [--here | --load]
 *                      --here: without a GPU, compiling alone; --load: loading alone */
#include <nvrtc.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "driver.cuh"

static const char* own_half =
    "struct half { unsigned short bits; };\n"
    "__device__ inline float load(half h) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : "
    "\"h\"(h.bits)); return f; }\n"
    "__device__ inline half store(float f) { half h; asm(\"cvt.rn.f16.f32 %0, %1;\" : "
    "\"=h\"(h.bits) : \"f\"(f)); return h; }\n";
static const char* header_half =
    "#include <cuda_fp16.h>\n"
    "__device__ inline float load(half h) { return __half2float(h); }\n"
    "__device__ inline half store(float f) { return __float2half(f); }\n";

/* gelu((x * scale[channel] + bias[channel]) * gate[row]) + residual, 16 bytes an access, a constant
 * that differs. */
static const char* pointwise_source =
    "struct alignas(16) pack { half v[8]; };\n"
    "extern \"C\" __global__ void fused(const half* x, const half* scale, const half* bias, const "
    "half* gate,\n"
    "    const half* residual, half* y, unsigned n, unsigned channels, unsigned magic) {\n"
    "  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;\n"
    "  if (i >= n) return;\n"
    "  unsigned row = channels == 1 ? i : __umulhi(i, magic), c = i - row * channels;\n"
    "  pack a = *(const pack*)(x + i), s = *(const pack*)(scale + c), b = *(const pack*)(bias + "
    "c),\n"
    "       r = *(const pack*)(residual + i), out;\n"
    "  float g = load(gate[row]);\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 8; k++) {\n"
    "    float t = (load(a.v[k]) * load(s.v[k]) + load(b.v[k])) * g * CONSTANT;\n"
    "    t = 0.5f * t * (1.f + erff(t * 0.70710678f));\n"
    "    out.v[k] = store(t + load(r.v[k]));\n"
    "  }\n"
    "  *(pack*)(y + i) = out;\n"
    "}\n";
/* Layer normalisation of x + residual with GELU behind it, one block a row. */
static const char* row_source =
    "struct alignas(16) pack { half v[8]; };\n"
    "__device__ inline float total(float v, float* shared) {\n"
    "  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;\n"
    "  __syncthreads();\n"
    "  v = threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : 0;\n"
    "  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);\n"
    "  return v;\n"
    "}\n"
    "extern \"C\" __global__ void fused(const half* x, const half* scale, const half* bias, const "
    "half* gate,\n"
    "    const half* residual, half* y, unsigned n, unsigned channels, unsigned magic) {\n"
    "  __shared__ float shared[32];\n"
    "  float v[8][8], sum = 0, square = 0;\n"
    "  const half *row = x + blockIdx.x * channels, *other = residual + blockIdx.x * channels;\n"
    "#pragma unroll\n"
    "  for (int j = 0; j < 8; j++) {\n"
    "    unsigned c = (j * blockDim.x + threadIdx.x) * 8;\n"
    "    if (c < channels) {\n"
    "      pack a = *(const pack*)(row + c), b = *(const pack*)(other + c);\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < 8; k++) { v[j][k] = load(a.v[k]) + load(b.v[k]) * CONSTANT; sum += "
    "v[j][k]; }\n"
    "    }\n"
    "  }\n"
    "  float mean = total(sum, shared) / channels;\n"
    "#pragma unroll\n"
    "  for (int j = 0; j < 8; j++)\n"
    "    if ((j * blockDim.x + threadIdx.x) * 8 < channels)\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < 8; k++) square += (v[j][k] - mean) * (v[j][k] - mean);\n"
    "  float deviation = rsqrtf(total(square, shared) / channels + 1e-5f);\n"
    "#pragma unroll\n"
    "  for (int j = 0; j < 8; j++) {\n"
    "    unsigned c = (j * blockDim.x + threadIdx.x) * 8;\n"
    "    if (c < channels) {\n"
    "      pack s = *(const pack*)(scale + c), b = *(const pack*)(bias + c), out;\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < 8; k++) {\n"
    "        float t = (v[j][k] - mean) * deviation * load(s.v[k]) + load(b.v[k]);\n"
    "        out.v[k] = store(0.5f * t * (1.f + erff(t * 0.70710678f)));\n"
    "      }\n"
    "      *(pack*)(y + blockIdx.x * channels + c) = out;\n"
    "    }\n"
    "  }\n"
    "}\n";

/* The same row kernel with an activation of one instruction: what does unrolled erff cost? */
static std::string simpler_row() {
  std::string text = row_source;
  const std::string heavy = "0.5f * t * (1.f + erff(t * 0.70710678f))";
  return text.replace(text.find(heavy), heavy.size(), "fmaxf(t, 0.f)");
}
/* The same with erff in a function that is not inlined. */
static std::string called_row() {
  std::string text = row_source;
  const std::string heavy = "0.5f * t * (1.f + erff(t * 0.70710678f))";
  text.replace(text.find(heavy), heavy.size(), "gelu(t)");
  return "__device__ __noinline__ float gelu(float t) { return 0.5f * t * (1.f + erff(t * "
         "0.70710678f)); }\n" +
         text;
}

static std::string headers;

struct code_t {
  std::vector<char> bytes;
  double ms;
};
static code_t compile(const char* body, const char* half, int number,
                      std::vector<const char*> options, bool ptx) {
  const std::string source =
      "#define CONSTANT (1.f + " + std::to_string(number) + " * 1e-6f)\n" + half + body;
  const std::string include = "--include-path=" + headers;
  if (!strncmp(half, "#include", 8)) {
    options.push_back(include.c_str());
  }
  options.push_back("--std=c++17");
  code_t code;
  const double begin = now_us();
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source.c_str(), "fused.cu", 0, nullptr, nullptr);
  const nvrtcResult status = nvrtcCompileProgram(program, (int)options.size(), options.data());
  if (status != NVRTC_SUCCESS) {
    size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, 0);
    nvrtcGetProgramLog(program, &log[0]);
    printf("  refused (%s): %.200s\n", nvrtcGetErrorString(status), log.c_str());
  } else {
    size_t size = 0;
    ptx ? nvrtcGetPTXSize(program, &size) : nvrtcGetCUBINSize(program, &size);
    code.bytes.resize(size);
    ptx ? nvrtcGetPTX(program, code.bytes.data()) : nvrtcGetCUBIN(program, code.bytes.data());
  }
  nvrtcDestroyProgram(&program);
  code.ms = (now_us() - begin) / 1e3;
  return code;
}

static const std::string simpler = simpler_row(), called = called_row();
static const struct {
  const char* name;
  const char* source;
} kernels[] = {{"pointwise with broadcasts", pointwise_source},
               {"row reduction", row_source},
               {"row reduction, ReLU", simpler.c_str()},
               {"row reduction, GELU called", called.c_str()}};

static void by_options() {
  const struct {
    const char* name;
    const char* half;
    std::vector<const char*> options;
    bool ptx;
  } ways[] = {{"sm_90a, cuda_fp16.h", header_half, {"-arch=sm_90a"}, false},
              {"sm_90a, cuda_fp16.h, --pch", header_half, {"-arch=sm_90a", "--pch"}, false},
              {"sm_90a, own half", own_half, {"-arch=sm_90a"}, false},
              {"sm_90a, own half, --minimal", own_half, {"-arch=sm_90a", "--minimal"}, false},
              {"sm_90a, own half, --minimal, ptxas -O1",
               own_half,
               {"-arch=sm_90a", "--minimal", "--ptxas-options=-O1"},
               false},
              {"sm_90a, own half, --minimal, --dopt=on",
               own_half,
               {"-arch=sm_90a", "--minimal", "--dopt=on"},
               false},
              {"sm_90a, own half, --minimal, fast math",
               own_half,
               {"-arch=sm_90a", "--minimal", "--use_fast_math"},
               false},
              {"compute_90a to PTX, own half, --minimal",
               own_half,
               {"-arch=compute_90a", "--minimal"},
               true},
              {"sm_75, own half, --minimal", own_half, {"-arch=sm_75", "--minimal"}, false}};
  int number = 0;
  for (const auto& kernel : kernels) {
    for (const auto& way : ways) {
      const code_t cold = compile(kernel.source, way.half, number++, way.options, way.ptx);
      std::vector<double> times;
      for (int i = 0; i < 5 && !cold.bytes.empty(); i++) {
        times.push_back(compile(kernel.source, way.half, number++, way.options, way.ptx).ms);
      }
      const spread_t t = spread_of(times);
      printf("COMPILE %s, %s: first %.1f ms, later %.1f (%.1f-%.1f), %zu bytes\n", kernel.name,
             way.name, cold.ms, t.median, t.low, t.high, cold.bytes.size());
    }
  }
}

static void by_threads() {
  for (int threads : {1, 2, 4, 8, 16}) {
    std::atomic<int> next(0);
    const int total = 32;
    std::vector<std::thread> workers;
    const double begin = now_us();
    for (int t = 0; t < threads; t++) {
      workers.emplace_back([&] {
        for (int i = next++; i < total; i = next++) {
          compile(kernels[i % 4].source, own_half, 1000 * threads + i,
                  {"-arch=sm_90a", "--minimal"}, false);
        }
      });
    }
    for (std::thread& w : workers) {
      w.join();
    }
    printf("THREADS %d: %d kernels in %.0f ms\n", threads, total, (now_us() - begin) / 1e3);
  }
}

/* Loading and the first launch, with other code each time. */
static void loading() {
  const unsigned rows = 512, channels = 1024, n = rows * channels,
                 magic = (unsigned)((0x100000000ull + channels - 1) / channels);
  half *x = random_half(n, 1, 1), *scale = random_half(channels, 1, 2),
       *bias = random_half(channels, 1, 3), *gate = random_half(rows, 1, 4),
       *residual = random_half(n, 1, 5), *y = device_new<half>(n);
  CHECK(cudaDeviceSynchronize());
  CUmodule before;
  for (int way = 0; way < 3; way++) {
    std::vector<double> load, find, first, second, size;
    for (int i = 0; i < 12; i++) {
      const bool ptx = way == 2;
      const code_t code = compile(kernels[i % 2].source, own_half, 5000 + way * 100 + i,
                                  {ptx ? "-arch=compute_90a" : "-arch=sm_90a", "--minimal"}, ptx);
      CUfunction function;
      double begin = now_us();
      CUlibrary library = nullptr;
      if (way == 1) {
        CHECK_DRIVER(cuLibraryLoadData(&library, code.bytes.data(), nullptr, nullptr, 0, nullptr,
                                       nullptr, 0));
      } else {
        CHECK_DRIVER(cuModuleLoadData(&before, code.bytes.data()));
      }
      load.push_back(now_us() - begin);
      begin = now_us();
      if (way == 1) {
        CUkernel kernel;
        CHECK_DRIVER(cuLibraryGetKernel(&kernel, library, "fused"));
        CHECK_DRIVER(cuKernelGetFunction(&function, kernel));
      } else {
        CHECK_DRIVER(cuModuleGetFunction(&function, before, "fused"));
      }
      find.push_back(now_us() - begin);
      unsigned n_value = n, channels_value = channels, magic_value = magic;
      void* arguments[] = {&x, &scale,   &bias,           &gate,       &residual,
                           &y, &n_value, &channels_value, &magic_value};
      for (int k = 0; k < 2; k++) {
        begin = now_us();
        CHECK_DRIVER(cuLaunchKernel(function, i % 2 ? rows : n / 1024, 1, 1, 128, 1, 1, 0, nullptr,
                                    arguments, nullptr));
        CHECK(cudaDeviceSynchronize());
        (k ? second : first).push_back(now_us() - begin);
      }
      size.push_back((double)code.bytes.size());
    }
    printf(
        "LOAD %s: load %.0f us (%.0f-%.0f), find %.1f, first launch %.0f, second %.0f, code %.0f "
        "bytes\n",
        way == 0   ? "cuModuleLoadData"
        : way == 1 ? "cuLibraryLoadData"
                   : "cuModuleLoadData of PTX",
        spread_of(load).median, spread_of(load).low, spread_of(load).high, spread_of(find).median,
        spread_of(first).median, spread_of(second).median, spread_of(size).median);
  }
  /* The pointwise kernel against float64. */
  const code_t code = compile(pointwise_source, own_half, 0, {"-arch=sm_90a", "--minimal"}, false);
  CUfunction function;
  CHECK_DRIVER(cuModuleLoadData(&before, code.bytes.data()));
  CHECK_DRIVER(cuModuleGetFunction(&function, before, "fused"));
  unsigned n_value = n, channels_value = channels, magic_value = magic;
  void* arguments[] = {&x, &scale,   &bias,           &gate,       &residual,
                       &y, &n_value, &channels_value, &magic_value};
  CHECK_DRIVER(cuLaunchKernel(function, n / 1024, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cudaDeviceSynchronize());
  auto host = [](const half* p, size_t count) {
    std::vector<half> v(count);
    CHECK(cudaMemcpy(v.data(), p, count * 2, cudaMemcpyDeviceToHost));
    return v;
  };
  const std::vector<half> hx = host(x, n), hs = host(scale, channels), hb = host(bias, channels),
                          hg = host(gate, rows), hr = host(residual, n), hy = host(y, n);
  double difference = 0, total = 0;
  for (unsigned i = 0; i < n; i++) {
    const double t = ((double)(float)hx[i] * (float)hs[i % channels] + (float)hb[i % channels]) *
                     (float)hg[i / channels];
    const double want = 0.5 * t * (1 + erf(t * 0.70710678118654752)) + (double)(float)hr[i];
    difference += ((float)hy[i] - want) * ((float)hy[i] - want);
    total += want * want;
  }
  printf("RESULT pointwise kernel: error %.1e\n", sqrt(difference / total));
}

int main(int argc, char** argv) {
  headers = argc > 1 ? argv[1] : "/usr/local/cuda/include";
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  printf("NVRTC %d.%d\n", major, minor);
  const char* part = argc > 2 ? argv[2] : "";
  if (strcmp(part, "--load")) {
    by_options();
    by_threads();
  }
  if (strcmp(part, "--here")) {
    print_device();
    loading();
  }
}
