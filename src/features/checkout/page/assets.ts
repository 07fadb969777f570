import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { keepBody, type KeptBody } from "../../../api/representation.ts";

/** A static file of the pages. Its name contains a hash of its content, so browsers can cache it forever. */
export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

const folder = new URL("../pages/", import.meta.url);

function nameAsset(stem: string, extension: string, type: string, body: string): Asset {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { name: `${stem}.${hash}.${extension}`, type, body };
}

/** Returns the style sheets as one, which is one request, in the order of the numbers in their names. */
function joinStyles(): string {
  const styles = new URL("styles/", folder);
  const names = readdirSync(styles).sort();
  return names.map((name) => readFileSync(new URL(name, styles), "utf8")).join("");
}

export const styleSheet = nameAsset("checkout", "css", "text/css; charset=utf-8", joinStyles());
export const script = nameAsset(
  "checkout",
  "js",
  "text/javascript; charset=utf-8",
  readFileSync(new URL("checkout.js", folder), "utf8"),
);

const kept = new Map<string, Promise<KeptBody>>();

/** Returns the file of that name, ready to send; null if it does not exist, for instance after an update. */
export function findAsset(name: string): Promise<KeptBody> | null {
  const asset = [styleSheet, script].find((each) => each.name === name);
  if (asset === undefined) return null;
  const file = kept.get(name) ?? keepBody(asset.type, asset.body);
  kept.set(name, file);
  return file;
}
