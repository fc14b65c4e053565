/*
 * What stands around an expression of elements below a byte, behind arithmetic.cuh: the text in front
 * defines WALKS, behind stand the functions of one element and the kernel. A thread computes as many
 * neighbours as fill a byte of each result.
 */
struct walk_t {
  char* data;
  i64 skip; /* elements in front, in the first byte */
  i64 strides[8];
};
struct parameters_t {
  i64 size[8]; /* of the space */
  i64 count;
  int rank;
  int release;
  walk_t walks[WALKS];
};
INLINE i64 place_of(const parameters_t& p, const walk_t& walk, i64 n) {
  i64 place = walk.skip;
  for (int k = p.rank - 1; k >= 0; --k) {
    place += n % p.size[k] * walk.strides[k];
    n /= p.size[k];
  }
  return place;
}
INLINE u8 bits_at(const walk_t& walk, i64 place, int width) {
  const u8 byte = ((const u8*)walk.data)[place * width >> 3];
  return (u8)(byte >> (int)(place * width & 7) & ((1 << width) - 1));
}
INLINE void put_bits(const walk_t& walk, i64 place, int width, u8 bits) {
  const int shift = (int)(place * width & 7);
  const int mask = ((1 << width) - 1) << shift;
  u8* at = (u8*)walk.data + (place * width >> 3);
  *at = (u8)((*at & ~mask) | bits << shift);
}
