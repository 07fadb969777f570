// Payments that have their confirmations: the order in which they are confirmed, in batches, and the held ones.
import { expect } from "chai";
import { makeConfirmations } from "../../../../src/features/payments/watcher/confirmations.ts";
import { makeVerifier } from "../../../../src/features/payments/watcher/receipt-verifier.ts";
import {
  payments,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { parseAddress } from "../../../../src/platform/chain/evm/addresses.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { networkState, replaceState } from "../../../../src/platform/chain/state/network-state.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { addNetwork, readingParts, watch } from "../../../support/watched-ledger.ts";
import { xpubs } from "../../../support/merchants.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { makeFakeChain, type FakeChain } from "../../../support/chain/fake-chain.ts";
import { token } from "../../../support/chain/asked-invoices.ts";

/** Two whole batches, and one more. */
const count = 1_001;

anyStore("Payments with enough confirmations", (store) => {
  let shop: Ledger;
  let network: Network;
  let chain: FakeChain;
  /** All of them, in the order in which they are confirmed. */
  let mature: readonly PaymentRow[];

  before(async () => {
    shop = await openLedger(await store.open());
    network = addNetwork(shop);
    const { id, chainId, blockTimeMs, confirmations } = network;
    const startAt = shop.now() - 200 * blockTimeMs;
    chain = makeFakeChain({ startAt, blockMs: blockTimeMs, finalityLag: 30, chainId });
    chain.mine([], 199);
    const market = watch(shop, id, [chain.client]);
    await market.look();
    await shop.addWallet(id, { xpub: xpubs.first });
    const contract = network.tokens[0]?.contract ?? "";
    const addresses: string[] = [];
    for (let batch = 0; batch < 3; batch += 1) addresses.push(await exclusiveAddress());
    const parts = Array.from({ length: count }, (_, place) => ({
      transaction: `part ${String(place)}`,
      contract,
      to: addresses[Math.floor(place / 500)] ?? "",
      amount: token(0.02),
    }));
    chain.mine(parts);
    shop.advance(blockTimeMs);
    await market.look();
    mature = await shop.db.find(payments, "ORDER BY id");
    expect(mature).to.have.length(count);
    // The newest blocks were read, and no payment was confirmed yet.
    chain.mine([], confirmations - 1);
    shop.advance(confirmations * blockTimeMs);
    const { height: tipHeight, hash: tipHash, time: tipTime } = chain.tip();
    const state = await stored();
    await shop.db.write(testContext, (tx) =>
      replaceState(tx, state, { ...state, tipHeight, tipHash, tipTime }),
    );
  });

  /** Issues an invoice with an address of its own. */
  async function exclusiveAddress(): Promise<string> {
    const { walletAddress } = await shop.create({ network: network.id });
    const parsed = parseAddress(walletAddress ?? "");
    if (!parsed.ok) throw new Error("the invoice has no address");
    return parsed.address;
  }
  async function stored() {
    const state = await networkState(shop.db, network.id);
    if (state === null) throw new Error("the network was never reached");
    return state;
  }
  const confirmed = async () => (await shop.db.find(payments, "WHERE status = 'confirmed'")).length;

  /** Opens what a process confirms, with a provider that knows all transactions but some. */
  function open(unknown: readonly PaymentRow[] = []) {
    let now = shop.now();
    const ledger = { ...readingParts(shop), network, clock: { now: () => now } };
    const hidden = new Set(unknown.map(({ transactionHash }) => transactionHash));
    const provider: ChainClient = {
      ...chain.client,
      receipt: (hash) => (hidden.has(hash) ? Promise.resolve(null) : chain.client.receipt(hash)),
    };
    const alarms = createAlarms(ledger);
    const verifier = makeVerifier({ ...ledger, subject: "payment", providers: [provider], alarms });
    const app = Object.assign(shop.app, { clock: ledger.clock });
    const confirmations = makeConfirmations({ app, network, verifier });
    return {
      alarms,
      /** Returns the place of the first payment that is found, the number of all, and whether more are left. */
      find: async (moving: readonly PaymentRow[] = []) => {
        const transfers = moving.map(({ transferId: id }) => ({ id }) as TransferRow);
        const found = await confirmations.find(chain.tip().height, transfers);
        const first = mature.findIndex(({ id }) => id === found.verified[0]?.id);
        return [first, found.verified.length, found.isMore];
      },
      /** Confirms batches, each of which takes some time, and returns whether some are left. */
      confirmOthers: async (batchMs: number) =>
        confirmations.confirmOthers(() => Promise.resolve(void (now += batchMs)), await stored()),
      /** Lets time pass, and returns the payments that are still held after the decided ones were released. */
      release: async (milliseconds: number) => {
        now += milliseconds;
        await confirmations.releaseDecided();
        return alarms.open().map(({ subject }) => subject);
      },
    };
  }

  it("are found five hundred at a time, and from the first one after the last ones", async () => {
    const { find } = open();
    for (const first of [0, 500]) expect(await find()).to.deep.equal([first, 500, true]);
    expect(await find()).to.deep.equal([1_000, 1, false]);
    expect(await find()).to.deep.equal([0, 500, true]);
    // Payments that no provider verifies keep the others waiting for one scan only.
    const some = open(mature.slice(0, 600));
    expect(await some.find()).to.deep.equal([-1, 0, false]);
    expect(await some.find()).to.deep.equal([600, 400, true]);
  });

  it("are left out while the position of their transfer changes", async () => {
    const { find } = open();
    const [first, , third] = mature;
    if (first === undefined || third === undefined) throw new Error("there are no payments");
    expect(await find([first, third])).to.deep.equal([1, 498, true]);
  });

  it("are released once they are held and no longer confirming, which is checked every fifteen seconds", async () => {
    const { alarms, release } = open();
    const [one = "", other = ""] = mature.map(({ id }) => id);
    const hold = (...ids: readonly string[]) => {
      for (const id of ids) alarms.raise("payment_held", id, "a provider denies it");
    };
    const setStatus = (id: string, status: PaymentRow["status"]) =>
      shop.db.write(testContext, (tx) => tx.update(payments, { status }, "WHERE id = $1", [id]));
    hold(one, other);
    await setStatus(one, "review");
    expect(await release(1)).to.deep.equal([other]);
    await setStatus(other, "review");
    expect(await release(15 * second - 1)).to.deep.equal([other]);
    expect(await release(1)).to.deep.equal([]);
    // The clock was set back.
    hold(one);
    expect(await release(-hour)).to.deep.equal([]);
    for (const id of [one, other]) await setStatus(id, "confirming");
  });

  it("are not confirmed, and change no state, while no provider verifies them", async () => {
    const { version } = await stored();
    expect(await open(mature).confirmOthers(0)).to.equal(false);
    expect([(await stored()).version, await confirmed()]).to.deep.equal([version, 0]);
  });

  // Confirms all of them: no other case may follow that needs one that is not confirmed.
  it("are confirmed in batches, one state after another, and wait for the next scan after five seconds", async () => {
    for (const [batchMs, isMore, batches, sum] of [
      // The clock was set back by as much.
      [-5 * second, true, 1, 500],
      [5 * second - 1, false, 2, count],
    ] as const) {
      const { version } = await stored();
      expect(await open().confirmOthers(batchMs)).to.equal(isMore);
      expect((await stored()).version).to.equal(version + batches);
      expect(await confirmed()).to.equal(sum);
    }
  });
});
