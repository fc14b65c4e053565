"""Region proposals and detections of Faster R-CNN and Mask R-CNN."""
import numpy as np

from drawing import Case, Value

F = np.float32


def overlap(a, b, extra):
    size = [np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + F(extra)]
    both = np.prod(np.maximum(size, 0))
    either = np.prod(a[2:] - a[:2] + F(extra)) + np.prod(b[2:] - b[:2] + F(extra)) - both
    return both / either if both > 0 else 0


def suppress(boxes, scores, threshold, extra, labels=None):
    """Indices of the boxes that stay, best first."""
    kept = []
    for k in sorted(range(len(scores)), key=lambda k: -scores[k]):
        if not any((labels is None or labels[k] == labels[o]) and overlap(boxes[k], boxes[o], extra) > threshold for o in kept):
            kept.append(k)
    return kept


def padded(rows, count, width):
    out = np.zeros((count, width), F)
    for k, row in enumerate(rows[:count]):
        out[k] = row
    return out


def cut(boxes, last):
    return np.clip(boxes, 0, np.array(last, F)).astype(F)


def decode(anchors, centres, deltas):
    """Anchors (w, h) at centres (x, y)."""
    middle = centres + deltas[:, :2] * anchors
    half = np.exp(deltas[:, 2:]) * anchors / 2
    return np.concatenate([middle - half, middle + half], -1)


def proposals_image(scores, deltas, anchors, first, stride, last, is_large, top, iou, keep):
    """scores [A, H, W], deltas [4 A, H, W]."""
    a, h, w = scores.shape
    places = [(k, i, j) for k in range(a) for i in range(h) for j in range(w)]
    d = np.array([deltas[4 * k:4 * k + 4, i, j] for k, i, j in places], F)
    boxes = decode(np.array([anchors[k] for k, _, _ in places], F),
                   np.array([(j * stride + first, i * stride + first) for _, i, j in places], F), d)
    boxes = cut(boxes, list(last) * 2)
    s = [scores[p] for p in places]
    order = [k for k in sorted(range(len(s)), key=lambda k: -s[k]) if is_large(boxes[k, 2] - boxes[k, 0], boxes[k, 3] - boxes[k, 1])][:top]
    boxes, s = boxes[order], [s[k] for k in order]
    return boxes[suppress(boxes, s, F(iou), 1)][:keep]


def unequal(draw, *shape):
    """Scores from 0 to 1, no two of them equal."""
    count = int(np.prod(shape))
    return ((draw.rng.permutation(count) + 0.5) / count).reshape(shape).astype(F)


def proposal(op):
    def function(draw):
        n, h, w, stride = draw.size(1, 2), draw.size(1, 4), draw.size(1, 4), draw.pick(8, 16)
        sizes, ratios = draw.pick([20.0], [16.0, 40.0]), draw.pick([1.0], [1.0, 0.7, 1.4])
        is_dense = draw.chance(0.4)  # small boxes with gaps below a pixel
        stride, sizes = (2, [2.0]) if is_dense else (stride, sizes)
        a = len(sizes) * len(ratios)
        height, width = h * stride + 3, w * stride + 1
        least, iou, top, keep = draw.pick(None, 4.0, 12.0), draw.pick(None, 0.4), draw.pick(4, 50), draw.pick(1, 4, 9)
        least, iou = (0.5, 0.05) if is_dense else (least, iou)

        def want(scores, deltas):
            anchors = [(s * r, s / r) for s in sizes for r in ratios]
            out = [padded(proposals_image(s, d, anchors, stride / 2, stride, (width - 1, height - 1), lambda x, y: x > (least or 1) and y > (least or 1),
                                          top, iou or 0.7, keep), keep, 4) for s, d in zip(scores, deltas)]
            out = np.stack(out)[..., [1, 0, 3, 2]] / np.array([height - 1, width - 1] * 2, F)
            return out[..., None].astype(F)
        return Case(op, [Value(unequal(draw, n, a, h, w), fixed=[1]), Value(draw.floats(n, 4 * a, h, w, scale=0.3), fixed=[1])], want, half=False,
                    input_height=height, input_width=width, rpn_stride=stride, roi_min_size=least, nms_iou_threshold=iou, pre_nms_top_n=top,
                    post_nms_top_n=keep, anchor_sizes=sizes, anchor_ratios=ratios)
    return function


def rproi(draw):
    n, h, w, stride, c = draw.size(1, 2), draw.size(2, 4), draw.size(2, 4), 16, draw.size(1, 3)
    ratios, scales = draw.pick([1.0], [0.5, 1.0, 2.0]), draw.pick([1.0, 2.0], [1.5])
    a, keep, top = len(ratios) * len(scales), draw.pick(2, 5), draw.pick(6, 60)
    pool = draw.size(1, 3), draw.size(1, 3)
    info = np.array([[h * stride - draw.size(0, 3), w * stride, draw.pick(1.0, 0.5)] for _ in range(n)], F)

    def want(scores, deltas, x, info):
        anchors = []
        for r in ratios:
            side = np.round(np.sqrt(stride * stride / r))
            anchors += [(side * s, np.round(side * r) * s) for s in scales]
        rois = np.stack([padded(proposals_image(scores[i, a:], deltas[i], anchors, (stride - 1) / 2, stride, (info[i, 1] - 1, info[i, 0] - 1),
                                                lambda p, q, i=i: p + 1 >= 16 * info[i, 2] and q + 1 >= 16 * info[i, 2], top, 0.6, keep), keep, 4)
                         for i in range(n)])
        y = np.zeros((n, keep, c, *pool), F)
        for i, k, p, q in np.ndindex(n, keep, *pool):
            begin = np.floor(rois[i, k, [1, 0]] / stride + 0.5).astype(int)
            end = np.floor(rois[i, k, [3, 2]] / stride + 0.5).astype(int)
            size = np.maximum(end - begin + 1, 1)
            low = np.clip(np.floor(np.array([p, q]) * size / pool).astype(int) + begin, 0, [h, w])
            high = np.clip(np.ceil(np.array([p + 1, q + 1]) * size / pool).astype(int) + begin, 0, [h, w])
            if (high > low).all():
                y[i, k, :, p, q] = x[i, :, low[0]:high[0], low[1]:high[1]].max((1, 2))
        return rois[:, None], y
    inputs = [Value(unequal(draw, n, 2 * a, h, w), fixed=[1]), Value(draw.floats(n, 4 * a, h, w, scale=0.3), fixed=[1]),
              Value(draw.floats(n, c, h, w), fixed=[1]), Value(info, fixed=[1])]
    return Case("RPROI_TRT", inputs, want, half=False, poolingH=pool[0], poolingW=pool[1], featureStride=stride, preNmsTop=top, nmsMaxOut=keep,
                anchorsRatioCount=len(ratios), anchorsScaleCount=len(scales), iouThreshold=0.6, minBoxSize=16.0, spatialScale=1 / stride,
                anchorsRatios=ratios, anchorsScales=scales)


def refined(boxes, deltas):
    """y1, x1, y2, x2 as parts of the image."""
    size = boxes[..., 2:] - boxes[..., :2]
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2 + deltas[..., :2] * F(0.1) * size
    size = size * np.exp(deltas[..., 2:] * F(0.2))
    return np.clip(np.concatenate([middle - size / 2, middle + size / 2], -1), 0, 1)


def refined_pixels(boxes, deltas, image, weights):
    deltas = deltas / np.array(weights, F)
    size = boxes[..., 2:] - boxes[..., :2] + 1
    middle = boxes[..., :2] + size / 2 + deltas[..., :2] * size
    size = np.exp(np.minimum(deltas[..., 2:], np.log(1000 / 16))) * size
    low = middle - size / 2
    return np.clip(np.concatenate([low, low + size - 1], -1), 0, np.array([image[1] - 1, image[2] - 1] * 2)).astype(F)


def pyramid(image, kind):
    """Anchors of each level: of Mask R-CNN in parts of the image, or of TAO in pixels."""
    levels = []
    for k in range(5):
        stride, boxes = 4 << k, []
        for y in range(0 if kind == "parts" else stride // 2, image[1], stride):
            for x in range(0 if kind == "parts" else stride // 2, image[2], stride):
                for r in range(3):
                    if kind == "parts":
                        root = np.sqrt((0.5, 1, 2)[r])
                        h, w = (32 << k) / root, (32 << k) * root
                        boxes.append([(y - h / 2) / (image[1] - 1), (x - w / 2) / (image[2] - 1),
                                      (y + h / 2 - 1) / (image[1] - 1), (x + w / 2 - 1) / (image[2] - 1)])
                    else:
                        h, w = 8 * stride * (1, 0.7, 1.4)[r], 8 * stride * (1, 1.4, 0.7)[r]
                        boxes.append([y - h / 2, x - w / 2, y + h / 2, x + w / 2])
        levels.append(np.array(boxes, F).reshape(-1, 4))
    return levels


def best_of(boxes, scores, top, iou, keep, is_candidate):
    order = [k for k in np.argsort(-scores, kind="stable") if is_candidate(scores[k])][:top]
    boxes, scores = boxes[order], scores[order]
    kept = suppress(boxes, scores, F(iou), 0)[:keep]
    return boxes[kept], scores[kept]


def proposal_layer(draw):
    n, image = draw.size(1, 2), draw.pick([3, 16, 24], [3, 10, 17])
    anchors = np.concatenate(pyramid(image, "parts"))
    top, keep, iou = draw.pick(10, 60), draw.pick(3, 8), draw.pick(None, 0.7)

    def want(scores, deltas):
        out = []
        for s, d in zip(scores[..., 0], deltas[..., 0]):
            out.append(padded(best_of(refined(anchors, d).astype(F), s[:, 1], top, iou or 0.5, keep, lambda v: v > F(0.01))[0], keep, 4))
        return np.stack(out)
    scores = unequal(draw, n, len(anchors), 2, 1) * draw.pick(F(1), F(0.03))
    return Case("ProposalLayer_TRT", [Value(scores, fixed=[1, 2, 3]), Value(draw.floats(n, len(anchors), 4, 1, scale=2), fixed=[1, 2, 3])], want,
                half=False, prenms_topk=top, keep_topk=keep, iou_threshold=iou, image_size=image)


def multilevel_propose(draw):
    n, image = draw.size(1, 2), [3, 16, 24]
    levels = pyramid(image, "pixels")
    top, keep, iou = draw.pick(10, 60), draw.pick(6, 12), draw.pick(None, 0.6)
    inputs = []
    for boxes in levels:
        inputs += [Value(draw.floats(n, len(boxes), 4, 1), fixed=[1, 2, 3]), Value(unequal(draw, n, len(boxes), 1, 1) * F(draw.number(0.5, 1)), fixed=[1, 2, 3])]

    # Some scores are at the threshold.
    least = draw.pick(0.0, float(inputs[1].array.reshape(-1)[0]), float(inputs[3].array.reshape(-1)[0]))

    def want(*arrays):
        out = []
        for i in range(n):
            found = [best_of(refined_pixels(boxes, arrays[2 * k][i, ..., 0], image, [1, 1, 1, 1]), arrays[2 * k + 1][i, :, 0, 0], top, iou or 0.5, keep,
                             lambda v: v >= F(least)) for k, boxes in enumerate(levels)]
            boxes, scores = [np.concatenate(part) for part in zip(*found)]
            out.append(padded(boxes[np.argsort(-scores, kind="stable")], keep, 4))
        return np.stack(out)
    return Case("MultilevelProposeROI_TRT", inputs, want, half=False, prenms_topk=top, keep_topk=keep, fg_threshold=least, iou_threshold=iou,
                image_size=image)


def detections(op, is_pixels):
    def function(draw):
        n, r, c, keep = draw.size(1, 2), draw.size(2, 12), draw.size(2, 4), draw.pick(2, 6)
        image = draw.pick(None, [3, 100, 140]) if is_pixels else None
        _, height, width = image or [3, 832, 1344]
        unit = np.array([height, width] * 2, F) if is_pixels else F(1)
        low = draw.uniform(0, 0.6, n, r, 2)
        rois = (np.concatenate([low, low + draw.uniform(0.1, 0.5, n, r, 2)], -1) * unit).astype(F)
        threshold, iou = draw.pick(0.0, 0.4), draw.pick(None, 0.3)
        scores = unequal(draw, n, r, c, 1, 1) * draw.pick(F(1), F(0.02))
        deltas = draw.floats(n, r, 4 * c, 1, 1)

        def want(deltas, scores, rois):
            out = np.zeros((n, keep, 6), F)
            out[..., 4] = -1
            for i in range(n):
                s, d = scores[i, ..., 0, 0], deltas[i, ..., 0, 0].reshape(r, c, 4)
                label = s[:, 1:].argmax(1) + 1 if is_pixels else s.argmax(1)
                own, delta = s[range(r), label], d[range(r), label]
                boxes = refined_pixels(rois[i], delta, [3, height, width], [10, 10, 5, 5]) if is_pixels else refined(rois[i], delta).astype(F)
                use = [k for k in range(r) if label[k] > 0 and own[k] >= F(threshold) and own[k] > F(0.01)]
                for k, at in enumerate(suppress(boxes[use], own[use], F(iou or 0.5), 0, label[use])[:keep]):
                    out[i, k] = [*boxes[use[at]], label[use[at]], own[use[at]]]
            return out
        return Case(op, [Value(deltas, fixed=[2, 3, 4]), Value(scores, fixed=[2, 3, 4]), Value(rois, fixed=[2])], want, half=False, num_classes=c,
                    keep_topk=keep, score_threshold=threshold, iou_threshold=iou, image_size=image)
    return function


COUNTS = {"DetectionLayer_TRT": 8, "GenerateDetection_TRT": 8, "MultilevelProposeROI_TRT": 8, "Proposal": 8, "RPROI_TRT": 12}
OPERATORS = {
    "DetectionLayer_TRT": detections("DetectionLayer_TRT", False),
    "GenerateDetection_TRT": detections("GenerateDetection_TRT", True),
    "MultilevelProposeROI_TRT": multilevel_propose,
    "Proposal": proposal("Proposal"),
    "ProposalDynamic": proposal("ProposalDynamic"),
    "ProposalLayer_TRT": proposal_layer,
    "RPROI_TRT": rproi,
}
