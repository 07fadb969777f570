import { createHash } from "node:crypto";
import { invalidField } from "../../kernel/errors.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { organizationLogos, type LogoRow, type OrganizationRow } from "./store.ts";

/** Maximum size of a logo's file, in bytes: payers load it before they see whom they pay. */
export const logoBytesMax = 64 * 1_024;
/** Least and most pixels of a logo's sides. A small file can hold an image that fills a browser's memory. */
const logoSide = { least: 32, most: 1_024 } as const;

/** A logo's file, read from a request. */
type Logo = Pick<LogoRow, "name" | "image">;

/**
 * Reads the image of a request, which is in Base64. Its name contains the digest of its content, so browsers can cache it
 * forever. SVG is refused, because it can contain scripts. @throws InvalidRequest
 */
export function readLogo(image: string): Logo {
  const bytes = Buffer.from(image, "base64");
  const refused = (message: string) => invalidField("/logo", "invalid_value", message);
  if (bytes.length > logoBytesMax) {
    throw refused(`must have at most ${String(logoBytesMax / 1_024)} KiB`);
  }
  const header = readImageHeader(bytes);
  if (header === null) {
    throw refused(
      "must be a PNG, JPEG or WebP file of one picture, without animation, and end with it",
    );
  }
  const { least, most } = logoSide;
  if ([header.width, header.height].some((side) => side < least || side > most)) {
    throw refused(
      `must be ${String(least)} to ${String(most)} pixels wide and high, not ${String(header.width)} by ${String(header.height)}`,
    );
  }
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  return { name: `logo.${digest}.${header.type}`, image };
}

/** Stores a logo's file, and deletes those of the organization that are no longer shown or requested. */
export async function storeLogos(
  tx: Tx,
  { id: organizationId, logo, pendingLogo }: OrganizationRow,
  added: Logo | null,
): Promise<void> {
  if (added !== null) await tx.insertIfAbsent(organizationLogos, { ...added, organizationId });
  await tx.run(
    `DELETE FROM organization_logos WHERE organization_id = $1 AND name NOT IN ($2, $3)`,
    [organizationId, logo ?? "", pendingLogo ?? ""],
  );
}

const fileName = /^logo\.[0-9a-f]{32}\.(png|jpeg|webp)$/;

/**
 * Returns a logo's file by its name; null if no organization shows or requests it. Requested ones are served too, so that
 * a reviewer can open them in a browser. The name is not secret: it is computed from the file.
 */
export async function findLogo(
  reader: Reader,
  name: string,
): Promise<{ readonly type: string; readonly body: Buffer } | null> {
  const extension = fileName.exec(name)?.[1];
  if (extension === undefined) return null;
  const row = await reader.findOne(organizationLogos, "WHERE name = $1 LIMIT 1", [name]);
  if (row === null) return null;
  return { type: `image/${extension}`, body: Buffer.from(row.image, "base64") };
}

/** Returns the path of a logo's file below the instance's address; the pages of payers load it there. */
export function logoPath(name: string | null): string | null {
  return name === null ? null : `/pay/assets/${name}`;
}

/** The format and size of an image, as its file says them. */
interface ImageHeader {
  /** Also the subtype of its media type. */
  readonly type: "png" | "jpeg" | "webp";
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a PNG, JPEG or WebP file. Its chunks or segments are walked from the first byte to the last one.
 * Returns null for other files, for those whose structure is broken, that end too early or go on after the image, and for
 * animations. The pixels are not decoded, so they may still be damaged.
 */
export function readImageHeader(bytes: Buffer): ImageHeader | null {
  return readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
}

/** A part of a PNG or WebP file. */
interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const pngAnimation = ["acTL", "fcTL", "fdAT"];

/** PNG (ISO/IEC 15948), 5.6 and 11.2.2: IHDR is the first chunk and has the size, IEND is the last one. */
function readPng(bytes: Buffer): ImageHeader | null {
  if (!bytes.subarray(0, 8).equals(pngSignature)) return null;
  const chunks = pngChunks(bytes);
  const types = chunks.map(({ type }) => type);
  const header = chunks[0]?.data;
  if (types.lastIndexOf("IHDR") !== 0 || header?.length !== 13) return null;
  if (!types.includes("IDAT") || types.indexOf("IEND") !== types.length - 1) return null;
  if (types.some((type) => pngAnimation.includes(type))) return null;
  return { type: "png", width: header.readUInt32BE(0), height: header.readUInt32BE(4) };
}

/** Returns the chunks of a PNG file; none if they do not end with the file. */
function pngChunks(bytes: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let at = 8;
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at);
    chunks.push({ type: typeAt(bytes, at + 4), data: bytes.subarray(at + 8, end - 4) });
    at = end;
  }
  return at === bytes.length ? chunks : [];
}

/** Markers of frame headers: 0xC0 to 0xCF without the three that have another meaning (ITU-T T.81, B.1.1.3). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Markers of tables, restart intervals, application data and comments. All of them have a length. */
const isMiscellaneous = (marker: number): boolean =>
  [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(marker) || (marker >= 0xe0 && marker <= 0xef);
const startOfScan = 0xda;
const endOfImage = 0xd9;

/**
 * JPEG (ITU-T T.81, B.2): segments with their lengths, one of which is the frame header with the size. Each scan's header
 * is followed by its data. Markers without a length and those that change the size (DNL) are refused.
 */
function readJpeg(bytes: Buffer): ImageHeader | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  let size: ImageHeader | null = null;
  let hasScan = false;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return null;
    if (isFrame(marker)) {
      if (size !== null || length < 8) return null;
      size = {
        type: "jpeg",
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
      };
    } else if (marker === startOfScan) {
      if (size === null) return null;
      hasScan = true;
    } else if (!isMiscellaneous(marker)) {
      return null;
    }
    at = marker === startOfScan ? endOfScan(bytes, end) : end;
  }
  const isEnd = at + 2 === bytes.length && bytes[at] === 0xff && bytes[at + 1] === endOfImage;
  return isEnd && hasScan ? size : null;
}

/** Returns the position of the marker after a scan's data, which contains stuffed and fill bytes and restart markers. */
function endOfScan(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at >= 0) {
    const next = bytes[at + 1] ?? endOfImage;
    const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
    at = bytes.indexOf(0xff, at + 1);
  }
  return bytes.length;
}

/**
 * WebP (RFC 9649, 2): a RIFF file with one image, lossy or lossless. A file with more features begins with a chunk that
 * repeats the size and says whether it is an animation.
 */
function readWebp(bytes: Buffer): ImageHeader | null {
  const chunks = webpChunks(bytes);
  const [first] = chunks;
  const images = chunks.filter(({ type }) => type === "VP8 " || type === "VP8L");
  const size = images.length === 1 && images[0] !== undefined ? webpSize(images[0]) : null;
  if (first === undefined || size === null) return null;
  if (chunks.some(({ type }) => type === "ANIM" || type === "ANMF")) return null;
  if (first.type !== "VP8X") return first === images[0] ? size : null;
  if (first.data.length < 10 || (first.data.readUInt8(0) & 0x02) !== 0) return null;
  const isSame =
    first.data.readUIntLE(4, 3) + 1 === size.width &&
    first.data.readUIntLE(7, 3) + 1 === size.height;
  return isSame ? size : null;
}

/** Returns the chunks of a WebP file, which have an even length; none if they do not end with the file. */
function webpChunks(bytes: Buffer): readonly Chunk[] {
  const isWhole =
    typeAt(bytes, 0) === "RIFF" &&
    typeAt(bytes, 8) === "WEBP" &&
    bytes.readUInt32LE(4) + 8 === bytes.length;
  if (!isWhole) return [];
  const chunks: Chunk[] = [];
  let at = 12;
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(at + 4);
    chunks.push({ type: typeAt(bytes, at), data: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return at === bytes.length ? chunks : [];
}

/** Reads the size of a lossy or lossless image (RFC 6386, 9.1; RFC 9649, 3.4). */
function webpSize({ type, data }: Chunk): ImageHeader | null {
  if (type === "VP8 ") {
    if (data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a) return null;
    const [width, height] = [data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff];
    return { type: "webp", width, height };
  }
  if (data.length < 5 || data.readUInt8(0) !== 0x2f) return null;
  const sides = data.readUInt32LE(1);
  return { type: "webp", width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
}

function typeAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
