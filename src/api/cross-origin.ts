import type { Middleware } from "koa";
import type { RequestState } from "./pipeline/exchange.ts";

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
