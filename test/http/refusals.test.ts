// Problems that operations declare, provoked over HTTP where the tests of the features do so within the program alone.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { payOnSandbox, playScenario } from "../../src/features/payments/sandbox/sandbox.ts";
import { createPasswordReset, passwordsOf } from "../../src/features/auth/passwords.ts";
import { addressGroups } from "../../src/http/client-address.ts";
import type { Id } from "../../src/kernel/id.ts";
import { plansFile } from "../features/billing/billing-fleet.ts";
import { openCounter, type Counter } from "../support/counter.ts";
import {
  type Merchant,
  expectStatus,
  password,
  register,
  type Answer,
  type Person,
  colleague,
  platformAdmin,
} from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { eachStore, takeTurns, testContext } from "../support/store/stores.ts";
import { until } from "../support/until.ts";

type Body = Readonly<Record<string, unknown>>;

/** The band of a hundredth of a dollar has 101 amounts. */
const amountsOfACent = 101;
/** Two passwords are hashed at once, and 96 wait. */
const hashesAtOnce = 150;

const ask = (
  { app }: Counter,
  of: Person,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> =>
  app.request(method, `/v1/organizations/${of.organizationId}${path}`, { token: of.token, body });

async function made(counter: Counter, of: Person, path: string, body: unknown): Promise<Body> {
  return (await expectStatus(ask(counter, of, "POST", path, body), 201)).body;
}

async function refused(asked: Promise<Answer>, status: number, code: string): Promise<void> {
  const { status: given, body, text } = await asked;
  expect([given, body["code"]], text).to.deep.equal([status, code]);
}

const severalNetworks = { TILL_NETWORKS: "sandbox,ethereum", TILL_SANDBOX_MIXED: "1" } as const;

eachStore("a refusal", (store) => {
  const it = takeTurns(store);
  let counter: Counter;
  let merchant: Merchant;

  before(async () => {
    counter = await openCounter(store, severalNetworks);
    merchant = await counter.merchant();
    await counter.wallet(merchant);
  });
  after(() => counter.stop());

  const priced = { amount: "25.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
  const invoice = { ...priced, network: "sandbox" };

  /** Asks for an invoice at once, and for a draft that is then to be issued as asked. */
  async function refusedBoth(
    of: Person,
    body: Body,
    status: number,
    code: string,
    /** Values that a draft must not have either are put into a valid draft. */
    when: "drafted" | "issued",
  ): Promise<void> {
    await refused(ask(counter, of, "POST", "/invoices", { ...invoice, ...body }), status, code);
    const draft = { ...invoice, ...(when === "issued" ? body : {}), draft: true };
    const { id } = await made(counter, of, "/invoices", draft);
    const change = when === "issued" ? { status: "open" } : body;
    await refused(ask(counter, of, "PATCH", `/invoices/${String(id)}`, change), status, code);
  }

  it("of an invoice names the terms that are not offered", async () => {
    for (const [body, code] of [
      [{ network: "tron" }, "network_not_enabled"],
      [{ tokenSymbol: "DOGE" }, "token_not_enabled"],
      [{ settlementCurrency: "ZZZ" }, "unsupported_currency"],
      [{ settlementCurrency: "EUR" }, "unsupported_currency"],
      [{ amount: "1000000000000.01" }, "amount_too_large"],
    ] as const) {
      await refusedBoth(merchant, body, 422, code, "drafted");
    }
    await refusedBoth(
      merchant,
      { amount: "0.000001", settlementCurrency: "USDT" },
      422,
      "amount_too_small",
      "issued",
    );
  });

  it("of an invoice says why it cannot be issued now", async () => {
    await refusedBoth(await counter.merchant(), {}, 422, "no_wallet", "issued");
    const eager = await register(counter.app);
    await made(counter, eager, "/wallets", {
      label: "Till",
      network: "sandbox",
      address: `0x${"5".repeat(40)}`,
    });
    await refusedBoth(eager, {}, 403, "organization_not_verified", "issued");
    await made(counter, merchant, "/wallets", {
      label: "Till",
      network: "ethereum",
      address: `0x${"4".repeat(40)}`,
    });
    await refusedBoth(merchant, { network: "ethereum" }, 503, "network_not_ready", "issued");
  });

  it("of an invoice says that no default wallet is in force, and of a default that the wallet cannot be it", async () => {
    const shop = await counter.merchant();
    await counter.wallet(shop);
    const [wallet] = await counter.list(shop, "/wallets");
    const id = String(wallet?.["id"]);
    await expectStatus(ask(counter, shop, "POST", `/wallets/${id}/archive`), 200);
    await refusedBoth(shop, {}, 409, "no_default_wallet", "issued");
    const path = "/default-wallets/sandbox";
    await refused(
      ask(counter, shop, "PUT", path, { walletId: id }),
      422,
      "default_wallet_unusable",
    );
  });

  it("prevents more invoices than a wallet can distinguish", async () => {
    const busy = await counter.merchant();
    await counter.wallet(busy);
    for (let count = 0; count < amountsOfACent; count += 1) {
      await counter.issue(busy, { amount: "0.01" });
    }
    await refusedBoth(busy, { amount: "0.01" }, 409, "wallet_capacity_exhausted", "issued");
  });

  it("of a change names the invoice's status", async () => {
    const { id } = await made(counter, merchant, "/invoices", {
      ...invoice,
      externalId: "order 1",
    });
    const other = { ...invoice, amount: "26.00", externalId: "order 1" };
    await refusedBoth(merchant, other, 409, "external_id_conflict", "drafted");
    const path = `/invoices/${String(id)}`;
    const change = { description: "Another" };
    await refused(ask(counter, merchant, "PATCH", path, change), 409, "invoice_not_editable");
    await expectStatus(ask(counter, merchant, "POST", `${path}/cancel`), 200);
    await refused(ask(counter, merchant, "POST", `${path}/cancel`), 409, "invoice_not_cancelable");
  });

  it("of a wallet protects addresses that cannot receive payments", async () => {
    const wallet = { label: "Till", network: "sandbox" };
    const address = `0x${"3".repeat(40)}`;
    const create = (body: Body) =>
      ask(counter, merchant, "POST", "/wallets", { ...wallet, ...body });
    await refused(create({ network: "tron", address }), 422, "network_not_enabled");
    await refused(create({ address: `0x${"0".repeat(40)}` }), 422, "wallet_address_refused");
    await expectStatus(create({ address }), 201);
    await refused(create({ address }), 409, "wallet_address_unavailable");
  });

  it("of a wallet names the limit of an organization that nobody approved", async () => {
    const { organizationId, token } = await register(counter.app);
    const create = (digit: string) =>
      counter.app.request("POST", `/v1/organizations/${organizationId}/wallets`, {
        token,
        body: { label: "Till", network: "sandbox", address: `0x${digit.repeat(40)}` },
      });
    await expectStatus(create("b"), 201);
    await expectStatus(create("c"), 201);
    await refused(create("d"), 409, "wallet_limit");
  });

  it("of a decision says that the payment is already decided", async () => {
    await expectStatus(
      ask(counter, merchant, "PATCH", "/payment-policy", { latePayments: "review" }),
      200,
    );
    const late = await counter.issue(merchant);
    await playScenario(counter.app.app, testContext, late["id"] as Id<"invoice">, "late");
    await counter.mine();
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(late["id"])}`);
    const path = `/payments/${String(payment?.["id"])}`;
    await expectStatus(ask(counter, merchant, "POST", `${path}/reject`), 200);
    await refused(ask(counter, merchant, "POST", `${path}/reject`), 409, "payment_not_in_review");
  });

  it("of an invitation says that the user is already a member", async () => {
    const { token } = await made(counter, merchant, "/invitations", {
      email: "guest@example.com",
      role: "viewer",
    });
    const guest = await colleague(counter.app, merchant, "viewer");
    await counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE users SET email = 'guest@example.com' WHERE id = $1", [guest.userId]),
    );
    const accepted = counter.app.request("POST", "/v1/auth/invitations/accept", {
      token: guest.token,
      body: { invitationToken: token },
    });
    await refused(accepted, 409, "already_member");
  });

  it("of a password says that too many are being hashed", async () => {
    const { app } = counter;
    const post = (path: string, body: unknown) => app.request("POST", `/v1/auth/${path}`, { body });
    const person = await register(app);
    const email = (name: string) => `late-${name}@example.com`;
    const newPassword = "another password of the tests 8";
    const reset = () => createPasswordReset(app.app, testContext, { email: person.email });
    const asked: readonly ((name: string) => Promise<Answer>)[] = [
      (name) => post("login", { email: email(name), password }),
      (name) =>
        post("register", { email: email(name), password, name: "Late", organizationName: "Late" }),
      // Without the load, the password is found to be wrong.
      () =>
        app.request("POST", "/v1/auth/password", {
          token: person.token,
          body: { currentPassword: newPassword, newPassword },
        }),
      async () => post("password/reset", { resetToken: (await reset()).token, newPassword }),
    ];
    let isFull = true;
    let tries = 0;
    const line = Array.from({ length: hashesAtOnce }, async (_, place) => {
      while (isFull) {
        await passwordsOf(app.app)
          .verify(password, null, {
            account: email(`line-${String(place)}`),
            clients: addressGroups("127.0.0.1"),
          })
          .catch(() => false);
        await nextTurn();
      }
    });
    try {
      for (const [place, ask] of asked.entries()) {
        // If a request has just completed, one of these may be the next to be processed.
        const answer = await until(
          "a refusal because too many are asked for",
          () => ask(`${String(place)}-${String((tries += 1))}`),
          ({ status }) => status === 503,
        );
        await refused(Promise.resolve(answer), 503, "busy");
      }
    } finally {
      isFull = false;
      await Promise.all(line);
    }
  });
});

eachStore("a refusal in billing", (store) => {
  const it = takeTurns(store);
  let counter: Counter;
  let merchant: Merchant;

  before(async () => {
    counter = await openCounter(store, {
      ...severalNetworks,
      TILL_BILLING: "on",
      TILL_PLANS_FILE: plansFile({
        free: { price: "0.00" },
        growth: { price: "49.00", trialDays: 14 },
        scale: { price: "199.00", trialDays: 14 },
        abroad: { price: "49.00", currency: "EUR" },
        one: { price: "0.00", includedInvoices: 1 },
      }),
    });
    merchant = await counter.merchant();
  });
  after(() => counter.stop());

  it("of a change names an invoice that billing manages", async () => {
    const { app } = counter;
    const admin = await platformAdmin(app);
    const bill = (of: Person, noun: string, body: Body) =>
      app.request("POST", `/v1/admin/organizations/${of.organizationId}/${noun}`, {
        token: admin.token,
        body,
      });
    const select = (of: Person, plan: string) =>
      ask(counter, of, "POST", "/billing/subscription/select", { plan });
    const change = (of: Person, plan: string) =>
      ask(counter, of, "PATCH", "/billing/subscription", { plan });
    const receiveAt = (walletId: unknown, tokenSymbol = "USDT") =>
      app.request("PUT", "/v1/admin/billing/receive-wallet", {
        token: admin.token,
        body: { walletId, tokenSymbol },
      });
    const walletOn = (network: string, digit: string) =>
      made(counter, admin, "/wallets", {
        label: "Platform",
        network,
        address: `0x${digit.repeat(40)}`,
      });

    await refused(ask(counter, merchant, "GET", "/billing/subscription"), 404, "no_subscription");
    await expectStatus(select(merchant, "free"), 200);
    await refused(change(merchant, "growth"), 409, "no_receive_wallet");
    await refused(change(merchant, "abroad"), 422, "plan_currency_differs");

    const own = await made(counter, admin, "/wallets", {
      label: "Platform",
      network: "sandbox",
      xpub: xpubs.first,
    });
    const shared = await walletOn("sandbox", "8");
    const elsewhere = await walletOn("ethereum", "8");
    await refused(receiveAt(own["id"], "DOGE"), 422, "receive_wallet_unusable");
    await expectStatus(receiveAt(own["id"]), 200);
    const other = await counter.merchant();
    await expectStatus(select(other, "growth"), 200);

    const [twin] = await app.app.db.all<{ id: Id<"invoice"> }>(
      "SELECT id FROM invoices WHERE managed_by = 'billing'",
    );
    const twinId = twin?.id as Id<"invoice">;
    const path = `/invoices/${twinId}`;
    const managed = [409, "managed_by_billing"] as const;
    await refused(ask(counter, admin, "PATCH", path, { description: "Free" }), ...managed);
    await refused(ask(counter, admin, "POST", `${path}/cancel`), ...managed);
    await payOnSandbox(app.app, testContext, twinId, 1_000_000n);
    await counter.mine();
    const [payment] = await app.app.db.all<{ id: string }>(
      "SELECT id FROM payments WHERE invoice_id = $1",
      [twinId],
    );
    await refused(
      ask(counter, admin, "POST", `/payments/${payment?.id ?? ""}/reverse`),
      ...managed,
    );
    const refund = { paymentId: payment?.id, amount: "1.00", address: `0x${"be".repeat(20)}` };
    await refused(ask(counter, admin, "POST", "/refunds", refund), ...managed);
    // Scans read the addresses of open invoices.
    await made(counter, admin, "/invoices", {
      amount: "7.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
      walletId: shared["id"],
    });
    const found = await counter.pay("8".repeat(40), 3_330_000n);
    await counter.mine();
    const [transfer] = await app.app.db.all<{ id: string }>(
      "SELECT id FROM transfers WHERE transaction_hash = $1",
      [found],
    );
    const allocations = [{ invoiceId: twinId, amount: "1.00" }];
    await refused(
      ask(counter, admin, "POST", `/transfers/${transfer?.id ?? ""}/allocate`, {
        allocations,
      }),
      ...managed,
    );

    const trying = await counter.merchant();
    await expectStatus(select(trying, "growth"), 200);
    await expectStatus(receiveAt(elsewhere["id"]), 200);
    await refused(change(trying, "scale"), 503, "network_not_ready");
    await refused(select(await counter.merchant(), "growth"), 503, "network_not_ready");

    const fixed = { kind: "fixed", value: "5", currency: "USD", reason: "Partner" };
    const extra = { amount: "5.00", currency: "USD", description: "Setup" };
    const much = "10000000000000";
    for (const [noun, body, code] of [
      ["discounts", { ...fixed, currency: "JPY" }, "currency_not_billed"],
      ["discounts", { ...fixed, value: much }, "billing_amount_too_large"],
      ["adjustments", { ...extra, currency: "ZZZ" }, "currency_not_billed"],
      ["adjustments", { ...extra, amount: much }, "billing_amount_too_large"],
    ] as const) {
      await refused(bill(await counter.merchant(), noun, body), 422, code);
    }
  });

  it("of an invoice names the missing plan", async () => {
    const shop = await counter.merchant();
    await counter.wallet(shop);
    const invoice = { amount: "25.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
    const draft = { ...invoice, network: "sandbox", draft: true };
    const { id } = await made(counter, shop, "/invoices", draft);
    const issue = () => ask(counter, shop, "PATCH", `/invoices/${String(id)}`, { status: "open" });
    const create = () => ask(counter, shop, "POST", "/invoices", { ...draft, draft: false });
    const refusedBoth = async (code: string) => {
      for (const asked of [create, issue]) await refused(asked(), 403, code);
    };
    await refusedBoth("subscription_required");
    await expectStatus(
      ask(counter, shop, "POST", "/billing/subscription/select", { plan: "one" }),
      200,
    );
    await expectStatus(create(), 201);
    await refusedBoth("plan_limit_reached");
    await counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE subscriptions SET status = 'suspended' WHERE organization_id = $1", [
        shop.organizationId,
      ]),
    );
    await refusedBoth("subscription_suspended");
    await counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE subscriptions SET status = 'active' WHERE organization_id = $1", [
        shop.organizationId,
      ]),
    );
  });
});
