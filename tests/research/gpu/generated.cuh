/* Kernels compiled at run time from text: many at once on all threads, and launched by their
 * parameters. */
#pragma once

#include <nvrtc.h>

#include <atomic>
#include <thread>

#include "driver.cuh"

/* Conversions without CUDA's headers. */
static const char* const generated_head = R"(
struct half { unsigned short bits; };
__device__ inline float load(half h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
__device__ inline float load(float f) { return f; }
template <class T> struct convert;
template <> struct convert<half> {
  static __device__ inline half store(float f) {
    half h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
    return h;
  }
};
template <> struct convert<float> {
  static __device__ inline float store(float f) { return f; }
};
template <class T, int N> struct alignas(sizeof(T) * N) pack { T v[N]; };
__device__ inline void wait_for_predecessor() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void release_dependents() { asm volatile("griddepcontrol.launch_dependents;"); }
)";

/* One text, one kernel named `generated`. */
struct generated_t {
  std::string text;
  bool ptx = false; /* what is compiled: PTX instead of a cubin */
  std::vector<char> code;
  std::string log;
  double ms = 0;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  int registers = 0, spilled = 0;

  void compile() {
    const char* const options[] = {ptx ? "-arch=compute_90a" : "-arch=sm_90a", "--std=c++17",
                                   "--minimal"};
    const double begin = now_us();
    nvrtcProgram program;
    nvrtcCreateProgram(&program, text.c_str(), "generated.cu", 0, nullptr, nullptr);
    const nvrtcResult status = nvrtcCompileProgram(program, 3, options);
    size_t size = 0;
    if (status != NVRTC_SUCCESS) {
      nvrtcGetProgramLogSize(program, &size);
      log.resize(size);
      nvrtcGetProgramLog(program, &log[0]);
    } else {
      ptx ? nvrtcGetPTXSize(program, &size) : nvrtcGetCUBINSize(program, &size);
      code.resize(size);
      ptx ? nvrtcGetPTX(program, code.data()) : nvrtcGetCUBIN(program, code.data());
    }
    nvrtcDestroyProgram(&program);
    ms = (now_us() - begin) / 1e3;
  }
  bool load(int shared = 0) {
    if (code.empty()) {
      printf("REFUSED %.1500s\n", log.c_str());
      return false;
    }
    CHECK_DRIVER(
        cuLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK_DRIVER(cuLibraryGetKernel(&kernel, library, "generated"));
    CHECK_DRIVER(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
    CHECK_DRIVER(cuKernelGetAttribute(&spilled, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel, 0));
    if (shared > 48 << 10) {
      CHECK_DRIVER(
          cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared, kernel, 0));
    }
    return true;
  }
  void unload() {
    if (library) {
      CHECK_DRIVER(cuLibraryUnload(library));
      library = nullptr;
    }
  }
  void launch(dim3 grid, dim3 block, int shared, int cluster, bool dependent, cudaStream_t stream,
              void** arguments) const {
    CUlaunchConfig config = {};
    CUlaunchAttribute attribute[2];
    config.gridDimX = grid.x;
    config.gridDimY = grid.y;
    config.gridDimZ = grid.z;
    config.blockDimX = block.x;
    config.blockDimY = block.y;
    config.blockDimZ = block.z;
    config.sharedMemBytes = (unsigned)shared;
    config.hStream = stream;
    config.attrs = attribute;
    if (cluster > 1) {
      attribute[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute[config.numAttrs].value.clusterDim.x = (unsigned)cluster;
      attribute[config.numAttrs].value.clusterDim.y = 1;
      attribute[config.numAttrs++].value.clusterDim.z = 1;
    }
    if (dependent) {
      attribute[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute[config.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
    }
    CHECK_DRIVER(cuLaunchKernelEx(&config, (CUfunction)kernel, arguments, nullptr));
  }
};

/* `work(i)` for each i below `count`, on so many threads; 0: on all the machine has. */
template <class Work>
void in_parallel(size_t count, unsigned threads, Work work) {
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < std::max(1u, threads ? threads : std::thread::hardware_concurrency());
       t++) {
    workers.emplace_back([&] {
      for (size_t i = next++; i < count; i = next++) {
        work(i);
      }
    });
  }
  for (std::thread& w : workers) {
    w.join();
  }
}
/* Compiles all; returns the milliseconds that took. */
template <class Item>
double compile_all(std::vector<Item>& items, unsigned threads = 0) {
  const double begin = now_us();
  in_parallel(items.size(), threads, [&](size_t i) { items[i].generated.compile(); });
  return (now_us() - begin) / 1e3;
}

/* `text` behind a macro for each NAME of the list. */
inline std::string with_macros(const std::vector<std::pair<std::string, std::string>>& macros,
                               const std::string& text) {
  std::string whole = generated_head;
  for (const auto& m : macros) {
    whole += "#define " + m.first + " " + m.second + "\n";
  }
  return whole + text;
}
