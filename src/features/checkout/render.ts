import { fileURLToPath } from "node:url";
import { Eta } from "eta";
import { script, styleSheet } from "./assets.ts";
import type { Catalogue } from "./catalogue.ts";
import type { PageModel } from "./page-model.ts";
import type { StateWords } from "./page-words.ts";

/** A page that only says something. */
export interface MessageModel extends StateWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  /** Where to look again; null: nowhere. */
  readonly path: string | null;
}

// Every value is escaped where it is put out, in text and in attributes alike; only codes and parts are put out raw.
const templates = new Eta({
  views: fileURLToPath(new URL("./pages", import.meta.url)),
  autoEscape: true,
  cache: true,
});

const assets = { styleSheet: styleSheet.name, script: script.name };

export function renderCheckout(model: PageModel): string {
  return templates.render("./checkout", { ...assets, ...model });
}

export function renderMessage(model: MessageModel): string {
  return templates.render("./message", { ...assets, ...model });
}
