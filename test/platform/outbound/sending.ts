import { expect } from "chai";
import { hour, systemClock } from "../../../src/kernel/clock.ts";
import { createGuard, type Resolve } from "../../../src/platform/outbound/guard.ts";
import {
  createSender,
  type OutboundRequest,
  type OutboundResult,
  type Sender,
  type SenderLimits,
} from "../../../src/platform/outbound/sender.ts";
import { startPeer, startReceiver, type Receiver, type Respond } from "../../support/receiver.ts";

export const body = Buffer.from('{"type":"invoice.paid","data":{"memo":"✓ \\u0000"}}');

export const toLoopback: Resolve = () => Promise.resolve(["127.0.0.1"]);

/** No request ends by a time limit that its test has not set. */
export const farLimits = { connectMs: hour, tlsMs: hour, totalMs: hour };

export interface SendingParts {
  /** By default all of loopback. */
  readonly allowCidrs?: readonly string[];
  /** By default every name resolves to 127.0.0.1. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<SenderLimits>;
  readonly ca?: string;
  readonly dnsMs?: number;
}

export interface Sending {
  readonly receiver: (respond?: Respond, certificate?: string) => Promise<Receiver>;
  readonly peer: (...args: Parameters<typeof startPeer>) => Promise<Receiver>;
  readonly senderOf: (parts?: SendingParts) => Sender;
}

/** Provides senders and receivers to a suite; those that a test opened are closed after it. */
export function useSending(): Sending {
  const opened: { close(): unknown }[] = [];
  function keep<T extends { close(): unknown }>(each: T): T {
    opened.push(each);
    return each;
  }

  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });

  return {
    receiver: async (...args) => keep(await startReceiver(...args)),
    peer: async (...args) => keep(await startPeer(...args)),
    senderOf: ({ allowCidrs = ["127.0.0.0/8"], resolve = toLoopback, limits, ca, dnsMs } = {}) =>
      keep(
        createSender({
          guard: createGuard({ allowCidrs, resolve, ...(dnsMs === undefined ? {} : { dnsMs }) }),
          clock: systemClock,
          limits: { ...farLimits, ...limits },
          ...(ca === undefined ? {} : { ca }),
        }),
      ),
  };
}

export function post(url: string, headers: Record<string, string> = {}): OutboundRequest {
  return { url, headers: { "content-type": "application/json", ...headers }, body };
}

/**
 * Expects an error of this kind, whose message contains neither an address nor an error code of the operating system.
 */
export function expectError(result: OutboundResult, kind: string): void {
  expect(result).to.include({ outcome: "error", kind });
  expect(result)
    .to.have.property("message")
    .that.does.not.match(/127\.0\.0\.1|::1|\bE[A-Z]{4,}\b/);
  expect(result).to.have.property("durationMs").that.is.at.least(0);
}
