// The search for the ends of a range that no provider reads: no block counts as refused that a provider reads, and no
// provider as refusing that was away.
import { expect } from "chai";
import type { ChainClient, Head, TransferQuery } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import type { NetworkStateRow } from "../../../../src/platform/chain/state/network-state.ts";
import { makeRangeSize } from "../../../../src/features/payments/watcher/chain-reader.ts";
import { makeGapSearch } from "../../../../src/features/payments/watcher/gaps.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { testNetworks } from "../../../support/merchants.ts";

const network = testNetworks("ethereum").get("ethereum");
const blockOf = (height: number): Head => ({ height, hash: `b${String(height)}`, time: height });
const latest = blockOf(1_100);
const heads = { latest, finalized: blockOf(1_000), known: null };
const state = {
  cursorHeight: 50,
  cursorHash: "b50",
  tipHeight: 50,
  tipHash: "b50",
} as NetworkStateRow;

type Refuses = (query: TransferQuery) => "reads" | "refuses" | "is away" | "allows fewer";

function providerOf(
  name: string,
  refuses: Refuses,
  has: (height: number) => Head | null = blockOf,
): ChainClient {
  const error = (kind: "unreachable" | "range_too_large") =>
    Promise.reject(new ProviderError("no", { kind, provider: name }));
  return {
    provider: name,
    blocks: (heights: readonly number[]) => Promise.resolve(heights.map(has)),
    refusal(query: TransferQuery) {
      const answer = refuses(query);
      if (answer === "is away") return error("unreachable");
      if (answer === "allows fewer") return error("range_too_large");
      return Promise.resolve(answer === "reads" ? null : "pruned");
    },
  } as Partial<ChainClient> as ChainClient;
}

/** Searches until a gap is found, with a step each two seconds; null if the search ends without one. */
async function search(providers: readonly ChainClient[], { from = state, isFailing = false } = {}) {
  if (network === undefined) throw new Error("no such network");
  let now = 0;
  const clock = { now: () => now };
  const rangeSize = makeRangeSize(1_000);
  const gaps = makeGapSearch({ clock, network, providers, rangeSize });
  gaps.suspect();
  now += minute;
  gaps.suspect();
  for (let step = 0; step < 200; step += 1) {
    now += 2 * second;
    if (isFailing) gaps.suspect();
    try {
      const found = await gaps.step(from, heads);
      if (found !== null && typeof found === "object" && "found" in found) return found.found;
      if (found === null && !isFailing && now > 5 * minute) return null;
    } catch {
      // The range is refused, but not for long enough yet.
    }
  }
  return null;
}

const within = ({ from, to }: TransferQuery, first: number, last: number) =>
  from <= last && to >= first;

describe("The search for a range that no provider reads", () => {
  const pruned: Refuses = (query) => (within(query, 0, 700) ? "refuses" : "reads");

  it("finds its first and its last block, and who refuses it", async () => {
    const found = await search([providerOf("a", pruned), providerOf("b", pruned)]);
    expect(found).to.deep.include({ from: 51, to: 700, endHash: "b700" });
    expect(found?.refusals.map(({ provider }) => provider)).to.deep.equal(["a", "b"]);
  });

  it("begins only once scans have failed for a minute without a success", async () => {
    if (network === undefined) throw new Error("no such network");
    let now = 0;
    const clock = { now: () => now };
    const providers = [providerOf("a", pruned)];
    const gaps = makeGapSearch({ clock, network, providers, rangeSize: makeRangeSize(1_000) });
    const step = () => gaps.step(state, heads);
    gaps.suspect();
    now += minute - second;
    gaps.suspect();
    expect(await step()).to.equal(null);
    gaps.succeeded();
    now += minute;
    gaps.suspect();
    expect(await step()).to.equal(null);
    now += minute;
    gaps.suspect();
    expect(await step()).to.equal("searching");
  });

  it("does not count a provider as refusing that did not answer for one of the blocks", async () => {
    const away: Refuses = (query) => (query.from > 300 ? "is away" : pruned(query));
    const found = await search([providerOf("a", pruned), providerOf("b", away)]);
    expect(found).to.include({ from: 51, to: 700 });
    expect(found?.refusals.map(({ provider }) => provider)).to.deep.equal(["a"]);
  });

  it("finds nothing if the first block is read when it is asked for once more", async () => {
    let isAskedAbove = false;
    const hiccup: Refuses = (query) => {
      isAskedAbove ||= query.from === query.to && query.from > 200;
      return isAskedAbove && query.to === 51 ? "reads" : pruned(query);
    };
    expect(await search([providerOf("a", hiccup)])).to.equal(null);
    expect(isAskedAbove).to.equal(true);
  });

  it("finds nothing if the last block is read when it is asked for once more", async () => {
    const asked = new Map<number, number>();
    const hiccup: Refuses = (query) => {
      const times = (asked.get(query.from) ?? 0) + 1;
      asked.set(query.from, times);
      if (query.from > 700 && query.from < 800 && times === 1) return "refuses";
      return pruned(query);
    };
    const found = await search([providerOf("a", hiccup)]);
    expect(found === null || found.to === 700).to.equal(true);
  });

  it("takes a refusal of many blocks for no refusal of each of them", async () => {
    const small: Refuses = ({ from, to }) => (to - from + 1 > 5 ? "allows fewer" : "reads");
    expect(await search([providerOf("a", small)])).to.equal(null);
    const both: Refuses = (query) =>
      query.to - query.from + 1 > 5 ? "allows fewer" : pruned(query);
    expect(await search([providerOf("a", both)])).to.include({ from: 51, to: 700 });
  });

  const unfinished = { ...state, tipHeight: 60, tipHash: "b60" };

  it("begins above the newest block that was read if it is still there", async () => {
    for (const other of [blockOf, () => null]) {
      const providers = [providerOf("a", pruned), providerOf("b", pruned, other)];
      expect(await search(providers, { from: unfinished })).to.include({ from: 61, to: 700 });
    }
  });

  it("begins above the last final block if one provider still has the newest block that was read, and another has replaced it", async () => {
    const stuck = providerOf(
      "stuck on a fork",
      () => "is away",
      (height) => (height <= 60 ? blockOf(height) : null),
    );
    const others = providerOf("b", pruned, (height) =>
      height > 50 && height <= 60 ? { ...blockOf(height), hash: "other" } : blockOf(height),
    );
    for (const providers of [
      [stuck, others],
      [others, stuck],
    ]) {
      expect(await search(providers, { from: unfinished })).to.include({ from: 51, to: 700 });
    }
  });

  it("begins again from the last final block once no provider has the newest block that was read any more", async () => {
    let asked = 0;
    const forgets = providerOf(
      "a",
      (query) => {
        asked += 1;
        return pruned(query);
      },
      (height) => (asked > 20 && height > 50 && height <= 60 ? null : blockOf(height)),
    );
    expect(await search([forgets], { from: unfinished, isFailing: true })).to.include({
      from: 51,
      to: 700,
    });
  });
});
