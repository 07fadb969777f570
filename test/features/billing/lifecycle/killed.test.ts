// Kills a process with SIGKILL at each statement of its transaction and before its commit. If it was billing a
// boundary, the next run bills all of it, once. If it was changing a plan, nothing of the request is stored.
import { expect } from "chai";
import { day } from "../../../../src/kernel/clock.ts";
import type { StoreOptions } from "../../../../src/platform/database/open.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { openEstate, type Estate } from "../billing-fleet.ts";
import { billInProcess, changePlanInProcess, type Ended } from "./processes.ts";

const isWhole = process.env["TILL_PROVE"] === "1";
/** Every statement, or a few of them, because each takes a process. */
const firstPlace = isWhole ? 1 : 9;
const stride = isWhole ? 1 : 16;
eachStore("a process that bills and is killed", (store) => {
  let place: StoreOptions;
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    place = await store.place("migrated");
    estate = await openEstate({ place });
    shop = await estate.merchant();
  });
  afterEach(() => estate.stop());

  async function runKilledAt(statement: number): Promise<Ended> {
    await estate.keepAwake();
    return billInProcess(place, estate.clock.now(), statement);
  }

  async function credit(): Promise<Record<string, unknown>> {
    const path = `/v1/admin/organizations/${shop.organizationId}/credits`;
    const key = estate.platformKey;
    const { body } = await expectStatus(estate.app.request("GET", path, { key }), 200);
    return (body["data"] as Record<string, unknown>[])[0] ?? {};
  }

  async function expectBilledOnce(): Promise<void> {
    const all = await estate.invoices(shop);
    expect(all.map(({ number, total }) => [number, total])).to.deep.equal([
      ["TILL-000001", "49.00"],
      ["TILL-000002", "40.00"],
    ]);
    expect(await credit()).to.include({ remaining: "0.00", status: "consumed" });
  }

  it("leaves one invoice and correct balances, whichever statement it is killed at", async () => {
    await expectStatus(estate.select(shop, "growth"), 200);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    await estate.live(14.01);
    await expectStatus(
      estate.app.request("POST", `/v1/admin/organizations/${shop.organizationId}/credits`, {
        key: estate.platformKey,
        body: { amount: "9.00", currency: "USD", reason: "Sorry" },
      }),
      201,
    );
    const before = await estate.subscription(shop);
    const untilEnd = Date.parse(before.currentPeriodEnd) - estate.clock.now();
    estate.clock.advance(untilEnd + 0.01 * day);

    let kills = 0;
    for (let statement = firstPlace; ;) {
      const { signal, stdout } = await runKilledAt(statement);
      if (signal === null) {
        const done = JSON.parse(stdout) as { steps: number };
        if (done.steps > 0) break;
        // PostgreSQL has not noticed yet that the previous process is dead and still holds its locks.
        continue;
      }
      expect(signal, stdout).to.equal("SIGKILL");
      kills += 1;
      statement += stride;
      // It was killed after the commit: in the rest of the run, such as its heartbeat.
      if ((await estate.invoices(shop)).length > 1) break;
      expect(await estate.subscription(shop), stdout).to.deep.equal(before);
      expect(await credit(), stdout).to.include({ remaining: "9.00" });
    }
    expect(kills).to.be.at.least(isWhole ? 25 : 2);
    await expectBilledOnce();
    await estate.run();
    await expectBilledOnce();
  });

  it("leaves a trial's plan and unpaid invoice unchanged, whichever statement of a plan change it is killed at", async () => {
    await expectStatus(estate.select(shop, "growth"), 200);
    const before = await estate.subscription(shop);
    const invoices = await estate.invoices(shop);
    const change = { organizationId: shop.organizationId, plan: "scale" };

    let kills = 0;
    for (let statement = firstPlace; ; statement += stride) {
      const now = estate.clock.now();
      const { signal, stdout } = await changePlanInProcess(place, now, statement, change);
      if (signal === null) break;
      expect(signal, stdout).to.equal("SIGKILL");
      kills += 1;
      expect(await estate.subscription(shop), stdout).to.deep.equal(before);
      expect(await estate.invoices(shop), stdout).to.deep.equal(invoices);
    }
    expect(kills).to.be.at.least(isWhole ? 25 : 2);
    const { plan, pendingPlan, openInvoice } = await estate.subscription(shop);
    expect([plan, pendingPlan, openInvoice?.total]).to.deep.equal(["growth", "scale", "199.00"]);
    const all = await estate.invoices(shop);
    expect(all.map(({ number, status, total }) => [number, status, total])).to.deep.equal([
      ["TILL-000001", "void", "49.00"],
      ["TILL-000002", "open", "199.00"],
    ]);
  });
});
