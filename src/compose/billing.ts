import {
  makeBillingReader,
  makeLedger,
  makeLedgerService,
  makeReceiveWalletService,
  type BillingReader,
  type Ledger,
  type LedgerService,
  type ReceiveWalletService,
} from "../features/billing/index.ts";
import type { Auditor } from "../platform/audit/index.ts";
import type { Outbox } from "../platform/events/index.ts";
import type { Money } from "./money.ts";
import type { Parts } from "./parts.ts";

/** What the platform asks its merchants for. */
export interface Billing {
  readonly billingReader: BillingReader;
  readonly ledger: Ledger;
  readonly ledgerService: LedgerService;
  readonly receiveWallet: ReceiveWalletService;
}

export function makeBilling(
  { config, db, clock, ids, baseUrl }: Parts,
  { auditor, outbox }: { readonly auditor: Auditor; readonly outbox: Outbox },
  { payments, wallets }: Pick<Money, "payments" | "wallets">,
): Billing {
  const ledger = makeLedger({ ids, auditor, outbox });
  const networks = new Map(config.networks.map((network) => [network.id, network]));
  return {
    billingReader: makeBillingReader({
      ...{ db, payments, catalog: config.plans },
      checkoutUrl: (checkoutId) => `${baseUrl()}/pay/${checkoutId}`,
    }),
    ledger,
    ledgerService: makeLedgerService({ db, clock, ledger }),
    receiveWallet: makeReceiveWalletService({ db, clock, auditor, wallets, networks }),
  };
}
