import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { accentStyle } from "./accent.ts";
import { keepBody, keepText, type KeptBody } from "../../../api/representation.ts";
import { programFile } from "../../../platform/files.ts";

/** A static file of the pages. Its name contains a hash of its content, so browsers can cache it forever. */
export interface Asset {
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

const fixed = new Map([styleSheet, script, verifyScript].map((asset) => [asset.name, asset]));
const kept = new Map<string, Promise<KeptBody>>();

/**
 * Returns the file of that name, ready to send; null if it does not exist, for instance after an update. Fixed files are
 * compressed well, once. Style sheets with a color are not kept and are compressed quickly, because anyone can ask for
 * millions of colors.
 */
export async function findAsset(name: string): Promise<KeptBody | null> {
  const asset = fixed.get(name);
  if (asset === undefined) return findColored(name);
  const file = kept.get(name) ?? keepBody(asset.type, asset.body);
  kept.set(name, file);
  return file;
}

function findColored(name: string): KeptBody | null {
  const color = /\.([0-9a-f]{6})\.css$/.exec(name)?.[1];
  if (color === undefined || name !== styleSheetFor(`#${color}`)) return null;
  return keepText(styleSheet.type, accentStyle(`#${color}`) + styleSheet.body);
}
