// Every list, walked by seven while rows come in at its front and in its midst: none that was there is lost, and none
// is given twice.
import { expect } from "chai";
import { z } from "zod";
import type { Operation } from "../../src/http/declare/operation.ts";
import { apiKeys } from "../../src/features/api-keys/store.ts";
import {
  adjustments,
  credits,
  discounts,
  platformInvoices,
  type PlatformInvoiceRow,
} from "../../src/features/billing/table.ts";
import { paymentLinks } from "../../src/features/payment-links/terms.ts";
import { customers } from "../../src/features/customers/store.ts";
import { invoices } from "../../src/features/invoices/table.ts";
import { invitations, memberships, users } from "../../src/features/members/store.ts";
import { organizations } from "../../src/features/organizations/store.ts";
import { refunds } from "../../src/features/refunds/store.ts";
import { payments, transfers } from "../../src/features/payments/table.ts";
import { allOperations } from "../../src/features/index.ts";
import { addressOwnerships, wallets } from "../../src/features/wallets/table.ts";
import { webhookDeliveries, webhookEndpoints } from "../../src/features/webhooks/table.ts";
import type { Id, IdKind } from "../../src/kernel/id.ts";
import { auditLogs } from "../../src/platform/audit/chain.ts";
import type { RowOf, Table } from "../../src/platform/database/schema/table.ts";
import type { Tx } from "../../src/platform/database/database.ts";
import { eachStore, testContext, testsAll } from "../support/store/stores.ts";
import { openEstate, type Estate } from "./estate.ts";
import { callExample, exampleOf } from "./examples.ts";

const rowsBefore = testsAll ? 250 : 60;
const perPage = 7;
const spanMs = 3_600_000;

/** Lists that are whole on one page. */
const onePage = [
  "listPlans",
  "listNetworks",
  "listTopCustomers",
  "listTopWallets",
  "listDefaultWallets",
  "adminListTopOrganizations",
  "listWebhookEventTypes",
];
/** A stream, oldest first, which its own test walks while events come in. */
const streams = ["listEvents"];

const isList = ({ method, record }: Operation): boolean => {
  if (method !== "GET" || record === null) return false;
  const schema = z.toJSONSchema(record, { io: "output", unrepresentable: "any" });
  return (schema.properties?.["data"] as { type?: string } | undefined)?.type === "array";
};
const lists = allOperations.filter(isList);
const walked = lists.filter(({ id }) => ![...onePage, ...streams].includes(id));

/** Adds a row like those that are there, made at a time; gives its id in the list. */
type Adding = (tx: Tx, estate: Estate, at: number) => Promise<string>;

let added = 0;

/** Copies of the newest row of a table's that the owner has at first, but for what must differ. */
function copies<T extends Table>(
  from: T,
  kind: IdKind,
  differs: (row: RowOf<T>, number: number, at: number) => Partial<RowOf<T>> = () => ({}),
  where = "WHERE organization_id = $1 ORDER BY id DESC LIMIT 1",
): Adding {
  const templates = new WeakMap<Estate, RowOf<T>>();
  return async (tx, estate, at) => {
    added += 1;
    let template = templates.get(estate) ?? null;
    if (template === null) {
      const values = where.includes("$1") ? [estate.owner.organizationId] : [];
      template = await tx.findOne(from, where, values);
      if (template === null) throw new Error(`the estate has no row of ${from.name}`);
      templates.set(estate, template);
    }
    const id = estate.app.app.ids.next(kind, at);
    const made = { ...template, ...differs(template, added, at) };
    await tx.insert(from, "id" in made ? { ...made, id, createdAt: at } : made);
    return id;
  };
}

const customer = copies(customers, "customer");
/** A wallet with its claim, without which it is none. */
const walletOf = (where?: string): Adding => {
  let identity: string;
  const copy = copies(wallets, "wallet", () => ({ identity, position: null }), where);
  const claim = copies(addressOwnerships, "wallet", () => ({ identity }), "WHERE kind = 'address'");
  return async (tx, estate, at) => {
    identity = `walk ${String(added)}`;
    await claim(tx, estate, at);
    return copy(tx, estate, at);
  };
};
const wallet = walletOf();
const delivery = copies(webhookDeliveries, "webhookDelivery", ({ id }, _number, at) => ({
  replayOf: id,
  completedAt: at,
}));
const transfer = copies(transfers, "transfer", (_row, number) => ({
  transactionHash: String(number).padStart(64, "0"),
}));
const paidTransfer = copies(
  transfers,
  "transfer",
  (_row, number) => ({ transactionHash: String(number).padStart(64, "0") }),
  "WHERE organization_id = $1 AND disposition = 'matched' LIMIT 1",
);
let transferId: Id<"transfer">;
const paymentOf = copies(payments, "payment", () => ({
  transferId,
  refundRequested: 0n,
  refunded: 0n,
}));
const payment: Adding = async (tx, estate, at) => {
  transferId = (await paidTransfer(tx, estate, at)) as Id<"transfer">;
  return paymentOf(tx, estate, at);
};
const entry = copies(auditLogs, "auditLog", () => ({ position: null, hash: null }));
const platformInvoice = copies(
  platformInvoices,
  "platformInvoice",
  ({ periodStart }: PlatformInvoiceRow, number) => ({
    number: `WALK-${String(number)}`,
    periodStart: periodStart + number,
  }),
);
const organization = copies(organizations, "organization", () => ({}), "WHERE is_platform = 0");
let userId: Id<"user">;
const membership = copies(memberships, "membership", () => ({ userId, role: "viewer" as const }));
const user = copies(
  users,
  "user",
  (_row, number) => ({ email: `walk${String(number)}@example.com` }),
  "LIMIT 1",
);

const addings: Readonly<Record<string, Adding>> = {
  listMembers: async (tx, estate, at) => {
    userId = (await user(tx, estate, at)) as Id<"user">;
    return membership(tx, estate, at);
  },
  listInvitations: copies(invitations, "invitation", (_row, number) => ({
    tokenHash: `walk ${String(number)}`,
    email: `walk${String(number)}@example.com`,
  })),
  listOrganizations: async (tx, estate, at) => {
    const organizationId = (await organization(tx, estate, at)) as Id<"organization">;
    await tx.insert(memberships, {
      id: estate.app.app.ids.next("membership", at),
      userId: estate.owner.userId as Id<"user">,
      organizationId,
      role: "owner",
      createdAt: at,
    });
    return organizationId;
  },
  listApiKeys: copies(apiKeys, "apiKey", (_row, number) => ({
    secretHash: `walk ${String(number)}`,
  })),
  listAuditLogs: entry,
  listCustomers: customer,
  listWallets: wallet,
  listWebhookEndpoints: copies(webhookEndpoints, "webhookEndpoint"),
  listWebhookDeliveries: delivery,
  listInvoices: copies(invoices, "invoice", (_row, number) => ({
    publicId: `walk ${String(number)}`,
    checkoutId: null,
    externalId: null,
  })),
  listPaymentLinks: copies(paymentLinks, "paymentLink"),
  listPayments: payment,
  listTransfers: transfer,
  listRefunds: copies(refunds, "refund", () => ({ status: "rejected" as const })),
  listPlatformInvoices: platformInvoice,
  adminListCredits: copies(credits, "credit"),
  adminListDiscounts: copies(discounts, "discount"),
  adminListManualAdjustments: copies(adjustments, "adjustment"),
  adminListPlatformWallets: walletOf(
    "WHERE organization_id = (SELECT id FROM organizations WHERE is_platform = 1)",
  ),
  adminListPlatformInvoices: platformInvoice,
  adminListOrganizations: organization,
  adminListPayments: payment,
  adminListWebhookDeliveries: delivery,
  // Failed webhook jobs are the dead letters, by the time they were given up.
  adminListFailedJobs: delivery,
  adminListAuditLogs: entry,
};

describe("the lists", () => {
  it("are paginated, complete on one page, or a stream", () => {
    const ids = lists.map(({ id }) => id);
    const unknown = [...onePage, ...streams, ...Object.keys(addings)].filter(
      (id) => !ids.includes(id),
    );
    expect(unknown, "are not lists").to.deep.equal([]);
    const missing = walked.map(({ id }) => id).filter((id) => !(id in addings));
    expect(missing, "say in test/http/walks.test.ts how a row of these is added").to.deep.equal([]);
    for (const operation of lists) {
      const isPaged = "cursor" in operation.query;
      expect(isPaged, operation.id).to.equal(walked.includes(operation));
    }
  });
});

eachStore("pagination", function (store) {
  let estate: Estate;
  store.leavesUnsound({ checks: "all", because: "rows are copied past the program" });

  before(async () => {
    estate = await openEstate(store);
    for (const id of ["adminApplyCredit", "adminApplyDiscount", "adminCreateManualAdjustment"]) {
      await call(id);
    }
    await call("adminSetReceiveWallet");
  });
  after(() => estate.stop());

  async function call(id: string): Promise<void> {
    const operation = allOperations.find((each) => each.id === id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    const answer = await callExample(operation, estate, await exampleOf(operation, estate));
    expect(answer.status, answer.text).to.equal(operation.status);
  }

  for (const operation of walked) {
    it(`of ${operation.id} skips and repeats no row while others are added`, async () => {
      const adding = addings[operation.id];
      if (adding === undefined) throw new Error(`say how a row of ${operation.id} is added`);
      const { db } = estate.app.app;
      const now = estate.app.clock.now();
      const add = (times: readonly number[]) =>
        db.write(testContext, async (tx) => {
          const ids: string[] = [];
          for (const at of times) ids.push(await adding(tx, estate, at));
          return ids;
        });
      const step = Math.floor(spanMs / rowsBefore);
      const before = await add(
        Array.from({ length: rowsBefore }, (_, place) => now - spanMs + place * step),
      );

      const example = await exampleOf(operation, estate);
      const given: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; page === 0 || cursor !== null; page += 1) {
        const after = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const query = `?limit=${String(perPage)}${after}`;
        const { status, text, body } = await callExample(operation, estate, example, { query });
        expect(status, text).to.equal(200);
        const data = body["data"] as readonly { readonly id: string }[];
        given.push(...data.map(({ id }) => id));
        cursor = body["nextCursor"] as string | null;
        expect(data.length, "a full page").to.equal(cursor === null ? data.length : perPage);
        await add([now + page, now - ((page * 7_919_000) % spanMs)]);
      }

      expect(new Set(given).size, "given twice").to.equal(given.length);
      expect(
        before.filter((id) => !given.includes(id)),
        "lost",
      ).to.deep.equal([]);
    });
  }
});
