import type { TransferView } from "../../../../src/features/payments/inbox/records.ts";
import type {
  DecisionRow,
  PaymentRow,
  TransferRow,
} from "../../../../src/features/payments/table.ts";

interface Given {
  readonly transfer?: Partial<TransferRow>;
  readonly payments?: readonly Partial<PaymentRow>[];
  readonly decisions?: readonly Partial<DecisionRow>[];
  readonly suggestions?: TransferView["suggestions"];
}

/** A transfer of 25 USDT to the organization `org_1` in block 90 of 100, with payments of 10 each. */
export function transferView({
  transfer = {},
  payments = [],
  decisions = [],
  suggestions = [],
}: Given = {}): TransferView {
  return {
    transfer: {
      id: "trf_1",
      network: "sandbox",
      transactionHash: "aa",
      logIndex: 0,
      ordinal: 0,
      blockHeight: 90,
      blockHash: "b90",
      blockTime: 0,
      contract: "usdt",
      token: "USDT",
      tokenDecimals: 6,
      fromAddress: "payer",
      toAddress: "shop",
      amount: 25_000_000n,
      status: "seen",
      isFinal: false,
      verification: "open",
      organizationId: "org_1",
      invoiceId: null,
      disposition: "unmatched",
      waitingReason: null,
      createdAt: 0,
      ...transfer,
    },
    notation: {
      formatAddress: (address: string) => address,
      formatTransactionHash: (hash: string) => hash,
    },
    tipHeight: 100,
    payments: payments.map(
      (changes, place) =>
        ({
          id: `pay_${String(place + 1)}`,
          organizationId: "org_1",
          invoiceId: `inv_${String(place + 1)}`,
          amount: 10_000_000n,
          refunded: 0n,
          status: "confirming",
          statusWhenBack: null,
          rule: "manual",
          source: "operator",
          createdAt: 0,
          ...changes,
        }) as PaymentRow,
    ),
    decisions: decisions.map(
      (changes) =>
        ({
          organizationId: "org_1",
          decision: "allocated",
          paymentId: null,
          invoiceId: null,
          amount: 1n,
          actorType: "operator",
          actorId: null,
          actorLabel: "till",
          createdAt: 0,
          ...changes,
        }) as DecisionRow,
    ),
    suggestions,
  };
}
