import { expect } from "chai";
import { cancelInvoice } from "../../../../src/features/invoices/invoices.ts";
import {
  exactMatches,
  hasEndedHolds,
  matchHolds,
  rivalRange,
  type HoldMatch,
  type MatchCandidate,
} from "../../../../src/features/invoices/holds/matching.ts";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { holds, invoices } from "../../../../src/features/invoices/table.ts";
import { day, minute } from "../../../../src/kernel/clock.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { networkOf, openLedger, type Ledger } from "../../../support/ledger.ts";
import { anyStore, testContext, whileBroken } from "../../../support/store/stores.ts";
import { longChain, unseen, usdt } from "../../../support/amounts.ts";

describe("The matches among the holds of an exact amount or a whole address", () => {
  const held = (key: string, kind: "amount" | "exclusive", invoiceId: "inv_1" | "inv_2") =>
    ({
      key,
      kind,
      invoiceId,
      organizationId: "org_1",
      startsAt: 1_000,
      former: null,
      needsDecision: 0,
      uncertain: 0,
      newAddress: 0,
      above: null,
      below: null,
    }) as const;
  const match = (invoiceId: string, rule: string) => ({ invoiceId, rule, organizationId: "org_1" });

  it("are by the whole address before the amount, in whatever order these are found", () => {
    const found = [held("t1", "amount", "inv_1"), held("t1", "exclusive", "inv_2")];
    for (const rows of [found, found.toReversed()]) {
      expect(exactMatches(rows).get("t1")).to.deep.equal(match("inv_2", "exclusive_address"));
    }
  });

  it("are with the first of two holds of the amount, and uncertain if an earlier invoice had it", () => {
    const [first, second] = [held("t1", "amount", "inv_1"), held("t1", "amount", "inv_2")];
    const exact = match("inv_1", "exact_amount");
    expect([...exactMatches([first, second])]).to.deep.equal([["t1", exact]]);
    const recycled = { ...first, former: "hld_before" };
    expect([...exactMatches([recycled])]).to.deep.equal([
      ["t1", { ...exact, objection: "ambiguous_amount" }],
    ]);
  });
});

describe("The amounts of rivals of a tolerant invoice", () => {
  it("are from as far below the transfer's amount as the invoice's is above it, and from zero on", () => {
    for (const [amount, above, least] of [
      [1_000n, 1_010n, 990n],
      [11n, 21n, 1n],
      [10n, 20n, 0n],
      [9n, 19n, 0n],
    ] as const) {
      expect(rivalRange(amount, above)).to.deep.equal({ least, most: above });
    }
  });
});

anyStore("Transfers to a shared address", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open(), "ethereum", "bsc");
    for (const [network, digit] of [
      ["ethereum", "7"],
      ["bsc", "8"],
    ] as const) {
      await shop.scan(network);
      await shop.addWallet(network, { address: `0x${digit.repeat(40)}` });
    }
  });

  const issue = (amount: string, underpaymentTolerance = "0") =>
    shop.create({ network: "ethereum", amount, underpaymentTolerance });
  const transfer = (key: string, amount: number): MatchCandidate => ({
    key,
    token: "USDT",
    address: "7".repeat(40),
    amount: usdt(amount),
    blockTime: shop.now(),
    ...unseen,
  });

  describe("that are matched together", () => {
    let exact: InvoiceView;
    let paid: InvoiceView;
    let tolerant: InvoiceView;
    let most: InvoiceView;

    before(async () => {
      exact = await issue("30.00");
      paid = await issue("24.60");
      tolerant = await issue("25.00", "2");
      most = await issue("20.00", "5");
      // Each of these is as near to 49.75 as the other.
      await issue("50.00", "2");
      await issue("49.50");
    });

    /** Matches transfers while one invoice is paid. Returns the matches, and the number of statements. */
    async function matched(transfers: readonly MatchCandidate[]) {
      let statements = 0;
      const counted = (tx: Tx): Tx => ({
        ...tx,
        all(sql, values) {
          statements += 1;
          return tx.all(sql, values);
        },
      });
      let found = new Map<string, HoldMatch>();
      await whileBroken(
        shop.db,
        async (tx) => {
          await tx.update(invoices, { status: "paid" }, "WHERE id = $1", [paid.id]);
          found = await matchHolds(counted(tx), networkOf(shop, "ethereum"), transfers, longChain);
        },
        () => Promise.resolve(),
      );
      return { found: Object.fromEntries(found), statements };
    }

    it("go by exact amount first, then by the tolerance of one invoice unless another is as near", async () => {
      const { found } = await matched([
        transfer("exact", 30),
        transfer("paid before", 24.6),
        transfer("tolerant", 24.8),
        transfer("five percent less", 19),
        transfer("rivaled", 49.75),
        transfer("unknown", 77),
      ]);
      const match = ({ id: invoiceId, organizationId }: InvoiceView, rule: HoldMatch["rule"]) => {
        return { invoiceId, organizationId, rule };
      };
      expect(found).to.deep.equal({
        exact: match(exact, "exact_amount"),
        // Not by the tolerance of the other one, although that one asks for money.
        "paid before": match(paid, "exact_amount"),
        tolerant: match(tolerant, "within_tolerance"),
        "five percent less": match(most, "within_tolerance"),
      });
    });

    it("take no more statements than needed", async () => {
      const cases: readonly (readonly [readonly MatchCandidate[], statements: number])[] = [
        [[], 0],
        [[transfer("exact", 30)], 1],
        [[transfer("unknown", 77)], 2],
        [[transfer("tolerant", 24.8)], 3],
        [[transfer("exact", 30), transfer("rivaled", 49.75), transfer("tolerant", 24.8)], 3],
      ];
      for (const [transfers, statements] of cases) {
        const keys = transfers.map(({ key }) => key).join(", ");
        expect((await matched(transfers)).statements, keys).to.equal(statements);
      }
    });
  });

  it("are not matched within a tolerance while an earlier invoice may be paid that asked for just this", async () => {
    const former = await issue("90.00");
    const tolerant = await issue("91.00", "2");
    const network = networkOf(shop, "ethereum");
    const now = shop.now();
    const end = now + minute;
    const sent = [
      transfer("in time", 90),
      { ...transfer("at the end", 90), blockTime: end },
      { ...transfer("too late", 90), blockTime: end + 1 },
      { ...transfer("at an uncertain time", 90), blockTime: null },
      transfer("another amount", 90.01),
      { ...transfer("another token", 90), token: "USDC" },
    ];
    const matchedWith = async (recycled: InvoiceView, amount: bigint, endsAt = end) => {
      let found = new Map<string, HoldMatch>();
      await whileBroken(
        shop.db,
        async (tx) => {
          const released = { amount, endsAt, releasedAt: now, recycledAt: now };
          await tx.update(holds, released, "WHERE invoice_id = $1", [former.id]);
          await tx.update(holds, { invoiceId: recycled.id }, "WHERE invoice_id = $1", [former.id]);
          found = await matchHolds(tx, network, sent, longChain);
        },
        () => Promise.resolve(),
      );
      for (const { invoiceId, rule } of found.values()) {
        expect({ invoiceId, rule }).to.deep.equal({
          invoiceId: tolerant.id,
          rule: "within_tolerance",
        });
      }
      return [...found.keys()];
    };
    expect(await matchedWith(former, 90_000_000n)).to.have.members(["too late", "another amount"]);
    const all = sent.map(({ key }) => key).filter((key) => key !== "another token");
    expect(await matchedWith(former, 90_500_000n)).to.have.members(all);
    // Whatever the uncertain time is, the transfer was not made before the present invoice.
    const longAgo = now - 300 * day;
    expect(await matchedWith(former, 90_000_000n, longAgo)).to.have.members(all);
    // The invoice itself may have asked for it before.
    expect(await matchedWith(tolerant, 90_000_000n)).to.have.members(all);
  });

  it("are matched with a canceled invoice for the late window from then on, but not longer than before", async () => {
    const { organizationId } = shop;
    const setWindow = (days: number) =>
      shop.db.write(testContext, (tx) =>
        tx.run("UPDATE organizations SET late_window_days = $2 WHERE id = $1", [
          organizationId,
          days,
        ]),
      );
    for (const [days, lasts] of [
      [2, 2 * day],
      [90, 7 * day + 60 * minute],
    ] as const) {
      await setWindow(7);
      const { id } = await issue("80.00");
      await setWindow(days);
      const canceled = await cancelInvoice(shop.app, testContext, organizationId, id);
      expect(canceled.lateUntil).to.equal(shop.now() + lasts);
      const held = await shop.db.find(holds, "WHERE invoice_id = $1", [id]);
      expect(held.map(({ endsAt }) => endsAt)).to.deep.equal([canceled.lateUntil]);
    }
    const draft = await shop.create({ network: "ethereum", draft: true });
    const canceled = await cancelInvoice(shop.app, testContext, organizationId, draft.id);
    expect(canceled.lateUntil).to.equal(null);
  });

  it("are matched with holds until these are released, some time after they have ended", async () => {
    const { lateUntil } = await shop.create({ network: "bsc" });
    const end = lateUntil ?? 0;
    expect(await hasEndedHolds(shop.db, "bsc", end)).to.equal(false);
    expect(await hasEndedHolds(shop.db, "bsc", end + 1)).to.equal(true);
    const isReleased = await whileBroken(
      shop.db,
      (tx) => tx.run("UPDATE holds SET released_at = 8 WHERE network = 'bsc'"),
      (reader) => hasEndedHolds(reader, "bsc", end + 1),
    );
    expect(isReleased).to.equal(false);
  });
});
