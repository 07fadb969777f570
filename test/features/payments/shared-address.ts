import { openCounter, type Counter, type Json, type Merchant } from "./ledger/counter.ts";
import type { TestStore } from "../../support/store/stores.ts";

/** Converts USDT, as decimal text or a number, to its smallest unit. */
export const usdt = (amount: unknown): bigint => BigInt(Math.round(Number(amount) * 1_000_000));

/** A new merchant with one address for each test; the counter is shared by the suite. */
export interface SharedAddress {
  readonly counter: Counter;
  readonly merchant: Merchant;
  readonly address: string;
  readonly issue: (input?: Json) => Promise<Json>;
  readonly read: (invoice: Json) => Promise<Json>;
  readonly post: (path: string, body?: unknown) => ReturnType<Counter["post"]>;
  /** Pays tokens to the address and mines blocks; returns the transaction's hash. */
  readonly pay: (amount: unknown, blocks?: number) => Promise<string>;
  /** Returns the newest transfer in the inbox; null if it is empty. */
  readonly inboxed: () => Promise<Json | null>;
}

/** Declares hooks that open a counter for the suite, and a merchant with one address for each test. */
export function atSharedAddress(
  store: TestStore,
  settings: Readonly<Record<string, string>> = {},
): SharedAddress {
  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  before(async () => {
    counter = await openCounter(store, settings);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });
  return {
    get counter() {
      return counter;
    },
    get merchant() {
      return merchant;
    },
    get address() {
      return address;
    },
    issue: (input = {}) => counter.issue(merchant, input),
    read: ({ id }) => counter.get(merchant, `/invoices/${String(id)}`),
    post: (path, body) => counter.post(merchant, path, body),
    async pay(amount, blocks = 3) {
      const hash = await counter.pay(address, usdt(amount));
      await counter.mine(blocks);
      return hash;
    },
    async inboxed() {
      const [newest] = await counter.list(merchant, "/transfers?status=unmatched");
      return newest ?? null;
    },
  };
}

/** Returns the invoices that are suggested for a transfer in the inbox, best first. */
export function suggestedFor(transfer: Json | null): Json[] {
  const suggestions = (transfer?.["suggestions"] ?? []) as Json[];
  return suggestions.map(({ invoiceId, reasons, amount }) => ({ invoiceId, reasons, amount }));
}
