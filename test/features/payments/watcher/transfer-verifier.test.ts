import { expect } from "chai";
import { makeTransferVerifier } from "../../../../src/features/payments/watcher/transfer-verifier.ts";
import type { Verifiable } from "../../../../src/features/payments/watcher/receipt-verifier.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";

interface Waiting {
  readonly count: number;
  /** Returns the ids that the providers agree on. */
  readonly agreed: (ids: readonly string[]) => readonly string[];
  /** The ids of held transfers, and those of them that are still to be verified. */
  readonly held?: readonly string[];
  readonly stillWaiting?: readonly string[];
}

/** Transfers that wait for their verification, and what their verifier does. */
function open({ count, agreed, held = [], stillWaiting = [] }: Waiting) {
  let now = hour;
  const ids = Array.from({ length: count }, (_, place) => `trf_${String(place).padStart(3, "0")}`);
  const asked: (readonly [string | undefined, number])[] = [];
  const marked: string[][] = [];
  const released: (readonly string[])[] = [];
  const guarded: unknown[] = [];
  const tx = {
    dialect: "sqlite",
    run(_sql: string, [rows]: readonly string[]) {
      marked.push([...(rows ?? "").matchAll(/trf_\d+/g)].map(([id]) => id));
      return Promise.resolve();
    },
  };
  const verifier = makeTransferVerifier({
    clock: { now: () => now },
    network: { id: "ethereum" },
    db: {
      dialect: "sqlite",
      find: (_table: unknown, _sql: string, [, after, limit]: readonly [string, string, number]) =>
        Promise.resolve(
          ids
            .filter((id) => id > after)
            .slice(0, limit)
            .map((id) => ({ id, blockHeight: 7, blockHash: "b7" })),
        ),
      all: () => Promise.resolve(stillWaiting.map((id) => ({ id }))),
      write: (_context: unknown, change: (given: typeof tx) => Promise<void>) => change(tx),
    },
    verifier: {
      held: () => held,
      release: (gone: readonly string[]) => released.push(gone),
      verify(candidates: readonly Verifiable[]) {
        asked.push([candidates[0]?.id, candidates.length]);
        for (const { confirmsAtHeight } of candidates) expect(confirmsAtHeight).to.equal(7);
        return Promise.resolve(new Set(agreed(candidates.map(({ id }) => id))));
      },
    },
  } as never);
  return {
    asked,
    marked,
    released,
    guarded,
    /** Lets time pass, and verifies. */
    later: (milliseconds: number) => {
      now += milliseconds;
      return verifier.run((given) => Promise.resolve(void guarded.push(given)));
    },
  };
}

describe("The verification of transfers that count for no invoice", () => {
  it("goes through them by the hundred and then starts over, and marks those that are agreed on", async () => {
    const { later, asked, marked, guarded } = open({
      count: 150,
      agreed: (ids) => ids.slice(0, 2),
    });
    expect([await later(1), await later(1), await later(1)]).to.deep.equal([true, false, true]);
    expect(asked).to.deep.equal([
      ["trf_000", 100],
      ["trf_100", 50],
      ["trf_000", 100],
    ]);
    expect(marked.slice(0, 2)).to.deep.equal([
      ["trf_000", "trf_001"],
      ["trf_100", "trf_101"],
    ]);
    expect(guarded).to.have.length(3);
  });

  it("writes nothing and is not due at once if no providers agree", async () => {
    const { later, asked, marked, guarded } = open({ count: 150, agreed: () => [] });
    expect([await later(1), await later(1)]).to.deep.equal([false, false]);
    expect(asked.map(([first]) => first)).to.deep.equal(["trf_000", "trf_100"]);
    expect([marked, guarded]).to.deep.equal([[], []]);
  });

  it("releases held ones that are decided, and looks for them every fifteen seconds", async () => {
    const { later, released } = open({
      count: 0,
      agreed: () => [],
      held: ["trf_1", "trf_2"],
      stillWaiting: ["trf_2"],
    });
    await later(1);
    expect(released).to.deep.equal([["trf_1"]]);
    await later(15 * second - 1);
    expect(released).to.have.length(1);
    await later(1);
    expect(released).to.have.length(2);
    // The clock was set back.
    await later(-hour);
    expect(released).to.have.length(3);
    const quiet = open({ count: 0, agreed: () => [], stillWaiting: ["trf_2"] });
    await quiet.later(1);
    expect(quiet.released).to.deep.equal([]);
  });
});
