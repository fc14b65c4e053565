/* Attention of one new token over a cache of 128 to 8192 rows: parts of the past in blocks of their
 * own, put together in three ways, the cache in one piece or in pages, against cuDNN's operation.
 *
 *   decode_attention --check      for the sanitizers */
#include "decode_attention.cuh"

#include <cstring>

#include "operation_graph.cuh"

static cudnnHandle_t handle;

struct model_t {
  const char* name;
  int query_heads, heads, width;
};
struct problem_t {
  model_t m;
  int batch, length, room, sets;
  cache_t c = {};
  size_t set_size; /* elements of keys, and of values, in one set */
  double* expected;
  int *whole_table, *no_order; /* pages one behind the other, and shuffled */
  bool check;

  problem_t(const model_t& m, int batch, int length, bool check)
      : m(m), batch(batch), length(length), room((length + 127) / 128 * 128), check(check) {
    set_size = (size_t)batch * m.heads * room * m.width;
    const size_t queries = (size_t)batch * m.query_heads * m.width;
    sets = check ? 1 : (int)std::min<size_t>(48, ((size_t)256 << 20) / (set_size * 4) + 1);
    c.q = random_half(queries, 1.5f, 1);
    c.keys = random_half(set_size * (size_t)sets, 1.5f, 2);
    c.values = random_half(set_size * (size_t)sets, 1, 3);
    c.y = device_new<half>(queries);
    expected = device_new<double>(queries);
    c.partial = device_new<float>((size_t)batch * MOST_PARTS * m.query_heads * (m.width + 2));
    c.arrived = device_new<unsigned>((size_t)batch * m.heads);
    CHECK(cudaMemset(c.arrived, 0, (size_t)batch * m.heads * 4));
    c.lengths = put(std::vector<int>((size_t)batch, length));
    c.room = room;
    c.heads = m.heads;
    c.pitch = m.query_heads * m.width;
    c.scale = 1 / sqrtf((float)m.width);
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (const void* p : {(const void*)c.q, (const void*)c.keys, (const void*)c.values,
                          (const void*)c.y, (const void*)expected, (const void*)c.partial,
                          (const void*)c.arrived, (const void*)c.lengths}) {
      cudaFree((void*)p);
    }
  }
  static int* put(const std::vector<int>& host) {
    int* p = device_new<int>(host.size());
    CHECK(cudaMemcpy(p, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    return p;
  }
  cache_t set(int i) const {
    cache_t s = c;
    s.keys += (size_t)(i % sets) * set_size;
    s.values += (size_t)(i % sets) * set_size;
    return s;
  }
  /* Where each page of a sequence lies: no two neighbours beside one another. */
  int* make_table(int page) const {
    const int pages = batch * room / page;
    std::vector<int> table((size_t)pages);
    int stride = pages / 2 * 2 / 3 | 1;
    for (bool prime = false; !prime; stride += prime ? 0 : 2) {
      int a = stride, b = pages;
      while (b) {
        std::swap(a, b);
        b %= a;
      }
      prime = a == 1;
    }
    for (int i = 0; i < pages; i++) {
      table[(size_t)i] = (int)((long long)i * stride % pages);
    }
    return put(table);
  }
  size_t results() const {
    return (size_t)batch * m.query_heads * m.width;
  }
  /* The error of one run, the result poisoned before it. */
  template <class Step>
  double error_alone(Step step) const {
    CHECK(cudaMemset(c.y, 0xff, results() * 2));
    CHECK(cudaDeviceSynchronize());
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, "decode");
    return relative_error(c.y, expected, results());
  }
  template <class Step>
  spread_t time_of(Step step) const {
    return check ? spread_t{0, 0, 0} : step_time(step, 7, 8, 32);
  }
};

enum { ROWS_4, ROWS_8, MATRIX, MATRIX_AHEAD, KERNELS };
static const char* const kernel_names[] = {"no matrix instructions, 4 rows ahead", "the same, 8",
                                           "matrix instructions", "the same, the next ahead"};
struct way_t {
  int kernel, parts, combine;
  bool old_first;
};
static std::string words_of(const way_t& w) {
  static const char* const names[] = {"a launch behind", "last block", "cluster"};
  return std::string(kernel_names[w.kernel]) + ", " + std::to_string(w.parts) + " parts, " +
         names[w.combine] + (w.old_first ? "" : ", nothing before the wait");
}

template <int WIDTH, int GROUP, int PAGE>
static void step_of(const problem_t& p, const way_t& w, cudaStream_t s, int i) {
#define ALL_OF(kernel, ahead)                                                                 \
  {                                                                                           \
    kernel<WIDTH, GROUP, PAGE, BY_LAUNCH, ahead>, kernel<WIDTH, GROUP, PAGE, BY_LAST, ahead>, \
        kernel<WIDTH, GROUP, PAGE, BY_CLUSTER, ahead>                                         \
  }
  static void (*const kernels[KERNELS][3])(const cache_t, bool) = {
      ALL_OF(decode, 4), ALL_OF(decode, 8), ALL_OF(decode_matrix, 1), ALL_OF(decode_matrix, 2)};
#undef ALL_OF
  const cache_t c = p.set(i);
  const auto kernel = kernels[w.kernel][w.combine];
  if (w.combine == BY_CLUSTER && w.parts > 8) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  const dim3 grid((unsigned)w.parts, (unsigned)p.m.heads, (unsigned)p.batch);
  CHECK(launch(kernel, grid, 128, 0, dim3(w.combine == BY_CLUSTER ? (unsigned)w.parts : 1), true, s,
               c, w.old_first));
  if (w.combine == BY_LAUNCH && w.parts > 1) {
    CHECK(launch(combine_behind<WIDTH, GROUP>, dim3((unsigned)(p.batch * p.m.heads)), 128, 0,
                 dim3(1), true, s, c, w.parts));
  }
}

template <int WIDTH, int GROUP, int PAGE>
static void expect(const problem_t& p) {
  const auto kernel = plain_decode<WIDTH, GROUP, PAGE>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 << 10));
  kernel<<<dim3((unsigned)p.m.query_heads, (unsigned)p.batch), WIDTH, (size_t)p.length * 8>>>(
      p.set(0), p.expected);
  CHECK(cudaGetLastError());
}

template <int WIDTH, int GROUP, int PAGE>
static spread_t show(const problem_t& p, const way_t& w, const char* name, bool quiet = false) {
  auto step = [&](cudaStream_t s, int i) { step_of<WIDTH, GROUP, PAGE>(p, w, s, i); };
  const double error = p.error_alone(step);
  const spread_t us = p.time_of(step);
  if (!quiet || !(error < 1e-3)) {
    printf("    %s: %.2f (%.2f-%.2f), error %.1e%s [%s]\n", name, us.median, us.low, us.high, error,
           error < 1e-3 ? "" : " WRONG", words_of(w).c_str());
  }
  return us;
}

/* cuDNN's operation: the length known, or read from the device, or in pages besides. */
static cudnnStatus_t build(dnn_graph_t& g, problem_t& p, bool open, int page, int* table) {
  const int64_t b = p.batch, h = p.m.query_heads, k = p.m.heads, w = p.m.width, room = p.room;
  const int64_t rows = open ? room : p.length;
  dnn_t o = g.make(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  const extents_t one = {1, 1, 1, 1}, query = {b, h, 1, w}, query_strides = {h * w, w, w, 1};
  const extents_t cache = page ? extents_t{b * room / page, k, page, w} : extents_t{b, k, rows, w};
  const int64_t in_head = page ? page : room;
  const extents_t cache_strides = {k * in_head * w, in_head * w, w, 1};
  auto give = [&](cudnnBackendAttributeName_t name, dnn_t tensor) {
    dnn_one(o, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor);
  };
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
       g.tensor(CUDNN_DATA_HALF, query, query_strides, (void*)p.c.q));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
       g.tensor(CUDNN_DATA_HALF, cache, cache_strides, (void*)p.c.keys));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,
       g.tensor(CUDNN_DATA_HALF, cache, cache_strides, (void*)p.c.values));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
       g.tensor(CUDNN_DATA_FLOAT, one, one, &p.c.scale, true));
  give(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, g.tensor(CUDNN_DATA_HALF, query, query_strides, p.c.y));
  if (open) {
    static int* ones = problem_t::put(std::vector<int>(64, 1));
    const extents_t list = {b, 1, 1, 1}, list_strides = {1, 1, 1, 1};
    give(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC,
         g.tensor(CUDNN_DATA_INT32, list, list_strides, ones, false, 4, 4));
    give(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC,
         g.tensor(CUDNN_DATA_INT32, list, list_strides, (void*)p.c.lengths, false, 4, 4));
  }
  if (page) {
    const int64_t pages = room / page;
    const extents_t list = {b, 1, pages, 1}, list_strides = {pages, pages, 1, 1};
    give(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC,
         g.tensor(CUDNN_DATA_INT32, list, list_strides, table, false, 4, 4));
    give(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC,
         g.tensor(CUDNN_DATA_INT32, list, list_strides, table, false, 4, 4));
  }
  g.operations.push_back(o);
  const cudnnStatus_t status = cudnnBackendFinalize(o);
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

static void library(problem_t& p, bool open, int* table) {
  const int page = table ? 64 : 0;
  dnn_graph_t g(handle);
  printf("  cuDNN%s%s:", open ? ", length on the device" : "", page ? ", pages of 64" : "");
  if (build(g, p, open, page, table) != CUDNN_STATUS_SUCCESS) {
    printf(" refused: %s\n", dnn_words().c_str());
    return;
  }
  const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
  if (found.empty()) {
    printf(" no proposal: %s\n", dnn_words().c_str());
  }
  for (size_t i = 0; i < found.size() && i < 2; i++) {
    dnn_plan_t plan;
    const double begin = now_us();
    if (plan.build(handle, found[i]) != CUDNN_STATUS_SUCCESS) {
      printf(" refused: %s;", dnn_words().c_str());
      continue;
    }
    const double built = (now_us() - begin) / 1e3;
    std::vector<dnn_t> packs;
    for (int s = 0; s < p.sets; s++) { /* one plan, a pack for each set */
      std::vector<void*> pointers = g.pointers;
      const cache_t set = p.set(s);
      for (void*& q : pointers) {
        q = q == p.c.keys ? (void*)set.keys : q == p.c.values ? (void*)set.values : q;
      }
      plan.pack = nullptr; /* else it would be destroyed */
      plan.bind(g.names, pointers);
      packs.push_back(plan.pack);
    }
    auto step = [&](cudaStream_t s, int n) {
      CHECK_DNN(cudnnSetStream(handle, s));
      CHECK_DNN(cudnnBackendExecute(handle, plan.plan, packs[(size_t)(n % p.sets)]));
    };
    const double error = p.error_alone(step);
    const spread_t us = p.time_of(step);
    printf(" engine %ld %.2f (%.2f-%.2f), error %.1e, workspace %ld, built in %.0f ms;",
           (long)engine_of(g, found[i]).index, us.median, us.low, us.high, error,
           (long)plan.workspace_bytes, built);
    for (size_t s = 0; s + 1 < packs.size(); s++) {
      cudnnBackendDestroyDescriptor(packs[s]); /* the last is the plan's own */
    }
  }
  printf("\n");
}

template <int WIDTH, int GROUP>
static void own(problem_t& p) {
  expect<WIDTH, GROUP, 0>(p);
  const double bytes = (double)p.batch * p.m.heads * p.length * WIDTH * 4;
  printf("  own, bytes %.2f us\n", bytes / 2.98e6);
  way_t first = {};
  spread_t first_us = {1e30, 0, 0};
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    for (int combine : {BY_LAUNCH, BY_LAST, BY_CLUSTER}) {
      way_t best = {};
      spread_t us = {1e30, 0, 0};
      for (int parts = combine == BY_LAUNCH ? 1 : 2;
           parts <= (combine == BY_CLUSTER ? 16 : (int)MOST_PARTS); parts *= 2) {
        if ((parts - 1) * STEP_ROWS >= p.length) {
          continue;
        }
        const way_t w = {kernel, parts, combine, true};
        const spread_t t = show<WIDTH, GROUP, 0>(p, w, "", !p.check);
        if (t.median < us.median) {
          us = t;
          best = w;
        }
      }
      printf("    best: %.2f (%.2f-%.2f) [%s]\n", us.median, us.low, us.high,
             words_of(best).c_str());
      if (us.median < first_us.median) {
        first_us = us;
        first = best;
      }
    }
  }
  way_t w = first;
  w.old_first = false;
  show<WIDTH, GROUP, 0>(p, w, "everything behind the wait");
  for (int page : {16, 64}) {
    int* const table = p.make_table(page);
    p.c.table = table;
    if (page == 16) {
      expect<WIDTH, GROUP, 16>(p);
      show<WIDTH, GROUP, 16>(p, first, "pages of 16");
    } else {
      expect<WIDTH, GROUP, 64>(p);
      show<WIDTH, GROUP, 64>(p, first, "pages of 64");
    }
    CHECK(cudaFree(table));
  }
  if (!p.check && (p.batch == 1 || (p.batch == 32 && (p.length == 512 || p.length == 8192)))) {
    expect<WIDTH, GROUP, 0>(p);
    library(p, false, nullptr);
    library(p, true, nullptr);
    int* const table = p.make_table(64);
    p.c.table = table;
    expect<WIDTH, GROUP, 64>(p);
    library(p, true, table);
    CHECK(cudaFree(table));
  }
}

static void measure(const model_t& m, int batch, int length, bool check) {
  problem_t p(m, batch, length, check);
  printf("DECODE %s: %d heads over %d of %d, batch %d, %d rows, %d sets\n", m.name, m.query_heads,
         m.heads, m.width, batch, length, p.sets);
  if (m.width == 64) {
    own<64, 1>(p);
  } else {
    own<128, 4>(p);
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  const model_t gpt = {"GPT-2", 12, 12, 64}, llama = {"Llama-3-8B", 32, 8, 128};
  if (check) {
    measure({"small", 2, 2, 64}, 2, 77, true);
    measure({"small", 8, 2, 128}, 2, 131, true);
    return 0;
  }
  CHECK_DNN(cudnnCreate(&handle));
  for (const model_t& m : {gpt, llama}) {
    for (int batch : {1, 8, 32}) {
      for (int length : {128, 512, 2048, 8192}) {
        measure(m, batch, length, false);
      }
    }
  }
}
