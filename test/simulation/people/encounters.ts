import { invoices } from "../../../src/features/invoices/table.ts";
import { transfers } from "../../../src/features/payments/table.ts";
import { day, hour, minute, type Instant } from "../../../src/kernel/clock.ts";
import type { Adversity } from "../adversity.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { blockMs, finalityLag } from "../stage.ts";
import type { Step } from "../steps.ts";
import type { Merchants } from "./merchants.ts";
import type { Payers } from "./payers.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

/** Several deeds that follow each other, because chance alone would seldom bring them together. */
export interface Encounters {
  readonly deceive: (step: Of<"deceive">, name: string) => Promise<void>;
  readonly regulars: (step: Of<"regulars">, name: string) => Promise<void>;
}

/** How long before a moment the watcher begins to run regularly. Final blocks are read for more than an hour. */
const eveMs = 80 * minute;
/** From one of its runs to the next. */
const eveLookMs = 25 * minute;
/** From a deadline, or a cancellation, to the end of the hold. */
const lateMs = 7 * day;

export function makeEncounters(
  ground: Ground,
  people: {
    readonly merchants: Merchants;
    readonly payers: Payers;
    readonly adversity: Adversity;
  },
): Encounters {
  const { db, chain, deeds, attempt, look, mine, wait } = ground;
  const { merchants, payers, adversity } = people;

  /** Time passes until then, at last as an installation sees it that reads all the time. */
  async function waitUntil(at: Instant): Promise<void> {
    if (at - ground.now() > eveMs) await wait(at - ground.now() - eveMs);
    while (ground.now() < at) await wait(Math.min(eveLookMs, at - ground.now()));
  }

  /** The chain goes on and nothing is read. */
  function beSilent(ms: number): void {
    mine(Math.floor(ms / blockMs));
  }

  async function deceive(step: Of<"deceive">, name: string): Promise<void> {
    const { moment, offsetMs, silenceMs } = step;
    const order = { price: "12.00", token: "USDT", lifeMs: 20 * minute } as const;
    if (moment === "issue") {
      // Slow blocks, so that times between the final block and the newest one differ by minutes.
      for (let block = 0; block <= finalityLag; block += 1) {
        ground.pass(minute);
        mine(1);
      }
      await look();
      beSilent(silenceMs);
    }
    const invoice = await merchants.issue(order, name);
    if (invoice?.expiresAt == null) return;
    if (moment !== "issue") {
      const end = invoice.expiresAt + (moment === "end" ? lateMs : 0);
      await waitUntil(end + offsetMs - silenceMs);
      beSilent(silenceMs);
    }
    const { providers } = chain;
    const place = step.provider % providers.length;
    if (step.isAlone)
      for (const { lies } of providers) lies.isDead = lies !== providers[place]?.lies;
    adversity.shift(place, step.blocks, step.shiftMs);
    if (step.pays) await payers.pay(invoice, "exact");
    else mine(1);
    await look();
    if (step.lasts) {
      mine(finalityLag + 2);
      await look();
    }
    for (const [other, provider] of providers.entries()) {
      if (other !== place) provider.lies.isDead = false;
      else if (!step.lasts) provider.beHonest();
    }
  }

  async function regulars(step: Of<"regulars">, name: string): Promise<void> {
    const { price, secondPrice, token, isFirstPaid, isFirstOver } = step;
    const first = await merchants.issue({ price, token, lifeMs: hour }, `${name}-first`);
    if (first === null) return;
    if (isFirstPaid) {
      await payers.pay(first, "exact");
      await look();
    }
    const order = { price: secondPrice, token, lifeMs: day };
    const second = await merchants.issue(order, `${name}-second`);
    if (second === null) return;
    if (isFirstOver) {
      await wait((first.expiresAt ?? 0) + lateMs + 4 * hour - ground.now());
      const third = await merchants.issue({ price, token, lifeMs: hour }, `${name}-third`);
      if (third !== null) await round(third);
      return;
    }
    await round(second);
  }

  /** A payer leaves out what tells an amount from others: the merchant must find whose money it is. */
  async function round(invoice: Invoice): Promise<void> {
    await payers.pay(invoice, "rounded");
    await look();
    const hash = [...deeds.payments.keys()].at(-1) ?? "";
    const found = await db.findOne(
      transfers,
      "WHERE transaction_hash = $1 AND status = 'seen' AND disposition = 'unmatched'",
      [hash],
    );
    if (found?.organizationId == null) return;
    const { id, organizationId } = found;
    const view = await attempt(({ services }) => services.transfers.get(organizationId, id));
    const now = await db.findOne(invoices, "WHERE id = $1", [invoice.id]);
    if (view === null || now === null || now.status === "paid" || now.status === "canceled") return;
    const { suggestions } = view;
    const place = suggestions.findIndex((each) => each.invoice.id === now.id);
    const paid = suggestions.findIndex(({ reasons }) => reasons.includes("already_paid"));
    if (place === -1 || (paid !== -1 && paid < place)) {
      deeds.faults.push(`${id} waits in the inbox, and ${now.id} is not suggested for it`);
    }
  }

  return { deceive, regulars };
}
