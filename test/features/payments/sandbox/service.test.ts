import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { InvoiceRow } from "../../../../src/features/invoices/index.ts";
import { makeSandboxService } from "../../../../src/features/payments/index.ts";
import type { SandboxScenario } from "../../../../src/features/payments/sandbox/service.ts";
import { payments, type PaymentRow } from "../../../../src/features/payments/table.ts";
import { watchWorkerName } from "../../../../src/features/payments/worker.ts";
import { minute, systemClock } from "../../../../src/kernel/clock.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { createState, stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import { writeProviders } from "../../../../src/platform/chain/state/provider-store.ts";
import type { Database } from "../../../../src/platform/database/index.ts";
import { createLeases } from "../../../../src/platform/jobs/leases.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const network = "sandbox";
const tip = { height: 100, hash: "aa".repeat(32) };

eachStore("a command of the sandbox", (store) => {
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });

  const untilRead = async (head: { readonly height: number; readonly hash: string }) => {
    const deps = { db, clock: systemClock, network: { id: network } };
    type Deps = Parameters<typeof makeSandboxService>[0];
    const sandbox = makeSandboxService(deps as unknown as Deps);
    await sandbox.untilRead(head as Parameters<typeof sandbox.untilRead>[0]);
  };
  const lease = async () => {
    const ids = createIds(systemRandom);
    const leases = createLeases({ db, clock: systemClock, ids, actor: systemActor("test") });
    expect(await leases.acquire(watchWorkerName(network), minute)).to.include({ token: 1 });
  };
  const readTo = (height: number, hash: string) =>
    db.write(testContext, (tx) =>
      tx.update(stateTable, { tipHeight: height, tipHash: hash }, "WHERE network = $1", [network]),
    );
  const reach = async () => {
    const at = systemClock.now();
    const first = { cursorHeight: 90, cursorHash: "bb".repeat(32), cursorTime: at };
    const newest = { tipHeight: tip.height, tipHash: tip.hash, tipTime: at };
    const rest = {
      chainId: 1,
      headHeight: tip.height,
      scannedAt: at,
      disabledTokens: [],
      version: 1,
    };
    await db.write(testContext, (tx) => createState(tx, { network, ...first, ...newest, ...rest }));
  };
  /** Returns whether a wait for a block is over within 400 ms, and the wait itself. */
  const wait = async (head: { readonly height: number; readonly hash: string }) => {
    const done = untilRead(head).then(() => true);
    const isOver = await Promise.race([done, setTimeout(400, false)]);
    return { isOver, done };
  };

  it("waits until the server has read its block, or one above it", async () => {
    await lease();
    await reach();
    expect((await wait(tip)).isOver).to.equal(true);
    expect((await wait({ height: 99, hash: "cc".repeat(32) })).isOver).to.equal(true);
    // A reorganization: the block that was read has the same height, and is another one.
    const other = { height: tip.height, hash: "dd".repeat(32) };
    const replaced = await wait(other);
    expect(replaced.isOver).to.equal(false);
    await readTo(other.height, other.hash);
    expect(await replaced.done).to.equal(true);
    const next = await wait({ height: 101, hash: "ee".repeat(32) });
    expect(next.isOver).to.equal(false);
    await readTo(102, "ff".repeat(32));
    expect(await next.done).to.equal(true);
  });

  it("heals the providers, and waits until the server has checked all of them", async () => {
    await lease();
    const check = (...times: readonly number[]) =>
      db.write(testContext, (tx) => {
        const checked = times.map((healedAt, place) => ({
          provider: String(place),
          place,
          healedAt,
        }));
        return writeProviders(tx, network, checked as never, 1);
      });
    const sandbox = makeSandboxService({
      db,
      clock: systemClock,
      network: { id: network },
      wake: () => undefined,
      sandbox: { heal: () => Promise.resolve(1_000) },
    } as never);
    await check(1_000, 1_001);
    expect((await sandbox.heal(testContext)).isChecked).to.equal(true);
    await check(1_000, 999);
    const waiting = sandbox.heal(testContext);
    expect(await Promise.race([waiting, setTimeout(400, null)])).to.equal(null);
    await check(1_000, 1_000);
    expect((await waiting).isChecked).to.equal(true);
  });

  it("waits for no server that does not run, and for no network that was never reached", async () => {
    const far = { height: 1_000, hash: "cc".repeat(32) };
    await reach();
    expect((await wait(far)).isOver).to.equal(true);
    await lease();
    await db.write(testContext, (tx) => tx.run("DELETE FROM network_states"));
    expect((await wait(far)).isOver).to.equal(true);
  });
});

describe("The sandbox", () => {
  interface Given {
    readonly invoice?: Partial<InvoiceRow>;
    readonly recorded?: readonly Partial<PaymentRow>[];
    readonly dust?: bigint;
    /** The time of the block that includes a payment; null if blocks are made on command only. */
    readonly dueAt?: number | null;
  }

  /** Opens the service for an invoice of which 13 are open and 30 were asked for, at the time 1,000. */
  function open({ invoice = {}, recorded = [], dust = 100n, dueAt = null }: Given = {}) {
    const sent: unknown[] = [];
    const starts: unknown[] = [];
    const woken: string[] = [];
    let verb = "";
    const asked = {
      id: "inv_1",
      network,
      walletAddress: "shop",
      tokenSymbol: "USDT",
      tokenDecimals: 2,
      remainingAmount: 13n,
      payableAmount: 30n,
      ...invoice,
    };
    const service = makeSandboxService({
      clock: { now: () => 1_000 },
      wake: () => woken.push(verb),
      network: {
        id: network,
        kind: { parseAddress: (text: string) => ({ ok: text !== "?", address: text, fault: "f" }) },
        tokens: [{ symbol: "USDT", decimals: 2, dust }],
      },
      sandbox: {
        pay(_tx: unknown, { amount, failed, fakeToken, lie }: Readonly<Record<string, unknown>>) {
          const kind = failed === true ? "failed" : fakeToken === true ? "fake" : "";
          sent.push([amount, kind, lie === true]);
          return Promise.resolve({ dueAt });
        },
        payTogether: () => Promise.resolve({}),
        mine: () => Promise.resolve({}),
        disturb: () => Promise.resolve(0),
        heal: () => Promise.resolve(0),
        reorganize: (_tx: unknown, start: unknown) => Promise.resolve(void starts.push(start)),
      },
      db: {
        findOne: () => Promise.resolve(asked),
        find: (table: unknown) => Promise.resolve(table === payments ? recorded : []),
        async write(_context: unknown, change: (tx: unknown) => Promise<unknown>) {
          const acts: (() => void)[] = [];
          const lock = () => Promise.resolve([]);
          const done = await change({ lock, afterCommit: (act: () => void) => acts.push(act) });
          for (const act of acts) act();
          return done;
        },
      },
    } as never);
    return {
      service,
      sent,
      starts,
      woken,
      name: (name: string) => {
        verb = name;
      },
    };
  }

  it("wakes the watcher after each command that changes the chain", async () => {
    const { service, woken, name } = open();
    const transfer = { from: "a", to: "b", token: "USDT", amount: "1.00" };
    const commands: Readonly<Record<string, () => Promise<unknown>>> = {
      send: () => service.send(testContext, transfer),
      batch: () => service.payTogether(testContext, "inv_1", [1n]),
      part: () => service.play(testContext, "inv_1", "part"),
      stall: () => service.disturb(testContext, "stall", 1),
      heal: () => service.heal(testContext),
      mine: () => service.mine(testContext, 1),
      reorg: () => service.reorganize(testContext, 1, { drop: true }),
      expire: () => service.expire(testContext, "inv_1"),
    };
    for (const [verb, run] of Object.entries(commands)) {
      name(verb);
      await run();
    }
    expect(woken).to.deep.equal(Object.keys(commands));
    const wrong = service.send(testContext, { ...transfer, to: "?" });
    expect(await wrong.catch((error: unknown) => (error as { code: string }).code)).to.equal(
      "invalid_request",
    );
  });

  it("wakes the watcher when the block with a payment is due", async () => {
    for (const [dueAt, isWoken] of [
      [null, true],
      [61_000, false],
    ] as const) {
      const { service, woken } = open({ dueAt });
      await service.pay(testContext, "inv_1", 5n);
      await setTimeout(50);
      expect(woken, String(dueAt)).to.have.length(isWoken ? 1 : 0);
    }
  });

  it("plays each way to pay with its amounts, in the token's smallest unit", async () => {
    const played = async (scenario: SandboxScenario, given: Given = {}) => {
      const { service, sent } = open(given);
      await service.play(testContext, "inv_1", scenario);
      return sent;
    };
    expect(await played("part")).to.deep.equal([[7n, "", false]]);
    expect(await played("over")).to.deep.equal([[113n, "", false]]);
    expect(await played("double")).to.deep.equal(Array(2).fill([13n, "", false]));
    expect(await played("fail")).to.deep.equal([[13n, "failed", false]]);
    expect(await played("fake")).to.deep.equal([[13n, "fake", false]]);
    expect(await played("zero")).to.deep.equal([[0n, "", false]]);
    expect(await played("lie")).to.deep.equal([[13n, "", true]]);
    const dusts = [100n, 2n, 1n, 0n].map((dust) => played("dust", { dust }));
    const amounts = (await Promise.all(dusts)).map(([first]) => (first as unknown[])[0]);
    expect(amounts).to.deep.equal([99n, 1n, 1n, 1n]);
    // A paid invoice is paid once more.
    expect(await played("double", { invoice: { remainingAmount: 0n } })).to.deep.equal(
      Array(2).fill([30n, "", false]),
    );
  });

  it("replaces blocks from the newest payment of an invoice on that is on this chain and was not rejected", async () => {
    const start = async (...recorded: Partial<PaymentRow>[]) => {
      const { service, starts } = open({ recorded });
      await service.reorganize(testContext, "inv_1", { drop: true });
      return starts[0];
    };
    const payment = (name: string, blockHeight: number, status: PaymentRow["status"]) => ({
      network,
      transactionHash: name,
      blockHeight,
      status,
    });
    const rejected = payment("c", 9, "rejected");
    const elsewhere = { ...payment("b", 10, "confirmed"), network: "base" };
    const reverted = payment("d", 8, "reverted");
    const counted = [
      payment("a", 5, "confirmed"),
      payment("e", 7, "confirming"),
      payment("f", 6, "review"),
    ];
    expect(await start(elsewhere, rejected, reverted, ...counted)).to.deep.equal({
      transactions: ["d", "a", "e", "f"],
      newestHeight: 7,
    });
    expect(await start(reverted)).to.deep.equal({ transactions: ["d"], newestHeight: null });
    expect(await start(rejected, elsewhere)).to.deep.equal({ to: "shop" });
  });
});
