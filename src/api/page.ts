import type { RateLimitName } from "./rate-limits.ts";
import type { KeptBody } from "./representation.ts";

/** An answer in HTML, a redirect on this instance after a form, or a file whose name changes with what is in it. */
export type PageAnswer =
  | { readonly kind: "html"; readonly status: 200 | 404 | 409 | 503; readonly html: string }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "file"; readonly file: KeptBody };

export interface PageCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a submitted form; empty on GET. */
  readonly form: URLSearchParams;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The languages that the browser asks for. */
  readonly acceptLanguage: string;
}

/** A page for people, beside the operations for programs: the same routing, limits and request ids. */
export interface Page<Service = never> {
  readonly method: "GET" | "POST";
  /** From the root, with names in braces. */
  readonly path: string;
  readonly limit: RateLimitName;
  readonly handle: (service: Service, call: PageCall) => Promise<PageAnswer>;
}

/** Declares pages of one service. */
export function pagesOf<Service>() {
  return (page: Page<Service>): Page<Service> => Object.freeze(page);
}

/**
 * What a page may do: everything from this host, no inline script or style, no frame, no other host.
 * Pictures may be data, which the QR code is.
 */
export const pageSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
