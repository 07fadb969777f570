/** The format and size of an image, as its file says them. */
export interface ImageHeader {
  /** Also the subtype of its media type. */
  readonly type: "png" | "jpeg" | "webp";
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the header of a PNG, JPEG or WebP file. Returns null for other files, for those that end too early or go on
 * after the image, and for animations. The pixels are not decoded.
 */
export function readImageHeader(bytes: Buffer): ImageHeader | null {
  // The shortest of the three has 20 bytes before its first size field.
  if (bytes.length < 34) return null;
  return readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
}

const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** PNG (ISO/IEC 15948), 5.2 and 11.2.2: the size is in the first chunk, and IEND is the last one. */
function readPng(bytes: Buffer): ImageHeader | null {
  const isPng =
    bytes.subarray(0, 8).equals(pngSignature) &&
    bytes.toString("latin1", 12, 16) === "IHDR" &&
    bytes.toString("latin1", bytes.length - 8, bytes.length - 4) === "IEND";
  // An animation's chunk is before the image data.
  const animation = bytes.indexOf("acTL");
  if (!isPng || (animation >= 0 && animation < bytes.indexOf("IDAT"))) return null;
  return { type: "png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Markers of frame headers: 0xC0 to 0xCF without the three that have another meaning (ITU-T T.81, B.1.1.3). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** JPEG (ITU-T T.81, B.2): segments with their lengths, one of which is the frame header with the size. */
function readJpeg(bytes: Buffer): ImageHeader | null {
  const end = bytes.length - 2;
  if (bytes.readUInt16BE(0) !== 0xffd8 || bytes.readUInt16BE(end) !== 0xffd9) return null;
  for (let at = 2; at + 9 < end && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (isFrame(bytes.readUInt8(at + 1))) {
      return {
        type: "jpeg",
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
      };
    }
  }
  return null;
}

/** WebP (RFC 9649, 2): a RIFF file whose first chunk has the size: lossy, lossless, or extended. */
function readWebp(bytes: Buffer): ImageHeader | null {
  const text = (from: number) => bytes.toString("latin1", from, from + 4);
  const isWhole =
    text(0) === "RIFF" && text(8) === "WEBP" && bytes.readUInt32LE(4) + 8 === bytes.length;
  if (!isWhole) return null;
  switch (text(12)) {
    case "VP8 ":
      return webp(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const sides = bytes.readUInt32LE(21);
      return webp((sides & 0x3fff) + 1, ((sides >>> 14) & 0x3fff) + 1);
    }
    case "VP8X": {
      const isAnimated = (bytes.readUInt8(20) & 0x02) !== 0;
      return isAnimated ? null : webp(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    }
    default:
      return null;
  }
}

function webp(width: number, height: number): ImageHeader {
  return { type: "webp", width, height };
}
