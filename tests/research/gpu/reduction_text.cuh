/* What texts of generated reductions begin with: the two numbers that are reduced, softmax's (KIND
 * 0) or sums, and what blocks of a cluster say to one another. */
#pragma once

static const char* const reduction_head = R"(
struct pair { float a, b; };
#if KIND == 0
__device__ inline pair merge(pair p, pair q) {
  float m = fmaxf(p.a, q.a);
  return {m, p.b * __expf(p.a - m) + q.b * __expf(q.a - m)};
}
#define NEUTRAL pair{-1e30f, 0.f}
#else
__device__ inline pair merge(pair p, pair q) { return {p.a + q.a, p.b + q.b}; }
#define NEUTRAL pair{0.f, 0.f}
#endif
__device__ inline unsigned cluster_rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
/* Into the same place of another block of the cluster. */
__device__ inline void give(pair* place, unsigned to, pair p) {
  unsigned address = (unsigned)__cvta_generic_to_shared(place), mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(to));
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" :: "r"(mapped), "f"(p.a), "f"(p.b) : "memory");
}
)";
