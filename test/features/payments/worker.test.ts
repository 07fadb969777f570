import { expect } from "chai";
import { makeWatchWorkers } from "../../../src/features/payments/worker.ts";
import { second } from "../../../src/kernel/clock.ts";

interface Given {
  /** The fencing token of the lease; null if another process holds it. */
  token?: number | null;
  isStopped?: boolean;
  /** The step that leaves work after one run. */
  more?: "chain" | "claims" | "refunds" | "status" | null;
  expired?: number;
  isReached?: boolean;
}

/** The worker of one network, and what it does in order. */
function openWorker(isMonitored = true) {
  const given: Required<Given> = {
    token: 1,
    isStopped: false,
    more: null,
    expired: 0,
    isReached: true,
  };
  const did: string[] = [];
  const step = (name: string, isMore = false) => {
    did.push(name);
    return Promise.resolve(isMore);
  };
  const network = { id: "base", pollMs: 2_000 };
  const examiner = (id: string, name: "claims" | "refunds") => ({
    network: { id },
    examine: () => step(`${name} on ${id}`, given.more === name),
  });
  const monitor = {
    resume: () => step("resume"),
    recordStatus: () => step("status", given.more === "status"),
  };
  const abort = new AbortController();
  const [worker] = makeWatchWorkers({
    db: { findOne: () => Promise.resolve(given.isReached ? { tipHeight: 9 } : null) },
    clock: { now: () => 5 },
    leases: {
      acquire: (name: string, milliseconds: number) => {
        expect([name, milliseconds]).to.deep.equal(["watch base", 20 * second]);
        return Promise.resolve(given.token === null ? null : { token: given.token });
      },
    },
    watchers: [
      {
        network,
        resume() {
          did.push("begin");
        },
        look() {
          if (given.isStopped) abort.abort();
          return step("look", given.more === "chain");
        },
      },
    ],
    examiners: [
      examiner("base", "claims"),
      examiner("tron", "claims"),
      examiner("base", "refunds"),
    ],
    monitors: new Map(isMonitored ? [["base", monitor]] : []),
    invoices: {
      sweepDeadlines: () => {
        did.push("sweep");
        return Promise.resolve(given.expired);
      },
    },
  } as never);
  return async (changes: Given = {}) => {
    Object.assign(given, { isStopped: false, more: null, expired: 0, isReached: true }, changes);
    did.length = 0;
    return [await worker?.run(abort.signal), ...did];
  };
}

const whole = ["look", "sweep", "claims on base", "refunds on base", "status"];

describe("The worker of a network", () => {
  it("reads the chain, then ends what is due, and loads the stored state with each new lease", async () => {
    const run = openWorker();
    expect(await run()).to.deep.equal([false, "resume", ...whole]);
    expect(await run()).to.deep.equal([false, ...whole]);
    expect(await run({ token: null })).to.deep.equal([false]);
    expect(await run({ token: 1 })).to.deep.equal([false, ...whole]);
    expect(await run({ token: 2 })).to.deep.equal([false, "resume", ...whole]);
    // Another process has had the lease meanwhile.
    expect(await run({ token: 4 })).to.deep.equal([false, "begin", "resume", ...whole]);
    // A backup with older leases was restored.
    expect(await run({ token: 3 })).to.deep.equal([false, "begin", "resume", ...whole]);
    expect(await openWorker(false)()).to.deep.equal([false, ...whole.slice(0, -1)]);
  });

  it("is due at once if any of its steps leaves work", async () => {
    const run = openWorker();
    await run();
    for (const more of ["chain", "claims", "refunds", "status"] as const) {
      expect(await run({ more }), more).to.deep.equal([true, ...whole]);
    }
    expect(await run({ expired: 1 })).to.deep.equal([true, ...whole]);
    expect(await run({ expired: 0 })).to.deep.equal([false, ...whole]);
  });

  it("expires nothing before the network was reached, and begins nothing once it is stopped", async () => {
    const run = openWorker();
    await run();
    const unreached = whole.filter((step) => step !== "sweep");
    expect(await run({ isReached: false, expired: 1 })).to.deep.equal([false, ...unreached]);
    expect(await run({ isStopped: true, more: "chain" })).to.deep.equal([false, "look"]);
  });
});
