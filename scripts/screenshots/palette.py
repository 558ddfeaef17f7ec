"""PNG pictures of at most 256 colours: a page has few, and a picture of it is then a third as large."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from playwright.sync_api import Page

_PIXELS = """async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def paletted(drawing: Page, picture: bytes) -> bytes:
    """The same picture in its 256 most frequent colours, the others as the nearest of them.

    Parameters
    ----------
    drawing : Page
        An empty page, whose browser reads the picture.
    picture : bytes
        A PNG.
    """
    width, height, pixels = drawing.evaluate(_PIXELS, base64.b64encode(picture).decode())
    rgb = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(-1, 4)[:, :3].astype(np.int64)
    colours, place, counts = np.unique(
        rgb @ (1 << 16, 1 << 8, 1), return_inverse=True, return_counts=True
    )
    kept = np.argsort(-counts, kind="stable")[:256]
    parts = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    nearest = np.array(
        [np.argmin(((parts[kept] - one) ** 2).sum(axis=1)) for one in parts], np.uint8
    )
    rows = nearest[place].reshape(height, width)
    lines = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # a zero before each line: it stands as it is
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", head),
        (b"PLTE", parts[kept].astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )
