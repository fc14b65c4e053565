/*
 * A place among the scores, V neighbouring keys of one query: where each walk has it. Behind
 * frame.cuh; the text of the scores' functions follows.
 */
#define INFINITE __uint_as_float(0x7F800000u)

struct place_t {
  int at[AXES];
  int offset[WALKS];
  int left; /* how many of the V are there */
};

/* Of a block: everything but the query and the key. */
INLINE unsigned find_block(const parameters_t& p, place_t& block) {
  unsigned rest = blockIdx.x;
  const unsigned heads = divided(p.outer, rest, AXES - 2);
  const unsigned tile = rest - heads * p.outer.extent[AXES - 2];
  rest = heads;
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    block.offset[w] = 0;
  }
#pragma unroll
  for (int axis = AXES - 3; axis >= 0; --axis) {
    const unsigned before = divided(p.outer, rest, axis);
    block.at[axis] = (int)(rest - before * p.outer.extent[axis]);
    rest = before;
#pragma unroll
    for (int w = 0; w < WALKS; ++w) {
      block.offset[w] += block.at[axis] * p.outer.stride[axis][w];
    }
  }
  return tile;
}
INLINE void find_place(const parameters_t& p, const place_t& block, int query, int key,
                       place_t& place) {
  const int rest = p.shape.keys - key;
  place = block;
  place.left = query >= p.shape.queries || rest < 0 ? 0 : rest < V ? rest : V;
  place.at[AXES - 2] = query;
  place.at[AXES - 1] = key;
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    const int sum = block.offset[w] + query * p.outer.stride[AXES - 2][w] +
                    key * p.outer.stride[AXES - 1][w];
    place.offset[w] = place.left > 0 ? sum : 0;
  }
}
