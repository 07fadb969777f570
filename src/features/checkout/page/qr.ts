import encodeQR, { type ErrorCorrection } from "qr";
import { LRUCache } from "lru-cache";

/** Width of the light border that QR readers need, in modules. */
const quietZoneModules = 4;
/** Number of cached codes. Many requests show the same code. */
const rememberedMax = 500;
/**
 * Content above this length, in characters, is drawn with less error correction: on a screen, which is not damaged,
 * larger modules help a camera more.
 */
const shortMax = 64;

/** By content and not by checkout: many have the same address. */
const drawn = new LRUCache<string, string>({ max: rememberedMax });

/** Draws the code as SVG, dark on white regardless of the page's colors. */
export function drawCode(text: string): string {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  const svg = draw(text, text.length > shortMax ? "low" : "medium");
  drawn.set(text, svg);
  return svg;
}

/** Draws each run of dark modules as a line, one module wide, relative to the end of the line before. */
function draw(text: string, ecc: ErrorCorrection): string {
  // Do not convert the text to upper case to save space: base58 addresses are case-sensitive.
  const rows = encodeQR(text, "raw", { ecc, border: quietZoneModules });
  const size = String(rows.length);
  // Joined at the end: a text that grows by `+=` keeps all of its parts in memory.
  const path: string[] = [];
  rows.forEach((modules, row) => {
    const line = modules.map(Number).join("");
    let end = 0;
    for (const { 0: run, index } of line.matchAll(/1+/g)) {
      path.push(end === 0 ? `M${String(index)} ${String(row)}.5` : `m${String(index - end)} 0`);
      path.push(`h${String(run.length)}`);
      end = index + run.length;
    }
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#ffffff" d="M0 0h${size}v${size}H0z"/><path stroke="#000000" d="${path.join("")}"/></svg>`
  );
}
