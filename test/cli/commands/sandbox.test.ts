// Simulated payers, network and providers, and their effect on the invoice.
import { expect } from "chai";
import { networkReadersOf } from "../../../src/features/payments/networks/readers.ts";
import { listNetworkStatuses } from "../../../src/features/payments/networks/chain.ts";
import { getInvoice } from "../../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../../src/features/invoices/issuing/create.ts";
import type { Program } from "../../../src/compose/app.ts";
import { createWallet } from "../../../src/features/wallets/wallets.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { xpubs } from "../../support/merchants.ts";
import { until } from "../../support/until.ts";
import { context, makeDesk, type DeskStore } from "../billing-operator.ts";

describe("till sandbox", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" });

  async function openShop(store: DeskStore, app: Program) {
    const organizationId = await store.platformId();
    await app.start();
    await createWallet(app, context, organizationId, {
      label: "Till",
      network: "sandbox",
      xpub: xpubs.first,
    });
    const create = (externalId?: string) =>
      createInvoice(app, context, organizationId, {
        ...(externalId === undefined ? {} : { externalId }),
        amount: "24.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "sandbox",
      });
    await until(
      "issuing",
      () => create().catch(() => null),
      (made) => made !== null,
    );
    const find = (id: Id<"invoice">) => getInvoice(app, organizationId, id);
    return {
      issue: async (externalId?: string) => (await create(externalId)).invoice.id,
      find,
      is: (id: Id<"invoice">, status: string) =>
        until(
          `${id} ${status}`,
          () => find(id),
          (invoice) => invoice.status === status,
        ),
    };
  }

  it("pays in every way that a payer can", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue, find, is } = await openShop(store, app);
      const ids = new Map<string, Id<"invoice">>();
      const scenarios = ["part", "over", "double", "late", "fail", "fake", "zero", "dust", "lie"];
      for (const scenario of scenarios) {
        const id = await issue();
        ids.set(scenario, id);
        const { data } = (await store.json(["sandbox", scenario, id])) as { data: object[] };
        expect(data, scenario).to.have.length(scenario === "double" ? 2 : 1);
      }
      const idOf = (scenario: string) => ids.get(scenario) ?? "inv_";
      await store.json(["sandbox", "mine", "3"]);
      expect((await is(idOf("double"), "paid")).seenAmount).to.equal(48_000_000n);
      expect(await is(idOf("over"), "paid")).to.include({
        exception: "overpaid",
        seenAmount: 25_000_000n,
      });
      expect((await is(idOf("part"), "partially_paid")).remainingAmount).to.equal(12_000_000n);
      expect((await is(idOf("late"), "paid")).exception).to.equal("late");
      for (const scenario of ["fail", "fake", "zero", "dust"]) {
        expect(await find(idOf(scenario)), scenario).to.include({ status: "open", seenAmount: 0n });
      }
      expect((await find(idOf("lie"))).status).not.to.equal("paid");
      // Ending its time is a change like any other.
      const [told] = await store.audited("invoice.updated");
      expect(told).to.include({ target_id: idOf("late") });
      const events = await app.db.all(
        "SELECT object_version FROM events WHERE object_id = $1 AND type = 'invoice.updated'",
        [idOf("late")],
      );
      expect(events).to.deep.equal([{ object_version: 2 }]);
    });
  });

  it("pays by several transfers in one transaction, each counted once", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue, find, is } = await openShop(store, app);
      const id = await issue();
      const sent = await store.json(["sandbox", "batch", id, "--amounts", "10,14.00"]);
      expect(sent).to.deep.include({ invoiceId: id, amounts: ["10.00", "14.00"] });
      await store.json(["sandbox", "mine", "1"]);
      expect((await is(id, "confirming")).seenAmount).to.equal(24_000_000n);
      const hash = (sent as { transactionHash: string }).transactionHash.slice(2);
      const payments = async (status: string) => {
        const [row] = await app.db.all<{ n: number }>(
          `SELECT COUNT(*) AS n FROM payments p JOIN transfers t ON t.id = p.transfer_id
           WHERE t.transaction_hash = $1 AND p.status = $2`,
          [hash, status],
        );
        return row?.n;
      };
      expect(await payments("confirming")).to.equal(2);
      // They come again in another block, at other places: still two.
      await store.json(["sandbox", "reorg", "--blocks", "1"]);
      await store.json(["sandbox", "mine", "3"]);
      expect((await is(id, "paid")).seenAmount).to.equal(24_000_000n);
      expect(await payments("confirmed")).to.equal(2);
      // Its blocks are read once more: nothing in them is new.
      const again = ["chain", "scan", "--network", "sandbox", "--from", "0", "--to", "4"];
      expect(await store.json(again)).to.include({ transfersFound: 2, transfersNew: 0 });
      expect(await payments("confirmed")).to.equal(2);
      // Gone with its block, the whole of it is gone.
      const other = await issue();
      await store.json(["sandbox", "batch", other, "--amounts", "10,5"]);
      await store.json(["sandbox", "mine", "1"]);
      expect((await is(other, "partially_paid")).remainingAmount).to.equal(9_000_000n);
      await store.json(["sandbox", "reorg", "--blocks", "1", "--drop"]);
      await is(other, "open");
      expect((await find(other)).seenAmount).to.equal(0n);
    });
  });

  it("reverts payments in reorganizations, and counts them again if they return", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue, is } = await openShop(store, app);
      const id = await issue();
      await store.json(["sandbox", "pay", id]);
      // A running server has read the blocks when a command ends.
      const expectRead = async (words: readonly string[]) => {
        const { blockHash } = (await store.json(words)) as { blockHash: string };
        const state = await networkState(app.db, "sandbox");
        expect(`0x${state?.tipHash ?? ""}`).to.equal(blockHash);
      };
      await expectRead(["sandbox", "mine", "3"]);
      await is(id, "paid");
      await expectRead(["sandbox", "reorg", "--blocks", "3"]);
      expect((await is(id, "open")).exception).to.equal("reverted");
      await store.json(["sandbox", "mine", "3"]);
      await is(id, "paid");
      const dropped = await store.till(["sandbox", "reorg", "--blocks", "3", "--drop"]);
      expect(dropped.stderr).to.include("do not come back");
      await is(id, "open");
      const unknown = await store.till(["sandbox", "expire", "inv_01kq3v5m8w2f6n9r4t7x0z1c3e"]);
      expect(unknown.code).to.equal(5);
      await store.json(["sandbox", "expire", id]);
      await store.json(["sandbox", "mine"]);
      await is(id, "expired");
    });
  });

  for (const fault of ["stall", "refuse", "silence", "contradict"]) {
    it(`loses no payment to providers that ${fault}`, async () => {
      const store = await desk.store();
      await store.withApp(async (app) => {
        const { issue, is } = await openShop(store, app);
        const id = await issue();
        const before = Date.now();
        const { until: end } = (await store.json(["sandbox", fault, "2"])) as { until: string };
        expect(new Date(end).getTime()).to.be.at.least(before + 2_000);
        await store.json(["sandbox", "pay", id]);
        await store.json(["sandbox", "mine", "3"]);
        await is(id, "paid");
        await until(
          "nothing wrong any more",
          () => listNetworkStatuses(app, { isLive: false }),
          ([network]) => network?.alarms.length === 0,
        );
        await until(
          "a watcher that is well",
          () => [...networkReadersOf(app).values()].map(({ watcher }) => watcher.health()),
          (healths) =>
            healths.length === 1 &&
            healths.every(({ problem, heldPayments }) => problem === null && heldPayments === 0),
        );
      });
    });
  }

  it("heals its providers at once: what waited is paid, a late payment is late, a lie is gone", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue, is } = await openShop(store, app);
      const sandbox = (...words: string[]) => store.json(["sandbox", ...words]);
      const isCaught = (condition: string) =>
        until(
          `a provider that is ${condition}`,
          () => listNetworkStatuses(app, { isLive: false }),
          ([network]) => network?.providers[0]?.condition === condition,
        );
      const heal = async () => {
        const healed = await sandbox("heal");
        expect(healed).to.have.nested.property("isChecked", true);
        expect(healed).to.have.nested.property("providers[0].condition", "ok");
        expect(healed).to.have.nested.property("providers[0].checkedAgainAt", null);
      };
      // The first provider omits a payment that it has reported, and is excluded for five minutes.
      const silenced = await issue();
      await sandbox("pay", silenced);
      await sandbox("mine");
      await is(silenced, "confirming");
      const askedAt = Date.now();
      const warned = await store.till(["sandbox", "silence"]);
      const toldAt = Date.now();
      const felt = /Next: till sandbox heal .* until (\S+Z) at the latest/.exec(warned.stderr)?.[1];
      // A minute of silence, five until the next check, and one for its schedule, in whole seconds.
      const isFeltFor = (from: number) => from + 7 * minute;
      expect(Date.parse(felt ?? ""), warned.stderr).to.be.within(
        isFeltFor(askedAt) - second,
        isFeltFor(toldAt),
      );
      await sandbox("mine");
      await isCaught("silent_logs");
      const status = await store.json(["chain", "status"]);
      const again = (status as { data: { providers: { checkedAgainAt: string }[] }[] }).data[0];
      expect(Date.parse(again?.providers[0]?.checkedAgainAt ?? "")).to.be.above(Date.now());
      await heal();
      await sandbox("mine", "2");
      await is(silenced, "paid");
      const late = await issue();
      await sandbox("late", late);
      await sandbox("mine", "3");
      expect((await is(late, "paid")).exception).to.equal("late");

      // The hold of a contradicted payment has a longer wait each time.
      const contradicted = await issue();
      await sandbox("pay", contradicted);
      await sandbox("contradict");
      await sandbox("mine", "3");
      await until(
        "a held payment",
        () =>
          [...networkReadersOf(app).values()].map(({ watcher }) => watcher.health().heldPayments),
        ([held]) => held === 1,
      );
      await heal();
      await sandbox("mine");
      await is(contradicted, "paid");

      const lied = await issue();
      await sandbox("lie", lied);
      await sandbox("mine");
      await is(lied, "confirming");
      await heal();
      await sandbox("mine");
      await is(lied, "open");

      await sandbox("stall");
      await isCaught("waiting");
      await heal();
    });
  });

  it("names an invoice by its externalId, also if it is a number, says what each payment was, and what a reorganization loses", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue } = await openShop(store, app);
      const id = await issue("1042");
      const paid = (await store.json(["sandbox", "part", "1042"])) as { data: object[] };
      expect(paid.data[0]).to.include({ invoiceId: id, amount: "12.00", tokenSymbol: "USDT" });
      const over = await store.till(["sandbox", "over", "1042"]);
      expect(over.stdout).to.include(" 25.00 USDT ");
      const words = "Next: till sandbox mine 3, or wait for the blocks that confirm it; then poll";
      expect(over.stderr).to.include(words);
      expect((await store.till(["sandbox", "pay", id])).stderr).to.include(words);
      await store.json(["sandbox", "mine"]);
      const moved = await store.till(["sandbox", "reorg", "1042"]);
      expect(moved.stdout).to.match(/^Transactions +come again: 0x/m);
      expect(moved.stderr).to.include("till sandbox mine 3 includes the transactions again");
      await store.json(["sandbox", "mine"]);
      const lost = await store.till(["sandbox", "reorg", "1042", "--drop"]);
      expect(lost.stdout).to.match(/^Transactions +lost: 0x/m);
      const empty = await store.till(["sandbox", "reorg", "--blocks", "1"]);
      expect(empty.stdout).to.match(/^Transactions +-$/m);
      expect(empty.stderr).to.include("these blocks had no transfer");
      const next = async (...command: string[]) =>
        (await store.till(["sandbox", ...command])).stderr;
      expect(await next("fail", id)).to.include("nothing comes of it");
      expect(await next("lie", id)).to.include("till sandbox heal takes the payment back");
      expect(await next("heal")).to.include("payments that waited are verified");
      const { until: end } = (await store.json(["sandbox", "stall", "0"])) as { until: string };
      expect(Date.parse(end)).to.be.at.most(Date.now());
    });
  });

  it("accepts amounts and numbers in one notation only", async () => {
    const store = await desk.store();
    await store.withApp(async (app) => {
      const { issue, is } = await openShop(store, app);
      const id = await issue();
      const wrong = [
        "1e3",
        "0x10",
        " 1",
        "+1",
        "1,5",
        ".5",
        "١",
        "-1",
        "1.1234567",
        "9".repeat(40),
      ];
      for (const amount of wrong) {
        const { code, stderr } = await store.till(["sandbox", "pay", id, `--amount=${amount}`]);
        expect(code, amount).to.equal(2);
        expect(stderr).to.include("amount");
      }
      for (const words of [
        ["mine", "0"],
        ["mine", "1.5"],
        ["reorg"],
        ["reorg", "--blocks", "x"],
        ["reorg", id, "--blocks", "1"],
        ["stall", "-1"],
        ["refuse", "1e3"],
      ]) {
        expect((await store.till(["sandbox", ...words])).code, words.join(" ")).to.equal(2);
      }
      expect((await store.till(["sandbox", "part", "inv_nothing"])).code).to.equal(5);
      expect((await store.till(["sandbox", "reorg", "--blocks", "33"])).code).to.equal(1);
      await store.json(["sandbox", "pay", id, "--amount", "23.98"]);
      await store.json(["sandbox", "mine"]);
      expect((await is(id, "partially_paid")).remainingAmount).to.equal(20_000n);
    });
  });
});
