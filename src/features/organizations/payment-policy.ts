import type { App } from "../../app.ts";
import { Forbidden } from "../../api/declare/problems.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import { difference } from "../../platform/journal/index.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { handlingRole } from "../members/members.ts";
import { distinctOptions, type PaymentOption } from "./checkout-policy/payment-options.ts";
import { saveOrganization } from "./organizations.ts";
import type { UpdatePaymentPolicyInput } from "./records.ts";
import { lockOrganization } from "./store.ts";
import type { OrganizationRow } from "./table.ts";

/**
 * Sets how late payments are handled, for future payments, and the usual options of invoices, for future ones. 400 if an
 * option's network or token is not enabled.
 */
export function updatePaymentPolicy(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  changes: UpdatePaymentPolicyInput,
  expect: (current: OrganizationRow) => void,
): Promise<OrganizationRow> {
  const { db, clock, journal } = app;
  const options =
    changes.paymentOptions == null
      ? changes.paymentOptions
      : enabledOptions(app.networks.enabled, distinctOptions(changes.paymentOptions));
  return db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockOrganization(tx, organizationId);
    expect(current);
    const { latePayments = current.latePayments, lateWindowDays: days = current.lateWindowDays } =
      changes;
    const { paymentOptions } = current;
    if (options != null) await requireWalletChoice(tx, organizationId, options, paymentOptions);
    const given = {
      latePayments,
      lateWindowDays: days,
      paymentOptions: options === undefined ? paymentOptions : options,
    };
    const changed = difference(current, given);
    if (Object.keys(changed).length === 0) return current;
    const next = await saveOrganization(tx, at, current, given);
    journal.record(tx, at, {
      action: "organization.payment_policy_updated",
      organizationId,
      subjectType: "organization",
      subjectId: organizationId,
      changes: changed,
    });
    return next;
  });
}

/**
 * Throws unless the caller may name the wallets of the usual options: new invoices are paid at them, as at the default
 * wallet of a network, so an owner or the operator chooses them. Options that name the same wallets as before are free.
 */
async function requireWalletChoice(
  tx: Tx,
  organizationId: Id<"organization">,
  options: readonly PaymentOption[],
  before: readonly PaymentOption[] | null,
): Promise<void> {
  const isKnown = ({ network, walletId }: PaymentOption) =>
    walletId === null ||
    before?.some((each) => each.network === network && each.walletId === walletId) === true;
  if (options.every(isKnown) || (await handlingRole(tx, organizationId)) === "owner") return;
  throw new Forbidden(
    "Only a logged-in owner of the organization can name the wallets of its payment options, or the operator with till payments set-policy. Without walletId, an option is paid at the default wallet of its network.",
  );
}

/** Returns the options; throws a 400 that names the first one whose network or token is not enabled. */
function enabledOptions(
  networks: ReadonlyMap<string, Network>,
  options: readonly PaymentOption[],
): readonly PaymentOption[] {
  for (const [place, { network: id, tokenSymbol }] of options.entries()) {
    const network = networks.get(id);
    const pointer = `/paymentOptions/${String(place)}`;
    if (network === undefined) {
      const message = `must be one of the enabled networks: ${[...networks.keys()].join(", ")}`;
      throw invalidField(`${pointer}/network`, "invalid_value", message);
    }
    if (findToken(network, tokenSymbol) !== null) continue;
    const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
    const message = `must be a token that is enabled on ${network.title}: ${symbols}`;
    throw invalidField(`${pointer}/tokenSymbol`, "invalid_value", message);
  }
  return options;
}
