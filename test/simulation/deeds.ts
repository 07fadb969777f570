import type { invoices } from "../../src/features/invoices/table.ts";
import type { Id } from "../../src/kernel/id.ts";
import type { RowOf } from "../../src/platform/database/schema/table.ts";

export type Invoice = RowOf<typeof invoices>;

/** A transfer that somebody made, and what for. */
export interface Payment {
  readonly transactionHash: string;
  /** The invoice that its payer meant to pay; null: none. */
  readonly meant: Id<"invoice"> | null;
  /** It is the amount that the payer's page showed, of an invoice that was not paid yet. */
  readonly isAsTold: boolean;
}

/** The actions of people, for the model to compare the product with. */
export interface Deeds {
  readonly payments: ReadonlyMap<string, Payment>;
  /** The invoices that operators gave a transaction's money to, beside the one that it was meant for. */
  readonly given: ReadonlyMap<string, ReadonlySet<string>>;
  /** The invoices whose full amount is the price that a payer of another invoice rounded to, by transaction. */
  readonly rounded: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The invoices with digits whose full amount an exchange delivered of another one's amount with digits, by transaction:
   * nobody can foresee that, so it happens by chance, and to no two payments of a history.
   */
  readonly hit: ReadonlyMap<string, string>;
  /** The links at which payers without a credential entered the prices of invoices, by invoice. */
  readonly entered: ReadonlyMap<string, string>;
  /** Transactions from a wallet of the merchant's own. */
  readonly ownMoney: ReadonlySet<string>;
  /** The transactions that together paid just what an invoice asked for, in parts, by invoice. */
  readonly parts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Invoices about whose payments somebody decided. */
  readonly decided: ReadonlySet<string>;
  /** Transactions that the only provider may have given a wrong time, which nothing contradicted. */
  readonly mistimed: ReadonlySet<string>;
  /** Transactions of which perhaps only one of several providers gave a time when their blocks were scanned. */
  readonly undated: ReadonlySet<string>;
  /** Transactions that the index of the only provider hid when their blocks were scanned. */
  readonly hidden: ReadonlySet<string>;
  /** The blocks that an operator gave up, by hash. */
  readonly givenUp: ReadonlySet<string>;
  /** True if the only provider has shifted times. */
  readonly isOnlyTimeFalse: boolean;
  /** Answers that must not have been. */
  readonly faults: readonly string[];
}

/** The deeds of a history that goes on. */
export function newDeeds() {
  return {
    payments: new Map<string, Payment>(),
    given: new Map<string, Set<string>>(),
    rounded: new Map<string, ReadonlySet<string>>(),
    hit: new Map<string, string>(),
    entered: new Map<string, Id<"paymentLink">>(),
    ownMoney: new Set<string>(),
    parts: new Map<string, Set<string>>(),
    decided: new Set<string>(),
    mistimed: new Set<string>(),
    undated: new Set<string>(),
    hidden: new Set<string>(),
    givenUp: new Set<string>(),
    isOnlyTimeFalse: false,
    faults: [] as string[],
    /** Issued invoices in their order. */
    asked: [] as Id<"invoice">[],
  };
}

export type OpenDeeds = ReturnType<typeof newDeeds>;
