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
  /** Sent byte for byte. */
  readonly body: Uint8Array;
}

export interface OutboundResponse {
  readonly outcome: "response";
  readonly status: number;
  /** What the receiver asks us to wait, in milliseconds from now; null when it does not. */
  readonly retryAfterMs: number | null;
  /** The beginning of the body, to be kept with the attempt. */
  readonly bodyExcerpt: string;
  readonly durationMs: number;
}

export interface OutboundError extends Failure {
  readonly outcome: "error";
  readonly durationMs: number;
}

export type OutboundResult = OutboundResponse | OutboundError;

export interface Sender {
  /** Makes one POST. Whatever the receiver does is a result, within the limit of `totalMs`; nothing is thrown. */
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Ends every connection; requests in flight end as `reset`. */
  close(): void;
}

export interface SenderParts {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly limits?: Partial<SenderLimits>;
  /** Certificate authorities (PEM) to trust instead of the system's. */
  readonly ca?: string;
}

const stopping: Failure = {
  kind: "reset",
  message: "This server is stopping; the request was not completed.",
};

const closedWithoutAnswer: Failure = {
  kind: "reset",
  message: "The receiver closed the connection before its answer was complete.",
};

/**
 * Sends webhooks. Each connection resolves the name once, vets every address, and goes to a vetted one, with the
 * original host for SNI and `Host`. Redirects are not followed, no proxy is taken from the environment, and answers are
 * not decompressed.
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
    // A socket asks for no look-up of an address, so that is vetted here; a name is vetted as it is resolved.
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
        ending.abort({ kind: "timeout", message: `No complete answer came within ${ms} ms.` });
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

/** How long each address of a host but the last is tried. */
const addressAttemptMs = 1_000;

function createAgents(limits: SenderLimits, ca: string | undefined) {
  const keeping = {
    keepAlive: true,
    maxFreeSockets: limits.idleConnectionsPerHostMax,
    timeout: limits.idleMs,
  };
  const tcp = { autoSelectFamilyAttemptTimeout: addressAttemptMs };
  // Said aloud, so that no environment variable turns verification off.
  const tls = { ...tcp, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  return {
    http: { kept: new HttpAgent({ ...tcp, ...keeping }), fresh: new HttpAgent(tcp) },
    https: { kept: new HttpsAgent({ ...tls, ...keeping }), fresh: new HttpsAgent(tls) },
  };
}
