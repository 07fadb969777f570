// Plays random histories of payments and reorganizations to the watcher, and compares its credits with the final state
// of the chain. A failure prints the shrunk history.
import { expect } from "chai";
import fc from "fast-check";
import { isCounted } from "../../../../src/features/payments/ledger/payment-rules.ts";
import type { PaymentStatus } from "../../../../src/features/payments/payment-status.ts";
import type { PaymentRow } from "../../../../src/features/payments/table.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { addressOf, type FakeTransfer } from "../../../support/chain/fake-chain.ts";
import { standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { watchNetwork, type WatchedNetwork } from "../../../support/chain/world.ts";

type Step =
  | { readonly kind: "pay"; readonly shop: number; readonly parts: number; readonly gap: number }
  /** Removes blocks; some of their transactions come back in another order. */
  | { readonly kind: "reorg"; readonly depth: number; readonly returning: number }
  | { readonly kind: "mine"; readonly blocks: number }
  | { readonly kind: "look"; readonly fault: "none" | "killed" | "unreachable" | "small" | "lag" };

const shops = 3;
const finalityLag = 12;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("pay" as const),
    shop: fc.nat(shops - 1),
    parts: fc.integer({ min: 1, max: 3 }),
    gap: fc.nat(2),
  }),
  fc.record({
    kind: fc.constant("reorg" as const),
    depth: fc.integer({ min: 1, max: finalityLag - 1 }),
    returning: fc.nat(3),
  }),
  fc.record({ kind: fc.constant("mine" as const), blocks: fc.integer({ min: 1, max: 8 }) }),
  fc.record({
    kind: fc.constant("look" as const),
    fault: fc.constantFrom("none", "none", "killed", "unreachable", "small", "lag"),
  }),
);

const history = fc.array(step, { minLength: 1, maxLength: 40 });

const addressOfShop = (shop: number) => addressOf(`shop ${String(shop)}`);

interface Play {
  do(step: Step): Promise<void>;
  mine(blocks: number): void;
  look(fault: Extract<Step, { kind: "look" }>["fault"]): Promise<void>;
  /** The sum of the transfers to each shop on the current chain. */
  sent(): bigint[];
  /** The sum of each shop's payments in these statuses. */
  credited(payments: readonly PaymentRow[], statuses: readonly PaymentStatus[]): bigint[];
}

function makePlay(watched: WatchedNetwork): Play {
  const { chain, contract, invoices } = watched;
  const asked = Array.from({ length: shops }, (_, shop) =>
    invoices.ask({ address: addressOfShop(shop) }),
  );
  /** The transfers on the chain by block. */
  const model: (readonly FakeTransfer[])[] = [];
  let transactions = 0;

  function mine(transfers: readonly FakeTransfer[], blocks = 1): void {
    chain.mine(transfers, blocks);
    model.push(transfers, ...Array.from({ length: blocks - 1 }, () => []));
  }

  function pay({ shop, parts, gap }: Extract<Step, { kind: "pay" }>): void {
    transactions += 1;
    const transaction = `transaction ${String(transactions)}`;
    const noise = { transaction: `noise ${String(transactions)}`, contract, amount: 1n };
    const before = Array.from({ length: gap }, () => ({ ...noise, to: addressOf("nobody") }));
    // The transfers of a transaction are equal, so that only their log indexes distinguish them.
    const part = { transaction, contract, to: addressOfShop(shop), amount: token(1 + shop) };
    mine([...before, ...Array.from({ length: parts }, () => part)]);
  }

  function reorganize({ depth, returning }: Extract<Step, { kind: "reorg" }>): void {
    const blocks = Math.min(depth, model.length);
    if (blocks === 0) return;
    chain.rollback(blocks);
    const gone = model.splice(model.length - blocks, blocks).flat();
    const back = [...new Set(gone.map(({ transaction }) => transaction))].reverse();
    const kept = back.slice(0, returning);
    mine([]);
    for (const name of kept) {
      mine(gone.filter(({ transaction }) => transaction === name).reverse());
    }
    // The new branch is the longer one, as on a real chain.
    if (kept.length < blocks) mine([], blocks - kept.length);
  }

  async function look(fault: Extract<Step, { kind: "look" }>["fault"]): Promise<void> {
    const killed = new Error("killed");
    if (fault === "killed") {
      invoices.onSettle = () => {
        throw killed;
      };
    }
    if (fault === "unreachable") chain.faults.failure = "unreachable";
    if (fault === "small") chain.faults.rangeMax = 3;
    if (fault === "lag") chain.faults.lag = 4;
    try {
      await watched.look();
    } catch (error) {
      if (error !== killed) throw error;
    } finally {
      invoices.onSettle = () => undefined;
      Object.assign(chain.faults, { failure: null, rangeMax: Infinity, lag: 0 });
    }
  }

  return {
    async do(step) {
      if (step.kind === "pay") pay(step);
      if (step.kind === "reorg") reorganize(step);
      if (step.kind === "mine") mine([], step.blocks);
      if (step.kind === "look") await look(step.fault);
    },
    mine(blocks) {
      mine([], blocks);
    },
    look,
    sent: () => asked.map(({ address }) => sumOf(model.flat().filter(({ to }) => to === address))),
    credited: (payments, statuses) =>
      asked.map(({ id }) =>
        sumOf(
          payments.filter(({ invoiceId, status }) => invoiceId === id && statuses.includes(status)),
        ),
      ),
  };
}

function sumOf(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}

async function playThrough(watched: WatchedNetwork, steps: readonly Step[]): Promise<void> {
  const play = makePlay(watched);
  for (const each of steps) await play.do(each);
  play.mine(1);
  await play.look("none");
  const seen = await watched.payments();
  expect(play.credited(seen, ["confirming", "confirmed"])).to.deep.equal(play.sent());
  // The totals that the invoices received match the ledger.
  for (const [id, { seen: reported }] of watched.invoices.totals) {
    const own = seen.filter((payment) => payment.invoiceId === id && isCounted(payment));
    expect(reported).to.equal(sumOf(own));
  }
  play.mine(4);
  await play.look("none");
  const confirmed = await watched.payments();
  expect(play.credited(confirmed, ["confirmed"])).to.deep.equal(play.sent());
}

/** The full number runs in `npm run prove:payments`. */
const runs = process.env["TILL_PROVE"] === "1" ? 1_000 : 50;

/** The tables that a network's watcher writes; once emptied, the next history begins as on a new store. */
const left = [
  ...["payments", "transfers", "holds", "invoices"],
  ...["network_readings", "network_blocks", "network_states"],
];

eachStore("Histories of a chain", (store) => {
  store.leavesUnsound(standInInvoices);

  it("are credited exactly as the chain ends, each transfer once", async () => {
    const db = await store.open();
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        await db.write(testContext, async (tx) => {
          for (const table of left) await tx.run(`DELETE FROM ${table}`);
        });
        await playThrough(
          await watchNetwork(db, { finalityLag, randomBytes: systemRandom }),
          steps,
        );
      }),
      { numRuns: runs },
    );
  });
});
