import { expect } from "chai";
import fc from "fast-check";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { transfers, type TransferRow } from "../../../../src/features/payments/table.ts";
import { minute, type Instant } from "../../../../src/kernel/clock.ts";
import { parseAddress } from "../../../../src/platform/chain/evm/addresses.ts";
import type { Address } from "../../../../src/platform/chain/client.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { listed } from "../../../../src/platform/database/query/json-rows.ts";
import { xpubs } from "../../../support/merchants.ts";
import { openLedger } from "../../../support/ledger.ts";
import { blockMs, watch, watchScripted } from "../../../support/watched-ledger.ts";
import { addressOf, wordOf, type NamedTransfer } from "../../../support/chain/fake-chain.ts";

// Histories of payments, reorganizations, restarts and provider faults, and the results that a merchant should see,
// computed from the current chain in another way than in the product.

const payKinds = [
  "exact",
  "part",
  "over",
  "double",
  "split",
  "dust",
  "fake_token",
  "other_token",
  "to_itself",
] as const;

export type Step =
  | { readonly kind: "pay"; readonly invoice: number; readonly how: (typeof payKinds)[number] }
  /** Removes blocks; some of their transactions come back in another order. */
  | { readonly kind: "reorg"; readonly depth: number; readonly returning: number }
  | { readonly kind: "mine"; readonly blocks: number }
  | { readonly kind: "look"; readonly fault: "none" | "unreachable" | "lag" | "empty" | "small" }
  /** Another process takes over with the store alone. */
  | { readonly kind: "restart" };

/** The number of invoices: the first two have exclusive addresses, the third is identified by its amount. */
const asked = 3;
const finalityLag = 30;
const confirmations = 12;
const dustUnits = 10_000n;
/** Slightly more blocks than an invoice's lifetime of one hour. */
const blocksToExpiry = 310;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pay" as const),
      invoice: fc.nat(asked - 1),
      how: fc.constantFrom(...payKinds),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("reorg" as const),
      depth: fc.integer({ min: 1, max: 20 }),
      returning: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("mine" as const),
      blocks: fc.constantFrom(1, 3, 12, blocksToExpiry),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("look" as const),
      fault: fc.constantFrom("none", "none", "unreachable", "lag", "empty", "small"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

export const history = fc.array(step, { minLength: 1, maxLength: 14 });

interface Asked {
  readonly id: InvoiceView["id"];
  readonly address: Address;
  readonly payable: bigint;
  readonly expiresAt: Instant;
  /** True if only the exact amount identifies the invoice. */
  readonly isShared: boolean;
}

interface Block {
  readonly time: Instant;
  readonly transfers: readonly NamedTransfer[];
}

/** Opens a merchant with a chain on which histories are played one after another. */
export async function openWorld(db: Database) {
  const shop = await openLedger(db, "ethereum");
  const startAt = shop.now() - 200 * blockMs;
  const watched = await watchScripted(shop, "ethereum", { finalityLag });
  const { chain } = watched;
  const tokens = new Map(
    shop.networks.get("ethereum")?.tokens.map(({ symbol, contract }) => [symbol, contract]),
  );
  const [usdt = "", usdc = ""] = [tokens.get("USDT"), tokens.get("USDC")];
  let { market } = watched;
  /** The blocks above the initial ones. */
  const blocks: Block[] = [];
  let transactions = 0;
  /** The number of blocks when this history began. */
  let begun = 0;
  /** True if a reorganization has happened since. */
  let isReorganized = false;
  const own = await shop.addWallet("ethereum", { xpub: xpubs.first });
  const shared = await shop.addWallet("ethereum", { address: `0x${"1".repeat(40)}` });

  function mine(given: readonly NamedTransfer[], count = 1): void {
    for (let block = 0; block < count; block += 1) addBlock(block === 0 ? given : []);
    shop.advance(count * blockMs);
  }

  function addBlock(included: readonly NamedTransfer[]): void {
    chain.mine(included);
    blocks.push({ time: chain.tip().time, transfers: included });
  }

  async function issue(): Promise<Asked[]> {
    const made: Asked[] = [];
    for (let place = 0; place < asked; place += 1) {
      const isShared = place === asked - 1;
      const { id } = await shop.create({
        network: "ethereum",
        walletId: isShared ? shared.id : own.id,
      });
      const row = await db.findOne(invoices, "WHERE id = $1", [id]);
      const address = parseAddress(row?.walletAddress ?? "");
      if (!address.ok || row?.payableAmount == null || row.expiresAt === null) {
        throw new Error("nothing was issued");
      }
      const { payableAmount: payable, expiresAt } = row;
      made.push({ id, address: address.address, payable, expiresAt, isShared });
    }
    return made;
  }

  function pay(to: Asked, how: (typeof payKinds)[number]): void {
    transactions += 1;
    const transaction = `transaction ${String(transactions)}`;
    const one = { transaction, contract: usdt, to: to.address, amount: to.payable };
    const part = (to.payable * 2n) / 5n;
    switch (how) {
      case "exact":
        mine([one]);
        return;
      case "part":
        mine([{ ...one, amount: part }]);
        return;
      case "over":
        mine([{ ...one, amount: to.payable + part }]);
        return;
      case "double":
        mine([one, { ...one, transaction: `${transaction} again` }]);
        return;
      case "split":
        mine([
          { ...one, amount: part },
          { ...one, amount: to.payable - part },
        ]);
        return;
      case "dust":
        mine([{ ...one, amount: 1n }]);
        return;
      case "fake_token":
        mine([{ ...one, contract: addressOf("a fake token") }]);
        return;
      case "other_token":
        mine([{ ...one, contract: usdc }]);
        return;
      case "to_itself":
        mine([{ ...one, from: to.address }]);
    }
  }

  function reorganize({ depth, returning }: Extract<Step, { kind: "reorg" }>): void {
    // A reorganization must not reach below the invoices' issue.
    const count = Math.min(depth, blocks.length - begun);
    if (count === 0) return;
    isReorganized = true;
    chain.rollback(count);
    const gone = blocks.splice(blocks.length - count, count).flatMap((block) => block.transfers);
    const names = [...new Set(gone.map(({ transaction }) => transaction))].reverse();
    const kept = names.slice(0, returning);
    mine([]);
    for (const name of kept) {
      mine(gone.filter(({ transaction }) => transaction === name).reverse());
    }
    // The new branch must be longer, as on a real chain.
    if (kept.length < count) mine([], count - kept.length);
  }

  async function look(fault: Extract<Step, { kind: "look" }>["fault"]): Promise<void> {
    const { faults } = chain;
    // Transfers must be known from an honest answer before a provider hides them.
    if (fault === "empty") await market.look();
    if (fault === "unreachable") faults.failure = "unreachable";
    if (fault === "lag") faults.lag = 4;
    if (fault === "empty") faults.hidesLogs = true;
    if (fault === "small") faults.rangeMax = 7;
    try {
      await market.look();
    } finally {
      Object.assign(faults, { failure: null, lag: 0, hidesLogs: false, rangeMax: Infinity });
      // A provider whose logs omitted transfers is asked again after five minutes.
      if (fault === "empty") shop.advance(5 * minute);
    }
  }

  /** Computes an invoice's expected state from the current chain and the recorded transfers. */
  function expected(to: Asked, recorded: readonly string[]) {
    const tip = blocks.at(-1)?.time ?? startAt;
    const own = blocks.flatMap(({ time, transfers: all }, place) =>
      all
        .filter((transfer) => isFor(to, transfer))
        // Of equal amounts at a shared address the first one pays, until a reorganization removes it.
        .filter(({ transaction }) => !to.isShared || recorded.includes(wordOf(transaction)))
        .map((transfer) => ({ ...transfer, time, depth: blocks.length - place })),
    );
    const seen = sumOf(own);
    const confirmed = sumOf(own.filter(({ depth }) => depth >= confirmations));
    let before = 0n;
    const making = own.filter(({ amount }) => {
      before += amount;
      return before - amount < to.payable;
    });
    const onChain = new Set(own.map(({ transaction }) => wordOf(transaction)));
    const isOver = tip > to.expiresAt;
    const status =
      confirmed >= to.payable
        ? "paid"
        : seen >= to.payable
          ? "confirming"
          : isOver
            ? "expired"
            : seen > 0n
              ? "partially_paid"
              : "open";
    const exception = recorded.some((hash) => !onChain.has(hash))
      ? "reverted"
      : making.some(({ time }) => time > to.expiresAt)
        ? "late"
        : seen > to.payable
          ? "overpaid"
          : status === "expired" && seen > 0n
            ? "underpaid"
            : "none";
    return { status, exception, seen, confirmed };
  }

  function isFor(to: Asked, transfer: NamedTransfer): boolean {
    if (transfer.to !== to.address || transfer.contract !== usdt) return false;
    if (transfer.from === transfer.to || transfer.amount < dustUnits) return false;
    return !to.isShared || transfer.amount === to.payable;
  }

  async function compare(all: readonly Asked[]): Promise<void> {
    const ids = JSON.stringify(all.map(({ id }) => id));
    const addresses = JSON.stringify(all.map(({ address }) => address));
    const one = listed(db.dialect, 1);
    const [rows, known] = await Promise.all([
      db.find(invoices, `WHERE id IN ${one}`, [ids]),
      db.find(transfers, `WHERE invoice_id IN ${one} OR to_address IN ${listed(db.dialect, 2)}`, [
        ids,
        addresses,
      ]),
    ]);
    for (const to of all) {
      const row = rows.find(({ id }) => id === to.id);
      const recorded = known.filter(({ invoiceId }) => invoiceId === to.id);
      if (to.isShared) compareFirst(to, recorded);
      expect({
        status: row?.status,
        exception: row?.exception,
        seen: row?.seenAmount,
        confirmed: row?.confirmedAmount,
      }).to.deep.equal(
        expected(
          to,
          recorded.map(({ transactionHash }) => transactionHash),
        ),
      );
      const there = known.filter(
        ({ toAddress, status }) => toAddress === to.address && status === "seen",
      );
      compareTransfers(to, there);
    }
  }

  /** Expects an amount at a shared address to pay once: by the first transfer, or by another after that was removed. */
  function compareFirst(to: Asked, recorded: readonly TransferRow[]): void {
    const exact = blocks
      .flatMap((block) => block.transfers)
      .filter((transfer) => isFor(to, transfer))
      .map(({ transaction }) => wordOf(transaction));
    const hashes = recorded.map(({ transactionHash }) => transactionHash);
    if (isReorganized) expect(hashes.length > 0).to.equal(exact.length + hashes.length > 0);
    else expect(hashes).to.deep.equal(exact.slice(0, 1));
  }

  /** Expects the transfers of configured tokens on the chain to be on record exactly once, and no others. */
  function compareTransfers({ address }: Asked, stored: readonly TransferRow[]): void {
    const there = blocks
      .flatMap((block) => block.transfers)
      .filter(({ to, contract }) => to === address && [usdt, usdc].includes(contract));
    expect(
      stored.map((row) => `${row.transactionHash} ${String(row.amount)}`).sort(),
    ).to.deep.equal(
      there.map((each) => `${wordOf(each.transaction)} ${String(each.amount)}`).sort(),
    );
  }

  return {
    /** Returns the height of the chain: the longer it is, the slower it answers. */
    height: () => chain.tip().height,
    async play(steps: readonly Step[]): Promise<void> {
      // Makes earlier blocks final, and brings the chain's time up to the clock.
      mine([], finalityLag + 1);
      await market.look();
      while (chain.tip().time < shop.now()) addBlock([]);
      const all = await issue();
      begun = blocks.length;
      isReorganized = false;
      for (const each of steps) {
        const to = each.kind === "pay" ? all[each.invoice] : undefined;
        if (each.kind === "pay" && to !== undefined) pay(to, each.how);
        if (each.kind === "reorg") reorganize(each);
        if (each.kind === "mine") mine([], each.blocks);
        if (each.kind === "look") await look(each.fault);
        if (each.kind === "look" && each.fault === "none") await compare(all);
        if (each.kind === "restart") {
          // The lease of the previous process has to expire first.
          shop.advance(minute);
          market = watch(shop, "ethereum", [chain.client]);
        }
      }
      mine([]);
      await look("none");
      await compare(all);
      mine([], confirmations);
      await look("none");
      await compare(all);
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

function sumOf(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}
