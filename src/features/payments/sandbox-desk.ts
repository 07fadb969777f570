import type { Clock } from "../../kernel/clock.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import { parseAddress } from "../../platform/chain/address.ts";
import type { Head } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type {
  Reorganisation,
  Sandbox,
  SandboxTransaction,
} from "../../platform/chain/sandbox/chain.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import { endTime, issuedInvoice, type InvoiceRow } from "../invoices/index.ts";

/** What there is to know before an invoice of the sandbox is paid; amounts in the token's smallest unit. */
export interface SandboxBill {
  readonly invoiceId: Id<"invoice">;
  readonly token: string;
  readonly tokenDecimals: number;
  /** What is still to pay; all of it where nothing is. */
  readonly remaining: bigint;
}

/** What payers and time do on a real chain, done on command on the sandbox. No real network can be reached from here. */
export interface SandboxDesk {
  readonly network: Network;
  /** Makes the chain where there is none, and sets how often a block comes; 0: on command only. */
  open(context: WriteContext, blockMs: number): Promise<void>;
  /** 404 for an invoice that is not on the sandbox. */
  bill(invoiceId: Id<"invoice">): Promise<SandboxBill>;
  /** Pays an invoice at its address. */
  pay(context: WriteContext, invoiceId: Id<"invoice">, amount: bigint): Promise<SandboxTransaction>;
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
  readonly sandbox: Sandbox;
  readonly network: Network;
  /** Wakes the watcher of the sandbox. */
  readonly nudge: () => void;
}): SandboxDesk {
  const { db, clock, auditor, sandbox, network, nudge } = deps;

  async function invoiceOf(invoiceId: Id<"invoice">): Promise<InvoiceRow> {
    const invoice = await issuedInvoice(db, invoiceId);
    if (invoice?.network !== network.id) throw notFound();
    return invoice;
  }

  return {
    network,

    open: (context, blockMs) => db.write(context, (tx) => sandbox.open(tx, blockMs)),

    async bill(invoiceId) {
      const invoice = await invoiceOf(invoiceId);
      const { tokenSymbol: token, tokenDecimals, remainingAmount, payableAmount } = invoice;
      const open = remainingAmount ?? 0n;
      return {
        invoiceId,
        token,
        tokenDecimals,
        remaining: open > 0n ? open : (payableAmount ?? 0n),
      };
    },

    async pay(context, invoiceId, amount) {
      const invoice = await invoiceOf(invoiceId);
      const to = parseAddress(network.addressForm, invoice.walletAddress ?? "");
      if (!to.ok) throw new Defect(`${invoiceId} has no address of its network`);
      return db.write(context, (tx) => {
        tx.afterCommit(nudge);
        return sandbox.pay(tx, { to: to.address, token: invoice.tokenSymbol, amount });
      });
    },

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
      const invoice = await invoiceOf(invoiceId);
      await db.write(context, async (tx) => {
        const at = clock.now();
        await endTime(tx, invoiceId, at);
        auditor.record(tx, at, {
          action: "invoice.time_ended",
          organizationId: invoice.organizationId,
          targetType: "invoice",
          targetId: invoiceId,
          changes: { expiresAt: { from: invoice.expiresAt, to: at } },
        });
        tx.afterCommit(nudge);
      });
    },
  };
}
