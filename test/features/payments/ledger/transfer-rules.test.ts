import { expect } from "chai";
import type { TimedLog } from "../../../../src/features/payments/ledger/chain-diff.ts";
import {
  changedTransfers,
  creditFault,
  isWorthless,
  takesDust,
} from "../../../../src/features/payments/ledger/transfer-rules.ts";
import type { ChainDiffInput } from "../../../../src/features/payments/ledger/types.ts";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { aQuote } from "../../../support/quotes.ts";

const network = testNetworks("ethereum").get("ethereum") ?? expect.fail("no network");
const [token, other] = network.tokens;
if (token === undefined || other === undefined) throw new Error("there are no two tokens");

describe("A transfer", () => {
  const log = (transactionHash: string, changes: Partial<TimedLog> = {}): TimedLog => ({
    transactionHash,
    logIndex: 4,
    ordinal: 0,
    blockHeight: 100,
    blockHash: "b100",
    blockTime: 5_000,
    isTimeAgreed: true,
    contract: token.contract,
    from: "payer",
    to: "shop",
    amount: token.dust,
    ...changes,
  });

  /** The changed transfers of some new logs and of moved transfers, by their transactions. */
  function changed(
    fresh: readonly TimedLog[],
    moved: readonly (readonly [Partial<TransferRow>, TimedLog])[] = [],
    disabledTokens: readonly string[] = [],
  ) {
    let ids = 0;
    const found = changedTransfers(
      { next: (kind: string) => `${kind}_${String((ids += 1))}` } as never,
      {
        network,
        at: 9_000,
        state: { disabledTokens },
        difference: {
          fresh,
          moved: moved.map(([transfer, to]) => ({ transfer, log: to })),
          orphaned: [],
        },
      } as unknown as ChainDiffInput,
    );
    const rows = [...found.fresh, ...found.moved];
    const named = (of: ReadonlySet<string>) =>
      rows.filter(({ id }) => of.has(id)).map(({ transactionHash }) => transactionHash);
    return { rows, creditable: named(found.creditable), doubtful: named(found.uncertain) };
  }

  it("is worth nothing below the token's dust, or if its address sent it to itself", () => {
    const given = { amount: token.dust, from: "payer", to: "shop" };
    expect(isWorthless(token, given)).to.equal(false);
    expect(isWorthless(token, { ...given, amount: token.dust - 1n })).to.equal(true);
    expect(isWorthless(token, { ...given, from: "shop" })).to.equal(true);
  });

  it("cannot be credited if it is worth nothing, or its token is disabled or not configured", () => {
    const fault = (changes: Partial<TransferRow>, disabledTokens: readonly string[] = []) => {
      const own = {
        token: token.symbol,
        amount: token.dust,
        fromAddress: "payer",
        toAddress: "shop",
      };
      return creditFault({ ...own, ...changes }, network, disabledTokens);
    };
    expect(fault({})).to.equal(null);
    expect(fault({}, [other.symbol])).to.equal(null);
    expect(fault({}, [token.symbol])).to.equal("token_disabled");
    expect(fault({ token: "GONE" })).to.equal("token_disabled");
    expect(fault({ amount: token.dust - 1n })).to.equal("worthless");
    expect(fault({ fromAddress: "shop" })).to.equal("worthless");
  });

  it("is open when it is new, and ignored if it is worth nothing", () => {
    const { rows, creditable, doubtful } = changed([
      log("whole"),
      log("dust", { amount: token.dust - 1n }),
      log("own", { from: "shop" }),
      log("alone", { isTimeAgreed: false }),
    ]);
    const states = rows.map((row) => [row.transactionHash, row.disposition, row.verification]);
    expect(states).to.deep.equal([
      ["whole", "unmatched", "open"],
      ["dust", "ignored", "skipped"],
      ["own", "ignored", "skipped"],
      ["alone", "unmatched", "open"],
    ]);
    expect(rows[0]).to.include({
      network: network.id,
      token: token.symbol,
      status: "seen",
      isFinal: false,
      blockHash: "b100",
      organizationId: null,
      invoiceId: null,
      createdAt: 9_000,
    });
    expect(creditable).to.deep.equal(["whole", "alone"]);
    expect(doubtful).to.deep.equal(["alone"]);
  });

  it("is seen at its new position when it moves, and verified again in another block only", () => {
    const row = (transactionHash: string, changes: Partial<TransferRow> = {}) =>
      ({
        transactionHash,
        id: `trf_${transactionHash}`,
        token: token.symbol,
        amount: token.dust,
        fromAddress: "payer",
        toAddress: "shop",
        status: "orphaned",
        blockHash: "b99",
        verification: "verified",
        ...changes,
      }) as Partial<TransferRow>;
    const { rows, creditable } = changed(
      [],
      [
        [row("moved"), log("moved")],
        [row("back", { blockHash: "b100" }), log("back")],
        [row("skipped", { verification: "skipped" }), log("skipped")],
      ],
    );
    expect(rows.map(({ verification }) => verification)).to.deep.equal([
      "open",
      "verified",
      "skipped",
    ]);
    for (const each of rows) {
      expect(each).to.include({ status: "seen", blockHash: "b100", blockHeight: 100 });
    }
    expect(creditable).to.have.length(3);
    expect(changed([], [[row("moved"), log("moved")]], [token.symbol]).creditable).to.deep.equal(
      [],
    );
  });
});

describe("A transfer that is dust since the operator has raised the token's dust", () => {
  const usdt = { network: "ethereum", token: "USDT" } as const;
  /** An invoice of 25.00 USDT that was issued with a dust of 0.50, and of which 24.70 are paid; USDC on BSC has none. */
  const terms = {
    network: "ethereum",
    tokenSymbol: "USDT",
    remainingAmount: 300_000n,
    quotes: [
      aQuote({ payableAmount: 25_000_000n, dustAmount: 500_000n }),
      aQuote({ payableAmount: 25_000_000n, network: "bsc", tokenSymbol: "USDC" }),
    ],
  };
  const takes = (
    transfer: { readonly network?: string; readonly token?: string; readonly amount: bigint },
    rule: Parameters<typeof takesDust>[0]["rule"] = "exclusive_address",
  ) => takesDust({ rule }, terms, { ...usdt, ...transfer });

  it("pays an invoice whose own dust it reaches", () => {
    expect(takes({ amount: 500_000n })).to.equal(true);
    expect(takes({ amount: 500_001n })).to.equal(true);
    expect(takes({ amount: 499_999n })).to.equal(false);
    expect(takes({ amount: 499_999n }, "within_tolerance")).to.equal(false);
  });

  it("pays an invoice that asks for exactly this amount of this token on this network", () => {
    expect(takes({ amount: 300_000n })).to.equal(true);
    expect(takes({ amount: 299_999n })).to.equal(false);
    expect(takes({ amount: 300_001n })).to.equal(false);
    expect(takes({ amount: 300_000n, token: "USDC" })).to.equal(false);
    expect(takes({ amount: 300_000n, network: "bsc" })).to.equal(false);
    // The rest in an option that is not in force may be another amount.
    expect(takes({ amount: 300_000n, network: "bsc", token: "USDC" })).to.equal(false);
    // A hold on a shared address reserves exactly what is asked for, whatever its token.
    expect(takes({ amount: 1n, network: "bsc", token: "USDC" }, "exact_amount")).to.equal(true);
  });
});
