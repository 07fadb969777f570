import { canonicalJson } from "../../../kernel/canonical-json.ts";
import type { FieldError, Problem } from "../../../kernel/errors.ts";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import { ExternalIdConflict } from "../errors.ts";
import { namesNoOption, type OfferedTerms } from "../options/requested.ts";
import type { InvoiceRow } from "../store.ts";
import { expiresInSecondsOf, type DraftInput } from "./draft.ts";

/** A request for an invoice, with its parsed terms. */
interface Wanted {
  readonly input: DraftInput & { readonly draft?: boolean | undefined };
  readonly terms: OfferedTerms;
}

/**
 * Creates the problem of an externalId that an invoice of the same organization has. It names the invoice and, of a
 * request for a new one, the fields that differ, without their values.
 */
export function externalIdConflict(existing: InvoiceRow | null, wanted: Wanted | null): Problem {
  const id = existing?.id ?? "Another invoice of the organization";
  if (existing === null || wanted === null) {
    return new ExternalIdConflict(`${id} has this externalId. Send another one.`);
  }
  const names = differences(existing, wanted);
  const how =
    names.length === 0
      ? "from a request that was written differently"
      : `with another ${names.join(", ")}`;
  return new ExternalIdConflict(
    `${id} has this externalId, ${how}. If it is the invoice of this order, read it instead of creating another. For another order, or if the order has changed, send another externalId.`,
    {
      errors: names.map((name): FieldError => {
        return { pointer: `/${name}`, code: "differs", message: `differs from that of ${id}` };
      }),
    },
  );
}

/** Returns the names of the fields in which a request differs from an invoice as it is now. */
function differences(row: InvoiceRow, { input, terms }: Wanted): string[] {
  const asset = settlementAsset(row.settlementCurrency, row.settlementDecimals);
  const differs: Readonly<Record<string, boolean>> = {
    amount: formatMoney(money(row.amount, asset)) !== formatMoney(terms.amount),
    settlementCurrency: row.settlementCurrency !== terms.amount.asset.code,
    ...optionDifferences(row, input, terms),
    walletId: input.walletId != null && input.walletId !== row.walletId,
    underpaymentTolerance: row.underpaymentTolerance !== terms.underpaymentTolerance,
    customerId: row.customerId !== (input.customerId ?? null),
    description: row.description !== (input.description ?? null),
    redirectUrl: row.redirectUrl !== (input.redirectUrl ?? null),
    expiresInSeconds: row.expiresInSeconds !== expiresInSecondsOf(input),
    metadata: canonicalJson(row.metadata) !== canonicalJson(input.metadata ?? {}),
    // An invoice that is issued may have been a draft.
    draft: row.status === "draft" && input.draft !== true,
  };
  return Object.keys(differs).filter((name) => differs[name] === true);
}

function optionDifferences(
  { network, tokenSymbol, paymentOptions }: InvoiceRow,
  input: DraftInput,
  { options }: OfferedTerms,
): Readonly<Record<string, boolean>> {
  // The organization's own options may have changed since.
  if (namesNoOption(input)) return {};
  const [only] = options;
  if (paymentOptions === null && options.length === 1) {
    return { network: network !== only?.network, tokenSymbol: tokenSymbol !== only?.tokenSymbol };
  }
  const namesOf = (
    offered: readonly { readonly network: string; readonly tokenSymbol: string }[],
  ) => offered.map((option) => `${option.network} ${option.tokenSymbol}`).join();
  return {
    paymentOptions: namesOf(paymentOptions ?? [{ network, tokenSymbol }]) !== namesOf(options),
  };
}
