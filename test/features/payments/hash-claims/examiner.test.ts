// When the examiner of submitted transactions searches on, waits, moves to another network or gives up.
import { expect } from "chai";
import { claimableTerms } from "../../../../src/features/invoices/holds/claimable.ts";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { makeClaimExaminer } from "../../../../src/features/payments/hash-claims/examiner.ts";
import {
  paymentClaims,
  transfers,
  type ClaimRow,
} from "../../../../src/features/payments/table.ts";
import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import type { ChainClient, Receipt } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { LeaseLost } from "../../../../src/platform/jobs/leases.ts";
import { silentLogger, type Logger } from "../../../../src/platform/logger/index.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { known, newHash, openBook, type Book } from "../../../support/ledger.ts";

/** A provider's answer about a transaction. */
type Answer = ChainClient["receipt"];

anyStore("The examiner of submitted transactions", (store) => {
  let db: Database;
  let book: Book;
  before(async () => {
    db = await store.open();
  });
  // Ethereum is examined here, BSC and Base elsewhere, and Polygon by nobody.
  beforeEach(async () => {
    book = await openBook(db, "bsc", "base", "polygon");
    for (const network of ["bsc", "base", "polygon"]) {
      await book.addWallet(network, { address: `0x${book.sharedAddress}` });
    }
  });
  // Another test's claims are not due.
  afterEach(() => book.write((tx) => tx.run("DELETE FROM payment_claims")));

  const holding = () => Promise.resolve();
  const unknown: Answer = () => Promise.resolve(null);
  const away: Answer = () =>
    Promise.reject(new ProviderError("it is away", { kind: "unreachable", provider: "http://0" }));
  const receipt = (transactionHash: string, changes: Partial<Receipt> = {}): Receipt => ({
    transactionHash,
    succeeded: true,
    blockHeight: 970,
    blockHash: "b7".repeat(32),
    transfers: [],
    ...changes,
  });
  const failed: Answer = (hash) => Promise.resolve(receipt(hash, { succeeded: false }));
  /** The transaction pays 5.00 to the shared address, in a block of this time. */
  const paid =
    (blockTime: number | null): Answer =>
    (hash) => {
      const logs = book.logsTo(book.sharedAddress, ["5.00"], { hash });
      const { blockHeight, blockHash } = known(logs[0]);
      const transfers = logs.map((log) => ({ ...log, blockTime }));
      return Promise.resolve(receipt(hash, { blockHeight, blockHash, transfers }));
    };

  interface Given {
    /** The answers of the providers; the examiner reads the first one. */
    readonly answers?: readonly Answer[];
    /** The block at which every transaction is, according to the first provider. */
    readonly block?: { readonly hash: string; readonly time: number };
    readonly unread?: readonly string[];
    readonly guard?: () => Promise<void>;
    readonly logger?: Logger;
  }

  function examine({
    answers = [unknown],
    block,
    unread = [],
    guard = holding,
    logger = silentLogger,
  }: Given = {}): Promise<boolean> {
    const providers = answers.map((answer, place) => {
      const blocks = (heights: readonly number[]) =>
        Promise.resolve(
          heights.map((height) => (block === undefined || place > 0 ? null : { height, ...block })),
        );
      return { provider: `http://${String(place)}`, receipt: answer, blocks } as ChainClient;
    });
    const { clock } = book.app;
    const alarms = createAlarms({ clock, logger: silentLogger });
    const examiner = makeClaimExaminer({
      app: Object.assign(book.app, { logger }),
      network: book.network,
      client: known(providers[0]),
      providers,
      unread,
      examined: new Set(["ethereum", "bsc", "base"]),
      times: makeBlockTimes({ clock, providers, alarms }),
    });
    return examiner.examine(guard);
  }

  /** Issues an invoice with options on networks, all of which its payer has chosen. */
  async function issue(networks: readonly string[] = ["ethereum"]): Promise<InvoiceView> {
    const [first = "", ...others] = networks;
    if (others.length === 0) {
      return first === "ethereum"
        ? book.issueShared()
        : book.create({ amount: "10.00", network: first });
    }
    const invoice = await book.create({
      amount: "10.00",
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: networks.map((network) => ({
        network,
        tokenSymbol: "USDT",
        walletId: network === "ethereum" ? book.sharedWalletId : null,
      })),
    });
    for (const network of others) await book.choose(invoice.checkoutId, network, "USDT");
    return invoice;
  }

  /** Stores due claims of an invoice that were examined once on Ethereum. Returns their ids. */
  async function claims(
    invoice: InvoiceView,
    count: number,
    changes: Partial<ClaimRow> = {},
  ): Promise<readonly Id<"claim">[]> {
    const rows = Array.from({ length: count }, () => ({
      ...book.claimOf(invoice, newHash()),
      attempts: 1,
      ...changes,
    }));
    await book.write((tx) => tx.insertMany(paymentClaims, rows));
    return rows.map(({ id }) => id);
  }

  /** Stores a claim of a new invoice with options on networks. */
  async function claim(networks?: readonly string[], changes?: Partial<ClaimRow>) {
    return known((await claims(await issue(networks), 1, changes))[0]);
  }

  /** Returns the fields of a claim that an examination changes. */
  async function found(id: Id<"claim">) {
    const row = known(await db.findOne(paymentClaims, "WHERE id = $1", [id]));
    const { network, state, reason, attempts, nextAt, closedAt } = row;
    return state === "waiting"
      ? { network, reason, attempts, nextAt }
      : { network, state, reason, closedAt };
  }

  /** A claim that waits after its second attempt, the next of which is six seconds later. */
  const later = (reason: "unknown" | null, network = "ethereum") => ({
    network,
    reason,
    attempts: 2,
    nextAt: book.now() + 6 * second,
  });
  /** A claim that another network's worker looks for at once. */
  const moved = (network: string, reason: "unknown" | null = null) => ({
    network,
    reason,
    attempts: 1,
    nextAt: book.now(),
  });
  const refused = (reason: string) => ({
    network: "ethereum",
    state: "refused",
    reason,
    closedAt: book.now(),
  });

  it("examines every claim with a known transaction after one look, and no claim starts another look", async () => {
    const invoice = await issue();
    const isKnown = await claims(invoice, 45, { isKnown: true });
    await claims(invoice, 45);
    expect(await examine({ answers: [failed] })).to.equal(false);
    const open = await db.find(paymentClaims, "WHERE state = 'waiting'");
    expect(open.filter(({ id }) => isKnown.includes(id))).to.deep.equal([]);
    expect(open.length).to.be.greaterThan(20);
  });

  it("keeps the pace of a transaction that a provider had, until it is looked for on another network", async () => {
    const knownIn = async (id: Id<"claim">) =>
      known(await db.findOne(paymentClaims, "WHERE id = $1", [id])).isKnown;
    const waits = await claim();
    await examine({ answers: [paid(null)], block: { hash: "dd".repeat(32), time: book.now() } });
    expect(await knownIn(waits)).to.equal(true);
    const made = await claim();
    await examine();
    expect(await knownIn(made)).to.equal(false);
    const onBoth = await claim(["ethereum", "base"], { isKnown: true });
    await examine();
    expect(await knownIn(onBoth)).to.equal(false);
  });

  it("searches an hour for a transaction that no provider knows, and then asks all of them", async () => {
    const soon = { ...later("unknown"), nextAt: book.now() + second };
    for (const [age, answers, expected] of [
      [hour - 7 * second, [unknown, failed], later("unknown")],
      // The last attempt is when it is given up, not later.
      [hour - second, [unknown], soon],
      [hour, [unknown, unknown], refused("unknown")],
      [hour, [unknown, away], refused("unknown")],
      [hour, [unknown, failed], later(null)],
      [hour, [unknown, unknown, failed], later(null)],
    ] as const) {
      const id = await claim(undefined, { createdAt: book.now() - age });
      await examine({ answers });
      expect(await found(id)).to.deep.equal(expected);
    }
  });

  it("records what it decided, once even if another process is quicker", async () => {
    const id = await claim();
    const slow: Answer = async (hash) => {
      await examine({ answers: [failed] });
      return failed(hash);
    };
    await examine({ answers: [slow] });
    expect(await found(id)).to.deep.equal(refused("failed_transaction"));
    const row = known(await db.findOne(paymentClaims, "WHERE id = $1", [id]));
    const entries = await db.find(
      auditLogs,
      "WHERE action = 'invoice.transaction_examined' AND organization_id = $1",
      [book.organizationId],
    );
    expect(
      entries.map(({ targetType, targetId, changes }) => ({ targetType, targetId, changes })),
    ).to.deep.equal([
      {
        targetType: "invoice",
        targetId: row.invoiceId,
        changes: { transactionHash: row.transactionHash, state: "refused" },
      },
    ]);
  });

  it("refuses no claim for a time that no second provider confirms, or of a block that was replaced", async () => {
    const invoice = await issue();
    const { endsAt } = known(await claimableTerms(db, invoice.id, "ethereum"));
    const late = endsAt + 1;
    const [{ blockHash: hash } = { blockHash: "" }] = book.logsTo(book.sharedAddress, ["5.00"]);
    for (const [given, expected] of [
      [{ answers: [paid(late)] }, refused("after_hold")],
      [{ answers: [paid(late), unknown] }, later(null)],
      [{ answers: [paid(null)], block: { hash, time: late } }, refused("after_hold")],
      [{ answers: [paid(null)], block: { hash: "dd".repeat(32), time: late } }, later(null)],
    ] as const) {
      const id = known((await claims(invoice, 1))[0]);
      await examine(given);
      expect(await found(id)).to.deep.equal(expected);
    }
  });

  it("searches at once on the invoice's next network that is read, and later on the first one again", async () => {
    for (const [networks, changes, expected] of [
      [["bsc", "ethereum", "polygon", "base"], {}, moved("base")],
      [["bsc", "ethereum", "polygon", "base"], { reason: "unknown" }, moved("base", "unknown")],
      [["bsc", "base", "ethereum"], {}, later("unknown", "bsc")],
      [["bsc", "ethereum"], {}, later("unknown", "bsc")],
    ] as const) {
      const id = await claim(networks, changes);
      book.woken();
      await examine();
      expect(await found(id), networks.join(" ")).to.deep.equal(expected);
      const isNext = expected.attempts === 1;
      expect(book.woken()).to.deep.equal(isNext ? [expected.network] : []);
    }
  });

  it("gives a transaction up for all networks on the last one that is read, and on no other", async () => {
    const old = { createdAt: book.now() - hour };
    for (const networks of [["bsc", "ethereum"], ["ethereum"], ["ethereum", "polygon"]]) {
      const id = await claim(networks, old);
      await examine();
      expect(await found(id), networks.join(" ")).to.deep.equal(refused("unknown"));
    }
    const id = await claim(["ethereum", "base"], old);
    await examine();
    expect(await found(id)).to.deep.equal(moved("base"));
    // A transaction that is there is searched for nowhere else.
    const there = await claim(["ethereum", "base"]);
    await examine({ answers: [failed] });
    expect(await found(there)).to.deep.equal(refused("failed_transaction"));
  });

  it("moves claims from a network that nobody reads, and postpones those without another one", async () => {
    const onPolygon = { network: "polygon" } as const;
    const [elsewhere, here, stranded] = [
      await claim(["polygon", "base", "ethereum"], onPolygon),
      await claim(["polygon", "ethereum"], onPolygon),
      await claim(["polygon"], onPolygon),
    ];
    book.woken();
    await examine({ unread: ["polygon"] });
    expect(await found(elsewhere)).to.deep.equal(moved("base"));
    // It is examined on Ethereum at once.
    expect(await found(here)).to.deep.equal(later("unknown"));
    expect(await found(stranded)).to.deep.equal(later(null, "polygon"));
    expect(book.woken()).to.deep.equal(["base", "ethereum"]);
  });

  it("postpones a claim whose examination fails, and logs the failure unless it is a provider's", async () => {
    const defect = new Error("a defect");
    const broken: Answer = () => Promise.reject(defect);
    const errors: unknown[] = [];
    const logger: Logger = {
      ...silentLogger,
      child: () => logger,
      error: (fields: object | string) => void errors.push((fields as { err?: unknown }).err),
    };
    for (const [answer, networks, changes, expected, logged] of [
      [away, undefined, {}, later(null), []],
      [away, undefined, { reason: "unknown" }, later("unknown"), []],
      [broken, undefined, {}, later(null), [defect]],
      [away, ["ethereum", "base"], {}, moved("base"), []],
    ] as const) {
      const id = await claim(networks, changes);
      await examine({ answers: [answer], logger });
      expect(await found(id)).to.deep.equal(expected);
      expect(errors.splice(0)).to.deep.equal(logged);
    }
  });

  it("writes nothing once another process has its lease, and ends at once", async () => {
    let guards = 0;
    const guard = () => {
      guards += 1;
      return Promise.reject(new LeaseLost("another process looks"));
    };
    const onPolygon = { network: "polygon" } as const;
    for (const [networks, changes, given] of [
      [["ethereum"], {}, {}],
      [["ethereum", "base"], {}, {}],
      [["bsc", "ethereum"], {}, {}],
      [["ethereum"], {}, { answers: [failed] }],
      [["ethereum"], {}, { answers: [paid(book.now())] }],
      [["ethereum"], {}, { answers: [away] }],
      [["polygon"], onPolygon, { unread: ["polygon"] }],
      [["polygon", "ethereum"], onPolygon, { unread: ["polygon"] }],
    ] as const) {
      const id = await claim(networks, changes);
      const before = await found(id);
      guards = 0;
      const failure = await examine({ ...given, guard }).catch((error: unknown) => error);
      expect(failure, networks.join(" ")).to.be.instanceOf(LeaseLost);
      expect(guards, networks.join(" ")).to.equal(1);
      expect(await found(id)).to.deep.equal(before);
      await book.write((tx) => tx.run("DELETE FROM payment_claims"));
    }
    expect(await db.find(transfers, "WHERE to_address = $1", [book.sharedAddress])).to.be.empty;
  });
});
