import { perApp, type App, type InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { Defect, defineProblem, invalidField, notFound } from "../../../kernel/errors.ts";
import { parseMoneyField, tokenAsset } from "../../../kernel/money/money.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Head } from "../../../platform/chain/client.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import {
  storedProviders,
  type ProviderHealth,
} from "../../../platform/chain/state/provider-health.ts";
import { findToken, type Network } from "../../../platform/chain/networks.ts";
import {
  makeSandbox,
  type Reorganization,
  type ReorganizationOptions,
  type ReorganizationStart,
  type Sandbox,
  type SandboxFault,
  type SandboxPayment,
  type SandboxTransaction,
} from "../../../platform/chain/sandbox/chain.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import { endTime, issuedInvoice } from "../../invoices/sandbox.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { paymentsOfInvoice } from "../ledger/store.ts";
import type { PaymentRow } from "../table.ts";
import { wakeWatcher, watchWorkerName } from "../wake.ts";

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
interface HealedProviders {
  readonly providers: readonly ProviderHealth[];
  /** True if a server has checked the providers since. */
  readonly isChecked: boolean;
}

/** The simulated network with its chain, on which commands simulate payers, blocks and faults. */
interface SimulatedNetwork {
  readonly network: Network;
  readonly sandbox: Sandbox;
}

const SandboxOff = defineProblem({
  code: "sandbox_off",
  status: 409,
  title: "The sandbox is not enabled",
});

/** Returns the simulated network; null if none is enabled. It cannot reach a real network. */
export const sandboxOf = perApp((app): SimulatedNetwork | null => {
  const { clock, randomBytes, networks } = app;
  const network = [...networks.enabled.values()].find(({ kind }) => kind.isSimulated);
  if (network === undefined) return null;
  return { network, sandbox: makeSandbox({ network, clock, randomBytes }) };
});

/** Returns the simulated network; 409 `sandbox_off` if none is enabled. */
export function simulatedIn(app: InTx): SimulatedNetwork {
  const simulated = sandboxOf(app);
  if (simulated !== null) return simulated;
  throw new SandboxOff(
    "Set TILL_NETWORKS=sandbox, or give the data folder of a demo with --data-dir.",
  );
}

function wake(app: InTx): void {
  wakeWatcher(app, simulatedIn(app).network.id);
}

function wakeAfter(tx: Tx, app: InTx): void {
  tx.afterCommit(() => {
    wake(app);
  });
}

/** The longest wait for the server's scan of a new block or its check of the providers, and the poll interval, in milliseconds. */
const readMaxMs = 5_000;
const readPollMs = 100;

/** Creates the chain if necessary, and sets its block time in milliseconds; 0 makes blocks on command only. */
export function openSandbox(app: App, context: WriteContext, blockMs: number): Promise<void> {
  const { sandbox } = simulatedIn(app);
  return app.db.write(context, (tx) => sandbox.open(tx, blockMs));
}

/** Returns the bill of an invoice; 404 if the invoice is not on the sandbox. */
export async function getSandboxBill(app: App, invoiceId: Id<"invoice">): Promise<SandboxBill> {
  return billOf(await invoiceOf(app, invoiceId));
}

/** Pays an invoice at its address. */
export async function payOnSandbox(
  app: App,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  amount: bigint,
): Promise<SandboxTransaction> {
  const { db, clock } = app;
  const { sandbox } = simulatedIn(app);
  const payment = { ...receiverOf(app, await invoiceOf(app, invoiceId)), amount };
  return db.write(context, async (tx) => {
    const sent = await sandbox.pay(tx, payment);
    const waitMs = Math.max(0, (sent.dueAt ?? 0) - clock.now());
    tx.afterCommit(() => setTimeout(wake, waitMs, app).unref());
    return sent;
  });
}

/** An account's transfer to another one, such as a merchant's refund. */
interface SandboxTransfer {
  /** In the network's notation. */
  readonly from: string;
  readonly to: string;
  readonly token: string;
  /** In tokens. */
  readonly amount: string;
}

/** Sends tokens between two addresses. 400 for a malformed address or amount, 422 for an unknown token. */
export async function sendOnSandbox(
  app: App,
  context: WriteContext,
  { from, to, token, amount }: SandboxTransfer,
): Promise<SandboxTransaction> {
  const { network, sandbox } = simulatedIn(app);
  const decimals = findToken(network, token)?.decimals ?? 0;
  const { units } = parseMoneyField("/amount", amount, tokenAsset(token, decimals));
  const addressOf = (name: string, text: string) => {
    const parsed = network.kind.parseAddress(text);
    if (!parsed.ok) throw invalidField(`/${name}`, parsed.fault, parsed.message);
    return parsed.address;
  };
  const payment = { from: addressOf("from", from), to: addressOf("to", to), token, amount: units };
  return app.db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.pay(tx, payment);
  });
}

/** Pays an invoice with several transfers in one transaction, like a batch payment. */
export async function payTogetherOnSandbox(
  app: App,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  amounts: readonly bigint[],
): Promise<SandboxTransaction> {
  const { sandbox } = simulatedIn(app);
  const receiver = receiverOf(app, await invoiceOf(app, invoiceId));
  return app.db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.payTogether(tx, receiver, amounts);
  });
}

/** Pays an invoice in the given way, and returns its bill and the payments in order. */
export async function playScenario(
  app: App,
  context: WriteContext,
  invoiceId: Id<"invoice">,
  scenario: SandboxScenario,
): Promise<{ readonly bill: SandboxBill; readonly sent: readonly SentPayment[] }> {
  const { db, clock } = app;
  const { network, sandbox } = simulatedIn(app);
  const invoice = await invoiceOf(app, invoiceId);
  const receiver = receiverOf(app, invoice);
  const dust = findToken(network, invoice.tokenSymbol)?.dust ?? 0n;
  const own = billOf(invoice);
  const payments = paymentsOf(scenario, own, dust);
  return db.write(context, async (tx) => {
    wakeAfter(tx, app);
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
export function disturbProviders(
  app: App,
  context: WriteContext,
  how: SandboxFault,
  forMs: number,
): Promise<Instant> {
  const { sandbox } = simulatedIn(app);
  return app.db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.disturb(tx, how, forMs);
  });
}

/**
 * Ends all failures of the sandbox's providers, and waits until the running server has checked them; for a few seconds
 * at most, and not if no server reads the chain.
 */
export async function healProviders(app: App, context: WriteContext): Promise<HealedProviders> {
  const { db } = app;
  const { sandbox, network } = simulatedIn(app);
  const healedAt = await db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.heal(tx);
  });
  const providers = async () => {
    const stored = await storedProviders(db, network.id);
    return stored.map(({ health }) => health);
  };
  const isChecked = await untilServer(app, async () =>
    (await providers()).every((one) => (one.healedAt ?? 0) >= healedAt),
  );
  return { isChecked, providers: await providers() };
}

export function mineBlocks(app: App, context: WriteContext, blocks: number): Promise<Head> {
  const { sandbox } = simulatedIn(app);
  return app.db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.mine(tx, blocks);
  });
}

/** Replaces a number of blocks, or those from the newest payment of an invoice on that was not rejected. */
export async function reorganizeSandbox(
  app: App,
  context: WriteContext,
  from: number | Id<"invoice">,
  options: ReorganizationOptions,
): Promise<Reorganization> {
  const { sandbox } = simulatedIn(app);
  const start = typeof from === "number" ? from : await newestPaymentOf(app, from);
  return app.db.write(context, (tx) => {
    wakeAfter(tx, app);
    return sandbox.reorganize(tx, start, options);
  });
}

/** Returns where the newest payment of an invoice is; if none is recorded yet, the newest transfer to its address. */
async function newestPaymentOf(app: App, invoiceId: Id<"invoice">): Promise<ReorganizationStart> {
  const { to } = receiverOf(app, await invoiceOf(app, invoiceId));
  const recorded = await paymentsOfInvoice(app.db, invoiceId);
  return newestOf(recorded, simulatedIn(app).network) ?? { to };
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
export async function waitUntilRead(app: App, { height, hash }: Head): Promise<void> {
  const { network } = simulatedIn(app);
  await untilServer(app, async () => {
    const state = await networkState(app.db, network.id);
    return state === null || state.tipHash === hash || state.tipHeight > height;
  });
}

/** Returns true once `isDone`; false if no server reads the chain, or after a few seconds. */
async function untilServer(app: App, isDone: () => Promise<boolean>): Promise<boolean> {
  const { db, clock } = app;
  const { network } = simulatedIn(app);
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
export async function expireOnSandbox(
  app: App,
  context: WriteContext,
  invoiceId: Id<"invoice">,
): Promise<void> {
  await invoiceOf(app, invoiceId);
  await app.db.write(context, async (tx) => {
    await endTime(tx, app, app.clock.now(), invoiceId);
    wakeAfter(tx, app);
  });
}

async function invoiceOf(app: App, invoiceId: Id<"invoice">): Promise<InvoiceRow> {
  const invoice = await issuedInvoice(app.db, invoiceId);
  if (invoice?.network !== simulatedIn(app).network.id) throw notFound();
  return invoice;
}

/** Returns the address and token in which an invoice is paid. */
function receiverOf(app: App, invoice: InvoiceRow): Pick<SandboxPayment, "to" | "token"> {
  const to = simulatedIn(app).network.kind.parseAddress(invoice.walletAddress ?? "");
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
