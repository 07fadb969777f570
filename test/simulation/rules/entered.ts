import type { Instant } from "../../../src/kernel/clock.ts";
import type { Invoice } from "../deeds.ts";
import type { World } from "../world.ts";
import { isUnpaidAt, reachOf, surchargesOf, type Hold, type Ledger } from "./prices.ts";

// Prices that payers without a credential entered at a link: nobody can aim at the money of others.

/** From how many amounts of a band on an exact one is evidence. */
const amountsLeast = 1_000n;
/** From how many other unpaid invoices of its link in its band on an invoice waits for the merchant. */
const othersMost = 10;
/** Of the amounts of one price, so many are among its four smallest by chance in one of a million histories. */
const smallestMost = 4;

/** Whether the payment of an entered price's amount waits for the merchant; `unknown` if it depends on what reorganizations did. */
export function waitsFor(
  { deeds }: Pick<World, "deeds">,
  ledger: Ledger,
  hold: Hold,
): "yes" | "no" | "unknown" {
  const link = deeds.entered.get(hold.invoiceId);
  const price = hold.price ?? 0n;
  const decimals = ledger.decimalsOf(hold.token);
  const reach = reachOf(price, decimals);
  if (surchargesOf(price, decimals) < amountsLeast) return "yes";
  const others = ledger.held.filter(
    (other) =>
      other.invoiceId !== hold.invoiceId &&
      deeds.entered.get(other.invoiceId) === link &&
      isLiveAt(other, hold.startsAt) &&
      other.address === hold.address &&
      other.token === hold.token &&
      other.amount >= price - reach &&
      other.amount <= price + reach,
  );
  const held = [...new Set(others.map(({ invoiceId }) => invoiceId))];
  const unpaid = held.filter((id) => isUnpaidAt(ledger, id, hold.startsAt));
  if (unpaid.length >= othersMost) return "yes";
  const living = held.filter((id) => {
    const row = ledger.rows.find((each) => each.id === id);
    return row?.canceledAt == null || row.canceledAt > hold.startsAt;
  });
  return living.length < othersMost ? "no" : "unknown";
}

function isLiveAt({ startsAt, releasedAt }: Hold, at: Instant): boolean {
  return startsAt < at && (releasedAt === null || releasedAt > at);
}

export function enteredFaults(world: Pick<World, "deeds">, ledger: Ledger): string[] {
  const { deeds } = world;
  const entered = ledger.rows.filter(({ id }) => deeds.entered.has(id));
  return [
    ...entered.flatMap((row) => creditFaults(world, ledger, row)),
    ...aimFaults(),
    ...hitFaults(),
  ];

  /** The rest that an exchange delivers of one amount is another one's by chance alone, where a price has 1,000 amounts. */
  function hitFaults(): string[] {
    const hits = [...deeds.hit].filter(([, id]) =>
      ledger.held.some((hold) => hold.invoiceId === id && coarseOf(hold) !== null),
    );
    return hits.length < 2
      ? []
      : [`${String(hits.length)} amounts of others were delivered by exchanges`];
  }

  /** Returns the coarsest step between the amounts of a price; null if it has fewer than 1,000 amounts of this size. */
  function coarseOf({ price, token }: Hold): bigint | null {
    const decimals = ledger.decimalsOf(token);
    if (price === null || decimals < 4) return null;
    const coarse = 10n ** BigInt(decimals - 4);
    return reachOf(price, decimals) / coarse < amountsLeast ? null : coarse;
  }

  /** The four smallest surcharges of a price are no likelier than others, whoever stated it. */
  function aimFaults(): string[] {
    const small = new Map<string, number>();
    for (const hold of ledger.held) {
      const { invoiceId, organizationId, price, amount, token } = hold;
      const coarse = coarseOf(hold);
      if (price === null || coarse === null) continue;
      if (amount === price || amount - price > 4n * coarse) continue;
      const key = [deeds.entered.get(invoiceId) ?? organizationId, token, String(price)].join(" ");
      small.set(key, (small.get(key) ?? 0) + 1);
    }
    return [...small]
      .filter(([, count]) => count >= smallestMost)
      .map(([key, count]) => `${String(count)} of the smallest amounts were given for ${key}`);
  }
}

/** Only the amount that it asks for pays it, and only if that waits for no merchant; and only its own payer's money. */
function creditFaults(world: Pick<World, "deeds">, ledger: Ledger, row: Invoice): string[] {
  const { payments, given } = world.deeds;
  const own = ledger.held.filter(({ invoiceId }) => invoiceId === row.id);
  return ledger.counted.flatMap(({ invoiceId, transactionHash: hash, amount }) => {
    if (invoiceId !== row.id || given.get(hash)?.has(invoiceId) === true) return [];
    const asking = own.filter((hold) => hold.amount === amount);
    const isSure = asking.some((hold) => waitsFor(world, ledger, hold) !== "yes");
    if (payments.get(hash)?.meant === row.id && isSure) return [];
    return [`${row.id} was credited ${hash}, although a payer entered its price`];
  });
}
