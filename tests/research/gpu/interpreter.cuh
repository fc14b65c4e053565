/* An expression as a list of instructions: executed by a kernel that was compiled beforehand,
 * written down as a kernel for NVRTC, and computed on the host. fp16 in and out, fp32 between. */
#pragma once

#include "generated.cuh"
#include "hopper.cuh"

enum op_t {
  ADD,
  SUB,
  MUL,
  MAXIMUM,
  ADD_NUMBER,
  MUL_NUMBER,
  MAXIMUM_NUMBER,
  EXP,
  TANH,
  SIGMOID,
  OPS
};
enum { MOST_INSTRUCTIONS = 64, MOST_INPUTS = 4, SLOTS = 8 };
struct instruction_t {
  uint8_t op, a, b, to;
  float number;
};
/* The inputs come first in the slots; what the last instruction writes is the result. */
struct expression_t {
  int count, inputs;
  instruction_t at[MOST_INSTRUCTIONS];
};
struct operands_t {
  const half* x[MOST_INPUTS];
};

/* One text for the device, the host and NVRTC. */
#define APPLY(op, x, y, number)                          \
  ((op) == ADD              ? (x) + (y)                  \
   : (op) == SUB            ? (x) - (y)                  \
   : (op) == MUL            ? (x) * (y)                  \
   : (op) == MAXIMUM        ? fmax((x), (y))             \
   : (op) == ADD_NUMBER     ? (x) + (number)             \
   : (op) == MUL_NUMBER     ? (x) * (number)             \
   : (op) == MAXIMUM_NUMBER ? fmax((x), (number))        \
   : (op) == EXP            ? exp(x)                     \
   : (op) == TANH           ? 1 - 2 / (1 + exp(2 * (x))) \
                            : 1 / (1 + exp(-(x))))

inline double on_host(const expression_t& e, const double* inputs) {
  double slot[SLOTS] = {};
  std::copy(inputs, inputs + e.inputs, slot);
  for (int i = 0; i < e.count; i++) {
    const instruction_t& n = e.at[i];
    slot[n.to] = APPLY(n.op, slot[n.a], slot[n.b], (double)n.number);
  }
  return slot[e.at[e.count - 1].to];
}

/* Expressions as networks have them, and others by a seed: they stay small in value. */
inline expression_t short_expression() { /* relu(x * s + b) + r */
  return {4,
          2,
          {{MUL_NUMBER, 0, 0, 2, 0.75f},
           {ADD_NUMBER, 2, 0, 2, 0.125f},
           {MAXIMUM_NUMBER, 2, 0, 2, 0},
           {ADD, 2, 1, 2, 0}}};
}
inline expression_t gelu_expression() { /* by tanh, and a residual */
  return {10,
          2,
          {{MUL, 0, 0, 2, 0},
           {MUL_NUMBER, 2, 0, 2, 0.044715f},
           {ADD_NUMBER, 2, 0, 2, 1},
           {MUL, 2, 0, 2, 0},
           {MUL_NUMBER, 2, 0, 2, 0.79788456f},
           {TANH, 2, 0, 2, 0},
           {ADD_NUMBER, 2, 0, 2, 1},
           {MUL, 2, 0, 2, 0},
           {MUL_NUMBER, 2, 0, 2, 0.5f},
           {ADD, 2, 1, 2, 0}}};
}
inline expression_t random_expression(int count, int inputs, unsigned seed) {
  expression_t e = {count, inputs, {}};
  auto next = [&](unsigned below) {
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % below;
  };
  int known = inputs;
  for (int i = 0; i < count; i++) {
    instruction_t& n = e.at[i];
    n.op = (uint8_t)next(OPS);
    n.op = n.op == EXP || n.op == ADD_NUMBER ? (uint8_t)TANH : n.op; /* no growth without end */
    n.op = (i % 8 < 5 && n.op >= TANH) ? (uint8_t)MUL_NUMBER : n.op; /* three of eight are dear */
    n.a = (uint8_t)(i == 0 ? 0 : e.at[i - 1].to);
    n.b = (uint8_t)next((unsigned)known);
    n.to = (uint8_t)(known < SLOTS ? known++ : inputs + (int)next((unsigned)(SLOTS - inputs)));
    n.number = 0.25f + (float)next(100) * 0.005f;
  }
  return e;
}

/* The kernel for NVRTC: a thread has eight neighbours, instructions one behind the other. */
inline std::string generated_body(const expression_t& e, const std::string& name) {
  static const char* const patterns[] = {"A + B",
                                         "A - B",
                                         "A * B",
                                         "fmaxf(A, B)",
                                         "A + N",
                                         "A * N",
                                         "fmaxf(A, N)",
                                         "__expf(A)",
                                         "1.f - __fdividef(2.f, 1.f + __expf(2.f * A))",
                                         "__fdividef(1.f, 1.f + __expf(-A))"};
  std::string t = "extern \"C\" __global__ void __launch_bounds__(128) " + name + "(";
  for (int i = 0; i < MOST_INPUTS; i++) {
    t += "const half* __restrict__ x" + std::to_string(i) + ", ";
  }
  t += "half* __restrict__ y, unsigned n) {\n  wait_for_predecessor();\n  release_dependents();\n"
       "  const unsigned i = (blockIdx.x * 128 + threadIdx.x) * 8;\n  if (i >= n) return;\n"
       "  typedef pack<half, 8> pack_t;\n";
  for (int i = 0; i < e.inputs; i++) {
    const std::string k = std::to_string(i);
    t += "  const pack_t p" + k + " = *(const pack_t*)(x" + k + " + i);\n";
  }
  t += "  pack_t out;\n#pragma unroll\n  for (int k = 0; k < 8; k++) {\n    float s[" +
       std::to_string(SLOTS) + "];\n";
  for (int i = 0; i < e.inputs; i++) {
    t += "    s[" + std::to_string(i) + "] = load(p" + std::to_string(i) + ".v[k]);\n";
  }
  for (int i = 0; i < e.count; i++) {
    const instruction_t& in = e.at[i];
    char number[40];
    snprintf(number, sizeof number, "%.9ef", (double)in.number);
    std::string text;
    for (const char* c = patterns[in.op]; *c; c++) {
      text += *c == 'A'   ? "s[" + std::to_string(in.a) + "]"
              : *c == 'B' ? "s[" + std::to_string(in.b) + "]"
              : *c == 'N' ? number
                          : std::string(1, *c);
    }
    t += "    s[" + std::to_string(in.to) + "] = " + text + ";\n";
  }
  return t + "    out.v[k] = convert<half>::store(s[" + std::to_string(e.at[e.count - 1].to) +
         "]);\n  }\n  *(pack_t*)(y + i) = out;\n}\n";
}

template <int V>
static __device__ __forceinline__ void apply(const instruction_t& n, float (&a)[V],
                                             const float (&b)[V]) {
  switch (n.op) { /* the same for all threads: a branch, no divergence */
#define CASE(name, what)                                       \
  case name:                                                   \
    _Pragma("unroll") for (int k = 0; k < V; k++) a[k] = what; \
    break;
    CASE(ADD, a[k] + b[k])
    CASE(SUB, a[k] - b[k])
    CASE(MUL, a[k] * b[k])
    CASE(MAXIMUM, fmaxf(a[k], b[k]))
    CASE(ADD_NUMBER, a[k] + n.number)
    CASE(MUL_NUMBER, a[k] * n.number)
    CASE(MAXIMUM_NUMBER, fmaxf(a[k], n.number))
    CASE(EXP, __expf(a[k]))
    CASE(TANH, 1.f - __fdividef(2.f, 1.f + __expf(2.f * a[k])))
    CASE(SIGMOID, __fdividef(1.f, 1.f + __expf(-a[k])))
#undef CASE
  }
}
template <int V>
static __device__ __forceinline__ void read_input(const half* x, float (&out)[V]) {
  if constexpr (V == 8) {
    unpack_halves(__ldcg((const uint4*)x), out);
  } else {
    static_assert(V == 4, "no such access here");
    const uint2 bits = __ldcg((const uint2*)x);
    const float2 f = unpack_half(bits.x), g = unpack_half(bits.y);
    out[0] = f.x;
    out[1] = f.y;
    out[2] = g.x;
    out[3] = g.y;
  }
}
template <int V>
static __device__ __forceinline__ void write_result(half* y, const float (&a)[V]) {
  uint32_t words[V / 2];
#pragma unroll
  for (int i = 0; i < V / 2; i++) {
    words[i] = pack_half(a[2 * i], a[2 * i + 1]);
  }
  if constexpr (V == 8) {
    *(uint4*)y = *(const uint4*)words;
  } else {
    *(uint2*)y = *(const uint2*)words;
  }
}

/* Slots in shared memory, 16 bytes a thread beside one another. */
template <int V>
static __global__ void __launch_bounds__(128)
    slots_in_shared(const __grid_constant__ expression_t e, const __grid_constant__ operands_t o,
                    half* y, unsigned n) {
  extern __shared__ float4 slots[];
  const unsigned i = (blockIdx.x * 128 + threadIdx.x) * V;
  wait_for_predecessor();
  release_dependents();
  if (i >= n) {
    return;
  }
  auto keep = [&](int slot, const float(&v)[V]) {
#pragma unroll
    for (int h = 0; h < V / 4; h++) {
      slots[(slot * (V / 4) + h) * 128 + threadIdx.x] = *(const float4*)(v + 4 * h);
    }
  };
  auto fetch = [&](int slot, float(&v)[V]) {
#pragma unroll
    for (int h = 0; h < V / 4; h++) {
      *(float4*)(v + 4 * h) = slots[(slot * (V / 4) + h) * 128 + threadIdx.x];
    }
  };
  alignas(16) float a[V], b[V] = {};
  for (int k = 0; k < e.inputs; k++) {
    read_input<V>(o.x[k] + i, a);
    keep(k, a);
  }
  int last = -1; /* whose value `a` still holds */
  for (int k = 0; k < e.count; k++) {
    const instruction_t in = e.at[k];
    if (in.op <= MAXIMUM) {
      fetch(in.b, b);
    }
    if (in.a != last) {
      fetch(in.a, a);
    }
    apply<V>(in, a, b);
    keep(in.to, a);
    last = in.to;
  }
  write_result<V>(y + i, a);
}

/* Slots in registers: which one is a branch, the same for all threads. */
template <int V>
static __global__ void __launch_bounds__(128)
    slots_in_registers(const __grid_constant__ expression_t e, const __grid_constant__ operands_t o,
                       half* y, unsigned n) {
  const unsigned i = (blockIdx.x * 128 + threadIdx.x) * V;
  wait_for_predecessor();
  release_dependents();
  if (i >= n) {
    return;
  }
  float slot[SLOTS][V] = {}, a[V] = {}, b[V] = {};
#define WITH_SLOT(number, what) \
  switch (number) {             \
    case 0: {                   \
      constexpr int S = 0;      \
      what                      \
    } break;                    \
    case 1: {                   \
      constexpr int S = 1;      \
      what                      \
    } break;                    \
    case 2: {                   \
      constexpr int S = 2;      \
      what                      \
    } break;                    \
    case 3: {                   \
      constexpr int S = 3;      \
      what                      \
    } break;                    \
    case 4: {                   \
      constexpr int S = 4;      \
      what                      \
    } break;                    \
    case 5: {                   \
      constexpr int S = 5;      \
      what                      \
    } break;                    \
    case 6: {                   \
      constexpr int S = 6;      \
      what                      \
    } break;                    \
    default: {                  \
      constexpr int S = 7;      \
      what                      \
    } break;                    \
  }
#define ALL_OF(what)                              \
  _Pragma("unroll") for (int k = 0; k < V; k++) { \
    what;                                         \
  }
#pragma unroll
  for (int k = 0; k < MOST_INPUTS; k++) {
    if (k < e.inputs) {
      read_input<V>(o.x[k] + i, slot[k]);
    }
  }
  int last = -1;
  for (int p = 0; p < e.count; p++) {
    const instruction_t in = e.at[p];
    if (in.op <= MAXIMUM) {
      WITH_SLOT(in.b, ALL_OF(b[k] = slot[S][k]))
    }
    if (in.a != last) {
      WITH_SLOT(in.a, ALL_OF(a[k] = slot[S][k]))
    }
    apply<V>(in, a, b);
    WITH_SLOT(in.to, ALL_OF(slot[S][k] = a[k]))
    last = in.to;
  }
#undef ALL_OF
#undef WITH_SLOT
  write_result<V>(y + i, a);
}
