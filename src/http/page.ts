import type { App } from "../app.ts";
import type { ServerResponse } from "node:http";
import type { Exchange } from "./pipeline/exchange.ts";
import type { RateLimitName } from "./pipeline/rate-limits.ts";
import type { Instant } from "../kernel/clock.ts";
import { htmlType, prepareText, type PreparedBody } from "./representation.ts";

/**
 * The response of a page: HTML, a stream of events, a redirect within this instance after a form, a static file with a
 * versioned name, or data.
 */
export type PageResponse =
  | {
      readonly kind: "html";
      readonly page: HtmlPage;
      readonly policy?: PagePolicy;
      /** Sent to the page's script in the header Server-Timing, so that kept pages can count down. */
      readonly at?: Instant;
    }
  | { readonly kind: "events"; readonly subscribe: Subscribe }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "file"; readonly file: PreparedBody }
  /** For programs. `type` is the media type; browsers save the body under the file name if there is one. */
  | {
      readonly kind: "data";
      readonly type: string;
      readonly body: string;
      readonly fileName?: string;
      /** How long browsers and proxies may keep it; by default not at all. */
      readonly cacheSeconds?: number;
    };

export interface HtmlPage {
  /** A kept body is sent to many clients, and compressed once. */
  readonly html: string | PreparedBody;
  /** The language of its texts, such as `en`, for Content-Language. */
  readonly language: string;
}

/** Returns a page whose compressed forms are made when a client first accepts them. */
export function preparePage({ html, language }: HtmlPage): HtmlPage {
  return { html: typeof html === "string" ? prepareText(htmlType, html) : html, language };
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
export interface Page {
  readonly method: "GET" | "POST";
  /** Path from the root, with parameter names in braces. */
  readonly path: string;
  /** Null: not limited. */
  readonly limit: RateLimitName | readonly RateLimitName[] | null;
  readonly handle: (app: App, call: PageCall) => Promise<PageResponse>;
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
export type ProblemPage = (
  problem: PageProblem,
) => { readonly page: HtmlPage; readonly policy: PagePolicy } | null;

/** Declares a page. */
export function page(declared: Page): Page {
  return Object.freeze(declared);
}

/** The additions to a page's Content Security Policy. */
export interface PagePolicy {
  /** Origins that the code of a payer's wallet connects to from the page. */
  readonly connects: readonly string[];
  /** Origins whose pages may show the page in a frame. */
  readonly embedders: readonly string[];
}

const closed: PagePolicy = { connects: [], embedders: [] };

/**
 * Returns the Content Security Policy of a page: resources from this host only, no inline scripts or styles, no
 * framing unless by the embedders. Images may be data URLs, which the QR code is.
 */
export function pageSecurityPolicy({ connects, embedders }: PagePolicy = closed): string {
  const connected = ["'self'", ...connects].join(" ");
  const ancestors = embedders.length === 0 ? "'none'" : embedders.join(" ");
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connected}; form-action 'self'; base-uri 'none'; frame-ancestors ${ancestors}`;
}

/** Bytes that may wait for a slow client. It is disconnected above, and reconnects when it can. */
const waitingBytesMax = 64 * 1_024;
/** After a lost connection, browsers reconnect after this time, in milliseconds. */
const reconnectMs = 2_000;

/** One client's stream of server-sent events (HTML standard, 9.2). */
export interface EventSink {
  /** Sends an event. Name and data are one line each. */
  send(event: string, data: string): void;
  /** Ends the stream; the browser reconnects. */
  end(): void;
}

/** Starts to send events to a client. Returns the function that stops it; called once, when the connection has closed. */
type Subscribe = (sink: EventSink) => () => void;

/** Answers with a stream of events that stays open. */
export function sendEvents(ctx: Exchange, subscribe: Subscribe): void {
  ctx.status = 200;
  ctx.set("Content-Type", "text/event-stream; charset=utf-8");
  // Proxies must neither compress the stream nor collect it: nginx reads X-Accel-Buffering.
  ctx.set("Cache-Control", "no-store, no-transform");
  ctx.set("X-Accel-Buffering", "no");
  if (ctx.method === "HEAD") {
    ctx.body = "";
    return;
  }
  ctx.respond = false;
  const { res } = ctx;
  // A connection that was lost before this has had its close event: nothing would stop the stream.
  if (res.destroyed || res.closed) return;
  res.statusCode = 200;
  res.flushHeaders();
  res.write(`retry: ${String(reconnectMs)}\n\n`);
  res.once("close", subscribe(sinkOf(res)));
}

function sinkOf(res: ServerResponse): EventSink {
  return {
    send(event, data) {
      if (res.writableEnded || res.destroyed) return;
      res.write(`event: ${event}\ndata: ${data}\n\n`);
      if (res.writableLength > waitingBytesMax) res.destroy();
    },
    end() {
      res.end();
    },
  };
}
