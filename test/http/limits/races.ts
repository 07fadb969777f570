// Limits that 64 callers meet at once. Limits that need other settings are met in the tests of their features;
// docs/design/attacks.md lists them all.
import { expect } from "chai";
import { checkoutPageToken } from "../../../src/features/checkout/checkouts.ts";
import { createPasswordReset } from "../../../src/features/auth/passwords.ts";
import { webhookEndpoints } from "../../../src/features/webhooks/table.ts";
import type { Id } from "../../../src/kernel/id.ts";
import {
  colleague,
  expectStatus,
  legalFields,
  password,
  register,
  type Answer,
} from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Estate } from "../estate.ts";

/** The number of simultaneous callers. */
export const callers = 64;

export interface Race {
  /** The call of each caller, who are numbered from 0. */
  readonly call: (caller: number) => Promise<Answer>;
  /** The number of successful calls; absent if repeated calls succeed, so that `verify` counts the effects. */
  readonly admitted?: number;
  /** The codes of the refusals; none if every call succeeds. */
  readonly refusals: readonly string[];
  /** Verifies the state after the race. */
  readonly verify?: (answers: readonly Answer[]) => void | Promise<void>;
}

interface Credential {
  readonly token?: string;
  readonly key?: string;
}

let made = 0;
const fresh = (prefix: string) => `${prefix}${String((made += 1))}`;
const freshAddress = () => `0x${(0xabad1dea0000 + (made += 1)).toString(16).padStart(40, "6")}`;
const homeOf = ({ organizationId }: { readonly organizationId: string }) =>
  `/v1/organizations/${organizationId}`;
const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };

function post({ app }: Estate, path: string, body: unknown, { token, key }: Credential = {}) {
  // Owners have both.
  const credential = token === undefined ? (key === undefined ? {} : { key }) : { token };
  return app.request("POST", path, { body, ...credential });
}

/** The limits by the words that complete "is never passed: ". */
export const races: Readonly<Record<string, (estate: Estate) => Race | Promise<Race>>> = {
  "one account for each e-mail address"(estate) {
    const email = `${fresh("one")}@example.com`;
    const body = { email, password, name: "Ada", organizationName: "Ada's shop" };
    return {
      call: () => post(estate, "/v1/auth/register", body),
      admitted: 1,
      refusals: ["email_unavailable"],
      verify: async () => {
        expect(await countRows(estate.app.app.db, "users", "WHERE email = $1", [email])).to.equal(
          1,
        );
      },
    };
  },

  async "one use of an invitation"(estate) {
    const bob = await register(estate.app, "Bob");
    const offer = await estate.post("/invitations", { email: bob.email, role: "viewer" });
    const body = { invitationToken: offer["token"] };
    return {
      call: () => post(estate, "/v1/auth/invitations/accept", body, bob),
      admitted: 1,
      refusals: ["invalid_invitation"],
    };
  },

  "one pending invitation for each e-mail address"(estate) {
    const email = `${fresh("guest")}@example.com`;
    const path = `${homeOf(estate.owner)}/invitations`;
    // A key has no membership that its invitations could wait for.
    const { key } = estate.owner;
    return {
      call: () => post(estate, path, { email, role: "viewer" }, { key }),
      admitted: callers,
      refusals: [],
      verify: async () => {
        const pending = "WHERE email = $1 AND accepted_at IS NULL AND revoked_at IS NULL";
        expect(await countRows(estate.app.app.db, "invitations", pending, [email])).to.equal(1);
      },
    };
  },

  async "the last owner of an organization"(estate) {
    const { app } = estate;
    const founder = await register(app);
    const others = [1, 2, 3].map(() => colleague(app, founder, "owner"));
    const owners = [founder, ...(await Promise.all(others))];
    const path = `${homeOf(founder)}/members`;
    const members = await app.request("GET", path, { token: founder.token });
    const ids = (members.body["data"] as { readonly id: string; readonly userId: string }[]).map(
      ({ id, userId }) => [userId, id] as const,
    );
    const membershipOf = new Map(ids);
    return {
      call: (caller) => {
        const { token = "" } = owners[caller % owners.length] ?? {};
        const target = owners[(caller + 1 + Math.floor(caller / owners.length)) % owners.length];
        const membership = `${path}/${membershipOf.get(target?.userId ?? "") ?? ""}`;
        return caller % 3 === 0
          ? post(estate, `${membership}/remove`, undefined, { token })
          : app.request("PATCH", membership, { token, body: { role: "viewer" } });
      },
      refusals: ["last_owner", "forbidden", "not_found"],
      verify: async () => {
        const where = "WHERE organization_id = $1 AND role = 'owner'";
        const left = await countRows(app.app.db, "memberships", where, [founder.organizationId]);
        expect(left).to.equal(1);
      },
    };
  },

  async "one use of a password reset"(estate) {
    const { email } = await register(estate.app, "Forgetful");
    const { token } = await createPasswordReset(estate.app.app, testContext, { email });
    return {
      call: (caller) =>
        post(estate, "/v1/auth/password/reset", {
          resetToken: token,
          newPassword: `a password of racer ${String(caller)}`,
        }),
      admitted: 1,
      refusals: ["invalid_reset_token"],
    };
  },

  async "one change of a password that both callers know"(estate) {
    const person = await register(estate.app, "Two browsers");
    return {
      call: (caller) =>
        post(
          estate,
          "/v1/auth/password",
          { currentPassword: password, newPassword: `a password of racer ${String(caller)}` },
          { token: person.token },
        ),
      admitted: 1,
      refusals: ["wrong_password", "login_locked", "unauthenticated"],
    };
  },

  async "one successor of a refresh token"(estate) {
    const { email } = await register(estate.app, "Many tabs");
    const session = await expectStatus(post(estate, "/v1/auth/login", { email, password }), 200);
    const { refreshToken } = session.body;
    return {
      call: () => post(estate, "/v1/auth/refresh", { refreshToken }),
      admitted: callers,
      refusals: [],
      verify: (answers) => {
        const successors = new Set(answers.map(({ body }) => body["refreshToken"]));
        expect(successors).to.have.property("size", 1);
      },
    };
  },

  async "one organization for each active address"(estate) {
    const other = await estate.counter.merchant();
    const body = { label: "Till", network: "sandbox", address: freshAddress() };
    return {
      call: (caller) => {
        const merchant = caller % 2 === 0 ? estate.owner : other;
        return post(estate, `${homeOf(merchant)}/wallets`, body, { key: merchant.key });
      },
      admitted: 1,
      refusals: ["wallet_address_unavailable"],
    };
  },

  async "two active wallets before the approval"(estate) {
    const { organizationId, token } = await register(estate.app, "New");
    const path = `/v1/organizations/${organizationId}/wallets`;
    return {
      call: () => {
        const body = { label: "Till", network: "sandbox", address: freshAddress() };
        return post(estate, path, body, { token });
      },
      admitted: 2,
      refusals: ["wallet_limit"],
    };
  },

  "one customer for each external id"(estate) {
    const externalId = fresh("customer-");
    return {
      call: (caller) =>
        post(
          estate,
          `${homeOf(estate.owner)}/customers`,
          { name: `Racer ${String(caller)}`, externalId },
          estate.owner,
        ),
      admitted: 1,
      refusals: ["external_id_taken"],
    };
  },

  "one invoice for each external id"(estate) {
    const externalId = fresh("invoice-");
    return {
      call: (caller) =>
        post(
          estate,
          `${homeOf(estate.owner)}/invoices`,
          { ...priced, amount: `${String(100 + caller)}.00`, externalId },
          estate.owner,
        ),
      admitted: 1,
      refusals: ["external_id_conflict"],
    };
  },

  async "one request for a review"(estate) {
    const person = await register(estate.app, "Applicant");
    const { token } = person;
    const home = homeOf(person);
    await expectStatus(estate.app.request("PATCH", home, { token, body: legalFields }), 200);
    return {
      call: () => post(estate, `${home}/kyb/submit`, undefined, { token }),
      admitted: 1,
      refusals: ["verification_conflict"],
    };
  },

  async "one decision about a review"(estate) {
    const person = await register(estate.app, "Applicant");
    const { token } = person;
    const home = homeOf(person);
    await expectStatus(estate.app.request("PATCH", home, { token, body: legalFields }), 200);
    await expectStatus(post(estate, `${home}/kyb/submit`, undefined, { token }), 200);
    const path = `/v1/admin/organizations/${person.organizationId}/verification`;
    return {
      call: (caller) =>
        post(
          estate,
          path,
          { decision: caller % 2 === 0 ? "approve" : "reject", note: "Seen" },
          estate.admin,
        ),
      admitted: 1,
      refusals: ["verification_conflict"],
    };
  },

  async "one subscription of an organization"(estate) {
    const merchant = await estate.counter.merchant();
    const path = `${homeOf(merchant)}/billing/subscription/select`;
    return {
      call: () => post(estate, path, { plan: "starter" }, { token: merchant.token }),
      admitted: 1,
      refusals: ["subscription_exists"],
      verify: async () => {
        const where = "WHERE organization_id = $1";
        const values = [merchant.organizationId];
        expect(await countRows(estate.app.app.db, "subscriptions", where, values)).to.equal(1);
      },
    };
  },

  async "the amount of a transfer"(estate) {
    const transferId = await estate.unmatchedTransfer();
    const invoices = Array.from({ length: callers }, () => ({
      ...priced,
      amount: "60.00",
      externalId: fresh("share-"),
    }));
    const batch = await estate.post("/invoices/batch", { invoices });
    const results = batch["results"] as { readonly invoice: { readonly id: string } }[];
    const path = `${homeOf(estate.owner)}/transfers/${transferId}`;
    return {
      call: (caller) =>
        post(
          estate,
          `${path}/allocate`,
          { allocations: [{ invoiceId: results[caller]?.invoice.id, amount: "2.00" }] },
          estate.owner,
        ),
      // It has between 13 and 14 USDT.
      admitted: 6,
      refusals: ["allocation_too_large"],
      verify: async () => {
        const { token } = estate.owner;
        const { body } = await estate.app.request("GET", path, { token });
        expect(Number(body["unallocatedAmount"])).to.be.within(1, 2);
      },
    };
  },

  async "one decision about a payment"(estate) {
    const path = `${homeOf(estate.owner)}/payments/${await estate.reviewedPayment()}`;
    return {
      call: (caller) =>
        post(estate, `${path}/${caller % 2 === 0 ? "accept" : "reject"}`, undefined, estate.owner),
      admitted: 1,
      refusals: ["payment_not_in_review"],
    };
  },

  async "one reversal of a payment"(estate) {
    const path = `${homeOf(estate.owner)}/payments/${await estate.countedPayment()}`;
    return {
      call: () => post(estate, `${path}/reverse`, undefined, estate.owner),
      admitted: 1,
      refusals: ["payment_not_counted"],
    };
  },

  async "one refund for each transaction"(estate) {
    const refunds = [await estate.refund(), await estate.refund(), await estate.refund()];
    const transactionHash = `0x${fresh("").padStart(64, "d")}`;
    return {
      call: (caller) => {
        const refundId = refunds[caller % refunds.length] ?? "";
        const path = `${homeOf(estate.owner)}/refunds/${refundId}/send`;
        return post(estate, path, { transactionHash }, estate.owner);
      },
      // The refund that has the transaction answers a repeated request as before.
      refusals: ["transaction_used"],
      verify: (answers) => {
        const sent = answers.filter(({ status }) => status === 200).map(({ body }) => body["id"]);
        expect(new Set(sent)).to.have.property("size", 1);
      },
    };
  },

  async "one move of a payment"(estate) {
    const path = `${homeOf(estate.owner)}/payments/${await estate.countedPayment()}/reverse`;
    const orders = [await estate.post("/invoices", { ...priced, amount: "70.00" })];
    orders.push(await estate.post("/invoices", { ...priced, amount: "71.00" }));
    const toInvoice = (caller: number) => orders[caller % orders.length]?.["id"];
    return {
      call: (caller) => post(estate, path, { toInvoiceId: toInvoice(caller) }, estate.owner),
      admitted: 1,
      refusals: ["payment_not_counted"],
      verify: async () => {
        const { db } = estate.app.app;
        const ids = orders.map(({ id }) => String(id));
        const where = "WHERE invoice_id IN ($1, $2)";
        expect(await countRows(db, "payments", where, ids)).to.equal(1);
      },
    };
  },

  async "three rejected requests for a refund"(estate) {
    const { paymentId, hash, checkoutId } = await estate.refundablePayment();
    const refunds = `${homeOf(estate.owner)}/refunds`;
    const ask = () =>
      post(estate, `/v1/checkout/${checkoutId}/refund`, {
        transactionHash: hash,
        address: freshAddress(),
        pageToken: checkoutPageToken(estate.app.app, checkoutId),
      });
    /** Asks, and rejects what is open then, whoever asked for it. */
    const askAndReject = async () => {
      const asked = await ask();
      const query = `?paymentId=${paymentId}&status=requested`;
      const open = await estate.app.request("GET", refunds + query, { key: estate.owner.key });
      for (const { id } of open.body["data"] as { readonly id: string }[]) {
        await post(estate, `${refunds}/${id}/reject`, { reason: "Not you" }, estate.owner);
      }
      return asked;
    };
    return {
      call: askAndReject,
      refusals: ["too_many_refund_requests"],
      verify: async () => {
        for (let more = 0; more < 3; more += 1) await askAndReject();
        expect((await ask()).body["code"]).to.equal("too_many_refund_requests");
        const where = "WHERE payment_id = $1 AND source = 'payer'";
        const { db } = estate.app.app;
        expect(await countRows(db, "refunds", where, [paymentId])).to.equal(3);
      },
    };
  },

  async "five open claims of a checkout"(estate) {
    const { checkoutId } = await estate.counter.issue(estate.owner);
    const path = `/v1/checkout/${String(checkoutId)}/transactions`;
    return {
      call: (caller) =>
        post(estate, path, { transactionHash: `0x${String(caller + 1).padStart(64, "c")}` }),
      admitted: 5,
      refusals: ["too_many_claims"],
    };
  },

  async "one delivery of an event to an endpoint at a time"(estate) {
    const path = `${homeOf(estate.owner)}/webhook-deliveries/${await estate.delivery()}/replay`;
    return {
      call: () => post(estate, path, undefined, estate.owner),
      admitted: 1,
      refusals: ["delivery_in_flight"],
    };
  },

  async "two secrets of an endpoint"(estate) {
    const { id } = await estate.post("/webhook-endpoints", { url: "http://127.0.0.1:9/secrets" });
    const endpointId = id as Id<"webhookEndpoint">;
    const path = `${homeOf(estate.owner)}/webhook-endpoints/${endpointId}/rotate-secret`;
    return {
      call: () => post(estate, path, {}, estate.owner),
      admitted: callers,
      refusals: [],
      verify: async (answers) => {
        expect(new Set(answers.map(({ body }) => body["secret"]))).to.have.property(
          "size",
          callers,
        );
        const row = await estate.app.app.db.findOne(webhookEndpoints, "WHERE id = $1", [
          endpointId,
        ]);
        expect(row?.version, "a rotation was lost").to.equal(1 + callers);
      },
    };
  },
};
