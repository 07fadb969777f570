// A valid call of every operation. Without a setup of its own, it reads one of the estate's objects.
import { checkoutPageToken } from "../../src/features/checkout/checkouts.ts";
import { createPasswordReset } from "../../src/features/auth/passwords.ts";
import type { Operation } from "../../src/http/declare/operation.ts";
import { fanOutEvents } from "../../src/features/webhooks/delivery/fan-out.ts";
import { watchCapacity } from "../../src/features/invoices/capacity/watch.ts";
import { createRelay, type Subscriber } from "../../src/platform/events/outbox.ts";
import {
  expectStatus,
  keyOf,
  legalFields,
  password,
  register,
  type Answer,
  type Person,
} from "../support/app.ts";
import type { Estate } from "./estate.ts";
import { parametersOf, pathOf } from "./declare/operations.ts";

/** A call that its rightful caller is answered 2xx for. */
export interface Example {
  /** Instead of the estate's things. */
  readonly ids?: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query?: string;
  readonly body?: unknown;
  /** Instead of the owner, or of the platform's admin below /admin. */
  readonly caller?: Person;
}

type Making = (estate: Estate) => Example | Promise<Example>;

let made = 0;
const fresh = (prefix: string) => `${prefix}${String((made += 1))}`;
const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
const freshAddress = () => `0x${(0xfedcba0000 + (made += 1)).toString(16).padStart(40, "5")}`;
const idIn = (body: Readonly<Record<string, unknown>>) => String(body["id"]);

async function applicant({ app }: Estate) {
  const person = await register(app, "Applicant");
  const { token, organizationId } = person;
  await app.request("PATCH", `/v1/organizations/${organizationId}`, { token, body: legalFields });
  return person;
}

async function invitee({ app, post }: Estate) {
  const person = await register(app, "Invitee");
  const offer = await post("/invitations", { email: person.email, role: "viewer" });
  return { person, invitationToken: String(offer["token"]) };
}

async function session({ app }: Estate): Promise<Answer> {
  const { email } = await register(app, "Visitor");
  return app.request("POST", "/v1/auth/login", { body: { email, password } });
}

const customer: Making = () => ({ body: { name: "Bob Miller", email: "bob@example.com" } });
const endpoint = async ({ post }: Estate) =>
  idIn(await post("/webhook-endpoints", { url: "http://127.0.0.1:9/" }));
const newPassword = "another long password of the tests 8";

const examples: Readonly<Record<string, Making>> = {
  updateMember: async ({ member }) => ({
    ids: { membershipId: (await member()).membershipId },
    body: { role: "member" },
  }),
  removeMember: async ({ member }) => ({ ids: { membershipId: (await member()).membershipId } }),
  createInvitation: () => ({ body: { email: `${fresh("new")}@example.com`, role: "viewer" } }),
  revokeInvitation: () => ({}),
  acceptInvitation: async (estate) => {
    const { person, invitationToken } = await invitee(estate);
    return { body: { invitationToken }, caller: person };
  },
  createOrganization: () => ({ body: { name: "Ada's second shop" } }),
  updateOrganization: () => ({ body: { displayName: "Ada's books" } }),
  submitOrganizationKyb: async (estate) => {
    const caller = await applicant(estate);
    return { ids: { organizationId: caller.organizationId }, caller };
  },
  updatePaymentPolicy: () => ({ body: { latePayments: "review" } }),
  register: () => ({
    body: {
      email: `${fresh("fresh")}@example.com`,
      password,
      name: "Ada Lovelace",
      organizationName: "Ada's books",
    },
  }),
  login: ({ owner }) => ({ body: { email: owner.email, password } }),
  refreshSession: async (estate) => {
    const { refreshToken } = (await session(estate)).body;
    return { body: { refreshToken } };
  },
  logout: async (estate) => {
    const { refreshToken } = (await session(estate)).body;
    return { body: { refreshToken } };
  },
  changePassword: async ({ app }) => {
    const caller = await register(app, "Forgetful");
    return { body: { currentPassword: password, newPassword }, caller };
  },
  resetPassword: async ({ app }) => {
    const { email } = await register(app, "Forgetful");
    const { token } = await createPasswordReset(app.app, operator, { email });
    return { body: { resetToken: token, newPassword } };
  },
  listEvents: async ({ app: { app } }) => {
    const { db, leases } = app;
    const subscribers: Subscriber[] = [
      (tx, relayed) => watchCapacity(tx, app, relayed),
      (tx, relayed) => fanOutEvents(tx, app, relayed),
    ];
    const relay = createRelay({ db, leases, subscribers, context: operator });
    while (await relay.run(new AbortController().signal));
    return { query: "?types=invoice.created,payment.detected&limit=2" };
  },
  createApiKey: () => ({ body: { name: "Shop server", scopes: ["shop"] } }),
  revokeApiKey: () => ({}),
  createCustomer: customer,
  updateCustomer: customer,
  createWallet: () => ({ body: { label: "Till", network: "sandbox", address: freshAddress() } }),
  archiveWallet: async ({ post }) => {
    const body = { label: "Old", network: "sandbox", address: freshAddress() };
    return { ids: { walletId: idIn(await post("/wallets", body)) } };
  },
  setDefaultWallet: ({ addressWalletId, things }) => ({
    body: {
      walletId: things["walletId"],
      reserveWalletIds: [addressWalletId],
    },
  }),
  createPaymentLink: () => ({ body: priced }),
  disablePaymentLink: () => ({}),
  createWebhookEndpoint: () => ({ body: { url: "http://127.0.0.1:9/new" } }),
  updateWebhookEndpoint: () => ({ body: { description: "Books" } }),
  disableWebhookEndpoint: async (estate) => ({
    ids: { webhookEndpointId: await endpoint(estate) },
  }),
  rotateWebhookSecret: () => ({ body: {} }),
  testWebhookEndpoint: () => ({}),
  replayWebhookDelivery: async ({ delivery }) => ({ ids: { webhookDeliveryId: await delivery() } }),
  createInvoice: () => ({
    body: {
      amount: "25.00",
      ...priced,
      externalId: fresh("order-"),
      description: "Two books",
      metadata: { cart: "c-17" },
    },
  }),
  createInvoiceBatch: () => ({
    body: { invoices: [{ amount: "25.00", ...priced, externalId: fresh("order-") }] },
  }),
  listInvoices: () => ({ query: "?status=open,paid&limit=2" }),
  updateInvoice: () => ({ body: { description: "Three books" } }),
  cancelInvoice: async ({ counter, owner }) => ({
    ids: { invoiceId: idIn(await counter.issue(owner)) },
  }),
  acceptPayment: async ({ reviewedPayment }) => ({ ids: { paymentId: await reviewedPayment() } }),
  rejectPayment: async ({ reviewedPayment }) => ({ ids: { paymentId: await reviewedPayment() } }),
  reversePayment: async ({ countedPayment }) => ({
    ids: { paymentId: await countedPayment() },
    body: { cancel: true },
  }),
  allocateTransfer: async ({ counter, owner, unmatchedTransfer }) => {
    const invoiceId = idIn(await counter.issue(owner, { amount: "5.00" }));
    return {
      ids: { transferId: await unmatchedTransfer() },
      body: { allocations: [{ invoiceId, amount: "5.00" }] },
    };
  },
  ignoreTransfer: async ({ unmatchedTransfer }) => ({
    ids: { transferId: await unmatchedTransfer() },
  }),
  unignoreTransfer: async ({ unmatchedTransfer, post }) => {
    const transferId = await unmatchedTransfer();
    await post(`/transfers/${transferId}/ignore`);
    return { ids: { transferId } };
  },
  createRefund: async ({ refundablePayment }) => {
    const { paymentId } = await refundablePayment();
    return { body: { paymentId, amount: "1.00", address: freshAddress() } };
  },
  sendRefund: async ({ refund }) => ({
    ids: { refundId: await refund() },
    body: { transactionHash: `0x${fresh("").padStart(64, "e")}` },
  }),
  rejectRefund: async ({ refund }) => ({
    ids: { refundId: await refund() },
    body: { reason: "Refunded by card" },
  }),
  chooseCheckoutOption: () => ({ body: { network: "sandbox", tokenSymbol: "USDT" } }),
  requestCheckoutRefund: async ({ app, refundablePayment }) => {
    const { checkoutId, hash } = await refundablePayment();
    const pageToken = checkoutPageToken(app.app, checkoutId);
    return {
      ids: { checkoutId },
      body: { transactionHash: hash, address: freshAddress(), pageToken },
    };
  },
  getCheckoutReceipt: async ({ paidCheckout }) => ({ ids: { checkoutId: await paidCheckout() } }),
  submitCheckoutTransaction: () => ({ body: { transactionHash: `0x${"ab".repeat(32)}` } }),
  selectPlan: async ({ counter }) => {
    const caller = await counter.merchant();
    const { organizationId } = caller;
    return { ids: { organizationId }, body: { plan: "starter" }, caller };
  },
  changePlan: async ({ app, counter }) => {
    const caller = await counter.merchant();
    const { organizationId, token } = caller;
    const body = { plan: "starter" };
    const path = `/v1/organizations/${organizationId}/billing/subscription/select`;
    await expectStatus(app.request("POST", path, { token, body }), 200);
    return { ids: { organizationId }, body, caller };
  },
  adminApplyCredit: () => ({
    body: { amount: "5.00", currency: "USD", reason: "The outage of January 12" },
  }),
  adminApplyDiscount: () => ({ body: { kind: "percent", value: "10", reason: "Early customer" } }),
  adminCreateManualAdjustment: () => ({
    body: { amount: "-4.10", currency: "USD", description: "Agreed correction" },
  }),
  adminSetReceiveWallet: async ({ app, admin }) => {
    const made = await app.request("POST", `${admin.path}/wallets`, {
      token: admin.token,
      body: { label: "Platform", network: "sandbox", address: freshAddress() },
    });
    return { body: { walletId: idIn(made.body), tokenSymbol: "USDT" } };
  },
  adminUpdateOrganizationVerification: async (estate) => {
    const { organizationId, token } = await applicant(estate);
    const path = `/v1/organizations/${organizationId}/kyb/submit`;
    await estate.app.request("POST", path, { token });
    return { ids: { organizationId }, body: { decision: "approve" } };
  },
};

const operator = {
  actor: { type: "operator", id: null, label: "tests@localhost" },
  requestId: null,
  ip: null,
} as const;

/** The names in the table, to find removed operations. */
export const exampleNames: readonly string[] = Object.keys(examples);

/** Creates the data for a valid call of the operation. Throws for an operation without an example, and says where to add it. */
export async function exampleOf(operation: Operation, estate: Estate): Promise<Example> {
  const making = examples[operation.id];
  if (making === undefined && operation.method !== "GET") {
    throw new Error(
      `add a valid call of ${operation.id} to test/http/examples.ts, then run npm run docs:examples`,
    );
  }
  const example = (await making?.(estate)) ?? {};
  for (const name of parametersOf(operation)) {
    if ((example.ids?.[name] ?? estate.things[name]) === undefined) {
      throw new Error(`make a thing with a ${name} in test/http/estate.ts, for ${operation.id}`);
    }
  }
  return example;
}

/** The path of an example, with its own things and for the rest the estate's. */
export function examplePath(operation: Operation, estate: Estate, { ids }: Example): string {
  return pathOf(operation, { ...estate.things, ...ids });
}

/** Calls an operation as an example says; `changes` replace parts of it. */
export function callExample(
  operation: Operation,
  estate: Estate,
  example: Example,
  changes: {
    readonly path?: string;
    readonly query?: string;
    readonly body?: unknown;
    readonly credential?: { readonly key?: string; readonly token?: string };
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Answer> {
  const { path = examplePath(operation, estate, example), headers = {} } = changes;
  return estate.app.request(operation.method, path + (changes.query ?? example.query ?? ""), {
    ...(changes.credential ?? rightfulCaller(operation, estate, example)),
    body: "body" in changes ? changes.body : example.body,
    headers,
  });
}

function rightfulCaller(operation: Operation, estate: Estate, { caller }: Example) {
  if (operation.access.kind === "public") return {};
  const { token } = caller ?? (operation.access.kind === "platform" ? estate.admin : estate.owner);
  return { token };
}

/** A key by which the rightful caller of an example can make the same call. */
export async function rightfulKey(
  operation: Operation,
  estate: Estate,
  { caller }: Example,
): Promise<string> {
  if (operation.access.kind === "platform") return estate.platformKey;
  return keyOf(estate.app, caller ?? estate.owner, "read", "write", "billing");
}
