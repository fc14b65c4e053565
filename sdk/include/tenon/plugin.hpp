/*
 * tenon/plugin.hpp - plugin.h for C++11 and newer.
 *
 * A helper over plugin.h. It is source and no part of the binary contract: all of it is inline and
 * links with nothing. From C++20 on, descriptors are written as in C, by the names of their
 * members, because C++20 has designated initialisers. Before, sized<T>() makes an empty one whose
 * members are assigned. TENON_OFFERING is C. In C++ each offering has a name:
 *
 *     static const tenon_offering_t offered[] = {tenon::offering("operator/1", operators),
 *                                                tenon::offering("kernel/1", kernels)};
 *     static const tenon_offering_t* const offerings[] = {&offered[0], &offered[1]};
 *
 * Errors. No exception may leave a function that the host calls, because it would unwind through C.
 * Declare such functions noexcept, so that an exception ends the process, or return guarded(), which
 * makes a status of it. No function of this file throws: bodies of guarded() and parallel() may.
 * Threads. All functions are [any].
 */
#ifndef TENON_PLUGIN_HPP_
#define TENON_PLUGIN_HPP_

#include <atomic>
#include <new>
#include <type_traits>

#include "tenon/plugin.h"

namespace tenon {

/* A growing structure: zeros, and its size. */
template <class T>
T sized() noexcept {
  T structure = T();
  structure.size = sizeof(T);
  return structure;
}

/* An array in a descriptor. The array must be static. */
template <class T, size_t N>
constexpr tenon_list_t list(const T (&array)[N]) noexcept {
  return tenon_list_t{array, static_cast<uint32_t>(N), static_cast<uint32_t>(sizeof(T))};
}

/* An array on offer. The array must be static. */
template <class T, size_t N>
constexpr tenon_offering_t offering(const char* kind, const T (&array)[N]) noexcept {
  return tenon_offering_t{sizeof(tenon_offering_t), kind, list(array)};
}

/* The elements of an argument. T is the type that the kernel's `match` has checked. */
template <class T>
const T* input(const tenon_enqueue_t* call, uint32_t index) noexcept {
  return static_cast<const T*>(call->inputs[index].tensor.data);
}
template <class T>
T* output(const tenon_enqueue_t* call, uint32_t index) noexcept {
  return static_cast<T*>(call->outputs[index].tensor.data);
}

/* The product of the extents of axes [begin, end). */
inline int64_t elements(const tenon_tensor_view_t& view, uint32_t begin, uint32_t end) noexcept {
  int64_t count = 1;
  for (uint32_t k = begin; k < end; ++k) {
    count *= view.dims[k];
  }
  return count;
}

/* Memory of an instance that the host frees, as a T with zeros in it. nullptr: out of memory. T
 * must have no destructor. */
template <class T>
T* allocate(const tenon_prepare_t* call) noexcept {
  static_assert(std::is_trivially_destructible<T>::value, "the host calls no destructor");
  return static_cast<T*>(call->host->allocate(call->preparation, sizeof(T)));
}

/* The status of body(), or of the exception that leaves it: OUT_OF_MEMORY or INTERNAL. */
template <class Body>
tenon_status_t guarded(Body body) noexcept {
#if defined(__cpp_exceptions)
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return TENON_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return TENON_ERROR_INTERNAL;
  }
#else
  return body();
#endif
}

/* Calls body(index) for each index in [0, count), on the threads of the run. Returns TENON_OK, or as
 * guarded() does for the first exception. Other indices are called all the same. */
template <class Body>
tenon_status_t parallel(const tenon_enqueue_t* call, uint32_t count, Body& body) noexcept {
  struct loop_t {
    Body& body;
    std::atomic<tenon_status_t> status;

    static void run(void* user, uint32_t index, uint32_t thread) noexcept {
      loop_t& loop = *static_cast<loop_t*>(user);
      tenon_status_t expected = TENON_OK;
      (void)thread;
      const tenon_status_t status = guarded([&loop, index]() -> tenon_status_t {
        loop.body(index);
        return TENON_OK;
      });
      if (status != TENON_OK) {
        loop.status.compare_exchange_strong(expected, status);
      }
    }
  };
  loop_t loop = {body, {TENON_OK}};
  call->host->parallel(call->run, count, loop_t::run, &loop);
  return loop.status.load();
}

}  // namespace tenon

#endif /* TENON_PLUGIN_HPP_ */
