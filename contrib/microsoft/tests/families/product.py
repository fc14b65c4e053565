"""Products of matrices."""
from drawing import Case, Value


def fused_mat_mul(op, has_batch):
    def function(draw):
        rows, depth, columns = draw.size(1, 7), draw.size(1, 9), draw.size(1, 7)
        batch = [draw.size(1, 3) for _ in range(draw.size(0, 2))]
        attributes = {name: draw.pick(None, 0, 1) for name in ("transA", "transB")}
        shapes = []
        for side, (first, last) in (("A", (rows, depth)), ("B", (depth, columns))):
            pair = [last, first] if attributes[f"trans{side}"] else [first, last]
            if has_batch and batch:
                attributes[f"transBatch{side}"] = draw.pick(None, 0, 1)
            if attributes.get(f"transBatch{side}"):
                shapes.append([pair[0], *batch, pair[1]])
            else:
                shapes.append([*batch, *pair])
        if not attributes.get("transBatchA") and not attributes.get("transBatchB") and draw.chance(0.3):
            shapes[1] = shapes[1][-2:]
        return Case(op, [Value(draw.floats(*shapes[0])), Value(draw.floats(*shapes[1]), weight=True)],
                    alpha=draw.pick(None, 0.5, 2.0, -0.125), **attributes)
    return function


OPERATORS = {
    "FusedMatMul": fused_mat_mul("FusedMatMul", True),
    "TransposeMatMul": fused_mat_mul("TransposeMatMul", False),
}
