import { expect } from "chai";
import { waitingReasonWords } from "../../../../src/features/payments/inbox/status.ts";
import type {
  Suggestion,
  SuggestionReason,
} from "../../../../src/features/payments/inbox/suggestions.ts";
import { triage } from "../../../../src/features/payments/inbox/triage.ts";
import { notFound } from "../../../../src/kernel/errors.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { testContext } from "../../../support/store/stores.ts";
import { transferView } from "./transfer-view.ts";

/** A person's answers about transfers, or an error that the decision meets. */
async function decide(answers: readonly string[], failure: Error | null = null) {
  const said: string[] = [];
  const did: unknown[] = [];
  const left = [...answers];
  const act = (...what: unknown[]) => {
    if (failure !== null) return Promise.reject(failure);
    did.push(what);
    return Promise.resolve();
  };
  const ids = ["trf_1", "trf_2", "trf_3", "trf_4"] as const;
  await triage(
    {
      // Somebody else has decided about the second one.
      get: (_organization: unknown, id: Id<"transfer">) =>
        Promise.resolve(
          transferView({
            transfer: {
              id,
              disposition: id === "trf_2" ? "ignored" : "unmatched",
              waitingReason: id === "trf_3" ? "own_wallet" : null,
            },
            payments: [{ status: id === "trf_3" ? "rejected" : "confirming" }],
          }),
        ),
      ignore: (_context: unknown, _organization: unknown, id: string) => act("ignore", id),
      allocate: (_context: unknown, _organization: unknown, id: string, parts: unknown) =>
        act("allocate", id, parts),
    } as never,
    { context: testContext },
    "org_1",
    ids,
    {
      say: (text) => said.push(text),
      choose: <T extends string>() => Promise.resolve((left.shift() ?? "stop") as T),
    },
  );
  return { said, did };
}

describe("The questions about transfers in the inbox", () => {
  it("are asked about each that is still unmatched, and lead to what the person answers", async () => {
    const { said, did } = await decide(["inv_9", "ignore", "skip"]);
    expect(did).to.deep.equal([
      ["allocate", "trf_1", [{ invoiceId: "inv_9", amount: "15.00" }]],
      ["ignore", "trf_3"],
    ]);
    expect(said).to.have.length(4);
    expect(said.map((text) => /\d of 4: [\d.]+/.exec(text)?.[0])).to.deep.equal([
      "1 of 4: 15.00",
      "3 of 4: 25.00",
      "4 of 4: 15.00",
      undefined,
    ]);
    // The payer of a rejected payment may be owed its money.
    expect(said.map((text) => text.includes("till refund create pay_1"))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    expect(said.map((text) => text.includes(waitingReasonWords.own_wallet))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    expect(said[3]).to.equal("Done: 1 allocated, 1 ignored, 1 skipped.");
  });

  it("offer an invoice that was issued after the transfer only after skipping, which is then the default", async () => {
    const suggestion = (id: string, ...reasons: SuggestionReason[]) =>
      ({ invoice: { id, remainingAmount: 1n }, amount: 1n, reasons }) as unknown as Suggestion;
    const late = suggestion("inv_late", "same_amount", "issued_afterwards");
    const choices = async (...suggestions: Suggestion[]) => {
      const offered: string[][] = [];
      await triage(
        { get: () => Promise.resolve(transferView({ suggestions })) } as never,
        { context: testContext },
        "org_1",
        ["trf_1"],
        {
          say: () => undefined,
          choose: (_question, given) => {
            offered.push(given.map(({ value }) => value));
            return Promise.resolve("stop" as never);
          },
        },
      );
      return offered[0];
    };
    expect(await choices(late)).to.deep.equal(["skip", "inv_late", "ignore", "stop"]);
    expect(await choices(suggestion("inv_1", "close_amount"), late)).to.deep.equal([
      "inv_1",
      "skip",
      "inv_late",
      "ignore",
      "stop",
    ]);
  });

  it("end when the person stops", async () => {
    const { said, did } = await decide(["skip", "stop", "ignore"]);
    expect(did).to.deep.equal([]);
    expect(said.at(-1)).to.equal("Done: 0 allocated, 0 ignored, 1 skipped.");
  });

  it("go on after a refused decision, which is explained and not counted, but not after a defect", async () => {
    const { said } = await decide(["inv_9", "ignore", "skip"], notFound());
    const { title } = notFound();
    expect(said.filter((text) => text.startsWith(`${title}. `))).to.have.length(2);
    expect(said.at(-1)).to.equal("Done: 0 allocated, 0 ignored, 1 skipped.");
    const defect = new Error("a defect");
    expect(await decide(["ignore"], defect).catch((error: unknown) => error)).to.equal(defect);
  });
});
