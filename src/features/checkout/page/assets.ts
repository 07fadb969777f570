import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { keepBody, type KeptBody } from "../../../api/representation.ts";

/** A static file of the pages. Its name contains a hash of its content, so browsers can cache it forever. */
export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

function readAsset(stem: string, extension: string, type: string): Asset {
  const body = readFileSync(new URL(`../pages/${stem}.${extension}`, import.meta.url), "utf8");
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { name: `${stem}.${hash}.${extension}`, type, body };
}

export const styleSheet = readAsset("checkout", "css", "text/css; charset=utf-8");
export const script = readAsset("checkout", "js", "text/javascript; charset=utf-8");

const kept = new Map<string, Promise<KeptBody>>();

/** Returns the file of that name, ready to send; null if it does not exist, for instance after an update. */
export function findAsset(name: string): Promise<KeptBody> | null {
  const asset = [styleSheet, script].find((each) => each.name === name);
  if (asset === undefined) return null;
  const file = kept.get(name) ?? keepBody(asset.type, asset.body);
  kept.set(name, file);
  return file;
}
