import { expect } from "chai";
import {
  billingState,
  platformInvoiceLines,
  platformInvoices,
  subscriptions,
} from "../../../src/features/billing/table.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import { StatementFailed, UniqueViolation } from "../../../src/platform/database/errors.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { addOrganization } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { addInvoice, platformInvoice, subscription } from "./balances/balance-fixture.ts";

eachStore("the tables of billing", (store) => {
  store.leavesUnsound({
    checks: ["billing.invoices", "billing.numbers", "subscriptions.period"],
    because: "platform invoices and their subscriptions are inserted directly",
  });
  let db: Database;
  let organizationId: Id<"organization">;

  beforeEach(async () => {
    db = await store.open();
    organizationId = await addOrganization(db, createIds(systemRandom), 1_800_000_000_000);
  });

  it("refuse changes and deletions of invoice lines", async () => {
    const invoice = await addInvoice(db, organizationId);
    for (const sql of [
      "UPDATE platform_invoice_lines SET description = 'x'",
      "DELETE FROM platform_invoice_lines",
    ]) {
      const refused = await db
        .write(testContext, (tx) => tx.run(sql))
        .catch((error: unknown) => error);
      expect(refused, sql).to.be.instanceOf(StatementFailed);
      expect((refused as Error).message).to.contain("rows of platform_invoice_lines are never");
    }
    const lines = await db.find(platformInvoiceLines, "WHERE platform_invoice_id = $1", [
      invoice.id,
    ]);
    expect(lines.map(({ description }) => description)).to.deep.equal(["Growth plan"]);
  });

  it("allow one live subscription per organization and any number of canceled ones", async () => {
    const add = (changes: Parameters<typeof subscription>[1]) =>
      db.write(testContext, (tx) =>
        tx.insert(subscriptions, subscription(organizationId, changes)),
      );
    await add({ status: "canceled" });
    await add({ status: "canceled" });
    await add({ status: "suspended" });
    const refused = await add({ status: "active" }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(UniqueViolation).with.property("index", "subscriptions_live");
  });

  it("allow one invoice per period that is not void", async () => {
    const of = subscription(organizationId);
    await db.write(testContext, (tx) => tx.insert(subscriptions, of));
    const add = (changes: Parameters<typeof platformInvoice>[1]) =>
      db.write(testContext, (tx) => tx.insert(platformInvoices, platformInvoice(of, changes)));
    await add({ status: "void" });
    await add({ status: "paid" });
    const refused = await add({}).catch((error: unknown) => error);
    expect(refused)
      .to.be.instanceOf(UniqueViolation)
      .with.property("index", "platform_invoices_period");
  });

  it("contain exactly one row of billing state", async () => {
    const [state, ...others] = await db.find(billingState, "");
    expect(others).to.deep.equal([]);
    expect(state).to.include({ id: "billing", nextNumber: 1, receiveWalletId: null });
  });
});
