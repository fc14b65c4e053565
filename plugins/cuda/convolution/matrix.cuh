/*
 * Instructions that CUDA C has no words for, each as a function: products of matrices by a warp,
 * copies into shared memory that nobody waits for, launches that overlap. Behind arithmetic.cuh.
 * Where kernels are compiled for the host (STAND_IN) it has functions of these names.
 *
 * The text in front defines what is multiplied: SINGLE, f32 in tf32; else f16, or BRAIN, bf16, two
 * elements in a word.
 */
#ifndef STAND_IN
typedef unsigned shared_t; /* an address in shared memory */

/* All of a block's memory that its threads share, as many bytes as the launch says. */
#define SHARED_BYTES(name) extern __shared__ __align__(1024) unsigned char name[]
INLINE shared_t shared_of(const void* from) { return (unsigned)__cvta_generic_to_shared(from); }

/* What no kernel ever writes, and no other warp of the block reads: packed weights. */
INLINE uint4 load_weights(const uint4* from) {
  uint4 x;
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(from));
  return x;
}
/* What a kernel in front wrote: behind the wait. */
INLINE uint4 load_fresh(const void* from) {
  uint4 x;
  asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(from)
               : "memory");
  return x;
}
/* The same where it is there; else `x` stays as it is. */
INLINE void load_fresh_where(bool is_there, const void* from, uint4& x) {
  asm volatile(
      "{ .reg .pred there; setp.ne.b32 there, %5, 0;\n"
      "@there ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)
      : "l"(from), "r"((int)is_there)
      : "memory");
}

/* 16 bytes into shared memory, the first `bytes` of them copied, the others zero. */
INLINE void copy_16(shared_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
/* Of the calling thread's copies. */
INLINE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/* The calling thread's copies since the last such call are a group; the second waits for all groups
 * but the last. */
INLINE void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
INLINE void wait_for_older_copies() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

/* Two numbers in the type of the products, the first in the lower half. */
INLINE unsigned narrow_pair(float low, float high) {
  unsigned pair;
#if BRAIN
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
  return pair;
}

/* Four matrices of 8x8, the address of a row each from one lane; a lane gets two neighbours of row
 * lane / 4 of each. */
INLINE void load_matrices(unsigned (&r)[4], shared_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}
/* The same, and each of the matrices is turned: a lane gets two neighbours of column lane / 4. */
INLINE void load_matrices_turned(unsigned (&r)[4], shared_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}
/* c += a * b of 16x16 and 16x8. */
INLINE void multiply_fragments(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if BRAIN
#define MULTIPLY "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
#define MULTIPLY "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#endif
  asm(MULTIPLY "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* f32 as tf32: rounded to nearest, halves away from 0. */
INLINE unsigned rounded_single(unsigned bits) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
  return rounded;
}
/* c += a * b of 16x8 and 8x8, in tf32. */
INLINE void multiply_singles(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* What follows may begin: it waits before it reads what this writes. */
INLINE void release_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/* The kernels in front have ended, and what they wrote is seen. Nothing of theirs is read, and
 * nothing at all is written, before. */
INLINE void wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#endif

/* ---- What is multiplied ---- */

#if SINGLE
typedef unsigned element_t;
#else
typedef u16 element_t;
#endif
enum { PIECE = 16 / (int)sizeof(element_t) /* elements of 16 bytes */ };

/* A word as it is multiplied: what lies below tf32 is rounded, since the units would cut it, which
 * makes each product smaller. */
INLINE unsigned multiplied(unsigned word) {
#if SINGLE
  return rounded_single(word);
#else
  return word;
#endif
}
/* A word is two places of a sum or one: which lane has which word is the same. */
INLINE void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if SINGLE
  multiply_singles(c, a, b0, b1);
#else
  multiply_fragments(c, a, b0, b1);
#endif
}
