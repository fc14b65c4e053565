"""Non-maximum suppression."""
import numpy as np

from drawing import Case, Value

F = np.float32


def overlap(a, b, extra=F(0)):
    """Intersection over union of two boxes, given by any two opposite corners."""
    low = np.maximum(np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:]))
    high = np.minimum(np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:]))
    if (high < low).any():
        return F(0)
    area = [np.prod(np.abs(box[2:] - box[:2]) + extra) for box in (a, b)]
    both = np.prod(high - low + extra)
    either = area[0] + area[1] - both
    return both / either if both > 0 and either > 0 else F(0)


def greedy(candidates, box_of, is_rival, drops, most):
    """Of candidates, best first, those that no better one drops."""
    kept = []
    for candidate in candidates:
        if len(kept) == most:
            break
        if not any(is_rival(candidate, other) and drops(overlap_of(candidate, other, box_of)) for other in kept):
            kept.append(candidate)
    return kept


def overlap_of(a, b, box_of):
    return overlap(box_of(a), box_of(b), box_of.extra)


class BoxOf:
    """The box of a candidate (score, place, label) of an image."""

    def __init__(self, boxes, extra=0):
        self.boxes, self.extra = boxes, F(extra)

    def __call__(self, candidate):
        _, place, label = candidate
        return self.boxes[place, label if self.boxes.shape[1] > 1 else 0]


def all_above(scores, above, background):
    places, labels = scores.shape
    return [(scores[p, c], p, c) for p in range(places) for c in range(labels) if c != background and above(scores[p, c])]


def efficient_image(boxes, scores, score_threshold, iou_threshold, background=-1, agnostic=False, per_class=None, most=None):
    """EfficientNMS of an image: boxes [P, L, 4], scores [P, C]. Returns (score, place, label), best first."""
    found = sorted(all_above(scores, lambda s: s >= F(score_threshold), background), key=lambda c: (-c[0], c[1], c[2]))[:4096]
    kept, counts = [], {}
    box_of = BoxOf(boxes)
    for candidate in greedy(found, box_of, lambda a, b: agnostic or a[2] == b[2], lambda o: o >= F(iou_threshold), None):
        counts[candidate[2]] = counts.get(candidate[2], 0) + 1
        if per_class is None or per_class < 0 or counts[candidate[2]] <= per_class:
            kept.append(candidate)
    return kept[:most]


def batched_image(boxes, scores, score_threshold, iou_threshold, background, top, keep, extra):
    """BatchedNMS of an image: the best `top` of each class, then the best of all classes."""
    box_of = BoxOf(boxes, extra)
    kept = []
    for label in range(scores.shape[1]):
        found = [c for c in all_above(scores, lambda s: s > F(score_threshold), background) if c[2] == label]
        found = sorted(found, key=lambda c: (-c[0], c[1]))[:top]
        kept += greedy(found, box_of, lambda a, b: True, lambda o: o > F(iou_threshold), None)
    return sorted(kept, key=lambda c: (-c[0], c[2], c[1]))[:keep]


def padded(images, boxes, keep, label, label_type):
    """count, boxes, scores, labels of a fixed number; zeros and `label` behind the last."""
    n = len(images)
    count = np.array([[len(kept)] for kept in images], np.int32).reshape(n, 1)
    box, score = np.zeros((n, keep, 4), F), np.zeros((n, keep), F)
    labels = np.full((n, keep), label, label_type)
    for i, kept in enumerate(images):
        for k, candidate in enumerate(kept):
            box[i, k], score[i, k], labels[i, k] = BoxOf(boxes[i])(candidate), candidate[0], candidate[2]
    return count, box, score, labels


def draw_boxes(draw, *shape, scale=1):
    """Corners of boxes, some of them equal to another one, some with exchanged corners."""
    low = draw.uniform(0, 0.8, *shape, 2)
    boxes = np.concatenate([low, low + draw.uniform(0.05, 0.4, *shape, 2)], -1)
    flat = boxes.reshape(-1, 4)
    for k in range(len(flat) // 6):
        flat[draw.size(0, len(flat) - 1)] = flat[draw.size(0, len(flat) - 1)]
        if k % 3 == 0:
            at = draw.size(0, len(flat) - 1)
            flat[at] = flat[at][[2, 3, 0, 1]]
    return (boxes * scale).astype(F)


def draw_scores(draw, *shape):
    """Some scores are equal."""
    scores = draw.uniform(0, 1, *shape)
    return np.where(draw.uniform(0, 1, *shape) < 0.2, np.round(scores * 4) / 4, scores).astype(F)


def logits(draw, scores):
    """Before the sigmoid; zeros of both signs, which are equal."""
    scores = np.clip(scores, 0.01, 0.99)
    values = np.log(scores / (1 - scores))
    return np.where(values == 0, draw.pick(-1, 1) * draw.uniform(-1, 1, *scores.shape) * 0, values).astype(F)


def threshold_of(draw):
    """Some scores are at the threshold."""
    return draw.pick(0.25, 0.5, draw.number(0.1, 0.6))


def centres(boxes):
    return np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, np.abs(boxes[..., 2:] - boxes[..., :2])], -1).astype(F)


def corners(boxes):
    half = boxes[..., 2:] * F(0.5)
    return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def ordered(boxes):
    return np.concatenate([np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])], -1)


def with_anchors(boxes, anchors, coding):
    if coding == 0:
        return ordered(boxes) + ordered(anchors)
    return corners(np.concatenate([boxes[..., :2] * anchors[..., 2:] + anchors[..., :2],
                                   np.exp(boxes[..., 2:]) * anchors[..., 2:]], -1))


def sizes(draw):
    return draw.size(1, 3), draw.size(1, 24), draw.size(1, 4)


def efficient(draw):
    n, p, c = sizes(draw)
    box_classes = draw.pick(0, 1, c)
    coding, has_anchors, raw = draw.pick(0, 1, None), draw.chance(0.4), draw.pick(None, 0, 1)
    boxes = draw_boxes(draw, n, p, *([box_classes] if box_classes else []))
    inputs = [Value(boxes, fixed=[-1])]
    scores = draw_scores(draw, n, p, c)
    inputs.append(Value(logits(draw, scores) if raw else scores))
    if has_anchors:
        inputs[0].array = draw.floats(*boxes.shape, scale=0.1)
        anchors = draw_boxes(draw, draw.pick(1, n), p)
        inputs.append(Value(centres(anchors) if coding else anchors, weight=True, fixed=[0, -1]))
        inputs[0].fixed = [0, boxes.ndim - 1]
        inputs[1].fixed = [0]
    elif coding:
        inputs[0].array = centres(boxes)
    keep, score_threshold, iou_threshold = draw.pick(None, 1, 5, 30), threshold_of(draw), draw.number(0.2, 0.7)
    background, agnostic = draw.pick(None, -1, 0), draw.pick(None, 0, 1)

    def want(boxes, scores, anchors=None):
        boxes = boxes if boxes.ndim == 4 else boxes[:, :, None]
        if anchors is not None:
            boxes = with_anchors(boxes, anchors[:, :, None], coding or 0)
        elif coding:
            boxes = corners(boxes)
        threshold = np.log(score_threshold / (1 - score_threshold)) if raw else score_threshold
        images = [efficient_image(b, s, threshold, iou_threshold, -1 if background is None else background, bool(agnostic), most=keep or 100)
                  for b, s in zip(boxes, scores)]
        results = list(padded(images, boxes, keep or 100, 0, np.int32))
        if raw:
            for image, kept in enumerate(images):
                results[2][image, :len(kept)] = 1 / (1 + np.exp(-results[2][image, :len(kept)]))
        return results
    return Case("EfficientNMS_TRT", inputs, want, max_output_boxes=keep, score_threshold=score_threshold, iou_threshold=iou_threshold,
                background_class=background, score_activation=raw, class_agnostic=agnostic, box_coding=coding)


def efficient_tf(op):
    def function(draw):
        n, p, c = sizes(draw)
        boxes = draw_boxes(draw, n, p, draw.pick(1, c), scale=1.2)
        scores = draw_scores(draw, n, p, c)
        each, total, pads, clips = draw.pick(1, 2, 5), draw.pick(2, 8, 20), draw.pick(None, 0, 1), draw.pick(None, 0, 1)
        score_threshold, iou_threshold = threshold_of(draw), draw.number(0.2, 0.7)
        keep = min(total, each * c) if pads else total

        def want(boxes, scores):
            images = [efficient_image(b, s, score_threshold, iou_threshold, per_class=each, most=keep) for b, s in zip(boxes, scores)]
            count, box, score, label = padded(images, boxes, keep, 0, np.int32)
            return count, np.clip(box, 0, 1) if clips else box, score, label
        return Case(op, [Value(boxes, fixed=[-1, -2]), Value(scores, fixed=[2])], want, max_output_size_per_class=each, max_total_size=total,
                    score_threshold=score_threshold, iou_threshold=iou_threshold, pad_per_class=pads, clip_boxes=clips)
    return function


def efficient_onnx(draw):
    n, p, c = sizes(draw)
    each, coding = draw.size(1, 6), draw.pick(None, 0, 1)
    boxes = draw_boxes(draw, n, p)
    score_threshold, iou_threshold = draw.number(0.1, 0.8 if draw.chance() else 1.2), draw.number(0.2, 0.7)

    def want(boxes, scores):
        boxes = corners(boxes) if coding else boxes
        rows = [(image, c, p) for image in range(n)
                for _, p, c in efficient_image(boxes[image, :, None], scores[image], score_threshold, iou_threshold, per_class=each, most=each)]
        return np.array(rows + [rows[-1] if rows else (-1, -1, -1)] * (n * each - len(rows)), np.int32).reshape(n * each, 3)
    return Case("EfficientNMS_ONNX_TRT", [Value(centres(boxes) if coding else boxes, fixed=[-1]), draw_scores(draw, n, p, c)], want,
                tolerance="equal", score_threshold=score_threshold, iou_threshold=iou_threshold, max_output_boxes_per_class=each,
                center_point_box=coding)


def batched(op):
    def function(draw):
        n, p, c = sizes(draw)
        normalized, clips, caffe = draw.pick(None, 0, 0, 1), draw.pick(None, 0, 1), draw.pick(None, None, 0, 1)
        is_normalized = normalized in (None, 1)
        shared = draw.pick(0, 1)
        boxes = draw_boxes(draw, n, p, 1 if shared else c, scale=1.2 if is_normalized else 6)
        top, keep = draw.pick(None, 3, 20), draw.pick(1, 3, 12)
        score_threshold, iou_threshold, background = draw.pick(None, threshold_of(draw)), draw.number(0.2, 0.7), draw.pick(None, -1, 0)
        extra = 1 if not is_normalized and caffe in (None, 1) else 0

        def want(boxes, scores):
            images = [batched_image(b, s, score_threshold or 0, iou_threshold, -1 if background is None else background,
                                    top or 4096, keep, extra) for b, s in zip(boxes, scores)]
            count, box, score, label = padded(images, boxes, keep, -1, F)
            return count, np.clip(box, 0, 1) if is_normalized and clips in (None, 1) else box, score, label
        return Case(op, [Value(boxes, fixed=[-1, -2]), draw_scores(draw, n, p, c)], want, shareLocation=shared, backgroundLabelId=background,
                    numClasses=c, topK=top, keepTopK=keep, scoreThreshold=score_threshold, iouThreshold=iou_threshold,
                    isNormalized=normalized, clipBoxes=clips, scoreBits=draw.pick(None, 16), caffeSemantics=caffe)
    return function


def batched_mmdeploy(draw):
    n, p, c = sizes(draw)
    boxes = draw_boxes(draw, n, p, draw.pick(1, c), scale=8)
    keep, returns = draw.pick(2, 8), draw.pick(None, 1)

    def want(boxes, scores):
        images = [batched_image(b, s, 0.2, 0.4, -1, 10, keep, 1) for b, s in zip(boxes, scores)]
        _, box, score, label = padded(images, boxes, keep, -1, np.int32)
        place = np.full((n, keep), -1, np.int32)
        for i, kept in enumerate(images):
            place[i, :len(kept)] = [q for _, q, _ in kept]
        return [np.concatenate([box, score[..., None]], -1), label] + ([place] if returns else [])
    return Case("TRTBatchedNMS", [Value(boxes, fixed=[-1, -2]), draw_scores(draw, n, p, c)], want, domain="mmdeploy", num_classes=c,
                background_label_id=-1, iou_threshold=0.4, score_threshold=0.2, topk=10, keep_topk=keep, is_normalized=0, clip_boxes=0,
                return_index=returns)


def ssd(codes, prior, variance, code, in_target):
    """Boxes of one image: codes [P, L, 4], prior and variance [P, 1, 4]."""
    if code == 3:
        codes = codes[..., [1, 0, 3, 2]]
    if not in_target:
        codes = codes * variance
    size = prior[..., 2:] - prior[..., :2]
    if code == 0:
        return prior + codes
    if code == 2:
        return prior + codes * np.concatenate([size, size], -1)
    centre = codes[..., :2] * size + (prior[..., :2] + prior[..., 2:]) / 2
    extent = np.exp(codes[..., 2:]) * size
    return np.concatenate([centre - extent / 2, centre + extent / 2], -1)


def nms(op):
    def function(draw):
        n, p, c = sizes(draw)
        shared, in_target, code = draw.pick(0, 1), draw.pick(0, 1), draw.pick(None, 0, 1, 2, 3)
        normalized, sigmoid = draw.pick(None, 0, 1), draw.pick(None, 0, 1)
        order = draw.pick(None, [0, 1, 2], [2, 0, 1])
        keep, top, background = draw.pick(1, 4, 9), draw.pick(3, 30), draw.pick(-1, 0)
        threshold = draw.number(0.3, 0.5)
        images = draw.pick(1, n)
        values = [draw.floats(n, p * (1 if shared else c) * 4, 1, 1, scale=0.2),
                  draw_scores(draw, n, p * c, 1, 1),
                  np.stack([draw_boxes(draw, images, p).reshape(images, -1), np.tile(F([0.1, 0.1, 0.2, 0.2]), (images, p))], 1)[..., None]]
        fixed = [[1, 2, 3], [1, 2, 3], [0, 1, 2, 3]]
        places = order or [0, 2, 1]
        inputs = [None] * 3
        for k, place in enumerate(places):
            inputs[place] = Value(values[k], fixed=fixed[k] if images == 1 else "all")

        def want(*arrays):
            codes, conf, prior = (arrays[place] for place in places)
            scores = conf.reshape(n, p, c)
            scores = (1 / (1 + np.exp(-scores))).astype(F) if sigmoid else scores
            codes = codes.reshape(n, p, -1, 4)
            prior = np.broadcast_to(prior, (n,) + prior.shape[1:]).reshape(n, 2, p, 1, 4)
            boxes = [ssd(codes[i], prior[i, 0], prior[i, 1], 3 if code is None else code, in_target).astype(F) for i in range(n)]
            kept = [batched_image(boxes[i], scores[i], threshold, 0.45, background, top, keep, 1 if normalized == 0 else 0) for i in range(n)]
            count, box, score, label = padded(kept, boxes, keep, -1, F)
            box = box if normalized == 0 else np.clip(box, 0, 1)
            image = np.tile(np.arange(n, dtype=F)[:, None], (1, keep))
            return np.concatenate([image[..., None], label[..., None], score[..., None], box], -1)[:, None], count.reshape(n, 1, 1, 1)
        return Case(op, inputs, want, half=False, shareLocation=shared, varianceEncodedInTarget=in_target, backgroundLabelId=background,
                    numClasses=c, topK=top, keepTopK=keep, confidenceThreshold=threshold, nmsThreshold=0.45, inputOrder=order,
                    confSigmoid=sigmoid, isNormalized=normalized, codeType=code, isBatchAgnostic=1 if images == 1 else 0)
    return function


COUNTS = {"BatchedNMS_TRT": 8, "BatchedNMSDynamic_TRT": 24, "EfficientNMS_TRT": 24, "NMS_TRT": 8, "NMSDynamic_TRT": 8}
OPERATORS = {
    "BatchedNMS_TRT": batched("BatchedNMS_TRT"),
    "BatchedNMSDynamic_TRT": batched("BatchedNMSDynamic_TRT"),
    "EfficientNMS_TRT": efficient,
    "EfficientNMS_ONNX_TRT": efficient_onnx,
    "EfficientNMS_Explicit_TF_TRT": efficient_tf("EfficientNMS_Explicit_TF_TRT"),
    "EfficientNMS_Implicit_TF_TRT": efficient_tf("EfficientNMS_Implicit_TF_TRT"),
    "NMS_TRT": nms("NMS_TRT"),
    "NMSDynamic_TRT": nms("NMSDynamic_TRT"),
    "TRTBatchedNMS": batched_mmdeploy,
}
