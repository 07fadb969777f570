import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { makeMeter } from "../../../src/features/usage/meter.ts";
import { second } from "../../../src/kernel/clock.ts";
import type { Id, IdSource } from "../../../src/kernel/id.ts";
import type { ChainClient, Receipt } from "../../../src/platform/chain/client.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import { openLedger } from "../../support/ledger.ts";
import { watch } from "../../support/watched-ledger.ts";
import { addressOf, makeFakeChain, type FakeTransfer } from "../../support/chain/fake-chain.ts";
import { testContext } from "../../support/store/stores.ts";

const blockMs = 12 * second;
const batchRows = 5_000;
/** A number of addresses at which the watcher reads all transfers of the tokens and filters them itself. */
const addressesOfTown = 2_000;

/** The time of some work, in milliseconds. */
export interface Cost {
  wallMs: number;
  /** CPU time of all threads of this process. */
  cpuMs: number;
}

/** Returns a function that returns the cost since this call. */
function startCosts(): () => Cost {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1_000 };
  };
}

const addressAt = (place: number) => addressOf(`wallet ${String(place).padStart(6, "0")}`);

/**
 * Opens a network with very many live invoices, spread over a number of addresses, and blocks in which some transfers
 * pay invoices.
 */
export async function openTown(db: Database, live: number, addresses = addressesOfTown) {
  const shop = await openLedger(db, "ethereum");
  const chain = makeFakeChain({
    startAt: shop.now() - 200 * blockMs,
    blockMs,
    finalityLag: 30,
    chainId: 1,
  });
  chain.mine([], 199);
  const ofChain: Cost = { wallMs: 0, cpuMs: 0 };
  // The receipts of the block, precomputed so that building them is not measured.
  const receipts = new Map<string, Receipt>();
  const receiptOf = (hash: string) => Promise.resolve(receipts.get(hash) ?? null);
  const client = timed(chain.client, receiptOf, (cost) => {
    ofChain.wallMs += cost.wallMs;
    ofChain.cpuMs += cost.cpuMs;
  });
  const market = watch(shop, "ethereum", [client]);
  await market.look();
  await shop.addWallet("ethereum", { address: `0x${"1".repeat(40)}` });
  const [invoice, hold] = await templates(db, await shop.create({ network: "ethereum" }));
  const asked = await populate(
    db,
    shop.ids,
    { invoice, hold },
    {
      live,
      addresses: Math.min(addresses, live),
    },
  );
  if (db.dialect === "postgres") {
    await db.write(testContext, (tx) => tx.run("ANALYZE invoices, holds"));
  }
  const usdt = shop.networks.get("ethereum")?.tokens.find(({ symbol }) => symbol === "USDT");
  if (usdt === undefined) throw new Error("the token is gone");
  const { contract } = usdt;

  let next = 0;
  let blocks = 0;

  /** Scans until nothing is waiting; returns the time without the chain's own. */
  async function look(): Promise<Cost> {
    const before = { ...ofChain };
    const spent = startCosts();
    await market.look();
    const { wallMs, cpuMs } = spent();
    return {
      wallMs: wallMs - (ofChain.wallMs - before.wallMs),
      cpuMs: cpuMs - (ofChain.cpuMs - before.cpuMs),
    };
  }

  async function keepReceipts(): Promise<void> {
    const { height } = chain.tip();
    const { logs } = await chain.client.transfers({
      from: height,
      to: height,
      contracts: [contract],
      recipients: null,
    });
    for (const log of logs) {
      receipts.set(log.transactionHash, {
        transactionHash: log.transactionHash,
        succeeded: true,
        blockHeight: log.blockHeight,
        blockHash: log.blockHash,
        transfers: [log],
      });
    }
  }

  return {
    /**
     * Mines a block of transfers, some of which pay an invoice each; returns the time of processing it.
     */
    async mine(given: { readonly transfers: number; readonly paying: number }): Promise<Cost> {
      blocks += 1;
      const step = Math.max(1, Math.floor(given.transfers / given.paying));
      const block = Array.from({ length: given.transfers }, (_, place): FakeTransfer => {
        const transaction = `${String(blocks)} ${String(place)}`;
        const isOurs = place % step === 0 && place / step < given.paying;
        if (!isOurs) {
          return { transaction, contract, to: addressOf(`other ${String(place)}`), amount: 7n };
        }
        // Spread over all invoices, so that no page of the store is in the cache by chance.
        const payee = asked[(next * 7_919) % asked.length];
        if (payee === undefined) throw new Error("nobody is left to pay");
        next += 1;
        return { transaction, contract, ...payee };
      });
      chain.mine(block);
      await keepReceipts();
      shop.advance(blockMs);
      return look();
    },
    /** Mines the blocks that confirm the last one; returns the time of processing them. */
    async confirm(): Promise<Cost> {
      chain.mine([], 12);
      shop.advance(12 * blockMs);
      return look();
    },
  };
}

type InvoiceRow = RowOf<typeof invoices>;
type HoldRow = RowOf<typeof holds>;

async function templates(
  db: Database,
  { id }: { readonly id: Id<"invoice"> },
): Promise<[InvoiceRow, HoldRow]> {
  const invoice = await db.findOne(invoices, "WHERE id = $1", [id]);
  const hold = await db.findOne(holds, "WHERE invoice_id = $1", [id]);
  if (invoice === null || hold === null) throw new Error("nothing was issued");
  return [invoice, hold];
}

/** Inserts copies of one issued invoice, each with its own amount at one of many addresses. */
async function populate(
  db: Database,
  ids: IdSource,
  { invoice, hold }: { readonly invoice: InvoiceRow; readonly hold: HoldRow },
  { live, addresses }: { readonly live: number; readonly addresses: number },
): Promise<{ to: ReturnType<typeof addressAt>; amount: bigint }[]> {
  const asked: { to: ReturnType<typeof addressAt>; amount: bigint }[] = [];
  const at = invoice.createdAt;
  while (asked.length < live) {
    const first = asked.length;
    const rows = Array.from({ length: Math.min(batchRows, live - first) }, (_, place) => {
      const number = first + place;
      const to = addressAt(number % addresses);
      const amount = (invoice.payableAmount ?? 0n) + BigInt(Math.floor(number / addresses));
      const id = ids.next("invoice", at);
      asked.push({ to, amount });
      const copied: InvoiceRow = {
        ...invoice,
        id,
        publicId: `pub${String(number)}`,
        checkoutId: `chk_${String(number)}`,
        payableAmount: amount,
        remainingAmount: amount,
        walletAddress: `0x${to}`,
      };
      const held: HoldRow = {
        ...hold,
        id: ids.next("hold", at),
        address: to,
        amount,
        leastAmount: amount,
        invoiceId: id,
      };
      return { copied, held };
    });
    await db.write(testContext, async (tx) => {
      await tx.insertMany(
        invoices,
        rows.map(({ copied }) => copied),
      );
      await tx.insertMany(
        holds,
        rows.map(({ held }) => held),
      );
      const meter = makeMeter(ids);
      for (const { copied } of rows) meter.invoice(null, copied);
      meter.append(tx, at);
    });
  }
  return asked;
}

/** Wraps a client so that the time of its responses is reported. */
function timed(
  client: ChainClient,
  receiptOf: ChainClient["receipt"],
  tell: (cost: Cost) => void,
): ChainClient {
  const told =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const spent = startCosts();
      try {
        return await call(...given);
      } finally {
        tell(spent());
      }
    };
  return {
    ...client,
    heads: told((known) => client.heads(known)),
    transfers: told((query) => client.transfers(query)),
    blocks: told((heights) => client.blocks(heights)),
    receipt: receiptOf,
  };
}
