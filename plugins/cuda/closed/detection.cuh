/*
 * Detectors' last layers: SSD's detection_output, Faster R-CNN's propose_regions. Boxes are decoded;
 * each candidate of a list (a class of an image, or an image) counts those in front of it, which is
 * its place; a block walks through a list, best first, and keeps what overlaps nothing that it kept.
 *
 * number: images, lists of an image, candidates of a list, boxes of an image, visited at most, kept at most.
 * scratch: 4 numbers; of each list how many are kept, where its rows begin, how many stay after the cut;
 * boxes of 4 numbers; of each list its candidates in order.
 */
#define IMAGES p.number[0]
#define LISTS_OF_IMAGE p.number[1]
#define LISTS (IMAGES * LISTS_OF_IMAGE)
#define CANDIDATES p.number[2]
#define BOXES p.number[3]
INLINE u64* kept_of(const parameters_t& p) { return (u64*)p.scratch + 4; }
INLINE u64* start_of(const parameters_t& p) { return kept_of(p) + LISTS; }
INLINE u64* cut_of(const parameters_t& p) { return start_of(p) + LISTS; }
INLINE double* boxes_of(const parameters_t& p, i64 image) {
  return (double*)(cut_of(p) + LISTS) + image * BOXES * 4;
}
INLINE int* order_of(const parameters_t& p, i64 list) {
  return (int*)boxes_of(p, IMAGES) + list * CANDIDATES;
}

#if OP_detection_output
#define UNIT 0.0
#define IOU_THRESHOLD A_nms_threshold
#define ETA A_eta
/* A prediction is of a prior, or of a prior and a class. */
#define LOCATION_CLASSES (A_share_location ? 1 : (i64)A_classes)
INLINE double score_of(const parameters_t& p, i64 list, i64 prior) {
  return (double)IN1((list / A_classes * CANDIDATES + prior) * A_classes + list % A_classes);
}
INLINE bool is_candidate(const parameters_t& p, i64 list, i64 prior) {
  return list % A_classes != A_background && score_of(p, list, prior) > A_score_threshold;
}
INLINE const double* box_of(const parameters_t& p, i64 list, i64 prior) {
  const i64 first = A_share_location ? 0 : list % A_classes * CANDIDATES;
  return boxes_of(p, list / A_classes) + (first + prior) * 4;
}
INLINE void decode_box(const parameters_t& p, i64 image, i64 i) {
  const i64 prior = i % CANDIDATES;
  const i64 location = ((image * CANDIDATES + prior) * LOCATION_CLASSES + i / CANDIDATES) * 4;
  double* box = boxes_of(p, image) + i * 4;
  double corner[4];
  double offset[4];
  for (int k = 0; k < 4; ++k) {
    corner[k] = (double)IN2(prior * 4 + k);
    offset[k] = (double)IN0(location + k) *
                (A_variance_in_target ? 1.0 : (double)IN2((CANDIDATES + prior) * 4 + k));
  }
  for (int k = 0; k < 2; ++k) {
    const double size = corner[k + 2] - corner[k];
#if A_code_center_size
    const double middle = (corner[k] + corner[k + 2]) / 2 + offset[k] * size;
    const double half = exp(offset[k + 2]) * size / 2;
    box[k] = middle - half;
    box[k + 2] = middle + half;
#elif A_code_corner_size
    box[k] = corner[k] + offset[k] * size;
    box[k + 2] = corner[k + 2] + offset[k + 2] * size;
#else
    box[k] = corner[k] + offset[k];
    box[k + 2] = corner[k + 2] + offset[k + 2];
#endif
  }
}
#else
/* Corners are pixels, and the last one belongs to the box. */
#define UNIT 1.0
#define IOU_THRESHOLD A_iou_threshold
#define ETA 1.0
#define KINDS p.in[0].dims[1]
INLINE double score_of(const parameters_t& p, i64 image, i64 i) {
  return (double)IN0((image * KINDS + i % KINDS) * (CANDIDATES / KINDS) + i / KINDS);
}
INLINE const double* box_of(const parameters_t& p, i64 image, i64 i) { return boxes_of(p, image) + i * 4; }
INLINE i64 about_image(const parameters_t& p, i64 image) {
  const i64 width = p.in[2].dims[IN2_RANK - 1];
  return p.in[2].count == width ? 0 : image * width;
}
INLINE bool is_candidate(const parameters_t& p, i64 image, i64 i) {
  const double scale = p.in[2].dims[IN2_RANK - 1] > 2 ? (double)IN2(about_image(p, image) + 2) : 1.0;
  const double least = A_min_size * scale;
  const double* box = box_of(p, image, i);
  return box[2] - box[0] + 1 >= least && box[3] - box[1] + 1 >= least;
}
INLINE void decode_box(const parameters_t& p, i64 image, i64 i) {
  const i64 kind = i % KINDS;
  const i64 place = i / KINDS;
  const i64 plane = CANDIDATES / KINDS;
  const i64 columns = p.in[0].dims[3];
  double* box = boxes_of(p, image) + i * 4;
  for (int k = 0; k < 2; ++k) {
    const double corner = (double)(k == 0 ? place % columns : place / columns) * (double)A_stride;
    const double low = A_anchors(kind * 4 + k);
    const double size = A_anchors(kind * 4 + k + 2) - low + 1;
    const double shift = (double)IN1(((image * KINDS + kind) * 4 + k) * plane + place);
    const double stretch = (double)IN1(((image * KINDS + kind) * 4 + k + 2) * plane + place);
    const double middle = low + corner + size / 2 + shift * size;
    const double half = exp(stretch) * size / 2;
    const double last = (double)IN2(about_image(p, image) + 1 - k) - 1;
    box[k] = fmax(fmin(middle - half, last), 0.0);
    box[k + 2] = fmax(fmin(middle + half, last), 0.0);
  }
}
#endif

KERNEL decode(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, LISTS) {
    kept_of(p)[i] = 0;
    cut_of(p)[i] = 0;
  }
  EACH(i, IMAGES * BOXES) { decode_box(p, i / BOXES, i % BOXES); }
}
/* Candidates in order: their number is counted too. */
KERNEL sort(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, LISTS * CANDIDATES) {
    const i64 list = i / CANDIDATES;
    const i64 own = i % CANDIDATES;
    if (!is_candidate(p, list, own)) {
      continue;
    }
    const double score = score_of(p, list, own);
    i64 rank = 0;
    for (i64 k = 0; k < CANDIDATES; ++k) {
      const double other = score_of(p, list, k);
      rank += (other > score || (other == score && k < own)) && is_candidate(p, list, k) ? 1 : 0;
    }
    order_of(p, list)[rank] = (int)own;
    atomicAdd(&kept_of(p)[list], 1ull);
  }
}
INLINE double area_of(const double* box) {
  const double width = box[2] - box[0];
  const double height = box[3] - box[1];
  return width < 0 || height < 0 ? 0.0 : (width + UNIT) * (height + UNIT);
}
INLINE double overlap_of(const double* a, const double* b) {
  const double width = fmin(a[2], b[2]) - fmax(a[0], b[0]) + UNIT;
  const double height = fmin(a[3], b[3]) - fmax(a[1], b[1]) + UNIT;
  if (!(width > 0 && height > 0)) {
    return 0.0;
  }
  const double common = width * height;
  return common / (area_of(a) + area_of(b) - common);
}
KERNEL suppress(const __grid_constant__ parameters_t p) {
  __shared__ int hit;
  begin(p);
  EACH_BLOCK(list, LISTS) {
    int* order = order_of(p, list);
    const i64 found = (i64)kept_of(p)[list];
    const i64 count = p.number[4] >= 0 ? least_of(found, p.number[4]) : found;
    const i64 limit = p.number[5] >= 0 ? p.number[5] : count;
    double threshold = IOU_THRESHOLD;
    i64 kept = 0;
    __syncthreads();
    for (i64 i = 0; i < count && kept < limit; ++i) {
      const int candidate = order[i];
      const double* box = box_of(p, list, candidate);
      if (threadIdx.x == 0) {
        hit = 0;
      }
      __syncthreads();
      EACH_THREAD(k, kept) {
        if (!(overlap_of(box, box_of(p, list, order[k])) <= threshold)) {
          hit = 1;
        }
      }
      __syncthreads();
      if (hit == 0) {
        threshold *= ETA < 1 && threshold > 0.5 ? ETA : 1.0;
        if (threadIdx.x == 0) {
          order[kept] = candidate;
        }
        ++kept;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      kept_of(p)[list] = (u64)kept;
    }
    __syncthreads();
  }
}
#if OP_detection_output
/* Of an image the best keep_top_k stay: of each list, which is in order, a part from its beginning. */
KERNEL cut(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH_BLOCK(image, IMAGES) {
    i64 total = 0;
    for (i64 c = 0; c < LISTS_OF_IMAGE; ++c) {
      total += (i64)kept_of(p)[image * LISTS_OF_IMAGE + c];
    }
    if (A_keep_top_k < 0 || total <= A_keep_top_k) {
      EACH_THREAD(c, LISTS_OF_IMAGE) {
        cut_of(p)[image * LISTS_OF_IMAGE + c] = kept_of(p)[image * LISTS_OF_IMAGE + c];
      }
      continue;
    }
    for (i64 c = 0; c < LISTS_OF_IMAGE; ++c) {
      const i64 list = image * LISTS_OF_IMAGE + c;
      EACH_THREAD(i, (i64)kept_of(p)[list]) {
        const double score = score_of(p, list, order_of(p, list)[i]);
        i64 rank = i;
        for (i64 other = 0; other < LISTS_OF_IMAGE; ++other) {
          const i64 there = image * LISTS_OF_IMAGE + other;
          for (i64 k = 0; other != c && k < (i64)kept_of(p)[there]; ++k) {
            const double its = score_of(p, there, order_of(p, there)[k]);
            if (!(its > score || (its == score && other < c))) {
              break;
            }
            ++rank;
          }
        }
        if (rank < A_keep_top_k) {
          atomicAdd(&cut_of(p)[list], 1ull);
        }
      }
    }
  }
}
#define STAYING cut_of
#else
#define STAYING kept_of
#endif
KERNEL add_up(const __grid_constant__ parameters_t p) {
  begin(p);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64 total = 0;
    for (i64 list = 0; list < LISTS; ++list) {
      start_of(p)[list] = total;
      total += STAYING(p)[list];
    }
    ((u64*)p.scratch)[0] = total;
  }
}
KERNEL write(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 found = ((const i64*)p.scratch)[0];
#if OP_propose_regions_padded
  EACH(i, p.out[0].count) {
    const i64 image = i / 4 / p.out[0].dims[1];
    const i64 at = i / 4 % p.out[0].dims[1];
    OUT0(i, at < (i64)kept_of(p)[image] ? box_of(p, image, order_of(p, image)[at])[i % 4] : 0.0);
  }
#else
  EACH_BLOCK(list, LISTS) {
    EACH_THREAD(k, (i64)STAYING(p)[list]) {
      const i64 row = (i64)start_of(p)[list] + k;
      const int candidate = order_of(p, list)[k];
      const double* box = box_of(p, list, candidate);
#if OP_detection_output
      OUT0(row * 7, (double)(list / LISTS_OF_IMAGE));
      OUT0(row * 7 + 1, (double)(list % LISTS_OF_IMAGE));
      OUT0(row * 7 + 2, score_of(p, list, candidate));
      for (int c = 0; c < 4; ++c) {
        OUT0(row * 7 + 3 + c, box[c]);
      }
#else
      OUT0(row * 5, (double)list);
      for (int c = 0; c < 4; ++c) {
        OUT0(row * 5 + 1 + c, box[c]);
      }
      OUT1(row, score_of(p, list, candidate));
#endif
    }
  }
#if OP_detection_output
  /* Where nothing was found there is one row for each image: which it is, and -1. */
  EACH(i, found == 0 ? IMAGES * 7 : 0) { OUT0(i, i % 7 == 0 ? (double)(i / 7) : -1.0); }
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) {
#if OP_detection_output
    if (p.extents[0] != 0) {
      p.extents[0][0] = 1;
      p.extents[0][1] = 1;
      p.extents[0][2] = found > 0 ? found : IMAGES;
      p.extents[0][3] = 7;
    }
#else
    for (int k = 0; k < 2; ++k) {
      if (p.extents[k] != 0) {
        p.extents[k][0] = found;
        p.extents[k][1] = k == 0 ? 5 : 1;
      }
    }
#endif
  }
#endif
}
