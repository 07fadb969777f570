import { getTransfer } from "../../../src/features/payments/inbox/transfers.ts";
import { submitCheckoutTransaction } from "../../../src/features/checkout/checkouts.ts";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { transfers } from "../../../src/features/payments/table.ts";
import { day, hour, minute, type Instant } from "../../../src/kernel/clock.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Adversity } from "../adversity.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { dustOf } from "../options.ts";
import { askFaults } from "../rules/prices.ts";
import { noLimits } from "../node.ts";
import { blockMs, finalityLag, networkId } from "../stage.ts";
import type { Step } from "../steps.ts";
import { decimal, type Merchants } from "./merchants.ts";
import type { Payers } from "./payers.ts";
import { householdAddress, type Strangers } from "./strangers.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

/** Several deeds that follow each other, because chance alone would seldom bring them together. */
export interface Encounters {
  readonly deceive: (step: Of<"deceive">, name: string) => Promise<void>;
  readonly regulars: (step: Of<"regulars">, name: string) => Promise<void>;
  readonly aim: (step: Of<"aim">, name: string) => Promise<void>;
  readonly household: (step: Of<"household">) => Promise<void>;
  readonly parts: (step: Of<"parts">, name: string) => Promise<void>;
  readonly earlier: (step: Of<"earlier">, name: string) => Promise<void>;
  readonly garble: (step: Of<"garble">, name: string) => Promise<void>;
}

/** How long before a moment the watcher begins to run regularly. Final blocks are read for more than an hour. */
const eveMs = 80 * minute;
/** From one of its runs to the next. */
const eveLookMs = 25 * minute;
/** Longer than a provider is left out after false times. */
const quarantineMs = 12 * minute;
/** For how long nothing is read before an invoice whose amount was paid before. */
const unreadMs = 10 * minute;
/** From a deadline, or a cancellation, to the end of the hold. */
const lateMs = 7 * day;

export function makeEncounters(
  ground: Ground,
  people: {
    readonly merchants: Merchants;
    readonly payers: Payers;
    readonly strangers: Strangers;
    readonly adversity: Adversity;
  },
): Encounters {
  const { db, chain, deeds, attempt, look, mine, wait } = ground;
  const { merchants, payers, strangers, adversity } = people;

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
    const { price, secondPrice, token, isFirstPaid, isFirstOver, rounds, submits } = step;
    const round = (invoice: Invoice) => roundTo(invoice, rounds, submits);
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

  /**
   * Others ask for what the exchange of a payer delivers of an amount of two decimals. If they open a link with that price,
   * two payers come, because the digits of one may be hit by chance.
   */
  async function aim(step: Of<"aim">, name: string): Promise<void> {
    const { price, token, fee, others, isBefore, count, tolerance, pays } = step;
    const delivered = lessFee(price, fee);
    if (delivered === null) return;
    async function order(): Promise<readonly Invoice[]> {
      const low = delivered ?? "";
      if (others !== "order") {
        const isPriced = others === "open_priced";
        return strangers.enter({ token, tolerance, amount: low, isPriced, count });
      }
      const made = await merchants.issue({ price: low, token, lifeMs: hour }, `${name}-low`);
      return made === null ? [] : [made];
    }
    const early = isBefore ? await order() : [];
    const victims: (Invoice | null)[] = [];
    for (let count = others === "open_priced" ? 2 : 1; count > 0; count -= 1) {
      const names = `${name}-victim${String(count)}`;
      victims.push(await merchants.issue({ price, token, lifeMs: hour }, names));
    }
    const late = isBefore ? [] : await order();
    for (const victim of victims) {
      if (victim !== null) await payers.pay(victim, fee);
    }
    await look();
    const other = [...early, ...late].at(-1);
    if (!pays || other === undefined) return;
    await payers.pay(other, "six");
    await look();
  }

  /** A household burdens a link, and everybody else who uses it must still be served. */
  async function household(step: Of<"household">): Promise<void> {
    const { price: amount, isPriced, wallet, count, changes, hashes, waitMs, how } = step;
    const entry = { token: "USDT", tolerance: "0", amount, isPriced, wallet };
    const honest = { ...entry, count: 1, from: () => "198.51.100.7" };
    const [early] = await strangers.enter(honest);
    const started = await strangers.enter({ ...entry, count, from: householdAddress });
    for (const each of started.slice(0, 3)) await strangers.pester(each, changes, hashes);
    await look();
    if (early !== undefined) await payers.pay(early, "exact");
    await wait(waitMs);
    const [late] = await strangers.enter(honest);
    if (late === undefined) deeds.faults.push(`nobody else can pay at a link beside a household`);
    else await payers.pay(late, how);
    await look();
  }

  /** A payer pays in two parts, of which the first leaves a rest that may be too small or too fine to be asked for. */
  async function parts({ price, token, leaves }: Of<"parts">, name: string): Promise<void> {
    const invoice = await merchants.issue({ price, token, lifeMs: day }, name);
    if (invoice?.payableAmount == null) return;
    const { id, tokenDecimals, payableAmount } = invoice;
    const dust = dustOf(tokenDecimals);
    const unit = 10n ** BigInt(Math.max(0, tokenDecimals - 8));
    const rest = {
      under_dust: (dust * 7n) / 10n,
      dust,
      over_dust: (dust * 3n) / 2n,
      odd: (payableAmount * 63n) / 100n,
      fine: payableAmount / 2n + 12_345n * unit,
    }[leaves];
    const part = await payers.payBut(invoice, rest);
    await look();
    if (part === null) return;
    const asked = deeds.parts.get(id) ?? new Set();
    deeds.parts.set(id, asked.add(part));
    await merchants.allocate(part, invoice);
    const now = await db.findOne(invoices, "WHERE id = $1", [id]);
    if (now?.status !== "partially_paid" || now.seenAmount === 0n) return;
    deeds.faults.push(...askFaults([now]));
    await payers.pay(now, "six");
    asked.add([...deeds.payments.keys()].at(-1) ?? "");
    await look();
  }

  /** Money that came before an invoice is not for it, although it is just what the invoice asks for. */
  async function earlier({ price, how, isWatched }: Of<"earlier">, name: string): Promise<void> {
    const order = { token: "USDT", lifeMs: day } as const;
    // A time that no two providers agree on proves nothing.
    for (const provider of chain.providers) provider.beHonest();
    await wait(quarantineMs);
    const other = isWatched ? { ...order, price: `1${price}` } : null;
    if (other !== null) await merchants.issue(other, `${name}-other`);
    mine(1);
    await look();
    const before = chain.tip().height;
    const hash = payers.payForElse("1".repeat(40), BigInt(price.replace(".", "")) * 10_000n);
    if (how === "unread" || how === "unshown") beSilent(unreadMs);
    // A provider with limits may not show the block in time, and goes on then.
    const isShown = (await networkState(db, networkId))?.tipHeight === before;
    if (how === "unshown" && isShown) {
      for (const { lies } of chain.providers) lies.behind = chain.tip().height - before;
    }
    if (how !== "unread") await look();
    await merchants.issue({ ...order, price }, name);
    if (how === "unshown") for (const { lies } of chain.providers) lies.behind = 0;
    if (how === "moved") adversity.reorganize({ kind: "reorganize", depth: 1, returning: 1 });
    await look();
    // A provider that is asked too often answers later, and a time that no two providers agree on makes no payment wait.
    const isRead = (await db.findOne(transfers, "WHERE transaction_hash = $1", [hash])) !== null;
    const isLimited = chain.providers.some(({ limits }) => limits !== noLimits);
    if (chain.providers.length > 1 && (isLimited || !isRead)) deeds.undated.add(hash);
  }

  /** A payment is read by the provider whose logs can be read, and is not gone if the others write it unreadably. */
  async function garble({ price, readable, isRead }: Of<"garble">, name: string): Promise<void> {
    const { providers } = chain;
    for (const provider of providers) provider.beHonest();
    await wait(quarantineMs);
    mine(1);
    await look();
    const invoice = await merchants.issue({ price, token: "USDT", lifeMs: day }, name);
    if (invoice === null) return;
    const pay = async () => {
      await payers.pay(invoice, "exact");
      return [...deeds.payments.keys()].at(-1) ?? "";
    };
    const statusOf = async (transactionHash: string) =>
      (await db.findOne(transfers, "WHERE transaction_hash = $1", [transactionHash]))?.status;
    const early = isRead ? await pay() : null;
    await look();
    const before = early === null ? null : await statusOf(early);
    for (const [place, { lies }] of providers.entries()) {
      lies.garblesAmounts = providers.length === 1 || place !== readable % providers.length;
    }
    const hash = early ?? (await pay());
    if (isRead) mine(1);
    await look();
    const status = await statusOf(hash);
    const isReadable = providers.length > 1 && providers.every(({ limits }) => limits === noLimits);
    if (before === "seen" ? status !== "seen" : !isRead && isReadable && status !== "seen") {
      deeds.faults.push(`${hash} is ${status ?? "not read"}, and a provider writes it unreadably`);
    }
    for (const provider of providers) provider.beHonest();
  }

  /** A payer leaves out what tells an amount from others: the merchant must find whose money it is. */
  async function roundTo(
    invoice: Invoice,
    how: Of<"regulars">["rounds"],
    submits: boolean,
  ): Promise<void> {
    const before = deeds.payments.size;
    await payers.pay(invoice, how);
    await look();
    if (deeds.payments.size === before) return;
    const hash = [...deeds.payments.keys()].at(-1) ?? "";
    if (submits) {
      await attempt(({ app }) =>
        submitCheckoutTransaction(app, testContext, invoice.checkoutId ?? "", `0x${hash}`),
      );
      await look();
    }
    const found = await db.findOne(
      transfers,
      "WHERE transaction_hash = $1 AND status = 'seen' AND disposition = 'unmatched'",
      [hash],
    );
    if (found?.organizationId == null) return;
    const { id, organizationId } = found;
    const view = await attempt(({ app }) => getTransfer(app, organizationId, id));
    const now = await db.findOne(invoices, "WHERE id = $1", [invoice.id]);
    if (view === null || now === null || now.status === "paid" || now.status === "canceled") return;
    // If the order is unknown, the invoice seems to be issued after a block with an old time.
    const hold = await db.findOne(holds, "WHERE invoice_id = $1 ORDER BY id LIMIT 1", [now.id]);
    const isOld = found.blockTime < (now.issuedAt ?? 0) - minute;
    if (isOld && hold?.isMarkRecent !== true) return;
    const { suggestions } = view;
    const place = suggestions.findIndex((each) => each.invoice.id === now.id);
    const paid = suggestions.findIndex(({ reasons }) => reasons.includes("already_paid"));
    // A provider may have given its block a time outside the invoice's.
    const isInTime =
      found.blockTime >= (now.issuedAt ?? 0) && found.blockTime <= (now.expiresAt ?? 0);
    if (place === -1 || (paid !== -1 && paid < place && isInTime)) {
      deeds.faults.push(`${id} waits in the inbox, and ${now.id} is not suggested for it`);
    }
    const isInReview = suggestions[place]?.reasons.includes("in_review") === true;
    const distanceOf = ({ remainingAmount, payableAmount }: Invoice): bigint => {
      const distances = [remainingAmount, payableAmount].map(
        (asked) => (asked ?? 0n) - found.amount,
      );
      return distances.map((one) => (one < 0n ? -one : one)).reduce((a, b) => (a < b ? a : b));
    };
    const isFarther = suggestions.slice(0, Math.max(0, place)).some((each) => {
      const isNear =
        each.invoice.tokenSymbol !== found.token || distanceOf(each.invoice) <= distanceOf(now);
      return isInReview || !isNear;
    });
    if (isFarther && (isInReview || isInTime)) {
      deeds.faults.push(`${id} waits in the inbox, and ${now.id} is not suggested for it first`);
    }
  }

  return { deceive, regulars, aim, household, parts, earlier, garble };
}

/** Returns what an exchange delivers of a price of two decimals, as a payer would enter it; null if nothing is left. */
function lessFee(price: string, fee: Of<"aim">["fee"]): string | null {
  const cents = BigInt(price.replace(".", ""));
  const kept = { fee_one: 100n, fee_half: 50n, fee_percent: (cents * 4n) / 100n }[fee];
  return kept < cents ? decimal(cents - kept, 2) : null;
}
