import type { Clock, Instant } from "../../kernel/clock.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import { parseAddress } from "../../platform/chain/address.ts";
import type { Head } from "../../platform/chain/client.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import type {
  Reorganisation,
  Sandbox,
  SandboxFault,
  SandboxPayment,
  SandboxTransaction,
} from "../../platform/chain/sandbox/chain.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { Outbox } from "../../platform/events/index.ts";
import { endTime, issuedInvoice, type InvoiceRow } from "../invoices/index.ts";

/** What there is to know before an invoice of the sandbox is paid; amounts in the token's smallest unit. */
export interface SandboxBill {
  readonly invoiceId: Id<"invoice">;
  readonly token: string;
  readonly tokenDecimals: number;
  /** What is still to pay; all of it where nothing is. */
  readonly remaining: bigint;
}

/**
 * How an invoice is paid:
 * - `part`: half of what is to pay; `over`: a whole token more than that; `double`: twice.
 * - `late`: whole, after its time was ended.
 * - `fail`: by a call that fails; `fake`: in a token that only calls itself the same.
 * - `zero`: nothing at all; `dust`: the most that counts as nothing.
 * - `lie`: whole, but only the first provider says so: it never happened.
 */
export type SandboxScene =
  "part" | "over" | "double" | "late" | "fail" | "fake" | "zero" | "dust" | "lie";

/** What payers and time do on a real chain, done on command on the sandbox. No real network can be reached from here. */
export interface SandboxDesk {
  readonly network: Network;
  /** Makes the chain where there is none, and sets how often a block comes; 0: on command only. */
  open(context: WriteContext, blockMs: number): Promise<void>;
  /** 404 for an invoice that is not on the sandbox. */
  bill(invoiceId: Id<"invoice">): Promise<SandboxBill>;
  /** Pays an invoice at its address. */
  pay(context: WriteContext, invoiceId: Id<"invoice">, amount: bigint): Promise<SandboxTransaction>;
  /** Pays an invoice by several transfers in one transaction, as a payer's batch does. */
  payTogether(
    context: WriteContext,
    invoiceId: Id<"invoice">,
    amounts: readonly bigint[],
  ): Promise<SandboxTransaction>;
  /** Pays an invoice as somebody would who does it in a certain way; gives what was sent, in its order. */
  play(
    context: WriteContext,
    invoiceId: Id<"invoice">,
    scene: SandboxScene,
  ): Promise<readonly SandboxTransaction[]>;
  /** Lets the sandbox's providers go wrong for so long; 0 ends it. Gives when it is over. */
  disturb(context: WriteContext, how: SandboxFault, forMs: number): Promise<Instant>;
  mine(context: WriteContext, blocks: number): Promise<Head>;
  reorganise(
    context: WriteContext,
    depth: number,
    options: { readonly drop: boolean },
  ): Promise<Reorganisation>;
  /** Ends an invoice's time. */
  expire(context: WriteContext, invoiceId: Id<"invoice">): Promise<void>;
}

export function makeSandboxDesk(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly outbox: Outbox;
  readonly baseUrl: () => string;
  readonly sandbox: Sandbox;
  readonly network: Network;
  /** Wakes the watcher of the sandbox. */
  readonly nudge: () => void;
}): SandboxDesk {
  const { db, clock, sandbox, network, nudge } = deps;

  async function invoiceOf(invoiceId: Id<"invoice">): Promise<InvoiceRow> {
    const invoice = await issuedInvoice(db, invoiceId);
    if (invoice?.network !== network.id) throw notFound();
    return invoice;
  }

  /** Where an invoice is paid, and in what. */
  function receiverOf(invoice: InvoiceRow): Pick<SandboxPayment, "to" | "token"> {
    const to = parseAddress(network.addressForm, invoice.walletAddress ?? "");
    if (!to.ok) throw new Defect(`${invoice.id} has no address of its network`);
    return { to: to.address, token: invoice.tokenSymbol };
  }

  return {
    network,

    open: (context, blockMs) => db.write(context, (tx) => sandbox.open(tx, blockMs)),

    async bill(invoiceId) {
      return billOf(await invoiceOf(invoiceId));
    },

    async pay(context, invoiceId, amount) {
      const payment = { ...receiverOf(await invoiceOf(invoiceId)), amount };
      return db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.pay(tx, payment);
      });
    },

    async payTogether(context, invoiceId, amounts) {
      const receiver = receiverOf(await invoiceOf(invoiceId));
      return db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.payTogether(tx, receiver, amounts);
      });
    },

    async play(context, invoiceId, scene) {
      const invoice = await invoiceOf(invoiceId);
      const receiver = receiverOf(invoice);
      const dust = findToken(network, invoice.tokenSymbol)?.dust ?? 0n;
      const payments = paymentsOf(scene, billOf(invoice), dust);
      return db.write(context, async (tx) => {
        tx.afterCommit(nudge);
        if (scene === "late") {
          await endTime(tx, deps, invoiceId, clock.now());
          // A block at the deadline: all that come after it are past it, however they are made.
          await sandbox.mine(tx, 1);
        }
        const sent: SandboxTransaction[] = [];
        for (const payment of payments)
          sent.push(await sandbox.pay(tx, { ...receiver, ...payment }));
        return sent;
      });
    },

    disturb: (context, how, forMs) =>
      db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.disturb(tx, how, forMs);
      }),

    mine: (context, blocks) =>
      db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.mine(tx, blocks);
      }),

    reorganise: (context, depth, options) =>
      db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.reorganise(tx, depth, options);
      }),

    async expire(context, invoiceId) {
      await invoiceOf(invoiceId);
      await db.write(context, async (tx) => {
        await endTime(tx, deps, invoiceId, clock.now());
        tx.afterCommit(nudge);
      });
    },
  };
}

function billOf(invoice: InvoiceRow): SandboxBill {
  const { id, tokenSymbol: token, tokenDecimals, remainingAmount, payableAmount } = invoice;
  const open = remainingAmount ?? 0n;
  const remaining = open > 0n ? open : (payableAmount ?? 0n);
  return { invoiceId: id, token, tokenDecimals, remaining };
}

function paymentsOf(
  scene: SandboxScene,
  { remaining: whole, tokenDecimals }: SandboxBill,
  dust: bigint,
): readonly Omit<SandboxPayment, "to" | "token">[] {
  switch (scene) {
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
