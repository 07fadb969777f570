import type Router from "@koa/router";
import type { RequestState } from "./exchange.ts";

/** Whether this process can serve, and what keeps it from it: short words without details of the inside. */
export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, "ok" | "down">>;
  /** Every configured provider of every network. One that is down keeps nobody from serving. */
  readonly providers: readonly {
    readonly network: string;
    /** Its origin. */
    readonly provider: string;
    readonly status: string;
  }[];
}

/** `/healthz` says that the process lives; `/readyz` that it can serve, else 503. Neither asks for a credential. */
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
