import type { App } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { once } from "../../../platform/once.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import { ExternalIdConflict } from "../errors.ts";
import { fingerprintOf, withEntry } from "../issuing/draft.ts";
import { externalIdConflict } from "../issuing/external-id-conflict.ts";
import { noCustomer } from "../issuing/insert.ts";
import {
  planOf,
  readBasis,
  requireTokensInUse,
  type IssueBasis,
  type IssuePlan,
} from "../issuing/plan.ts";
import { customersAmong } from "../../customers/store.ts";
import { usualOptions } from "../../organizations/store.ts";
import {
  namesNoOption,
  readOffer,
  requireWallets,
  type OfferedTerms,
} from "../options/requested.ts";
import { viewOf } from "../present.ts";
import { findByExternalIds } from "../store.ts";
import { refusedFor, type BatchInput, type BatchItem, type BatchOutcome } from "./batch.ts";

/** An invoice of a batch that can be created. */
export interface ReadyItem {
  /** Its place in the request, from 0. */
  readonly index: number;
  readonly input: BatchInput;
  readonly terms: OfferedTerms;
  readonly fingerprint: string;
  /** Null for a draft. */
  readonly plan: IssuePlan | null;
}

type ReadItem = Omit<ReadyItem, "plan">;

export interface PreparedBatch {
  readonly ready: readonly ReadyItem[];
  /** The results that are known before the transaction, by index. */
  readonly settled: ReadonlyMap<number, BatchOutcome>;
  /** The items that repeat an earlier one of the batch, with the index of that one. */
  readonly sameAs: ReadonlyMap<number, number>;
}

/** Reads what the invoices of a batch need before their transaction, each distinct fact once. */
export async function prepareBatch(
  app: App,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
  at: Instant,
): Promise<PreparedBatch> {
  const settled = new Map<number, BatchOutcome>();
  /** Runs the work for an item; a problem becomes its result. */
  async function settling<T>(index: number, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      settled.set(index, refusedFor(error));
      return null;
    }
  }

  const isUsual = ({ input }: BatchItem) => !(input instanceof Problem) && namesNoOption(input);
  const usual = items.some(isUsual) ? await usualOptions(app.db, organizationId) : null;
  const read: ReadItem[] = [];
  const sameAs = new Map<number, number>();
  const firstOf = new Map<string, ReadItem>();
  for (const [index, { input }] of items.entries()) {
    await settling(index, () => {
      if (input instanceof Problem) throw input;
      const item = {
        index,
        input,
        terms: readOffer(app, withEntry(organizationId, input), usual),
        fingerprint: fingerprintOf(input),
      };
      const first = firstOf.get(input.externalId);
      if (first === undefined) {
        firstOf.set(input.externalId, item);
        read.push(item);
      } else if (first.fingerprint === item.fingerprint) sameAs.set(index, first.index);
      else throw repeatedExternalId(first.index);
    });
  }
  if (read.length === 0) return { ready: [], settled, sameAs };

  const { known, states, customers } = await readStored(app, organizationId, read);
  const readPlan = makePlanReader(app, organizationId, at);
  const ready = await Promise.all(
    read.map((item) =>
      settling(item.index, async (): Promise<ReadyItem | null> => {
        const { input, fingerprint, index } = item;
        const row = known.get(input.externalId);
        if (row !== undefined) {
          if (row.requestFingerprint !== fingerprint) throw externalIdConflict(row, item);
          const tipHeight = states.get(row.network)?.tipHeight ?? null;
          const invoice = viewOf(row, app.baseUrl(), row.latestBlock === null ? null : tipHeight);
          settled.set(index, { outcome: "existing", invoice });
          return null;
        }
        if (input.customerId != null && !customers.has(input.customerId)) throw noCustomer();
        return { ...item, plan: await readPlan(item) };
      }),
    ),
  );
  return { ready: ready.filter((item) => item !== null), settled, sameAs };
}

/** Returns the problem of an invoice whose externalId an earlier one of the batch has, created or not. */
function repeatedExternalId(index: number): Problem {
  return new ExternalIdConflict(
    `The invoice with the index ${String(index)} of this batch has the same externalId and other fields. Give each invoice of a batch an externalId of its own.`,
  );
}

async function readStored(
  { db }: App,
  organizationId: Id<"organization">,
  read: readonly ReadItem[],
) {
  const rows = await findByExternalIds(
    db,
    organizationId,
    read.map(({ input }) => input.externalId),
  );
  const customerIds = new Set(read.flatMap(({ input }) => input.customerId ?? []));
  return {
    known: new Map(rows.map((row) => [row.externalId, row])),
    states: rows.length === 0 ? new Map<string, never>() : await networkStates(db),
    customers:
      customerIds.size === 0
        ? new Set<Id<"customer">>()
        : await customersAmong(db, organizationId, [...customerIds]),
  };
}

/** Returns a function that plans the issue of an invoice, and reads what several invoices share only once. */
function makePlanReader(app: App, organizationId: Id<"organization">, at: Instant) {
  const { db } = app;
  const decision = once(() => app.hooks.mayIssue(db, app, organizationId));
  const offers = new Map<string, Promise<void>>();
  const bases = new Map<string, Promise<IssueBasis>>();

  function basisOf({ terms }: ReadItem): Promise<IssueBasis> {
    const { network, token, amount, walletId } = terms;
    const key = [network.id, token.symbol, amount.asset.code, walletId].join(" ");
    const basis =
      bases.get(key) ??
      decision().then((granted) =>
        readBasis(db, app, granted, organizationId, terms, walletId, at),
      );
    bases.set(key, basis);
    return basis;
  }

  return async (item: ReadItem): Promise<IssuePlan | null> => {
    const { options } = item.terms;
    const key = JSON.stringify(options);
    const offer = offers.get(key) ?? requireWallets(db, organizationId, options);
    offers.set(key, offer);
    await offer;
    if (item.input.draft === true) return null;
    const plan = planOf(app, await basisOf(item), item.terms);
    if (!namesNoOption(item.input)) await requireTokensInUse(db, app, options);
    return plan;
  };
}
