import { cancelInvoice } from "../../../src/features/invoices/invoices.ts";
import type { InvoiceView } from "../../../src/features/invoices/records.ts";
import type { AskedNetwork } from "../../../src/features/payments/hooks.ts";
import { decideClaim } from "../../../src/features/payments/hash-claims/ledger.ts";
import { applyChainDiff } from "../../../src/features/payments/ledger/apply-chain-diff.ts";
import type {
  TimedLog,
  WindowDifference,
} from "../../../src/features/payments/ledger/chain-diff.ts";
import { finalizeTransfers, markVerified } from "../../../src/features/payments/ledger/store.ts";
import {
  payments,
  transfers,
  type ClaimRow,
  type PaymentRow,
  type TransferRow,
} from "../../../src/features/payments/table.ts";
import type { Candidate } from "../../../src/features/payments/watcher/receipt-verifier.ts";
import type { LeaseGuard } from "../../../src/features/payments/watcher/recorder.ts";
import { createRefund, rejectRefund, sendRefund } from "../../../src/features/refunds/refunds.ts";
import { examineRefunds } from "../../../src/features/refunds/verification/examiner.ts";
import { refunds, type RefundRow } from "../../../src/features/refunds/store.ts";
import { parseAddress } from "../../../src/platform/chain/evm/addresses.ts";
import {
  numbered,
  type Address,
  type ChainClient,
  type Receipt,
} from "../../../src/platform/chain/client.ts";
import { findToken } from "../../../src/platform/chain/networks.ts";
import { networkState, stateTable } from "../../../src/platform/chain/state/network-state.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { openShop } from "../../support/invoice-services-fixture.ts";
import { xpubOf } from "../../support/merchants.ts";
import { testContext } from "../../support/store/stores.ts";
import { usdt } from "./shared-address.ts";

/** The newest block of Ethereum that was scanned, and its newest final one. */
const tipHeight = 1_000;
export const finalHeight = 980;

/** A final block, one whose payments have their 12 confirmations, and one with 6 confirmations. */
export const blocks = { final: 970, confirmed: 985, young: 995 } as const;

let accounts = 100;
let hashes = 0;
let addresses = 0;

/** Returns a transaction hash that no other test uses. */
export const newHash = (): string => `a${(hashes += 1).toString(16).padStart(63, "0")}`;

/** Returns an address that no other test uses, in canonical form. */
export const newAddress = (): Address => `c${(addresses += 1).toString(16).padStart(39, "0")}`;

const nothing: WindowDifference<TimedLog> = {
  fresh: [],
  moved: [],
  orphaned: [],
  contradicting: [],
};

/** The place of a transaction on the chain, and its sender. */
interface Sent {
  readonly height: number;
  readonly hash: string;
  readonly from: Address;
  readonly time: number;
}

/**
 * Opens a merchant with invoices on Ethereum, whose transfers the test enters in blocks of its choice, as the watcher
 * does after a scan. There is no chain and no provider.
 */
export async function openLedger(db: Database, ...enabled: readonly string[]) {
  const shop = await openShop(db, "ethereum", ...enabled);
  const { ids, networks, organizationId } = shop;
  const network = known(networks.get("ethereum"));
  const { contract } = known(findToken(network, "USDT"));
  for (const id of networks.keys()) await shop.scan(id, tipHeight);
  await db.write(testContext, (tx) =>
    tx.update(stateTable, { cursorHeight: finalHeight }, "WHERE tip_height = $1", [tipHeight]),
  );
  const wallet = await shop.addWallet("ethereum", { xpub: xpubOf((accounts += 1)) });
  const sharedAddress = newAddress();
  const shared = await shop.addWallet("ethereum", { address: `0x${sharedAddress}` });

  const { app } = shop;
  const { clock } = app;

  function addressOf({ walletAddress }: InvoiceView): Address {
    const parsed = parseAddress(walletAddress ?? "");
    if (!parsed.ok) throw new Error("there is nowhere to pay to");
    return parsed.address;
  }

  /** Stores changes on the chain. Transfers up to the final block are final. */
  async function enter(
    difference: Partial<WindowDifference<TimedLog>>,
    verified: readonly Candidate[] = [],
  ): Promise<void> {
    await db.write(testContext, async (tx) => {
      const state = await networkState(tx, network.id);
      if (state === null) throw new Error("the network was not read");
      const input = { network, state, verified, marks: [], at: clock.now() };
      await applyChainDiff(tx, app, { ...input, difference: { ...nothing, ...difference } });
      await finalizeTransfers(tx, network.id, state.cursorHeight);
    });
  }

  /** Returns the logs of a transaction that pays amounts of USDT to an address. */
  function logsTo(
    to: Address,
    amounts: readonly string[],
    {
      height = blocks.final,
      hash = newHash(),
      from = newAddress(),
      time = shop.now(),
    }: Partial<Sent> = {},
  ): TimedLog[] {
    const logs = amounts.map((amount, logIndex) => ({
      transactionHash: hash,
      logIndex,
      blockHeight: height,
      blockHash: height.toString(16).padStart(64, "b"),
      blockTime: time,
      contract,
      from,
      to,
      amount: usdt(amount),
      isTimeAgreed: true,
    }));
    return numbered(logs).map((log) => ({ ...log, blockTime: time, isTimeAgreed: true }));
  }

  /** Returns the payments of an invoice, oldest first. */
  const paymentsOf = ({ id }: Pick<InvoiceView, "id">): Promise<PaymentRow[]> =>
    db.find(payments, "WHERE invoice_id = $1 ORDER BY id", [id]);

  const transferOf = async ({ transferId }: PaymentRow): Promise<TransferRow> =>
    known(await db.findOne(transfers, "WHERE id = $1", [transferId]));

  const paymentNow = async ({ id }: Pick<PaymentRow, "id">): Promise<PaymentRow> =>
    known(await db.findOne(payments, "WHERE id = $1", [id]));

  /** Pays amounts to an invoice's own address in one transaction. Returns the new payments in order. */
  async function pay(
    invoice: InvoiceView,
    amounts: readonly string[],
    sent: Partial<Sent> = {},
  ): Promise<PaymentRow[]> {
    const before = await paymentsOf(invoice);
    await enter({ fresh: logsTo(addressOf(invoice), amounts, sent) });
    return (await paymentsOf(invoice)).slice(before.length);
  }

  /** Confirms payments, whose receipts providers have verified. */
  async function confirm(...given: readonly PaymentRow[]): Promise<void> {
    const verified: Candidate[] = [];
    for (const { id } of given) {
      const payment = await paymentNow({ id });
      const { confirmsAtHeight } = payment;
      verified.push({ id, payment, confirmsAtHeight, transfer: await transferOf(payment) });
    }
    await enter({}, verified);
  }

  /** Returns a claim that waits, of a payer who has submitted a transaction's hash. */
  function claimOf({ id: invoiceId }: Pick<InvoiceView, "id">, transactionHash: string): ClaimRow {
    const at = clock.now();
    return {
      id: ids.next("claim", at),
      organizationId,
      invoiceId,
      network: network.id,
      transactionHash,
      state: "waiting",
      reason: null,
      attempts: 0,
      isKnown: false,
      nextAt: at,
      createdAt: at,
      closedAt: null,
    };
  }

  /** Returns the receipt of a transaction in a final block that pays a refund from the merchant's wallet. */
  function receiptOf(
    { address, amount, transactionHash }: RefundRow,
    changes: Partial<Receipt> = {},
  ): Receipt {
    const [log] = logsTo(address, ["0"], { hash: known(transactionHash), from: sharedAddress });
    const { blockHeight, blockHash, transactionHash: hash, ...rest } = known(log);
    const placed = { transactionHash: hash, blockHeight, blockHash };
    const transfers = [{ ...rest, ...placed, amount }];
    return { ...placed, succeeded: true, transfers, ...changes };
  }

  /** Makes an examiner of refunds, whose only provider answers as given. */
  const refundExaminer = (receipt: ChainClient["receipt"], changes: Partial<AskedNetwork> = {}) => {
    const providers = [{ provider: "the only one", receipt } as ChainClient];
    const asked = { network, providers, ...changes };
    return { examine: (guard: LeaseGuard) => examineRefunds(app, asked, guard) };
  };

  return {
    ...shop,
    network,
    sharedAddress,
    sharedWalletId: shared.id,
    app,
    /** The networks whose workers were woken since the last call. */
    woken: () =>
      shop.wokenWorkers
        .splice(0)
        .flatMap((worker) => (worker.startsWith("watch ") ? [worker.slice("watch ".length)] : [])),
    addressOf,
    enter,
    claimOf,
    logsTo,
    paymentsOf,
    paymentNow,
    transferOf,
    pay,
    confirm,
    /**
     * Enters a transfer of USDT to the shared address that pays no invoice, and has it in review for one, whose payer
     * has submitted its hash. Returns the payment.
     */
    async submitted({ id: invoiceId }: InvoiceView, amount: string): Promise<PaymentRow> {
      const logs = logsTo(sharedAddress, [amount]);
      await enter({ fresh: logs });
      const claim = claimOf({ id: invoiceId }, known(logs[0]).transactionHash);
      await db.write(testContext, (tx) =>
        decideClaim(tx, app, clock.now(), network, claim, { logs, marks: [] }),
      );
      return known((await paymentsOf({ id: invoiceId })).at(-1));
    },
    /** Issues an invoice, by default for 10.00 USDT at an address of its own, which takes any amount. */
    issue: (input: Parameters<typeof shop.create>[0] = {}) =>
      shop.create({ amount: "10.00", network: "ethereum", walletId: wallet.id, ...input }),
    /** Issues an invoice, by default for 10.00 USDT, at the shared address, where its amount identifies its payment. */
    issueShared: (input: Parameters<typeof shop.create>[0] = {}) =>
      shop.create({ amount: "10.00", network: "ethereum", walletId: shared.id, ...input }),
    cancel: (invoice: InvoiceView) =>
      cancelInvoice(shop.app, testContext, organizationId, invoice.id),
    /** Pays amounts to an invoice, a transaction each, and confirms them. */
    async paid(invoice: InvoiceView, ...amounts: readonly string[]): Promise<PaymentRow[]> {
      const made: PaymentRow[] = [];
      for (const amount of amounts) made.push(...(await pay(invoice, [amount])));
      await confirm(...made);
      return Promise.all(made.map(paymentNow));
    },
    /** Has the providers verify the transfers of payments that do not count. */
    async verify(...given: readonly PaymentRow[]): Promise<void> {
      const rows = await Promise.all(given.map(transferOf));
      await db.write(testContext, (tx) => markVerified(tx, rows));
    },
    /** Removes the transfer of a payment from the chain. */
    async drop(payment: PaymentRow): Promise<void> {
      await enter({ orphaned: [await transferOf(payment)] });
    },
    /** Moves the transfer of a payment to another block. */
    async move(payment: PaymentRow, height: number): Promise<void> {
      const transfer = await transferOf(payment);
      const { transactionHash: hash, fromAddress: from, blockTime: time } = transfer;
      const [log] = logsTo(transfer.toAddress, ["0"], { height, hash, from, time });
      const { logIndex, ordinal, amount } = transfer;
      await enter({ moved: [{ transfer, log: { ...known(log), logIndex, ordinal, amount } }] });
    },
    /** Requests a refund as the merchant does. Returns it as stored. */
    async refund(payment: PaymentRow, amount: string, address = newAddress()): Promise<RefundRow> {
      const input = { paymentId: payment.id, amount, address: `0x${address}` };
      return (await createRefund(app, testContext, organizationId, input)).refund;
    },
    /** Names the transaction of a refund. */
    send: async ({ id }: RefundRow, hash = newHash()): Promise<RefundRow> =>
      (await sendRefund(app, testContext, organizationId, id, hash)).refund,
    reject: async ({ id }: RefundRow, reason = "Not yours"): Promise<RefundRow> =>
      (await rejectRefund(app, testContext, organizationId, id, reason)).refund,
    refundNow: async ({ id }: Pick<RefundRow, "id">): Promise<RefundRow> =>
      known(await db.findOne(refunds, "WHERE id = $1", [id])),
    receiptOf,
    refundExaminer,
    /** Has the only provider prove a refund that was sent. */
    async prove(refund: RefundRow): Promise<void> {
      const { examine } = refundExaminer((hash) =>
        Promise.resolve(hash === refund.transactionHash ? receiptOf(refund) : null),
      );
      await examine(() => Promise.resolve());
    },
    /** Sets the newest final block of Ethereum. */
    setFinal: (cursorHeight: number) =>
      db.write(testContext, (tx) =>
        tx.update(stateTable, { cursorHeight }, "WHERE network = $1", [network.id]),
      ),
    /** Returns the types of the events of an object, in order. */
    async eventsOf({ id }: { readonly id: string }): Promise<string[]> {
      const rows = await db.find(events, "WHERE object_id = $1 ORDER BY id", [id]);
      return rows.map(({ type }) => type);
    },
    write: <T>(fn: (tx: Tx) => Promise<T>): Promise<T> => db.write(testContext, fn),
  };
}

export type WrittenLedger = Awaited<ReturnType<typeof openLedger>>;

/** Returns a value that must exist. */
export function known<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("the test expects a value here");
  return value;
}
