"""Writes the photograph of coins and its ground truth: coins/coins.pgm and coins/labels.pgm.

The labels are scikit-image's watershed (Sobel gradient, markers from two grey levels, holes
filled), corrected by eye from an enlarged picture, before any network was trained. Each correction
is one line below. Rows and columns are those of coins.pgm.

Needs scikit-image and scipy.
"""

import os

import numpy as np
from scipy import ndimage
from skimage import data, filters, segmentation

from pictures import write_pgm

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coins")

# The photograph has 303 rows. 288 of them hold every coin whole, and 288 is a multiple of 16.
FIRST_ROW, ROW_COUNT = 8, 288

# Grey levels that are surely background and surely coin.
BACKGROUND_BELOW, COIN_ABOVE = 30, 150

COIN, BACKGROUND = 255, 0

# (row, first column, last column, what is there)
CORRECTIONS = [
    # A bright speck of dust between the second and the third coin of the first row.
    (57, 129, 130, BACKGROUND),
    # First row, fifth coin: its dim lower left edge was cut off.
    (50, 257, 258, COIN),
    (51, 257, 258, COIN),
    (52, 258, 259, COIN),
    (53, 258, 260, COIN),
    (54, 259, 259, COIN),
    # Second row, last coin: a bright speck touches its lower left edge.
    (132, 323, 324, BACKGROUND),
    (133, 323, 324, BACKGROUND),
    # Third row, first coin: its dim upper edge was cut off.
    (170, 39, 48, COIN),
    (171, 39, 47, COIN),
    (171, 50, 50, COIN),
    # Third row, fifth coin: a crevice in the relief, inside the rim, was taken for background.
    (201, 285, 285, COIN),
    (202, 284, 292, COIN),
    (203, 284, 291, COIN),
    (204, 285, 290, COIN),
    (205, 286, 287, COIN),
    (206, 286, 287, COIN),
    # Last row, first coin: a bright speck touches its left edge.
    (241, 19, 19, BACKGROUND),
]


def watershed_labels(photograph):
    markers = np.zeros(photograph.shape, np.int32)
    markers[photograph < BACKGROUND_BELOW] = 1
    markers[photograph > COIN_ABOVE] = 2
    regions = segmentation.watershed(filters.sobel(photograph), markers)
    return np.where(ndimage.binary_fill_holes(regions == 2), COIN, BACKGROUND).astype(np.uint8)


def main():
    photograph = data.coins()
    labels = watershed_labels(photograph)
    rows = slice(FIRST_ROW, FIRST_ROW + ROW_COUNT)
    photograph, labels = photograph[rows], labels[rows]
    changed_count = 0
    for row, first, last, value in CORRECTIONS:
        changed_count += int((labels[row, first : last + 1] != value).sum())
        labels[row, first : last + 1] = value
    write_pgm(os.path.join(FOLDER, "coins.pgm"), photograph)
    write_pgm(os.path.join(FOLDER, "labels.pgm"), labels)
    coin_count = ndimage.label(labels)[1]
    share = (labels == COIN).mean()
    print(f"{coin_count} coins, {share:.1%} of the picture, {changed_count} pixels corrected")


if __name__ == "__main__":
    main()
