import type { Middleware } from "koa";
import { day, type Clock, type Instant } from "../kernel/clock.ts";
import { untrustedForwarding } from "../platform/forwarding.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { RequestState } from "./pipeline/exchange.ts";

const forwardingHeaders = ["X-Forwarded-For", "Forwarded", "X-Real-IP"] as const;

/** Minimum time between two warnings, in milliseconds. */
const againMs = day;

/**
 * Logs a warning, once a day, if a request carries forwarding headers although no proxy is trusted, and stores a note
 * for the next start and for `till config check`.
 */
export function noticeForwarding(deps: {
  readonly trustedProxies: readonly unknown[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly noteForwarding: () => Promise<void>;
}): Middleware<RequestState> {
  const isTrusting = deps.trustedProxies.length > 0;
  let warnedAt: Instant | null = null;
  const isDue = () => warnedAt === null || Math.abs(deps.clock.now() - warnedAt) >= againMs;
  return (ctx, next) => {
    if (!isTrusting && isDue() && forwardingHeaders.some((name) => ctx.get(name) !== "")) {
      warnedAt = deps.clock.now();
      deps.logger.warn({ requestId: ctx.state.requestId }, untrustedForwarding);
      // The request neither waits for the note nor fails with it.
      deps.noteForwarding().catch((error: unknown) => {
        deps.logger.warn({ err: error }, "the store could not note untrusted forwarding headers");
      });
    }
    return next() as Promise<void>;
  };
}
