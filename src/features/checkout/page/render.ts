import { fileURLToPath } from "node:url";
import { Eta } from "eta";
import type { HtmlPage } from "../../../api/page.ts";
import { script, styleSheetFor } from "./assets.ts";
import type { Catalogue } from "./catalogue.ts";
import { languageLinks, type LanguageLink } from "./languages.ts";
import type { PageModel } from "./page-model.ts";
import type { StateWords } from "./page-words.ts";

/** A page with only a message. */
export interface MessageModel extends StateWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  /** Target of the "Check again" button; null for no button. */
  readonly path: string | null;
  readonly languages: readonly LanguageLink[];
  /** Time after which the script loads `path`, in seconds; null: never. */
  readonly retrySeconds: number | null;
}

// All values are escaped, in text and attributes; only QR codes and partials are inserted raw.
const templates = new Eta({
  views: fileURLToPath(new URL("../pages", import.meta.url)),
  autoEscape: true,
  cache: true,
});

const styles = { styleSheet: styleSheetFor(null), script: null };
const assets = { ...styles, script: script.name };

export function renderCheckout(model: PageModel): HtmlPage {
  return page(model.text, templates.render("./checkout", { ...assets, ...model }));
}

/** Renders the page of the bare host. It names nobody: no merchant, no program and no version. */
export function renderHome(basePath: string, text: Catalogue): HtmlPage {
  const languages = languageLinks("", text);
  const model = { ...styles, basePath, text, languages, title: text.homeTitle };
  return page(text, templates.render("./home", model));
}

export function renderMessage(model: MessageModel): HtmlPage {
  const files = model.retrySeconds === null ? styles : assets;
  return page(model.text, templates.render("./message", { ...files, ...model }));
}

function page({ lang }: Catalogue, html: string): HtmlPage {
  return { html, language: lang };
}
