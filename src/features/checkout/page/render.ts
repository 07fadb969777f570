import { fileURLToPath } from "node:url";
import { Eta } from "eta";
import type { HtmlPage } from "../../../http/page.ts";
import { script, styleSheetFor, verifyScript } from "./assets.ts";
import type { Catalogue } from "./catalogue.ts";
import { languageLinks, type LanguageLink } from "./languages.ts";
import type { PageModel } from "./page-model.ts";
import type { StateWords } from "./page-words.ts";
import { programFile } from "../../../platform/files.ts";

/** A page with only a message. */
interface MessageModel extends StateWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  /** Target of the "Check again" button; null for no button. */
  readonly path: string | null;
  readonly languages: readonly LanguageLink[];
  /** Time after which the script loads `path`, in seconds; null: never. */
  readonly retrySeconds: number | null;
}

/** The page on which a payer confirms the address of a refund. */
interface RefundPageModel {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  readonly lead: string;
  /** The amount that the payer sees, as decimal text. */
  readonly amount: string;
  /** The whole address, which the payer has just entered. */
  readonly address: string;
  readonly hash: string;
  readonly pageToken: string;
  /** Target of the form. */
  readonly action: string;
  /** Path of the payment's page. */
  readonly path: string;
  readonly isTest: boolean;
}

/** The page that verifies signed texts. */
interface VerifyModel {
  readonly text: Catalogue;
  readonly basePath: string;
  /** Target of the form. */
  readonly action: string;
  readonly given: string;
  /** Maximum length of the text, in characters. */
  readonly lengthMax: number;
  readonly outcomes: readonly {
    readonly name: string;
    readonly isShown: boolean;
    readonly tone: string;
    readonly headline: string;
    readonly lead: string | null;
    readonly isTest: boolean;
    /** Whether it links to the payment's page, and the id of that page's checkout if it is known. */
    readonly hasPayment: boolean;
    readonly payment: string;
    /** `claims` are the names of the claims that the value joins; rows with an empty value are hidden. */
    readonly rows: readonly {
      readonly label: string;
      readonly claims: string;
      readonly value: string;
    }[];
  }[];
}

// All values are escaped, in text and attributes; only QR codes and partials are inserted raw.
const templates = new Eta({
  views: fileURLToPath(programFile("features/checkout/pages")),
  autoEscape: true,
  cache: true,
});

const styles = { styleSheet: styleSheetFor(null), script: null };
const assets = { ...styles, script: script.name };

export function renderCheckout(model: PageModel): HtmlPage {
  return page(model.text, templates.render("./checkout/checkout", { ...assets, ...model }));
}

/** Renders the page of the bare host. It names nobody: no merchant, no program and no version. */
export function renderHome(basePath: string, text: Catalogue): HtmlPage {
  const languages = languageLinks("", text);
  const model = { ...styles, basePath, text, languages, title: text.homeTitle };
  return page(text, templates.render("./home", model));
}

export function renderVerify(model: VerifyModel): HtmlPage {
  const title = model.text.verifyTitle;
  const languages = languageLinks("", model.text);
  const files = { ...styles, script: verifyScript.name };
  return page(model.text, templates.render("./verify", { ...files, ...model, languages, title }));
}

export function renderRefund(model: RefundPageModel): HtmlPage {
  return page(model.text, templates.render("./refund", { ...styles, languages: [], ...model }));
}

export function renderMessage(model: MessageModel): HtmlPage {
  const files = model.retrySeconds === null ? styles : assets;
  return page(model.text, templates.render("./message", { ...files, ...model }));
}

/** Renders a template of the payers' pages that has its own model. */
export function renderTemplate(text: Catalogue, name: string, model: object): HtmlPage {
  return page(text, templates.render(name, model));
}

function page({ lang }: Catalogue, html: string): HtmlPage {
  return { html, language: lang };
}
