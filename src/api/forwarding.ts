import type { Middleware } from "koa";
import { day, type Clock, type Instant } from "../kernel/clock.ts";
import { untrustedForwarding } from "../platform/forwarding.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { RequestState } from "./exchange.ts";

const forwardingHeaders = ["X-Forwarded-For", "Forwarded", "X-Real-IP"] as const;

/** How long after a warning the next one waits. */
const againMs = day;

/**
 * Warns in the log, once a day, where a request has forwarding headers and no proxy is trusted, and has it remembered for
 * the next start and for `till config check`.
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
  return async (ctx, next) => {
    if (!isTrusting && isDue() && forwardingHeaders.some((name) => ctx.get(name) !== "")) {
      warnedAt = deps.clock.now();
      deps.logger.warn({ requestId: ctx.state.requestId }, untrustedForwarding);
      // The request does not wait for a note, nor fail with it.
      deps.noteForwarding().catch((error: unknown) => {
        deps.logger.warn({ err: error }, "the store could not note untrusted forwarding headers");
      });
    }
    await next();
  };
}
