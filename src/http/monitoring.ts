import type Router from "@koa/router";
import type { Middleware } from "koa";
import { timingSafeEqual } from "node:crypto";
import { second } from "../kernel/clock.ts";
import { notFound } from "../kernel/errors.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import { isLoopback } from "./client-address.ts";
import { digest } from "../kernel/digest.ts";
import type { RequestState } from "./pipeline/exchange.ts";
import { Unauthenticated } from "./declare/problems.ts";

/** Counts each request and its duration by route pattern, because the number of distinct paths is unbounded. */
export function measureRequests(metrics: Metrics): Middleware<RequestState> {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const route = (ctx as { routerPath?: unknown }).routerPath;
    const isKnown = typeof route === "string";
    const request = {
      method: isKnown ? ctx.method : "other",
      route: isKnown ? route : "none",
      status: ctx.status,
    };
    metrics.requestAnswered(request, (performance.now() - startedAt) / second);
  };
}

/**
 * Serves `/metrics` for Prometheus. With a token configured, a request must send it. Without one, only direct requests
 * from this machine are answered, not those forwarded by a proxy; all others get 404.
 */
export function mountMetrics(
  router: Router<RequestState>,
  deps: {
    readonly token: string | null;
    readonly scrape: () => Promise<{ readonly contentType: string; readonly body: string }>;
  },
): void {
  router.get("/metrics", async (ctx) => {
    if (deps.token === null) {
      const isPassedOn = ctx.get("X-Forwarded-For") !== "" || ctx.get("Forwarded") !== "";
      if (isPassedOn || !isLoopback(ctx.state.clientAddress)) throw notFound();
    } else if (!isSame(bearerOf(ctx.get("Authorization")), deps.token)) {
      throw new Unauthenticated(
        "Send the value of TILL_METRICS_TOKEN in the header Authorization: Bearer …",
      );
    }
    const { contentType, body } = await deps.scrape();
    ctx.type = contentType;
    ctx.body = body;
  });
}

function bearerOf(authorization: string): string {
  return /^Bearer +([^ ]+)$/i.exec(authorization)?.[1] ?? "";
}

/** Compares digests in constant time, so that timing reveals nothing about the token. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(digest(given)), Buffer.from(digest(token)));
}

/** Whether this process can serve requests and will go on, and which checks fail; without internal details. */
export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, "ok" | "down">>;
  /**
   * Every configured provider of every network; empty if the store is down or refuses writes. A provider that is down
   * does not make the process unready.
   */
  readonly providers: readonly {
    readonly network: string;
    /** Position in the network's order of preference, from 1. A host name would tell strangers which provider to attack. */
    readonly provider: number;
    readonly status: string;
  }[];
}

/** Serves `/healthz` (the process is alive) and `/readyz` (it can serve; 503 if not), without a credential. */
export function mountHealth(
  router: Router<RequestState>,
  deps: { readonly readiness: () => Promise<Readiness> },
): void {
  router.get("/healthz", (ctx) => {
    ctx.type = "application/json";
    ctx.body = JSON.stringify({ status: "ok" });
  });
  router.get("/readyz", async (ctx) => {
    const { isReady, checks, providers } = await deps.readiness();
    ctx.status = isReady ? 200 : 503;
    if (!isReady) ctx.set("Retry-After", "2");
    ctx.type = "application/json";
    ctx.body = JSON.stringify({ status: isReady ? "ok" : "down", checks, providers });
  });
}
