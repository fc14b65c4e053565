"""Writes recorded/caffe_yufacedetect_v1/rows_found/output_0.pb from what the test data hold.

OpenCV, which recorded them, fills DetectionOutput up to keep_top_k rows with zeros; Caffe gives the
rows that were found. Needs ONNX and NumPy:

    python record_caffe.py TENON_TEST_DATA
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

NAME = "caffe_yufacedetect_v1"


def main():
    recorded = pathlib.Path(sys.argv[1]) / NAME / "test_data_set_0" / "output_0.pb"
    proto = onnx.TensorProto()
    proto.ParseFromString(recorded.read_bytes())
    rows = numpy_helper.to_array(proto)
    found = rows[:, :, np.any(rows[0, 0] != 0, axis=1)]
    folder = pathlib.Path(__file__).parent / "recorded" / NAME / "rows_found"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "output_0.pb"
    target.write_bytes(numpy_helper.from_array(found, proto.name).SerializeToString())
    print(f"{target}: {found.shape} of {rows.shape}")


if __name__ == "__main__":
    main()
