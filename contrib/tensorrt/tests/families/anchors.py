"""Prior boxes of SSD."""
import math

import numpy as np

from drawing import Case, Value

F = np.float32


def with_variances(boxes, variances):
    boxes = np.asarray(boxes, np.float64).reshape(-1)
    return np.stack([boxes, np.tile(variances, len(boxes) // 4)]).astype(F)[None, ..., None]


def prior_box(draw):
    h, w = draw.size(1, 4), draw.size(1, 4)
    low = [draw.number(10, 40) for _ in range(draw.size(1, 2))]
    high = draw.pick(None, [round(v * draw.number(1.1, 2), 3) for v in low])
    ratios = draw.pick(None, [2.0], [2.0, 3.0, 1.0], [2.0, 0.5])
    flip, clip, offset = draw.pick(None, 0, 1), draw.pick(None, 0, 1), draw.pick(None, 0.5, 0.25)
    image = draw.pick(None, (100, 120))
    step = draw.pick(None, (8.0, 9.0))
    variances = [0.1, 0.1, 0.2, 0.2]
    picture = draw.floats(1, 1, 20, 30)

    def want(x, picture=None):
        ih, iw = image or picture.shape[2:]
        sh, sw = step or (ih / h, iw / w)
        used = [1.0]
        for r in ratios or []:
            if not any(abs(r - u) < 1e-6 for u in used):
                used += [r, 1 / r] if flip in (None, 1) else [r]
        boxes = []
        for i, j in np.ndindex(h, w):
            y, x = (i + (offset or 0.5)) * sh, (j + (offset or 0.5)) * sw
            for k, side in enumerate(low):
                sizes = [(side, side)] + ([(math.sqrt(side * high[k]),) * 2] if high else [])
                sizes += [(side * math.sqrt(r), side / math.sqrt(r)) for r in used[1:]]
                boxes += [[(x - a / 2) / iw, (y - b / 2) / ih, (x + a / 2) / iw, (y + b / 2) / ih] for a, b in sizes]
        return with_variances(np.clip(boxes, 0, 1) if clip else boxes, variances)
    return Case("PriorBox_TRT", [Value(draw.floats(1, 2, h, w), fixed="all"), Value(picture, fixed="all")], want, half=False,
                minSize=low, maxSize=high, aspectRatios=ratios, flip=flip, clip=clip, variance=variances,
                imgH=image[0] if image else draw.pick(None, 0), imgW=image[1] if image else None,
                stepH=step[0] if step else None, stepW=step[1] if step else draw.pick(None, 0.0), offset=offset)


def grid_anchor(op, axes):
    def function(draw):
        layers = draw.size(2, 4)
        shapes = [[draw.size(1, 3)] * 2 if axes == 1 else [draw.size(1, 3), draw.size(1, 3)] for _ in range(layers)]
        low, high = draw.pick((None, None), (0.15, 0.9))
        ratios = draw.pick([1.0, 2.0, 0.5], [1.0, 2.0, 0.5, 3.0, 0.333])
        variances = [0.1, 0.1, 0.2, 0.2]

        def want(*_):
            outputs = []
            scales = [(low or 0.2) + ((high or 0.95) - (low or 0.2)) * k / (layers - 1) for k in range(layers)] + [1.0]
            for k, (h, w) in enumerate(shapes):
                if k == 0:
                    sizes = [(0.1, ratios[0]), (scales[0], ratios[1]), (scales[0], ratios[2])]
                else:
                    sizes = [(scales[k], r) for r in ratios] + [(math.sqrt(scales[k] * scales[k + 1]), 1.0)]
                boxes = [[(j + 0.5) / w - s * math.sqrt(r) / 2, (i + 0.5) / h - s / math.sqrt(r) / 2,
                          (j + 0.5) / w + s * math.sqrt(r) / 2, (i + 0.5) / h + s / math.sqrt(r) / 2]
                         for i, j in np.ndindex(h, w) for s, r in sizes]
                outputs.append(with_variances(boxes, variances))
            return outputs
        return Case(op, [], want, half=False, minSize=low, maxSize=high, aspectRatios=ratios,
                    featureMapShapes=sum(([h] if axes == 1 else [h, w] for h, w in shapes), []), variance=variances, numLayers=layers)
    return function


OPERATORS = {
    "GridAnchor_TRT": grid_anchor("GridAnchor_TRT", 1),
    "GridAnchorRect_TRT": grid_anchor("GridAnchorRect_TRT", 2),
    "PriorBox_TRT": prior_box,
}
