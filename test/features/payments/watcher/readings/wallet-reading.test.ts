// The addresses of wallets without open invoices are read once a day: money that they get is in the inbox within a day,
// whoever else has registered thousands of addresses, and an exchange's address fills no store.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { auditBlocks, scanBlocks } from "../../../../../src/features/payments/networks/chain.ts";
import { createJournal } from "../../../../../src/platform/journal.ts";
import { silentLogger } from "../../../../../src/platform/logger/index.ts";
import { createAlarms } from "../../../../../src/platform/chain/state/alarms.ts";
import { gapsOf } from "../../../../../src/platform/chain/state/reading-ranges.ts";
import { eventBody, events } from "../../../../../src/platform/events/outbox.ts";
import { normalize, shapeOf } from "../../../events/golden-bodies.ts";
import { systemRandom } from "../../../../../src/platform/secrets/tokens.ts";
import { unmatchedPerDay } from "../../../../../src/features/payments/ledger/inbox-limit.ts";
import {
  lowerWalletReading,
  makeWalletReader,
  walletReadings,
  withdrawWalletReading,
} from "../../../../../src/features/payments/watcher/readings/wallet-reading.ts";
import { addressOwnerships, wallets } from "../../../../../src/features/wallets/table.ts";
import { day, hour, minute } from "../../../../../src/kernel/clock.ts";
import { createIds } from "../../../../../src/kernel/id.ts";
import { addOrganization } from "../../../../support/merchants.ts";
import { eachStore, takeTurns, testContext } from "../../../../support/store/stores.ts";
import { standInInvoices, token } from "../../../../support/chain/asked-invoices.ts";
import {
  openPool,
  type PooledNetwork,
  type PooledOptions,
} from "../../../../support/chain/world.ts";
import { addressOf } from "../../../../support/chain/fake-chain.ts";

const golden = JSON.parse(
  readFileSync(new URL("../../../events/golden/inboxes.json", import.meta.url), "utf8"),
) as Readonly<Record<string, unknown>>;

const ids = createIds(systemRandom);
const holding = () => Promise.resolve();

eachStore("The daily reading of wallets", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  const opened: PooledNetwork[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });
  async function open(options: PooledOptions = {}): Promise<void> {
    till = await openPool(await store.open(), { nodes: 1, ...options });
    opened.push(till);
  }

  /** Registers the address of this name for a new organization, by default before all blocks. */
  async function register(
    name: string,
    { createdAt = 0, archivedAt = null as number | null } = {},
  ) {
    const organizationId = await addOrganization(till.db, ids, createdAt);
    const walletId = ids.next("wallet", createdAt);
    const identity = addressOf(name);
    const { id: network, addressFamily: family } = till.network;
    await till.db.write(testContext, async (tx) => {
      const claim = {
        family,
        identity,
        organizationId,
        nextIndex: 0,
        highestPaidIndex: null,
        keyIdentity: null,
        keyIndex: null,
        derivedState: null,
      };
      await tx.insert(addressOwnerships, {
        ...claim,
        kind: archivedAt === null ? "address" : "released",
      });
      await tx.insert(wallets, {
        id: walletId,
        organizationId,
        label: name,
        network,
        family,
        kind: "address",
        identity,
        address: identity,
        xpub: null,
        shownAddress: `0x${identity}`,
        createdAt,
        archivedAt,
        status: archivedAt === null ? "active" : "archived",
        position: null,
        version: 1,
      });
    });
    return { organizationId, walletId };
  }

  /** Mines a transfer of this many tokens to each of these, in one block. */
  const pay = (...names: readonly string[]) => {
    till.chain.mine(names.map((name) => ({ to: addressOf(name), amount: token(7) })));
  };
  /** Lets the round of the next day pass, with some blocks after it. */
  async function nextRound({ isQuiet = false } = {}): Promise<void> {
    till.advance(20 * hour);
    if (!isQuiet) till.keepPace();
    await till.mine(14);
    for (let minutes = 0; minutes < 10; minutes += 1) {
      till.advance(minute);
      await till.mine(1);
    }
  }
  const progress = async () => {
    const row = await till.db.findOne(walletReadings, "WHERE network = $1", [till.network.id]);
    if (row === null) throw new Error("the wallets were never read");
    return row;
  };
  const received = async () =>
    (await till.transfers()).map(({ toAddress, organizationId }) => [toAddress, organizationId]);
  const told = async () =>
    (await till.db.find(events, "WHERE type = 'wallet_inbox.full' ORDER BY id")).map(
      ({ payload }) => payload as Record<string, unknown>,
    );

  it("finds money that an idle wallet got within a day, once, and leaves money of open invoices to the scans", async () => {
    await open();
    const { organizationId } = await register("idle");
    await register("busy");
    till.invoices.ask({ address: addressOf("busy"), exactAmount: token(25) });
    pay("idle", "busy");
    await till.mine(14);
    expect((await received()).map(([to]) => to)).to.deep.equal([addressOf("busy")]);
    const before = await till.transfers();
    await nextRound();
    expect(await received()).to.deep.include([addressOf("idle"), organizationId]);
    await nextRound();
    const after = await till.transfers();
    expect(after).to.have.length(2);
    expect(after).to.deep.include(before[0]);
    const found = after.find(({ toAddress }) => toAddress === addressOf("idle"));
    // No receipt is read for it before somebody decides about it.
    expect(found).to.include({ disposition: "unmatched", isFinal: true, verification: "skipped" });
    const unmatched = await till.db.find(events, "WHERE type = 'transfer.unmatched'");
    expect(unmatched.map(({ organizationId: owner }) => owner)).to.include(organizationId);
  });

  it("reads another provider if the first one lists a log that cannot be read, and says so only without one", async () => {
    for (const nodes of [1, 2]) {
      await open({ nodes });
      till.nodes[0]?.lie(({ method }, result) =>
        method === "eth_getLogs"
          ? (result as readonly object[]).map((log) => ({ ...log, data: 7 }))
          : result,
      );
      await register(`idle ${String(nodes)}`);
      pay(`idle ${String(nodes)}`);
      await till.mine(14);
      await nextRound();
      expect(await till.transfers()).to.have.length(nodes - 1);
      expect(await till.storedAlarms()).to.deep.equal(nodes === 1 ? ["log_unreadable"] : []);
    }
  });

  it("counts from the registration of a wallet, and up to the day after it was archived", async () => {
    await open();
    pay("new", "gone", "moved", "stranger");
    await till.mine(14);
    const { tipTime } = await till.state();
    await register("new", { createdAt: tipTime + 2 * minute });
    await register("gone", { archivedAt: tipTime });
    await register("moved", { archivedAt: tipTime - 2 * day });
    await nextRound();
    expect((await received()).map(([to]) => to)).to.deep.equal([addressOf("gone")]);
    pay("new", "gone");
    await nextRound();
    await nextRound();
    expect((await received()).map(([to]) => to)).to.deep.include(addressOf("new"));
    expect((await received()).filter(([to]) => to === addressOf("gone"))).to.have.length(1);
  });

  it("finds money in blocks that are not final when a round begins, though the wallet was archived before", async () => {
    await open();
    await till.mine(14);
    till.advance(20 * hour);
    pay("gone");
    await till.mine(1);
    const { cursorHeight, tipHeight, scannedAt } = await till.state();
    expect(cursorHeight).to.be.lessThan(tipHeight - 1);
    const began = await progress();
    // The round began, and its last block is below the transfer.
    expect(began.throughHeight).to.be.lessThan(tipHeight - 1);
    await register("gone", { archivedAt: scannedAt - 1 });
    await till.mine(14);
    await nextRound();
    await nextRound();
    expect((await received()).map(([to]) => to)).to.deep.equal([addressOf("gone")]);
  });

  it("is continued by another process where the last one stopped, a few requests at a time", async () => {
    await open({ maxLogRange: 2 });
    await register("idle");
    pay("idle");
    await till.mine(60);
    till.advance(20 * hour);
    await till.mine(1);
    const { toHeight, throughHeight, nextHeight, untilAddress } = await progress();
    expect(toHeight).to.be.greaterThan(throughHeight);
    expect(nextHeight).to.be.within(8, 30);
    expect(untilAddress).to.equal(addressOf("idle"));
    let now = (await till.state()).scannedAt;
    const clock = { now: () => now };
    const another = makeWalletReader({
      db: till.db,
      clock,
      network: till.network,
      client: till.pool.client,
      pool: till.pool,
      providers: till.pool.providers,
      scanner: till.scanner,
      alarms: createAlarms({ clock, logger: silentLogger }),
      journal: createJournal({ ids, wake: () => undefined }),
    });
    let requests = 0;
    while ((await progress()).toHeight > (await progress()).throughHeight && requests < 100) {
      now += 10_000;
      await another.readSome(holding);
      requests += 1;
    }
    expect(requests).to.be.within(10, 60);
    expect(await progress()).to.include({ throughHeight: toHeight, afterAddress: "" });
    expect(await received()).to.have.length(1);
  });

  it("passes over blocks that every provider refuses, which are read for wallets once one has them again", async () => {
    await open({ nodes: 2 });
    await register("idle");
    await till.mine(1);
    await nextRound({ isQuiet: true });
    pay("idle");
    const paidAt = till.chain.height();
    await till.mine(30);
    await till.mine(30);
    till.advance(3 * hour);
    await till.mine(2);
    till.advance(3 * hour);
    await till.mine(2);
    const range = { from: paidAt - 5, to: paidAt + 5, words: "pruned" };
    const [first, second] = till.nodes;
    for (const { view } of till.nodes) view.pruned = [range];
    // A provider that does not answer may have the blocks: nothing is passed over.
    second?.fail("unavailable", Infinity);
    await nextRound({ isQuiet: true });
    expect(await gapsOf(till.db, till.network.id)).to.deep.equal([]);
    second?.heal();
    await nextRound({ isQuiet: true });
    const gaps = await gapsOf(till.db, till.network.id);
    expect(gaps.map(({ fromHeight, toHeight }) => [fromHeight, toHeight])).to.deep.equal([
      [range.from, range.to],
    ]);
    expect(gaps[0]?.refusals).to.have.length(2);
    expect(await received()).to.deep.equal([]);
    expect(await till.storedAlarms()).to.include("blocks_refused");
    if (first !== undefined) first.view.pruned = [];
    till.advance(6 * hour);
    await nextRound({ isQuiet: true });
    expect(await received()).to.have.length(1);
    expect(await gapsOf(till.db, till.network.id)).to.deep.equal([]);
    expect(await till.storedAlarms()).to.not.include("blocks_refused");
    // The blocks had all of their readings, and need no others.
    expect((await auditBlocks(till.app, "ethereum", {})).gaps).to.deep.equal([]);
  });

  it("waits until the blocks of a downtime were scanned, so that it reads all of them", async () => {
    await open({ maxLogRange: 10 });
    await register("idle");
    till.advance(day);
    till.chain.mine([], 600);
    pay("idle");
    till.chain.mine([], 20);
    for (let minutes = 0; minutes < 30; minutes += 1) {
      till.advance(minute);
      await till.mine(1);
    }
    expect(await received()).to.have.length(1);
  });

  it("records a limited number of transfers of a day, and tells the merchant and the operator of the others once", async () => {
    await open();
    const { organizationId, walletId } = await register("exchange");
    await register("idle");
    for (let blocks = 0; blocks < 5; blocks += 1) {
      pay(...Array.from({ length: 30 }, () => "exchange"), ...(blocks === 4 ? ["idle"] : []));
    }
    await till.mine(14);
    await nextRound();
    const stored = await received();
    expect(stored).to.have.length(unmatchedPerDay.idle + 1);
    expect(stored.filter(([to]) => to === addressOf("idle"))).to.have.length(1);
    const [full, ...more] = await told();
    expect(more).to.deep.equal([]);
    expect(full).to.include({ walletId, transfersNotRecorded: 50, recordedPerDay: 100 });
    const [event] = await till.db.find(events, "WHERE type = 'wallet_inbox.full'");
    if (event === undefined) throw new Error("the merchant was not told");
    const body = shapeOf(normalize(eventBody(event)));
    expect(body).to.deep.equal(shapeOf(golden["wallet_inbox.full"]));
    expect(await till.storedAlarms()).to.deep.equal(["transfers_not_recorded"]);
    const [alarm] = till.alarms.open();
    expect(alarm).to.include({ subject: walletId });
    expect(alarm?.message).to.include(
      `50 transfers to the wallet ${walletId} of ${organizationId}`,
    );
    // The next round reads the last hour again.
    await nextRound();
    expect(await received()).to.have.length(unmatchedPerDay.idle + 1);
    expect(await told()).to.have.length(1);
    expect(await till.transfers().then((all) => all.every((row) => row.isFinal))).to.equal(true);
  });

  it("lets dust hide no money", async () => {
    await open();
    await register("idle");
    const to = addressOf("idle");
    till.chain.mine(Array.from({ length: 150 }, () => ({ to, amount: 1n })));
    pay("idle");
    await till.mine(14);
    await nextRound();
    const dispositions = (await till.transfers()).map(({ disposition }) => disposition);
    expect(dispositions.filter((one) => one === "ignored")).to.have.length(unmatchedPerDay.dust);
    expect(dispositions.filter((one) => one === "unmatched")).to.have.length(1);
  });

  it("limits dust at the address of one invoice too, which it cannot pay", async () => {
    await open();
    const to = addressOf("own");
    await register("own");
    till.invoices.ask({ address: to });
    till.chain.mine(Array.from({ length: 150 }, () => ({ to, amount: 1n })));
    till.chain.mine([{ to, amount: token(25) }]);
    await till.mine(14);
    const all = await till.transfers();
    expect(all.filter(({ disposition }) => disposition === "ignored")).to.have.length(
      unmatchedPerDay.dust,
    );
    expect(await till.payments()).to.have.length(1);
  });

  it("leaves the payments of an invoice out of the limit of an address that strangers pay too", async () => {
    await open();
    const to = addressOf("exchange");
    await register("exchange");
    till.invoices.ask({ address: to, exactAmount: token(25) });
    const strange = Array.from({ length: unmatchedPerDay.held + 20 }, () => ({
      to,
      amount: token(7),
    }));
    till.chain.mine(strange);
    till.chain.mine([{ to, amount: token(25) }]);
    await till.mine(14);
    const all = await till.transfers();
    expect(all.filter(({ disposition }) => disposition === "unmatched")).to.have.length(
      unmatchedPerDay.held,
    );
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
    // Neither the scans, the later readings nor the daily one record more.
    await nextRound();
    expect(await till.transfers()).to.have.length(unmatchedPerDay.held + 1);
    expect(await till.storedAlarms()).to.deep.equal(["transfers_not_recorded"]);
    expect((await told()).map((one) => one["transfersNotRecorded"])).to.deep.equal([20]);
    // An operator who names the block gets all of it.
    const block = all[0]?.blockHeight ?? 0;
    await scanBlocks(till.app, testContext, till.network.id, { from: block, to: block });
    expect(await till.transfers()).to.have.length(strange.length + 1);
  });

  it("goes back with the chain, and reads replaced blocks again", async () => {
    await open();
    const { id } = till.network;
    const lower = (height: number) =>
      till.db.write(testContext, (tx) => lowerWalletReading(tx, id, height));
    const set = (change: object) =>
      till.db.write(testContext, (tx) =>
        tx.update(walletReadings, change, "WHERE network = $1", [id]),
      );
    const done = { throughHeight: 50, toHeight: 50, nextHeight: 51, throughAt: 1, beganAt: 2 };
    await set(done);
    await lower(50);
    expect(await progress()).to.include(done);
    await lower(40);
    const lowered = { throughHeight: 40, toHeight: 40, nextHeight: 41, beganAt: 2 };
    expect(await progress()).to.include(lowered);
    // A round under way is due again at once.
    await set({ ...done, toHeight: 90, nextHeight: 70, untilAddress: "a", leftOut: { a: 3 } });
    await lower(60);
    const again = { throughHeight: 50, toHeight: 50, nextHeight: 51, beganAt: 1 };
    expect(await progress()).to.deep.include({ ...again, untilAddress: null, leftOut: {} });
    // So is a whole round after a provider omitted transfers.
    await set({ ...done, beforeHeight: 30 });
    await till.db.write(testContext, (tx) => withdrawWalletReading(tx, id));
    const withdrawn = { throughHeight: 30, toHeight: 30, nextHeight: 31, beganAt: 1 };
    expect(await progress()).to.include(withdrawn);
  });

  it("raises an alarm while it takes more than two days, and asks a provider that failed again", async () => {
    await open();
    await register("idle");
    pay("idle");
    await till.mine(14);
    const [node] = till.nodes;
    let isRefusing = true;
    node?.lie(({ method, params }, result) => {
      const [query] = params as [{ topics?: readonly (string | null | readonly string[])[] }];
      const isForWallets =
        method === "eth_getLogs" && JSON.stringify(query).includes(addressOf("idle"));
      if (isForWallets && isRefusing) throw new Error("the node is busy");
      return result;
    });
    till.advance(2 * day);
    await till.mine(14);
    till.advance(2 * day);
    await till.mine(1);
    expect(till.alarms.open().map(({ kind }) => kind)).to.include("wallets_read_late");
    isRefusing = false;
    await nextRound();
    expect(till.alarms.open().map(({ kind }) => kind)).not.to.include("wallets_read_late");
    expect(await received()).to.have.length(1);
  });
});
