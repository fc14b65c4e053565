/*
 * Writing where indices say. First x is copied, unless y lies on it. Without a reduction updates are
 * written by all threads: a place is named once. With one, what is added to a place is added in the
 * order of the updates, so a run gives what the run before gave: a thread has a line, or all targets
 * of a line whose number it is, modulo the threads of its block.
 */
KERNEL copy_first(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 bytes = p.in[0].count * IN0_BITS / 8;
  char* to = p.out[0].data;
  const char* from = p.in[0].data;
  if (to == from) {
    return;
  }
  const bool wide = (((u64)to | (u64)from) & 15) == 0;
  const i64 words = wide ? bytes / 16 : 0;
  EACH(i, words) { ((uint4*)to)[i] = ((const uint4*)from)[i]; }
  if (wide) {
    EACH(i, bytes % 16) { to[words * 16 + i] = from[words * 16 + i]; }
  } else {
    EACH(i, p.in[0].count) { OUT0(i, IN0(i)); }
  }
}

template <class T>
INLINE T combined(T old, T update) {
#if A_reduction_add
  return op_add(old, update);
#elif A_reduction_mul
  return op_mul(old, update);
#elif A_reduction_max
  return compare(old, update) >= 0 ? old : update;
#elif A_reduction_min
  return old != old ? old : update != update ? update : compare(old, update) <= 0 ? old : update;
#else
  return update;
#endif
}
#if OP_scatter_elements
enum { AXIS = A_axis < 0 ? A_axis + OUT0_RANK : A_axis };
/* Where update `place` goes; -1: nowhere. */
INLINE i64 target_of(const parameters_t& p, i64 place) {
  i64 target = 0;
  i64 rest = place;
  i64 step = 1;
#pragma unroll
  for (int k = OUT0_RANK - 1; k >= 0; --k) {
    i64 at = rest % p.in[1].dims[k];
    rest /= p.in[1].dims[k];
    if (k == AXIS) {
      const i64 index = (i64)IN1(place);
      at = wrapped(index, p.out[0].dims[k]);
      if (at < 0 || at >= p.out[0].dims[k]) {
        fail(p, 1, index);
        return -1;
      }
    }
    target += at * step;
    step *= p.out[0].dims[k];
  }
  return target;
}
KERNEL scatter(const __grid_constant__ parameters_t p) {
  begin(p);
#if A_reduction_none
  EACH(i, p.in[1].count) {
    const i64 target = target_of(p, i);
    if (target >= 0) {
      OUT0(target, IN2(i));
    }
  }
#else
  const i64 length = p.in[1].dims[AXIS];
  const i64 inner = product(p.in[1], AXIS + 1, OUT0_RANK);
  const i64 lines = length == 0 ? 0 : p.in[1].count / length;
  const bool by_block = lines < 4096 && length >= 64;
  const i64 step = by_block ? gridDim.x : (i64)gridDim.x * blockDim.x;
  const i64 first = by_block ? blockIdx.x : (i64)blockIdx.x * blockDim.x + threadIdx.x;
  for (i64 line = first; line < lines; line += step) {
    for (i64 k = 0; k < length; ++k) {
      const i64 place = (line / inner * length + k) * inner + line % inner;
      if (by_block && (u64)wrapped((i64)IN1(place), p.out[0].dims[AXIS]) % blockDim.x != threadIdx.x) {
        continue;
      }
      const i64 target = target_of(p, place);
      if (target >= 0) {
        OUT0(target, combined(IN0_OF(p.out[0], target), IN2(place)));
      }
    }
  }
#endif
}
#endif

#if OP_scatter_nd
/* number: axes that are named, slices, elements of a slice. */
INLINE i64 slice_of(const parameters_t& p, i64 slice) {
  const int depth = (int)p.number[0];
  i64 target = 0;
  for (int k = 0; k < depth; ++k) {
    const i64 index = (i64)IN1(slice * depth + k);
    const i64 at = wrapped(index, p.out[0].dims[k]);
    if (at < 0 || at >= p.out[0].dims[k]) {
      fail(p, 1, index);
      return -1;
    }
    target = target * p.out[0].dims[k] + at;
  }
  return target;
}
KERNEL scatter(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 slices = p.number[1];
  const i64 length = p.number[2];
#if A_reduction_none
  EACH(i, slices * length) {
    const i64 target = slice_of(p, i / length);
    if (target >= 0) {
      OUT0(target * length + i % length, IN2(i));
    }
  }
#else
  /* A thread has elements of all slices, or of some slices all elements. */
  const i64 threads = (i64)gridDim.x * blockDim.x;
  const i64 own = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  const bool by_element = length >= 64;
  for (i64 slice = 0; slice < slices; ++slice) {
    const i64 target = slice_of(p, slice);
    if (target < 0 || (!by_element && target % threads != own)) {
      continue;
    }
    for (i64 k = by_element ? own : 0; k < length; k += by_element ? threads : 1) {
      const i64 place = target * length + k;
      OUT0(place, combined(IN0_OF(p.out[0], place), IN2(slice * length + k)));
    }
  }
#endif
}
#endif

#if OP_tensor_scatter
enum { AXIS = A_axis < 0 ? A_axis + OUT0_RANK : A_axis };
KERNEL scatter(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 extent = p.out[0].dims[AXIS];
  const i64 inner = product(p.out[0], AXIS + 1, OUT0_RANK);
  const i64 steps = p.in[1].dims[AXIS];
  const i64 rows = product(p.out[0], 1, AXIS);
  EACH(i, p.in[1].count) {
    const i64 outer = i / inner / steps;
    i64 at = i / inner % steps;
#if HAS_IN2
    at += (i64)IN2(outer / rows);
#endif
#if A_mode_circular
    at %= extent;
#endif
    if (at < 0 || at >= extent) {
      fail(p, 1, at);
    } else {
      OUT0((outer * extent + at) * inner + i % inner, IN1(i));
    }
  }
}
#endif
