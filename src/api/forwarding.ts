import type { Middleware } from "koa";
import { untrustedForwarding } from "../platform/forwarding.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { RequestState } from "./exchange.ts";

const forwardingHeaders = ["X-Forwarded-For", "Forwarded", "X-Real-IP"] as const;

/**
 * Warns in the log, once in the life of a server, where a request has forwarding headers and no proxy is trusted, and
 * has it remembered for the next start and for `till config check`.
 */
export function noticeForwarding(deps: {
  readonly trustedProxies: readonly unknown[];
  readonly logger: Logger;
  readonly noteForwarding: () => Promise<void>;
}): Middleware<RequestState> {
  let isWatching = deps.trustedProxies.length === 0;
  return async (ctx, next) => {
    if (isWatching && forwardingHeaders.some((name) => ctx.get(name) !== "")) {
      isWatching = false;
      deps.logger.warn({ requestId: ctx.state.requestId }, untrustedForwarding);
      // The request does not wait for a note, nor fail with it.
      deps.noteForwarding().catch((error: unknown) => {
        deps.logger.warn({ err: error }, "the store could not note untrusted forwarding headers");
      });
    }
    await next();
  };
}
