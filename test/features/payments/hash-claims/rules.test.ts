import { expect } from "chai";
import {
  claimedLogs,
  compareWithRecord,
  givenUpAt,
  orderFault,
  outcomeOf,
  relationOf,
  retryAt,
} from "../../../../src/features/payments/hash-claims/rules.ts";
import type { PaymentRow, TransferRow } from "../../../../src/features/payments/table.ts";
import type { TimedLog } from "../../../../src/features/payments/ledger/chain-diff.ts";
import { day, minute, second } from "../../../../src/kernel/clock.ts";
import type { Receipt } from "../../../../src/platform/chain/client.ts";
import type { ClaimableTerms } from "../../../../src/features/invoices/holds/claimable.ts";
import { unmarked } from "../../../support/amounts.ts";
import { testNetworks } from "../../../support/merchants.ts";

const address = "a1".repeat(20);
const mark = {
  markHeight: 90,
  markHash: "9".repeat(64),
  markReadAt: 1_000 * day,
  isMarkRecent: true,
};
const terms = {
  targets: [{ address, token: "USDT", dust: null }],
  startsAt: 1_000 * day,
  mark,
  endsAt: 1_008 * day,
};

describe("A submitted transaction", () => {
  const network = testNetworks("ethereum").get("ethereum");
  const contractOf = (symbol: string): string =>
    network?.tokens.find((token) => token.symbol === symbol)?.contract ?? "";

  const log = (changes: Partial<TimedLog> = {}): TimedLog => ({
    transactionHash: "1".repeat(64),
    logIndex: 4,
    ordinal: 0,
    blockHeight: 100,
    blockHash: "2".repeat(64),
    blockTime: terms.startsAt,
    isTimeAgreed: true,
    contract: contractOf("USDT"),
    from: "b2".repeat(20),
    to: address,
    amount: 24_000_000n,
    ...changes,
  });

  const judge = (
    logs: TimedLog[],
    changes: Partial<Receipt> = {},
    disabled: string[] = [],
    targets: ClaimableTerms["targets"] = terms.targets,
  ) => {
    if (network === undefined) throw new Error("no network");
    const { transactionHash, blockHash, blockHeight } = log();
    const receipt = { transactionHash, blockHash, blockHeight, succeeded: true, transfers: logs };
    return claimedLogs({ ...receipt, ...changes }, { ...terms, targets }, network, disabled);
  };

  it("pays with transfers of the invoice's token to its address, whatever else it contains", () => {
    const others = [log({ to: "c3".repeat(20) }), log({ contract: "d4".repeat(20) })];
    expect(judge([...others, log({ logIndex: 9 })])).to.deep.equal([log({ logIndex: 9 })]);
  });

  it("pays any option of the invoice with its token at its address", () => {
    const other = "c3".repeat(20);
    const targets = [...terms.targets, { address: other, token: "USDC", dust: null }];
    const usdc = log({ to: other, contract: contractOf("USDC") });
    expect(judge([log()], {}, [], targets)).to.deep.equal([log()]);
    expect(judge([usdc], {}, [], targets)).to.deep.equal([usdc]);
    expect(judge([log({ to: other })], {}, [], targets)).to.equal("other_token");
    expect(judge([log({ contract: contractOf("USDC") })], {}, [], targets)).to.equal("other_token");
  });

  it("is otherwise refused with a specific reason", () => {
    expect(judge([], { succeeded: false })).to.equal("failed_transaction");
    expect(judge([])).to.equal("other_address");
    expect(judge([log({ to: "c3".repeat(20) })])).to.equal("other_address");
    expect(judge([log({ contract: "d4".repeat(20) })])).to.equal("other_token");
    expect(judge([log({ contract: contractOf("USDC") })])).to.equal("other_token");
    expect(judge([log()], {}, ["USDT"])).to.equal("token_disabled");
    expect(judge([log({ from: address })])).to.equal("own_transfer");
    expect(judge([log({ amount: 1n })])).to.equal("dust");
    expect(judge([log({ amount: 0n })])).to.equal("other_address");
    const { dust } = network?.tokens.find(({ symbol }) => symbol === "USDT") ?? { dust: 0n };
    expect(judge([log({ amount: dust - 1n })])).to.equal("dust");
    expect(judge([log({ amount: dust })])).to.have.length(1);
    // The operator has raised the dust since the issue.
    const issued = [{ address, token: "USDT", dust: dust - 2n }];
    expect(judge([log({ amount: dust - 2n })], {}, [], issued)).to.have.length(1);
    expect(judge([log({ amount: dust - 3n })], {}, [], issued)).to.equal("dust");
  });

  it("was made before the invoice if it was recorded earlier, or is in the newest block of then or below", () => {
    const marks = [mark.markHash];
    const fault = (changes: Partial<TimedLog>, recordedAt: number | null = null, has = marks) =>
      orderFault(log(changes), recordedAt, terms, has);
    // A sequencer may be behind the clock by any time.
    expect(fault({ blockHeight: 91, blockTime: terms.startsAt - day })).to.equal(null);
    expect(fault({ blockHeight: 90, blockTime: terms.startsAt + day })).to.equal("before_invoice");
    expect(fault({ blockHeight: 91 }, terms.startsAt - 1)).to.equal("before_invoice");
    expect(fault({ blockHeight: 91 }, terms.startsAt)).to.equal(null);
    // On another branch it may have come later.
    expect(fault({ blockHeight: 90 }, null, [])).to.equal(null);
    const old = { ...terms, mark: { ...unmarked } };
    const early = log({ blockHeight: 1, blockTime: terms.startsAt - day });
    expect(orderFault(early, null, old, marks)).to.equal(null);
    expect(fault({ blockTime: terms.endsAt })).to.equal(null);
    expect(fault({ blockTime: terms.endsAt + 1 })).to.equal("after_hold");
  });

  it("is searched for soon at first, then at growing intervals", () => {
    const waits = [0, 1, 2, 9, 10, 500].map((attempts) => retryAt(attempts, 7) - 7);
    expect(waits).to.deep.equal([
      3 * second,
      6 * second,
      12 * second,
      1_536 * second,
      30 * minute,
      30 * minute,
    ]);
  });

  it("is given up after an hour if no provider knows it", () => {
    expect(givenUpAt({ createdAt: 7 })).to.equal(7 + 60 * minute);
  });

  describe("compared with the stored transfers", () => {
    const row = (changes: Partial<TransferRow> = {}): TransferRow => {
      const { from: fromAddress, to: toAddress, ...fields } = log();
      return {
        id: "trf_1",
        network: "ethereum",
        token: "USDT",
        status: "seen",
        isFinal: false,
        organizationId: null,
        invoiceId: null,
        createdAt: 0,
        tokenDecimals: 6,
        disposition: "unmatched",
        waitingReason: null,
        verification: "open",
        ...fields,
        fromAddress,
        toAddress,
        ...changes,
      };
    };

    it("is known if it has the same position", () => {
      const found = compareWithRecord([row()], [log()], 0);
      expect(found).to.deep.equal({
        known: [{ transfer: row(), log: log() }],
        missing: [],
        isPending: false,
      });
    });

    it("is missing only from final blocks, which the watcher does not read again", () => {
      expect(compareWithRecord([], [log()], 100)).to.deep.include({ missing: [log()] });
      expect(compareWithRecord([], [log()], 99)).to.include({ isPending: true });
    });

    it("is unsettled while the watcher has yet to follow it to another block", () => {
      for (const at of [{ status: "orphaned" }, { blockHash: "3".repeat(64) }] as const) {
        const found = compareWithRecord([row(at)], [log()], 1_000);
        expect(found).to.deep.equal({ known: [], missing: [], isPending: true });
      }
    });
  });
});

describe("The result of a submitted transaction", () => {
  type Payment = Pick<PaymentRow, "status"> & Partial<PaymentRow>;

  /** Returns the relation of a transfer of the merchant to an invoice, for which its payments are unless given. */
  const relation = (
    payments: readonly Payment[],
    transfer: Partial<Pick<TransferRow, "invoiceId" | "organizationId">> = {},
  ) =>
    relationOf(
      { invoiceId: "inv_1", organizationId: "org_1" },
      { invoiceId: null, organizationId: "org_1", ...transfer },
      payments.map((changes) => {
        const row = { invoiceId: "inv_1", amount: 25n, refunded: 0n, statusWhenBack: null };
        return { ...row, ...changes } as PaymentRow;
      }),
    );

  it("is that of the invoice's own payment of a transfer, whatever other ones there were", () => {
    const own = (...statuses: readonly PaymentRow["status"][]) =>
      relation(statuses.map((status) => ({ status })));
    expect(own("confirming")).to.equal("credited");
    expect(own("rejected", "confirmed")).to.equal("credited");
    expect(own("review")).to.equal("review");
    expect(own("reverted")).to.equal("review");
    expect(own("rejected")).to.equal("rejected");
    expect(own()).to.equal("free");
  });

  it("is a refusal if the money counts or was returned for another invoice, or is another organization's", () => {
    const of = (payment: Payment) => relation([{ invoiceId: "inv_2", ...payment }]);
    expect(of({ status: "confirmed" })).to.equal("taken");
    expect(of({ status: "rejected", refunded: 1n })).to.equal("taken");
    expect(of({ status: "rejected" })).to.equal("free");
    expect(of({ status: "review" })).to.equal("free");
    expect(relation([], { invoiceId: "inv_2" })).to.equal("taken");
    expect(relation([], { organizationId: "org_2" })).to.equal("taken");
    expect(relation([], { organizationId: null })).to.equal("free");
    expect(relation([{ status: "confirmed" }], { organizationId: "org_2" })).to.equal("credited");
  });

  it("is the best of its transfers, of which free ones go to the merchant's review", () => {
    for (const [relations, state, reason] of [
      [["taken", "taken"], "refused", "taken"],
      [["taken", "rejected"], "refused", "taken"],
      [["rejected", "rejected"], "refused", "rejected"],
      [["taken", "review"], "review", null],
      [["review", "credited"], "credited", null],
      [["taken", "free"], "review", null],
      [["credited", "free"], "review", null],
    ] as const) {
      expect(outcomeOf(relations), relations.join()).to.deep.equal({ state, reason });
    }
  });
});
