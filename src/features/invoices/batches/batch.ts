import { RateLimited } from "../../../http/declare/problems.ts";
import { perApp, type App, type InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { Defect, Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { StoreUnavailable } from "../../../platform/database/errors.ts";
import { holdLock } from "../../../platform/database/write/locks.ts";
import { once } from "../../../kernel/memo.ts";
import { customersAmong } from "../../customers/store.ts";
import { usualOptions } from "../../organizations/store.ts";
import { ExternalIdConflict } from "../errors.ts";
import type { Grant } from "../hooks.ts";
import {
  draftRow,
  externalIdConflict,
  fingerprintOf,
  insertInvoice,
  isExternalIdTaken,
  noCustomer,
  withEntry,
  type InvoiceInput,
} from "../issuing/create.ts";
import { issueInvoices, type Issuable } from "../issuing/issue.ts";
import {
  namesNoOption,
  planOf,
  readBasis,
  readOffer,
  requireTokensInUse,
  requireWallets,
  type IssueBasis,
  type IssuePlan,
  type OfferedTerms,
} from "../issuing/plan.ts";
import { viewOf, type InvoiceView } from "../records.ts";
import { findByExternalIds, type InvoiceRow } from "../store.ts";

/** Maximum number of invoices in a batch. */
export const batchMax = 100;

export interface BatchInput extends InvoiceInput {
  readonly externalId: string;
}

/** One invoice of a batch: its fields, or the problem with which they were refused. */
export interface BatchItem {
  /** As the request states it; null if it is missing or malformed. */
  readonly externalId: string | null;
  readonly input: BatchInput | Problem;
}

/** The result of one invoice. `existing`: an identical request created it earlier. */
type BatchOutcome =
  | { readonly outcome: "created" | "existing"; readonly invoice: InvoiceView }
  | { readonly outcome: "refused"; readonly problem: Problem };

export interface InvoiceBatch {
  /** In the order of the request. */
  readonly results: readonly (BatchOutcome & { readonly externalId: string | null })[];
  readonly requestId: string | null;
  readonly baseUrl: string;
}

/** Whether an error refuses one invoice, and does not concern the whole request. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && !(error instanceof StoreUnavailable);
}

/** Returns the outcome for a problem of one invoice. Rethrows errors that concern the whole request. */
export function refusedFor(error: unknown): BatchOutcome {
  if (!isRefusal(error)) throw error;
  return { outcome: "refused", problem: error };
}

/** The batches of this process: one after another for each organization. */
const turnsIn = perApp(makeTurns);

/**
 * Creates at most `batchMax` invoices in one transaction, each with the result that a single create would have. An
 * invoice that is refused does not affect the others. If the store fails, nothing is created.
 */
export function createInvoiceBatch(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
): Promise<InvoiceBatch> {
  // The turns leave the other connections to other writes, where the lock would occupy them all.
  return turnsIn(app).take(organizationId, async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(app, context, organizationId, items);
      } catch (error) {
        // A concurrent request created one of the invoices; the next attempt finds it. There are not more of them.
        if (!isExternalIdTaken(error) || tries > batchMax) throw error;
      }
    }
  });
}

/** Plans and writes a batch. Throws UniqueViolation if an externalId was taken in the meantime. */
async function attempt(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
): Promise<InvoiceBatch> {
  const { db, clock, baseUrl } = app;
  const prepared = await prepareBatch(app, organizationId, items, clock.now());
  return db.write(context, async (tx) => {
    // Two batches would otherwise wait for each other's held amounts, which PostgreSQL ends as a deadlock.
    await holdLock(tx, `invoice batch ${organizationId}`);
    const at = clock.now();
    const created = await createReady(tx, app, at, organizationId, prepared.ready);
    const outcomes = items.map((_, index): BatchOutcome => {
      const { early, sameAs } = prepared;
      const known = sameAs.get(index) ?? index;
      const outcome = early.get(index) ?? created.get(known) ?? early.get(known);
      if (outcome === undefined) throw new Defect("an invoice of a batch has no result");
      // The first of two identical items creates the invoice, and the second one finds it.
      return known !== index && outcome.outcome === "created"
        ? { ...outcome, outcome: "existing" }
        : outcome;
    });
    return {
      results: outcomes.map((outcome, index) => ({
        ...outcome,
        externalId: items[index]?.externalId ?? null,
      })),
      requestId: context.requestId,
      baseUrl: baseUrl(),
    };
  });
}

async function createReady(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  ready: readonly ReadyItem[],
): Promise<ReadonlyMap<number, BatchOutcome>> {
  const drafts = ready.map((item) => {
    const { input, terms, fingerprint, plan } = item;
    return { item, plan, draft: draftRow(app.ids, at, organizationId, input, terms, fingerprint) };
  });
  const issued = await issueGranted(
    tx,
    app,
    at,
    drafts.flatMap(({ draft, plan }) => (plan === null ? [] : [{ draft, plan }])),
  );
  const outcomes = drafts.map(({ item, draft }): [number, BatchOutcome] => {
    const row = issued.get(draft.id) ?? draft;
    return [
      item.index,
      row instanceof Problem
        ? refusedFor(row)
        : { outcome: "created", invoice: insertInvoice(tx, app, at, row) },
    ];
  });
  return new Map(outcomes);
}

/**
 * Issues the invoices that the gate grants, as many together as it grants at once. An invoice that cannot be issued
 * passes its grant on to a later one. Returns the issued invoices and the problems of the others.
 */
async function issueGranted(
  tx: Tx,
  app: InTx,
  at: Instant,
  issuables: readonly Issuable[],
): Promise<ReadonlyMap<Id<"invoice">, InvoiceRow | Problem>> {
  const issued = new Map<Id<"invoice">, InvoiceRow | Problem>();
  const decision = issuables[0]?.plan.decision;
  if (decision === undefined) return issued;
  let left = issuables;
  let grant: Grant = { count: 0, isCounted: false };
  while (left.length > 0) {
    if (grant.count === 0) {
      try {
        grant = await decision.grant(tx, at, left.length);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        for (const { draft } of left) issued.set(draft.id, error);
        return issued;
      }
    }
    const now = left.slice(0, grant.count);
    left = left.slice(now.length);
    const results = await issueInvoices(tx, app, at, now);
    for (const [index, { draft }] of now.entries()) {
      const result = results[index];
      if (result !== undefined) issued.set(draft.id, result);
    }
    const used = results.filter((result) => !(result instanceof Problem)).length;
    grant = { ...grant, count: grant.count - used };
  }
  if (grant.count > 0 && grant.isCounted) await decision.giveBack(tx, grant.count);
  return issued;
}

/** An invoice of a batch that can be created. */
interface ReadyItem {
  /** Its index in the request, from 0. */
  readonly index: number;
  readonly input: BatchInput;
  readonly terms: OfferedTerms;
  readonly fingerprint: string;
  /** Null for a draft. */
  readonly plan: IssuePlan | null;
}

type ReadItem = Omit<ReadyItem, "plan">;

interface PreparedBatch {
  readonly ready: readonly ReadyItem[];
  /** The results that are known before the transaction, by index. */
  readonly early: ReadonlyMap<number, BatchOutcome>;
  /** The items that repeat an earlier one of the batch, with the index of that one. */
  readonly sameAs: ReadonlyMap<number, number>;
}

/** Reads what the invoices of a batch need before their transaction, each distinct fact once. */
async function prepareBatch(
  app: App,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
  at: Instant,
): Promise<PreparedBatch> {
  const early = new Map<number, BatchOutcome>();
  /** Runs the work for an item; a problem becomes its result. */
  async function attempted<T>(index: number, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      early.set(index, refusedFor(error));
      return null;
    }
  }

  const isUsual = ({ input }: BatchItem) => !(input instanceof Problem) && namesNoOption(input);
  const usual = items.some(isUsual) ? await usualOptions(app.db, organizationId) : null;
  const read: ReadItem[] = [];
  const sameAs = new Map<number, number>();
  const firstOf = new Map<string, ReadItem>();
  for (const [index, { input }] of items.entries()) {
    await attempted(index, () => {
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
  if (read.length === 0) return { ready: [], early, sameAs };

  const { known, states, customers } = await readStored(app, organizationId, read);
  const readPlan = makePlanReader(app, organizationId, at);
  const ready = await Promise.all(
    read.map((item) =>
      attempted(item.index, async (): Promise<ReadyItem | null> => {
        const { input, fingerprint, index } = item;
        const row = known.get(input.externalId);
        if (row !== undefined) {
          if (row.requestFingerprint !== fingerprint) throw externalIdConflict(row, item);
          const tipHeight = states.get(row.network)?.tipHeight ?? null;
          const invoice = viewOf(row, app.baseUrl(), row.latestBlock === null ? null : tipHeight);
          early.set(index, { outcome: "existing", invoice });
          return null;
        }
        if (input.customerId != null && !customers.has(input.customerId)) throw noCustomer();
        return { ...item, plan: await readPlan(item) };
      }),
    ),
  );
  return { ready: ready.filter((item) => item !== null), early, sameAs };
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

/** Maximum number of works of one key that wait for their turn; further ones are refused at once. */
export const waitingMax = 8;
/** The delay that refused callers are advised to wait before a retry, in seconds. */
const retryAfterSeconds = 1;

/** Runs work one after another for each key, in the order of arrival. */
interface Turns {
  /** Throws `rate_limited` if `waitingMax` works of the key are already waiting. */
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

interface Line {
  /** The end of the last work. */
  last: Promise<unknown>;
  /** The number of works that run or wait. */
  length: number;
}

export function makeTurns(): Turns {
  const lines = new Map<string, Line>();
  return {
    async take(key, work) {
      const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
      if (line.length > waitingMax) {
        throw new RateLimited(
          "Too many batches of this organization are waiting. Send the same request again in a moment, and send fewer at the same time.",
          { retryAfterSeconds },
        );
      }
      lines.set(key, line);
      line.length += 1;
      const running = line.last.then(work);
      line.last = running.catch(() => undefined);
      try {
        return await running;
      } finally {
        line.length -= 1;
        if (line.length === 0) lines.delete(key);
      }
    },
  };
}
