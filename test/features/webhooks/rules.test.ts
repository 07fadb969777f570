import { expect } from "chai";
import fc from "fast-check";
import {
  attemptDelays,
  judge,
  retryDelay,
} from "../../../src/features/webhooks/delivery/retry-policy.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import type { OutboundResult } from "../../../src/platform/outbound/sender.ts";

const answer = (
  status: number,
  retryAfterMs: number | null = null,
  oddity: string | null = null,
): OutboundResult => ({
  outcome: "response",
  status,
  oddity,
  retryAfterMs,
  bodyExcerpt: "secrets of the receiver",
  durationMs: 1,
});
const failure = (kind: Extract<OutboundResult, { outcome: "error" }>["kind"]): OutboundResult => ({
  outcome: "error",
  kind,
  message: "It failed.",
  durationMs: 1,
});

const delayOf = (result: OutboundResult, attempts: number, chance = 0): number => {
  const verdict = judge(result, attempts, chance);
  if (verdict.kind !== "retry") throw new Error(`it is ${verdict.kind}`);
  return verdict.delayMs;
};

describe("the retry schedule", () => {
  it("has twelve attempts, the last 75:42:35 after the first", () => {
    let sum = 0;
    const cumulative = attemptDelays.map((delay) => (sum += delay));
    const clock = (hours: number, minutes: number, seconds: number) =>
      hours * hour + minutes * minute + seconds * second;
    expect(cumulative).to.deep.equal([
      clock(0, 0, 0),
      clock(0, 0, 5),
      clock(0, 0, 35),
      clock(0, 2, 35),
      clock(0, 12, 35),
      clock(0, 42, 35),
      clock(2, 42, 35),
      clock(7, 42, 35),
      clock(17, 42, 35),
      clock(31, 42, 35),
      clock(51, 42, 35),
      clock(75, 42, 35),
    ]);
  });

  it("is never early, and late by at most a fifth, within one second to a quarter of an hour", () => {
    const attempts = fc.integer({ min: 1, max: 11 });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(attempts, chance, (made, drawn) => {
        const base = attemptDelays[made] ?? 0;
        const late =
          (retryDelay({ attempts: made, isThrottled: false, askedMs: null, chance: drawn }) ?? 0) -
          base;
        expect(late).to.be.at.least(0);
        expect(late).to.be.below(Math.max(second, Math.min(base / 5, 15 * minute)) + 1);
      }),
    );
  });

  it("spreads the attempts of many deliveries over that time", () => {
    for (const [attempts, spread] of [
      [1, second],
      [5, 6 * minute],
      [11, 15 * minute],
    ] as const) {
      const delays = [0, 0.5, 0.999_999].map((chance) => delayOf(answer(500), attempts, chance));
      const base = attemptDelays[attempts] ?? 0;
      expect(delays).to.deep.equal([
        base,
        base + spread / 2,
        base + Math.floor(spread * 0.999_999),
      ]);
    }
  });

  it("ends after the twelfth", () => {
    expect(judge(answer(500), 11, 0).kind).to.equal("retry");
    expect(judge(answer(500), 12, 0)).to.deep.include({ kind: "dead", disables: false });
  });
});

describe("an attempt's result", () => {
  it("is a success only for 2xx", () => {
    for (const status of [200, 201, 202, 204, 299]) {
      expect(judge(answer(status), 1, 0).kind).to.equal("succeeded");
    }
    for (const status of [300, 301, 302, 307, 308, 400, 401, 403, 404, 409, 500, 503]) {
      expect(judge(answer(status), 1, 0).kind).to.equal("retry");
    }
  });

  it("gives an overloaded receiver at least a minute", () => {
    for (const result of [answer(429), answer(502), answer(504), failure("timeout")]) {
      expect(delayOf(result, 1)).to.equal(minute);
      expect(delayOf(result, 4)).to.equal(10 * minute);
    }
    for (const kind of ["dns", "connect", "tls", "reset", "protocol"] as const) {
      expect(delayOf(failure(kind), 1)).to.equal(5 * second);
    }
  });

  it("respects Retry-After between the scheduled delay and the larger of its double and an hour", () => {
    expect(delayOf(answer(503, 20 * minute), 1)).to.equal(20 * minute);
    expect(delayOf(answer(503, 1), 1)).to.equal(5 * second);
    expect(delayOf(answer(503, 9_000 * hour), 1)).to.equal(hour);
    expect(delayOf(answer(429, 9_000 * hour), 7)).to.equal(10 * hour);
    expect(delayOf(answer(429, 1), 1)).to.equal(minute);
    expect(delayOf(answer(500, 20 * minute), 1)).to.equal(5 * second);
  });

  it("ends the delivery for 410, which disables the endpoint, and for forbidden addresses", () => {
    expect(judge(answer(410), 1, 0)).to.deep.include({ kind: "dead", disables: true });
    for (const kind of ["blocked", "invalid_url"] as const) {
      expect(judge(failure(kind), 1, 0)).to.deep.include({ kind: "dead", disables: false });
    }
  });

  it("shows the merchant the status but not the body", () => {
    expect(judge(answer(500), 1, 0)).to.have.property("reason", "The receiver responded with 500.");
    for (const status of [300, 399, 400]) {
      const hint = status < 400 ? " Redirects are not followed; use the final URL." : "";
      expect(judge(answer(status), 1, 0)).to.have.property(
        "reason",
        `The receiver responded with ${String(status)}.${hint}`,
      );
    }
  });
});
