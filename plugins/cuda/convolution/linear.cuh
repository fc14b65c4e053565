/*
 * A place of a slot's space for pixels that lie one behind the other, channels innermost, in
 * whatever has the result's extents: a number and a channel say where, without a division. Instead
 * of slot.cuh; the text in front defines DENSE, in which each walk of that sort has a bit. All others
 * are one number for all pixels, or one a channel.
 */
struct place_t {
  int offset[WALKS];
  static const int left = V; /* all are there */
};

INLINE place_t place_of(const parameters_t& p, int pixel, int channel) {
  place_t place;
#pragma unroll
  for (int w = 0; w < WALKS; ++w) {
    const bool is_dense = (DENSE >> w & 1) != 0;
    place.offset[w] = is_dense ? pixel * p.shape.outputs + channel : channel * p.step[w];
  }
  return place;
}
