import {
  Agent as HttpAgent,
  request as httpRequest,
  type Agent,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { within, type Clock } from "../../kernel/clock.ts";
import {
  excerptText,
  head,
  parseRetryAfter,
  readResponse,
  statusOf,
  type ReceiverResponse,
} from "./response.ts";
import { describeFailure, oddityOf, type Failure, type Phase } from "./failure.ts";
import { isRefused, parseTarget, type Guard, type Target } from "./guard.ts";

/** The limits of one request. The guard limits the name resolution. */
export interface SenderLimits {
  /** Time to open a connection to a vetted address. */
  readonly connectMs: number;
  readonly tlsMs: number;
  /** Time from the call to the last byte of the response. */
  readonly totalMs: number;
  /** Bytes of a body that are read before the connection is closed; the response still counts. */
  readonly bodyBytesMax: number;
  /** Bytes of a body that are kept. */
  readonly excerptBytesMax: number;
  readonly headerBytesMax: number;
  /** The maximum number of 1xx responses before the final one. */
  readonly interimResponsesMax: number;
  /** How long an idle connection is kept: less than the 5 s after which common servers close theirs. */
  readonly idleMs: number;
  readonly idleConnectionsPerHostMax: number;
}

const senderLimits: SenderLimits = {
  connectMs: 5_000,
  tlsMs: 5_000,
  totalMs: 15_000,
  bodyBytesMax: 64 * 1_024,
  excerptBytesMax: 4 * 1_024,
  headerBytesMax: 16 * 1_024,
  interimResponsesMax: 16,
  idleMs: 4_000,
  idleConnectionsPerHostMax: 8,
};

export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes to send. */
  readonly body: Uint8Array;
}

interface OutboundResponse {
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

interface OutboundError extends Failure {
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

interface SenderParts {
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

const closedWithoutResponse: Failure = {
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
    const { pooled, fresh } = target.secure ? agents.https : agents.http;
    const parts = { guard, limits, target, headers: request.headers, body: request.body, ended };
    const first = await exchange({ ...parts, agent: pooled });
    return first.kind === "stale" ? exchange({ ...parts, agent: fresh }) : first;
  }

  return {
    async send(request) {
      const startedAt = clock.now();
      const ending = new AbortController();
      inFlight.add(ending);
      const { totalMs } = limits;
      const sending = attempt(request, ending.signal).finally(() => inFlight.delete(ending));
      const result = await within(totalMs, sending, () => {
        ending.abort({
          kind: "timeout",
          message: `The receiver did not respond completely within ${String(totalMs)} ms.`,
        });
        return sending;
      });
      const now = clock.now();
      const durationMs = Math.max(0, now - startedAt);
      if (result.kind !== "response") {
        const failure = result.kind === "stale" ? closedWithoutResponse : result.failure;
        return { outcome: "error", ...failure, durationMs };
      }
      return {
        outcome: "response",
        status: result.response.status,
        oddity: result.response.oddity,
        retryAfterMs: parseRetryAfter(result.response.retryAfter, now),
        bodyExcerpt: excerptText(result.response.excerpt),
        durationMs,
      };
    },

    close() {
      isClosed = true;
      for (const ending of inFlight) ending.abort(stopping);
      for (const { pooled, fresh } of Object.values(agents)) {
        pooled.destroy();
        fresh.destroy();
      }
    },
  };
}

/** How long each address of a host is tried before the next one, in milliseconds. */
const addressAttemptMs = 1_000;

function createAgents(limits: SenderLimits, ca: string | undefined) {
  const pooling = {
    keepAlive: true,
    maxFreeSockets: limits.idleConnectionsPerHostMax,
    timeout: limits.idleMs,
  };
  const tcp = { autoSelectFamilyAttemptTimeout: addressAttemptMs };
  // Set explicitly, so that no environment variable can disable verification.
  const tls = { ...tcp, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
  return {
    http: { pooled: new HttpAgent({ ...tcp, ...pooling }), fresh: new HttpAgent(tcp) },
    https: { pooled: new HttpsAgent({ ...tls, ...pooling }), fresh: new HttpsAgent(tls) },
  };
}

/** `stale`: a kept-alive connection was closed before any response, so a new one may be tried. */
type ExchangeResult =
  | { readonly kind: "response"; readonly response: ReceiverResponse }
  | { readonly kind: "failure"; readonly failure: Failure }
  | { readonly kind: "stale" };

interface ExchangeParts {
  readonly guard: Guard;
  readonly limits: SenderLimits;
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Provides the connection: kept-alive or new. */
  readonly agent: Agent;
  /** Aborts the exchange; its reason is a Failure. */
  readonly ended: AbortSignal;
}

/** Sends one POST over one connection. Never rejects. */
function exchange(parts: ExchangeParts): Promise<ExchangeResult> {
  const { target, limits, ended } = parts;
  const exchanged = new Promise<ExchangeResult>((resolve) => {
    const phases = createPhases(limits, fail);
    let refusal: Failure | null = null;
    const outgoing = (target.secure ? httpsRequest : httpRequest)(target.url, {
      method: "POST",
      agent: parts.agent,
      headers: {
        "accept-encoding": "identity",
        ...parts.headers,
        "content-length": parts.body.byteLength,
      },
      lookup: pinnedLookup(parts, phases, (failure) => {
        refusal = failure;
      }),
      maxHeaderSize: limits.headerBytesMax,
    });
    let isOver = false;
    let answered: IncomingMessage | null = null;
    /** The first bytes of the response, until its head is parsed. */
    const received: Uint8Array[] = [];
    let receivedBytes = 0;
    let interimResponses = 0;

    function end(result: ExchangeResult): void {
      if (isOver) return;
      isOver = true;
      phases.stop();
      ended.removeEventListener("abort", onEnded);
      outgoing.socket?.off("data", onData);
      resolve(result);
      // After a complete response the connection returns to the agent.
      if (result.kind !== "response") outgoing.destroy();
    }
    function fail(failure: Failure): void {
      end({ kind: "failure", failure });
    }
    function onEnded(): void {
      fail(ended.reason as Failure);
    }
    ended.addEventListener("abort", onEnded);
    function onData(chunk: Uint8Array): void {
      if (answered !== null || receivedBytes >= limits.headerBytesMax) return;
      received.push(chunk);
      receivedBytes += chunk.byteLength;
    }
    /** Ends with the status of a response that the parser refused, if its status line was received whole. */
    function endOddly(error: Error): void {
      const oddity = oddityOf(error);
      const status = answered?.statusCode ?? statusOf(Buffer.concat(received));
      if (oddity === null || status === null) return;
      const empty = { status, retryAfter: undefined, excerpt: new Uint8Array() };
      end({
        kind: "response",
        response: { ...(answered === null ? empty : head(answered)), oddity },
      });
      outgoing.destroy();
    }

    outgoing.on("socket", (socket) => {
      // Before the parser, whose errors have only the bytes that it refused.
      socket.prependListener("data", onData);
      if (outgoing.reusedSocket) phases.enter("exchange");
      else followConnection(socket, target, phases);
    });
    outgoing.on("information", () => {
      interimResponses += 1;
      if (interimResponses > limits.interimResponsesMax) fail(endlessInterimResponses);
    });
    outgoing.on("upgrade", (response, socket) => {
      socket.destroy();
      end({ kind: "response", response: head(response) });
    });
    outgoing.on("response", (response) => {
      answered = response;
      readResponse(response, limits, (result) => {
        if ("response" in result) end({ kind: "response", response: result.response });
        else fail(describeFailure("exchange", result.error));
      });
    });
    outgoing.on("error", (error) => {
      endOddly(error);
      if (outgoing.reusedSocket && answered === null && isClosedByPeer(error))
        end({ kind: "stale" });
      else fail(refusal ?? describeFailure(phases.current(), error));
    });
    // Every request closes in the end, so nothing waits forever.
    outgoing.on("close", () => {
      fail(describeFailure("exchange", new Error("closed")));
    });
    outgoing.end(parts.body);
    if (ended.aborted) onEnded();
  });
  return exchanged.catch(() => ({ kind: "failure", failure: notSendable }));
}

/** Node makes no request like this. */
const notSendable: Failure = {
  kind: "protocol",
  message: "The request was not sent: it is not valid HTTP, usually because of one of its headers.",
};

const endlessInterimResponses: Failure = {
  kind: "protocol",
  message: "The receiver sends too many interim (1xx) responses.",
};

interface Phases {
  current(): Phase;
  enter(phase: Phase): void;
  /** Ends the time limits; later phases have none. */
  stop(): void;
}

/** Tracks the phase of a request and limits the phases that have a timeout of their own. */
function createPhases(limits: SenderLimits, fail: (failure: Failure) => void): Phases {
  let phase: Phase = "dns";
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function limit(ms: number, what: string): void {
    timer = setTimeout(() => {
      fail({ kind: "timeout", message: `The receiver did not ${what} within ${String(ms)} ms.` });
    }, ms);
  }

  return {
    current: () => phase,
    enter(next) {
      phase = next;
      clearTimeout(timer);
      if (isStopped) return;
      if (next === "connect") limit(limits.connectMs, "accept a connection");
      if (next === "tls") limit(limits.tlsMs, "complete the TLS handshake");
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function followConnection(socket: Socket, target: Target, phases: Phases): void {
  // An IP address is not resolved; it was vetted before.
  if (target.literal) phases.enter("connect");
  socket.once("connect", () => {
    phases.enter(target.secure ? "tls" : "exchange");
  });
  socket.once("secureConnect", () => {
    phases.enter("exchange");
  });
}

/** Resolves the name once per connection, so that the socket connects to exactly the addresses that were vetted. */
function pinnedLookup(
  { guard, target }: ExchangeParts,
  phases: Phases,
  onRefused: (failure: Failure) => void,
): LookupFunction {
  return (_host, options, callback) => {
    void guard.vetAddresses(target).then((vetted) => {
      if (!vetted.allowed) {
        onRefused(
          vetted.reason === "blocked"
            ? { kind: "blocked", message: vetted.message }
            : describeFailure("dns", new Error("unresolved")),
        );
        callback(new Error(vetted.code), "", 0);
        return;
      }
      phases.enter("connect");
      const [first] = vetted.addresses;
      if (options.all === true) callback(null, [...vetted.addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

function isClosedByPeer(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}
