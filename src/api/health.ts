import type Router from "@koa/router";
import type { RequestState } from "./pipeline/exchange.ts";

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
