import {
  getSandboxBill,
  payOnSandbox,
  playScenario,
} from "../../src/features/payments/sandbox/sandbox.ts";
import { webhookDeliveries, webhookEndpoints } from "../../src/features/webhooks/table.ts";
import { finalBlocks, openCounter, type Counter } from "../support/counter.ts";
import {
  type Json,
  type Merchant,
  type Person,
  type TestApp,
  colleague,
  keyOf,
  platformAdmin,
} from "../support/app.ts";
import type { Id } from "../../src/kernel/id.ts";
import { addInvoice } from "../features/billing/balances/balance-fixture.ts";
import { testContext, type TestStore } from "../support/store/stores.ts";
import { makeThings, settingsForThings } from "./things.ts";

/** A running program in which one merchant has one of everything, and the means to make more of it. */
export interface Estate {
  readonly app: TestApp;
  readonly counter: Counter;
  /** Of the platform; their `organizationId` is the platform organization's. */
  readonly admin: Person;
  /** A key of the platform organization with scope `platform`. */
  readonly platformKey: string;
  readonly owner: Merchant;
  /** The owner's objects, by the names of path parameters. */
  readonly things: Readonly<Record<string, string>>;
  /** The owner's wallet with one address. */
  readonly addressWalletId: string;
  /** Calls as the owner, below the owner's organization; gives the body of a 2xx answer. */
  readonly post: (path: string, body?: unknown) => Promise<Json>;
  /** A payment of the owner's that waits for a decision. */
  readonly reviewedPayment: () => Promise<string>;
  /** A payment of the owner's that counts. */
  readonly countedPayment: () => Promise<string>;
  /** The checkout of a paid and confirmed invoice of the owner's. */
  readonly paidCheckout: () => Promise<string>;
  /** Money that found no invoice. */
  readonly unmatchedTransfer: () => Promise<string>;
  /** The hash and the checkout of a confirmed payment that its invoice, which is canceled, does not need. */
  readonly refundablePayment: () => Promise<
    Readonly<Record<"paymentId" | "hash" | "checkoutId", string>>
  >;
  /** A requested refund of the owner's. */
  readonly refund: () => Promise<string>;
  /** A colleague of the owner's, with the id of their membership. */
  readonly member: () => Promise<Person & { readonly membershipId: string }>;
  /** A delivery that was given up. */
  readonly delivery: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

export async function openEstate(store: TestStore): Promise<Estate> {
  store.leavesUnsound({
    checks: ["billing.numbers", "subscriptions.period"],
    because: "the platform invoice and its subscription are written down by hand",
  });
  const counter = await openCounter(store, settingsForThings);
  try {
    return await furnish(counter);
  } catch (error) {
    await counter.stop();
    throw error;
  }
}

async function furnish(counter: Counter): Promise<Estate> {
  const { app } = counter;
  const admin = await platformAdmin(app);
  const platformKey = await keyOf(app, admin, "platform");
  const owner = await counter.merchant();
  const home = `/v1/organizations/${owner.organizationId}`;
  const things: Record<string, string> = { ...(await makeThings(app, owner)) };
  const address = await counter.wallet(owner);
  const [addressWallet] = await counter.list(owner, "/wallets");
  const addressWalletId = String(addressWallet?.["id"]);
  let odd = 13_370_000n;

  async function call(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await app.request(method, home + path, { token: owner.token, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.text}`);
    return answer.body;
  }
  async function paymentOf(invoice: Json): Promise<string> {
    const [payment] = await counter.list(owner, `/payments?invoiceId=${String(invoice["id"])}`);
    if (payment === undefined) throw new Error("the payment was not seen");
    return String(payment["id"]);
  }

  const paidInvoice = async (): Promise<Json> => {
    const invoice = await counter.issue(owner);
    const { invoiceId, remaining } = await getSandboxBill(app.app, invoice["id"] as Id<"invoice">);
    await payOnSandbox(app.app, testContext, invoiceId, remaining);
    await counter.mine();
    return invoice;
  };

  const estate: Estate = {
    app,
    counter,
    admin,
    platformKey,
    owner,
    things,
    addressWalletId,
    post: (path, body) => call("POST", path, body),
    async reviewedPayment() {
      await call("PATCH", "/payment-policy", { latePayments: "review" });
      const invoice = await counter.issue(owner);
      await playScenario(app.app, testContext, invoice["id"] as Id<"invoice">, "late");
      await counter.mine();
      return paymentOf(invoice);
    },
    countedPayment: async () => paymentOf(await paidInvoice()),
    async paidCheckout() {
      const invoice = await paidInvoice();
      // Until it has its confirmations.
      for (let block = 0; block < 3; block += 1) await counter.mine();
      return String(invoice["checkoutId"]);
    },
    async unmatchedTransfer() {
      // An address is watched while an invoice waits for money there.
      await counter.issue(owner, { amount: "14.00", walletId: addressWalletId });
      odd += 10_000n;
      await counter.pay(address, odd);
      await counter.mine();
      const [transfer] = await counter.list(owner, "/transfers?status=unmatched");
      return String(transfer?.["id"]);
    },
    async refundablePayment() {
      const invoice = await counter.issue(owner);
      const { invoiceId, remaining } = await getSandboxBill(
        app.app,
        invoice["id"] as Id<"invoice">,
      );
      await call("POST", `/invoices/${invoiceId}/cancel`);
      const { transactionHash: hash } = await payOnSandbox(
        app.app,
        testContext,
        invoiceId,
        remaining,
      );
      // A payment of a canceled invoice can be refunded once its block is final.
      app.clock.advance(1_100);
      await counter.mine(finalBlocks);
      const checkoutId = String(invoice["checkoutId"]);
      return { paymentId: await paymentOf(invoice), hash, checkoutId };
    },
    async refund() {
      const { paymentId } = await estate.refundablePayment();
      const refund = { paymentId, amount: "1.00", address: `0x${"be".repeat(20)}` };
      return String((await call("POST", "/refunds", refund))["id"]);
    },
    async member() {
      const person = await colleague(app, owner, "viewer");
      const members = await counter.list(owner, "/members?limit=100");
      const own = members.find((each) => each["userId"] === person.userId);
      return { ...person, membershipId: String(own?.["id"]) };
    },
    async delivery() {
      const at = app.clock.now();
      const id = app.app.ids.next("webhookDelivery", at);
      const endpointId = things["webhookEndpointId"] as Id<"webhookEndpoint">;
      await app.app.db.write(testContext, async (tx) => {
        const endpoint = await tx.lockOne(webhookEndpoints, "WHERE id = $1", [endpointId]);
        const sequence = (endpoint?.lastSequence ?? 0) + 1;
        const set = { lastSequence: sequence };
        await tx.update(webhookEndpoints, set, "WHERE id = $1", [endpointId]);
        await tx.insert(webhookDeliveries, {
          id,
          organizationId: owner.organizationId as Id<"organization">,
          endpointId,
          eventId: app.app.ids.next("event", at),
          eventType: "invoice.paid",
          status: "dead_letter",
          sequence,
          attempts: 12,
          earlyAttempts: 0,
          dueAt: null,
          lastAttemptAt: at,
          leaseToken: null,
          responseStatus: 500,
          lastError: "The receiver answered 500.",
          replayOf: null,
          createdAt: at,
          completedAt: at,
          body: "{}",
        });
      });
      return id;
    },
    stop: () => counter.stop(),
  };

  const invoice = await counter.issue(owner);
  things["checkoutId"] = String(invoice["checkoutId"]);
  things["queue"] = "webhooks";
  things["membershipId"] = (await estate.member()).membershipId;
  things["paymentId"] = await estate.countedPayment();
  things["transferId"] = await estate.unmatchedTransfer();
  things["refundId"] = await estate.refund();
  things["webhookDeliveryId"] = await estate.delivery();
  const [event] = await counter.app.app.db.all<{ id: string }>(
    "SELECT id FROM events WHERE organization_id = $1 LIMIT 1",
    [owner.organizationId],
  );
  things["eventId"] = String(event?.id);
  const owed = await addInvoice(app.app.db, owner.organizationId as Id<"organization">);
  things["platformInvoiceId"] = owed.id;
  return estate;
}
