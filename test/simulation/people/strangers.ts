import {
  chooseCheckoutOption,
  submitCheckoutTransaction,
} from "../../../src/features/checkout/checkouts.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import {
  createPaymentLink,
  getPublicLink,
  startLinkPayment,
} from "../../../src/features/payment-links/payment-links.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { networkId } from "../stage.ts";

/** People without a credential, who use links of the first merchant. */
export interface Strangers {
  /** Starts so many payments of an amount at a link, and returns the new invoices in their order. */
  readonly enter: (entry: Entry) => Promise<readonly Invoice[]>;
  /** Changes the options of an invoice to and fro, and submits made-up hashes for it. */
  readonly pester: (invoice: Invoice, changes: number, hashes: number) => Promise<void>;
}

interface Entry {
  readonly token: string;
  /** The link's underpayment tolerance, in percent. */
  readonly tolerance: string;
  readonly amount: string;
  /** Whether the merchant stated the amount; otherwise the strangers enter it. */
  readonly isPriced: boolean;
  readonly count: number;
  /** The wallet of the link: that of one address, by default, or that of an extended key. */
  readonly wallet?: "shared" | "own";
  /** The address from which a payment is started; by default none is known. */
  readonly from?: (number: number) => string;
}

/** From one entry to the next: the model tells them apart by their times. */
const entryMs = 10;

/** The addresses of a household: a /64 of its /56 for each payment. */
export const householdAddress = (number: number) =>
  `2001:db8:aa:${(number % 256).toString(16)}::${String(number + 1)}`;

export function makeStrangers({ stage, db, deeds, chance, attempt, pass }: Ground): Strangers {
  const links = new Map<string, Id<"paymentLink">>();
  const known = new Set<Id<"invoice">>();
  const [owner] = stage.cast.organizations;

  /** Returns the merchant's link with these terms; null if it cannot be made now. */
  async function linkWith(entry: Entry): Promise<Id<"paymentLink"> | null> {
    const { token, tolerance, isPriced, wallet = "shared" } = entry;
    const amount = isPriced ? entry.amount : null;
    const key = [token, tolerance, wallet, amount ?? "open"].join(" ");
    const made = links.get(key);
    if (made !== undefined || owner === undefined) return made ?? null;
    const walletId = stage.cast.wallets[0]?.[wallet];
    const option = { network: networkId, walletId };
    const input = {
      ...(amount !== null && { amount }),
      settlementCurrency: "USD",
      ...(wallet === "shared"
        ? { ...option, tokenSymbol: token }
        : { paymentOptions: [token, "USDC"].map((tokenSymbol) => ({ ...option, tokenSymbol })) }),
      underpaymentTolerance: tolerance,
    };
    const link = await attempt(({ app }) => createPaymentLink(app, testContext, owner, input));
    if (link !== null) links.set(key, link.id);
    return link?.id ?? null;
  }

  return {
    async enter(entry) {
      const linkId = await linkWith(entry);
      if (linkId === null) return [];
      for (let count = 0; count < entry.count; count += 1) {
        pass(entryMs);
        await attempt(async ({ app }) => {
          const shown = await getPublicLink(app, linkId);
          const form = { amount: entry.amount, option: "" };
          const ip = entry.from?.(count) ?? null;
          return startLinkPayment(app, { ...testContext, ip }, shown, form);
        });
      }
      // A process may have died after it issued an invoice, and before it answered.
      const rows = await db.find(invoices, "WHERE organization_id = $1 ORDER BY id", [owner ?? ""]);
      const fresh = rows.filter(
        ({ id, metadata }) => metadata["paymentLink"] === linkId && !known.has(id),
      );
      for (const { id } of fresh) {
        known.add(id);
        // An address of its own tells an invoice from others, whatever its amount.
        if (!entry.isPriced && entry.wallet !== "own") deeds.entered.set(id, linkId);
        deeds.asked.push(id);
      }
      return fresh;
    },

    async pester({ checkoutId, paymentOptions }, changes, hashes) {
      if (checkoutId === null) return;
      const options = paymentOptions ?? [];
      for (let change = 1; change <= changes; change += 1) {
        const option = options[change % options.length];
        if (option === undefined) break;
        pass(entryMs);
        await attempt(({ app }) => chooseCheckoutOption(app, testContext, checkoutId, option));
      }
      for (let hash = 0; hash < hashes; hash += 1) {
        const junk = Buffer.from(chance.bytes(32)).toString("hex");
        pass(entryMs);
        await attempt(({ app }) =>
          submitCheckoutTransaction(app, testContext, checkoutId, `0x${junk}`),
        );
      }
    },
  };
}
