// An operator's decisions about money that providers do not agree on, through the command line and nodes over HTTP.
import { expect } from "chai";
import { createWallet } from "../../../src/features/wallets/wallets.ts";
import { createInvoice } from "../../../src/features/invoices/issuing/create.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import { parseAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { gapsOf, noteRefusals } from "../../../src/platform/chain/state/reading-ranges.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { openAlarms } from "../../../src/platform/chain/state/provider-health.ts";
import { makeFakeChain, type FakeChain } from "../../support/chain/fake-chain.ts";
import { startFakeNode, type FakeNode } from "../../support/chain/fake-node.ts";
import { testNetworks, xpubs } from "../../support/merchants.ts";
import { until } from "../../support/until.ts";
import { context, makeDesk, type DeskStore } from "../billing-operator.ts";

const blocksBefore = 200;
const hash = "ab".repeat(32);
const refundHash = "cd".repeat(32);
const payerAddress = "1234567890".repeat(4);

describe("An operator's decision about blocks and payments that not every provider has", function () {
  const settings: Record<string, string> = {
    TILL_NETWORKS: "ethereum",
    TILL_ETHEREUM_CONFIRMATIONS: "2",
    TILL_ETHEREUM_POLL_MS: "500",
    TILL_RATES: "off",
    TILL_VERIFICATION: "off",
  };
  const desk = makeDesk(settings);
  let store: DeskStore;
  let chain: FakeChain;
  let miner: NodeJS.Timeout;
  let nodes: readonly [FakeNode, FakeNode];
  let shop: string;
  let overpaid: string;

  before(async () => {
    const contract = testNetworks("ethereum").get("ethereum")?.tokens[0]?.contract ?? "";
    const startAt = (Math.floor(Date.now() / second) - blocksBefore) * second;
    chain = makeFakeChain({ chainId: 1, contract, startAt, blockMs: second, finalityLag: 3 });
    chain.mine([], blocksBefore);
    miner = setInterval(() => {
      while (chain.block(chain.height() + 1).time <= Date.now()) chain.mine();
    }, second / 4);
    nodes = [await startFakeNode(chain), await startFakeNode(chain)];
    settings["TILL_ETHEREUM_RPC_URLS"] = nodes.map(({ url }) => url).join(",");
    store = await desk.store();
  });
  after(async () => {
    clearInterval(miner);
    for (const node of nodes) await node.stop();
  });

  /** Lets the program run until an invoice is paid by a transaction that the second node does not know. */
  async function holdPayment(): Promise<{ paymentId: string; invoiceId: string }> {
    const organizationId = await store.platformId();
    return store.withApp(async (app) => {
      await app.start();
      const wallet = { label: "Till", network: "ethereum", xpub: xpubs.first };
      await createWallet(app, context, organizationId, wallet);
      const order = { amount: "24.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
      const invoice = await until(
        "an invoice",
        async () => {
          try {
            const asked = { ...order, network: "ethereum", externalId: "order 7" };
            return (await createInvoice(app, context, organizationId, asked)).invoice;
          } catch {
            return null;
          }
        },
        (made) => made !== null,
      );
      const parsed = parseAddress(invoice?.walletAddress ?? "");
      if (invoice === null || !parsed.ok) throw new Error("no invoice was issued");
      nodes[1].view.denied = new Set([hash]);
      shop = parsed.address;
      // One USDT too much, which is refunded.
      const amount = (invoice.payableAmount ?? 0n) + 1_000_000n;
      chain.place(chain.height() + 2, [{ to: parsed.address, amount, transactionHash: hash }]);
      const alarms = await until(
        "a held payment",
        () => openAlarms(app.db, "ethereum"),
        (open) => open.some(({ kind }) => kind === "payment_held"),
      );
      const subject = alarms.find(({ kind }) => kind === "payment_held")?.subject ?? "";
      await until(
        "the final block",
        () => networkState(app.db, "ethereum"),
        (state) => (state?.cursorHeight ?? 0) > blocksBefore + 20,
      );
      return { paymentId: subject, invoiceId: invoice.id };
    });
  }

  /** Checks that a decision is refused without a reason that the audit log can show. */
  async function refusesReasons(words: readonly string[]): Promise<void> {
    for (const reason of [" ", "\u200b", "two\nlines", "\u001b[2K", "x".repeat(501)]) {
      const refused = await store.till([...words, "--reason", reason, "--yes"]);
      expect([refused.code, refused.stderr].join(" "), reason).to.match(/^2 [^]*reason/);
    }
    expect((await store.till([...words, "--yes"])).code).to.equal(2);
  }

  it("confirms a held payment after an hour, with a reason, and changes nothing in a dry run", async () => {
    const { paymentId, invoiceId } = await holdPayment();
    overpaid = paymentId;
    const words = ["payments", "confirm-held", paymentId, "--reason", "Seen in two explorers"];
    const early = await store.till([...words, "--yes"]);
    expect([early.code, early.stderr])
      .to.deep.include(6)
      .and.to.match(/Wait for an hour/);
    await store.withApp(({ db }) =>
      db.write(context, (tx) =>
        tx.run("UPDATE network_alarms SET raised_at = raised_at - $1 WHERE kind = 'payment_held'", [
          hour,
        ]),
      ),
    );
    const [, second] = nodes;
    second.fail("unavailable", Infinity);
    const away = await store.till([...words, "--yes"]);
    expect([away.code, away.stderr].join(" ")).to.match(/^6 [^]*does not answer now/);
    second.heal();
    const statusOf = async () =>
      ((await store.json(["invoice", "show", invoiceId])) as { status: string }).status;
    const before = await statusOf();
    const dry = await store.till([...words, "--dry-run"]);
    expect([dry.code, dry.stderr]).to.deep.include(0);
    expect(dry.stdout).to.include("does_not_know").and.to.include("agrees");
    expect(await statusOf())
      .to.equal(before)
      .and.not.to.equal("paid");
    expect(await store.audited("payment.held_confirmed")).to.deep.equal([]);
    await refusesReasons(words.slice(0, 3));
    expect(await store.json([...words, "--yes"])).to.include({
      id: paymentId,
      status: "confirmed",
    });
    expect(await statusOf()).to.equal("paid");
    const entries = await store.audited("payment.held_confirmed");
    expect(entries).to.have.length(1);
    expect(JSON.stringify(entries))
      .to.include("Seen in two explorers")
      .and.include("does_not_know");
    expect((await store.till([...words, "--yes"])).code).to.equal(6);
  });

  it("confirms a refund about which providers contradict each other, and changes nothing in a dry run", async () => {
    const sum = ["--amount", "1.00", "--address", `0x${payerAddress}`];
    const made = await store.json(["refund", "create", overpaid, ...sum, "--yes"]);
    const { id } = made as { id: string };
    await store.json(["refund", "send", id, refundHash, "--yes"]);
    const words = ["refund", "confirm-held", id, "--reason", "Seen in two explorers"];
    const calm = await store.till([...words, "--yes"]);
    expect([calm.code, calm.stderr].join(" ")).to.match(/^6 [^]*is not held/);
    const [, second] = nodes;
    const contradict = () => {
      second.lie(({ method, params: [asked] }, result) =>
        method === "eth_getTransactionReceipt" && asked === `0x${refundHash}` && result !== null
          ? { ...(result as object), status: "0x0" }
          : result,
      );
    };
    contradict();
    await store.withApp(async (app) => {
      await app.start();
      const sent = { from: shop, to: payerAddress, amount: 1_000_000n };
      chain.place(chain.height() + 2, [{ ...sent, transactionHash: refundHash }]);
      await until(
        "a held refund",
        () => openAlarms(app.db, "ethereum"),
        (open) => open.some(({ kind, subject }) => kind === "refund_held" && subject === id),
      );
      await app.db.write(context, async (tx) => {
        await tx.run("UPDATE network_alarms SET raised_at = raised_at - $1", [hour]);
        await tx.run("UPDATE refunds SET sent_at = sent_at - $1", [hour]);
      });
    });
    second.fail("unavailable", Infinity);
    const away = await store.till([...words, "--yes"]);
    expect([away.code, away.stderr].join(" ")).to.match(/^6 [^]*does not answer now/);
    second.heal();
    contradict();
    const statusOf = async () =>
      ((await store.json(["refund", "show", id])) as { status: string }).status;
    const dry = await store.till([...words, "--dry-run"]);
    expect([dry.code, dry.stderr]).to.deep.include(0);
    expect(dry.stdout).to.include("failed").and.to.include("agrees");
    expect(await statusOf()).to.equal("sent");
    expect(await store.audited("refund.held_confirmed")).to.deep.equal([]);
    await refusesReasons(words.slice(0, 3));
    expect(await store.json([...words, "--yes"])).to.include({ id, status: "confirmed" });
    expect(await statusOf()).to.equal("confirmed");
    const entries = await store.audited("refund.held_confirmed");
    expect(entries).to.have.length(1);
    expect(JSON.stringify(entries)).to.include("Seen in two explorers").and.include("failed");
    expect((await store.till([...words, "--yes"])).code).to.equal(6);
  });

  it("gives up blocks that every provider refuses, with a reason, and changes nothing in a dry run", async () => {
    const [from, to] = [blocksBefore + 5, blocksBefore + 15];
    const pruned = [{ from, to, words: "history was pruned" }];
    for (const { view } of nodes) view.pruned = pruned;
    const note = (at: number) =>
      store.withApp(({ db }) =>
        db.write(context, (tx) => {
          const refusals = nodes.map(({ url }) => ({
            provider: new URL(url).origin,
            reason: "no",
          }));
          return noteRefusals(tx, "ethereum", { from, to }, refusals, at);
        }),
      );
    await note(Date.now() - 5 * minute);
    const range = ["--network", "ethereum", "--from", String(from), "--to", String(to)];
    const words = ["chain", "accept-gap", ...range, "--reason", "Pruned everywhere"];
    const early = await store.till([...words, "--yes"]);
    expect([early.code, early.stderr].join(" ")).to.match(/^6 [^]*for 10 minutes/);
    await note(Date.now() + 6 * minute);
    const [, second] = nodes;
    second.view.pruned = [];
    const back = await store.till([...words, "--yes"]);
    expect([back.code, back.stderr].join(" ")).to.match(/^6 [^]*reads block/);
    second.view.pruned = pruned;
    const accepted = () =>
      store.withApp(async ({ db }) =>
        (await gapsOf(db, "ethereum")).map(({ acceptedReason }) => acceptedReason),
      );
    await refusesReasons(words.slice(0, -2));
    const dry = await store.till([...words, "--dry-run"]);
    expect([dry.code, dry.stderr]).to.deep.include(0);
    expect(await accepted()).to.deep.equal([null]);
    expect(await store.json([...words, "--yes"])).to.deep.include({ blocks: 11 });
    expect(await accepted()).to.deep.equal(["Pruned everywhere"]);
    const entries = await store.audited("chain.gap_accepted");
    expect(entries).to.have.length(1);
    expect(JSON.stringify(entries)).to.include("Pruned everywhere");
    const again = await store.till([...words, "--yes"]);
    expect([again.code, again.stderr].join(" ")).to.match(/^6 [^]*accepted already/);
    const audit = (await store.json(["chain", "audit", ...range])) as { refused: unknown[] };
    expect(JSON.stringify(audit.refused)).to.include("Pruned everywhere");
  });
});
