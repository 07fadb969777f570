import type { Migration } from "../migrate.ts";
import { migration as platform } from "./0001-platform.ts";
import { migration as identity } from "./0002-identity.ts";
import { migration as sandbox } from "./0003-sandbox.ts";
import { migration as walletsInvoices } from "./0004-wallets-invoices.ts";
import { migration as chainPayments } from "./0005-chain-payments.ts";
import { migration as webhooks } from "./0006-webhooks.ts";
import { migration as customers } from "./0007-customers.ts";
import { migration as figures } from "./0008-figures.ts";
import { migration as billing } from "./0009-billing.ts";
import { migration as planChanges } from "./0010-plan-changes.ts";
import { migration as transactionHashes } from "./0011-transaction-hashes.ts";
import { migration as search } from "./0012-search.ts";
import { migration as issuedInvoices } from "./0013-issued-invoices.ts";
import { migration as paymentOrders } from "./0014-payment-orders.ts";
import { migration as chainTimes } from "./0015-chain-times.ts";
import { migration as lateWindows } from "./0016-late-windows.ts";
import { migration as readings } from "./0017-readings.ts";
import { migration as askedAmounts } from "./0018-asked-amounts.ts";
import { migration as halfFullBands } from "./0019-half-full-bands.ts";
import { migration as auditHeads } from "./0020-audit-heads.ts";
import { migration as pendingNames } from "./0021-pending-names.ts";
import { migration as branding } from "./0022-branding.ts";
import { migration as summedChanges } from "./0023-summed-changes.ts";
import { migration as endingHolds } from "./0024-ending-holds.ts";
import { migration as allowedOrigins } from "./0025-allowed-origins.ts";
import { migration as refunds } from "./0026-refunds.ts";
import { migration as paymentLinks } from "./0027-payment-links.ts";
import { migration as paymentOptions } from "./0028-payment-options.ts";
import { migration as refundRules } from "./0029-refund-rules.ts";
import { migration as serverSettings } from "./0030-server-settings.ts";
import { migration as severalOptions } from "./0031-several-options.ts";
import { migration as verifiedTransfers } from "./0032-verified-transfers.ts";
import { migration as refundAttempts } from "./0033-refund-attempts.ts";
import { migration as pausedEndpoints } from "./0034-paused-endpoints.ts";
import { migration as owedAmounts } from "./0035-owed-amounts.ts";
import { migration as healedSandbox } from "./0036-healed-sandbox.ts";
import { migration as defaultWallets } from "./0037-default-wallets.ts";
import { migration as waitingReasons } from "./0038-waiting-reasons.ts";
import { migration as payableAmounts } from "./0039-payable-amounts.ts";
import { migration as sendableRests } from "./0040-sendable-rests.ts";
import { migration as invoicesOfLinks } from "./0041-invoices-of-links.ts";
import { migration as allowances } from "./0042-allowances.ts";
import { migration as reusedAddresses } from "./0043-reused-addresses.ts";
import { migration as strangersRows } from "./0044-strangers-rows.ts";
import { migration as walletReadings } from "./0045-wallet-readings.ts";
import { migration as strangersTurns } from "./0046-strangers-turns.ts";
import { migration as foreignFormats } from "./0047-foreign-formats.ts";
import { migration as networkGaps } from "./0048-network-gaps.ts";
import { migration as holdMarks } from "./0049-hold-marks.ts";

/** Every migration, in order. */
export const migrations: readonly Migration[] = [
  platform,
  identity,
  sandbox,
  walletsInvoices,
  chainPayments,
  webhooks,
  customers,
  figures,
  billing,
  planChanges,
  transactionHashes,
  search,
  issuedInvoices,
  paymentOrders,
  chainTimes,
  lateWindows,
  readings,
  askedAmounts,
  halfFullBands,
  auditHeads,
  pendingNames,
  branding,
  summedChanges,
  endingHolds,
  allowedOrigins,
  refunds,
  paymentLinks,
  paymentOptions,
  refundRules,
  serverSettings,
  severalOptions,
  verifiedTransfers,
  refundAttempts,
  pausedEndpoints,
  owedAmounts,
  healedSandbox,
  defaultWallets,
  waitingReasons,
  payableAmounts,
  sendableRests,
  invoicesOfLinks,
  allowances,
  reusedAddresses,
  strangersRows,
  walletReadings,
  strangersTurns,
  foreignFormats,
  networkGaps,
  holdMarks,
];
