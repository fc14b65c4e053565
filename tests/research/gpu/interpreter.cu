/* An elementwise expression by a kernel that interprets it against one that NVRTC compiled for it.
 *
 *   interpreter --check      for the sanitizers */
#include "interpreter.cuh"

#include <cstring>

struct problem_t {
  const char* name;
  expression_t e;
};

static void measure(const problem_t& p, unsigned n, bool check) {
  const size_t bytes = (size_t)n * 2 * (size_t)(p.e.inputs + 1);
  const int sets = (int)std::min<size_t>(8, std::max<size_t>(2, ((size_t)160 << 20) / bytes + 1));
  half* x = random_half((size_t)n * MOST_INPUTS * (size_t)sets, 2, 1);
  half* y = device_new<half>((size_t)n * (size_t)sets);
  auto operands = [&](int i) {
    operands_t o;
    for (int k = 0; k < MOST_INPUTS; k++) {
      o.x[k] = x + ((size_t)(i % sets) * MOST_INPUTS + (size_t)k) * n;
    }
    return o;
  };
  auto result = [&](int i) { return y + (size_t)(i % sets) * n; };
  std::vector<half> hx((size_t)n * MOST_INPUTS), hy(n);
  CHECK(cudaMemcpy(hx.data(), x, hx.size() * 2, cudaMemcpyDeviceToHost));
  std::vector<double> expected;
  const size_t stride = n > 1 << 20 ? 61 : 1; /* of large ones, a part */
  for (size_t i = 0; i < n; i += stride) {
    double inputs[MOST_INPUTS];
    for (int k = 0; k < MOST_INPUTS; k++) {
      inputs[k] = (double)(float)hx[(size_t)k * n + i];
    }
    expected.push_back(on_host(p.e, inputs));
  }
  printf("EXPRESSION %s: %d instructions, %d inputs, %u elements; bytes %.2f us:", p.name,
         p.e.count, p.e.inputs, n, (double)bytes / 2.98e6);
  auto show = [&](const char* name, auto step) {
    CHECK(cudaMemset(y, 0xff, (size_t)n * 2));
    CHECK(cudaDeviceSynchronize());
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, name);
    CHECK(cudaMemcpy(hy.data(), y, (size_t)n * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (size_t i = 0, k = 0; i < n; i += stride, k++) {
      difference += ((double)(float)hy[i] - expected[k]) * ((double)(float)hy[i] - expected[k]);
      size += expected[k] * expected[k];
    }
    const double error = std::sqrt(difference / size);
    const bool large = n > 4 << 20;
    const spread_t us =
        check ? spread_t{0, 0, 0} : step_time(step, 9, large ? 4 : 16, large ? 12 : 48);
    printf(" %s %.2f (%.2f-%.2f), error %.1e%s;", name, us.median, us.low, us.high, error,
           error < 1e-3 ? "" : " WRONG");
  };
  generated_t g;
  g.text = with_macros({}, generated_body(p.e, "generated"));
  g.compile();
  if (g.load()) {
    show("generated", [&](cudaStream_t s, int i) {
      operands_t o = operands(i);
      half* out = result(i);
      void* arguments[] = {&o.x[0], &o.x[1], &o.x[2], &o.x[3], &out, (void*)&n};
      g.launch(dim3((n / 8 + 127) / 128), dim3(128), 0, 1, true, s, arguments);
    });
    g.unload();
  }
  auto interpreted = [&](const char* name, auto kernel, int vector, size_t shared) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    show(name, [&](cudaStream_t s, int i) {
      CHECK(launch(kernel, dim3((n / (unsigned)vector + 127) / 128), 128, shared, dim3(1), true, s,
                   p.e, operands(i), result(i), n));
    });
  };
  interpreted("slots in shared memory, 8", slots_in_shared<8>, 8, (size_t)SLOTS * 128 * 8 * 4);
  interpreted("slots in shared memory, 4", slots_in_shared<4>, 4, (size_t)SLOTS * 128 * 4 * 4);
  interpreted("slots in registers, 8", slots_in_registers<8>, 8, 0);
  interpreted("slots in registers, 4", slots_in_registers<4>, 4, 0);
  printf(" compiled in %.0f ms\n", g.ms);
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  const problem_t all[] = {{"relu(x * s + b) + r", short_expression()},
                           {"gelu(x) + r", gelu_expression()},
                           {"of 30", random_expression(30, 4, 7)},
                           {"of 60", random_expression(60, 4, 8)}};
  for (const problem_t& p : all) {
    for (unsigned n : {16384u, 1u << 20, 1u << 25}) {
      if (!check || n == 16384) {
        measure(p, check ? 1832 : n, check);
      }
    }
  }
}
