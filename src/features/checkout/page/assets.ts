import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { prepareBody, prepareText, type PreparedBody } from "../../../http/representation.ts";
import { once } from "../../../kernel/memo.ts";
import { programFile } from "../../../platform/files.ts";

/** A static file of the pages. Its name contains a hash of its content, so browsers can cache it forever. */
interface Asset {
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

const folder = programFile("features/checkout/pages/");

function nameAsset(stem: string, extension: string, type: string, body: string): Asset {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { name: `${stem}.${hash}.${extension}`, type, body };
}

/** Returns the files of a folder as one, which is one request, in the order of the numbers in their names. */
function joinFiles(name: string): string {
  const files = new URL(name, folder);
  const names = readdirSync(files).sort();
  return names.map((name) => readFileSync(new URL(name, files), "utf8")).join("");
}

const javaScript = "text/javascript; charset=utf-8";
const styleSheet = nameAsset("checkout", "css", "text/css; charset=utf-8", joinFiles("styles/"));
export const script = nameAsset("checkout", "js", javaScript, joinFiles("scripts/checkout/"));
export const verifyScript = nameAsset(
  "verify",
  "js",
  javaScript,
  readFileSync(new URL("scripts/verify.js", folder), "utf8"),
);

/** The script of merchants' own pages that opens a checkout over them. Its name stays the same. */
export const embedScript = {
  type: javaScript,
  body: readFileSync(new URL("scripts/embed.js", folder), "utf8"),
};

/**
 * Returns the name of the style sheet with a merchant's accent color, such as `#0b5f4e`. The color is part of the name:
 * a page has no styles of its own, and a second file would be one more request.
 */
export function styleSheetFor(accent: string | null): string {
  if (accent === null) return styleSheet.name;
  return styleSheet.name.replace(/css$/, `${accent.slice(1)}.css`);
}

const fixed = new Map(
  [styleSheet, script, verifyScript].map(({ name, type, body }) => [
    name,
    once(() => prepareBody(type, body)),
  ]),
);

/**
 * Returns the file of that name, ready to send; null if it does not exist, for instance after an update. Fixed files are
 * compressed well, once. Style sheets with a color are not kept and are compressed quickly, because anyone can ask for
 * millions of colors.
 */
export async function findAsset(name: string): Promise<PreparedBody | null> {
  return fixed.get(name)?.() ?? findColored(name);
}

function findColored(name: string): PreparedBody | null {
  const color = /\.([0-9a-f]{6})\.css$/.exec(name)?.[1];
  if (color === undefined || name !== styleSheetFor(`#${color}`)) return null;
  return prepareText(styleSheet.type, accentStyle(`#${color}`) + styleSheet.body);
}

// A merchant's accent color on the page. Buttons have the color itself, with black or white letters. Text has a shade of
// it: the color is mixed with black on light ground, or with white on dark ground, until it has the contrast of WCAG 2.2
// AA (1.4.3).

/** Red, green and blue, each from 0 to 255. */
type Color = readonly [number, number, number];

const black: Color = [0, 0, 0];
const white: Color = [255, 255, 255];
/** Of the grounds on which text stands, those with the least contrast to it: `--soft` in colors.css. */
const grounds = { light: readColor("#eff2f0"), dark: readColor("#252d2a") } as const;
const contrastMin = 4.5;
/** Steps of the mixture. The last one is black or white, which always has the contrast. */
const steps = 50;

/** Returns the declarations that set an accent color such as `#0b5f4e`, in front of the style sheet. */
export function accentStyle(accent: string): string {
  const color = readColor(accent);
  const onAccent = contrast(color, white) >= contrastMin ? white : black;
  const values = {
    accent: color,
    "on-accent": onAccent,
    link: shade(color, black, grounds.light),
    "link-dark": shade(color, white, grounds.dark),
  };
  const lines = Object.entries(values).map(([name, value]) => `  --own-${name}: ${write(value)};`);
  return [":root {", ...lines, "}", ""].join("\n");
}

/** Mixes a color with another one as far as needed to be read on a ground. */
function shade(color: Color, toward: Color, ground: Color): Color {
  for (let step = 0; step < steps; step += 1) {
    const mixed = mix(color, toward, step / steps);
    if (contrast(mixed, ground) >= contrastMin) return mixed;
  }
  return toward;
}

function mix(one: Color, other: Color, share: number): Color {
  const part = (index: 0 | 1 | 2) => Math.round(one[index] + (other[index] - one[index]) * share);
  return [part(0), part(1), part(2)];
}

/** Contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
function contrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance, from 0 to 1 (WCAG 2.2). */
function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function readColor(hex: string): Color {
  const part = (from: number) => Number.parseInt(hex.slice(from, from + 2), 16);
  return [part(1), part(3), part(5)];
}

function write(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
