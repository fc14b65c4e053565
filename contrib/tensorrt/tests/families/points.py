"""PointPillars: clouds of points to columns, columns to a map, boxes from a map."""
import numpy as np

from drawing import Case, Value

F = np.float32


def voxel_generator(draw):
    n, m, c = draw.size(1, 3), draw.size(1, 40), draw.pick(4, 5)
    size = [draw.pick(1.0, 0.5), draw.pick(1.0, 2.0), 4.0]
    area = [-2.0, 0.0, -1.0, 2.0, 4.0, 3.0]
    most, voxels, features = draw.pick(1, 3), draw.pick(3, 20), c + draw.pick(5, 6)
    # Values at least 0.01 apart from the borders of columns.
    points = np.round(draw.uniform(-2.2, 3.2, n, m, c) * 4) / 4 + F(0.1)

    def want(points, counts):
        columns, rows = round((area[3] - area[0]) / size[0]), round((area[4] - area[1]) / size[1])
        out, coords, found = np.zeros((n, voxels, most, features), F), np.zeros((n, voxels, 4), np.int32), np.zeros(n, np.int32)
        for i in range(n):
            cells = {}
            for p in points[i, :counts[i]]:
                if all(area[k] <= p[k] < area[k + 3] for k in range(3)):
                    cells.setdefault((int((p[1] - area[1]) / size[1]), int((p[0] - area[0]) / size[0])), []).append(p)
            used = [cell for cell in sorted(cells) if cell[0] < rows and cell[1] < columns][:voxels]
            found[i] = len(used)
            for v, (row, column) in enumerate(used):
                kept = np.array(cells[row, column][:most])
                centre = np.array(size) / 2 + np.array([column, row, 0]) * size + area[:3]
                full = np.concatenate([kept, kept[:, :3] - kept[:, :3].mean(0), kept[:, :3] - centre], 1)
                out[i, v, :len(kept)] = full[:, :features]
                coords[i, v] = 0, 0, row, column
        return out, coords, found
    counts = draw.ints(0, m + 1, n)
    return Case("VoxelGeneratorPlugin", [Value(points.astype(F), fixed=[2]), counts], want, half=False, max_num_points_per_voxel=most, max_voxels=voxels,
                point_cloud_range=area, voxel_feature_num=features, voxel_size=size)


def pillar_scatter(draw):
    n, p, c, h, w = draw.size(1, 3), draw.size(1, 6), draw.size(1, 4), draw.size(2, 5), draw.size(3, 5)
    coords = np.zeros((n, p, 4), np.int32)
    for i in range(n):
        coords[i, :, 2], coords[i, :, 3] = np.unravel_index(draw.rng.permutation(h * w)[:p], (h, w))
    counts = draw.ints(0, p + 1, n)

    def want(voxels, coords, counts):
        y = np.zeros((n, c, h, w), voxels.dtype)
        for i in range(n):
            for k in range(counts[i]):
                y[i, :, coords[i, k, 2], coords[i, k, 3]] = voxels[i, k]
        return y
    return Case("PillarScatterPlugin", [Value(draw.floats(n, p, c), fixed=[2]), Value(coords, fixed=[2]), counts], want, tolerance="equal", dense_shape=[h, w])


def decode_boxes(draw):
    n, h, w, classes = draw.size(1, 2), draw.size(1, 4), draw.size(1, 4), draw.size(1, 3)
    anchors = np.concatenate([draw.uniform(0.5, 4, 2 * classes, 3), draw.pick(F([[0.0], [1.57]]), F([[1.0], [0.5]])).repeat(classes, 0)], 1)
    bottoms = draw.uniform(-2, 0, classes)
    area, threshold, offset, limit, bins = [0.0, -3.0, -1.0, 6.0, 3.0, 1.0], draw.number(0.3, 0.7), draw.pick(None, 0.78539), draw.pick(None, 0.25), 2

    def want(scores, deltas, directions):
        a = 2 * classes
        out, found = np.zeros((n, h * w * a, 9), F), np.zeros(n, np.int32)
        scores, deltas, directions = (v.reshape(n, h, w, a, -1) for v in (scores, deltas, directions))
        for i, row, column, k in np.ndindex(n, h, w, a):
            label = int(scores[i, row, column, k].argmax())
            score = 1 / (1 + np.exp(-scores[i, row, column, k, label]))
            if score < F(threshold):
                continue
            d, (dx, dy, dz, angle) = deltas[i, row, column, k], anchors[k]
            x = area[0] + column * (area[3] - area[0]) / max(w - 1, 1)
            y = area[1] + row * (area[4] - area[1]) / max(h - 1, 1)
            diagonal, period = np.hypot(dx, dy), 2 * np.pi / bins
            value = d[6] + angle - (offset or 0)
            yaw = value - np.floor(value / period + (limit or 0)) * period + (offset or 0)
            yaw += 0 if directions[i, row, column, k, 0] > directions[i, row, column, k, 1] else period
            out[i, found[i]] = [d[0] * diagonal + x, d[1] * diagonal + y, d[2] * dz + dz / 2 + bottoms[k // 2],
                                np.exp(d[3]) * dx, np.exp(d[4]) * dy, np.exp(d[5]) * dz, yaw, label, score]
            found[i] += 1
        return out, found
    scores = draw.floats(n, h, w, 2 * classes * classes)
    if draw.chance():  # some are at the threshold
        threshold, scores = 0.5, np.round(scores)
    return Case("DecodeBbox3DPlugin", [Value(scores, fixed=[3]), Value(draw.floats(n, h, w, 14 * classes, scale=0.4), fixed=[3]),
                                       Value(draw.floats(n, h, w, 4 * classes), fixed=[3])], want, half=False, point_cloud_range=area,
                anchors=anchors.reshape(-1).tolist(), anchor_bottom_height=bottoms.tolist(), dir_offset=offset, dir_limit_offset=limit,
                num_dir_bins=bins, score_thresh=threshold)


COUNTS = {"DecodeBbox3DPlugin": 8, "VoxelGeneratorPlugin": 8}
OPERATORS = {
    "DecodeBbox3DPlugin": decode_boxes,
    "PillarScatterPlugin": pillar_scatter,
    "VoxelGeneratorPlugin": voxel_generator,
}
