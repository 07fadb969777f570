// When a debt can no longer be paid at its collection invoice, and what of it is being confirmed; without a store.
import { expect } from "chai";
import { invoiceStatuses } from "../../../../src/features/invoices/rules.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import {
  collectionEndsAt,
  needsCollectionInvoice,
} from "../../../../src/features/billing/lifecycle/steps.ts";
import { paymentsInFlight, receivedAt } from "../../../../src/features/billing/store.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { platformInvoice, subscription } from "../balances/balance-fixture.ts";

const now = 1_800_000_000_000;
const total = 4_900n;
/** A cent in the smallest unit of the token. */
const cent = 10_000n;
const current = "inv_current" as Id<"invoice">;

/** A collection invoice of 49.00 that expires tomorrow, with payments in cents. */
function collected(
  { seen = 0n, confirmed = 0n }: { readonly seen?: bigint; readonly confirmed?: bigint },
  changes: Partial<InvoiceRow> = {},
): InvoiceRow {
  return {
    id: current,
    status: "open",
    expiresAt: now + 1,
    amount: total,
    payableAmount: total * cent,
    dustAmount: null,
    seenAmount: seen * cent,
    confirmedAmount: confirmed * cent,
    completedAt: null,
    updatedAt: now,
    ...changes,
  } as InvoiceRow;
}

/** A subscription that owes 49.00, payable at these collection invoices. */
function owing(...all: readonly InvoiceRow[]) {
  const of = subscription("org_1");
  const debt = platformInvoice(of, { total, twinId: current });
  const collectionInvoices = new Map([[debt.id, all]]);
  return { subscription: of, invoices: [debt], paidAhead: [], collectionInvoices, debt };
}

describe("a debt", () => {
  it("needs another collection invoice unless the current one is open or being confirmed", () => {
    const needy = invoiceStatuses.filter((status) =>
      needsCollectionInvoice(owing(collected({}, { status })), now),
    );
    expect(needy).to.deep.equal(["draft", "paid", "expired", "canceled"]);
    for (const [expiresAt, status, isNeeded] of [
      [now, "open", true],
      [now - 1, "partially_paid", true],
      [now + 1, "partially_paid", false],
      [null, "open", true],
      [now - 1, "confirming", false],
      [null, "confirming", false],
    ] as const) {
      const locked = owing(collected({}, { expiresAt, status }));
      expect(needsCollectionInvoice(locked, now), `${status} ${String(expiresAt)}`).to.equal(
        isNeeded,
      );
    }
  });

  it("needs no other collection invoice if payments of its whole total were seen", () => {
    const expired = { status: "expired" } as const;
    const former = (seen: bigint) => collected({ seen }, { ...expired, id: "inv_former" });
    for (const [all, isNeeded] of [
      [[collected({ seen: total - 1n }, expired)], true],
      [[collected({ seen: total }, expired)], false],
      [[collected({ seen: total + 1n }, expired)], false],
      [[former(4_000n), collected({ seen: 899n }, expired)], true],
      [[former(4_000n), collected({ seen: 900n }, expired)], false],
      // The current one was just issued and is not among those that were read.
      [[former(0n)], false],
      [[], false],
    ] as const) {
      expect(needsCollectionInvoice(owing(...all), now), String(all.length)).to.equal(isNeeded);
    }
    const two = owing(collected({ seen: total }, expired));
    const other = platformInvoice(two.subscription, { total, twinId: current });
    const collectionInvoices = new Map([
      ...two.collectionInvoices,
      [other.id, [collected({}, expired)]] as const,
    ]);
    const locked = { ...two, invoices: [...two.invoices, other], collectionInvoices };
    expect(needsCollectionInvoice(locked, now), "the second of two debts").to.equal(true);
    expect(needsCollectionInvoice({ ...locked, invoices: [] }, now)).to.equal(false);
  });

  it("is re-checked when its current collection invoice expires", () => {
    const endOf = (...all: readonly InvoiceRow[]) => {
      const locked = owing(...all);
      return collectionEndsAt(locked.debt, locked, now);
    };
    expect(endOf(collected({}))).to.equal(now + 1);
    expect(endOf(collected({}, { expiresAt: now }))).to.equal(null);
    expect(endOf(collected({}, { expiresAt: null }))).to.equal(null);
    expect(endOf(collected({}, { id: "inv_former" }))).to.equal(null);
    expect(endOf(collected({}, { id: "inv_former", expiresAt: now + 9 }), collected({}))).to.equal(
      now + 1,
    );
    expect(endOf()).to.equal(null);
  });
});

describe("the payments of a debt", () => {
  const sinceWhen = (...all: readonly InvoiceRow[]) => {
    const locked = owing(...all);
    return paymentsInFlight(locked).get(locked.debt.id) ?? null;
  };

  it("are the sums of all its collection invoices", () => {
    const all = [collected({ seen: 300n, confirmed: 100n }), collected({ seen: 50n })];
    expect(receivedAt(all)).to.deep.equal({ seen: 350n, confirmed: 100n });
    expect(receivedAt([])).to.deep.equal({ seen: 0n, confirmed: 0n });
  });

  it("are in flight from when its whole total was seen until it is confirmed", () => {
    const at = { completedAt: now - 60_000 };
    for (const [payments, since] of [
      [{}, null],
      [{ seen: total - 1n }, null],
      [{ seen: total }, now - 60_000],
      [{ seen: total + 1n }, now - 60_000],
      [{ seen: total, confirmed: total - 1n }, now - 60_000],
      [{ seen: total, confirmed: total }, null],
      [{ seen: total + 1n, confirmed: total + 1n }, null],
    ] as const) {
      expect(sinceWhen(collected(payments, at)), JSON.stringify(Object.keys(payments))).to.equal(
        since,
      );
    }
    expect(sinceWhen(collected({ seen: total }))).to.equal(now);
    expect(sinceWhen()).to.equal(null);
  });

  it("are in flight since the newest of them, whichever collection invoice got it", () => {
    const former = collected({ seen: 4_000n }, { completedAt: now - 9 });
    const untouched = collected({}, { updatedAt: now + 99 });
    expect(sinceWhen(former, collected({ seen: 900n }, { updatedAt: now - 3 }))).to.equal(now - 3);
    expect(sinceWhen(collected({ seen: 900n }, { updatedAt: now - 30 }), former)).to.equal(now - 9);
    expect(sinceWhen(former, collected({ seen: 900n }), untouched)).to.equal(now);
    expect(sinceWhen(former, collected({ seen: 899n }), untouched)).to.equal(null);
  });
});
