#!/usr/bin/env python3
"""Records the cases beside this script: small pictures of every format that ImageDecoder names, and what
Pillow makes of them. What Pillow leaves open (16 bits a sample) is computed here.

    python3 cases.py        needs numpy, onnx, pillow
"""
import io
import pathlib
import shutil
import struct
import zlib

import numpy
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import _image_decoder_data as recorded
from PIL import Image

FOLDER = pathlib.Path(__file__).parent / "cases"
CORPUS = FOLDER.parents[1] / "fuzz" / "corpus" / "image_decode"
# Cases whose files the fuzzer and tests/pictures/damage_test.c begin with.
SEEDS = ("jpeg_420", "jpeg_cmyk", "jpeg_progressive", "png_p", "png_16_bits_rgb", "png_interlaced", "jpeg2000_rgb",
         "jpeg2000_bare", "webp_lossless_rgba", "webp_lossy", "tiff_lzw", "tiff_strips", "tiff_orientation_6", "bmp_1",
         "bmp_rgba", "pnm_plain", "pnm_16_bits")
random = numpy.random.default_rng(11)
HEIGHT, WIDTH = 5, 7


def case(name, encoded, expected, pixel_format="RGB"):
    """A case in the layout of ONNX's backend tests."""
    node = helper.make_node("ImageDecoder", ["file"], ["pixels"], "decoder", pixel_format=pixel_format)
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info("file", TensorProto.UINT8, ["size"])],
        [helper.make_tensor_value_info("pixels", TensorProto.UINT8, ["height", "width", "channels"])])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    if name in SEEDS:
        (CORPUS / f"good_{name}").write_bytes(encoded)
    folder = FOLDER / "node" / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for file, value in (("input_0", numpy.frombuffer(encoded, numpy.uint8)), ("output_0", expected)):
        tensor = numpy_helper.from_array(numpy.ascontiguousarray(value), file)
        (data / f"{file}.pb").write_bytes(tensor.SerializeToString())


def by_pillow(encoded, pixel_format="RGB"):
    """As the operator's text says: always three channels, or one; alpha is dropped."""
    with Image.open(io.BytesIO(encoded)) as picture:
        if pixel_format == "Grayscale":
            return numpy.array(picture.convert("RGB").convert("L"))[:, :, None]
        pixels = numpy.array(picture.convert("RGB"))
        return pixels[:, :, ::-1] if pixel_format == "BGR" else pixels


def colours(channels, depth=8):
    shape = (HEIGHT, WIDTH, channels) if channels > 1 else (HEIGHT, WIDTH)
    return random.integers(0, 1 << depth, shape, numpy.uint8 if depth == 8 else numpy.uint16)


def picture(mode):
    """A picture of this mode in Pillow's words."""
    if mode == "1":
        return Image.fromarray(colours(1)).convert("1")
    if mode == "P":
        made = Image.fromarray(colours(1) % 5, "L")
        made = made.convert("P")
        made.putpalette(random.integers(0, 256, 15, numpy.uint8).tobytes())
        return made
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    return Image.frombytes(mode, (WIDTH, HEIGHT), colours(channels).tobytes())


def saved(made, format_, **options):
    with io.BytesIO() as file:
        made.save(file, format_, **options)
        return file.getvalue()


def written(name, mode, format_, **options):
    encoded = saved(picture(mode), format_, **options)
    case(name, encoded, by_pillow(encoded))
    return encoded


def scaled(samples, maximum):
    """0 to `maximum` as 0 to 255, rounded."""
    return ((samples.astype(numpy.uint64) * 255 + maximum // 2) // maximum).astype(numpy.uint8)


def three(grey):
    return numpy.repeat(grey[:, :, None], 3, 2)


def orders():
    for pixel_format in ("BGR", "Grayscale"):
        for mode in ("RGB", "L"):
            encoded = saved(picture(mode), "PNG")
            case(f"png_{mode}_as_{pixel_format}".lower(), encoded, by_pillow(encoded, pixel_format),
                 pixel_format)


def smooth(mode):
    """Something to compress with loss, of odd extents."""
    return picture("RGB").resize((21, 13), Image.BICUBIC).convert(mode)


def jpeg():
    for mode in ("L", "RGB", "CMYK"):
        encoded = saved(smooth(mode), "JPEG")
        case(f"jpeg_{mode}".lower(), encoded, by_pillow(encoded))
    for subsampling, name in ((0, "444"), (1, "422"), (2, "420")):
        encoded = saved(smooth("RGB"), "JPEG", subsampling=subsampling, quality=60)
        case(f"jpeg_{name}", encoded, by_pillow(encoded))
    encoded = saved(smooth("RGB"), "JPEG", progressive=True)
    case("jpeg_progressive", encoded, by_pillow(encoded))
    data = recorded.image_decoder_decode_jpeg_rgb
    case("onnx_jpeg_rgb", data.data.astype(numpy.uint8).tobytes(), data.output.astype(numpy.uint8))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_file(pixels, depth, kind, interlaced):
    """A PNG by hand: Pillow writes none that is interlaced, and none of 16 bits in colour."""
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    rows = b""
    for top, left, down, right in passes if interlaced else ((0, 0, 1, 1),):
        for row in pixels[top::down, left::right]:
            rows += b"\0" + row.astype(">u2" if depth == 16 else numpy.uint8).tobytes() if row.size else b""
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], depth, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def png():
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA"):
        written(f"png_{mode}".lower(), mode, "PNG")
    transparent = picture("P")
    encoded = saved(transparent, "PNG", transparency=bytes([0, 128, 255]))
    case("png_transparent_palette", encoded, numpy.array(transparent.convert("RGB")))
    grey = colours(1, 16)
    case("png_16_bits_grey", png_file(grey, 16, 0, False), three(scaled(grey, 65535)))
    pixels = colours(3, 16)
    case("png_16_bits_rgb", png_file(pixels, 16, 2, False), scaled(pixels, 65535))
    pixels = colours(3)
    encoded = png_file(pixels, 8, 2, True)
    case("png_interlaced", encoded, by_pillow(encoded))


def jpeg2000():
    for mode in ("L", "LA", "RGB", "RGBA"):
        written(f"jpeg2000_{mode}".lower(), mode, "JPEG2000")
    written("jpeg2000_bare", "RGB", "JPEG2000", no_jp2=True)
    written("jpeg2000_tiles", "RGB", "JPEG2000", tile_size=(4, 4), num_resolutions=2)


def webp():
    for mode in ("RGB", "RGBA"):
        written(f"webp_lossless_{mode}".lower(), mode, "WEBP", lossless=True, exact=True)
    encoded = saved(smooth("RGB"), "WEBP")
    case("webp_lossy", encoded, by_pillow(encoded))
    data = recorded.image_decoder_decode_webp_rgb
    case("onnx_webp_rgb", data.data.astype(numpy.uint8).tobytes(), data.output.astype(numpy.uint8))


def tiff():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        written(f"tiff_{mode}".lower(), mode, "TIFF")
    for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
        written(f"tiff_{compression}".replace("tiff_tiff", "tiff"), "RGB", "TIFF", compression=compression)
    written("tiff_strips", "RGB", "TIFF", compression="tiff_lzw", strip_size=WIDTH * 3 * 2)
    grey = colours(1, 16)
    case("tiff_16_bits", saved(Image.fromarray(grey), "TIFF"), three((grey >> 8).astype(numpy.uint8)))
    for orientation in range(1, 9):
        encoded = saved(picture("RGB"), "TIFF", tiffinfo={274: orientation})
        case(f"tiff_orientation_{orientation}", encoded, by_pillow(encoded))


def bmp():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        written(f"bmp_{mode}".lower(), mode, "BMP")


def pnm():
    for mode in ("1", "L", "RGB"):
        written(f"pnm_{mode}".lower(), mode, "PPM")
    plain = b"P3 # three numbers a pixel\n2 1\n# and a maximum\n15\n15 0 7  1 2\n3\n"
    case("pnm_plain", plain, scaled(numpy.array([[[15, 0, 7], [1, 2, 3]]]), 15))
    case("pnm_plain_bits", b"P1 3 2 010\n1 0 1", three(numpy.array([[255, 0, 255], [0, 255, 0]], numpy.uint8)))
    pixels = colours(3, 16)
    raw = b"P6\n%d %d\n65535\n" % (WIDTH, HEIGHT) + pixels.astype(">u2").tobytes()
    case("pnm_16_bits", raw, scaled(pixels, 65535))


def bitmap_runs():
    """Run-length encoded bitmaps, which Pillow does not write: a seed alone."""
    palette = bytes([0, 0, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0])
    for bits, runs in ((8, [2, 1, 0, 3, 2, 1, 2, 0, 0, 2, 1, 1, 1, 2, 0, 1]), (4, [3, 0x12, 0, 5, 0x12, 0x12, 0x10, 0, 0, 1])):
        header = struct.pack("<2sIIIIIIHHIIIIII", b"BM", 0, 0, 66, 40, 5, 2, 1, bits, 3 - bits // 4, 0, 0, 0, 3, 0)
        (CORPUS / f"good_bmp_runs_of_{bits}").write_bytes(header + palette + bytes(runs))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.rmtree(CORPUS, ignore_errors=True)
    CORPUS.mkdir(parents=True)
    bitmap_runs()
    for record in (orders, jpeg, png, jpeg2000, webp, tiff, bmp, pnm):
        record()


main()
