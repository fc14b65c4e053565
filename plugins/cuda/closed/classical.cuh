/* Classical models: tree ensembles, pairwise coupling, n-grams. A row is a thread's, but for n-grams, of which a
 * count is. */
#if OP_tree_ensemble
/* A node is mode, feature, where to go when true, and otherwise, whether NaN is true, its first
 * member and how many; below 0 is leaf -(index + 1). */
enum { LESS_EQUAL, LESS, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL, MEMBER, FIELDS };
INLINE bool is_true(const parameters_t& p, i64 at, double value) {
  const double threshold = (double)IN2(at);
  switch ((int)IN1(at * FIELDS)) {
    case LESS_EQUAL: return value <= threshold;
    case LESS: return value < threshold;
    case GREATER_EQUAL: return value >= threshold;
    case GREATER: return value > threshold;
    case EQUAL: return value == threshold;
    case NOT_EQUAL: return value != threshold;
    default: break;
  }
  const i64 first = (i64)IN1(at * FIELDS + 5);
  for (i64 k = 0; k < (i64)IN1(at * FIELDS + 6); ++k) {
    if (first + k >= 0 && first + k < p.in[3].count && (double)IN3(first + k) == value) {
      return true;
    }
  }
  return false;
}
/* -1: the walk leaves the tree, or has no end. */
INLINE i64 leaf_of(const parameters_t& p, i64 row, i64 root) {
  const i64 nodes = p.in[1].count / FIELDS;
  const i64 features = p.in[0].dims[1];
  i64 at = root;
  for (i64 step = 0; at >= 0 && step < nodes; ++step) {
    const i64 feature = at < nodes ? (i64)IN1(at * FIELDS + 1) : -1;
    if (feature < 0 || feature >= features) {
      return -1;
    }
    const double value = (double)IN0(row * features + feature);
    const bool goes_true = (value != value && IN1(at * FIELDS + 4) != 0) || is_true(p, at, value);
    at = (i64)IN1(at * FIELDS + (goes_true ? 2 : 3));
  }
  return at < 0 && -(at + 1) < p.in[5].count / 2 ? -(at + 1) : -1;
}
KERNEL score(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 targets = p.out[0].dims[1];
  const i64 trees = p.in[4].count;
  EACH(row, p.in[0].dims[0]) {
    double* scores = (double*)p.scratch + row * targets;
    u8* is_scored = (u8*)((double*)p.scratch + p.out[0].count) + row * targets;
    for (i64 k = 0; k < targets; ++k) {
      scores[k] = 0.0;
      is_scored[k] = 0;
    }
    for (i64 tree = 0; tree < trees; ++tree) {
      const i64 leaf = leaf_of(p, row, (i64)IN4(tree));
      if (leaf < 0) {
        fail(p, 1, tree);
        continue;
      }
      const i64 first = (i64)IN5(leaf * 2);
      for (i64 k = first; k < first + (i64)IN5(leaf * 2 + 1); ++k) {
        const i64 target = k >= 0 && k < p.in[6].count ? (i64)IN6(k) : -1;
        if (target < 0 || target >= targets) {
          fail(p, 1, tree);
          break;
        }
        const double weight = (double)IN7(k);
#if A_aggregate_min
        scores[target] = is_scored[target] == 0 || weight < scores[target] ? weight : scores[target];
#elif A_aggregate_max
        scores[target] = is_scored[target] == 0 || weight > scores[target] ? weight : scores[target];
#else
        scores[target] += weight;
#endif
        is_scored[target] = 1;
      }
    }
    for (i64 k = 0; k < targets; ++k) {
#if A_aggregate_average
      OUT0(row * targets + k, trees == 0 ? scores[k] : scores[k] / (double)trees);
#else
      OUT0(row * targets + k, scores[k]);
#endif
    }
  }
}
#elif OP_couple_pairs
/* scratch of a row: Q (k by k), Q p, p. The second method of Wu, Lin and Weng (2004), stopped where
 * LIBSVM stops. */
enum { MOST_ROUNDS = 100 };
KERNEL couple(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 n = p.out[0].dims[1];
  EACH(row, p.in[0].dims[0]) {
    double* q = (double*)p.scratch + row * n * (n + 2);
    double* qp = q + n * n;
    double* own = qp + n;
    i64 pair = row * p.in[0].dims[1];
    for (i64 i = 0; i < n; ++i) {
      own[i] = 1.0 / (double)n;
      q[i * n + i] = 0.0;
    }
    for (i64 i = 0; i < n; ++i) {
      for (i64 j = i + 1; j < n; ++j) {
        const double first = (double)IN0(pair++);
        const double second = 1.0 - first;
        q[i * n + i] += second * second;
        q[j * n + j] += first * first;
        q[i * n + j] = -first * second;
        q[j * n + i] = -first * second;
      }
    }
    for (int round = 0; round < MOST_ROUNDS; ++round) {
      double total = 0.0;
      double largest = 0.0;
      for (i64 i = 0; i < n; ++i) {
        qp[i] = 0.0;
        for (i64 j = 0; j < n; ++j) {
          qp[i] += q[i * n + j] * own[j];
        }
        total += own[i] * qp[i];
      }
      for (i64 i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(qp[i] - total));
      }
      if (largest < 0.005 / (double)n) {
        break;
      }
      for (i64 i = 0; i < n; ++i) {
        const double diagonal = q[i * n + i];
        const double step = (total - qp[i]) / diagonal;
        const double scale = 1.0 + step;
        own[i] += step;
        total = (total + step * (step * diagonal + 2.0 * qp[i])) / scale / scale;
        for (i64 j = 0; j < n; ++j) {
          qp[j] = (qp[j] + step * q[i * n + j]) / scale;
          own[j] /= scale;
        }
      }
    }
    for (i64 i = 0; i < n; ++i) {
      OUT0(row * n + i, own[i]);
    }
  }
}
#else
/* n-grams of a pool of numbers in each row, with items left out between neighbours. */
INLINE double count_of(const parameters_t& p, i64 row, i64 width, i64 index) {
  double count = 0.0;
  i64 first = 0;
  for (i64 length = 1; length <= A_ngram_counts_count; ++length) {
    const i64 begin_at = A_ngram_counts[length - 1];
    const i64 end_at = length < A_ngram_counts_count ? A_ngram_counts[length] : A_pool_int64s_count;
    const i64 distances = length == 1 ? 1 : A_max_skip_count + 1;
    const bool is_wanted = length >= A_min_gram_length && length <= A_max_gram_length && begin_at >= 0 &&
                           end_at <= A_pool_int64s_count;
    for (i64 gram = 0; is_wanted && gram < (end_at - begin_at) / length; ++gram) {
      if (first + gram >= A_ngram_indexes_count || A_ngram_indexes[first + gram] != index) {
        continue;
      }
      for (i64 distance = 1; distance <= distances; ++distance) {
        for (i64 at = 0; at + (length - 1) * distance < width; ++at) {
          bool stands = true;
          for (i64 item = 0; item < length && stands; ++item) {
            stands = A_pool_int64s[begin_at + gram * length + item] == (i64)IN0(row * width + at + item * distance);
          }
          count += stands ? 1.0 : 0.0;
        }
      }
    }
    first += (end_at - begin_at) / length;
  }
  return count;
}
KERNEL count_grams(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 width = IN0_RANK == 0 ? 1 : p.in[0].dims[IN0_RANK == 0 ? 0 : IN0_RANK - 1];
  const i64 size = p.out[0].dims[OUT0_RANK - 1];
  EACH(i, p.out[0].count) {
    double count = count_of(p, i / size, width, i % size);
#if A_mode_IDF
    count = count > 0.0 ? 1.0 : count;
#endif
#if !A_mode_TF
    count = i % size < A_weights_count ? count * A_weights(i % size) : count;
#endif
    OUT0(i, count);
  }
}
#endif
