// Unit tests of the examiner of submitted transactions: when it searches on, waits, moves to another network or gives up.
import { expect } from "chai";
import { makeClaimExaminer } from "../../../../src/features/payments/hash-claims/examiner.ts";
import type { ClaimRow } from "../../../../src/features/payments/table.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { LeaseLost } from "../../../../src/platform/jobs/leases.ts";

const now = 10 * hour;
/** A provider does not know the transaction, or has the receipt of a failed one, or of a transfer to the invoice. */
type Answer = "unknown" | "failed" | "paid" | Error;

interface Submitted {
  readonly claims?: readonly Partial<ClaimRow>[];
  /** The answers of the providers; the examiner reads the first one. */
  readonly answers?: readonly Answer[];
  /** The networks of the invoice's options; those that end with `!` are examined by nobody. */
  readonly networks?: readonly string[];
  readonly unread?: readonly string[];
  readonly isClosed?: boolean;
  /** The time of the transaction's block, and whether a second provider confirms it. */
  readonly time?: { readonly time: number; readonly isAgreed: boolean };
  /** The hash of the provider's block there, which is asked for as the receipt has no time. */
  readonly blockHash?: string;
  /** True if another process has taken the lease. */
  readonly isLost?: boolean;
}

const paid = {
  transactionHash: "aa",
  logIndex: 0,
  blockHeight: 7,
  blockHash: "b7",
  blockTime: now,
  contract: "usdt",
  from: "payer",
  to: "shop",
  amount: 5n,
};

const claimWith = (changes: Partial<ClaimRow>, place: number): ClaimRow => ({
  id: `clm_${String(place)}`,
  organizationId: "org_1",
  invoiceId: "inv_1",
  network: "base",
  transactionHash: "aa",
  state: "waiting",
  reason: null,
  attempts: 1,
  nextAt: now,
  createdAt: now,
  closedAt: null,
  ...changes,
});

/** Examines claims once. Returns whether more are due at once, and what became of them. */
async function examined({
  claims = [{}],
  answers = ["unknown"],
  networks = ["base"],
  unread = [],
  isClosed = false,
  isLost = false,
  time = { time: now, isAgreed: true },
  blockHash,
}: Submitted) {
  const stored: unknown[] = [];
  const entries: unknown[] = [];
  const errors: unknown[] = [];
  const woken: string[] = [];
  const rows = claims.map(claimWith);
  const tx = {
    update(_table: unknown, { ...changes }: Partial<ClaimRow>) {
      stored.push(changes);
      return Promise.resolve(isClosed ? 0 : 1);
    },
    afterCommit: (act: () => void) => {
      act();
    },
  };
  const providers = answers.map((answer, place) => ({
    provider: `http://${String(place)}`,
    receipt: () => {
      if (answer instanceof Error) return Promise.reject(answer);
      const blockTime = blockHash === undefined ? now : null;
      const receipt = { succeeded: answer === "paid", transfers: [{ ...paid, blockTime }] };
      return Promise.resolve(answer === "unknown" ? null : receipt);
    },
    blocks: () => Promise.resolve([{ height: 7, hash: blockHash, time: now }]),
  }));
  const logger = {
    child: () => logger,
    error: (fields: { readonly err: unknown }) => errors.push(fields.err),
  };
  const examiner = makeClaimExaminer({
    clock: { now: () => now },
    logger,
    network: { id: "base", tokens: [{ contract: "usdt", symbol: "USDT", dust: 1n }] },
    times: { of: () => Promise.resolve(new Map([["b7", time]])) },
    client: providers[0],
    providers,
    unread,
    examined: new Set(networks.filter((id) => !id.endsWith("!"))),
    claimableTerms: () =>
      Promise.resolve({ targets: [{ address: "shop", token: "USDT" }], issuedAt: 0, endsAt: now }),
    claimableNetworks: () => Promise.resolve(networks),
    wake: (network: string) => woken.push(network),
    journal: { record: (_tx: unknown, _at: unknown, entry: unknown) => entries.push(entry) },
    db: {
      dialect: "sqlite",
      find(_table: unknown, _sql: string, [of, , limit]: readonly [string, number, number]) {
        const asked = JSON.parse(of) as readonly string[];
        const due = rows.filter(({ network }) => asked.includes(network));
        return Promise.resolve(due.slice(0, limit));
      },
      findOne: () => Promise.resolve(null),
      write: (_context: unknown, change: (given: typeof tx) => Promise<void>) => change(tx),
    },
  } as never);
  const guard = () =>
    isLost ? Promise.reject(new LeaseLost("another process looks")) : Promise.resolve();
  const isMore = await examiner.examine(guard).catch((error: unknown) => error);
  return { isMore, stored, entries, errors, woken };
}

/** A claim with one attempt is retried after six seconds. */
const retry = now + 6 * second;
const away = new ProviderError("it is away", { kind: "unreachable", provider: "http://0" });

describe("The examiner of submitted transactions", () => {
  it("is due at once after a full batch of its own network, or of those that nobody reads", async () => {
    const claims = (count: number, network: string) =>
      Array.from({ length: count }, () => ({ network }));
    const isMore = async (own: number, stranded: number, unread = ["tron"]) =>
      (await examined({ claims: [...claims(own, "base"), ...claims(stranded, "tron")], unread }))
        .isMore;
    expect(await isMore(19, 19)).to.equal(false);
    expect(await isMore(20, 0)).to.equal(true);
    expect(await isMore(0, 20)).to.equal(true);
    expect(await isMore(0, 20, [])).to.equal(false);
  });

  it("searches an hour for a transaction that no provider knows, and then asks all of them", async () => {
    const later = { stored: [{ network: "base", nextAt: retry, reason: "unknown", attempts: 2 }] };
    const found = async (age: number, ...answers: readonly Answer[]) => {
      const { stored } = await examined({ claims: [{ createdAt: now - age }], answers });
      return { stored };
    };
    expect(await found(hour - 7 * second, "unknown", "failed")).to.deep.equal(later);
    // The last attempt is when it is given up, not later.
    const [last] = (await found(hour - second, "unknown")).stored as Partial<ClaimRow>[];
    expect(last).to.include({ nextAt: now + second, reason: "unknown" });
    const refused = { state: "refused", reason: "unknown", closedAt: now, network: "base" };
    expect(await found(hour, "unknown", "unknown")).to.deep.equal({ stored: [refused] });
    expect(await found(hour, "unknown", away)).to.deep.equal({ stored: [refused] });
    const waits = { network: "base", nextAt: retry, reason: null, attempts: 2 };
    expect(await found(hour, "unknown", "failed")).to.deep.equal({ stored: [waits] });
    expect(await found(hour, "unknown", "unknown", "failed")).to.deep.equal({ stored: [waits] });
  });

  it("records what it decided, unless another process did", async () => {
    const { stored, entries } = await examined({ answers: ["failed"] });
    expect(stored).to.deep.equal([
      { state: "refused", reason: "failed_transaction", closedAt: now, network: "base" },
    ]);
    expect(entries).to.deep.equal([
      {
        action: "invoice.transaction_examined",
        organizationId: "org_1",
        subjectType: "invoice",
        subjectId: "inv_1",
        changes: { transactionHash: "aa", state: "refused" },
      },
    ]);
    expect((await examined({ answers: ["failed"], isClosed: true })).entries).to.deep.equal([]);
  });

  it("refuses no claim for a time that no second provider confirms, or of a block that was replaced", async () => {
    const waits = { network: "base", nextAt: retry, reason: null, attempts: 2 };
    const late = async (isAgreed: boolean, blockHash?: string) => {
      const time = { time: now + 1, isAgreed };
      const given = { answers: ["paid"] as const, time };
      return (await examined(blockHash === undefined ? given : { ...given, blockHash })).stored;
    };
    const refused = { state: "refused", reason: "after_hold", closedAt: now, network: "base" };
    expect(await late(true)).to.deep.equal([refused]);
    expect(await late(true, "b7")).to.deep.equal([refused]);
    expect(await late(true, "another")).to.deep.equal([waits]);
    expect(await late(false)).to.deep.equal([waits]);
  });

  it("searches at once on the invoice's next network that is read, and later on the first one again", async () => {
    const networks = ["tron", "base", "dark!", "bsc"];
    const next = await examined({ networks });
    expect(next.stored).to.deep.equal([{ network: "bsc", nextAt: now, reason: null, attempts: 1 }]);
    expect(next.woken).to.deep.equal(["bsc"]);
    const again = await examined({ networks, claims: [{ reason: "unknown" }] });
    expect(again.stored).to.deep.equal([
      { network: "bsc", nextAt: now, reason: "unknown", attempts: 1 },
    ]);
    for (const given of [
      ["tron", "bsc", "base"],
      ["tron", "base"],
    ]) {
      const last = await examined({ networks: given });
      expect(last.stored, given.join(" ")).to.deep.equal([
        { network: "tron", nextAt: retry, reason: "unknown", attempts: 2 },
      ]);
      expect(last.woken).to.deep.equal([]);
    }
    // The last network gives it up for all of them, and so does the only one that is read.
    for (const given of [["tron", "base"], ["base"], ["base", "dark!"]]) {
      const { stored } = await examined({
        networks: given,
        claims: [{ createdAt: now - hour }],
      });
      expect(stored, given.join(" ")).to.deep.equal([
        { state: "refused", reason: "unknown", closedAt: now, network: "base" },
      ]);
    }
    // Another network than the first one may have it, however long it is unknown here.
    const old = await examined({ networks, claims: [{ createdAt: now - hour }] });
    expect(old.woken).to.deep.equal(["bsc"]);
    // A transaction that is there is searched for nowhere else.
    expect((await examined({ networks, answers: ["failed"] })).woken).to.deep.equal([]);
  });

  it("moves claims from a network that nobody reads, and postpones those without another one", async () => {
    const claims = [{ network: "dark!" }];
    const unread = ["dark!"];
    const moved = await examined({ claims, unread, networks: ["dark!", "base"] });
    expect(moved.stored).to.deep.equal([
      { network: "base", nextAt: now, reason: null, attempts: 1 },
    ]);
    const kept = await examined({ claims, unread, networks: ["dark!"] });
    expect(kept.stored).to.deep.equal([
      { network: "dark!", nextAt: retry, reason: null, attempts: 2 },
    ]);
  });

  it("postpones a claim whose examination fails, and logs the failure unless it is a provider's", async () => {
    const waits = (reason: string | null) => [
      { network: "base", nextAt: retry, reason, attempts: 2 },
    ];
    const failing = await examined({ answers: [away] });
    expect([failing.stored, failing.errors]).to.deep.equal([waits(null), []]);
    const unknown = await examined({ answers: [away], claims: [{ reason: "unknown" }] });
    expect(unknown.stored).to.deep.equal(waits("unknown"));
    const defect = new Error("a defect");
    const broken = await examined({ answers: [defect] });
    expect([broken.stored, broken.errors]).to.deep.equal([waits(null), [defect]]);
    const elsewhere = await examined({ answers: [away], networks: ["base", "bsc"] });
    expect(elsewhere.woken).to.deep.equal(["bsc"]);
  });

  it("writes nothing once another process has its lease", async () => {
    for (const given of [
      {},
      { networks: ["base", "bsc"] },
      { networks: ["tron", "base"] },
      { answers: ["failed"] as const },
      { answers: ["paid"] as const },
      { answers: [away] },
      { claims: [{ network: "tron" }], unread: ["tron"] },
      { claims: [{ network: "tron" }], unread: ["tron"], networks: ["tron", "base"] },
    ]) {
      const { isMore, stored, errors } = await examined({ ...given, isLost: true });
      expect(isMore, JSON.stringify(given)).to.be.instanceOf(LeaseLost);
      expect([stored, errors]).to.deep.equal([[], []]);
    }
  });
});
