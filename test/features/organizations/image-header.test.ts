import { expect } from "chai";
import { readImageHeader, readLogo } from "../../../src/features/organizations/logos.ts";
import { aPng } from "../../support/pictures/pictures.ts";

const png = aPng(64, 96);
/** The end of the first chunk of a PNG file, which has the size. */
const afterHeader = 33;

function pngChunk(type: string, data = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
}

/** A PNG file with chunks between its first one and the others. */
function pngWith(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([png.subarray(0, afterHeader), ...chunks, png.subarray(afterHeader)]);
}

const app0 = "ffe000104a46494600010100000100010000";
const tables = "ffdb0003" + "00";
const frame = "ffc20011080060004003012200021101031101";
const huge = "ffc2001108fa00fa0003012200021101031101";
/** A scan whose data has a stuffed byte and a restart marker. */
const scan = "ffda00080101003f0012ff0034ffd356";

function jpeg(...segments: readonly string[]): Buffer {
  return Buffer.from(`ffd8${segments.join("")}ffd9`, "hex");
}

const plainJpeg = jpeg(app0, tables, frame, scan, tables, scan);

type WebpChunk = readonly [type: string, hex: string];
const lossy: WebpChunk = ["VP8 ", "3001009d012a40006000"];
const lossless: WebpChunk = ["VP8L", "2f3fc01700"];
const extended: WebpChunk = ["VP8X", "000000003f00005f0000"];

function webp(...chunks: readonly WebpChunk[]): Buffer {
  const parts = chunks.flatMap(([type, hex]) => {
    const data = Buffer.from(hex, "hex");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length);
    return [Buffer.from(type), length, data, Buffer.alloc(data.length % 2)];
  });
  const body = Buffer.concat([Buffer.from("WEBP"), ...parts]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from("RIFF"), size, body]);
}

function expectRefused(files: Readonly<Record<string, Buffer>>): void {
  for (const [name, file] of Object.entries(files)) {
    expect(readImageHeader(file), name).to.equal(null);
  }
}

describe("the header of an image", () => {
  it("has the size of a PNG, a JPEG and all kinds of WebP", () => {
    const size = { width: 64, height: 96 };
    expect(readImageHeader(png)).to.deep.equal({ type: "png", ...size });
    expect(readImageHeader(plainJpeg)).to.deep.equal({ type: "jpeg", ...size });
    const files = [
      webp(lossy),
      webp(lossless),
      webp(extended, ["EXIF", "00"], lossy),
      webp(extended, lossy, ["XMP ", ""]),
    ];
    for (const file of files) {
      expect(readImageHeader(file), file.toString("hex")).to.deep.equal({ type: "webp", ...size });
    }
  });

  it("has the size of a JPEG with any kind of frame, segment, and data between its markers", () => {
    const frames = ["ffc0", "ffcf"].map((marker) => frame.replace("ffc2", marker));
    // The shortest header that has a size.
    frames.push("ffc00008080060004000");
    for (const one of frames) {
      expect(readImageHeader(jpeg(one, scan)), one).to.include({ width: 64, height: 96 });
    }
    for (const segment of ["ffef0002", "ffdd00040001", "fffe0003ff"]) {
      expect(readImageHeader(jpeg(segment, frame, scan)), segment).to.include({ width: 64 });
    }
    const restarted = `${scan}ffd012ffffd734ff00`;
    expect(readImageHeader(jpeg(frame, restarted))).to.include({ width: 64 });
  });

  it("is that of a still PNG whose texts contain the names of chunks", () => {
    const text = pngChunk("tEXt", Buffer.from("Comment\0acTL and IEND"));
    expect(readImageHeader(pngWith(text))).to.include({ type: "png" });
  });

  it("is null for an animated PNG, even if a text before it contains IDAT", () => {
    const text = pngChunk("tEXt", Buffer.from("Comment\0IDAT"));
    expectRefused({
      acTL: pngWith(text, pngChunk("acTL", Buffer.alloc(8))),
      fcTL: pngWith(text, pngChunk("fcTL", Buffer.alloc(26))),
      fdAT: pngWith(pngChunk("fdAT", Buffer.alloc(8))),
    });
  });

  it("is null for a PNG whose chunks are out of place, missing, or followed by other bytes", () => {
    const header = png.subarray(8, afterHeader);
    const end = pngChunk("IEND");
    expectRefused({
      "a header of another length": Buffer.concat([
        png.subarray(0, 8),
        pngChunk("IHDR", Buffer.alloc(14)),
        png.subarray(afterHeader),
      ]),
      "a text first": Buffer.concat([png.subarray(0, 8), pngChunk("tEXt"), png.subarray(8)]),
      "a second header": pngWith(header),
      "no pixels": Buffer.concat([png.subarray(0, afterHeader), end]),
      "an earlier end": pngWith(end),
      "a second end": Buffer.concat([png, end]),
      "other bytes": Buffer.concat([png, Buffer.from("<script>")]),
      "a chunk longer than the file": pngWith(Buffer.from("7fffffff74455874", "hex")),
      "no end": png.subarray(0, -12),
    });
  });

  it("is null for a JPEG that hides its frame behind a marker without a length", () => {
    for (const marker of ["ff01", "ffd0", "ffd7", "ffff", "ffdc", "ffc8", "ffd8", "ff00"]) {
      // A reader that takes the next two bytes as a length skips the frame that a browser decodes.
      const hidden = `${marker}0015${huge}${frame}`;
      expectRefused({ [marker]: jpeg(app0, hidden, scan) });
    }
  });

  it("is null for a JPEG with two frames, none, no pixels, or other bytes", () => {
    expectRefused({
      "two frames": jpeg(frame, huge, scan),
      "a frame after the pixels": jpeg(frame, scan, huge, scan),
      "another height after the pixels": jpeg(frame, scan, "ffdc0004fa00"),
      "no frame": jpeg(app0, scan),
      "no pixels": jpeg(app0, frame),
      "a length of one byte": jpeg("ffe00001", frame, scan),
      "a scan's header of one byte": jpeg(frame, "ffda000112ff0034"),
      "a frame's header without a width": jpeg("ffc000070800600040", scan),
      "another marker at the end": Buffer.concat([
        jpeg(frame, scan, tables).subarray(0, -2),
        Buffer.from("00d9", "hex"),
      ]),
      "an earlier end": jpeg(frame, scan, "ffd9"),
      "a second picture": Buffer.concat([plainJpeg, plainJpeg]),
      "other bytes": Buffer.concat([plainJpeg, Buffer.from("x")]),
      "no end": plainJpeg.subarray(0, -2),
    });
  });

  it("is null for a WebP with animation, two sizes, or other bytes", () => {
    expectRefused({
      "the flag of an animation": webp(["VP8X", "020000003f00005f0000"], lossy),
      "the parts of an animation": webp(extended, ["ANIM", "000000000000"], lossy),
      "the frames of an animation": webp(extended, ["ANMF", "00".repeat(24)], lossy),
      "no pixels": webp(extended),
      "another size inside": webp(extended, ["VP8 ", "3001009d012a803e803e"]),
      "another width inside": webp(extended, ["VP8 ", "3001009d012a3f006000"]),
      "another height inside": webp(extended, ["VP8 ", "3001009d012a40005f00"]),
      "two pictures": webp(lossy, lossy),
      "a damaged picture": webp(["VP8 ", "30010000000040006000"]),
      "a damaged lossless picture": webp(["VP8L", "003fc01700"]),
      "an empty picture": webp(["VP8 ", ""]),
      "an empty lossless picture": webp(["VP8L", ""]),
      "a short first chunk": webp(["VP8X", "00"], lossy),
      "another container": Buffer.concat([Buffer.from("RIFX"), webp(lossy).subarray(4)]),
      "another content": Buffer.concat([
        webp(lossy).subarray(0, 8),
        Buffer.from("WAVE"),
        webp(lossy).subarray(12),
      ]),
      "another length in its header": Buffer.concat([
        Buffer.from("RIFF\x18\0\0\0", "latin1"),
        webp(lossy).subarray(8),
      ]),
      "an unknown first chunk": webp(["EXIF", "0000"], lossy),
      "other bytes": Buffer.concat([webp(lossy), Buffer.from("xx")]),
      "an early end": webp(lossy).subarray(0, -1),
    });
  });

  it("is null for each beginning of a file, and for other bytes", () => {
    for (const file of [png, plainJpeg, webp(extended, lossy)]) {
      for (let length = 0; length < file.length; length += 1) {
        expect(readImageHeader(file.subarray(0, length)), String(length)).to.equal(null);
      }
    }
    expectRefused({ zeros: Buffer.alloc(40), text: Buffer.from("<svg xmlns='…'/>".repeat(4)) });
  });
});

describe("the logo of a request", () => {
  const reasonOf = (file: Buffer) => {
    try {
      readLogo(file.toString("base64"));
      return null;
    } catch (error) {
      return (error as { errors: readonly { message: string }[] }).errors[0]?.message;
    }
  };
  /** The file with a text that makes it as long as this, in bytes. */
  const filled = (length: number) =>
    pngWith(pngChunk("tEXt", Buffer.alloc(length - png.length - 12)));

  it("has at most 64 KiB, and sides of 32 to 1,024 pixels", () => {
    for (const file of [filled(65_536), aPng(32, 1_024), aPng(1_024, 32)]) {
      expect(reasonOf(file)).to.equal(null);
    }
    expect(reasonOf(filled(65_537))).to.equal("must have at most 64 KiB");
    for (const [width, height] of [
      [31, 64],
      [64, 31],
      [1_025, 64],
      [64, 1_025],
    ] as const) {
      expect(reasonOf(aPng(width, height))).to.equal(
        `must be 32 to 1024 pixels wide and high, not ${String(width)} by ${String(height)}`,
      );
    }
  });
});
