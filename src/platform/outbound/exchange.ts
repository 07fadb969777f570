import { request as httpRequest, type Agent, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { head, readAnswer, statusOf, type Answer } from "./answer.ts";
import { describeFailure, oddityOf, type Failure, type Phase } from "./failure.ts";
import type { Guard } from "./guard.ts";
import type { SenderLimits } from "./limits.ts";
import type { Target } from "./target.ts";

/** `stale`: a kept-alive connection was closed before any response, so a new one may be tried. */
export type ExchangeResult =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "failure"; readonly failure: Failure }
  | { readonly kind: "stale" };

export interface ExchangeParts {
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
export function exchange(parts: ExchangeParts): Promise<ExchangeResult> {
  const { target, limits, ended } = parts;
  return new Promise((resolve) => {
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
    let interimAnswers = 0;

    function end(result: ExchangeResult): void {
      if (isOver) return;
      isOver = true;
      phases.stop();
      ended.removeEventListener("abort", onEnded);
      outgoing.socket?.off("data", onData);
      resolve(result);
      // After a complete response the connection returns to the agent.
      if (result.kind !== "answer") outgoing.destroy();
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
      end({ kind: "answer", answer: { ...(answered === null ? empty : head(answered)), oddity } });
      outgoing.destroy();
    }

    outgoing.on("socket", (socket) => {
      // Before the parser, whose errors have only the bytes that it refused.
      socket.prependListener("data", onData);
      if (outgoing.reusedSocket) phases.enter("exchange");
      else followConnection(socket, target, phases);
    });
    outgoing.on("information", () => {
      interimAnswers += 1;
      if (interimAnswers > limits.interimAnswersMax) fail(endlessInterimAnswers);
    });
    outgoing.on("upgrade", (response, socket) => {
      socket.destroy();
      end({ kind: "answer", answer: head(response) });
    });
    outgoing.on("response", (response) => {
      answered = response;
      readAnswer(response, limits, (result) => {
        if ("answer" in result) end({ kind: "answer", answer: result.answer });
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
}

const endlessInterimAnswers: Failure = {
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
