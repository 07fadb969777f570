// Payments that one provider does not know: its logs are a second kind of witness, and an operator can decide.
import { expect } from "chai";
import {
  confirmHeldSubject,
  findHeldSubject,
} from "../../../../src/features/payments/networks/held.ts";
import { hour, minute } from "../../../../src/kernel/clock.ts";
import { refusal } from "../../../support/ledger.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");

eachStore("A payment whose receipt one provider does not have", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  afterEach(() => till.stop());

  /** Makes a payment, after `prepare` has set the faults of the second node for its transaction. */
  async function pay(prepare: (hash: string) => void): Promise<string> {
    till = await openPool(await store.open());
    till.invoices.ask({ address: shop });
    till.chain.mine([{ to: shop, amount: token(25) }]);
    const [made] = till.chain.transfers(till.chain.height());
    prepare(made?.transactionHash ?? "");
    await till.mine(2);
    till.advance(minute);
    await till.mine(30);
    till.advance(minute);
    await till.mine(1);
    const [payment] = await till.payments();
    return payment?.id ?? "";
  }

  const second = () => till.nodes[1]?.view ?? expect.fail("no second node");
  const statuses = async () => (await till.payments()).map(({ status }) => status);
  const confirm = (id: string, reason = "Seen in two explorers") =>
    confirmHeldSubject(till.app, testContext, id, reason);
  const codeOf = async (work: Promise<unknown>) => (await refusal(work)).code;

  it("is confirmed by the logs of its block", async () => {
    await pay((hash) => {
      second().withoutReceipts = new Set([hash]);
    });
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("is confirmed by an operator after an hour if the provider has neither, with an audit entry", async () => {
    const id = await pay((hash) => {
      second().denied = new Set([hash]);
    });
    expect(await statuses()).to.deep.equal(["confirming"]);
    expect(await till.storedAlarms()).to.deep.equal(["payment_held"]);
    expect(till.alarms.open()[0]?.message).to.include(`till payments confirm-held ${id} --reason`);
    expect(await codeOf(confirm(id))).to.equal("held_not_confirmed");
    till.advance(hour);
    await till.mine(1);
    // A provider that does not answer, or is behind, may contradict it.
    till.nodes[1]?.fail("unavailable", Infinity);
    expect((await refusal(confirm(id))).message).to.include("does not answer now");
    till.nodes[1]?.heal();
    till.advance(2 * minute);
    await till.mine(1);
    second().lag = 40;
    expect((await refusal(confirm(id))).message).to.include("does not have its block yet");
    second().lag = 0;
    till.advance(2 * minute);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["confirming"]);
    const { opinions } = await findHeldSubject(till.app, id);
    expect(opinions.map(({ opinion }) => opinion)).to.deep.equal(["agrees", "does_not_know"]);
    const dry = { ...testContext, finish: () => Promise.reject(new Error("tried out")) };
    const trial = confirmHeldSubject(till.app, dry, id, "r");
    expect(await trial.catch((error: unknown) => String(error))).to.include("tried out");
    expect(await statuses()).to.deep.equal(["confirming"]);
    await confirm(id);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    await till.mine(2);
    expect(await till.storedAlarms()).to.deep.equal([]);
    const entries = await till.db.all("SELECT changes FROM audit_logs WHERE action = $1", [
      "payment.held_confirmed",
    ]);
    expect(JSON.stringify(entries)).to.include("Seen in two explorers");
    expect(await codeOf(confirm(id))).to.equal("held_not_confirmed");
  });

  it("is not confirmed while a provider contradicts it, none confirms it, or it is unknown", async () => {
    // The first provider invented the payment, in a block that the honest one has.
    const id = await pay((hash) => {
      second().denied = new Set([hash]);
    });
    till.advance(2 * hour);
    await till.mine(1);
    second().denied = new Set();
    till.nodes[1]?.lie(({ method }, result) =>
      method === "eth_getTransactionReceipt" && result !== null
        ? { ...(result as object), status: "0x0" }
        : result,
    );
    expect(await codeOf(confirm(id))).to.equal("held_not_confirmed");
    till.nodes[1]?.lie(null);
    for (const { view } of till.nodes) {
      view.denied = new Set(till.chain.transfers(61).map(({ transactionHash }) => transactionHash));
    }
    expect(await codeOf(confirm(id))).to.equal("held_not_confirmed");
    expect(await statuses()).to.deep.equal(["confirming"]);
    expect(await codeOf(confirm("pay_00000000000000000000000000"))).to.equal("not_found");
    expect(await codeOf(confirm("trf_00000000000000000000000000"))).to.equal("not_found");
  });

  it.onBoth(
    "is confirmed once, however many operators do so while the network is read",
    async () => {
      const id = await pay((hash) => {
        second().denied = new Set([hash]);
      });
      till.advance(2 * hour);
      await till.mine(1);
      const outcomes = await Promise.all([
        ...Array.from({ length: 64 }, () => codeOf(confirm(id)).catch(() => "confirmed")),
        till.mine(1).then(() => "read"),
      ]);
      expect(outcomes.filter((code) => code === "confirmed")).to.have.length(1);
      expect(await statuses()).to.deep.equal(["confirmed"]);
      const [{ count } = { count: 0 }] = await till.db.all<{ count: number }>(
        "SELECT count(*) AS count FROM audit_logs WHERE action = 'payment.held_confirmed'",
      );
      expect(count).to.equal(1);
    },
  );
});
