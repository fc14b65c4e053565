/* Data errors that a kernel notices: a word in device or in host memory that it writes and goes on,
 * against a trap; what the check, the report, clearing and reading back cost.
 *
 *   device_errors
 *   device_errors --check      for the sanitizers */
#include <climits>
#include <cstring>

#include "small_chain.cuh"

enum way_t { UNCHECKED, CLAMPED, PLAIN_STORE, FIRST_WINS, ONE_A_WARP, ONCE, LOOK_THEN_FIRST, TRAP };
static const char* const way_names[] = {"unchecked",
                                        "clamped, silent",
                                        "each thread stores",
                                        "first wins (atomicCAS)",
                                        "one lane a warp stores",
                                        "stores if the word is still 0",
                                        "atomicCAS if the word is still 0",
                                        "trap"};

/* `where`: what the host reads; the step in the upper half, the value in the lower. */
template <int WAY>
__device__ __forceinline__ int report(int index, int limit, unsigned long long* word,
                                      unsigned step) {
  if (WAY == UNCHECKED) {
    return index;
  }
  if ((unsigned)index < (unsigned)limit) {
    return index;
  }
  const unsigned long long what = (unsigned long long)step << 32 | (unsigned)index;
  if (WAY == PLAIN_STORE) {
    *(volatile unsigned long long*)word = what;
  } else if (WAY == FIRST_WINS) {
    atomicCAS_system(word, 0ull, what);
  } else if (WAY == ONE_A_WARP) {
    if ((threadIdx.x & 31) == __ffs(__activemask()) - 1) {
      *(volatile unsigned long long*)word = what;
    }
  } else if (WAY == ONCE) {
    if (*(volatile unsigned long long*)word == 0) {
      *(volatile unsigned long long*)word = what;
    }
  } else if (WAY == LOOK_THEN_FIRST) {
    if (*(volatile unsigned long long*)word == 0) {
      atomicCAS(word, 0ull, what);
    }
  } else if (WAY == TRAP) {
    asm volatile("trap;");
  }
  return 0;
}

/* Rows of 768 halves by index, 16 bytes a thread: an embedding. */
enum { WIDTH = 768, VOCABULARY = 30522, PIECES = WIDTH / 8 };
template <int WAY>
static __global__ void gather(const uint4* table, const int* index, uint4* out, int rows,
                              unsigned long long* word, unsigned step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / PIECES, piece = i % PIECES;
  if (row < rows) {
    const int at = report<WAY>(index[row], VOCABULARY, word, step);
    out[i] = table[(size_t)at * PIECES + piece];
  }
}
/* Integer division: elements whose divisor is 0. */
template <int WAY>
static __global__ void divide(const int4* a, const int4* b, int4* out, int n,
                              unsigned long long* word, unsigned step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int4 x = a[i], y = b[i];
    auto one = [&](int p, int q) { return q == 0 ? report<WAY>(-1, 1, word, step) : p / q; };
    out[i] = make_int4(one(x.x, y.x), one(x.y, y.y), one(x.z, y.z), one(x.w, y.w));
  }
}

static unsigned long long *in_device, *in_host, *in_host_seen; /* the last as the device sees it */

/* `most`: how many wrong ones this way bears; an atomic on host memory takes 100 us each. */
template <int WAY>
static void cost(unsigned long long* word, const char* place, bool check, int most = INT_MAX) {
  const uint4* table = (const uint4*)random_half((size_t)VOCABULARY * WIDTH, 1, 1);
  static const int all_rows[] = {128, 32768};
  for (int rows : all_rows) {
    if (check && rows > 128) {
      continue;
    }
    int* index = device_new<int>(rows);
    uint4* out = device_new<uint4>((size_t)rows * PIECES);
    std::vector<int> host(rows);
    printf("GATHER %d rows, %s, %s:", rows, way_names[WAY], place);
    for (int wrong : {0, 1, rows}) {
      if (((WAY == UNCHECKED || WAY == TRAP) && wrong) || wrong > most ||
          (check && wrong && WAY == ONCE)) {
        continue;
      }
      for (int i = 0; i < rows; i++) {
        host[i] = (int)((unsigned)i * 2654435761u % VOCABULARY);
      }
      for (int i = 0; i < wrong; i++) {
        host[rows - 1 - i] = VOCABULARY + 5;
      }
      CHECK(cudaMemcpy(index, host.data(), rows * 4, cudaMemcpyHostToDevice));
      CHECK(cudaMemset(in_device, 0, 64));
      memset(in_host, 0, 64);
      const spread_t t = step_time(
          [&](cudaStream_t s, int) {
            gather<WAY>
                <<<(rows * PIECES + 255) / 256, 256, 0, s>>>(table, index, out, rows, word, 7);
          },
          check ? 1 : 15, check ? 1 : 20, check ? 2 : 60);
      unsigned long long got = *in_host;
      if (word == in_device) {
        CHECK(cudaMemcpy(&got, in_device, 8, cudaMemcpyDeviceToHost));
      }
      const bool right = got == (wrong && WAY != CLAMPED ? (7ull << 32 | (VOCABULARY + 5)) : 0);
      printf(" %d wrong %.2f us (%.2f-%.2f)%s;", wrong, t.median, t.low, t.high,
             right ? "" : " WRONG WORD");
    }
    printf("\n");
    CHECK(cudaFree(index));
    CHECK(cudaFree(out));
  }
  const int n = check ? 4096 : 4 << 20; /* of four */
  int4* a = (int4*)random_half((size_t)n * 8, 1, 3);
  int4* b = (int4*)random_half((size_t)n * 8, 1, 4);
  int4* c = device_new<int4>(n);
  printf("DIVIDE %d numbers, %s, %s:", n * 4, way_names[WAY], place);
  for (int wrong : {0, 1, n}) {
    if (((WAY == UNCHECKED || WAY == TRAP) && wrong) || wrong > most) {
      continue;
    }
    CHECK(cudaMemset(b, wrong == n ? 0 : 0x11, (size_t)n * 16));
    if (wrong == 1) {
      CHECK(cudaMemset(b + n / 2, 0, 16));
    }
    const spread_t t =
        step_time([&](cudaStream_t s,
                      int) { divide<WAY><<<(n + 255) / 256, 256, 0, s>>>(a, b, c, n, word, 7); },
                  check ? 1 : 5, 1, check ? 2 : 5);
    printf(" %s %.2f us (%.2f-%.2f);",
           wrong == n ? "all wrong"
           : wrong    ? "4 wrong"
                      : "none wrong",
           t.median, t.low, t.high);
  }
  printf("\n");
  for (void* p : {(void*)table, (void*)a, (void*)b, (void*)c}) {
    CHECK(cudaFree(p));
  }
}

static __global__ void skip_if_failed(const unsigned long long* word, const uint4* x, uint4* y) {
  if (word && *(volatile const unsigned long long*)word) {
    return;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}

/* Around a graph of 50 layers: who brings the words to the host, who clears them. */
static void read_back() {
  chain_t chain;
  enum { STEPS = 256 };
  unsigned long long* words = device_new<unsigned long long>(STEPS);
  CHECK(cudaMemset(words, 0, STEPS * 8));
  unsigned long long *pinned, *mapped, *mapped_seen;
  CHECK(cudaMallocHost((void**)&pinned, STEPS * 8));
  CHECK(cudaHostAlloc((void**)&mapped, STEPS * 8, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&mapped_seen, mapped, 0));
  memset(mapped, 0, STEPS * 8);
  graph_t bare([&](cudaStream_t s) { chain.enqueue(s, 50, true); });
  graph_t copied([&](cudaStream_t s) {
    chain.enqueue(s, 50, true);
    CHECK(cudaMemcpyAsync(pinned, words, 8, cudaMemcpyDeviceToHost, s));
  });
  graph_t cleared([&](cudaStream_t s) {
    CHECK(cudaMemsetAsync(words, 0, STEPS * 8, s));
    chain.enqueue(s, 50, true);
    CHECK(cudaMemcpyAsync(pinned, words, STEPS * 8, cudaMemcpyDeviceToHost, s));
  });
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  volatile unsigned long long seen = 0;
  auto report = [&](const char* name, auto work) {
    const spread_t t = host_time(work, 300, 30);
    printf("READ BACK %s: %.2f us (%.2f-%.2f)\n", name, t.median, t.low, t.high);
  };
  for (int round = 0; round < 2; round++) {
    report("nothing, 50 layers to the end", [&] {
      CHECK(cudaGraphLaunch(bare.exec, s));
      CHECK(cudaStreamSynchronize(s));
    });
    report("mapped host memory: one word looked at", [&] {
      CHECK(cudaGraphLaunch(bare.exec, s));
      CHECK(cudaStreamSynchronize(s));
      seen = *(volatile unsigned long long*)mapped;
    });
    report("mapped host memory: 256 words looked at", [&] {
      CHECK(cudaGraphLaunch(bare.exec, s));
      CHECK(cudaStreamSynchronize(s));
      unsigned long long all = 0;
      for (int i = 0; i < STEPS; i++) {
        all |= ((volatile unsigned long long*)mapped)[i];
      }
      seen = all;
    });
    report("device memory: copy node of 8 bytes at the end", [&] {
      CHECK(cudaGraphLaunch(copied.exec, s));
      CHECK(cudaStreamSynchronize(s));
      seen = pinned[0];
    });
    report("device memory: 256 words cleared in front, copied at the end", [&] {
      CHECK(cudaGraphLaunch(cleared.exec, s));
      CHECK(cudaStreamSynchronize(s));
      seen = pinned[0];
    });
    report("device memory: a blocking copy after the synchronisation", [&] {
      CHECK(cudaGraphLaunch(bare.exec, s));
      CHECK(cudaStreamSynchronize(s));
      unsigned long long word;
      CHECK(cudaMemcpyAsync(&word, words, 8, cudaMemcpyDeviceToHost, s));
      CHECK(cudaStreamSynchronize(s));
      seen = word;
    });
  }
  (void)seen;
  /* later kernels that look at the word first */
  uint4 *x = (uint4*)random_half(112 * 128 * 8, 1, 1), *y = device_new<uint4>(112 * 128);
  CHECK(cudaMemset(words, 0, 8));
  struct {
    const char* name;
    const unsigned long long* word;
  } looks[] = {{"no", nullptr},
               {"a word in device memory", words},
               {"a word in mapped host memory", mapped_seen}};
  for (const auto& l : looks) {
    const spread_t t =
        step_time([&](cudaStream_t q, int) { skip_if_failed<<<112, 128, 0, q>>>(l.word, x, y); });
    printf("LOOK FIRST at %s: %.2f us a kernel (%.2f-%.2f)\n", l.name, t.median, t.low, t.high);
  }
}

/* Whether the host, right behind the synchronisation, always sees the words that three steps store,
 * and nothing of a fourth that is right. */
static void always_seen(int rounds) {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const uint4* table = (const uint4*)random_half((size_t)VOCABULARY * WIDTH, 1, 1);
  int *index = device_new<int>(128), *right = device_new<int>(128);
  uint4* out = device_new<uint4>(128 * PIECES);
  CHECK(cudaMemset(index, 0x7f, 128 * 4));
  CHECK(cudaMemset(right, 0, 128 * 4));
  for (int event = 0; event < 2; event++) {
    int missed = 0;
    cudaEvent_t e;
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    volatile unsigned long long* words = in_host;
    for (int round = 0; round < rounds; round++) {
      words[0] = words[1] = words[2] = words[3] = 0;
      for (unsigned step = 0; step < 4; step++) {
        gather<PLAIN_STORE><<<48, 256, 0, s>>>(table, step < 3 ? index : right, out, 128,
                                               in_host_seen + step, step + 1);
      }
      if (event) {
        CHECK(cudaEventRecord(e, s));
        while (cudaEventQuery(e) == cudaErrorNotReady) {
        }
      } else {
        CHECK(cudaStreamSynchronize(s));
      }
      for (unsigned step = 0; step < 4; step++) {
        missed += words[step] != (step < 3 ? (step + 1ull) << 32 | 0x7f7f7f7f : 0);
      }
    }
    printf(
        "SEEN %d runs of four steps, three fail, a word in mapped host memory each: %d words not "
        "as "
        "they should be behind %s\n",
        rounds, missed, event ? "an event" : "a synchronisation");
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  small_chain_setup();
  in_device = device_new<unsigned long long>(8);
  CHECK(cudaHostAlloc((void**)&in_host, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&in_host_seen, in_host, 0));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  printf("ATOMICS on host memory supported natively: %d\n", properties.hostNativeAtomicSupported);
  cost<UNCHECKED>(in_device, "-", check);
  cost<CLAMPED>(in_device, "-", check);
  cost<TRAP>(in_device, "-", check);
  for (unsigned long long* word : {in_device, in_host_seen}) {
    const char* place = word == in_device ? "device memory" : "mapped host memory";
    cost<PLAIN_STORE>(word, place, check);
    cost<ONE_A_WARP>(word, place, check);
    if (word == in_device) {
      cost<FIRST_WINS>(word, place, check);
      cost<ONCE>(word, place, check);
      cost<LOOK_THEN_FIRST>(word, place, check);
    } else {
      if (!check) { /* the sanitizer takes an atomic of the whole system on host memory for an error
                     */
        cost<FIRST_WINS>(word, place, check, 1);
      }
      cost<ONCE>(word, place, check, 1);
    }
  }
  always_seen(check ? 20 : 2000);
  if (!check) {
    read_back();
  }
}
