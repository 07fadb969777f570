import { PNG } from "pngjs";

/** Returns a PNG file of one color. */
export function aPng(width: number, height: number): Buffer {
  const pixel = Buffer.from([122, 31, 92, 255]);
  return PNG.sync.write({ width, height, data: Buffer.alloc(width * height * 4, pixel) });
}
