// Limits of the changes that payers make without a credential, counted by checkout, by payment link and by organization.
import { expect } from "chai";
import {
  countAct,
  payerActs,
  payerLimits,
  prunePayerActs,
  type ActedOn,
} from "../../../src/features/checkout/payer-limits.ts";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import { Problem } from "../../../src/kernel/errors.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { startApp, type TestApp, type Json, type Merchant } from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";

const callers = 64;
const ids = createIds(systemRandom);

eachStore("the acts of payers", (store) => {
  let servers: readonly TestApp[];
  const at = Date.UTC(2031, 0, 1);
  before(async () => {
    const place = await store.place("migrated");
    const count = "url" in place ? 2 : 1;
    servers = [];
    for (let server = 0; server < count; server += 1) {
      servers = [...servers, await startApp({ place, background: false })];
    }
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  const newLink = () => ids.next("paymentLink", at);
  const newInvoice = (of: Partial<ActedOn> = {}): ActedOn => ({
    id: ids.next("invoice", at),
    organizationId: ids.next("organization", at),
    startedAtLink: null,
    ...of,
  });
  const dbOf = (caller: number): Database => {
    const server = servers[caller % servers.length];
    if (server === undefined) throw new Error("there is no server");
    return server.app.db;
  };

  /** Each invoice acts once, 64 callers at once, who are spread over the servers. Returns the number of accepted acts. */
  async function act(
    kind: "option" | "hash" | "refund",
    invoices: readonly ActedOn[],
    when = at,
  ): Promise<number> {
    let admitted = 0;
    for (let start = 0; start < invoices.length; start += callers) {
      const results = await Promise.allSettled(
        invoices
          .slice(start, start + callers)
          .map((invoice, caller) =>
            dbOf(caller).write(testContext, (tx) => countAct(tx, kind, invoice, when)),
          ),
      );
      for (const result of results) {
        if (result.status === "fulfilled") admitted += 1;
        else {
          const { reason } = result as { reason: unknown };
          expect(reason).to.be.instanceOf(Problem).with.property("code", "rate_limited");
          expect((reason as Problem).retryAfterSeconds).to.be.within(1, day / second);
        }
      }
    }
    return admitted;
  }

  for (const [kind, { perCheckout, perLink, perOrganization, ofItsOwn }] of Object.entries(
    payerLimits,
  )) {
    const of = kind as keyof typeof payerLimits;

    describe(kind, () =>
      it("of one checkout are exactly as many as its limit of a day, for 64 callers at once on all servers", async () => {
        const invoice = newInvoice();
        const many = Array.from({ length: perCheckout + callers }, () => invoice);
        expect(await act(of, many)).to.equal(perCheckout);
        expect(await act(of, [invoice], at + day - 1)).to.equal(0);
        expect(await act(of, [newInvoice(invoice)], at)).to.equal(0);
        expect(await act(of, [invoice], at + day)).to.equal(1);
      }),
    );

    describe(kind, () =>
      it("of all checkouts of a link are exactly as many as its limit of an hour, beyond the first ones of each", async () => {
        const shop = { organizationId: ids.next("organization", at), startedAtLink: newLink() };
        const checkouts = Array.from({ length: 40 }, () => newInvoice(shop));
        const rounds = Math.ceil(perLink / checkouts.length) + ofItsOwn + 1;
        const many = Array.from({ length: rounds }, () => checkouts).flat();
        expect(await act(of, many)).to.equal(perLink + checkouts.length * ofItsOwn);
        // Another payer's first acts, another link of the shop and the next hour have room.
        const others = [newInvoice(shop), newInvoice({ ...shop, startedAtLink: newLink() })];
        expect(await act(of, others)).to.equal(2);
        expect(await act(of, checkouts.slice(0, 1), at + hour)).to.equal(1);
      }),
    );

    describe(kind, () =>
      it("of all checkouts of an organization are exactly as many as its limit of an hour, however many links it has", async () => {
        const organizationId = ids.next("organization", at);
        const left = 10;
        // Acts of the hour that were counted before.
        await dbOf(0).write(testContext, (tx) =>
          tx.insert(payerActs, {
            subject: organizationId,
            act: of,
            startedAt: at,
            count: perOrganization - left,
          }),
        );
        const checkouts = Array.from({ length: 16 }, () =>
          newInvoice({ organizationId, startedAtLink: newLink() }),
        );
        const many = Array.from({ length: ofItsOwn + 1 }, () => checkouts).flat();
        expect(await act(of, many)).to.equal(checkouts.length * ofItsOwn + left);
        expect(await act(of, [newInvoice()])).to.equal(1);
      }),
    );
  }

  it("are counted from the start if the clock was set back since, and forgotten after a day", async () => {
    const db = dbOf(0);
    const invoice = newInvoice();
    const { perCheckout } = payerLimits.refund;
    await act(
      "refund",
      Array.from({ length: perCheckout }, () => invoice),
    );
    expect(await act("refund", [invoice], at - 2 * day)).to.equal(1);
    expect(await act("hash", [newInvoice()], at - day - 1)).to.equal(1);
    while (await prunePayerActs(db, at, testContext));
    const left = await db.find(payerActs, "ORDER BY started_at");
    expect(left.filter(({ startedAt }) => startedAt < at - day)).to.deep.equal([]);
    while (await prunePayerActs(db, at + 3 * day, testContext));
    expect(await countRows(db, "payer_acts")).to.equal(0);
  });
});

eachStore("a payer at a checkout", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  before(async () => {
    counter = await openCounter(store);
    merchant = await counter.merchant();
    await counter.wallet(merchant);
  });
  after(() => counter.stop());

  const issue = () =>
    counter.issue(merchant, {
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: ["USDT", "USDC"].map((tokenSymbol) => ({ network: "sandbox", tokenSymbol })),
    });
  const send = ({ checkoutId }: Json, path: string, body: unknown) =>
    counter.app.request("POST", `/v1/checkout/${String(checkoutId)}/${path}`, { body });
  const choose = (invoice: Json, turn: number) =>
    send(invoice, "option", {
      network: "sandbox",
      tokenSymbol: turn % 2 === 0 ? "USDC" : "USDT",
    });

  it("changes the option 20 times without a refusal, and gets 429 with Retry-After after 60 times in a day", async () => {
    const { perCheckout } = payerLimits.option;
    const invoice = await issue();
    for (let turn = 0; turn < perCheckout; turn += 1) {
      expect((await choose(invoice, turn)).status, String(turn)).to.equal(200);
    }
    const refused = await choose(invoice, perCheckout);
    expect(refused.status).to.equal(429);
    expect(refused.body["code"]).to.equal("rate_limited");
    expect(Number(refused.headers.get("Retry-After"))).to.be.within(1, day / second);
    // Choosing the option in force changes nothing.
    expect((await choose(invoice, perCheckout - 1)).status).to.equal(200);
    const form = await fetch(`${counter.app.url}/pay/${String(invoice["checkoutId"])}/option`, {
      method: "POST",
      body: new URLSearchParams({ option: "sandbox/USDC" }),
      redirect: "manual",
    });
    // The payer comes back to the payment, which works, and reads that the choice was refused.
    expect(form.status).to.equal(303);
    expect(form.headers.get("Location")).to.match(/option=refused/);
    const other = await issue();
    expect((await choose(other, 0)).status).to.equal(200);
  });

  it("submits 30 transactions in a day, and a repeated one is neither counted nor stored", async () => {
    const { perCheckout } = payerLimits.hash;
    const invoice = await counter.issue(merchant, { expiresInSeconds: 86_400 });
    const submit = (place: number) =>
      send(invoice, "transactions", { transactionHash: String(place + 1).padStart(64, "0") });
    for (let place = 0; place < perCheckout; place += 1) {
      expect((await submit(place)).status).to.equal(202);
      expect((await submit(place)).status).to.equal(202);
      // Claims that no provider knows make room for newer ones once they were looked up.
      counter.app.clock.advance(minute);
      await counter.examine();
    }
    expect((await submit(perCheckout)).status).to.equal(429);
    const of = [String(invoice["id"])];
    const claims = await countRows(
      counter.app.app.db,
      "payment_claims",
      "WHERE invoice_id = $1",
      of,
    );
    expect(claims).to.equal(perCheckout);
  });
});
