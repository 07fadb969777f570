// Every list and every figure with 20,000 invoices: each of their statements uses an index, and none is slow. In full:
// npm run prove:lists.
import { expect } from "chai";
import type { Operation } from "../../../src/http/declare/operation.ts";
import { allOperations } from "../../../src/features/index.ts";
import { toIso } from "../../../src/kernel/clock.ts";
import { expectStatus } from "../../support/app.ts";
import { eachStore } from "../../support/store/stores.ts";
import { openLibrary, pageTarget, type Library } from "./list-questions.ts";
import { badSteps, planOf, rowsLookedAt, statementsOf } from "./statements.ts";

const rows = 20_000;
/**
 * The maximum number of rows that a page may examine: a page, or a short time range that is scanned because that is
 * cheaper, but never the whole list.
 */
const rowsPerPageMax = rows / 20;
/** The maximum number of rows that a statement of a figure may examine: sums of hours and days, and each customer once. */
const rowsPerFigureMax = rows / 2;
/** Up to 250 customers are looked up by id; PostgreSQL scans the table while they are a tenth of the invoices. */
const customersMax = rows / 10 + 1;
const rowsMaxOf = (sql: string) =>
  sql.includes("FROM customers WHERE id IN") ? customersMax : rowsPerPageMax;

/** A value for each filter without an enumeration; a new filter must get one. */
const sampleValues: Readonly<Record<string, string>> = {
  limit: "20",
  currency: "USD",
  action: "invoice.created",
  actorId: `usr_${"0".repeat(26)}`,
  customerId: `cus_${"0".repeat(26)}`,
  invoiceId: `inv_${"0".repeat(26)}`,
  paymentId: `pay_${"0".repeat(26)}`,
  organizationId: `org_${"0".repeat(26)}`,
  webhookEndpointId: `wep_${"0".repeat(26)}`,
  email: "customer7@example.com",
  externalId: "order 7",
  eventType: "invoice.paid",
  types: "invoice.paid,payment.confirmed",
  network: "sandbox",
  search: "shop",
  tokenSymbol: "USDT",
  settlementCurrency: "USD",
  walletId: `wal_${"0".repeat(26)}`,
  walletAddress: `0x${"1".repeat(40)}`,
  fromAddress: `0x${"1".repeat(40)}`,
  transactionHash: "0".repeat(64),
  metadataKey: "channel",
};

/** The indexes for the filters of lists: without one of them, a page would scan another. */
const indexes: Readonly<Record<string, string>> = {
  "invoices, first page": "invoices_organization",
  "invoices, 10,000 deep": "invoices_organization",
  "invoices by status": "invoices_facet",
  "invoices by status, 10,000 deep": "invoices_facet",
  "invoices by a rare status": "invoices_facet",
  "invoices of a customer": "invoices_customer",
  "invoices of a customer by status": "invoices_customer",
  "invoices of a frequent customer by a status that none has": "invoices_customer",
  "invoices of a time": "invoices_organization",
  "invoices of a time by status": "invoices_facet",
  "an invoice by its externalId": "invoices_external_id",
  "invoices by several statuses": "invoices_facet",
  "invoices, oldest first": "invoices_organization",
  "invoices of a rare network": "invoices_facet",
  "invoices of a rare network by a common status": "invoices_facet",
  "invoices of a rare network by a rare token": "invoices_facet",
  "invoices of a rare currency, smallest first": "invoices_amount",
  "invoices by amount": "invoices_amount",
  "invoices by amount and a rare status": "invoices_amount",
  "invoices by time of payment": "invoices_paid",
  "invoices of a frequent customer by time of payment": "invoices_paid",
  "invoices of a frequent customer on a rare network": "invoices_customer",
  "invoices by common metadata": "invoice_terms",
  "invoices by rare metadata": "invoice_terms",
  "invoices by metadata that none has": "invoice_terms",
  "invoices by common metadata and a status that none of them has": "invoices_facet",
  "invoices by a word of all": "invoice_terms",
  "invoices by a rare word": "invoice_terms",
  "invoices by a word that none has": "invoice_terms",
  "invoices by a word and a number": "invoice_terms",
  "invoices by the beginning of a number": "invoice_terms",
  "invoices by a word of all and another that none has": "invoice_terms",
  "invoices by customers of one name": "customer_terms",
  "invoices by an e-mail address": "customers_email",
  "invoices by a word of all and a rare status": "invoices_facet",
  "invoices by a common word and a rare network": "invoices_facet",
  "invoices by a rare word, by amount": "invoice_terms",
  "invoices of a network held beside another": "invoices_several",
  "invoices of a rare token held beside another": "invoices_several",
  "invoices of a held network and a token of the other option": "invoices_several",
  "invoices of a held network by a rare status": "invoices_several",
  "invoices of a held network by time of payment": "invoices_several_paid",
  "invoices of a held network by amount": "invoices_several_amount",
  "invoices of a rare held token by amount and status": "invoices_several_amount",
  "invoices of a held network of a frequent customer": "invoices_several",
  "invoices of a held network by a rare word": "invoice_terms",
  "invoices of a held network by a word of all": "invoices_several",
  "invoices of a held network by metadata": "invoice_terms",
  "invoices of a held address": "invoices_several",
  "invoices of a held network of a time": "invoices_several",
  "invoices of a held network, 10,000 deep": "invoices_several",
  "invoices by amount, 10,000 deep": "invoices_amount",
  "invoices by time of payment, 10,000 deep": "invoices_paid",
  "invoices of a frequent customer by amount": "invoices_amount",
  "invoices of a time by amount": "invoices_amount",
  "invoices paid within a time": "invoices_paid",
  "invoices paid within a time, by amount": "invoices_amount",
  "invoices of a wallet": "invoices_facet",
  "invoices of an address": "wallets_organization",
  "invoices of a transaction": "transfers_identity",
  "payments of a transaction": "transfers_identity",
  "payments of a sender": "transfers_sender",
  "payments of a rare network": "payments_facet",
  "payments of a rare network by token": "payments_facet",
  "payments by amount": "payments_amount",
  "payments by amount and status": "payments_amount",
  "payments by time of payment": "payments_block_time",
  "payments by time of payment on a rare network": "payments_block_time",
  "payments paid within a time": "payments_block_time",
  "payments of a frequent sender by amount": "payments_amount",
  "payments of a time, oldest first": "payments_organization",
  "payments, first page": "payments_organization",
  "payments, 10,000 deep": "payments_organization",
  "payments by status": "payments_facet",
  "payments of an invoice": "payments_invoice",
  "customers, first page": "customers_organization",
  "a customer by e-mail": "customers_email",
  "deliveries, first page": "webhook_deliveries_organization",
  "deliveries, 10,000 deep": "webhook_deliveries_organization",
  "deliveries by status": "webhook_deliveries_status",
  "deliveries of an endpoint": "webhook_deliveries_endpoint",
  "deliveries of an endpoint by a status that none has": "webhook_deliveries_endpoint_status",
  "deliveries by a rare type": "webhook_deliveries_event_type",
  "audit, first page": "audit_logs_organization",
  "audit, 10,000 deep": "audit_logs_organization",
  "audit by action": "audit_logs_action",
  "audit by actor": "audit_logs_actor",
  "audit by actor and action": "audit_logs_actor_action",
  "audit by an actor who never did that": "audit_logs_actor_action",
  "audit of a time": "audit_logs_organization",
  "audit of a time by action": "audit_logs_action",
  "all payments by a rare status": "payments_platform_facet",
  "all payments of a sender": "transfers_sender",
  "all payments of a frequent sender": "transfers_sender",
  "all payments of a network": "payments_platform_facet",
  "all deliveries by a rare status": "webhook_deliveries_unusual",
  "dead letters": "webhook_deliveries_dead",
  "all audit by actor and action": "audit_logs_platform_actor_action",
  "all audit by an actor who never did that": "audit_logs_platform_actor_action",
  "events, first page": "events_organization",
  "events, deep": "events_organization",
  "events of some types": "events_organization",
  summary: "invoices_partly_paid",
  "charts by day": "invoices_drafts",
  usage: "invoices_issued",
  "top wallets": "payments_confirmed",
  "platform summary": "payments_confirmed",
};
/** Lists that follow a table's primary key, or have few rows. */
const withoutIndex = ["all payments", "all deliveries", "all audit entries", "organizations"];

interface Listing {
  readonly name: string;
  readonly path: string;
  readonly key: { readonly token: string } | { readonly key: string };
}

eachStore("Among 20,000 invoices", (store) => {
  store.leavesUnsound({ checks: "all", because: "rows are seeded to be listed, not to add up" });

  let library: Library;
  before(async () => {
    library = await openLibrary(await store.place("migrated"), rows);
  });
  after(() => library.app.stop());

  it("every list and figure uses an index, with each filter and on late pages", async () => {
    const { app } = library;
    // Statements that many requests share, such as those of the session.
    const sound = new Set<string>();
    for (const listing of readings(library)) {
      const seen = await statementsOf(app.app.db, () =>
        expectStatus(app.request("GET", listing.path, listing.key), 200),
      );
      expect(seen, listing.name).not.to.have.length(0);
      for (const statement of seen) {
        const exact = JSON.stringify([statement.sql, ...statement.values]);
        if (sound.has(exact)) continue;
        const told = `${listing.name}: ${statement.sql}`;
        expect(await badSteps(app.app.db, statement), told).to.deep.equal([]);
        sound.add(exact);
      }
    }
  });

  // With statistics PostgreSQL may find it cheaper to scan the primary key.
  const findsWithoutStatistics = store.dialect === "sqlite" ? it : null;
  findsWithoutStatistics?.("the index serves every filter of a list", async () => {
    const { app, questions } = library;
    const pages = questions.filter(({ targetMs }) => targetMs === pageTarget);
    const unnamed = pages.map(({ name }) => name).filter((name) => !(name in indexes));
    expect(unnamed, "say which index these need").to.have.members(withoutIndex);
    for (const [name, index] of Object.entries(indexes)) {
      const question = questions.find((each) => each.name === name);
      if (question === undefined) throw new Error(`nothing asks for ${name}`);
      const seen = await statementsOf(app.app.db, () =>
        expectStatus(app.request("GET", question.path, question.key), 200),
      );
      const plans = await Promise.all(seen.map((statement) => planOf(app.app.db, statement)));
      expect(plans.flat().join("\n"), name).to.match(new RegExp(`\\b${index}\\b`));
    }
  });

  // SQLite does not report the rows that it read; for it, the indexes are named below.
  const countsRows = store.dialect === "postgres" ? it : null;
  countsRows?.(
    "a page costs what is on it, whatever it is narrowed by and however deep it lies, and a figure no whole table",
    async () => {
      const { app, questions } = library;
      const dear: string[] = [];
      for (const question of questions) {
        const seen = await statementsOf(app.app.db, () =>
          expectStatus(app.request("GET", question.path, question.key), 200),
        );
        for (const statement of seen) {
          const looked = await rowsLookedAt(app.app.db, statement);
          const most =
            question.targetMs === pageTarget ? rowsMaxOf(statement.sql) : rowsPerFigureMax;
          if (looked > most)
            dear.push(`${question.name}: ${String(looked)} rows by ${statement.sql}`);
        }
      }
      expect(dear).to.deep.equal([]);
    },
  );
});

/**
 * Returns every read operation on the data of the organization or the platform, without a query and with each part of
 * it.
 */
function readings({ merchant, platform, questions }: Library): Listing[] {
  return allOperations
    .filter(({ method, query }) => method === "GET" && Object.keys(query).length > 0)
    .filter(({ path }) => !/\{(?!organizationId|queue)/.test(path))
    .flatMap((operation) => {
      const path = `/v1${operation.path
        .replace("{organizationId}", merchant.organizationId)
        .replace("{queue}", "webhooks")}`;
      const key =
        operation.access.kind === "platform" ? { key: platform } : { token: merchant.token };
      return queriesOf(operation).map((query) => ({
        name: `${operation.id}${query}`,
        path: path + query,
        key,
      }));
    })
    .concat(questions);
}

function queriesOf(operation: Operation): string[] {
  const names = Object.keys(operation.query).filter(
    (name) => !["cursor", "after", "metadataValue"].includes(name),
  );
  const parts = names.map((name) => {
    const value = sampleOf(operation, name);
    // Parameters that are valid only together.
    const beside =
      name === "metadataKey"
        ? "&metadataValue=web"
        : operation.id === "adminListPayments" && name.startsWith("paid")
          ? `&organizationId=${sampleValues["organizationId"] ?? ""}`
          : "";
    return `?${name}=${encodeURIComponent(value)}${beside}`;
  });
  return ["", ...parts];
}

function sampleOf(operation: Operation, name: string): string {
  const schema = operation.query[name] as unknown as {
    unwrap?: () => { options?: readonly string[] };
  };
  const [option] = schema.unwrap?.().options ?? [];
  if (option !== undefined) return option;
  // An export has one statement for all times: without a filter it reads every row here, and with one it reads none.
  const isExport = operation.path.endsWith(".csv");
  if (isExport && name === "createdFrom") return toIso(Date.UTC(2099, 0, 1));
  if (isExport && name === "createdTo") return toIso(Date.UTC(2000, 0, 1));
  if (/^(from|createdFrom|paidFrom)$/.test(name)) return toIso(Date.UTC(2026, 0, 1));
  if (/^(to|createdTo|paidTo)$/.test(name)) return toIso(Date.UTC(2027, 0, 1));
  if (name === "status") return /Payments/.test(operation.id) ? "confirmed" : "paid";
  const value = sampleValues[name];
  if (value === undefined)
    throw new Error(`${operation.id}: give the filter ${name} a sample value`);
  return value;
}
