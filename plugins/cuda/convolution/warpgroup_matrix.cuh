/*
 * Instructions of sm_90a as functions: matrix products of a warpgroup, which reads both factors
 * from shared memory, and stores into the shared memory of another block of a cluster. Follows
 * matrix.cuh. The source before it defines GROUPS, the warpgroups of a block, which have 64 rows
 * each, and NT, the tiles of 8 columns of a product: 4, 6, 8, 12 or 16.
 *
 * A matrix in shared memory has rows of 128 bytes. A group is 8 rows, 1024 bytes, and its address
 * is a multiple of 1024. Piece k of row r, 16 bytes, is stored at position k ^ (r % 8) of the row.
 */
enum {
  ROW_BYTES = 128,
  GROUP_BYTES = 8 * ROW_BYTES,
  PRODUCT_BYTES = 32, /* of a row */
  STEP = 8 * PIECE,
  TILE_M = 64 * GROUPS,
  THREADS = 128 * GROUPS,
  STEP_BYTES = NT * GROUP_BYTES /* of weights */
};

INLINE int place_in_row(int row, int piece) { return (piece ^ (row & 7)) * 16; }

#ifndef STAND_IN
/* Waits until all but the last COUNT groups of the calling thread's copies (end_copies) have
 * arrived. */
template <int COUNT>
INLINE void wait_for_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}
/* Makes the calling thread's copies visible to products after the next synchronisation. */
INLINE void publish_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* The descriptor of a matrix. `at` is the address of its first row plus an offset in the row. */
typedef u64 operand_t;
INLINE operand_t operand_at(shared_t at) {
  return (u64)(at >> 4 & 0x3FFF) | 1ull << 16 | (u64)(GROUP_BYTES >> 4) << 32 | 1ull << 62;
}
/* Orders earlier writes of registers before the products. */
INLINE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
INLINE void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
INLINE void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#if BRAIN
#define TYPES "k16.f32.bf16.bf16 "
#else
#define TYPES "k16.f32.f16.f16 "
#endif
#define SUM(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define SUMS_4 SUM(0), SUM(1), SUM(2), SUM(3)
#define SUMS_6 SUMS_4, SUM(4), SUM(5)
#define SUMS_8 SUMS_6, SUM(6), SUM(7)
#define SUMS_12 SUMS_8, SUM(8), SUM(9), SUM(10), SUM(11)
#define SUMS_16 SUMS_12, SUM(12), SUM(13), SUM(14), SUM(15)
#define NAMES_4 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES_6 NAMES_4 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define NAMES_8 NAMES_6 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_12                                                                              \
  NAMES_8 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NAMES_16                                                                              \
  NAMES_12 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#if NT == 4
#define PRODUCT "32" TYPES "{" NAMES_4 "}, %16, %17"
#define SUMS SUMS_4
#elif NT == 6
#define PRODUCT "48" TYPES "{" NAMES_6 "}, %24, %25"
#define SUMS SUMS_6
#elif NT == 8
#define PRODUCT "64" TYPES "{" NAMES_8 "}, %32, %33"
#define SUMS SUMS_8
#elif NT == 12
#define PRODUCT "96" TYPES "{" NAMES_12 "}, %48, %49"
#define SUMS SUMS_12
#else
#define PRODUCT "128" TYPES "{" NAMES_16 "}, %64, %65"
#define SUMS SUMS_16
#endif
/* sums += a * b of 64 rows and NT * 8 columns, over PRODUCT_BYTES of a row of each. Warp w has rows
 * 16 w to 16 w + 15. A lane has rows lane / 4 and lane / 4 + 8 of them, and two adjacent columns of
 * each tile. */
INLINE void multiply_operands(float (&sums)[NT][4], operand_t a, operand_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n" PRODUCT ", 1, 1, 1, 0, 0;"
               : SUMS
               : "l"(a), "l"(b));
}

/* ---- Clusters: a barrier of 8 bytes counts the bytes that arrive ---- */

/* Initialises the barrier at `at`, which opens after `bytes` bytes have arrived. One thread calls
 * this. The cluster then synchronises once, so that no bytes arrive earlier. */
INLINE void expect_pushes(shared_t at, int bytes) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
      "r"(bytes)
      : "memory");
}
INLINE void begin_meeting() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
INLINE void end_meeting() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/* The address in block `to` of the cluster that corresponds to `at` in the calling block. */
INLINE shared_t there(shared_t at, int to) {
  shared_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(to));
  return mapped;
}
/* Stores 16 bytes in another block, whose barrier counts them. */
INLINE void push(shared_t to, shared_t barrier, const float (&x)[4]) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "r"(barrier)
      : "memory");
}
INLINE void wait_for_pushes(shared_t at) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again; }" ::"r"(at)
      : "memory");
}
#endif
