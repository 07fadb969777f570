import type { App } from "../../src/app.ts";
import { createCustomer } from "../../src/features/customers/customers.ts";
import { unlimited } from "../../src/features/invoices/hooks.ts";
import { cancelInvoice } from "../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import { chooseOption } from "../../src/features/invoices/options/choose.ts";
import type { InvoiceView } from "../../src/features/invoices/records.ts";
import type { PaymentTotals } from "../../src/features/invoices/rules.ts";
import {
  lockTerms,
  settleInvoices,
  sweepDeadlines,
} from "../../src/features/invoices/settlement/settlement.ts";
import type { InvoiceRow } from "../../src/features/invoices/store.ts";
import { decideClaim } from "../../src/features/payments/hash-claims/ledger.ts";
import type { AskedNetwork } from "../../src/features/payments/hooks.ts";
import { applyChainDiff } from "../../src/features/payments/ledger/apply-chain-diff.ts";
import type { TimedLog, WindowDifference } from "../../src/features/payments/ledger/chain-diff.ts";
import { finalizeTransfers, markVerified } from "../../src/features/payments/ledger/store.ts";
import {
  payments,
  transfers,
  type ClaimRow,
  type PaymentRow,
  type TransferRow,
} from "../../src/features/payments/table.ts";
import type { Candidate } from "../../src/features/payments/watcher/receipt-verifier.ts";
import type { LeaseGuard } from "../../src/features/payments/watcher/recorder.ts";
import { createRefund, rejectRefund, sendRefund } from "../../src/features/refunds/refunds.ts";
import { refunds, type RefundRow } from "../../src/features/refunds/store.ts";
import { examineRefunds } from "../../src/features/refunds/verification/examiner.ts";
import { setDefaultWallet } from "../../src/features/wallets/defaults.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import { hooks } from "../../src/hooks.ts";
import type { Instant } from "../../src/kernel/clock.ts";
import { Problem } from "../../src/kernel/errors.ts";
import type { Id } from "../../src/kernel/id.ts";
import {
  numbered,
  type Address,
  type ChainClient,
  type Receipt,
} from "../../src/platform/chain/client.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { findToken } from "../../src/platform/chain/networks.ts";
import {
  networkState,
  stateTable,
  type NetworkState,
  type NetworkStateRow,
} from "../../src/platform/chain/state/network-state.ts";
import type { ConfiguredNetwork } from "../../src/platform/config/config.ts";
import type { Database, Reader, Tx } from "../../src/platform/database/database.ts";
import { events } from "../../src/platform/events/outbox.ts";
import { noRates } from "../../src/platform/rates/plan.ts";
import { usdt } from "./amounts.ts";
import { appOf, newIds, testConfig } from "./context.ts";
import { addOrganization, testNetworks, xpubOf } from "./merchants.ts";
import { testContext } from "./store/stores.ts";

/**
 * Opens a merchant with wallets and invoices on a store, and a clock that the test moves. The hooks of billing are
 * replaced, nobody delivers what wakes a worker, and there are no rates; all else is the product's.
 */
export async function openLedger(db: Database, ...enabled: readonly string[]) {
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const ids = newIds();
  const networks = testNetworks(...enabled);
  let gate: (reader: Reader, organizationId: Id<"organization">) => Promise<void> = () =>
    Promise.resolve();
  const settledManaged: (readonly InvoiceRow[])[] = [];
  const wokenWorkers: string[] = [];
  const wake = (worker: string) => void wokenWorkers.push(worker);
  const parts: Partial<App> & { readonly db: Database } = {
    db,
    clock,
    ids,
    baseUrl: () => "https://pay.example",
    running: { wake, nudge: wake, lastTickAt: () => null },
    providersOf: () => [],
    config: { ...testConfig, rates: noRates, walletsPerOrganization: 1_000, verification: "off" },
    networks: { enabled: networks, known: networks, enabledIds: enabled },
    hooks: {
      ...hooks,
      async mayIssue(reader, _app, owner) {
        await gate(reader, owner);
        return unlimited;
      },
      managedChanged(_tx, _app, _at, changed) {
        settledManaged.push(changed);
        return Promise.resolve();
      },
      countStarted: (_tx, at, started) =>
        Promise.resolve(started.map(({ countedAt }) => (countedAt === null ? at : null))),
    },
  };
  /** Returns the app as it is after a while: its caches are empty, although the clock stands still. */
  const appNow = () => appOf(parts);
  const organizationId = await addOrganization(db, ids, now);

  /** Records a scan of a network with the tip's height, by default at the current time, and the newest final block. */
  async function scan(
    network: string,
    tipHeight = 1_000,
    tipTime = now,
    finalHeight = tipHeight,
  ): Promise<NetworkState> {
    const chainId = networks.get(network)?.chainId ?? 1;
    const changes = { chainId, cursorHeight: finalHeight, cursorTime: tipTime, tipTime };
    const state = stateOf(network, tipHeight, now, changes);
    await db.write(testContext, async (tx) => {
      const { network: _, ...set } = state;
      const changed = await tx.update(stateTable, set, "WHERE network = $1", [network]);
      if (changed === 0) await tx.insert(stateTable, state);
    });
    return state;
  }

  /**
   * Applies deadlines as of a network state. The providers agree on the time of its final block unless stated
   * otherwise.
   */
  function sweep(
    state: NetworkState,
    finalTime: Instant | null = state.cursorTime,
  ): Promise<number> {
    const agreed = () => Promise.resolve(finalTime);
    return sweepDeadlines(appNow(), now, state.network, state, agreed);
  }

  /** Stores the totals of invoices, in a transaction of its own. */
  function settle(
    network: string,
    totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
    state: NetworkState,
  ): Promise<void> {
    return db.write(testContext, async (tx) => {
      const locked = await lockTerms(tx, [...totals.keys()].sort());
      await settleInvoices(tx, appNow(), now, network, locked, totals, state);
    });
  }

  return {
    db,
    ids,
    networks,
    get app() {
      return appNow();
    },
    /** The names of the workers that were woken. */
    wokenWorkers,
    organizationId,
    scan,
    sweep,
    settle,
    /** Chooses a payment option as the payer does. */
    choose: (checkoutId: string | null, network: string, tokenSymbol: string) =>
      db.write(testContext, (tx) =>
        chooseOption(tx, appNow(), now, checkoutId ?? "", { network, tokenSymbol }),
      ),
    /** The managed invoices that settlement reported, call by call. */
    settledManaged,
    now: () => now,
    advance: (milliseconds: number) => (now += milliseconds),
    setGate: (changed: typeof gate) => (gate = changed),
    /** Adds another organization to the store. */
    addOrganization: () => addOrganization(db, ids, now),
    addWallet: (
      network: string,
      receiver: { address: string } | { xpub: string },
      owner = organizationId,
    ) => createWallet(appNow(), testContext, owner, { label: "Till", network, ...receiver }),
    /** Makes a wallet the default of its network, with reserves, as an owner does. */
    setDefault: (network: string, ...[walletId, ...reserveWalletIds]: readonly Id<"wallet">[]) =>
      setDefaultWallet(appNow(), testContext, organizationId, network, {
        walletId: walletId ?? "wal_",
        reserveWalletIds,
      }),
    addCustomer: () => createCustomer(appNow(), testContext, organizationId, { name: "Bo" }),
    /** Creates an invoice, by default for 25.00 USD in USDT on the first network. */
    create: async (input: Partial<Parameters<typeof createInvoice>[3]> = {}) => {
      const made = await createInvoice(appNow(), testContext, organizationId, {
        amount: "25.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: enabled[0],
        ...input,
      });
      return made.invoice;
    },
  };
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

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
export async function openBook(db: Database, ...enabled: readonly string[]) {
  const ledger = await openLedger(db, "ethereum", ...enabled);
  const { ids, networks, organizationId } = ledger;
  const network = networkOf(ledger, "ethereum");
  const { contract } = known(findToken(network, "USDT"));
  for (const id of networks.keys()) await ledger.scan(id, tipHeight, ledger.now(), finalHeight);
  const wallet = await ledger.addWallet("ethereum", { xpub: xpubOf((accounts += 1)) });
  const sharedAddress = newAddress();
  const shared = await ledger.addWallet("ethereum", { address: `0x${sharedAddress}` });

  const { app } = ledger;
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
      const state = known(await networkState(tx, network.id));
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
      time = ledger.now(),
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
    ...ledger,
    network,
    sharedAddress,
    sharedWalletId: shared.id,
    app,
    /** The networks whose workers were woken since the last call. */
    woken: () =>
      ledger.wokenWorkers
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
    issue: (input: Parameters<typeof ledger.create>[0] = {}) =>
      ledger.create({ amount: "10.00", walletId: wallet.id, ...input }),
    /** Issues an invoice, by default for 10.00 USDT, at the shared address, where its amount identifies its payment. */
    issueShared: (input: Parameters<typeof ledger.create>[0] = {}) =>
      ledger.create({ amount: "10.00", walletId: shared.id, ...input }),
    cancel: (invoice: InvoiceView) =>
      cancelInvoice(ledger.app, testContext, organizationId, invoice.id),
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

export type Book = Awaited<ReturnType<typeof openBook>>;

/** Returns the state of a network whose newest block was read at a time, and is final. */
export function stateOf(
  network: string,
  tipHeight: number,
  at: Instant,
  changes: Partial<NetworkStateRow> = {},
): NetworkStateRow {
  return {
    network,
    chainId: 1,
    cursorHeight: tipHeight,
    cursorHash: "00".repeat(32),
    cursorTime: at,
    tipHeight,
    tipHash: "00".repeat(32),
    tipTime: at,
    tipSeenAt: at,
    headHeight: tipHeight,
    scannedAt: at,
    usualLagMs: 0,
    disabledTokens: [],
    version: 1,
    ...changes,
  };
}

/** Returns the problem with which work was refused. */
export async function refusal(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Returns an enabled network of a ledger. */
export function networkOf({ networks }: Pick<Ledger, "networks">, id: string): ConfiguredNetwork {
  return known(networks.get(id), `the network ${id}`);
}

/** Returns a value that must exist. */
export function known<T>(value: T | null | undefined, what = "a value"): T {
  if (value === null || value === undefined) throw new Error(`the test expects ${what} here`);
  return value;
}
