// Transfers that count for no invoice: the order in which they are verified, and the held ones.
import { expect } from "chai";
import { transfers, type TransferRow } from "../../../../src/features/payments/table.ts";
import { makeVerifier } from "../../../../src/features/payments/watcher/receipt-verifier.ts";
import { makeTransferVerifier } from "../../../../src/features/payments/watcher/watcher.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../../src/kernel/id.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { addOrganization, testNetworks } from "../../../support/merchants.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { addressOf, wordOf } from "../../../support/chain/fake-chain.ts";

const start = Date.UTC(2031, 0, 31);
/** The provider's newest block, and the one after it. */
const [reached, next] = [7, 8];

anyStore("The verification of transfers that count for no invoice", (store) => {
  const ids = createIds(systemRandom);
  let db: Database;
  let organizationId: Id<"organization">;
  let networks = 0;
  before(async () => {
    db = await store.open();
    organizationId = await addOrganization(db, ids, start);
  });

  /** Stores final transfers in these blocks of another network, and opens what verifies them. */
  async function open(heights: readonly number[]) {
    const [ethereum] = testNetworks("ethereum").values();
    if (ethereum === undefined) throw new Error("there is no Ethereum");
    const network = { ...ethereum, id: `ethereum-${String((networks += 1))}` };
    let now = start;
    const view = { tipHeight: reached };
    const rows = heights.map((blockHeight, place): TransferRow => ({
      id: ids.next("transfer", start),
      network: network.id,
      transactionHash: wordOf(`transfer ${String(place)}`),
      logIndex: 0,
      ordinal: 0,
      blockHeight,
      blockHash: wordOf(`block ${String(blockHeight)}`),
      blockTime: start,
      contract: addressOf("usdt"),
      token: "USDT",
      tokenDecimals: 6,
      fromAddress: addressOf("payer"),
      toAddress: addressOf("shop"),
      amount: 25n,
      status: "seen",
      isFinal: true,
      verification: "open",
      organizationId,
      invoiceId: null,
      disposition: "unmatched",
      waitingReason: null,
      createdAt: start,
    }));
    await db.write(testContext, (tx) => tx.insertMany(transfers, rows));
    const known = new Map(rows.map((row) => [row.transactionHash, row]));
    const provider: Partial<ChainClient> = {
      provider: "http://one",
      heads() {
        const latest = { height: view.tipHeight, hash: "tip", time: now };
        return Promise.resolve({ latest, finalized: latest, known: null });
      },
      receipt(transactionHash) {
        const row = known.get(transactionHash);
        if (row === undefined) return Promise.resolve(null);
        const { blockHeight, blockHash, fromAddress: from, toAddress: to } = row;
        const log = { ...row, from, to };
        const receipt = { transactionHash, succeeded: true, blockHeight, blockHash };
        return Promise.resolve({ ...receipt, transfers: [log] });
      },
    };
    const clock = { now: () => now };
    const alarms = createAlarms({ clock, logger: silentLogger });
    const verifier = makeVerifier({
      subject: "transfer",
      providers: [provider as ChainClient],
      clock,
      logger: silentLogger,
      alarms,
    });
    const verification = makeTransferVerifier({ db, clock, network, verifier });
    let writes = 0;
    return {
      view,
      alarms,
      ids: rows.map(({ id }) => id),
      writes: () => writes,
      /** Returns the places of the transfers that are verified. */
      verified: async (): Promise<number[]> => {
        const found = await db.find(transfers, "WHERE network = $1 ORDER BY id", [network.id]);
        return found.flatMap((row, place) => (row.verification === "verified" ? [place] : []));
      },
      /** Lets time pass, and verifies. Returns whether more are due at once. */
      later: (milliseconds: number) => {
        now += milliseconds;
        return verification.run(() => Promise.resolve(void (writes += 1)));
      },
    };
  }
  const places = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, place) => from + place);
  /** The blocks of transfers, of which the provider's chain reaches those at some places. */
  const blocks = (length: number, ...inReach: readonly number[]) =>
    places(0, length).map((place) => (inReach.includes(place) ? reached : next));

  it("goes through them by the hundred and then starts over, and marks those that are agreed on", async () => {
    const { view, later, verified, writes } = await open(blocks(150, 0, 1, 100, 101));
    expect(await later(1)).to.equal(true);
    expect(await verified()).to.deep.equal([0, 1]);
    expect(await later(1)).to.equal(false);
    expect(await verified()).to.deep.equal([0, 1, 100, 101]);
    view.tipHeight = next;
    expect(await later(1)).to.equal(true);
    // The first hundred that were left.
    expect(await verified()).to.deep.equal(places(0, 104));
    expect(await later(1)).to.equal(false);
    expect(await verified()).to.deep.equal(places(0, 150));
    expect(writes()).to.equal(4);
  });

  it("writes nothing and is not due at once if no providers agree, and goes on with the next ones", async () => {
    const { view, later, verified, writes } = await open(blocks(150));
    expect(await later(1)).to.equal(false);
    expect(writes()).to.equal(0);
    view.tipHeight = next;
    expect(await later(1)).to.equal(false);
    expect(await verified()).to.deep.equal(places(100, 150));
  });

  it("releases held ones that are decided, and looks for them every fifteen seconds", async () => {
    const { alarms, ids: all, later } = await open(blocks(2));
    const [one = "", other = ""] = all;
    const hold = (...held: readonly string[]) => {
      for (const id of held) alarms.raise("transfer_held", id, "a provider denies it");
    };
    const decide = (id: string) =>
      db.write(testContext, (tx) =>
        tx.update(transfers, { verification: "verified" }, "WHERE id = $1", [id]),
      );
    const held = async (milliseconds: number) => {
      await later(milliseconds);
      return alarms.open().map(({ subject }) => subject);
    };
    hold(one, other);
    await decide(one);
    expect(await held(1)).to.deep.equal([other]);
    await decide(other);
    expect(await held(15 * second - 1)).to.deep.equal([other]);
    expect(await held(1)).to.deep.equal([]);
    // The clock was set back.
    hold(one);
    expect(await held(-hour)).to.deep.equal([]);
  });
});
