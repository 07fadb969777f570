// Figures against a plain recomputation from every invoice and payment, over random histories in which payments are
// confirmed, repriced, moved and reverted, and sums are made at any moment between.
import { expect } from "chai";
import fc from "fast-check";
import {
  largestSubjects,
  sumByDay,
  sumBySubject,
  type FigureOwner,
} from "../../../src/features/analytics/figures.ts";
import type { InvoiceRow } from "../../../src/features/invoices/store.ts";
import type { InvoiceStatus } from "../../../src/features/invoices/rules.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { payments, type PaymentRow } from "../../../src/features/payments/table.ts";
import {
  figureDecimals,
  platformScope,
  type Measure,
  figureChanges,
  figures,
} from "../../../src/features/usage/meter.ts";
import { day, hour, minute, type Instant } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { addOrganization } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { handWritten, openBooks, type Books } from "./books.ts";

const start = Date.UTC(2026, 4, 4);
const length = 3 * day;

/** USDT is counted in 6 decimals on one network and in 18 on another. */
const assets = [
  { currency: "USD", decimals: 2 },
  { currency: "USDT", decimals: 6 },
  { currency: "USDT", decimals: 18 },
] as const;
const statuses = ["open", "partially_paid", "paid", "expired", "canceled"] as const;

type Step =
  | {
      readonly kind: "issue";
      readonly organization: number;
      readonly asset: number;
      readonly at: Instant;
      readonly amount: bigint;
      readonly customer: number;
      readonly isDraft: boolean;
    }
  | { readonly kind: "status"; readonly invoice: number; readonly status: InvoiceStatus }
  | {
      readonly kind: "pay";
      readonly invoice: number;
      readonly at: Instant;
      readonly worth: bigint;
      readonly status: "confirmed" | "confirming" | "review";
    }
  | {
      readonly kind: "change";
      readonly payment: number;
      readonly to: "confirmed" | "reverted" | "confirming" | "repriced" | "moved";
      readonly at: Instant;
      readonly worth: bigint;
    }
  | { readonly kind: "sum" };

/** Many moments lie at the borders of hours and days, or just beside them. */
const instant = fc.oneof(
  fc.integer({ min: start, max: start + length }),
  fc
    .tuple(fc.nat(length / hour), fc.integer({ min: -1, max: 1 }))
    .map(([hours, beside]) => start + hours * hour + beside),
);
/** Some are far above what a float or 64 bits hold. */
const amount = fc.oneof(fc.bigInt(1n, 10_000n), fc.bigInt(10n ** 29n, 10n ** 30n));
const place = fc.nat(1_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("issue" as const),
    organization: fc.nat(1),
    asset: fc.nat(assets.length - 1),
    at: instant,
    amount,
    customer: fc.nat(2),
    isDraft: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("status" as const),
    invoice: place,
    status: fc.constantFrom(...statuses),
  }),
  fc.record({
    kind: fc.constant("pay" as const),
    invoice: place,
    at: instant,
    worth: amount,
    status: fc.constantFrom("confirmed", "confirmed", "confirming", "review"),
  }),
  fc.record({
    kind: fc.constant("change" as const),
    payment: place,
    to: fc.constantFrom("confirmed", "reverted", "confirming", "repriced", "moved"),
    at: instant,
    worth: amount,
  }),
  fc.record({ kind: fc.constant("sum" as const) }),
);

interface World {
  readonly db: Database;
  readonly books: Books;
  readonly organizations: readonly Id<"organization">[];
  readonly issued: InvoiceRow[];
  readonly paid: { readonly invoice: InvoiceRow; payment: PaymentRow }[];
}

async function play(world: World, step: Step): Promise<void> {
  const { books, organizations, issued, paid } = world;
  if (step.kind === "sum") return books.settle();
  if (step.kind === "issue") {
    const organizationId = organizations[step.organization] ?? "";
    issued.push(
      await books.issue({
        organizationId,
        at: step.at,
        amount: step.amount,
        ...assets[step.asset],
        status: step.isDraft ? "draft" : "open",
        walletId: `wal_${String(step.customer % 2)}`,
        customerId: step.customer === 0 ? null : `cus_${String(step.customer)}`,
      }),
    );
    return;
  }
  if (step.kind === "status" || step.kind === "pay") {
    const at = step.invoice % Math.max(1, issued.length);
    const invoice = issued[at];
    if (invoice === undefined || invoice.issuedAt === null) return;
    if (step.kind === "status") issued[at] = await books.setStatus(invoice, step.status);
    else paid.push({ invoice, payment: await books.pay(invoice, step) });
    return;
  }
  const one = paid[step.payment % Math.max(1, paid.length)];
  if (one === undefined) return;
  const set =
    step.to === "repriced"
      ? { settlementAmount: step.worth }
      : step.to === "moved"
        ? { blockTime: step.at }
        : { status: step.to };
  one.payment = await books.change(one.invoice, one.payment, set);
}

interface Item {
  readonly organizationId: string;
  readonly at: Instant;
  readonly currency: string;
  readonly subject: string | null;
  readonly worth: bigint;
}

async function itemsOf(db: Database, measure: Measure): Promise<Item[]> {
  const worth = (units: bigint, decimals: number) =>
    units * 10n ** BigInt(figureDecimals - decimals);
  const asked = await db.find(invoices, "WHERE issued_at IS NOT NULL");
  if (measure === "invoices") {
    return asked.map((row) => ({
      organizationId: row.organizationId,
      at: row.issuedAt ?? 0,
      currency: row.settlementCurrency,
      subject: row.status,
      worth: worth(row.amount, row.settlementDecimals),
    }));
  }
  const invoicesById = new Map(asked.map((row) => [row.id, row]));
  return (await db.find(payments, "WHERE status = 'confirmed'")).map((row) => {
    const invoice = invoicesById.get(row.invoiceId);
    const subjects = {
      volume: "",
      organization: row.organizationId,
      wallet: invoice?.walletId ?? null,
      customer: invoice?.customerId ?? null,
    };
    return {
      organizationId: row.organizationId,
      at: row.blockTime,
      currency: row.settlementCurrency,
      subject: subjects[measure],
      worth: worth(row.settlementAmount, row.settlementDecimals),
    };
  });
}

function summed<Key>(items: readonly Item[], keyOf: (item: Item) => Key) {
  const sums = new Map<Key, { key: Key; items: number; total: bigint }>();
  for (const item of items) {
    const key = keyOf(item);
    const sum = sums.get(key) ?? { key, items: 0, total: 0n };
    sums.set(key, { key, items: sum.items + 1, total: sum.total + item.worth });
  }
  return [...sums.values()];
}

const byKey = (sums: readonly { key: unknown; items: number; total: bigint }[]) =>
  sums
    .filter(({ items }) => items !== 0)
    .map(({ key, items, total }) => [String(key), items, total])
    .sort(([one = ""], [other = ""]) => (one < other ? -1 : 1));

interface Question {
  readonly one: Instant;
  readonly other: Instant;
  readonly now: Instant;
}

async function compare(world: World, { one, other, now }: Question): Promise<void> {
  const { db, organizations } = world;
  const period = { from: Math.min(one, other), to: Math.max(one, other) + 1 };
  const questions: [FigureOwner, Measure][] = [
    ...organizations.flatMap((id) =>
      (["invoices", "volume", "wallet", "customer"] as const).map(
        (measure): [FigureOwner, Measure] => [id, measure],
      ),
    ),
    [platformScope, "invoices"],
    [platformScope, "volume"],
    [platformScope, "organization"],
  ];
  const items = new Map<Measure, readonly Item[]>();
  for (const measure of new Set(questions.map(([, measure]) => measure))) {
    items.set(measure, await itemsOf(db, measure));
  }
  for (const [scope, measure] of questions) {
    for (const currency of ["USD", "USDT", null]) {
      const counted = (items.get(measure) ?? []).filter(
        (item) =>
          (scope === platformScope || item.organizationId === scope) &&
          (currency === null || item.currency === currency) &&
          item.subject !== null &&
          item.at >= period.from &&
          item.at < period.to,
      );
      const reading = { scope, measure, period, currency };
      const told = JSON.stringify({ scope, measure, currency });
      const expected = summed(counted, ({ subject }) => subject ?? "");
      expect(byKey(await sumBySubject(db, reading, now)), told).to.deep.equal(byKey(expected));
      expect(byKey(await sumByDay(db, reading, now)), told).to.deep.equal(
        byKey(summed(counted, ({ at }) => Math.floor(at / day) * day)),
      );
      const ranking = [...expected].sort(
        (left, right) =>
          Number(right.total > left.total) - Number(right.total < left.total) ||
          right.items - left.items ||
          (left.key < right.key ? -1 : 1),
      );
      expect(await largestSubjects(db, reading, now, 2), told).to.deep.equal(ranking.slice(0, 2));
    }
  }
}

/** In full: `npm run prove:figures`. */
const runs = process.env["TILL_PROVE"] === "1" ? 500 : 12;

/** Tables to clear, so that the next history starts as on a fresh store. */
const left = ["figure_changes", "figures", "payments", "transfers", "invoices"];

eachStore("Figures", (store) => {
  store.leavesUnsound({
    checks: [...handWritten.checks, "figures.facts"],
    because: `${handWritten.because}, and some changes of figures have no invoice behind them`,
  });

  it("equal a recomputation, for any period and after any history", async () => {
    const question = fc.record({ one: instant, other: instant, now: instant });
    const db = await store.open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.array(question, { minLength: 1, maxLength: 3 }),
        async (steps, questions) => {
          await db.write(testContext, async (tx) => {
            for (const table of left) await tx.run(`DELETE FROM ${table}`);
          });
          const books = openBooks(db);
          const organizations = [
            await addOrganization(db, books.ids, start),
            await addOrganization(db, books.ids, start),
          ];
          const world: World = { db, books, organizations, issued: [], paid: [] };
          for (const each of steps) await play(world, each);
          for (const each of questions) await compare(world, each);
          await books.settle();
          expect(await db.find(figureChanges, "LIMIT 1")).to.deep.equal([]);
          for (const each of questions) await compare(world, each);
        },
      ),
      { numRuns: runs },
    );
  });

  it("disappear completely when their items are reverted", async () => {
    const db = await store.open();
    const books = openBooks(db);
    const organizationId = await addOrganization(db, books.ids, start);
    const invoice = await books.issue({ organizationId, at: start, amount: 2_500n });
    await books.settle();
    const before = await db.find(figures, "ORDER BY measure, grain, organization_id, subject");
    const payment = await books.pay(invoice, { at: start + minute, worth: 2_500n });
    const paid = await books.setStatus(invoice, "paid");
    await books.settle();
    expect(await db.find(figures, "WHERE measure = 'volume'")).to.have.length(4);
    await books.change(invoice, payment, { status: "reverted" });
    await books.setStatus(paid, "open");
    await books.settle();
    expect(
      await db.find(figures, "ORDER BY measure, grain, organization_id, subject"),
    ).to.deep.equal(before);
  });

  it("sum up correctly if removals are summed before additions", async () => {
    const db = await store.open();
    const books = openBooks(db);
    const organizationId = await addOrganization(db, books.ids, start);
    const invoice = await books.issue({ organizationId, at: start, amount: 2_500n });
    await books.setStatus(invoice, "paid");
    // The issue is kept back, as if its transaction were the later one to be found.
    const [issue] = await db.find(figureChanges, "WHERE subject = 'open' AND sign = 1");
    if (issue === undefined) throw new Error("the issue was not metered");
    await db.write(testContext, (tx) =>
      tx.run("DELETE FROM figure_changes WHERE id = $1", [issue.id]),
    );
    await books.settle();
    expect(await db.find(figures, "WHERE subject = 'open' AND sign = -1")).to.have.length(4);
    await db.write(testContext, (tx) => tx.insert(figureChanges, issue));
    const reading = {
      scope: organizationId,
      measure: "invoices",
      period: { from: start, to: start + day },
      currency: "USD",
    } as const;
    const total = 2_500n * 10n ** BigInt(figureDecimals - 2);
    const counted = async () =>
      (await sumBySubject(db, reading, start)).filter(({ items }) => items > 0);
    expect(await counted()).to.deep.equal([{ key: "paid", items: 1, total }]);
    await books.settle();
    expect(await counted()).to.deep.equal([{ key: "paid", items: 1, total }]);
    expect(await db.find(figures, "WHERE subject = 'open'")).to.deep.equal([]);
  });

  it("are summed even if there are more changes than one batch holds", async () => {
    const db = await store.open();
    const books = openBooks(db);
    const organizationId = await addOrganization(db, books.ids, start);
    await db.write(testContext, (tx) =>
      tx.insertMany(
        figureChanges,
        Array.from({ length: 2_500 }, (_, number) => ({
          organizationId,
          id: books.ids.next("figure", start),
          measure: "volume" as const,
          happenedAt: start + number,
          currency: "USD",
          subject: "",
          items: 1,
          sign: 1,
          amount: BigInt(number),
        })),
      ),
    );
    const reading = {
      scope: platformScope,
      measure: "volume",
      period: { from: start, to: start + day },
      currency: "USD",
    } as const;
    const expected = [{ key: "", items: 2_500, total: (2_499n * 2_500n) / 2n }];
    expect(await sumBySubject(db, reading, start)).to.deep.equal(expected);
    const summing = books.settle().then(() => true);
    const stillSumming = () => Promise.race([summing, Promise.resolve(false)]);
    // Concurrent readers count every change once: in the sums, or as a pending change.
    while (!(await stillSumming())) {
      expect(await sumBySubject(db, reading, start)).to.deep.equal(expected);
    }
    expect(await sumBySubject(db, reading, start)).to.deep.equal(expected);
    expect(await db.find(figures, "WHERE grain = 'day'")).to.have.length(3);
  });
});
