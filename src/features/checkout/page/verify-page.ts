import type { HtmlPage } from "../../../http/page.ts";
import { second } from "../../../kernel/clock.ts";
import { formatTime, type Catalogue } from "./catalogue.ts";
import type { Tone } from "./page-words.ts";
import { renderVerify } from "./render.ts";

/** The outcomes of a verification. */
type Outcome =
  | "receipt"
  | "payment_request"
  | "expired_request"
  | "changed"
  | "unknown_key"
  | "not_signed"
  /** The browser could not fetch the keys. */
  | "unavailable";

/** The content of a signed text. */
type Claims = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface Verification {
  readonly outcome: Outcome;
  /** Empty unless the signature is valid. */
  readonly claims: Claims;
}

/** The claims that each kind of document shows, with the keys of their labels. A row with several joins them. */
const requestRows = [
  ["merchant", "merchantDisplayName"],
  ["reference", "reference"],
  ["amountToPay", "remainingAmount tokenSymbol"],
  ["network", "network"],
  ["verifyAddress", "walletAddress"],
  ["expires", "expiresAt"],
] as const;
const rows = {
  receipt: [
    ["merchant", "merchantDisplayName"],
    ["purpose", "description"],
    ["order", "externalId"],
    ["reference", "reference"],
    ["invoiced", "amount settlementCurrency"],
    ["received", "receivedAmount tokenSymbol"],
    ["paidAt", "paidAt"],
    ["network", "network"],
    ["transaction", "transactionHashes"],
  ],
  payment_request: requestRows,
  expired_request: requestRows,
} as const satisfies Partial<Record<Outcome, readonly (readonly [keyof Catalogue, string])[]>>;

const signature = [
  ["signedBy", "iss"],
  ["signedOn", "iat"],
] as const;

const headlines = {
  receipt: ["done", "verifyReceipt", null],
  // Only the payment's page knows whether it was paid or canceled since.
  payment_request: ["asking", "verifyRequest", "verifyRequestLead"],
  expired_request: ["over", "verifyRequest", "verifyExpired"],
  changed: ["careful", "verifyRefused", "verifyChanged"],
  unknown_key: ["careful", "verifyRefused", "verifyUnknown"],
  not_signed: ["careful", "verifyRefused", "verifyNotSigned"],
  unavailable: ["careful", "unavailableHeadline", null],
} as const satisfies Record<Outcome, readonly [Tone, keyof Catalogue, keyof Catalogue | null]>;

/** Renders the page that verifies a signed text, with the result of the form if it was sent. */
export function makeVerifyPage(given: {
  readonly basePath: string;
  readonly text: Catalogue;
  /** `?lang=de` if the reader has chosen the language. */
  readonly languageQuery: string;
  /** The text that was sent; empty before. */
  readonly given: string;
  readonly lengthMax: number;
  readonly result: Verification | null;
}): HtmlPage {
  const { basePath, text, languageQuery, result } = given;
  // All outcomes are in the page: its script shows one of them.
  const outcomes = Object.entries(headlines).map(([name, [tone, headline, lead]]) => {
    const isShown = result?.outcome === name;
    const claims = isShown ? result.claims : {};
    const declared = name in rows ? [...rows[name as keyof typeof rows], ...signature] : [];
    return {
      name,
      tone,
      isShown,
      headline: text[headline],
      lead: lead === null ? null : text[lead],
      isTest: claims["isTest"] === true,
      hasPayment: name.endsWith("_request"),
      payment: typeof claims["checkoutId"] === "string" ? claims["checkoutId"] : "",
      rows: declared.map(([label, names]) => ({
        label: text[label],
        claims: names,
        value: valueOf(text, claims, names),
      })),
    };
  });
  const action = `${basePath}/verify${languageQuery}`;
  return renderVerify({ ...given, action, outcomes });
}

/** Returns the text of claims; empty if one is missing. */
function valueOf(text: Catalogue, claims: Claims, names: string): string {
  const texts = names.split(" ").map((name) => {
    const value = claims[name] ?? null;
    if (value === null) return "";
    if (name === "iat") return formatTime(text, Number(value) * second);
    if (name.endsWith("At")) return formatTime(text, Date.parse(String(value)));
    return typeof value === "object" ? value.join(", ") : String(value);
  });
  return texts.includes("") ? "" : texts.join(" ");
}
