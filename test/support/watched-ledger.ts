import { getInvoice } from "../../src/features/invoices/invoices.ts";
import { presentInvoice, type InvoiceView } from "../../src/features/invoices/records.ts";
import type { PaymentFilters } from "../../src/features/payments/filters.ts";
import { networkReadersOf } from "../../src/features/payments/networks/readers.ts";
import { listPayments } from "../../src/features/payments/payments.ts";
import { presentPayment } from "../../src/features/payments/records.ts";
import { watchWorkerName } from "../../src/features/payments/wake.ts";
import type { Watcher } from "../../src/features/payments/watcher/watcher.ts";
import { makeWatchWorkers } from "../../src/features/payments/worker.ts";
import { second } from "../../src/kernel/clock.ts";
import type { Id } from "../../src/kernel/id.ts";
import type { PageQuery } from "../../src/kernel/page.ts";
import type { ChainClient } from "../../src/platform/chain/client.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { findToken, type Network } from "../../src/platform/chain/networks.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { makeFakeChain, type FakeChain, type FakeTransfer } from "./chain/fake-chain.ts";
import { appOf } from "./context.ts";
import { known, networkOf, type Ledger } from "./ledger.ts";
import { testNetworks } from "./merchants.ts";

/** Returns the app of a ledger, and its parts as the readers of a network take them. */
export function readingParts({ app, db, now }: Ledger) {
  const { journal } = app;
  return { app, db, journal, clock: { now }, logger: silentLogger };
}

/** A ledger whose network is watched: the whole product above the chain client. */
export interface WatchedLedger {
  readonly watcher: Watcher;
  /** Runs the network's worker until no work is due. */
  look(): Promise<void>;
  read(invoice: InvoiceView): Promise<ReturnType<typeof presentInvoice>>;
  payments(
    query?: PaymentFilters & PageQuery,
    organizationId?: Id<"organization">,
  ): Promise<{ data: ReturnType<typeof presentPayment>[]; nextCursor: string | null }>;
  /** Returns the types of the events of invoices and payments, in order. */
  events(): Promise<string[]>;
}

const runsMax = 50;

/**
 * Has a network of a ledger watched as the program does, at providers that the test gives. Nobody reads the networks
 * that are `unread`.
 */
export function watch(
  ledger: Ledger,
  networkId: string,
  providers: readonly ChainClient[],
  unread: readonly string[] = [],
): WatchedLedger {
  const members = providers.map((client) => ({ client, budget: null }));
  const app = appOf({
    ...ledger.app,
    // The other networks are read too, but their workers do not run here.
    providersOf: ({ id }) => (unread.includes(id) ? [] : members),
    // The pool draws the middle of what is random.
    randomBytes: (length) => new Uint8Array(length).fill(128),
  });
  const { watcher } = known(networkReadersOf(app).get(networkId), `a reader of ${networkId}`);
  const worker = makeWatchWorkers(app).find(({ name }) => name === watchWorkerName(networkId));

  return {
    watcher,
    async look() {
      for (let runs = 0; runs < runsMax; runs += 1) {
        ledger.advance(2 * second);
        if ((await worker?.run(new AbortController().signal)) !== true) return;
      }
      throw new Error("the worker never comes to an end");
    },
    read: async ({ organizationId, id }) =>
      presentInvoice(await getInvoice(ledger.app, organizationId, id)),
    async payments(query = {}, organizationId = ledger.organizationId) {
      const page = await listPayments(app, organizationId, query);
      return { data: page.data.map(presentPayment), nextCursor: page.nextCursor };
    },
    async events() {
      const rows = await app.db.all<{ type: string }>("SELECT type FROM events ORDER BY id");
      return rows.map(({ type }) => type).filter((type) => /^(invoice|payment)/.test(type));
    },
  };
}

let networksAdded = 0;

/** Adds another network like Ethereum, with USDT alone, to those of a ledger. */
export function addNetwork(ledger: Ledger, changes: Partial<Network> = {}): Network {
  const ethereum = known(testNetworks("ethereum").get("ethereum"));
  networksAdded += 1;
  const id = `ethereum-${String(networksAdded)}`;
  const network = { ...ethereum, id, tokens: ethereum.tokens.slice(0, 1), ...changes };
  ledger.networks.set(id, network);
  return network;
}

export const blockMs = 12 * second;

/** Has a network of a ledger watched on a scripted chain, whose blocks are as far behind the clock as given. */
export async function watchScripted(
  ledger: Ledger,
  networkId = "ethereum",
  { lagMs = 0, finalityLag = 30 } = {},
): Promise<{ chain: FakeChain; market: WatchedLedger }> {
  const { chainId } = networkOf(ledger, networkId);
  const startAt = ledger.now() - 200 * blockMs - lagMs;
  const chain = makeFakeChain({ startAt, blockMs, finalityLag, chainId });
  chain.faults.decimals = usdtOf(ledger, networkId).decimals;
  chain.mine([], 199);
  const market = watch(ledger, networkId, [chain.client]);
  await market.look();
  return { chain, market };
}

/** Returns a transfer of USDT to the address at which an invoice is paid. */
export function transferTo(
  ledger: Ledger,
  { walletAddress }: Pick<InvoiceView, "walletAddress">,
  amount: bigint,
  transaction: string,
  networkId = "ethereum",
): FakeTransfer {
  const to = parseAddress(walletAddress ?? "");
  if (!to.ok) throw new Error("there is nowhere to pay to");
  const { contract } = usdtOf(ledger, networkId);
  return { transaction, contract, to: to.address, amount };
}

const usdtOf = (ledger: Ledger, networkId: string) =>
  known(findToken(networkOf(ledger, networkId), "USDT"));
