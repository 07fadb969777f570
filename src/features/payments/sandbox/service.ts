import type { InTx } from "../../../app.ts";
import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { Defect, invalidField, notFound } from "../../../kernel/errors.ts";
import { tokenAsset } from "../../../kernel/money/asset.ts";
import { parseMoneyField } from "../../../kernel/money/money.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Head } from "../../../platform/chain/client.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import type { ProviderHealth } from "../../../platform/chain/state/provider-health.ts";
import { storedProviders } from "../../../platform/chain/state/provider-store.ts";
import { findToken, type Network } from "../../../platform/chain/networks.ts";
import type {
  Reorganization,
  ReorganizationOptions,
  ReorganizationStart,
  Sandbox,
  SandboxFault,
  SandboxPayment,
  SandboxTransaction,
} from "../../../platform/chain/sandbox/chain.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import { endTime, issuedInvoice } from "../../invoices/sandbox.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { paymentsOfInvoice } from "../ledger/store.ts";
import type { PaymentRow } from "../table.ts";
import { watchWorkerName } from "../worker.ts";

/** The token and amount with which to pay an invoice on the sandbox. */
export interface SandboxBill {
  readonly invoiceId: Id<"invoice">;
  readonly token: string;
  readonly tokenDecimals: number;
  /** The remaining amount in the token's smallest unit; the payable amount if the invoice is fully paid. */
  readonly remaining: bigint;
}

/**
 * A way to pay an invoice:
 * - `part`: half of the remaining amount; `over`: one whole token more than it; `double`: twice.
 * - `late`: in full, after its deadline was moved to now.
 * - `fail`: with a call that fails; `fake`: in another token that uses the same symbol.
 * - `zero`: a transfer of zero; `dust`: the largest amount below the token's minimum.
 * - `lie`: in full, but only the first provider reports it: the payment never happened.
 */
export type SandboxScenario =
  | "part"
  | "over"
  | "double"
  | "late"
  | "fail"
  | "fake"
  | "zero"
  | "dust"
  | "lie";

/** A payment of an invoice that the sandbox has sent. */
export interface SentPayment {
  readonly transaction: SandboxTransaction;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The state of the sandbox's providers after their failures were ended. */
export interface HealedProviders {
  readonly providers: readonly ProviderHealth[];
  /** True if a server has checked the providers since. */
  readonly isChecked: boolean;
}

/** Simulates payers, blocks and faults on the sandbox on command. It cannot reach a real network. */
export type SandboxService = { readonly network: Network } & Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly app: InTx;
  readonly sandbox: Sandbox;
  readonly network: Network;
  /** Wakes the watcher of the sandbox. */
  readonly wake: () => void;
}

/** The longest wait for the server's scan of a new block or its check of the providers, and the poll interval, in milliseconds. */
const readMaxMs = 5_000;
const readPollMs = 100;

const methods = {
  open,
  bill,
  pay,
  send,
  payTogether,
  play,
  disturb,
  heal,
  mine,
  reorganize,
  untilRead,
  expire,
};

export function makeSandboxService(deps: Deps): SandboxService {
  return { network: deps.network, ...bind(deps, methods) };
}

/** Creates the chain if necessary, and sets its block time in milliseconds; 0 makes blocks on command only. */
function open({ db, sandbox }: Deps, context: WriteContext, blockMs: number): Promise<void> {
  return db.write(context, (tx) => sandbox.open(tx, blockMs));
}

/** Returns the bill of an invoice; 404 if the invoice is not on the sandbox. */
async function bill(deps: Deps, invoiceId: Id<"invoice">): Promise<SandboxBill> {
  return billOf(await invoiceOf(deps, invoiceId));
}

/** Pays an invoice at its address. */
async function pay(
  deps: Deps,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  amount: bigint,
): Promise<SandboxTransaction> {
  const { db, clock, sandbox, wake } = deps;
  const payment = { ...receiverOf(deps, await invoiceOf(deps, invoiceId)), amount };
  return db.write(context, async (tx) => {
    const sent = await sandbox.pay(tx, payment);
    const waitMs = Math.max(0, (sent.dueAt ?? 0) - clock.now());
    tx.afterCommit(() => setTimeout(wake, waitMs).unref());
    return sent;
  });
}

/** An account's transfer to another one, such as a merchant's refund. */
export interface SandboxTransfer {
  /** In the network's notation. */
  readonly from: string;
  readonly to: string;
  readonly token: string;
  /** In tokens. */
  readonly amount: string;
}

/** Sends tokens between two addresses. 400 for a malformed address or amount, 422 for an unknown token. */
async function send(
  { db, sandbox, network, wake }: Deps,
  context: WriteContext,
  { from, to, token, amount }: SandboxTransfer,
): Promise<SandboxTransaction> {
  const decimals = findToken(network, token)?.decimals ?? 0;
  const { units } = parseMoneyField("/amount", amount, tokenAsset(token, decimals));
  const addressOf = (name: string, text: string) => {
    const parsed = network.kind.parseAddress(text);
    if (!parsed.ok) throw invalidField(`/${name}`, parsed.fault, parsed.message);
    return parsed.address;
  };
  const payment = { from: addressOf("from", from), to: addressOf("to", to), token, amount: units };
  return db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.pay(tx, payment);
  });
}

/** Pays an invoice with several transfers in one transaction, like a batch payment. */
async function payTogether(
  deps: Deps,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  amounts: readonly bigint[],
): Promise<SandboxTransaction> {
  const { db, sandbox, wake } = deps;
  const receiver = receiverOf(deps, await invoiceOf(deps, invoiceId));
  return db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.payTogether(tx, receiver, amounts);
  });
}

/** Pays an invoice in the given way, and returns its bill and the payments in order. */
async function play(
  deps: Deps,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  scenario: SandboxScenario,
): Promise<{ readonly bill: SandboxBill; readonly sent: readonly SentPayment[] }> {
  const { app, db, clock, sandbox, network, wake } = deps;
  const invoice = await invoiceOf(deps, invoiceId);
  const receiver = receiverOf(deps, invoice);
  const dust = findToken(network, invoice.tokenSymbol)?.dust ?? 0n;
  const own = billOf(invoice);
  const payments = paymentsOf(scenario, own, dust);
  return db.write(context, async (tx) => {
    tx.afterCommit(wake);
    if (scenario === "late") {
      await endTime(tx, app, clock.now(), invoiceId);
      // A block at the deadline, so that the following blocks are after it.
      await sandbox.mine(tx, 1);
    }
    const sent: SentPayment[] = [];
    for (const payment of payments) {
      const transaction = await sandbox.pay(tx, { ...receiver, ...payment });
      sent.push({ transaction, amount: payment.amount });
    }
    return { bill: own, sent };
  });
}

/** Injects a fault into the sandbox's providers for `forMs` milliseconds; 0 ends it. Returns the end time. */
function disturb(
  { db, sandbox, wake }: Deps,
  context: WriteContext,
  how: SandboxFault,
  forMs: number,
): Promise<Instant> {
  return db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.disturb(tx, how, forMs);
  });
}

/**
 * Ends all failures of the sandbox's providers, and waits until the running server has checked them; for a few seconds
 * at most, and not if no server reads the chain.
 */
async function heal(deps: Deps, context: WriteContext): Promise<HealedProviders> {
  const { db, sandbox, network, wake } = deps;
  const healedAt = await db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.heal(tx);
  });
  const providers = async () => {
    const stored = await storedProviders(db, network.id);
    return stored.map(({ health }) => health);
  };
  const isChecked = await untilServer(deps, async () =>
    (await providers()).every((one) => (one.healedAt ?? 0) >= healedAt),
  );
  return { isChecked, providers: await providers() };
}

function mine({ db, sandbox, wake }: Deps, context: WriteContext, blocks: number): Promise<Head> {
  return db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.mine(tx, blocks);
  });
}

/** Replaces a number of blocks, or those from the newest payment of an invoice on that was not rejected. */
async function reorganize(
  deps: Deps,
  context: WriteContext,
  from: number | Id<"invoice">,
  options: ReorganizationOptions,
): Promise<Reorganization> {
  const { db, sandbox, wake } = deps;
  const place = typeof from === "number" ? from : await newestPaymentOf(deps, from);
  return db.write(context, (tx) => {
    tx.afterCommit(wake);
    return sandbox.reorganize(tx, place, options);
  });
}

/** Returns where the newest payment of an invoice is; if none is recorded yet, the newest transfer to its address. */
async function newestPaymentOf(deps: Deps, invoiceId: Id<"invoice">): Promise<ReorganizationStart> {
  const { to } = receiverOf(deps, await invoiceOf(deps, invoiceId));
  const recorded = await paymentsOfInvoice(deps.db, invoiceId);
  return newestOf(recorded, deps.network) ?? { to };
}

/** Returns where the newest of some payments on a network is; null if all were rejected or none is there. */
export function newestOf(
  recorded: readonly Pick<PaymentRow, "network" | "status" | "blockHeight" | "transactionHash">[],
  { id }: Pick<Network, "id">,
): ReorganizationStart | null {
  const paying = recorded.filter(({ network, status }) => network === id && status !== "rejected");
  if (paying.length === 0) return null;
  const heights = paying
    .filter(({ status }) => status !== "reverted")
    .map(({ blockHeight }) => blockHeight);
  return {
    transactions: paying.map(({ transactionHash }) => transactionHash),
    newestHeight: heights.length === 0 ? null : Math.max(...heights),
  };
}

/**
 * Waits until the running server has read the chain up to a block, so that the effect of a command is there before the
 * next one; for a few seconds at most, and not if no server reads the chain.
 */
async function untilRead(deps: Deps, { height, hash }: Head): Promise<void> {
  await untilServer(deps, async () => {
    const state = await networkState(deps.db, deps.network.id);
    return state === null || state.tipHash === hash || state.tipHeight > height;
  });
}

/** Returns true once `isDone`; false if no server reads the chain, or after a few seconds. */
async function untilServer(
  { db, network, clock }: Deps,
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + readMaxMs;
  do {
    const held = await heldLeases(db, clock.now());
    if (!held.has(watchWorkerName(network.id))) return false;
    if (await isDone()) return true;
    await new Promise((resolve) => setTimeout(resolve, readPollMs));
  } while (performance.now() < end);
  return false;
}

/** Moves an invoice's deadline to now. */
async function expire(deps: Deps, context: WriteContext, invoiceId: Id<"invoice">): Promise<void> {
  const { app, db, clock, wake } = deps;
  await invoiceOf(deps, invoiceId);
  await db.write(context, async (tx) => {
    await endTime(tx, app, clock.now(), invoiceId);
    tx.afterCommit(wake);
  });
}

async function invoiceOf({ db, network }: Deps, invoiceId: Id<"invoice">): Promise<InvoiceRow> {
  const invoice = await issuedInvoice(db, invoiceId);
  if (invoice?.network !== network.id) throw notFound();
  return invoice;
}

/** Returns the address and token in which an invoice is paid. */
function receiverOf({ network }: Deps, invoice: InvoiceRow): Pick<SandboxPayment, "to" | "token"> {
  const to = network.kind.parseAddress(invoice.walletAddress ?? "");
  if (!to.ok) throw new Defect(`${invoice.id} has no valid address on its network`);
  return { to: to.address, token: invoice.tokenSymbol };
}

function billOf(invoice: InvoiceRow): SandboxBill {
  const { id, tokenSymbol: token, tokenDecimals, remainingAmount, payableAmount } = invoice;
  const open = remainingAmount ?? 0n;
  const remaining = open > 0n ? open : (payableAmount ?? 0n);
  return { invoiceId: id, token, tokenDecimals, remaining };
}

/** Returns the payments with which an invoice is paid in a way. `dust` is the token's minimum. */
export function paymentsOf(
  scenario: SandboxScenario,
  { remaining: whole, tokenDecimals }: SandboxBill,
  dust: bigint,
): readonly Omit<SandboxPayment, "to" | "token">[] {
  switch (scenario) {
    case "part":
      return [{ amount: (whole + 1n) / 2n }];
    case "over":
      return [{ amount: whole + 10n ** BigInt(tokenDecimals) }];
    case "double":
      return [{ amount: whole }, { amount: whole }];
    case "late":
      return [{ amount: whole }];
    case "fail":
      return [{ amount: whole, failed: true }];
    case "fake":
      return [{ amount: whole, fakeToken: true }];
    case "zero":
      return [{ amount: 0n }];
    case "dust":
      return [{ amount: dust > 1n ? dust - 1n : 1n }];
    case "lie":
      return [{ amount: whole, lie: true }];
  }
}
