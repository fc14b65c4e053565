/*
 * For windows of one pixel: the pixel of the result for row m of the product, and the address in x
 * that it reads. Follows shape.cuh and matrix.cuh.
 */
struct pixel_t {
  bool is_there;
  int image;
  int y;
  int x;
};
INLINE pixel_t pixel_of(const shape_t& s, unsigned m) {
  const unsigned line = quotient(s.by_columns, m);
  const unsigned image = quotient(s.by_rows, line);
  pixel_t pixel;
  pixel.is_there = (int)m < s.pixels;
  pixel.image = (int)image;
  pixel.y = (int)(line - image * s.by_rows.extent);
  pixel.x = (int)(m - line * s.by_columns.extent);
  return pixel;
}
/* The address of this channel of the pixel in x. NULL if the row or the pixel does not exist. */
INLINE const element_t* source_of(const shape_t& s, unsigned m, int channel) {
  const pixel_t pixel = pixel_of(s, m);
  const int y = pixel.y * s.stride_y - s.begin_y;
  const int x = pixel.x * s.stride_x - s.begin_x;
  const bool inside = pixel.is_there && y >= 0 && x >= 0 && y < s.height && x < s.width;
  return inside ? (const element_t*)s.x + pixel.image * s.x_image + y * s.x_row + x * s.x_column +
                      channel
                : 0;
}
