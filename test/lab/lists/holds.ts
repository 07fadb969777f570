import { peggedToken, stated, unmarked } from "../../support/amounts.ts";
// npm run prove:holds: measures issuing an invoice on a wallet with PROVE_LIVE live invoices of one price (a hundred
// thousand), compared with an empty wallet in the same store, on both databases. It fails if the target is missed.
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { searchAmount } from "../../../src/features/invoices/holds/amount-search.ts";
import { holdAmounts } from "../../../src/features/invoices/holds/holds.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { hour, systemClock } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { startPostgres } from "../../support/store/postgres.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import { testContext } from "../../support/store/stores.ts";

const live = Number(process.env["PROVE_LIVE"] ?? "100000");
const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",");
const ratioMax = 1.5;
const price = 100_000_000n;
const batchRows = 1_000;
const rounds = 40;
const perRound = 25;

interface Wallet {
  readonly id: Id<"wallet">;
  readonly address: string;
}

/** Fills a wallet with live invoices of one price, by the product's own way of taking a hold. */
async function crowd(db: Database, shop: Ledger, wallet: Wallet): Promise<void> {
  const made = await shop.create({ amount: "100.00", walletId: wallet.id });
  const template = await db.findOne(invoices, "WHERE id = $1", [made.id]);
  if (template === null) throw new Error("nothing was issued");
  for (let first = 1; first < live; first += batchRows) {
    await db.write(testContext, async (tx) => {
      const rows = Array.from({ length: Math.min(batchRows, live - first) }, (_, place) => {
        const number = String(first + place);
        const id = shop.ids.next("invoice", shop.now());
        return { ...template, id, publicId: `pub${number}`, checkoutId: `chk_${number}` };
      });
      await tx.insertMany(invoices, rows);
      for (const row of rows) await hold(tx, shop, wallet, row.id);
    });
  }
}

async function hold(
  tx: Parameters<typeof holdAmounts>[0],
  shop: Ledger,
  wallet: Wallet,
  invoiceId: Id<"invoice">,
): Promise<void> {
  const { organizationId } = shop;
  const place = { organizationId, network: "tron", address: wallet.address, token: "USDT" };
  const [held = null] = await holdAmounts(tx, shop.app, [
    {
      invoiceId,
      search: searchAmount(place, price, peggedToken(6), stated, systemRandom),
      leastOf: (amount) => amount,
      startsAt: shop.now(),
      endsAt: shop.now() + hour,
      mark: unmarked,
    },
  ]);
  if (held === null) throw new Error("the wallet is full");
}

/** Returns the time of issuing an invoice, from the request to the commit on disk, in milliseconds. */
async function issue(shop: Ledger, wallet: Wallet): Promise<number> {
  const startedAt = performance.now();
  for (let count = 0; count < perRound; count += 1) {
    await shop.create({ amount: "100.00", walletId: wallet.id });
  }
  return (performance.now() - startedAt) / perRound;
}

/**
 * Returns the time of taking a hold within a transaction, in milliseconds. The invoice belongs to another wallet,
 * because only the hold is measured.
 */
async function take(
  db: Database,
  shop: Ledger,
  wallet: Wallet,
  id: Id<"invoice">,
): Promise<number> {
  return db.write(testContext, async (tx) => {
    const startedAt = performance.now();
    for (let count = 0; count < perRound; count += 1) await hold(tx, shop, wallet, id);
    return (performance.now() - startedAt) / perRound;
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Releases all holds of a wallet after each round, so that it stays empty. */
async function empty(db: Database, wallet: Wallet): Promise<void> {
  await db.write(testContext, (tx) =>
    tx.run("UPDATE holds SET released_at = 1 WHERE address = $1 AND released_at IS NULL", [
      wallet.address,
    ]),
  );
}

async function measure(dialect: string, place: StoreOptions): Promise<void> {
  const db = await openDatabase(place);
  await migrate(db, systemClock);
  const shop = await openLedger(db, "tron");
  await shop.scan("tron");
  const walletAt = async (address: string): Promise<Wallet> => {
    const { id } = await shop.addWallet("tron", { address });
    const [row] = await db.all<{ address: string }>("SELECT address FROM wallets WHERE id = $1", [
      id,
    ]);
    return { id, address: row?.address ?? "" };
  };
  const crowded = await walletAt(addresses[0]);
  const quiet = await walletAt(addresses[1]);
  const startedAt = performance.now();
  await crowd(db, shop, crowded);
  if (dialect === "postgres") await db.write(testContext, (tx) => tx.run("ANALYZE"));
  const eachMs = (performance.now() - startedAt) / live;
  const { id } = await shop.create({ amount: "100.00", walletId: quiet.id });
  const works = {
    "an invoice": (wallet: Wallet) => issue(shop, wallet),
    "the hold alone": (wallet: Wallet) => take(db, shop, wallet, id),
  };
  console.log(
    `${dialect}: ${String(live)} live of one price, ${eachMs.toFixed(2)} ms each to make`,
  );
  for (const [name, work] of Object.entries(works)) {
    const among: number[] = [];
    const alone: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await empty(db, quiet);
      among.push(await work(crowded));
      alone.push(await work(quiet));
    }
    const ratio = median(among) / median(alone);
    if (ratio > ratioMax) process.exitCode = 1;
    console.log(
      `  ${name.padEnd(16)} ${median(among).toFixed(2)} ms, on an empty wallet ${median(alone).toFixed(2)} ms: ${ratio.toFixed(2)} ×${ratio > ratioMax ? `  (> ${String(ratioMax)} MISSED)` : ""}`,
    );
  }
  await db.close();
}

const addresses = [
  "TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW",
  "TNXoiAJ3dct8Fjg4M9fkLFh9S2v9TXc32G",
] as const;

console.log(`load average at the start: ${(loadavg()[0] ?? 0).toFixed(1)}`);
if (stores.includes("sqlite")) {
  const folder = await mkdtemp(join(tmpdir(), "till-prove-"));
  try {
    await measure("sqlite", { sqliteFile: join(folder, "till.db") });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
if (stores.includes("postgres")) {
  const server = await startPostgres({ fsync: true });
  try {
    await measure("postgres", { url: server.url("postgres") });
  } finally {
    await server.stop();
  }
}
