import { checkoutPageToken } from "../../../src/features/checkout/checkouts.ts";
import { randomUUID } from "node:crypto";
import { sweepDeadlines } from "../../../src/features/invoices/settlement/settlement.ts";
import { expireOnSandbox } from "../../../src/features/payments/sandbox/sandbox.ts";
import type { SandboxPayment } from "../../../src/platform/chain/sandbox/chain.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { expectStatus, type Answer } from "../../support/app.ts";
import { testContext, type TestStore } from "../../support/store/stores.ts";
import type { Json } from "../payments/ledger/counter.ts";
import { atSharedAddress, usdt, type SharedAddress } from "../payments/shared-address.ts";

/** Blocks after which every block so far is final on the sandbox. */
export const finalBlocks = 34;

/** A merchant at a shared address, its payers, and what both do about refunds. */
export interface Desk extends SharedAddress {
  /** Returns an address of a payer that no other test uses, in canonical form. */
  newAddress(): string;
  /** Pays exactly what an invoice asks for, or another amount, until the block is final. Returns the transaction's hash. */
  paid(invoice: Json, amount?: unknown): Promise<string>;
  /** Asks for a refund as the payer does. */
  ask(invoice: Json, transactionHash: string, address: string): Promise<Answer>;
  /** The token of the forms on an invoice's page. */
  pageToken(invoice: Json): string;
  session(invoice: Json): Promise<Json>;
  refunds(query?: string): Promise<Json[]>;
  /** The only refund of an invoice. */
  refundOf(invoice: Json): Promise<Json>;
  /** Sends tokens from the merchant's wallet. Returns the transaction's hash. */
  give(to: string, amount: unknown, how?: Partial<SandboxPayment>): Promise<string>;
  /** Names the transaction of a refund. */
  name(refund: Json, transactionHash: string): Promise<Answer>;
  /** Examines the transactions that were named, at a time at which each is due. */
  examine(): Promise<void>;
  /** Moves an invoice's deadline to now, and mines until it is expired. */
  expire(invoice: Json): Promise<void>;
  /** Makes every block so far final. */
  settle(): Promise<void>;
}

let payers = 0;

export function openDesk(store: TestStore, settings: Readonly<Record<string, string>> = {}): Desk {
  const shared = atSharedAddress(store, settings);
  const pathOf = (invoice: Json) => `/v1/checkout/${String(invoice["checkoutId"])}`;
  /** Mines after a time in which the watcher stores a new tip that has no transfers. */
  async function pass(blocks = 1): Promise<void> {
    shared.counter.app.clock.advance(1_100);
    await shared.counter.mine(blocks);
  }
  const own: Omit<Desk, keyof SharedAddress> = {
    newAddress: () => (0xfeed0000 + (payers += 1)).toString(16).padStart(40, "c"),
    async paid(invoice: Json, amount: unknown = invoice["payableAmount"]) {
      const hash = await shared.pay(amount);
      await pass(finalBlocks);
      return hash;
    },
    async expire(invoice: Json) {
      const { app } = shared.counter.app;
      const { db } = app;
      await expireOnSandbox(app, testContext, invoice["id"] as Id<"invoice">);
      await pass();
      const state = await networkState(db, "sandbox");
      if (state === null) throw new Error("the sandbox was not read");
      const finalTime = () => Promise.resolve(null);
      await sweepDeadlines(app, app.clock.now(), "sandbox", state, finalTime);
    },
    pageToken: (invoice: Json) =>
      checkoutPageToken(shared.counter.app.app, String(invoice["checkoutId"])),
    ask: (invoice: Json, transactionHash: string, address: string) =>
      shared.counter.app.request("POST", `${pathOf(invoice)}/refund`, {
        body: {
          transactionHash,
          address,
          pageToken: own.pageToken(invoice),
        },
        // The kept response is made from the result of the write, so it may differ from that of a request without a key.
        headers: { "idempotency-key": randomUUID() },
      }),
    session: async (invoice: Json) =>
      (await expectStatus(shared.counter.app.request("GET", pathOf(invoice)), 200)).body,
    refunds: (query = "") => shared.counter.list(shared.merchant, `/refunds${query}`),
    async refundOf(invoice: Json) {
      const [refund, ...others] = await desk.refunds(`?invoiceId=${String(invoice["id"])}`);
      if (refund === undefined || others.length > 0) throw new Error("there is not one refund");
      return refund;
    },
    async give(to: string, amount: unknown, how: Partial<SandboxPayment> = {}) {
      const hash = await shared.counter.pay(to, usdt(amount), { from: shared.address, ...how });
      await shared.counter.mine();
      return hash;
    },
    name: (refund: Json, transactionHash: string) =>
      shared.post(`/refunds/${String(refund["id"])}/send`, { transactionHash }),
    async examine() {
      // The sandbox's blocks do not follow a clock that is moved, so the attempts are moved instead.
      await shared.counter.app.app.db.write(testContext, async (tx) => {
        await tx.run("UPDATE refunds SET next_at = 0 WHERE status = 'sent'");
        await tx.run("UPDATE payment_claims SET next_at = 0 WHERE state = 'waiting'");
      });
      await shared.counter.examine();
    },
    async settle() {
      await pass(finalBlocks);
      await desk.examine();
    },
  };
  const desk = Object.defineProperties(own, Object.getOwnPropertyDescriptors(shared)) as Desk;
  return desk;
}
