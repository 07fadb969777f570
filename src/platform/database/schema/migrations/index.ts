import { baseline } from "../baseline/baseline.ts";
import type { Migration } from "../migrate.ts";
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

/** The baseline and every migration after it, in order. */
export const migrations: readonly Migration[] = [
  baseline,
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
