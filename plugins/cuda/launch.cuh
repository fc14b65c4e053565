/*
 * How a kernel that is launched as dependent begins; p is its parameters. Nothing is read or written
 * before the kernels in front have ended.
 */
template <class P>
static __device__ __forceinline__ void begin(const P& p) {
#if __CUDA_ARCH__ >= 900
  if (p.release) {
    asm volatile("griddepcontrol.launch_dependents;");
  }
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
