import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Clock } from "../../kernel/clock.ts";
import { excerptText, parseRetryAfter } from "./answer.ts";
import { exchange, type ExchangeResult } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { Guard } from "./guard.ts";
import { senderLimits, type SenderLimits } from "./limits.ts";
import { isRefused, parseTarget } from "./target.ts";

export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes to send. */
  readonly body: Uint8Array;
}

export interface OutboundResponse {
  readonly outcome: "response";
  readonly status: number;
  /** The fault in the HTTP of the response, whose status counts all the same; null without a fault. */
  readonly oddity: string | null;
  /** The delay that the receiver requested, in milliseconds from now; null if none. */
  readonly retryAfterMs: number | null;
  /** The beginning of the body, which is stored with the attempt. */
  readonly bodyExcerpt: string;
  readonly durationMs: number;
}

export interface OutboundError extends Failure {
  readonly outcome: "error";
  readonly durationMs: number;
}

export type OutboundResult = OutboundResponse | OutboundError;

export interface Sender {
  /** Sends one POST. Every behavior of the receiver leads to a result within `totalMs`; it never throws. */
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Closes all connections; requests in flight end as `reset`. */
  close(): void;
}

export interface SenderParts {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly limits?: Partial<SenderLimits>;
  /** Certificate authorities (PEM) that replace the system's. */
  readonly ca?: string;
}

const stopping: Failure = {
  kind: "reset",
  message: "This server is stopping; the request was not completed.",
};

const closedWithoutAnswer: Failure = {
  kind: "reset",
  message: "The receiver closed the connection before its response was complete.",
};

/**
 * Creates the sender of webhooks. Each connection resolves the name once, vets every address, and connects to a vetted
 * one with the original host name for SNI and `Host`. It follows no redirects, ignores proxies in the environment, and
 * does not decompress responses.
 */
export function createSender({ guard, clock, limits: changed, ca }: SenderParts): Sender {
  const limits = { ...senderLimits, ...changed };
  const agents = createAgents(limits, ca);
  const inFlight = new Set<AbortController>();
  let isClosed = false;

  async function attempt(request: OutboundRequest, ended: AbortSignal): Promise<ExchangeResult> {
    if (isClosed) return { kind: "failure", failure: stopping };
    const target = parseTarget(request.url);
    if (isRefused(target)) {
      return { kind: "failure", failure: { kind: "invalid_url", message: target.message } };
    }
    // Node resolves no IP addresses, so a literal address is vetted here; a name is vetted while it is resolved.
    if (target.literal) {
      const vetted = await guard.vetAddresses(target);
      if (!vetted.allowed) {
        return { kind: "failure", failure: { kind: "blocked", message: vetted.message } };
      }
    }
    const { kept, fresh } = target.secure ? agents.https : agents.http;
    const parts = { guard, limits, target, headers: request.headers, body: request.body, ended };
    const first = await exchange({ ...parts, agent: kept });
    return first.kind === "stale" ? exchange({ ...parts, agent: fresh }) : first;
  }

  return {
    async send(request) {
      const startedAt = clock.now();
      const ending = new AbortController();
      inFlight.add(ending);
      const timer = setTimeout(() => {
        const ms = String(limits.totalMs);
        ending.abort({
          kind: "timeout",
          message: `The receiver did not respond completely within ${ms} ms.`,
        });
      }, limits.totalMs);
      const result = await attempt(request, ending.signal).finally(() => {
        clearTimeout(timer);
        inFlight.delete(ending);
      });
      const now = clock.now();
      const durationMs = Math.max(0, now - startedAt);
      if (result.kind !== "answer") {
        const failure = result.kind === "stale" ? closedWithoutAnswer : result.failure;
        return { outcome: "error", ...failure, durationMs };
      }
      return {
        outcome: "response",
        status: result.answer.status,
        oddity: result.answer.oddity,
        retryAfterMs: parseRetryAfter(result.answer.retryAfter, now),
        bodyExcerpt: excerptText(result.answer.excerpt),
        durationMs,
      };
    },

    close() {
      isClosed = true;
      for (const ending of inFlight) ending.abort(stopping);
      for (const { kept, fresh } of Object.values(agents)) {
        kept.destroy();
        fresh.destroy();
      }
    },
  };
}

/** How long each address of a host is tried before the next one, in milliseconds. */
const addressAttemptMs = 1_000;

function createAgents(limits: SenderLimits, ca: string | undefined) {
  const keeping = {
    keepAlive: true,
    maxFreeSockets: limits.idleConnectionsPerHostMax,
    timeout: limits.idleMs,
  };
  const tcp = { autoSelectFamilyAttemptTimeout: addressAttemptMs };
  // Set explicitly, so that no environment variable can disable verification.
  const tls = { ...tcp, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  return {
    http: { kept: new HttpAgent({ ...tcp, ...keeping }), fresh: new HttpAgent(tcp) },
    https: { kept: new HttpsAgent({ ...tls, ...keeping }), fresh: new HttpsAgent(tls) },
  };
}
