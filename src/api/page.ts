import type { RateLimitName } from "./pipeline/rate-limits.ts";
import type { Instant } from "../kernel/clock.ts";
import type { Subscribe } from "./event-stream.ts";
import type { KeptBody } from "./representation.ts";

/**
 * The response of a page: HTML, a stream of events, a redirect within this instance after a form, a static file with a
 * versioned name, or data.
 */
export type PageAnswer =
  | {
      readonly kind: "html";
      readonly page: HtmlPage;
      /** Sent to the page's script in the header Server-Timing, so that kept pages can count down. */
      readonly at?: Instant;
    }
  | { readonly kind: "events"; readonly subscribe: Subscribe }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "file"; readonly file: KeptBody }
  /** For programs. `type` is the media type; browsers save the body under the file name if there is one. */
  | {
      readonly kind: "data";
      readonly type: string;
      readonly body: string;
      readonly fileName?: string;
    };

export interface HtmlPage {
  /** A kept body is sent to many clients, and compressed once. */
  readonly html: string | KeptBody;
  /** The language of its texts, such as `en`, for Content-Language. */
  readonly language: string;
}

export interface PageCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a submitted form; empty on GET. */
  readonly form: URLSearchParams;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The Accept-Language header, at most 200 characters. */
  readonly acceptLanguage: string;
}

/** An HTML page, with the same routing, rate limits and request ids as operations. */
export interface Page<Service = never> {
  readonly method: "GET" | "POST";
  /** Path from the root, with parameter names in braces. */
  readonly path: string;
  /** Null: not limited. */
  readonly limit: RateLimitName | null;
  readonly handle: (service: Service, call: PageCall) => Promise<PageAnswer>;
}

/** A problem as a page shows it. It has no `detail`, which is written for developers. */
export interface PageProblem {
  readonly status: number;
  readonly requestId: string;
  readonly retryAfterSeconds: number | null;
  readonly method: string;
  /** The path of the request. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The Accept-Language header, at most 200 characters. */
  readonly acceptLanguage: string;
}

/** Renders a problem as HTML; returns null for paths that have no pages. */
export type ProblemPage = (problem: PageProblem) => HtmlPage | null;

/** Declares pages of one service. */
export function pagesOf<Service>() {
  return (page: Page<Service>): Page<Service> => Object.freeze(page);
}

/**
 * Content Security Policy of pages: resources from this host only, no inline scripts or styles, no framing. Images may
 * be data URLs, which the QR code is.
 */
export const pageSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
