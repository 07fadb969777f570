import type { Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx, WriteContext } from "../../../platform/database/index.ts";
import { holdLock } from "../../../platform/database/write/locks.ts";
import { keepActive } from "../../wallets/index.ts";
import { draftRow } from "../issuing/draft.ts";
import { insertInvoice, isExternalIdTaken } from "../issuing/insert.ts";
import { placeInvoice, type IssuingDecision } from "../issuing/issue.ts";
import {
  batchMax,
  refusedFor,
  type BatchDependencies,
  type BatchItem,
  type BatchOutcome,
  type InvoiceBatch,
} from "./batch.ts";
import { prepareBatch, type ReadyItem } from "./prepare.ts";
import { makeTurns } from "./turns.ts";

export interface InvoiceBatchService {
  /**
   * Creates at most `batchMax` invoices in one transaction, each with the result that a single create would have. An
   * invoice that is refused does not affect the others. If the store fails, nothing is created.
   */
  create(
    context: WriteContext,
    organizationId: Id<"organization">,
    items: readonly BatchItem[],
  ): Promise<InvoiceBatch>;
}

export function makeInvoiceBatchService(deps: BatchDependencies): InvoiceBatchService {
  const { db, clock, ids, baseUrl } = deps;
  const turns = makeTurns();

  /** Plans and writes a batch. Throws UniqueViolation if an externalId was taken in the meantime. */
  async function attempt(
    context: WriteContext,
    organizationId: Id<"organization">,
    items: readonly BatchItem[],
  ): Promise<InvoiceBatch> {
    const prepared = await prepareBatch(deps, organizationId, items, clock.now());
    return db.write(context, async (tx) => {
      // Two batches would otherwise wait for each other's held amounts, which PostgreSQL ends as a deadlock.
      await holdLock(tx, `invoice batch ${organizationId}`);
      const at = clock.now();
      const created = await createReady(tx, at, organizationId, prepared.ready);
      const outcomes = items.map((_, index): BatchOutcome => {
        const { settled, sameAs } = prepared;
        const known = sameAs.get(index) ?? index;
        const outcome = settled.get(index) ?? created.get(known) ?? settled.get(known);
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
    at: Instant,
    organizationId: Id<"organization">,
    ready: readonly ReadyItem[],
  ): Promise<ReadonlyMap<number, BatchOutcome>> {
    const outcomes = new Map<number, BatchOutcome>();
    const grants = makeGrants(tx, at, ready);
    const isActive = onceEach((walletId: Id<"wallet">) => keepActive(tx, walletId));
    for (const { index, input, terms, fingerprint, plan } of ready) {
      try {
        let row = draftRow(ids, at, organizationId, input, terms, fingerprint);
        if (plan !== null) {
          await grants.require();
          // Every hold excludes its amount from the next one, so they are taken one after another.
          row = await placeInvoice(tx, deps, row, plan, at, isActive);
          grants.use();
        }
        outcomes.set(index, {
          outcome: "created",
          invoice: insertInvoice(deps, tx, at, row),
        });
      } catch (error) {
        outcomes.set(index, refusedFor(error));
      }
    }
    await grants.giveBack();
    return outcomes;
  }

  return {
    create(context, organizationId, items) {
      // The turns leave the other connections to other writes, where the lock would occupy them all.
      return turns.take(organizationId, async () => {
        for (let tries = 1; ; tries += 1) {
          try {
            return await attempt(context, organizationId, items);
          } catch (error) {
            // A concurrent request created one of the invoices; the next attempt finds it. There are not more of them.
            if (!isExternalIdTaken(error) || tries > batchMax) throw error;
          }
        }
      });
    },
  };
}

interface Grants {
  /** Asks for the permission to issue one more invoice, or throws the gate's error. */
  require(): Promise<void>;
  /** Uses the permission. */
  use(): void;
  /** Returns the permissions that were not used. */
  giveBack(): Promise<void>;
}

/** Asks the gate for all invoices of a batch together. */
function makeGrants(tx: Tx, at: Instant, ready: readonly ReadyItem[]): Grants {
  const decision: IssuingDecision | undefined = ready.find(({ plan }) => plan !== null)?.plan
    ?.decision;
  let left = ready.filter(({ plan }) => plan !== null).length;
  let granted = 0;
  let isCounted = false;
  let refusal: unknown = null;
  return {
    async require() {
      left -= 1;
      if (granted > 0 || decision === undefined) return;
      if (refusal !== null) throw refusal as Error;
      try {
        ({ count: granted, isCounted } = await decision.grant(tx, at, left + 1));
      } catch (error) {
        refusal = error;
        throw error;
      }
    },
    use() {
      granted -= 1;
    },
    async giveBack() {
      if (granted > 0 && isCounted) await decision?.giveBack(tx, granted);
    },
  };
}

/** Returns a function that calls `ask` once for each key. */
function onceEach<K, T>(ask: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const asked = new Map<K, Promise<T>>();
  return (key) => {
    const known = asked.get(key) ?? ask(key);
    asked.set(key, known);
    return known;
  };
}
