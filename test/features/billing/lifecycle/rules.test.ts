import { expect } from "chai";
import fc from "fast-check";
import {
  nextActionAt,
  nextTransition,
  type LifecycleState,
  type LifecycleSubscription,
  type Transition,
  type UnpaidInvoice,
} from "../../../../src/features/billing/lifecycle/rules.ts";
import { periodAt } from "../../../../src/features/billing/periods.ts";
import { day, hour, minute } from "../../../../src/kernel/clock.ts";

const start = Date.parse("2026-01-31T10:00:00Z");
const policy = {
  dueDays: 7,
  graceDays: 7,
  cancelAfterSuspendedDays: 30,
  paymentInFlightHours: 24,
  reminderDays: [-3, 0, 3],
  minCollectable: "1.00",
};
const monthly = periodAt(start, "month", 0);
const yearly = { interval: "year" } as const;
const monthlyTerms = { interval: "month" } as const;

const active: LifecycleSubscription = {
  status: "active",
  terms: { interval: "month" },
  anchorAt: start,
  periodIndex: 0,
  currentPeriodEnd: monthly.end,
  trialEndsAt: null,
  trialNoticeAt: null,
  suspendedAt: null,
  cancelAt: null,
  pendingPlan: null,
  createdAt: start,
};
const trialEnd = start + 14 * day;
const trialing: LifecycleSubscription = {
  ...active,
  status: "trialing",
  anchorAt: trialEnd,
  periodIndex: -1,
  currentPeriodEnd: trialEnd,
  trialEndsAt: trialEnd,
  trialNoticeAt: trialEnd - 3 * day,
};
const pastDue: LifecycleSubscription = { ...active, status: "past_due" };
const suspendedAt = start + 14 * day;
const suspended: LifecycleSubscription = { ...active, status: "suspended", suspendedAt };

let made = 0;
const invoice = (changes: Partial<UnpaidInvoice> = {}): UnpaidInvoice => {
  made += 1;
  return {
    id: `pin_${String(made)}`,
    status: "open",
    issuedAt: start,
    dueAt: start + 7 * day,
    dunningFrom: null,
    // All reminders are sent; they have tests of their own.
    remindersSent: 3,
    ...changes,
  };
};
const open = invoice({ id: "pin_open" });
const debt = invoice({ id: "pin_debt", status: "past_due" });
const trialInvoice = invoice({ id: "pin_trial", dueAt: trialEnd });

const state = (
  subscription: LifecycleSubscription,
  now: number,
  invoices: readonly UnpaidInvoice[] = [],
  more: Partial<LifecycleState> = {},
): LifecycleState => ({
  subscription,
  invoices,
  inFlight: new Map(),
  policy,
  pendingTerms: null,
  isFirstInvoiceStale: false,
  now,
  ...more,
});

/** Expects a step at a time, and not a millisecond before. */
function happens(
  make: (now: number) => LifecycleState,
  at: number,
  expected: Partial<Transition> & { kind: Transition["kind"] },
): void {
  expect(nextTransition(make(at - 1))?.kind).to.not.equal(expected.kind);
  expect(nextActionAt(make(at - 1))).to.equal(at);
  expect(nextTransition(make(at))).to.deep.include({ at, ...expected });
}

const period = (index: number, anchorAt = start, interval: "month" | "year" = "month") => ({
  anchorAt,
  interval,
  index,
  ...periodAt(anchorAt, interval, index),
});

const inFlight = (of: UnpaidInvoice, seenAt: number) => ({ inFlight: new Map([[of.id, seenAt]]) });

describe("a subscription's next transition", () => {
  it("begins the first paid period exactly when a paid trial ends", () => {
    happens((now) => state(trialing, now), trialEnd, {
      kind: "activated",
      change: "none",
      period: period(0, trialEnd),
    });
  });

  it("begins the scheduled plan with the period after the trial, paid or not", () => {
    const pending = { ...trialing, pendingPlan: "scale" };
    const ends = (
      invoices: readonly UnpaidInvoice[],
      terms: { interval: "month" | "year" } | null,
    ) => nextTransition(state(pending, trialEnd, invoices, { pendingTerms: terms }));
    for (const [invoices, kind] of [
      [[], "activated"],
      [[trialInvoice], "trial_unpaid"],
    ] as const) {
      expect(ends(invoices, monthlyTerms)).to.deep.include({
        kind,
        change: "applied",
        period: period(0, trialEnd),
      });
      expect(ends(invoices, yearly)).to.deep.include({
        kind,
        change: "applied",
        period: period(0, trialEnd, "year"),
      });
      expect(ends(invoices, null)).to.deep.include({ kind, change: "dropped" });
    }
  });

  it("replaces a stale first invoice before any other step, even after the end of the trial", () => {
    for (const now of [start + hour, trialEnd + day]) {
      const stale = state(trialing, now, [trialInvoice], { isFirstInvoiceStale: true });
      expect(nextTransition(stale)?.kind).to.equal("first_invoice_replaced");
    }
  });

  it("makes an unpaid trial past due at its end and begins its first period", () => {
    happens((now) => state(trialing, now, [trialInvoice]), trialEnd, {
      kind: "trial_unpaid",
      period: period(0, trialEnd),
      invoiceIds: ["pin_trial"],
    });
  });

  it("waits at the end of a trial for a payment in flight, for at most a day", () => {
    const seenAt = trialEnd - hour;
    happens(
      (now) => state(trialing, now, [trialInvoice], inFlight(trialInvoice, seenAt)),
      seenAt + day,
      { kind: "trial_unpaid" },
    );
  });

  it("5: asks for nothing at the trial's end but what is open or past due", () => {
    const ends = (status: UnpaidInvoice["status"]) =>
      nextTransition(state(trialing, trialEnd, [{ ...trialInvoice, status }]))?.kind;
    expect(ends("past_due")).to.equal("trial_unpaid");
    expect(ends("paid")).to.equal("activated");
    expect(ends("void")).to.equal("activated");
  });

  it("5: is past due at the trial's end before it reminds of the same moment", () => {
    const unpaid = { ...trialInvoice, remindersSent: 1 };
    expect(nextTransition(state(trialing, trialEnd, [unpaid]))?.kind).to.equal("trial_unpaid");
  });

  it("waits for a due date that was extended beyond the end of the trial", () => {
    const moved = { ...trialInvoice, dueAt: trialEnd + 2 * day };
    happens((now) => state(trialing, now, [moved]), trialEnd + 2 * day, { kind: "trial_unpaid" });
  });

  it("renews at the period boundary, counted from the anchor", () => {
    happens((now) => state(active, now), monthly.end, {
      kind: "renewed",
      change: "none",
      period: period(1),
    });
    const second = { ...active, periodIndex: 1, currentPeriodEnd: period(1).end };
    happens((now) => state(second, now), Date.parse("2026-03-31T10:00:00Z"), {
      kind: "renewed",
      period: period(2),
    });
  });

  it("catches up one boundary at a time, however late", () => {
    const now = start + 100 * day;
    let subscription = active;
    const ends: number[] = [];
    for (let next = nextTransition(state(subscription, now)); next !== null;) {
      if (next.kind !== "renewed") throw new Error(next.kind);
      const { index, end } = next.period;
      ends.push(end);
      subscription = { ...subscription, periodIndex: index, currentPeriodEnd: end };
      next = nextTransition(state(subscription, now));
    }
    expect(ends).to.deep.equal([period(1).end, period(2).end, period(3).end]);
    expect(nextActionAt(state(subscription, now))).to.equal(period(3).end);
  });

  it("becomes past due with its invoice, to the millisecond", () => {
    happens((now) => state(active, now, [open]), open.dueAt, {
      kind: "past_due",
      invoiceIds: ["pin_open"],
    });
  });

  it("waits for a payment in flight for a day after it was seen, however late it arrived", () => {
    const early = open.dueAt - 2 * hour;
    happens((now) => state(active, now, [open], inFlight(open, early)), early + day, {
      kind: "past_due",
    });
    const longAgo = open.dueAt - 3 * day;
    happens((now) => state(active, now, [open], inFlight(open, longAgo)), open.dueAt, {
      kind: "past_due",
    });
  });

  it("handles invoices with the same deadline together and earlier ones alone", () => {
    const collectionInvoice = invoice({ id: "pin_twin" });
    const later = invoice({ id: "pin_later", dueAt: open.dueAt + minute });
    const next = nextTransition(state(active, open.dueAt + day, [later, open, collectionInvoice]));
    expect(next).to.deep.include({ kind: "past_due", invoiceIds: ["pin_open", "pin_twin"] });
  });

  it("is reactivated as soon as no invoice is past due, even if others are open", () => {
    const now = start + 8 * day;
    expect(nextTransition(state(pastDue, now))).to.deep.equal({ kind: "reactivated", at: now });
    const later = invoice({ dueAt: now + day });
    expect(nextTransition(state(pastDue, now, [later]))?.kind).to.equal("reactivated");
    expect(nextTransition(state(pastDue, now, [debt]))).to.equal(null);
  });

  it("is suspended when the grace period of its oldest debt ends", () => {
    const younger = invoice({ status: "past_due", dueAt: debt.dueAt + day });
    happens((now) => state(pastDue, now, [younger, debt]), debt.dueAt + 7 * day, {
      kind: "suspended",
    });
  });

  it("is not suspended while a payment is in flight", () => {
    const seenAt = debt.dueAt + 7 * day - minute;
    happens((now) => state(pastDue, now, [debt], inFlight(debt, seenAt)), seenAt + day, {
      kind: "suspended",
    });
  });

  it("is billed for a boundary before its suspension", () => {
    const late = invoice({ status: "past_due", dueAt: monthly.end - day });
    happens((now) => state(pastDue, now, [late]), monthly.end, {
      kind: "renewed",
      period: period(1),
    });
  });

  it("is not billed for boundaries while it is suspended", () => {
    const now = monthly.end + day;
    expect(nextTransition(state(suspended, now, [debt]))).to.equal(null);
  });

  it("resumes in the period of its suspension when the debt is paid in that period", () => {
    const now = suspendedAt + day;
    expect(nextTransition(state(suspended, now))).to.deep.equal({
      kind: "resumed",
      at: now,
      period: null,
      skipped: 0,
      change: "none",
    });
  });

  it("skips the unserved periods and begins the current one when it resumes", () => {
    const now = Date.parse("2026-04-15T00:00:00Z");
    expect(nextTransition(state(suspended, now))).to.deep.equal({
      kind: "resumed",
      at: now,
      period: period(2),
      skipped: 1,
      change: "none",
    });
    const later = { ...suspended, periodIndex: 1, currentPeriodEnd: period(1).end };
    expect(nextTransition(state(later, now))).to.deep.include({ period: period(2), skipped: 0 });
    const atBoundary = nextTransition(state(suspended, monthly.end));
    expect(atBoundary).to.deep.include({ period: period(1), skipped: 0 });
  });

  it("resumes under the plan that was scheduled meanwhile", () => {
    const now = Date.parse("2026-04-15T00:00:00Z");
    const pending = { ...suspended, pendingPlan: "x" };
    const resumed = (pendingTerms: LifecycleState["pendingTerms"], at = now) =>
      nextTransition(state(pending, at, [], { pendingTerms }));
    expect(resumed(monthlyTerms)).to.deep.include({ change: "applied", period: period(2) });
    expect(resumed(null)).to.deep.include({ change: "dropped", period: period(2) });
    const { start: anchorAt } = period(2);
    expect(resumed(yearly)).to.deep.include({
      change: "applied",
      period: { anchorAt, interval: "year", index: 0, ...periodAt(anchorAt, "year", 0) },
    });
    const early = resumed(monthlyTerms, suspendedAt + day);
    expect(early).to.deep.include({ change: "none", period: null });
  });

  it("is canceled thirty days after its suspension", () => {
    happens((now) => state(suspended, now, [debt]), suspendedAt + 30 * day, { kind: "canceled" });
  });

  it("is canceled by its debt alone if the time of its suspension is unknown", () => {
    const unknown = { ...suspended, suspendedAt: null };
    const at = debt.dueAt + (policy.graceDays + policy.cancelAfterSuspendedDays) * day;
    happens((now) => state(unknown, now, [debt]), at, { kind: "canceled" });
  });

  it("12: is canceled for its oldest debt", () => {
    const younger = invoice({ status: "past_due", dueAt: suspendedAt + day });
    happens((now) => state(suspended, now, [younger, debt]), suspendedAt + 30 * day, {
      kind: "canceled",
    });
  });

  it("is canceled later if the due date of the debt was extended after the suspension", () => {
    const moved = { ...debt, dueAt: debt.dueAt + 3 * day };
    happens((now) => state(suspended, now, [moved]), suspendedAt + 33 * day, { kind: "canceled" });
  });

  it("has no further steps once it is canceled, except for invoices that were still open", () => {
    const canceled: LifecycleSubscription = { ...active, status: "canceled" };
    const now = start + 400 * day;
    expect(nextActionAt(state(canceled, now, [debt]))).to.equal(null);
    expect(nextTransition(state(canceled, now, [debt]))).to.equal(null);
    happens((at) => state(canceled, at, [open]), open.dueAt, { kind: "past_due" });
  });

  it("ends at the boundary that an operator chose, even with a scheduled plan change", () => {
    const cancelAt = monthly.end;
    const ending = { ...active, cancelAt, pendingPlan: "scale" };
    happens((now) => state(ending, now, [], { pendingTerms: monthlyTerms }), cancelAt, {
      kind: "ended",
    });
    const later = nextTransition(state({ ...active, cancelAt: cancelAt + day }, monthly.end, []));
    expect(later).to.deep.include({ kind: "renewed", at: monthly.end });
  });

  it("changes the plan at the boundary and keeps the anchor if the interval stays the same", () => {
    const pending = { ...active, pendingPlan: "scale" };
    happens((now) => state(pending, now, [], { pendingTerms: monthlyTerms }), monthly.end, {
      kind: "renewed",
      change: "applied",
      period: period(1),
    });
  });

  it("drops a change to a plan that no longer exists and renews", () => {
    const pending = { ...active, pendingPlan: "gone" };
    const next = nextTransition(state(pending, monthly.end));
    expect(next).to.deep.include({ kind: "renewed", change: "dropped", period: period(1) });
  });

  it("waits until the end of the pause after a reorganization, whatever is overdue", () => {
    const again = start + 40 * day;
    const lost = { ...open, dunningFrom: again };
    const quiet = { ...active, currentPeriodEnd: start + 60 * day };
    happens((now) => state(quiet, now, [lost]), again, { kind: "past_due" });
    const lostDebt = { ...debt, dunningFrom: again };
    happens((now) => state({ ...quiet, status: "past_due" }, now, [lostDebt]), again, {
      kind: "suspended",
    });
  });

  it("counts periods from the boundary if the interval changes", () => {
    const pending = { ...active, pendingPlan: "yearly" };
    const next = nextTransition(state(pending, monthly.end, [], { pendingTerms: yearly }));
    expect(next).to.deep.include({
      kind: "renewed",
      change: "applied",
      period: period(0, monthly.end, "year"),
    });
  });

  it("announces the end of a trial once, three days before, unless the trial is that short", () => {
    const fresh = { ...trialing, trialNoticeAt: null };
    happens((now) => state(fresh, now), trialEnd - 3 * day, { kind: "trial_ending" });
    const short = { ...fresh, createdAt: trialEnd - 3 * day };
    expect(nextActionAt(state(short, start))).to.equal(trialEnd);
    const unlimited = { ...fresh, trialEndsAt: null };
    expect(nextActionAt(state(unlimited, start))).to.equal(fresh.currentPeriodEnd);
  });

  it("sends each reminder once, only the last of several that are due, and none dated before the issue", () => {
    const unpaid = { ...open, remindersSent: 0 };
    const remind = (now: number, of = unpaid) => {
      const next = nextTransition(state(active, now, [of]));
      return next?.kind === "reminded" ? next.remindersSent : null;
    };
    expect(remind(open.dueAt - 3 * day - 1)).to.equal(null);
    expect(remind(open.dueAt - 3 * day)).to.equal(1);
    expect(remind(open.dueAt - 1, { ...unpaid, remindersSent: 1 })).to.equal(null);
    const due = { ...unpaid, status: "past_due" as const };
    const remindDebt = (now: number, remindersSent: number) => {
      const next = nextTransition(state(pastDue, now, [{ ...due, remindersSent }]));
      return next?.kind === "reminded" ? next.remindersSent : null;
    };
    expect(remindDebt(open.dueAt, 1)).to.equal(2);
    expect(remindDebt(open.dueAt + 3 * day, 1)).to.equal(3);
    expect(remindDebt(open.dueAt + 3 * day, 3)).to.equal(null);
    const lateIssue = { ...unpaid, issuedAt: open.dueAt - day };
    expect(remind(open.dueAt - hour, lateIssue)).to.equal(null);
    const issuedThen = { ...unpaid, issuedAt: open.dueAt - 3 * day };
    expect(remind(open.dueAt - 3 * day, issuedThen)).to.equal(null);
    expect(nextActionAt(state(active, open.dueAt - hour, [lateIssue]))).to.equal(open.dueAt);
  });

  it("reminds of a trial's invoice, unless an operator ends the subscription with the trial", () => {
    const unpaid = { ...trialInvoice, remindersSent: 0 };
    const remind = (subscription: LifecycleSubscription) =>
      nextTransition(state(subscription, trialEnd - 3 * day, [unpaid]))?.kind;
    expect(remind(trialing)).to.equal("reminded");
    expect(remind({ ...trialing, cancelAt: trialEnd })).to.equal(undefined);
  });

  it("sends no reminder while a payment is in flight or the subscription is suspended", () => {
    const unpaid = { ...open, remindersSent: 0 };
    const now = open.dueAt - day;
    const flying = state(active, now, [unpaid], inFlight(unpaid, now));
    expect(nextTransition(flying)).to.equal(null);
    const owing = { ...debt, remindersSent: 0 };
    expect(nextTransition(state(suspended, suspendedAt + day, [owing]))).to.equal(null);
  });

  it("does nothing when the clock goes back, and returns the same step when called twice", () => {
    expect(nextTransition(state(active, start - hour, [open]))).to.equal(null);
    const late = state(active, open.dueAt + day, [open]);
    expect(nextTransition(late)).to.deep.equal(nextTransition(late));
  });

  it("is due exactly at its next action time, in every state", () => {
    const invoices = fc.array(
      fc.record({
        status: fc.constantFrom<UnpaidInvoice["status"]>("open", "past_due"),
        dueAt: fc.integer({ min: start, max: start + 90 * day }),
        remindersSent: fc.nat(3),
        dunningFrom: fc.option(fc.integer({ min: start, max: start + 90 * day })),
      }),
      { maxLength: 3 },
    );
    const subscriptions = fc.constantFrom(active, trialing, pastDue, suspended);
    fc.assert(
      fc.property(subscriptions, invoices, fc.nat(120), (subscription, given, days) => {
        const made = given.map((one) => invoice(one));
        const now = start + days * day;
        const told = state(subscription, now, made);
        const at = nextActionAt(told);
        expect(nextTransition(told) !== null).to.equal(at !== null && at <= now);
        if (at !== null && at > now) {
          expect(nextTransition(state(subscription, at - 1, made))).to.equal(null);
          expect(nextTransition(state(subscription, at, made))?.at).to.equal(at);
        }
      }),
      { numRuns: 500 },
    );
  });
});
