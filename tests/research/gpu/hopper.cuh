/* The instructions of sm_90a that CUDA C++ has no word for: barriers in shared memory, the bulk
 * copy engine, warpgroup products, clusters, dependent launch. Addresses are 32-bit shared-memory
 * addresses. */
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* ---- barriers ---- */
__device__ __forceinline__ void barrier_initialize(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void barrier_publish() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra "
      "done;\nbra again;\ndone:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/* ---- clusters ---- */
__device__ __forceinline__ uint32_t map_to_block(uint32_t address, uint32_t block) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(block));
  return mapped;
}
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::
                   : "memory"); /* barrier_publish has fenced */
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void store_async(uint32_t address, float x, float y, float z, float w,
                                            uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(address),
      "f"(x), "f"(y), "f"(z), "f"(w), "r"(barrier)
      : "memory");
}

/* ---- bulk copies from global memory ---- */
__device__ __forceinline__ void bulk_copy(uint32_t to, const void* from, uint32_t bytes,
                                          uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void bulk_copy_multicast(uint32_t to, const void* from, uint32_t bytes,
                                                    uint32_t barrier, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory");
}
__device__ __forceinline__ void tile_copy(uint32_t to, const CUtensorMap* map, int x, int y, int z,
                                          uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void plane_copy(uint32_t to, const CUtensorMap* map, int x, int y,
                                           uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
/* A box of whole images; what lies outside is 0. */
__device__ __forceinline__ void image_copy(uint32_t to, const CUtensorMap* map, int channel, int x,
                                           int y, int image, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3, %4, %5}], [%6];" ::"r"(to),
      "l"(map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier)
      : "memory");
}
/* Part of an image under one tap of the window, as rows of channels: the map says how many rows,
 * the coordinates where the first row's window begins. What lies outside is 0. */
__device__ __forceinline__ void window_copy(uint32_t to, const CUtensorMap* map, int channel, int x,
                                            int y, int image, int tap_x, int tap_y,
                                            uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
      "l"(map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier), "h"((uint16_t)tap_x),
      "h"((uint16_t)tap_y)
      : "memory");
}

/* ---- ordinary asynchronous copies of 16 bytes; zeros where not `inside` ---- */
__device__ __forceinline__ void small_copy(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void small_copies_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int PENDING>
__device__ __forceinline__ void small_copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
/* What this thread wrote into shared memory, the products may read. */
__device__ __forceinline__ void publish_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Brings bytes into L2 alone; nobody waits for it. */
__device__ __forceinline__ void prefetch_to_l2(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* ---- dependent launch ---- */
__device__ __forceinline__ void release_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ __forceinline__ void wait_for_predecessor() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
__device__ __forceinline__ unsigned long long global_time() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/* ---- warpgroup products: 64 rows by 8 * N8 columns, both operands in shared memory, channels
 * contiguous in rows of 128 bytes with the 128-byte swizzle, groups of 8 rows `stride` bytes apart
 * ---- */
__device__ __forceinline__ uint64_t matrix_descriptor(uint32_t address, uint32_t stride) {
  return (uint64_t)(address >> 4 & 0x3fff) | (uint64_t)1 << 16 | (uint64_t)(stride >> 4) << 32 |
         (uint64_t)1 << 62;
}
__device__ __forceinline__ void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int PENDING>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

#define SUM4(i) "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
#define PRODUCT(columns, registers, a, b, ...)                                                    \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" columns "k16.f32.f16.f16 {" registers "}, %" a \
               ", %" b ", 1, 1, 1, 0, 0;"                                                         \
               : __VA_ARGS__                                                                      \
               : "l"(left), "l"(right))

template <int N8>
__device__ __forceinline__ void product(float (&sum)[N8][4], uint64_t left, uint64_t right) {
  if constexpr (N8 == 1) {
    PRODUCT("8", "%0,%1,%2,%3", "4", "5", SUM4(0));
  } else if constexpr (N8 == 2) {
    PRODUCT("16", "%0,%1,%2,%3,%4,%5,%6,%7", "8", "9", SUM4(0), SUM4(1));
  } else if constexpr (N8 == 3) {
    PRODUCT("24", "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11", "12", "13", SUM4(0), SUM4(1), SUM4(2));
  } else if constexpr (N8 == 4) {
    PRODUCT("32", "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15", "16", "17", SUM4(0),
            SUM4(1), SUM4(2), SUM4(3));
  } else if constexpr (N8 == 6) {
    PRODUCT("48",
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23",
            "24", "25", SUM4(0), SUM4(1), SUM4(2), SUM4(3), SUM4(4), SUM4(5));
  } else if constexpr (N8 == 8) {
    PRODUCT("64",
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
            "%24,%25,%26,%27,%28,"
            "%29,%30,%31",
            "32", "33", SUM4(0), SUM4(1), SUM4(2), SUM4(3), SUM4(4), SUM4(5), SUM4(6), SUM4(7));
  } else if constexpr (N8 == 12) {
    PRODUCT("96",
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
            "%24,%25,%26,%27,%28,"
            "%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47",
            "48", "49", SUM4(0), SUM4(1), SUM4(2), SUM4(3), SUM4(4), SUM4(5), SUM4(6), SUM4(7),
            SUM4(8), SUM4(9), SUM4(10), SUM4(11));
  } else if constexpr (N8 == 16) {
    PRODUCT("128",
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
            "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,"
            "%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,"
            "%60,%61,%62,%63",
            "64", "65", SUM4(0), SUM4(1), SUM4(2), SUM4(3), SUM4(4), SUM4(5), SUM4(6), SUM4(7),
            SUM4(8), SUM4(9), SUM4(10), SUM4(11), SUM4(12), SUM4(13), SUM4(14), SUM4(15));
  } else {
    static_assert(N8 == 32, "no such product here");
    PRODUCT("256",
            "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
            "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,"
            "%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,"
            "%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,"
            "%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,"
            "%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,"
            "%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127",
            "128", "129", SUM4(0), SUM4(1), SUM4(2), SUM4(3), SUM4(4), SUM4(5), SUM4(6), SUM4(7),
            SUM4(8), SUM4(9), SUM4(10), SUM4(11), SUM4(12), SUM4(13), SUM4(14), SUM4(15), SUM4(16),
            SUM4(17), SUM4(18), SUM4(19), SUM4(20), SUM4(21), SUM4(22), SUM4(23), SUM4(24),
            SUM4(25), SUM4(26), SUM4(27), SUM4(28), SUM4(29), SUM4(30), SUM4(31));
  }
}
#undef PRODUCT
#undef SUM4

__device__ __forceinline__ uint32_t pack_half(float x, float y) {
  const half2 h = __floats2half2_rn(x, y);
  return *(const uint32_t*)&h;
}
__device__ __forceinline__ float2 unpack_half(uint32_t bits) {
  return __half22float2(*(const half2*)&bits);
}
/* Eight halves in 16 bytes. */
__device__ __forceinline__ void unpack_halves(const uint4& bits, float (&out)[8]) {
  const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float2 f = unpack_half(words[i]);
    out[2 * i] = f.x;
    out[2 * i + 1] = f.y;
  }
}
