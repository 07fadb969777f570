// The invoices of a test of a watched network, of which it states the address and the terms alone.
import { anyToken } from "../../../src/features/invoices/holds/holds.ts";
import type { PaymentTotals } from "../../../src/features/invoices/rules.ts";
import { storedTotals } from "../../../src/features/invoices/settlement/terms-to-pay.ts";
import type { InvoiceRow } from "../../../src/features/invoices/store.ts";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import { second, type Instant } from "../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import type { Address } from "../../../src/platform/chain/client.ts";
import type { Network } from "../../../src/platform/chain/networks.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { addOrganization } from "../merchants.ts";
import type { Unsound } from "../store/expect-store-is-consistent.ts";
import { testContext } from "../store/stores.ts";

export const startAt = Date.UTC(2026, 10, 2);
export const blockMs = 12 * second;
export const token = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000));

/** An invoice that a test asks for. */
interface AskedInvoice {
  readonly id: Id<"invoice">;
  readonly address: Address;
  /** Whether its hold is live. */
  isWatched: boolean;
}

export interface AskedFor {
  readonly address: Address;
  /** The amount that its hold reserves on a shared address; absent if the address is exclusive to the invoice. */
  readonly exactAmount?: bigint;
  readonly terms?: AskedTerms;
}

/** The terms of an invoice that differ from 25.00 USD in USDT, which stay payable for a million blocks. */
export interface AskedTerms {
  readonly amount?: bigint;
  readonly payableAmount?: bigint;
  readonly issuedAt?: Instant;
  readonly expiresAt?: Instant;
  readonly isCanceled?: boolean;
  readonly latePolicy?: "accept" | "review";
}

/** The invoices of a test on a network, of which it states the address and the terms alone. */
export interface AskingInvoices {
  /** The store, which reports the transactions that settle invoices. */
  readonly db: Database;
  ask(asked: AskedFor): AskedInvoice;
  /** Stores the invoices that the test has asked for since the last call. */
  store(): Promise<void>;
  /** Reads the totals of the invoices that were settled. */
  read(): Promise<void>;
  readonly totals: ReadonlyMap<Id<"invoice">, PaymentTotals>;
  /** Called in a transaction that settles invoices before it commits: a test throws here to simulate a kill. */
  onSettle: () => void;
}

/** The consistency checks that fail on a store whose invoices have neither wallets nor events. */
export const standInInvoices: Unsound = {
  checks: ["figures.facts", "invoices.held", "invoices.own-address"],
  because: "the invoices that a test asks for are stored without having been issued",
};

/** Makes invoices on a network, which are stored as they are asked for. */
export async function askingInvoices(db: Database, network: Network): Promise<AskingInvoices> {
  const ids = createIds(systemRandom);
  const accepting = await addOrganization(db, ids, startAt);
  const reviewing = await addOrganization(db, ids, startAt);
  await db.write(testContext, (tx) =>
    tx.update(organizations, { latePayments: "review" }, "WHERE id = $1", [reviewing]),
  );
  const stored: AskedInvoice[] = [];
  const waiting: {
    readonly asked: AskedInvoice;
    readonly row: InvoiceRow;
    readonly hold: HoldRow;
  }[] = [];
  const released = new Set<Id<"invoice">>();
  const totals = new Map<Id<"invoice">, PaymentTotals>();

  const self: AskingInvoices = {
    totals,
    onSettle: () => undefined,
    db: {
      ...db,
      write: (context, work, foreseen) => {
        const watching = async (tx: Tx) => {
          const seen = { settles: false };
          const watched = new Proxy(tx, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name);
              if (typeof value !== "function") return value;
              return (...args: unknown[]) => {
                if (name === "updateMany" && args[0] === invoices) seen.settles = true;
                return Reflect.apply(value, target, args) as unknown;
              };
            },
          });
          const result = await work(watched);
          if (seen.settles) self.onSettle();
          return result;
        };
        return db.write(context, watching, foreseen);
      },
    },
    ask({ address, exactAmount, terms = {} }) {
      const asked: AskedInvoice = { id: ids.next("invoice", startAt), address, isWatched: true };
      const organizationId = terms.latePolicy === "review" ? reviewing : accepting;
      const row = invoiceOf(network, asked, organizationId, exactAmount ?? null, terms);
      const hold = holdOf(ids.next("hold", startAt), row, address, exactAmount ?? null);
      waiting.push({ asked, row, hold });
      return asked;
    },
    async store() {
      const fresh = waiting.splice(0);
      stored.push(...fresh.map(({ asked }) => asked));
      const ended = stored.filter(({ id, isWatched }) => !isWatched && !released.has(id));
      if (fresh.length === 0 && ended.length === 0) return;
      await db.write(testContext, async (tx) => {
        await tx.insertMany(
          invoices,
          fresh.map(({ row }) => row),
        );
        await tx.insertMany(
          holds,
          fresh.map(({ hold }) => hold),
        );
        for (const { id } of ended) {
          released.add(id);
          await tx.update(holds, { releasedAt: startAt }, "WHERE invoice_id = $1", [id]);
        }
      });
    },
    async read() {
      for (const row of await db.find(invoices, "WHERE version > 1")) {
        totals.set(row.id, storedTotals(row));
      }
    },
  };
  return self;
}

/** Returns an issued invoice, by default of 25.00 USD for as many USDT. */
function invoiceOf(
  network: Network,
  { id, address }: AskedInvoice,
  organizationId: Id<"organization">,
  exactAmount: bigint | null,
  terms: AskedTerms,
): InvoiceRow {
  const { amount = 2_500n, issuedAt = startAt, isCanceled = false } = terms;
  const payableAmount = terms.payableAmount ?? exactAmount ?? token(25);
  return {
    id,
    organizationId,
    publicId: id.replace("inv_", "pub_"),
    checkoutId: id.replace("inv_", "chk_"),
    status: isCanceled ? "canceled" : "open",
    exception: "none",
    version: 1,
    amount,
    settlementCurrency: "USD",
    settlementDecimals: 2,
    tokenSymbol: "USDT",
    tokenDecimals: 6,
    network: network.id,
    requiredConfirmations: 3,
    payableAmount,
    remainingAmount: isCanceled ? 0n : payableAmount,
    askedAmount: null,
    exchangeRate: "1",
    dustAmount: null,
    underpaymentTolerance: "0",
    walletId: null,
    walletAddress: network.kind.formatAddress(address),
    // The rest of an invoice at an address of its own needs no amount of its own.
    addressIndex: exactAmount === null ? 0 : null,
    customerId: null,
    externalId: null,
    requestFingerprint: null,
    description: null,
    redirectUrl: null,
    expiresInSeconds: 3_600,
    managedBy: null,
    enteredAtLink: null,
    startedAtLink: null,
    startedFrom: null,
    metadata: {},
    seenAmount: 0n,
    confirmedAmount: 0n,
    paidAmount: null,
    isLate: false,
    isReverted: false,
    latestBlock: null,
    completedAt: null,
    transactionHashes: [],
    aside: null,
    expiresAt: terms.expiresAt ?? startAt + 1_000_000 * blockMs,
    lateUntil: startAt + 2_000_000 * blockMs,
    createdAt: issuedAt,
    updatedAt: issuedAt,
    issuedAt,
    countedAt: issuedAt,
    paidAt: null,
    canceledAt: isCanceled ? issuedAt : null,
    paymentOptions: null,
  };
}

/** Returns the hold of an invoice: its address, or an amount on a shared address. */
function holdOf(
  id: Id<"hold">,
  { id: invoiceId, organizationId, network, issuedAt, lateUntil }: InvoiceRow,
  address: Address,
  exactAmount: bigint | null,
): HoldRow {
  return {
    id,
    network,
    address,
    token: exactAmount === null ? anyToken : "USDT",
    amount: exactAmount ?? 0n,
    price: exactAmount,
    leastAmount: exactAmount ?? 0n,
    invoiceId,
    organizationId,
    kind: exactAmount === null ? "exclusive" : "amount",
    enteredAtLink: null,
    needsDecision: false,
    startsAt: issuedAt ?? startAt,
    endsAt: lateUntil ?? startAt,
    releasedAt: null,
    recycledAt: null,
    recyclableKey: null,
    markHeight: null,
    markHash: null,
    markReadAt: null,
    isMarkRecent: false,
    isNewAddress: exactAmount === null,
  };
}

type HoldRow = RowOf<typeof holds>;
