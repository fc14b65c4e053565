/* Generated elementwise kernels whose operands and results are slices, steps, turned or pieces of a
 * concatenation: what a stride costs, and which code for it is best. Compiled at run time, shapes
 * as constants where nothing else is said.
 *
 *   strided_expressions --check      for the sanitizers */
#include <cstring>

#include "generated.cuh"
#include "strided_kernels.cuh"

static std::string number(long long n) {
  return std::to_string(n);
}
/* Dependents may come early where all threads fit at once, in blocks of 128. */
static std::string release(size_t threads) {
  return threads <= (size_t)132 * 1536 ? "1" : "0";
}

struct view_t {
  int64_t offset; /* of the first element */
  int stride[4];
};
struct place_t { /* the kernel's parameter */
  unsigned extent[4], magic[4], shift[4];
  int a[4], b[4], y[4];
};

struct strided_t {
  std::string what;
  int extent[4];
  view_t a, y;
  int way = 0, vector = 8, a_width = 8, y_width = 8, shift = 0, index = 0, threads = 128, each = 1,
      aligned = 0;
  bool single = false; /* fp32 */
  generated_t generated;
  spread_t us = {NAN, NAN, NAN};
  size_t wrong = 0;

  size_t count() const {
    return (size_t)extent[0] * extent[1] * extent[2] * extent[3];
  }
  int row_packs() const {
    return extent[3] / vector + aligned;
  }
  size_t packs() const {
    return count() / (size_t)extent[3] * (size_t)row_packs();
  }
  view_t dense() const {
    return {0, {extent[1] * extent[2] * extent[3], extent[2] * extent[3], extent[3], 1}};
  }
  /* Elements of the memory that a view of these extents lies in. */
  size_t room(const view_t& v) const {
    int64_t last = v.offset;
    for (int k = 0; k < 4; k++) {
      last += v.stride[k] > 0 ? (int64_t)v.stride[k] * (extent[k] - 1) : 0;
    }
    return ((size_t)last + 1 + 15) / 16 * 16 + 16;
  }
  void write();
  place_t place() const;
};

/* floor(i / d) = (high(i * magic) + i) >> shift for i below 2^31 */
static void multiplier(unsigned d, unsigned* magic, unsigned* shift) {
  unsigned p = 0;
  while ((1u << p) < d) {
    p++;
  }
  *magic = (unsigned)(((1ull << 32) * ((1ull << p) - d)) / d + 1);
  *shift = p;
}

place_t strided_t::place() const {
  place_t p = {};
  const view_t b = dense();
  for (int k = 0; k < 4; k++) {
    p.extent[k] = (unsigned)(k == 3 ? row_packs() : extent[k]);
    multiplier(p.extent[k], &p.magic[k], &p.shift[k]);
    p.a[k] = a.stride[k];
    p.b[k] = b.stride[k];
    p.y[k] = y.stride[k];
  }
  return p;
}

void strided_t::write() {
  const view_t b = dense();
  std::vector<std::pair<std::string, std::string>> macros = {
      {"T", single ? "float" : "half"},
      {"V", number(vector)},
      {"THREADS", number(threads)},
      {"INDEX", number(index)},
      {"RELEASE", release(packs() / (size_t)each)},
      {"AWAY", number(way)},
      {"AW", number(a_width)},
      {"ASHIFT", number(shift)},
      {"BW", number(vector)},
      {"YW", number(y_width)},
      {"YWAY", number(aligned)},
      {"EACH", number(each)}};
  for (int k = 0; k < 4; k++) {
    macros.emplace_back("E" + number(k), number(extent[k]) + "u");
    macros.emplace_back("A" + number(k), number(a.stride[k]));
    macros.emplace_back("B" + number(k), number(b.stride[k]));
    macros.emplace_back("Y" + number(k), number(y.stride[k]));
  }
  generated.text = with_macros(macros, strided_text);
}

/* Counts what differs from the host's result beyond rounding, and what is written outside. */
template <class T>
static size_t wrong_of(const strided_t& s, const T* a, const T* b, const T* y) {
  std::vector<T> ha(s.room(s.a)), hb(s.count()), hy(s.room(s.y));
  CHECK(cudaMemcpy(ha.data(), a, ha.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hb.data(), b, hb.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hy.data(), y, hy.size() * sizeof(T), cudaMemcpyDeviceToHost));
  size_t wrong = 0;
  const T* at = hb.data();
  for (int c0 = 0; c0 < s.extent[0]; c0++) {
    for (int c1 = 0; c1 < s.extent[1]; c1++) {
      for (int c2 = 0; c2 < s.extent[2]; c2++) {
        for (int c3 = 0; c3 < s.extent[3]; c3++) {
          auto in = [&](const view_t& v) {
            return v.offset + (int64_t)c0 * v.stride[0] + (int64_t)c1 * v.stride[1] +
                   (int64_t)c2 * v.stride[2] + (int64_t)c3 * v.stride[3];
          };
          const double e =
              std::max((double)(float)ha[(size_t)in(s.a)] * 0.75 + (double)(float)*at++, 0.0);
          T& got = hy[(size_t)in(s.y)];
          const double d = std::fabs((double)(float)got - e);
          wrong += !(d <= (sizeof(T) == 2 ? 1e-3 : 1e-6));
          memset((void*)&got, 0xff, sizeof(T));
        }
      }
    }
  }
  for (size_t i = 0; i < hy.size(); i++) {
    const uint8_t* bytes = (const uint8_t*)&hy[i];
    wrong += bytes[0] != 0xff || bytes[1] != 0xff;
  }
  return wrong;
}

/* All kernels of a list share extents; sets of memory in turn, so that large ones leave the L2. */
template <class T>
static void measure(const char* title, std::vector<strided_t>& all, bool check) {
  for (strided_t& s : all) {
    s.write();
  }
  const double ms = compile_all(all);
  size_t room_a = 0, room_y = 0;
  for (const strided_t& s : all) {
    room_a = std::max(room_a, s.room(s.a));
    room_y = std::max(room_y, s.room(s.y));
  }
  const size_t n = all[0].count(), moved = (room_a + n + room_y) * sizeof(T);
  const int sets = (int)std::min<size_t>(8, std::max<size_t>(2, (192u << 20) / moved + 1));
  std::vector<T*> a, b, y;
  for (int i = 0; i < sets; i++) {
    a.push_back(random_of<T>(room_a, 1, 1 + (unsigned)i));
    b.push_back(random_of<T>(n, 1, 100 + (unsigned)i));
    y.push_back(device_new<T>(room_y));
  }
  printf("STRIDED %s, %s, %zu elements, bytes %.2f us, compiled in %.0f ms (first %.0f)\n", title,
         sizeof(T) == 2 ? "fp16" : "fp32", n, 3. * (double)(n * sizeof(T)) / 2.98e6, ms,
         all[0].generated.ms);
  for (strided_t& s : all) {
    if (!s.generated.load()) {
      continue;
    }
    place_t place = s.place();
    auto step = [&](cudaStream_t stream, int i) {
      const T *pa = a[(size_t)(i % sets)] + s.a.offset, *pb = b[(size_t)(i % sets)];
      T* py = y[(size_t)(i % sets)] + s.y.offset;
      void* arguments[] = {&pa, &pb, &py, &place};
      s.generated.launch(dim3((unsigned)((s.packs() + (size_t)(s.threads * s.each) - 1) /
                                         (size_t)(s.threads * s.each))),
                         dim3((unsigned)s.threads), 0, 1, true, stream, arguments);
    };
    CHECK(cudaMemset(y[0], 0xff, room_y * sizeof(T)));
    step(nullptr, 0);
    wait_or_die(nullptr, "strided");
    s.wrong = wrong_of<T>(s, a[0], b[0], y[0]);
    if (!check) {
      s.us = n > 2 << 20 ? step_time(step, 9, 8, 24) : step_time(step, 15, 16, 64);
    }
    printf("  %s [%d a thread, read by %d, written by %d]: %.2f (%.2f-%.2f), %d registers%s\n",
           s.what.c_str(), s.vector, s.a_width, s.y_width, s.us.median, s.us.low, s.us.high,
           s.generated.registers, s.wrong ? " WRONG" : "");
    s.generated.unload();
  }
  for (const auto& list : {a, b, y}) {
    for (T* p : list) {
      CHECK(cudaFree(p));
    }
  }
}

/* 64 channels of `pitch` behind `front`, read (or written); NHWC, images of 56x56. */
static strided_t slice(int images, int extent, int pitch, int front, bool output, int way,
                       int width) {
  strided_t s;
  s.extent[0] = images, s.extent[1] = extent, s.extent[2] = extent, s.extent[3] = 64;
  s.a = s.y = s.dense();
  (output ? s.y : s.a) = {front, {extent * extent * pitch, extent * pitch, pitch, 1}};
  s.way = output ? 0 : way;
  s.a_width = output ? 8 : width;
  s.y_width = output ? width : 8;
  s.shift = front % 8;
  s.what = std::string(output ? "written into" : "read from") + " " + number(pitch) + " behind " +
           number(front) + ", " +
           (way == 2   ? "shifted by a constant"
            : way == 3 ? "shifted by the address"
                       : "accesses of " + number(width));
  return s;
}

static void slices(bool check) {
  for (int images : {1, 32}) {
    if (check && images > 1) {
      continue;
    }
    const int e = check ? 6 : 56;
    std::vector<strided_t> all;
    all.push_back(slice(images, e, 64, 0, false, 0, 8));
    all.push_back(slice(images, e, 128, 64, false, 0, 8));
    all.push_back(slice(images, e, 128, 36, false, 0, 4));
    all.push_back(slice(images, e, 128, 34, false, 0, 2));
    all.push_back(slice(images, e, 128, 35, false, 0, 1));
    all.push_back(slice(images, e, 128, 35, false, 2, 8));
    all.push_back(slice(images, e, 128, 35, false, 3, 8));
    all.push_back(slice(images, e, 128, 36, false, 2, 8));
    all.push_back(slice(images, e, 99, 35, false, 0, 1));
    all.push_back(slice(images, e, 99, 35, false, 3, 8));
    all.push_back(slice(images, e, 128, 64, true, 0, 8));
    all.push_back(slice(images, e, 128, 36, true, 0, 4));
    all.push_back(slice(images, e, 128, 34, true, 0, 2));
    all.push_back(slice(images, e, 128, 35, true, 0, 1));
    all.push_back(slice(images, e, 99, 35, true, 0, 1));
    /* fewer elements a thread, so that neighbours write neighbouring places */
    for (int v : {4, 2, 1}) {
      all.push_back(slice(images, e, 99, 35, true, 0, 1));
      all.back().vector = v;
      all.back().a_width = v;
      all.back().what += ", " + number(v) + " a thread";
      all.push_back(slice(images, e, 99, 35, false, 0, 1));
      all.back().vector = v;
      all.back().y_width = v;
      all.back().what += ", " + number(v) + " a thread";
    }
    for (int each : {4, 8}) {
      for (int v : {1, 2}) {
        all.push_back(slice(images, e, 99, 35, true, 0, 1));
        all.back().vector = all.back().a_width = v;
        all.back().each = each;
        all.back().what += ", " + number(each) + " times " + number(v);
      }
    }
    for (int pitch : {128, 99}) {
      for (bool output : {true, false}) {
        all.push_back(slice(images, e, pitch, 35, output, 0, 8));
        all.back().way = 3;
        all.back().y_width = 8;
        all.back().aligned = true;
        all.back().what += ", threads by the result's accesses, reading shifted";
      }
    }
    /* any shape: strides and extents as parameters */
    const size_t first = all.size();
    all.push_back(slice(images, e, 99, 35, true, 0, 8));
    all.back().way = 3;
    all.back().y_width = 8;
    all.back().aligned = true;
    all.push_back(slice(images, e, 128, 64, false, 0, 8));
    all.push_back(slice(images, e, 128, 35, false, 3, 8));
    all.push_back(slice(images, e, 128, 64, true, 0, 8));
    for (size_t i = first; i < all.size(); i++) {
      all[i].index = 1;
      all[i].what += ", shape as parameters";
    }
    for (int threads : {64, 256, 512}) {
      all.push_back(slice(images, e, 128, 64, false, 0, 8));
      all.back().threads = threads;
      all.back().what += ", " + number(threads) + " threads";
    }
    measure<half>("slices of channels", all, check);
    for (strided_t& s : all) {
      s.single = true;
      s.generated = {};
      s.vector = std::min(s.vector, 4);
      s.a_width = std::min(s.a_width, s.vector);
      s.y_width = std::min(s.y_width, s.vector);
      s.shift %= 4;
    }
    measure<float>("slices of channels", all, check);
  }
}

/* Steps on the last axis and on the ones before it. */
static void steps(bool check) {
  for (int images : {1, 32}) {
    if (check && images > 1) {
      continue;
    }
    const int e = check ? 6 : 56;
    std::vector<strided_t> all;
    auto add = [&](const char* what, int step, int way, bool output) {
      strided_t s = slice(images, e, 64, 0, false, 0, 8);
      view_t& v = output ? s.y : s.a;
      const int pitch = 64 * std::abs(step);
      v = {step < 0 ? 63 : 0, {e * e * pitch, e * pitch, pitch, step}};
      s.way = output ? 0 : way;
      s.what = what;
      all.push_back(std::move(s));
    };
    add("dense", 1, 0, false);
    add("read with step 2, single elements", 2, 1, false);
    add("read with step 2, two accesses", 2, 4, false);
    add("read with step 3, single elements", 3, 1, false);
    add("read turned over, single elements", -1, 1, false);
    add("read turned over, one access", -1, 5, false);
    add("written with step 2", 2, 0, true);
    add("written with step 3", 3, 0, true);
    for (int v : {1, 2, 4}) {
      add((std::string("read with step 2, ") + number(v) + " a thread").c_str(), 2, 1, false);
      all.back().vector = all.back().a_width = all.back().y_width = v;
      add((std::string("written with step 2, ") + number(v) + " a thread").c_str(), 2, 0, true);
      all.back().vector = all.back().a_width = all.back().y_width = v;
    }
    for (int each : {4, 8}) {
      for (int v : {1, 2}) {
        add(("written with step 2, " + number(each) + " times " + number(v)).c_str(), 2, 0, true);
        all.back().vector = all.back().a_width = all.back().y_width = v;
        all.back().each = each;
      }
    }
    strided_t s = slice(images, e, 64, 0, false, 0, 8);
    s.a = {0, {4 * e * e * 64, 4 * e * 64, 128, 1}};
    s.what = "every second row and column";
    all.push_back(std::move(s));
    strided_t axes = slice(images, e, 64, 0, false, 0, 8);
    axes.a = {0, {e * e * 64, 64, e * 64, 1}};
    axes.what = "rows and columns changed, channels last";
    all.push_back(std::move(axes));
    measure<half>("steps", all, check);
  }
}

struct turned_t {
  int way, vector, rows_at_once, lanes;
  std::string what;
  generated_t generated;
};

/* a in NCHW, b and y in NHWC. */
template <class T>
static void turned(int images, int columns, int rows, bool check) {
  const size_t n = (size_t)images * columns * rows, plane = (size_t)columns * rows;
  std::vector<turned_t> all;
  const int wide = 16 / (int)sizeof(T);
  int r = wide, v = wide;
  while (rows % r) {
    r /= 2;
  }
  while (columns % v) {
    v /= 2;
  }
  all.push_back({0, v, 0, 0, "gathers, " + number(v) + " channels a thread", {}});
  all.push_back({0, 1, 0, 0, "gathers, one a thread", {}});
  all.push_back({1, r, 0, 0, "scatters, " + number(r) + " pixels a thread", {}});
  for (int high : {r, r / 2}) {
    for (int broad : {v, v / 2}) {
      for (int lanes : {1, 2, 4, 8, 16}) {
        if (high && broad && lanes * broad <= columns * 2) {
          all.push_back({2,
                         broad,
                         high,
                         lanes,
                         "registers, " + number(high) + " pixels by " + number(broad) +
                             " channels, " + number(lanes) + " lanes along the channels",
                         {}});
        }
      }
    }
  }
  all.push_back({3, v, r, 0, "tiles of 64 in shared memory", {}});
  for (turned_t& t : all) {
    t.generated.text = with_macros({{"size_t", "unsigned long long"},
                                    {"T", sizeof(T) == 2 ? "half" : "float"},
                                    {"WAY", number(t.way)},
                                    {"V", number(t.vector)},
                                    {"R", number(t.rows_at_once)},
                                    {"LANES", number(t.lanes)},
                                    {"THREADS", t.way == 3 ? "256" : "128"},
                                    {"RELEASE", release(n / (size_t)t.vector)},
                                    {"IMAGES", number(images) + "u"},
                                    {"COLUMNS", number(columns) + "u"},
                                    {"ROWS", number(rows) + "u"}},
                                   turned_text);
  }
  const double ms = compile_all(all);
  const int sets = (int)std::min<size_t>(8, std::max<size_t>(2, (192u << 20) / (6 * n) + 1));
  std::vector<T*> a, b, y;
  for (int i = 0; i < sets; i++) {
    a.push_back(random_of<T>(n, 1, 1 + (unsigned)i));
    b.push_back(random_of<T>(n, 1, 100 + (unsigned)i));
    y.push_back(device_new<T>(n));
  }
  std::vector<T> ha(n), hb(n), hy(n);
  CHECK(cudaMemcpy(ha.data(), a[0], n * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hb.data(), b[0], n * sizeof(T), cudaMemcpyDeviceToHost));
  printf("TURNED %s, %d images, %d channels, %d pixels, bytes %.2f us, compiled in %.0f ms\n",
         sizeof(T) == 2 ? "fp16" : "fp32", images, columns, rows,
         3. * (double)(n * sizeof(T)) / 2.98e6, ms);
  for (turned_t& t : all) {
    if (!t.generated.load()) {
      continue;
    }
    const size_t down = t.way == 2 ? (size_t)(rows + 32 / t.lanes * t.rows_at_once - 1) /
                                         (size_t)(32 / t.lanes * t.rows_at_once)
                                   : (size_t)(rows + 63) / 64,
                 across = t.way == 2
                              ? (size_t)(columns + t.lanes * t.vector - 1) / (t.lanes * t.vector)
                              : (size_t)(columns + 63) / 64,
                 warps = down * across * (size_t)images;
    const size_t blocks = t.way == 3   ? warps
                          : t.way == 2 ? (warps + 3) / 4
                                       : (n / (size_t)t.vector + 127) / 128;
    auto step = [&](cudaStream_t stream, int i) {
      T *pa = a[(size_t)(i % sets)], *pb = b[(size_t)(i % sets)], *py = y[(size_t)(i % sets)];
      void* arguments[] = {&pa, &pb, &py};
      t.generated.launch(dim3((unsigned)blocks), dim3(t.way == 3 ? 256 : 128), 0, 1, true, stream,
                         arguments);
    };
    CHECK(cudaMemset(y[0], 0xff, n * sizeof(T)));
    step(nullptr, 0);
    wait_or_die(nullptr, "turned");
    CHECK(cudaMemcpy(hy.data(), y[0], n * sizeof(T), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
      const size_t image = i / plane, row = i % plane / (size_t)columns, c = i % (size_t)columns;
      const double e = std::max(
          (double)(float)ha[image * plane + c * (size_t)rows + row] * 0.75 + (double)(float)hb[i],
          0.0);
      wrong += !(std::fabs((double)(float)hy[i] - e) <= (sizeof(T) == 2 ? 1e-3 : 1e-6));
    }
    spread_t us = {0, 0, 0};
    if (!check) {
      us = n > 2 << 20 ? step_time(step, 7, 6, 18) : step_time(step, 15, 16, 64);
    }
    printf("  %s: %.2f (%.2f-%.2f), %d registers%s\n", t.what.c_str(), us.median, us.low, us.high,
           t.generated.registers, wrong ? " WRONG" : "");
    t.generated.unload();
  }
  for (const auto& list : {a, b, y}) {
    for (T* p : list) {
      CHECK(cudaFree(p));
    }
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  slices(check);
  steps(check);
  if (check) {
    turned<half>(2, 24, 40, true);
    turned<float>(1, 12, 49, true);
    return 0;
  }
  turned<half>(1, 64, 3136, false);
  turned<half>(1, 256, 196, false);
  turned<half>(1, 512, 49, false);
  turned<half>(32, 64, 3136, false);
  turned<half>(32, 256, 196, false);
  turned<half>(32, 2048, 49, false);
  turned<float>(1, 64, 3136, false);
  turned<float>(32, 64, 3136, false);
}
