/*
 * A place of a slot's space, V neighbours along its channels: where each walk has it. Behind
 * frame.cuh; the text of a slot's functions follows. WHICH says of each axis of the space whether it
 * is image, channel, row or column.
 */
struct place_t {
  int at[AXES];
  int offset[WALKS];
  int left; /* how many of the V are there */
};

INLINE void locate(const parameters_t& p, bool is_inside, int n, int c, int y, int x,
                   place_t& place) {
  const int rest = p.shape.outputs - c;
  place.left = !is_inside || rest < 0 ? 0 : rest < V ? rest : V;
  const int all[4] = {n, c, y, x};
  const int which[AXES] = WHICH;
#pragma unroll
  for (int axis = 0; axis < AXES; ++axis) {
    place.at[axis] = all[which[axis]];
  }
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    int sum = 0;
#pragma unroll
    for (int axis = 0; axis < AXES; ++axis) {
      sum += place.at[axis] * p.outer.stride[axis][w];
    }
    place.offset[w] = place.left > 0 ? sum : 0;
  }
}
