import {
  allocateTransfer,
  ignoreTransfer,
} from "../../../src/features/payments/inbox/allocation.ts";
import {
  acceptPayment,
  rejectPayment,
  reversePayment,
} from "../../../src/features/payments/decisions/decide-payment.ts";
import { cancelInvoice, updateInvoice } from "../../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../../src/features/invoices/issuing/create.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { payments, transfers } from "../../../src/features/payments/table.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import { Problem } from "../../../src/kernel/errors.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { networkId } from "../stage.ts";
import type { Step } from "../steps.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

/** Merchants who issue and cancel invoices, and decide about payments. */
export interface Merchants {
  readonly create: (step: Of<"create">, externalId: string) => Promise<void>;
  /** Issues an invoice of the first merchant on the shared address; returns null if it was refused. */
  readonly issue: (order: Order, externalId: string) => Promise<Invoice | null>;
  readonly again: (step: Of<"again">, externalId: string) => Promise<void>;
  readonly burst: (step: Of<"burst">, name: string) => Promise<void>;
  readonly flood: (step: Of<"flood">, name: string) => Promise<void>;
  readonly cancel: (step: Of<"cancel">) => Promise<void>;
  readonly decide: (step: Of<"decide">) => Promise<void>;
  /** Allocates the transfer of a transaction to the invoice that it was meant for. */
  readonly allocate: (transactionHash: string, invoice: Invoice) => Promise<void>;
}

/** The parts of an order that vary. */
type Order = Pick<Of<"create">, "price" | "token" | "lifeMs">;

/** The tokens of orders like earlier ones, if they are not plain USDT. */
const otherTokens = ["CENT", "WIDE"] as const;

export function makeMerchants(ground: Ground): Merchants {
  const { db, deeds, attempt, invoiceAt } = ground;
  const { asked, decided, given } = deeds;
  const { cast } = ground.stage;

  /** A price may be refused only while every amount near it is held by a living invoice. */
  async function noteRefusal(
    { code }: Problem,
    owner: Id<"organization">,
    { token, price, wallet }: Of<"create">,
  ): Promise<void> {
    if (code !== "wallet_capacity_exhausted" || wallet !== "shared") return;
    const dead = await db.find(
      invoices,
      `WHERE organization_id = $1 AND token_symbol = $2 AND status IN ('canceled', 'expired') AND id IN (
         SELECT invoice_id FROM holds WHERE released_at IS NULL
       )`,
      [owner, token],
    );
    const isHolding = dead.some((row) => {
      const bare = row.amount * 10n ** BigInt(row.tokenDecimals - row.settlementDecimals);
      const isOfPrice = row.settlementCurrency === "USD" && row.amount === centsOf(price);
      return isOfPrice && row.seenAmount === 0n && (row.payableAmount ?? 0n) > bare;
    });
    if (isHolding) deeds.faults.push(`${price} ${token} is held by invoices that are dead`);
  }

  async function create(step: Of<"create">, externalId: string) {
    const owner = cast.organizations[step.organization];
    const wallets = cast.wallets[step.organization];
    if (owner === undefined || wallets === undefined) return null;
    const walletId = step.wallet === "any" ? undefined : wallets[step.wallet];
    const tokens = [...new Set([step.token, ...step.others])];
    const options = tokens.map((tokenSymbol) => ({ network: networkId, tokenSymbol, walletId }));
    const input = {
      amount: step.price,
      settlementCurrency: step.currency,
      ...(tokens.length === 1 ? options[0] : { paymentOptions: options }),
      underpaymentTolerance: step.tolerance,
      expiresInSeconds: step.lifeMs / second,
      externalId,
      draft: step.draft,
    };
    const ask = () =>
      attempt(
        ({ app }) => createInvoice(app, testContext, owner, input),
        (problem) => noteRefusal(problem, owner, step),
      );
    // A merchant without an answer asks again.
    const made = (await ask()) ?? (await ask());
    if (made === null) return null;
    const { id } = made.invoice;
    if (step.draft) {
      const changes = { amount: "4.20", status: "open" } as const;
      const issued = await attempt(({ app }) =>
        updateInvoice(app, testContext, owner, id, changes, () => undefined),
      );
      if (issued === null) return null;
    }
    if (!asked.includes(id)) asked.push(id);
    return made.invoice;
  }

  const plain: Omit<Of<"create">, "organization"> = {
    ...({ kind: "create", wallet: "shared", token: "CENT", others: [], currency: "USD" } as const),
    price: "10.00",
    tolerance: "0",
    lifeMs: 5 * minute,
    draft: false,
  };

  async function burst({ organization, count }: Of<"burst">, name: string) {
    const owner = cast.organizations[organization];
    if (owner === undefined) return;
    const made = await attempt(({ app }) =>
      Promise.all(
        Array.from({ length: count }, (_, place) =>
          createInvoice(app, testContext, owner, {
            amount: "7.00",
            settlementCurrency: "USD",
            tokenSymbol: "USDT",
            network: networkId,
            externalId: `${name}-${String(place)}`,
          }).catch((error: unknown) => {
            if (error instanceof Problem && error.status < 500) return null;
            throw error;
          }),
        ),
      ),
    );
    for (const one of made ?? []) if (one !== null) asked.push(one.invoice.id);
  }

  async function flood({ cancels }: Of<"flood">, name: string) {
    for (let count = 0; count < 14; count += 1) {
      const made = await create({ ...plain, organization: 0 }, `${name}-${String(count)}`);
      if (made === null) return;
      if (cancels) await cancel(made.id, made.organizationId);
    }
  }

  const cancel = (id: Id<"invoice">, owner: Id<"organization">) =>
    attempt(({ app }) => cancelInvoice(app, testContext, owner, id));

  function noteGiven(transactionHash: string, invoiceId: string): void {
    const known = given.get(transactionHash) ?? new Set();
    given.set(transactionHash, known.add(invoiceId));
  }

  async function decide({ what, item, ...step }: Of<"decide">) {
    if (what === "allocate" || what === "ignore") {
      const invoice = await invoiceAt(step.invoice);
      const rows = await db.find(
        transfers,
        "WHERE organization_id IS NOT NULL AND disposition = 'unmatched' AND status = 'seen' ORDER BY id",
      );
      const row = rows[item % rows.length];
      if (row === undefined || row.organizationId === null || invoice === null) return;
      const { id, organizationId, transactionHash, amount, tokenDecimals } = row;
      for (const one of await db.find(payments, "WHERE transfer_id = $1", [id])) {
        decided.add(one.invoiceId);
      }
      decided.add(invoice.id);
      noteGiven(transactionHash, invoice.id);
      const meant = deeds.payments.get(transactionHash)?.meant;
      if (meant != null) decided.add(meant);
      const part = { invoiceId: invoice.id, amount: decimal(amount, tokenDecimals) };
      await attempt(({ app }) =>
        what === "ignore"
          ? ignoreTransfer(app, testContext, organizationId, id)
          : allocateTransfer(app, testContext, organizationId, id, [part]),
      );
      return;
    }
    const isCounted = what === "reverse" || what === "move";
    const wanted = isCounted ? "status IN ('confirming', 'confirmed')" : "status = 'review'";
    const rows = await db.find(payments, `WHERE ${wanted} ORDER BY id`);
    const row = rows[item % rows.length];
    if (row === undefined) return;
    const { id, organizationId, transactionHash, invoiceId, transferId } = row;
    for (const one of await db.find(payments, "WHERE transfer_id = $1", [transferId])) {
      decided.add(one.invoiceId);
    }
    if (what === "accept") noteGiven(transactionHash, invoiceId);
    if (what === "move") {
      const others = await db.find(
        invoices,
        "WHERE organization_id = $1 AND id <> $2 AND status <> 'draft' AND managed_by IS NULL ORDER BY id",
        [organizationId, invoiceId],
      );
      const to = others[step.invoice % others.length];
      if (to === undefined) return;
      decided.add(to.id);
      noteGiven(transactionHash, to.id);
      const input = { toInvoiceId: to.id, cancel: item % 4 === 0 };
      await attempt(({ app }) => reversePayment(app, testContext, organizationId, id, input));
      return;
    }
    const decide = { accept: acceptPayment, reject: rejectPayment, reverse: reversePayment }[what];
    await attempt(({ app }) => decide(app, testContext, organizationId, id));
  }

  async function allocate(transactionHash: string, { id, organizationId }: Invoice) {
    const row = await db.findOne(
      transfers,
      "WHERE transaction_hash = $1 AND disposition = 'unmatched' AND status = 'seen'",
      [transactionHash],
    );
    if (row === null) return;
    const part = { invoiceId: id, amount: decimal(row.amount, row.tokenDecimals) };
    await attempt(({ app }) => allocateTransfer(app, testContext, organizationId, row.id, [part]));
  }

  return {
    burst,
    allocate,
    flood,
    decide,
    issue: (order, externalId) => create({ ...plain, ...order, organization: 0 }, externalId),
    async create(step, externalId) {
      await create(step, externalId);
    },
    async again({ invoice }, externalId) {
      const like = await invoiceAt(invoice);
      const organization = like === null ? -1 : cast.organizations.indexOf(like.organizationId);
      if (like === null || like.settlementCurrency !== "USD") return;
      const price = decimal(like.amount, like.settlementDecimals);
      const wallet = like.addressIndex === null ? "shared" : "own";
      const token = otherTokens.find((symbol) => symbol === like.tokenSymbol) ?? "USDT";
      await create({ ...plain, organization, wallet, token, price, lifeMs: hour }, externalId);
    },
    async cancel({ invoice }) {
      const found = await invoiceAt(invoice);
      if (found !== null) await cancel(found.id, found.organizationId);
    },
  };
}

/** A price of two decimals in its smallest unit. */
function centsOf(price: string): bigint {
  return BigInt(price.replace(".", ""));
}

/** Writes an amount as decimal text. */
export function decimal(units: bigint, decimals: number): string {
  const text = units.toString().padStart(decimals + 1, "0");
  const whole = text.slice(0, -decimals);
  return `${whole}.${text.slice(-decimals)}`;
}
