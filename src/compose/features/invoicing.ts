import { customersAmong } from "../../features/customers/store.ts";
import { makeInvoiceBatchService } from "../../features/invoices/batches/service.ts";
import { makeInvoiceService } from "../../features/invoices/service.ts";
import { makeManagedInvoices } from "../../features/invoices/managed/service.ts";
import { makeSettlement } from "../../features/invoices/settlement/settlement.ts";
import type { IssuingGate } from "../../features/invoices/issuing/plan.ts";
import { keepIssuing, requireVerified } from "../../features/organizations/issuing.ts";
import { countingPayments, invoicesOfTransaction } from "../../features/payments/listing.ts";
import { createQuotes } from "../../features/rates/quotes.ts";
import { makeWalletService } from "../../features/wallets/service.ts";
import { second } from "../../kernel/clock.ts";
import { createRecentStates } from "../../platform/chain/state/network-state.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Networks } from "../networks.ts";
import type { BillingPorts } from "./billing-ports.ts";

/** Makes wallets and invoices. `issuing` are the dependencies with which a payer's choice of an option issues again. */
export function makeInvoicing(
  parts: Dependencies,
  journal: Journal,
  { enabled, known }: Networks,
  billing: BillingPorts,
) {
  const { config, db, clock, ids, randomBytes, baseUrl } = parts;
  const common = { db, clock, ids, journal };
  const withMoney = { ...common, randomBytes, networks: enabled, baseUrl };
  const issuing = {
    ...withMoney,
    recentState: createRecentStates(clock, second),
    quotes: createQuotes({ plan: config.rates, clock, ageMaxMs: second }),
  };
  const gated = { ...issuing, issuingGate: issuingGateOf(config, billing), customersAmong };
  return {
    issuing,
    wallets: makeWalletService({
      ...common,
      networks: enabled,
      limits: { active: config.walletsPerOrganization, verification: config.verification },
    }),
    invoices: makeInvoiceService({ ...gated, invoicesOfTransaction, countingPayments }),
    invoiceBatches: makeInvoiceBatchService(gated),
    managed: makeManagedInvoices(issuing),
    settlement: makeSettlement({
      ...withMoney,
      networks: known,
      countingPayments,
      invoicePaid: (tx, rows, at) => billing.invoicePaid(tx, rows, at),
      countStarted: (tx, at, started) => billing.countStarted(tx, at, started),
    }),
  };
}

/** Requires that an organization is verified, if the settings want that, and then what billing requires. */
function issuingGateOf({ verification }: Config, billing: BillingPorts): IssuingGate {
  return async (reader, organizationId) => {
    await requireVerified(reader, organizationId, verification);
    const decision = await billing.requireSubscription(reader, organizationId);
    return {
      ...decision,
      async grant(tx, at, count) {
        await keepIssuing(tx, organizationId, verification);
        return decision.grant(tx, at, count);
      },
    };
  };
}
