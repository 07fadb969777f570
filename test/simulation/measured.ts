import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import { invoices } from "../../src/features/invoices/table.ts";
import { payments, transfers } from "../../src/features/payments/table.ts";
import { day, minute } from "../../src/kernel/clock.ts";
import type { Id } from "../../src/kernel/id.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { testContext } from "../support/store/stores.ts";
import type { Sending } from "./chain.ts";
import type { Invoice } from "./deeds.ts";
import { openGround, type Ground } from "./ground.ts";
import { makeStrangers } from "./people/strangers.ts";
import { confirmations, networkId, type Stage } from "./stage.ts";
import { chanceOf, type Chance } from "./steps.ts";

// Shares of payments, measured on the composed app with a SQLite store and a chain whose providers tell the truth.

/** A part of all that were tried. */
export interface MeasuredShare {
  readonly some: number;
  readonly all: number;
}

const priceList = [
  ...["4.99", "9.99", "14.99", "19.99", "24.00", "24.99"],
  ...["25.00", "29.99", "49.00", "49.99", "50.00", "99.00"],
];
/** One of so many orders is never paid. */
const abandonedEvery = 5;
const transfersPerBlock = 10;

async function openShop(stage: Stage, seed: number) {
  const ground = await openGround(stage, await stage.freshStore(), seed, 0);
  const chance = chanceOf(seed);
  const [owner] = stage.cast.organizations;
  const walletId = stage.cast.wallets[0]?.shared;
  const contract = stage.network.tokens.find(({ symbol }) => symbol === "USDT")?.contract ?? "";
  if (owner === undefined || walletId === undefined) throw new Error("there is no merchant");
  let sent = 0;
  /** A transfer of USDT from a payer to an address in the network's notation. */
  function sending(walletAddress: string | null, amount: bigint): Sending {
    const parsed = parseAddress(walletAddress ?? "");
    if (!parsed.ok) throw new Error("the invoice has no address");
    sent += 1;
    const transactionHash = `6${sent.toString(16).padStart(63, "0")}`;
    return { transactionHash, contract, from: "a".repeat(40), to: parsed.address, amount };
  }
  return { ...ground, chance, owner, walletId, sending };
}

type Shop = Awaited<ReturnType<typeof openShop>>;

/** Mines transfers in blocks, and reads them until they have their confirmations. */
async function mineAll({ mine, look, pass }: Ground, sent: readonly Sending[]): Promise<void> {
  for (let from = 0; from < sent.length; from += transfersPerBlock) {
    pass(minute / 10);
    mine(1, sent.slice(from, from + transfersPerBlock));
  }
  mine(confirmations);
  await look();
}

async function order({ attempt, owner, walletId }: Shop, amount: string): Promise<Invoice> {
  const terms = { settlementCurrency: "USD", tokenSymbol: "USDT", network: networkId, walletId };
  const input = { amount, ...terms, expiresInSeconds: day / 1_000 };
  const made = await attempt(({ app }) => createInvoice(app, testContext, owner, input));
  if (made === null) throw new Error(`an order of ${amount} was refused`);
  return made.invoice;
}

/** Removes a member by chance. */
function taken<T>(items: T[], chance: Chance): T | undefined {
  return items.splice(chance.below(items.length), 1)[0];
}

/**
 * Returns the share of honest exact payments that wait for the merchant in a shop with so many open orders of one price
 * list, of which a fifth are never paid.
 */
export async function waitingShare(
  stage: Stage,
  { seed, orders, open }: { readonly seed: number; readonly orders: number; readonly open: number },
): Promise<MeasuredShare> {
  const shop = await openShop(stage, seed);
  const { db, chance } = shop;
  const waiting: Invoice[] = [];
  const paid = new Set<Id<"invoice">>();
  let batch: Sending[] = [];
  for (let count = 1; count <= orders; count += 1) {
    const invoice = await order(shop, chance.pick(priceList));
    shop.pass(minute);
    if (count % abandonedEvery > 0) waiting.push(invoice);
    if (waiting.length < open) continue;
    const next = taken(waiting, chance);
    if (next?.remainingAmount == null) continue;
    paid.add(next.id);
    batch.push(shop.sending(next.walletAddress, next.remainingAmount));
    if (batch.length < transfersPerBlock) continue;
    await mineAll(shop, batch);
    batch = [];
  }
  await mineAll(shop, batch);
  const rows = await db.find(invoices, "WHERE status = 'paid'");
  const credited = rows.filter(({ id }) => paid.has(id)).length;
  return { some: paid.size - credited, all: paid.size };
}

/** How the money of a victim of 25.00 arrives when an exchange keeps 1.00, in millionths: mostly one of the usual amounts. */
function delivered(chance: Chance): bigint {
  const digits = chance.pick([
    () => 0,
    () => 0,
    () => 1 + chance.below(4),
    () => 1 + chance.below(2_400),
  ])();
  return 24_000_000n + BigInt(digits) * 100n;
}

/**
 * Returns the share of payments of about 24.00 that are credited automatically to a stranger who starts so many payments of
 * 24 at a link within the hour.
 */
export async function aimedShare(
  stage: Stage,
  given: {
    readonly seed: number;
    readonly rounds: number;
    readonly entered: number;
    readonly trials: number;
  },
): Promise<MeasuredShare> {
  let some = 0;
  for (let round = 0; round < given.rounds; round += 1) {
    const shop = await openShop(stage, given.seed + round);
    const { enter } = makeStrangers(shop);
    const strangers = await enter({
      token: "USDT",
      tolerance: "0",
      amount: "24",
      isPriced: false,
      count: given.entered,
    });
    const address = strangers[0]?.walletAddress ?? null;
    const sent = Array.from({ length: given.trials }, () =>
      shop.sending(address, delivered(shop.chance)),
    );
    await mineAll(shop, sent);
    const known = await shop.db.find(transfers, "WHERE status = 'seen'");
    if (strangers.length !== given.entered || known.length !== given.trials) {
      throw new Error(`${String(strangers.length)} entered, ${String(known.length)} arrived`);
    }
    some += (await shop.db.find(payments, "WHERE rule <> 'manual'")).length;
  }
  return { some, all: given.rounds * given.trials };
}
