import type { App } from "../app.ts";
import type Router from "@koa/router";
import type { Middleware } from "koa";
import { formOf, pathParameter, readForm } from "./pipeline/parse-call.ts";
import type { Clock } from "../kernel/clock.ts";
import { InvalidRequest, noSuchPath, notFound, Problem } from "../kernel/errors.ts";
import type { IdSource } from "../kernel/id.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { AddressRange } from "../platform/outbound/address.ts";
import { clientAddress } from "./client-address.ts";
import {
  pageSecurityPolicy,
  sendEvents,
  type HtmlPage,
  type Page,
  type PageResponse,
  type PagePolicy,
  type ProblemPage,
} from "./page.ts";
import type { Exchange, RequestState } from "./pipeline/exchange.ts";
import type { Mountable } from "./pipeline/mount.ts";
import {
  CrossSiteForm,
  MethodNotAllowed,
  problemDocument,
  UnsupportedMediaType,
} from "./declare/problems.ts";
import {
  RateLimitExceeded,
  rateLimitHeaders,
  rateLimits,
  type RateLimitName,
  type RateLimiter,
} from "./pipeline/rate-limits.ts";
import { htmlType, sendPrepared } from "./representation.ts";
import { parseUrl } from "../kernel/url.ts";

type Handler = Middleware<RequestState>;

/** Accepted values of a client's own X-Request-Id. */
const requestIdPattern = /^[\w.-]{1,64}$/;

/** Determines the request id, which appears on the response, log lines and audit entries, and the client's address. */
export function identifyRequest(deps: {
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly trustedProxies: readonly AddressRange[];
}): Handler {
  return (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = requestIdPattern.test(given)
      ? given
      : deps.ids.next("request", deps.clock.now());
    ctx.state.clientAddress = clientAddress(
      ctx.req.socket.remoteAddress ?? "",
      ctx.get("X-Forwarded-For"),
      deps.trustedProxies,
    );
    ctx.set("X-Request-Id", ctx.state.requestId);
    return next() as Promise<void>;
  };
}

/** Reduces an absolute request target (`GET http://host/path`) to its path and refuses a malformed one. */
export function readTarget(): Handler {
  return (ctx, next) => {
    const target = ctx.req.url ?? "";
    if (!target.startsWith("/") && target !== "*") {
      const url = parseUrl(target);
      // A malformed target has no path: reading it again would throw.
      ctx.req.url = url === null ? "/" : url.pathname + url.search;
      if (url === null) throw new InvalidRequest("The request target is not a valid URL.");
    }
    return next() as Promise<void>;
  };
}

/**
 * Converts every error into a problem response: a page where people look at pages, unless the client prefers JSON, and
 * a problem document everywhere else. No other code does so.
 */
export function sendProblems(deps: {
  readonly logger: Logger;
  readonly baseUrl: () => string;
  readonly problemPage: ProblemPage;
}): Handler {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body == null) throw noSuchPath();
    } catch (error) {
      const problem = problemDocument(error, ctx.state.requestId, deps.baseUrl());
      if (error instanceof RateLimitExceeded) ctx.set(rateLimitHeaders(error.state));
      if (error instanceof Problem && error.retryAfterSeconds !== null) {
        ctx.set("Retry-After", String(error.retryAfterSeconds));
      }
      if (problem.status === 401) ctx.set("WWW-Authenticate", "Bearer");
      logFailure(deps.logger, ctx.state.requestId, error, problem);
      ctx.status = problem.status;
      const shown = pageOf(ctx, error, problem, deps.problemPage);
      if (shown !== null) {
        sendHtml(ctx, shown.page, shown.policy);
        return;
      }
      ctx.body = JSON.stringify(problem);
      ctx.type = "application/problem+json";
    }
  };
}

function pageOf(
  ctx: Exchange,
  error: unknown,
  { status, requestId }: { readonly status: number; readonly requestId: string },
  problemPage: ProblemPage,
): ReturnType<ProblemPage> {
  const shown = problemPage({
    status,
    requestId,
    retryAfterSeconds: error instanceof Problem ? error.retryAfterSeconds : null,
    method: ctx.method,
    path: ctx.path,
    query: new URLSearchParams(ctx.querystring),
    acceptLanguage: acceptLanguageOf(ctx),
  });
  if (shown === null) return null;
  ctx.vary("Accept");
  const preferred = ctx.accepts("html", "json", "application/problem+json");
  return preferred === "html" || preferred === false ? shown : null;
}

/** Long headers are cut, because they are parsed. */
function acceptLanguageOf(ctx: Exchange): string {
  return ctx.get("Accept-Language").slice(0, 200);
}

const replaced = "the program's files were replaced while it ran, so restart the server";

/** Whether a part of the program that is loaded when it is needed is gone. */
function isReplaced(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === "ERR_MODULE_NOT_FOUND";
}

/**
 * Logs a failure. A refusal by a rule, such as a network without a provider, is not a defect and is logged without
 * a stack.
 */
function logFailure(
  logger: Logger,
  requestId: string,
  error: unknown,
  { status, code, title, detail }: { status: number; code: string; title: string; detail: string },
): void {
  if (status < 500) return;
  if (error instanceof Problem && error.cause === undefined) {
    logger.warn({ requestId, code, detail }, title);
  } else {
    logger.error({ requestId, err: error }, isReplaced(error) ? `${title}: ${replaced}` : title);
  }
}

/**
 * Logs each request with its duration. It logs the route, not the path, because a checkout's path is the payer's
 * secret.
 */
export function logRequests(
  deps: { readonly logger: Logger; readonly clock: Clock },
  level: "debug" | "info",
): Handler {
  return async (ctx, next) => {
    const startedAt = deps.clock.now();
    await next();
    deps.logger[level](
      {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: (ctx as { routerPath?: unknown }).routerPath ?? null,
        status: ctx.status,
        durationMs: deps.clock.now() - startedAt,
        clientAddress: ctx.state.clientAddress,
      },
      "request",
    );
  };
}

const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Sets the security headers of every response. Pages and the docs add their own policy. */
export function secureHeaders(): Handler {
  return (ctx, next) => {
    ctx.set(securityHeaders);
    return next() as Promise<void>;
  };
}

/** Answers a known path with another method by 405 and its allowed methods, and OPTIONS by the allowed methods. */
export function refuseMethods(router: Router<RequestState>): Handler {
  const response = router.allowedMethods() as unknown as Handler;
  return async (ctx, next) => {
    await response(ctx, next);
    if (ctx.status !== 405 && ctx.status !== 501) return;
    if (ctx.response.get("Allow") === "") {
      ctx.remove("Allow");
      throw notFound();
    }
    throw new MethodNotAllowed("Use one of the methods listed in the Allow header.");
  };
}

/** The path parameters by which pages are limited in place of the client's address. */
const subjects = ["checkoutId", "paymentLinkId"] as const;

/** Returns what a page's limit counts by: the subject of the page, if it has one, the client's address, or both. */
function limitKey(limit: RateLimitName, subjectId: string | null, clientAddress: string): string {
  if (subjectId === null) return clientAddress;
  switch (rateLimits[limit].by) {
    case "checkout":
      return subjectId;
    case "checkoutRange":
      return `${subjectId} ${clientAddress}`;
    default:
      return clientAddress;
  }
}

/** Mounts HTML pages. */
export function mountPages(pages: readonly Page[], app: App, rateLimiter: RateLimiter): Mountable {
  return (router) => {
    for (const page of pages) {
      const path = page.path.replaceAll("{", ":").replaceAll("}", "");
      const subject = subjects.find((name) => page.path.includes(`{${name}}`)) ?? null;
      const limits = [page.limit ?? []].flat();
      const verb = page.method.toLowerCase() as Lowercase<typeof page.method>;
      router[verb](
        path,
        async (ctx, next) => {
          // Another site must not spend what its visitors may, such as the payments that a client may start at links.
          if (page.method === "POST" && ctx.get("Sec-Fetch-Site") === "cross-site") {
            throw new CrossSiteForm("Open the page itself, then send its form.");
          }
          // A malformed id is a 404 that is not counted.
          const subjectId = subject === null ? null : pathParameter(ctx, subject);
          for (const limit of limits) {
            const key = limitKey(limit, subjectId, ctx.state.clientAddress);
            const state = await rateLimiter.count(limit, key);
            if (state !== null) ctx.set(rateLimitHeaders(state));
          }
          if (page.method === "POST" && ctx.is("application/x-www-form-urlencoded") === false) {
            throw new UnsupportedMediaType("Send the form as application/x-www-form-urlencoded.");
          }
          await next();
        },
        readForm,
        async (ctx) => {
          const { requestId, clientAddress } = ctx.state;
          const query = new URLSearchParams(ctx.querystring);
          const acceptLanguage = acceptLanguageOf(ctx);
          const call = { params: ctx.params, query, form: formOf(ctx), requestId, clientAddress };
          sendPage(ctx, await page.handle(app, { ...call, acceptLanguage }));
        },
      );
    }
  };
}

function sendPage(ctx: Exchange, response: PageResponse): void {
  if (response.kind === "events") {
    sendEvents(ctx, response.subscribe);
    return;
  }
  if (response.kind === "redirect") {
    ctx.set("Content-Security-Policy", pageSecurityPolicy());
    ctx.redirect(response.location);
    // 303 makes the browser fetch the page with GET after a form.
    ctx.status = 303;
    return;
  }
  if (response.kind === "file") {
    ctx.status = 200;
    ctx.set("Content-Security-Policy", pageSecurityPolicy());
    ctx.set("Cache-Control", "public, max-age=31536000, immutable");
    sendPrepared(ctx, response.file);
    return;
  }
  ctx.status = 200;
  if (response.kind === "data") {
    ctx.type = response.type;
    if (response.fileName !== undefined) ctx.attachment(response.fileName);
    if (response.cacheSeconds !== undefined) {
      ctx.set("Cache-Control", `public, max-age=${String(response.cacheSeconds)}`);
    }
    ctx.body = response.body;
    return;
  }
  if (response.at !== undefined) ctx.set("Server-Timing", `now;desc="${String(response.at)}"`);
  sendHtml(ctx, response.page, response.policy);
}

function sendHtml(ctx: Exchange, { html, language }: HtmlPage, policy?: PagePolicy): void {
  ctx.vary("Accept-Language");
  ctx.set("Content-Language", language);
  ctx.set("Content-Security-Policy", pageSecurityPolicy(policy));
  ctx.set("X-Robots-Tag", "noindex");
  if (typeof html !== "string") {
    sendPrepared(ctx, html);
    return;
  }
  ctx.type = htmlType;
  ctx.body = html;
}

/**
 * Lets scripts of a merchant's own pages read its checkouts: a successful `GET /v1/checkout/{checkoutId}` and below, if
 * the checkout's organization allows the request's origin. Scripts of all other pages cannot read any response.
 */
export function shareCheckouts(deps: {
  readonly allowedOrigins: (checkoutId: string) => Promise<readonly string[]>;
}): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const [, checkoutId] = /^\/v1\/checkout\/([^/]+)(?:\/|$)/.exec(ctx.path) ?? [];
    if (checkoutId === undefined || ctx.method !== "GET") return;
    ctx.vary("Origin");
    const origin = ctx.get("Origin");
    if (origin === "" || (ctx.status !== 200 && ctx.status !== 304)) return;
    if ((await deps.allowedOrigins(checkoutId)).includes(origin)) {
      ctx.set("Access-Control-Allow-Origin", origin);
      ctx.set("Access-Control-Expose-Headers", "Server-Timing, Date");
    }
  };
}
