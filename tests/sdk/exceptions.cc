/* Exceptions in the helpers of plugin.hpp: no function throws, and bodies that throw give a status. */
#include <stdexcept>
#include <utility>

#include "tenon/plugin.hpp"

struct element_t {
  float value;
};

static const tenon_port_t ports[] = {{sizeof(ports[0]), "x", "f32", nullptr, nullptr, 0, 0}};

typedef void body_t(uint32_t index);

static_assert(noexcept(tenon::sized<tenon_kernel_t>()), "sized");
static_assert(noexcept(tenon::list(ports)), "list");
static_assert(noexcept(tenon::offering("operator/1", ports)), "offering");
static_assert(noexcept(tenon::input<float>(nullptr, 0)), "input");
static_assert(noexcept(tenon::output<float>(nullptr, 0)), "output");
static_assert(noexcept(tenon::elements(std::declval<tenon_tensor_view_t&>(), 0, 0)), "elements");
static_assert(noexcept(tenon::allocate<element_t>(nullptr)), "allocate");
static_assert(noexcept(tenon::parallel(nullptr, 0, std::declval<body_t&>())), "parallel");

/* A host with one thread, written as C. */
extern "C" {
static void run_all(tenon_run_t* run, uint32_t count,
                    void (*body)(void* user, uint32_t index, uint32_t thread), void* user) {
  (void)run;
  for (uint32_t k = 0; k < count; ++k) {
    body(user, k, 0);
  }
}
}

static tenon_status_t throw_bad_alloc() {
  throw std::bad_alloc();
}

static tenon_status_t throw_other() {
  throw std::runtime_error("an error");
}

static tenon_status_t throw_number() {
  throw 1;
}

static tenon_status_t fail() {
  return TENON_ERROR_IO;
}

static bool are_statuses_right() {
  return tenon::guarded(throw_bad_alloc) == TENON_ERROR_OUT_OF_MEMORY &&
         tenon::guarded(throw_other) == TENON_ERROR_INTERNAL &&
         tenon::guarded(throw_number) == TENON_ERROR_INTERNAL &&
         tenon::guarded(fail) == TENON_ERROR_IO;
}

/* Indices 2 and 4 throw: the status is that of 2, and all are called. */
static bool is_parallel_right() {
  tenon_run_table_t table = tenon_run_table_t();
  tenon_enqueue_t call = tenon_enqueue_t();
  uint32_t called = 0;
  uint32_t first = 2;
  table.parallel = run_all;
  call.host = &table;
  auto body = [&called, &first](uint32_t index) {
    ++called;
    if (index == first) {
      throw std::bad_alloc();
    }
    if (index == 4) {
      throw 1;
    }
  };
  if (tenon::parallel(&call, 6, body) != TENON_ERROR_OUT_OF_MEMORY || called != 6) {
    return false;
  }
  first = 5;
  return tenon::parallel(&call, 6, body) == TENON_ERROR_INTERNAL && called == 12 &&
         tenon::parallel(&call, 4, body) == TENON_OK && called == 16;
}

int main() {
  return !are_statuses_right()           ? 1
         : !is_parallel_right()          ? 2
         : tenon::list(ports).count != 1 ? 3
                                         : 0;
}
