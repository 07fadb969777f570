// Money that found no invoice, at the terminal.
import { expect } from "chai";
import { mineBlocks, payOnSandbox } from "../../../src/features/payments/sandbox/sandbox.ts";
import { listTransfers } from "../../../src/features/payments/inbox/transfers.ts";
import { getInvoice } from "../../../src/features/invoices/invoices.ts";
import { presentInvoice } from "../../../src/features/invoices/records.ts";
import { listPayments } from "../../../src/features/payments/payments.ts";
import {
  TransferListRecord,
  TransferRecord,
} from "../../../src/features/payments/inbox/records.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { until } from "../../support/until.ts";
import { context, makeDesk, type DeskStore } from "../billing-operator.ts";
import { issue, openShop } from "../market.ts";

const address = "0x52908400098527886E0F7030069857D2E4169EE7";

/** Two invoices of 25 and 30 USD on one address, and 24 USDT that match neither. */
async function openInbox(store: DeskStore) {
  const organizationId = await store.platformId();
  const invoiceIds = await store.withApp(async (app) => {
    await openShop(app, organizationId, { address });
    const one = await issue(app, organizationId, { amount: "25.00" });
    const two = await issue(app, organizationId, { amount: "30.00" });
    await payOnSandbox(app, context, one, 24_000_000n);
    await mineBlocks(app, context, 1);
    await until(
      "the transfer",
      () => listTransfers(app, organizationId, {}),
      ({ data }) => data.length === 1,
    );
    return [one, two] as const;
  });
  const shown = (id: Id<"invoice">) =>
    store.withApp(async (app) => presentInvoice(await getInvoice(app, organizationId, id)));
  const issueMore = (amount: string) =>
    store.withApp((app) => issue(app, organizationId, { amount }));
  return { organizationId, invoiceIds, shown, issueMore };
}

describe("till payments inbox", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" });

  it("lists unmatched transfers, allocates them in parts, reverts and ignores them", async function () {
    const store = await desk.store();
    const { organizationId, invoiceIds, shown, issueMore } = await openInbox(store);
    const [one, two] = invoiceIds;
    const words = ["payments", "inbox", "--organization", organizationId];
    const list = async (...more: string[]) =>
      TransferListRecord.parse(await store.json([...words, ...more])).data;
    const [found] = await list();
    expect(found).to.include({ amount: "24.00", status: "unmatched" });
    expect(found?.suggestions[0]).to.deep.include({
      invoiceId: one,
      reasons: ["close_amount", "in_time"],
    });
    const table = await store.till(words);
    expect(table.stdout).to.include(`${one} (close_amount, in_time)`);
    const id = found?.id ?? "";

    const wrong = await store.till(["payments", "allocate", id, `${two}:4`, "--yes"]);
    expect(wrong.stderr).to.include(`"${two}:4" is not`).and.include("inv_…=12.50");
    const split = ["payments", "allocate", id, `${two}=4`, one];
    expect((await store.till(split)).stderr).to.include("--yes");
    expect(await store.json([...split, "--dry-run"])).to.include({ unallocatedAmount: "0.00" });
    const stated = ["payments", "allocate", id, `${two}=4`, `${one}=19.5`, "--dry-run"];
    expect(await store.json(stated)).to.include({ unallocatedAmount: "0.50" });
    expect(await list()).to.deep.equal([found]);
    const done = TransferRecord.parse(await store.json([...split, "--yes"]));
    expect(
      done.allocations.map(({ invoiceId, amount }) => [invoiceId, amount]),
    ).to.have.deep.members([
      [one, "20.00"],
      [two, "4.00"],
    ]);
    expect(done.decisions[0]).to.include({ decision: "allocated", actorType: "operator" });
    expect(await shown(one)).to.include({ paidTokenAmount: "20.00" });
    expect(await list()).to.deep.equal([]);

    const paymentId = done.allocations.find(({ invoiceId }) => invoiceId === two)?.paymentId ?? "";
    const reverse = ["payments", "reverse", paymentId, "--organization", organizationId];
    expect((await store.till([...reverse, "--to", two, "--yes"])).stderr).to.include("--to");
    const moved = await store.till([...reverse, "--to", one, "--dry-run"]);
    expect(moved.stderr).to.include(`${one} already has a payment of this transfer`);
    const reversed = await store.till([...reverse, "--yes"]);
    expect(reversed.stdout).to.include("rejected");
    expect(reversed.stderr).to.include(`till refund create ${paymentId}`).and.include("inbox");
    const kept = done.allocations.find(({ invoiceId }) => invoiceId === one)?.paymentId ?? "";
    const move = ["payments", "reverse", kept, "--organization", organizationId, "--to", two];
    const { stderr } = await store.till([...move, "--yes"]);
    expect(stderr).to.include(`till invoice show ${two} shows what it still asks for`);
    expect(await shown(two)).to.include({ paidTokenAmount: "20.00" });
    const ofTransfer = await store.till(["payments", "reverse", id, "--yes"]);
    expect(ofTransfer.stderr).to.include("not of a payment. Its payments: ").and.include(paymentId);
    const [returned] = await list();
    expect(returned).to.include({ id, unallocatedAmount: "4.00" });
    expect(returned?.suggestions, "the invoice that it was reversed from").to.deep.equal([]);
    expect((await store.till(words)).stdout)
      .to.include("REJECTED FROM")
      .and.include(one);
    expect(await store.json(["payments", "ignore", id, "--yes"])).to.include({ status: "ignored" });
    expect(await list()).to.deep.equal([]);
    expect((await list("--status", "ignored"))[0]).to.include({ id });
    const back = ["payments", "unignore", id];
    expect(await store.json(back)).to.include({ status: "unmatched" });
    const page = await store.till(["payments", "transfer", id]);
    for (const word of ["Payments", "Decisions", "reversed", "manual"]) {
      expect(page.stdout).to.include(word);
    }

    // A person at a terminal decides about each.
    const decide = (keys: string) =>
      store.till([...words, "--no-color"], {
        env: { TERM: "xterm" },
        person: [["What is it?", keys]],
      });
    const skipped = await decide("sk\r");
    expect(skipped.code, skipped.stderr).to.equal(0);
    expect(skipped.stderr).to.include("1 of 1: 4.00 of 24.00 USDT on sandbox");
    expect(skipped.stderr).to.include("0 allocated, 0 ignored, 1 skipped");
    expect(skipped.stderr).to.include(`from ${one}`).and.include(`till refund create ${kept}`);
    const other = await issueMore("4.00");
    expect((await store.till(["payments", "transfer", id])).stdout).to.include("Suggestions");
    const allocated = await decide("all\r");
    expect(allocated.stderr, allocated.stderr).to.include("1 allocated");
    expect(await list()).to.deep.equal([]);
    expect(await shown(other)).to.include({ paidTokenAmount: "4.00" });
  });

  it("accepts and rejects payments that wait for a decision", async () => {
    const store = await desk.store();
    const { organizationId, invoiceIds, shown } = await openInbox(store);
    const own = ["--organization", organizationId];
    const waiting: string[] = [];
    for (const id of invoiceIds) {
      // Money for a canceled invoice waits.
      await store.json(["invoice", "cancel", id, "--yes"]);
      await store.json(["sandbox", "pay", id]);
      await store.withApp(async (app) => {
        await app.start();
        await mineBlocks(app, context, 3);
        const [payment] = await until(
          "the payment in review",
          async () => (await listPayments(app, organizationId, { status: ["review"] })).data,
          (found) => found.length > 0,
        );
        waiting.push(String(payment?.payment.id));
      });
      const decision = waiting.length === 1 ? "accept" : "reject";
      const words = ["payments", decision, String(waiting.at(-1)), ...own];
      const { stderr } = await store.till(words);
      expect(stderr).to.include("--yes");
      expect(await store.json([...words, "--dry-run"])).to.include({ id: waiting.at(-1) });
      const status = decision === "accept" ? "confirming" : "rejected";
      expect(await store.json([...words, "--yes"])).to.include({ status });
      expect((await store.till([...words, "--yes"])).code, "decided already").to.equal(6);
    }
    const [accepted, rejected] = await Promise.all(invoiceIds.map(shown));
    expect(accepted).to.include({ exception: "late", paidTokenAmount: "25.00" });
    expect(rejected).to.include({ status: "canceled", paidTokenAmount: "0.00" });
    const reverse = ["payments", "reverse", String(waiting[0]), ...own, "--cancel", "--yes"];
    const { stderr } = await store.till(reverse);
    expect(stderr)
      .to.include(`till refund create ${String(waiting[0])}`)
      .and.not.include("inbox");
  });

  it("exits with the matching code for impossible actions", async () => {
    const store = await desk.store();
    const organizationId = await store.platformId();
    const unknown = `trf_${"0".repeat(26)}`;
    const invoice = `inv_${"0".repeat(26)}`;
    for (const words of [
      ["allocate", unknown, invoice, "--yes"],
      ["ignore", unknown, "--yes"],
      ["transfer", unknown],
      ["accept", `pay_${"0".repeat(26)}`, "--organization", organizationId, "--yes"],
      ["reject", `pay_${"0".repeat(26)}`, "--organization", organizationId, "--yes"],
      ["reverse", `pay_${"0".repeat(26)}`, "--organization", organizationId, "--yes"],
    ]) {
      expect((await store.till(["payments", ...words])).code, words.join(" ")).to.equal(5);
    }
    expect((await store.till(["payments", "allocate", unknown])).code).to.equal(2);
    const wrong = ["payments", "inbox", "--organization", organizationId, "--status", "lost"];
    expect((await store.till(wrong)).stderr).to.include("--status");
  });

  it("shows and sets how late payments are handled", async () => {
    const store = await desk.store();
    const of = ["--organization", await store.platformId()];
    expect(await store.json(["payments", "policy", ...of])).to.deep.equal({
      latePayments: "accept",
      lateWindowDays: 7,
      paymentOptions: null,
    });
    const set = ["payments", "set-policy", ...of, "--late-payments", "review"];
    await store.json([...set, "--dry-run"]);
    expect(await store.json(["payments", "policy", ...of])).to.deep.equal({
      latePayments: "accept",
      lateWindowDays: 7,
      paymentOptions: null,
    });
    await store.json([...set, "--yes"]);
    expect(await store.json(["payments", "policy", ...of])).to.deep.equal({
      latePayments: "review",
      lateWindowDays: 7,
      paymentOptions: null,
    });
    const shorter = ["payments", "set-policy", ...of, "--late-window-days", "3", "--yes"];
    await store.json(shorter);
    expect(await store.json(["payments", "policy", ...of])).to.deep.equal({
      latePayments: "review",
      lateWindowDays: 3,
      paymentOptions: null,
    });
    const offers = (...words: readonly string[]) =>
      store.json(["payments", "set-policy", ...of, ...words, "--yes"]);
    expect(await offers("--payment-options", "sandbox/USDC sandbox/USDT")).to.deep.include({
      paymentOptions: ["USDC", "USDT"].map((tokenSymbol) => ({
        network: "sandbox",
        tokenSymbol,
        walletId: null,
      })),
    });
    expect(await offers("--drop-payment-options")).to.include({ paymentOptions: null });
    expect((await store.till([...set, "--payment-options", "tron", "--yes"])).code).not.to.equal(0);
    for (const days of ["0", "91", "1.5", "three"]) {
      expect((await store.till(shorter.with(-2, days))).code, days).not.to.equal(0);
    }
    const [entry] = await store.audited("organization.payment_policy_updated");
    expect(entry).to.include({ actor_type: "operator" });
    expect((await store.till([...set.slice(0, -1), "never", "--yes"])).code).not.to.equal(0);
  });

  it("names the new values of the late payment policy in its question, and refuses to change nothing", async () => {
    const store = await desk.store();
    const set = ["payments", "set-policy", "--organization", await store.platformId()];
    for (const words of [set, [...set, "--yes"], [...set, "--dry-run"]]) {
      const { code, stderr } = await store.till(words);
      expect(code, words.join(" ")).to.equal(2);
      expect(stderr).to.include("give --late-payments, --late-window-days, --payment-options");
    }
    const options = ["--payment-options", "sandbox/USDC"];
    for (const [words, question] of [
      [
        ["--late-payments", "review", "--late-window-days", "3"],
        "Set late payments to review and the late window to 3 days for Shop (org_",
      ],
      [options, "Set the payment options to sandbox/USDC for Shop (org_"],
      [["--drop-payment-options"], "Set no payment options for Shop (org_"],
    ] as const) {
      const { code, stderr } = await store.till([...set, ...words], {
        person: [[question, "n\n"]],
      });
      expect(code, stderr).to.equal(3);
    }
    const both = await store.till([...set, ...options, "--drop-payment-options", "--yes"]);
    expect(both.code).to.equal(2);
    expect(both.stderr).to.include("not both");
  });

  it("shows why transactions that payers submitted led to no payment", async () => {
    const store = await desk.store();
    const of = ["--organization", await store.platformId()];
    expect(await store.json(["payments", "claims", ...of])).to.deep.equal({
      data: [],
      nextCursor: null,
    });
  });
});
