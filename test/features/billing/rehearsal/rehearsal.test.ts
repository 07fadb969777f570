// A rehearsal on a copy of a store, compared with the same store that lives through the same months.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { sweepDeadlines } from "../../../../src/features/invoices/settlement/settlement.ts";
import { rehearseBilling } from "../../../../src/compose/rehearse-billing.ts";
import { secretFor } from "../../../../src/compose/store-secret.ts";
import { cancelSubscription } from "../../../../src/features/billing/lifecycle/cancel.ts";
import { makeMonthlySums } from "../../../../src/features/billing/rehearsal/report.ts";
import type { PaymentHabit } from "../../../../src/features/billing/status.ts";
import { platformInvoices } from "../../../../src/features/billing/table.ts";
import { boundary } from "../../../../src/features/billing/periods.ts";
import { day, second, toIso } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { networkState } from "../../../../src/platform/chain/state/network-state.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import type { Progress } from "../../../../src/platform/progress.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { stillClock } from "../../../support/clock.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { dumpStore } from "../../../support/store/dump.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { lastOfJanuary, openEstate, plansFile, type Estate } from "../billing-fleet.ts";

const months = 2;
const file = plansFile({
  trial: { price: "49.00", trialDays: 14 },
  plain: { price: "10.00", includedInvoices: 1, overagePrice: "1.25" },
  big: { price: "25.50" },
  yearly: { price: "99.99", interval: "year" },
  free: { price: "0.00" },
});

/** A line of the audit log about billing, without the ids of objects that the rehearsal makes up. */
interface Told {
  readonly at: string;
  readonly organizationId: string;
  readonly event: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

eachStore("a rehearsal of billing", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let scratch: string;
  const former = process.env["TMPDIR"];

  beforeEach(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
      clock: stillClock(lastOfJanuary),
    });
    scratch = await mkdtemp(join(tmpdir(), "till rehearsals "));
    process.env["TMPDIR"] = scratch;
  });
  afterEach(async () => {
    if (former === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = former;
    await rm(scratch, { recursive: true });
    await estate.stop();
  });

  const give = ({ organizationId }: Merchant, noun: string, body: object) =>
    expectStatus(
      estate.app.request("POST", `/v1/admin/organizations/${organizationId}/${noun}`, {
        key: estate.platformKey,
        body,
      }),
      201,
    );

  async function subscriber(plan: string): Promise<Merchant> {
    const merchant = await estate.merchant();
    await expectStatus(estate.select(merchant, plan), 200);
    // Periods that begin at the same time would get their invoice numbers in any order.
    estate.clock.advance(7 * 60_000);
    return merchant;
  }

  async function payOpen(merchant: Merchant): Promise<void> {
    await estate.pay((await estate.subscription(merchant)).openInvoice?.id ?? "");
  }

  /** Subscriptions in most states, with balances, plan changes, a planned end and a debt. */
  async function fill(): Promise<readonly Merchant[]> {
    const late = await subscriber("plain");
    await estate.live(20);
    const trial = await subscriber("trial");
    const soon = toIso(estate.clock.now() + 40 * day);
    const usd = { currency: "USD", reason: "Sorry" };
    await give(trial, "credits", { ...usd, amount: "30.00", expiresAt: soon });
    await give(trial, "credits", { ...usd, amount: "25.00" });
    await give(trial, "discounts", {
      kind: "percent",
      value: "12.5",
      periods: 2,
      reason: "Welcome",
    });
    await give(trial, "adjustments", { amount: "5.10", currency: "USD", description: "Setup" });
    const growing = await subscriber("plain");
    await payOpen(growing);
    await expectStatus(estate.change(growing, "big"), 200);
    const leaving = await subscriber("big");
    await cancelSubscription(
      estate.app.app,
      testContext,
      leaving.organizationId as Id<"organization">,
      { when: "period_end", reason: "The shop closes" },
    );
    const changing = await subscriber("trial");
    await payOpen(changing);
    await expectStatus(estate.change(changing, "yearly"), 200);
    const busy = await subscriber("plain");
    await payOpen(busy);
    await busy.addWallet({ xpub: xpubOf(1) });
    for (let made = 0; made < 4; made += 1) await busy.issue({ amount: "5" });
    const free = await subscriber("free");
    await estate.live(1);
    expect((await estate.subscription(late)).status).to.not.equal("active");
    return [late, trial, growing, leaving, changing, busy, free];
  }

  async function rehearse(
    payments: PaymentHabit,
    {
      organizationId = null,
      signal = new AbortController().signal,
      progress = () => undefined,
    }: {
      organizationId?: Id<"organization"> | null;
      signal?: AbortSignal;
      progress?: Progress;
    } = {},
  ) {
    const { config } = estate.app.app;
    const secret = await secretFor(config, false, systemRandom);
    const plan = { from: estate.clock.now(), months, payments, organizationId };
    const outside = { logger: silentLogger, randomBytes: systemRandom };
    return rehearseBilling({ config, secret, signal, progress, ...outside }, plan, async (read) => {
      expect((await readdir(scratch)).length).to.equal(1);
      const sums = makeMonthlySums();
      const invoices = [];
      for await (const { row, shown } of read.invoices()) {
        sums.add(row);
        invoices.push(shown);
      }
      const events: Told[] = [];
      for await (const { organizationName: _name, ...one } of read.events()) {
        events.push(withoutTwins(one));
      }
      const failures = [];
      for await (const one of read.failures()) failures.push(one);
      const { subscriptions } = read;
      return { invoices, events, failures, subscriptions, sums: [sums.months(), sums.foot()] };
    });
  }

  /** Lives through the months as servers and payers would: through each next action, and one round of payments a day. */
  async function live(from: number, payments: PaymentHabit): Promise<void> {
    const { app, clock, db } = estate;
    const end = boundary(from, "month", months);
    let roundAt = from;
    for (let now = from; now < end;) {
      clock.advance(now - clock.now());
      await estate.keepAwake();
      if (now === roundAt) {
        await round(payments, (roundAt - from) % (5 * day) === 0);
        roundAt += day;
      }
      expect((await estate.run()).parked).to.equal(0);
      const [next] = await db.all<{ at: number | null }>(
        'SELECT MIN(next_action_at) AS "at" FROM subscriptions',
      );
      now = Math.max(now + 5 * second, Math.min(next?.at ?? roundAt, roundAt));
    }
    clock.advance(end - clock.now());
    expect(app.app.clock.now()).to.equal(end);
  }

  async function round(payments: PaymentHabit, passesDeadlines: boolean): Promise<void> {
    const { app, clock, db } = estate;
    const now = clock.now();
    if (passesDeadlines) {
      await estate.mine();
      const state = await networkState(db, "sandbox");
      if (state === null) throw new Error("the sandbox was not read");
      while (
        (await sweepDeadlines(app.app, now, "sandbox", state, () => Promise.resolve(now))) > 0
      );
    }
    if (payments === "never") return;
    const until = now + (payments === "late" ? -3 * day : day);
    const owed = await db.find(
      platformInvoices,
      "WHERE status IN ('open', 'past_due') AND due_at <= $1 ORDER BY id",
      [until],
    );
    for (const { id } of owed) await estate.send(id);
    if (owed.length > 0) await estate.mine(4);
  }

  /** Reads what the store recorded since a time. */
  async function recorded(from: number) {
    const told = await estate.db.all<
      Omit<Told, "at" | "changes"> & { at: number; changes: string }
    >(
      `SELECT created_at AS "at", organization_id AS "organizationId", action AS "event", changes AS "changes"
       FROM audit_logs WHERE created_at >= $1
         AND target_type IN ('subscription', 'platform_invoice', 'credit', 'discount', 'adjustment')
       ORDER BY id`,
      [from],
    );
    const usage = await estate.db.all(
      "SELECT id FROM events WHERE occurred_at >= $1 AND type = 'usage.threshold_reached'",
      [from],
    );
    const parsed = told.map(({ at, changes, ...one }) =>
      withoutTwins({ ...one, at: toIso(at), changes: JSON.parse(changes) as Told["changes"] }),
    );
    return { told: parsed, usage: usage.length };
  }

  it("rehearses one organization alone, and a store without subscriptions", async () => {
    expect(await rehearse("on-time")).to.deep.equal({
      invoices: [],
      events: [],
      failures: [],
      subscriptions: 0,
      sums: [[], []],
    });
    const shop = await subscriber("plain");
    await subscriber("big");
    const organizationId = shop.organizationId as Id<"organization">;
    const { invoices, events, subscriptions, sums } = await rehearse("on-time", { organizationId });
    expect(subscriptions).to.equal(1);
    const owners = [...invoices, ...events].map((one) => one.organizationId);
    expect([...new Set(owners)]).to.deep.equal([organizationId]);
    // The first was unpaid before the rehearsal, and the last is issued minutes before its end.
    expect(invoices.map(({ number, status }) => [number, status])).to.deep.equal([
      ["TILL-000001", "paid"],
      ["TILL-000003", "paid"],
      ["TILL-000004", "open"],
    ]);
    const none = { voided: 0, discounts: "0.00", credits: "0.00", carried: "0.00" };
    const one = { currency: "USD", ...none };
    const ten = { invoices: 1, subtotal: "10.00", total: "10.00" };
    const all = { invoices: 3, subtotal: "30.00", total: "30.00" };
    expect(sums).to.deep.equal([
      [
        { month: "2026-01", ...one, ...ten, paid: "10.00", unpaid: "0.00" },
        { month: "2026-02", ...one, ...ten, paid: "10.00", unpaid: "0.00" },
        { month: "2026-03", ...one, ...ten, paid: "0.00", unpaid: "10.00" },
      ],
      [{ month: null, ...one, ...all, paid: "20.00", unpaid: "10.00" }],
    ]);
  });

  it("reports a subscription that cannot be billed, after about a day of attempts", async () => {
    await subscriber("plain");
    await estate.db.write(testContext, (tx) =>
      tx.run("UPDATE billing_state SET receive_wallet_id = NULL"),
    );
    const { failures, invoices, events } = await rehearse("on-time");
    expect(failures.map(({ reason }) => reason)).to.satisfy(
      ([one, ...others]: string[]) => others.length === 0 && one?.includes("no_receive_wallet"),
    );
    expect(invoices.length).to.equal(1);
    expect(events.map(({ event }) => event)).to.not.include("subscription.renewed");
  });

  it("removes its copy if it is interrupted, and if it fails", async () => {
    await subscriber("plain");
    const stopping = new AbortController();
    const asked = new Error("Ctrl-C");
    const works = new Set<string>();
    const stopped = rehearse("on-time", {
      signal: stopping.signal,
      progress(work) {
        works.add(work);
        if (work === "Rehearsing") stopping.abort(asked);
      },
    });
    expect(await stopped.catch((error: unknown) => error)).to.equal(asked);
    expect([...works]).to.deep.equal(["Copying rows", "Rehearsing"]);
    const broken = new Error("the terminal is gone");
    const failed = rehearse("on-time", {
      progress: () => {
        throw broken;
      },
    });
    expect(await failed.catch((error: unknown) => error)).to.equal(broken);
    expect(await readdir(scratch)).to.deep.equal([]);
  });

  for (const payments of ["late", "on-time", "never"] as const) {
    // Every habit reads the store; one of them on both databases shows that the copies are equal.
    const test = payments === "late" ? it.onBoth : it;
    test(`shows exactly what then happens if merchants pay ${payments}, and changes nothing`, async () => {
      const merchants = await fill();
      const from = estate.clock.now();
      const before = await dumpStore(estate.db);
      const { result: rehearsed, connections } = await countConnections(() => rehearse(payments));
      if (store.dialect === "sqlite") expect(connections).to.equal(0);
      expect(await dumpStore(estate.db)).to.equal(before);
      expect(await readdir(scratch)).to.deep.equal([]);
      expect(rehearsed.failures).to.deep.equal([]);
      expect(rehearsed.subscriptions).to.equal(7);

      await live(from, payments);
      const { told, usage } = await recorded(from);
      const ofAudit = rehearsed.events.filter(({ event }) => event !== "usage.threshold_reached");
      expect(ofAudit).to.deep.equal(told);
      expect(rehearsed.events.length - ofAudit.length).to.equal(usage);
      const real = new Map<unknown, Record<string, unknown>>();
      for (const merchant of merchants) {
        for (const one of await estate.invoices(merchant)) real.set(one["number"], one);
      }
      for (const one of rehearsed.invoices) {
        const { subscriptionId: _id, organizationName: _name, ...rest } = one;
        const { pastDueAt: _pastDue, voidedAt: _voided, lines, ...fields } = rest;
        const its = real.get(one.number);
        expect(its).to.deep.include(fields);
        const realLines = its?.["lines"] as Record<string, unknown>[];
        expect(lines).to.deep.equal(realLines.map(({ id: _line, ...line }) => line));
      }
      const since = [...real.values()].filter(
        (one) =>
          String(one["issuedAt"]) >= toIso(from) ||
          (typeof one["paidAt"] === "string" && one["paidAt"] >= toIso(from)) ||
          one["status"] === "open" ||
          one["status"] === "past_due",
      );
      const listed = rehearsed.invoices.filter(({ status }) => status !== "void");
      expect(listed.length).to.equal(since.filter(({ status }) => status !== "void").length);
    });
  }
});

/** Returns an entry without the ids of collection invoices, which differ. */
function withoutTwins({ changes, ...told }: Told): Told {
  const { twinId: _twin, ...kept } = changes;
  return { ...told, changes: kept };
}

/** Counts the network connections that this process opens during some work. */
async function countConnections<T>(work: () => Promise<T>) {
  const { prototype } = Socket;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, "connect");
  if (descriptor === undefined) throw new Error("sockets do not connect");
  let connections = 0;
  Object.defineProperty(prototype, "connect", {
    ...descriptor,
    value(this: Socket, ...given: unknown[]) {
      connections += 1;
      return Reflect.apply(descriptor.value as (...given: unknown[]) => Socket, this, given);
    },
  });
  try {
    return { result: await work(), connections };
  } finally {
    Object.defineProperty(prototype, "connect", descriptor);
  }
}
