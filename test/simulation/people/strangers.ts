import { invoices } from "../../../src/features/invoices/table.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { networkId } from "../stage.ts";

/** People without a credential, who use links of the first merchant. */
export interface Strangers {
  /** Starts so many payments of an amount at a link, and returns the new invoices in their order. */
  readonly enter: (entry: Entry) => Promise<readonly Invoice[]>;
}

interface Entry {
  readonly token: string;
  /** The link's underpayment tolerance, in percent. */
  readonly tolerance: string;
  readonly amount: string;
  /** Whether the merchant stated the amount; otherwise the strangers enter it. */
  readonly isPriced: boolean;
  readonly count: number;
}

/** From one entry to the next: the model tells them apart by their times. */
const entryMs = 10;

export function makeStrangers({ stage, db, deeds, attempt, pass }: Ground): Strangers {
  const links = new Map<string, Id<"paymentLink">>();
  const known = new Set<Id<"invoice">>();
  const [owner] = stage.cast.organizations;
  const walletId = stage.cast.wallets[0]?.shared;

  /** Returns the merchant's link with these terms; null if it cannot be made now. */
  async function linkWith(entry: Entry): Promise<Id<"paymentLink"> | null> {
    const { token, tolerance, isPriced } = entry;
    const amount = isPriced ? entry.amount : null;
    const key = [token, tolerance, amount ?? "open"].join(" ");
    const made = links.get(key);
    if (made !== undefined || owner === undefined) return made ?? null;
    const input = {
      ...(amount !== null && { amount }),
      settlementCurrency: "USD",
      tokenSymbol: token,
      network: networkId,
      walletId,
      underpaymentTolerance: tolerance,
    };
    const link = await attempt(({ services }) =>
      services.paymentLinks.create(testContext, owner, input),
    );
    if (link !== null) links.set(key, link.id);
    return link?.id ?? null;
  }

  return {
    async enter(entry) {
      const linkId = await linkWith(entry);
      if (linkId === null) return [];
      for (let count = 0; count < entry.count; count += 1) {
        pass(entryMs);
        await attempt(async ({ services }) => {
          const shown = await services.paymentLinks.show(linkId);
          const form = { amount: entry.amount, option: "" };
          return services.paymentLinks.open(testContext, shown, form);
        });
      }
      // A process may have died after it issued an invoice, and before it answered.
      const rows = await db.find(invoices, "WHERE organization_id = $1 ORDER BY id", [owner ?? ""]);
      const fresh = rows.filter(
        ({ id, metadata }) => metadata["paymentLink"] === linkId && !known.has(id),
      );
      for (const { id } of fresh) {
        known.add(id);
        if (!entry.isPriced) deeds.entered.set(id, linkId);
        deeds.asked.push(id);
      }
      return fresh;
    },
  };
}
