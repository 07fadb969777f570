// The writes of an examination, without a store.
import { expect } from "chai";
import { makeRefundExaminer } from "../../../src/features/refunds/index.ts";
import { refunds, type RefundRow } from "../../../src/features/refunds/table.ts";
import { minute } from "../../../src/kernel/clock.ts";
import type { Receipt } from "../../../src/platform/chain/client.ts";
import { restSubject, type Alarm } from "../../../src/platform/chain/state/alarms.ts";
import { LeaseLost } from "../../../src/platform/jobs/leases.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { stillClock } from "../../support/app.ts";
import { testNetworks } from "../../support/merchants.ts";

const networks = testNetworks("ethereum");
const [network] = networks.values();
const now = 1_000_000;

const refundWith = (number: number, changes: Partial<RefundRow> = {}) =>
  ({
    id: `rfd_${String(number)}`,
    organizationId: "org_1",
    invoiceId: "inv_1",
    paymentId: "pay_1",
    source: "payer",
    status: "sent",
    network: "ethereum",
    token: "USDT",
    tokenDecimals: 6,
    amount: 100n,
    address: "5".repeat(40),
    fromAddress: "6".repeat(40),
    paymentHash: "aa".repeat(32),
    paymentRule: "exact_amount",
    paymentHeight: 5,
    transactionHash: "bb".repeat(32),
    blockHeight: null,
    blockHash: null,
    refusal: null,
    refusedHash: null,
    reason: null,
    attempts: 0,
    denials: 0,
    heldAttempts: 0,
    nextAt: 0,
    version: 1,
    createdAt: 1,
    updatedAt: 1,
    sentAt: 1,
    confirmedAt: null,
    ...changes,
  }) as RefundRow;

interface Given {
  readonly due?: readonly RefundRow[];
  /** The refunds as they are when they are locked; by default as they were found. */
  readonly locked?: readonly RefundRow[];
  readonly isRead?: boolean;
  readonly alarms?: readonly Pick<Alarm, "kind" | "subject">[];
  readonly stillSent?: readonly string[];
  /** The answers of each provider. */
  readonly answers?: readonly (() => Promise<Receipt | null>)[];
  readonly isCovered?: boolean;
}

/** Examines refunds of Ethereum, whose blocks up to 10 are final. */
function examinerWith({
  due = [],
  locked = due,
  isRead = true,
  alarms = [],
  stillSent = [],
  answers = [],
  isCovered = true,
}: Given) {
  const done: string[] = [];
  const saved: Partial<RefundRow>[] = [];
  const asked: (readonly string[])[] = [];
  const tx = {
    dialect: "sqlite",
    lockOne: (_table: unknown, _sql: string, [id]: readonly string[]) =>
      Promise.resolve(locked.find((row) => row.id === id) ?? null),
    update(table: unknown, set: Partial<RefundRow>, _where: string, [id]: readonly string[]) {
      expect(table).to.equal(refunds);
      saved.push(set);
      done.push(`${String(id)} ${String(set.status)}`);
      return Promise.resolve(1);
    },
  };
  const examiner = makeRefundExaminer({
    db: {
      dialect: "sqlite",
      findOne: () => Promise.resolve(isRead ? { cursorHeight: 10 } : null),
      find(_table: unknown, sql: string, values: readonly string[]) {
        if (!sql.includes("status = 'sent' AND id IN")) return Promise.resolve(due);
        asked.push(JSON.parse(values[0] ?? "[]") as string[]);
        return Promise.resolve(stillSent.map((id) => ({ id })));
      },
      all: () => Promise.resolve([{ address: "7".repeat(40), owner: "org_1" }]),
      write: (_context: unknown, fn: (in_: typeof tx) => unknown) => fn(tx),
    },
    clock: stillClock(now),
    logger: silentLogger,
    network,
    networks,
    journal: {
      record: (_tx: unknown, _at: unknown, { action }: { readonly action: string }) =>
        void done.push(action),
    },
    providers: answers.map((receipt, place) => ({
      provider: `provider ${String(place)}`,
      receipt,
    })),
    payments: {
      lock: () => Promise.resolve({}),
      takeBack: (_tx: unknown, _found: unknown, amount: bigint) => {
        done.push(`took ${String(amount)} back`);
        return Promise.resolve(isCovered);
      },
    },
    alarms: {
      open: () => alarms,
      holds: () => false,
      clear: (kind: string, subject: string) => void done.push(`${kind} of ${subject} ended`),
      raise: (kind: string, subject: string) => void done.push(`${kind} of ${subject}`),
    },
  } as unknown as Parameters<typeof makeRefundExaminer>[0]);
  const examine = (guard = () => Promise.resolve()) => examiner.examine(guard);
  return { examine, done, saved, asked };
}

const usdt = network?.tokens.find(({ symbol }) => symbol === "USDT");
const receiptAt = (blockHeight: number, changes: Partial<Receipt> = {}) => {
  const transfer = {
    from: "7".repeat(40),
    to: "5".repeat(40),
    contract: usdt?.contract ?? "",
    amount: 100n,
  };
  const receipt = {
    succeeded: true,
    blockHeight,
    blockHash: "cc",
    transfers: [transfer],
    ...changes,
  };
  return () => Promise.resolve(receipt as unknown as Receipt);
};
const unknown = () => Promise.resolve(null);
const broken = () => Promise.reject(new Error("a defect"));

describe("An examination of refunds", () => {
  it("is of none before the network was read, and says whether more may be due", async () => {
    const due = Array.from({ length: 20 }, (_, number) => refundWith(number));
    const unread = examinerWith({ due, isRead: false });
    expect(await unread.examine()).to.equal(false);
    expect(unread.done).to.deep.equal([]);
    for (const [length, isMore] of [
      [0, false],
      [19, false],
      [20, true],
    ] as const) {
      const { examine, done } = examinerWith({ due: due.slice(0, length) });
      expect(await examine(), String(length)).to.equal(isMore);
      expect(done).to.have.length(length);
    }
  });

  it("confirms one that the only provider has in a final block, and waits for a later block", async () => {
    const final = examinerWith({ due: [refundWith(1)], answers: [receiptAt(10)] });
    await final.examine();
    expect(final.done).to.deep.equal([
      "rfd_1 confirmed",
      "refund.confirmed",
      "refund_held of rfd_1 ended",
    ]);
    expect(final.saved[0]).to.include({ blockHeight: 10, blockHash: "cc", confirmedAt: now });
    const early = examinerWith({ due: [refundWith(1)], answers: [receiptAt(11)] });
    await early.examine();
    expect(early.done).to.deep.equal(["rfd_1 sent"]);
    expect(early.saved[0]).to.include({ blockHeight: 11, nextAt: now + minute });
  });

  it("takes one back that was refused, or was found nowhere for long, unless its surplus is gone", async () => {
    const failed = receiptAt(10, { succeeded: false, transfers: [] });
    for (const [refund, answer, refusal] of [
      [refundWith(1), failed, "failed"],
      [refundWith(1, { denials: 17, attempts: 17 }), unknown, "unknown"],
      [refundWith(1, { denials: 17, attempts: 17, blockHash: "cc" }), unknown, "reverted"],
    ] as const) {
      const covered = examinerWith({ due: [refund], answers: [answer] });
      await covered.examine();
      expect(covered.done.slice(0, 3)).to.deep.equal([
        "took 100 back",
        "rfd_1 requested",
        "refund.reverted",
      ]);
      const refusedHash = "bb".repeat(32);
      const back = { refusal, refusedHash, transactionHash: null, sentAt: null, version: 2 };
      expect(covered.saved[0]).to.include(back);
      const gone = examinerWith({ due: [refund], answers: [answer], isCovered: false });
      await gone.examine();
      expect(gone.done.slice(0, 3)).to.deep.equal([
        "took 100 back",
        "rfd_1 rejected",
        "refund.rejected",
      ]);
      expect(gone.saved[0]).to.include({ refusal: "surplus_gone", transactionHash: null });
    }
    const waiting = examinerWith({
      due: [refundWith(1, { denials: 16, attempts: 16 })],
      answers: [unknown],
    });
    await waiting.examine();
    expect(waiting.done).to.deep.equal(["rfd_1 sent"]);
    expect(waiting.saved[0]).to.include({ denials: 17, attempts: 17, refusal: null });
  });

  it("postpones one that fails, and examines the others", async () => {
    const other = refundWith(2, { status: "confirmed", blockHeight: 11, confirmedAt: 5 });
    const { examine, done, saved } = examinerWith({
      due: [refundWith(1), other],
      answers: [broken],
    });
    await examine();
    expect(done).to.have.members(["rfd_1 sent", "rfd_2 sent", "refund.reverted"]);
    const find = (isReopened: boolean) =>
      saved.find(({ version }) => (version === 2) === isReopened);
    expect(find(false)).to.include({ nextAt: now + minute, attempts: 0, denials: 0 });
    expect(find(true)).to.include({ nextAt: now, confirmedAt: null });
  });

  it("writes nothing about one that has changed meanwhile, or without its lease", async () => {
    const confirmed = refundWith(3, { status: "confirmed" });
    const failed = receiptAt(10, { succeeded: false });
    const cases = [
      [refundWith(1), receiptAt(10)],
      [refundWith(2), failed],
      [confirmed, unknown],
      [refundWith(4), broken],
    ] as const;
    for (const [refund, answer] of cases) {
      for (const locked of [[], [{ ...refund, version: 2 }]]) {
        const { examine, done } = examinerWith({ due: [refund], locked, answers: [answer] });
        await examine();
        expect(done.filter((each) => each.startsWith("rfd_"))).to.deep.equal([]);
        expect(done).not.to.include("took 100 back");
      }
      const { examine, done } = examinerWith({ due: [refund], answers: [answer] });
      const lost = new LeaseLost("another process looks");
      const failure = await examine(() => Promise.reject(lost)).catch((error: unknown) => error);
      expect(failure).to.equal(lost);
      expect(done).to.deep.equal([]);
    }
  });

  it("ends the alarms of refunds that are sent no more, and no others", async () => {
    const held = (subject: string) => ({ kind: "refund_held", subject }) as const;
    const { examine, done, asked } = examinerWith({
      alarms: [
        held("rfd_1"),
        held("rfd_2"),
        held(restSubject),
        { kind: "reading_disagreement", subject: "rfd_3" } as never,
      ],
      stillSent: ["rfd_2"],
    });
    await examine();
    expect(asked).to.deep.equal([["rfd_1", "rfd_2"]]);
    expect(done).to.deep.equal(["refund_held of rfd_1 ended"]);
    const none = examinerWith({ alarms: [held(restSubject)] });
    await none.examine();
    expect(none.asked).to.deep.equal([]);
  });
});
