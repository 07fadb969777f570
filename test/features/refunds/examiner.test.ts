// The rules by which several providers decide about a refund's transaction.
import { expect } from "chai";
import {
  confirmHeld,
  examineRefunds,
} from "../../../src/features/refunds/verification/examiner.ts";
import { refunds } from "../../../src/features/refunds/store.ts";
import { sandboxOf } from "../../../src/features/payments/sandbox/sandbox.ts";
import { hour, second } from "../../../src/kernel/clock.ts";
import { createAlarms } from "../../../src/platform/chain/state/alarms.ts";
import type { ChainClient, Receipt } from "../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../src/platform/chain/providers/error.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { openAlarms, writeAlarms } from "../../../src/platform/chain/state/provider-health.ts";
import type { WriteContext } from "../../../src/platform/database/database.ts";
import { events as eventTable } from "../../../src/platform/events/outbox.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { findToken } from "../../../src/platform/chain/networks.ts";
import { usdt } from "../../support/amounts.ts";
import { expectStatus } from "../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { known } from "../../support/ledger.ts";
import { openDesk } from "../../support/counter.ts";

/**
 * A provider's answer. `away`: it fails. `behind`: it does not have the final block yet. `other chain`: it has another
 * block at the height. With null it has the block, and not the transaction.
 */
type Answer = Receipt | null | "away" | "behind" | "other chain";

eachStore("refunds' transactions, with two providers", (store) => {
  const it = takeTurns(store);
  const desk = openDesk(store);

  /** A refund that was sent, and what each provider answers about its transaction. */
  async function sentRefund({ providersCount = 2 } = {}) {
    const { app } = desk.counter.app;
    const { db } = app;
    const { network } = known(sandboxOf(app));
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    const payer = desk.newAddress();
    await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
    const refund = await desk.refundOf(invoice);
    const named = "ab".repeat(31) + payer.slice(-2);
    await expectStatus(desk.name(refund, named), 200);
    const final = (await networkState(db, "sandbox"))?.cursorHeight ?? 0;
    const block = { blockHeight: final, blockHash: "cd".repeat(32), transactionHash: named };
    const transfer = {
      ...block,
      logIndex: 0,
      ordinal: 0,
      blockTime: null,
      from: desk.address,
      to: payer,
      contract: known(findToken(network, "USDT")).contract,
      amount: usdt(refund["amount"]),
    };
    const good: Receipt = { ...block, succeeded: true, transfers: [transfer] };
    const answers: Answer[] = [good, good];
    const provider = (place: number) => ({
      provider: `provider ${String(place)}`,
      receipt: () => {
        const answer = answers[place] ?? null;
        if (answer === "away") {
          return Promise.reject(
            new ProviderError("it does not answer", { kind: "unreachable", provider: "test" }),
          );
        }
        return Promise.resolve(typeof answer === "string" ? null : answer);
      },
      blocks: (heights: readonly number[]) =>
        Promise.resolve(
          heights.map((height) => ({
            height,
            hash: answers[place] === "other chain" ? "ef".repeat(32) : block.blockHash,
          })),
        ),
      heads: () =>
        Promise.resolve({
          finalized: { height: answers[place] === "behind" ? final - 1 : final },
        }),
    });
    const { clock } = desk.counter.app;
    const alarms = createAlarms({ clock, logger: silentLogger });
    const providers = [provider(0), provider(1), provider(2)].slice(0, providersCount);
    const asked = { network, alarms, providers: providers as unknown as ChainClient[] };
    return {
      good,
      alarms,
      answers,
      failed: { ...good, succeeded: false, transfers: [] },
      later: { ...good, blockHeight: final + 1 },
      /** Examines it some times with these answers. */
      examine: async (given: readonly Answer[], times = 1) => {
        answers.splice(0, answers.length, ...given);
        for (let time = 0; time < times; time += 1) {
          await db.write(testContext, (tx) =>
            tx.run("UPDATE refunds SET next_at = 0 WHERE id = $1", [String(refund["id"])]),
          );
          await examineRefunds(app, asked, () => Promise.resolve());
        }
        return desk.refundOf(invoice);
      },
      row: () => db.findOne(refunds, "WHERE id = $1", [String(refund["id"])]),
      /** Stores the alarms, as the monitor does, as if they had been raised an hour ago. */
      storeAlarms: async (ageMs: number = hour) => {
        const open = alarms.open().map((alarm) => ({ ...alarm, raisedAt: clock.now() - ageMs }));
        await db.write(testContext, async (tx) => {
          await tx.run("UPDATE refunds SET sent_at = $1 WHERE id = $2", [
            clock.now() - ageMs,
            String(refund["id"]),
          ]);
          await writeAlarms(tx, "sandbox", open, clock.now());
        });
      },
      /** Confirms the refund as an operator. Returns "confirmed", or the message of the refusal. */
      decide: async (given: readonly Answer[] = answers, context: WriteContext = testContext) => {
        answers.splice(0, answers.length, ...given);
        const row = known(await db.findOne(refunds, "WHERE id = $1", [String(refund["id"])]));
        try {
          await confirmHeld(app, asked, context, row, "Seen in two explorers");
          return "confirmed";
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
    };
  }

  it("are refused by two of them, in a final block, and by none alone", async () => {
    const { examine, failed, good, later } = await sentRefund();
    const early = { ...failed, blockHeight: later.blockHeight };
    for (const answers of [
      [early, early],
      [failed, good],
      [good, failed],
      [failed, "away"],
      [failed, null],
    ] as const) {
      expect(await examine(answers, 9)).to.include({ status: "sent" });
    }
    expect(await examine([failed, failed])).to.include({ status: "requested", refusal: "failed" });
  });

  it("are unknown only if each of them does not know it for about an hour, or one for a day", async () => {
    const { examine } = await sentRefund();
    expect(await examine([null, null], 9)).to.include({ status: "sent" });
    expect(await examine([null, "away"], 20)).to.include({ status: "sent" });
    expect(await examine(["away", "away"], 20)).to.include({ status: "sent" });
    expect(await examine([null, null], 8)).to.include({ status: "sent" });
    expect(await examine([null, null])).to.include({ status: "requested", refusal: "unknown" });
    const other = await sentRefund();
    // It was examined every five minutes for a day.
    await desk.counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE refunds SET attempts = 298 WHERE status = 'sent'"),
    );
    expect(await other.examine([null, "away"])).to.include({ status: "sent" });
    expect(await other.examine([null, "away"])).to.include({ refusal: "unknown" });
  });

  it("are not given up by one denial after one of them had the transaction for long, nor confirmed by denials", async () => {
    const { examine, good } = await sentRefund();
    await examine([good, { ...good, blockHash: "ef".repeat(32) }], 25);
    expect(await examine([null, null], 17)).to.include({ status: "sent", refusal: null });
    const other = await sentRefund();
    await other.examine([{ ...other.good, blockHeight: other.later.blockHeight }, null]);
    await other.examine([null, null], 10);
    expect(await other.examine([other.good, null], 7)).to.include({ status: "sent" });
    expect(await other.examine([other.good, null])).to.include({ status: "confirmed" });
  });

  it("are confirmed by one of them, ten minutes after finality, if the other one has no receipt", async () => {
    for (const absent of [null, "away"] as const) {
      const { examine, good, later, alarms } = await sentRefund();
      // Time before the block is final does not count.
      expect(await examine([later, absent], 12)).to.include({ status: "sent" });
      expect(await examine([absent, good], 7)).to.include({ status: "sent" });
      expect(await examine([absent, good])).to.include({ status: "confirmed" });
      expect(alarms.open()).to.deep.equal([]);
    }
  });

  it("wait for the other one again once they are in another block", async () => {
    const { examine, good } = await sentRefund();
    const moved = { ...good, blockHash: "ef".repeat(32) };
    expect(await examine([null, good], 7)).to.include({ status: "sent" });
    expect(await examine([null, moved], 7)).to.include({ status: "sent" });
    expect(await examine([null, moved])).to.include({ status: "confirmed" });
  });

  it("have no alarm any more once the merchant has rejected their refund", async () => {
    const { examine, failed, good, alarms } = await sentRefund();
    const { id } = await examine([failed, good]);
    expect(alarms.open().map(({ subject }) => subject)).to.deep.equal([id]);
    await expectStatus(desk.post(`/refunds/${String(id)}/reject`, { reason: "Not sent" }), 200);
    expect(await examine([failed, good])).to.include({ status: "rejected" });
    expect(alarms.open()).to.deep.equal([]);
  });

  it("are held with an alarm while one of them contradicts the other one, even if it falls silent", async () => {
    const { examine, good, alarms } = await sentRefund();
    const other = { ...good, blockHash: "ef".repeat(32) };
    expect(await examine([good, other])).to.include({ status: "sent" });
    for (const silent of [null, "away"] as const) {
      expect(await examine([good, silent], 10)).to.include({ status: "sent" });
    }
    await examine(["away", "away"]);
    expect(await examine([good, "away"], 10)).to.include({ status: "sent" });
    expect(alarms.open().map(({ kind }) => kind)).to.deep.equal(["refund_held"]);
    expect(await examine([good, good])).to.include({ status: "confirmed" });
    expect(alarms.open()).to.deep.equal([]);
  });

  it("are confirmed by an operator after an hour, with a reason, although one of them contradicts", async () => {
    const { db } = desk.counter.app.app;
    for (const denial of ["failed", null] as const) {
      const { examine, good, failed, alarms, storeAlarms, decide, row } = await sentRefund();
      expect(await decide([good, failed])).to.include("is not held");
      expect(await examine([good, failed])).to.include({ status: "sent" });
      const { id = "" } = (await row()) ?? {};
      expect(alarms.open()[0]?.message).to.include(`till refund confirm-held ${id} --reason`);
      await storeAlarms(hour - second);
      expect(await decide()).to.include("Wait for an hour");
      await storeAlarms();
      const dry = { ...testContext, finish: () => Promise.reject(new Error("tried out")) };
      expect(await decide([good, denial === null ? null : failed], dry)).to.equal("tried out");
      expect(await row()).to.include({ status: "sent" });
      expect(await decide()).to.equal("confirmed");
      expect(await row()).to.include({ status: "confirmed", blockHash: good.blockHash });
      const open = (await openAlarms(db, "sandbox")).filter(({ subject }) => subject === id);
      expect(open).to.deep.equal([]);
      const entries = await db.all("SELECT changes FROM audit_logs WHERE action = $1", [
        "refund.held_confirmed",
      ]);
      expect(JSON.stringify(entries))
        .to.include("Seen in two explorers")
        .and.to.include(denial ?? "does_not_know");
      const events = await db.find(eventTable, "WHERE object_id = $1 ORDER BY id", [id]);
      expect(events.at(-1)?.type).to.equal("refund.confirmed");
      expect(await decide()).to.include(`${id} is confirmed`);
      // The next examination ends the alarm in the process that reads the network.
      await examine([good, failed]);
      expect(alarms.open()).to.deep.equal([]);
      expect(await row()).to.include({ status: "confirmed" });
    }
  });

  it("are not confirmed by an operator while no provider pays it, or another one may be right about the chain", async () => {
    const { examine, good, failed, later, storeAlarms, decide, row } = await sentRefund();
    await examine([good, failed]);
    await storeAlarms();
    for (const [answers, message] of [
      [[null, null], "No provider has a transaction that pays it now"],
      [[failed, failed], "No provider has a transaction that pays it now"],
      [["away", "away"], "No provider has a transaction that pays it now"],
      [[good, "away"], "does not answer now"],
      [["away", good], "does not answer now"],
      [[good, "behind"], "does not have its block yet"],
      [[good, "other chain"], "another block at the height"],
      [[good, { ...good, blockHash: "ef".repeat(32) }], "in another block"],
      [[good, { ...failed, unreadableLogs: 1 }], "does not answer now"],
      [[later, failed], "not final yet"],
    ] as const) {
      expect(await decide(answers)).to.include(message);
      expect(await row()).to.include({ status: "sent" });
    }
    // The merchant names another transaction: the hour begins again.
    const { db, clock } = desk.counter.app.app;
    await db.write(testContext, (tx) => tx.run("UPDATE refunds SET sent_at = $1", [clock.now()]));
    expect(await decide([good, failed])).to.include("Wait for an hour");
  });

  it.onBoth("are confirmed once by many operators while they are examined", async () => {
    const { examine, good, failed, storeAlarms, decide, row } = await sentRefund();
    await examine([good, failed]);
    await storeAlarms();
    const before = known(await row());
    const outcomes = await Promise.all([
      ...Array.from({ length: 32 }, () => decide()),
      examine([good, failed]).then(() => "examined"),
    ]);
    expect(outcomes.filter((outcome) => outcome === "confirmed")).to.have.length(1);
    expect(await row()).to.include({ status: "confirmed", version: before.version + 1 });
  });

  it("are decided by what each of three of them says", async () => {
    const { examine, good, failed, storeAlarms, decide, row } = await sentRefund({
      providersCount: 3,
    });
    await examine([failed, good, null]);
    await storeAlarms();
    expect(await decide([failed, good, "away"])).to.include("does not answer now");
    expect(await decide([failed, null, good])).to.equal("confirmed");
    expect(await row()).to.include({ status: "confirmed", refusal: null });
  });

  it("are read once a minute until their block is final", async () => {
    const { examine, later, row } = await sentRefund();
    for (const answers of [
      [later, later],
      ["away", "away"],
    ] as const) {
      await examine(answers);
      expect((await row())?.nextAt).to.be.greaterThan(desk.counter.app.clock.now() + 50 * second);
    }
  });
});
