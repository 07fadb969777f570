import { expect } from "chai";
import type { DeliveryView } from "../../../src/features/webhooks/delivery/store.ts";
import type { CommandCall } from "../../../src/http/declare/command.ts";
import {
  faultOf,
  periodOf,
  replayAll,
  webhookCommands,
  type PeriodReplay,
} from "../../../src/features/webhooks/commands.ts";
import { notFound } from "../../../src/kernel/errors.ts";

const found = Array.from(
  { length: 12 },
  (_, place) => ({ id: `whd_${String(place)}` }) as DeliveryView,
);

/** Replays all of `found`; `replay` gives the result of each. */
function replayWith(
  replay: (id: string) => Promise<DeliveryView>,
  isInterrupted: () => boolean = () => false,
) {
  const call = {
    attempt: <T>(write: Promise<T>) => write,
    interruptible: <T>(work: (asked: () => boolean) => Promise<T>) => work(isInterrupted),
  };
  return replayAll(replay, call, found);
}
const replayed = (id: string) => Promise.resolve({ replayOf: id } as DeliveryView);
const names = (deliveries: readonly DeliveryView[]) => deliveries.map(({ replayOf }) => replayOf);

describe("The replay of a period", () => {
  it("replays all deliveries in order, without a fault", async () => {
    const result = await replayWith(replayed);
    expect(names(result.deliveries)).to.deep.equal(found.map(({ id }) => id));
    expect(result).to.deep.include({ refused: [], isInterrupted: false });
    expect(faultOf(result)).to.equal(null);
  });

  it("continues after a refused one, and names ten of those", async () => {
    const some = await replayWith((id) =>
      id === "whd_1" ? Promise.reject(notFound()) : replayed(id),
    );
    expect(some.deliveries).to.have.length(11);
    expect(some.refused.map(({ delivery }) => delivery.id)).to.deep.equal(["whd_1"]);
    expect(faultOf(some)).to.have.property("code", "not_all_replayed");
    expect(faultOf(some)?.message).to.match(/^1 delivery was refused:\n {2}whd_1: [^\n]+$/);
    const none = await replayWith(() => Promise.reject(notFound()));
    expect(none).to.deep.include({ deliveries: [], isInterrupted: false });
    const lines = faultOf(none)?.message.split("\n") ?? [];
    expect(lines).to.have.length(12);
    expect([lines[0], lines[11]]).to.deep.equal(["12 deliveries were refused:", "  …"]);
    const ten = faultOf({ ...none, refused: none.refused.slice(0, 10) });
    expect(ten?.message.split("\n")).to.have.length(11);
  });

  it("ends between two deliveries on Ctrl-C, and on a failure that is not a refusal", async () => {
    let asked = 0;
    const stopped = await replayWith(replayed, () => (asked += 1) > 2);
    expect(names(stopped.deliveries)).to.deep.equal(["whd_0", "whd_1"]);
    expect(stopped.isInterrupted).to.equal(true);
    expect(faultOf(stopped)).to.have.property("name", "Interrupted");
    const failure = new Error("the store is away");
    const failed = replayWith(() => Promise.reject(failure));
    expect(await failed.catch((error: unknown) => error)).to.equal(failure);
  });
});

/** A call with these flags. */
const callWith = (flags: Readonly<Record<string, string>>) =>
  ({
    flag: (name: string) => flags[name],
    parse: (schema: { parse: (input: unknown) => unknown }, input: unknown) => schema.parse(input),
  }) as unknown as CommandCall;

describe("The period of a replay", () => {
  const from = "2031-01-31T08:00:00Z";
  const to = "2031-01-31T12:00:00Z";

  it("begins with --from, and ends before --to or not at all", () => {
    const period = { status: "dead_letter", from: Date.parse(from), to: null };
    expect(periodOf(callWith({ from }))).to.deep.equal({ ...period, webhookEndpointId: undefined });
    const endpoint = `wep_${"0".repeat(26)}`;
    expect(periodOf(callWith({ from, to, status: "succeeded", endpoint }))).to.deep.equal({
      status: "succeeded",
      from: Date.parse(from),
      to: Date.parse(to),
      webhookEndpointId: endpoint,
    });
  });

  it("is refused without a beginning, and unless it begins before it ends", () => {
    expect(() => periodOf(callWith({ to }))).to.throw("Give the id of a delivery");
    for (const end of [from, "2031-01-31T07:00:00Z"]) {
      expect(() => periodOf(callWith({ from, to: end }))).to.throw("--from must be before --to.");
    }
  });
});

describe("The summary of a replay", () => {
  interface Asked {
    readonly flags?: Readonly<Record<string, string>>;
    readonly isTrial?: boolean;
    readonly refused?: number;
  }
  const command = webhookCommands.find(({ name }) => name === "webhook replay");
  const summaryOf = (
    endpoints: readonly string[],
    { flags = {}, isTrial = false, refused = 0 }: Asked = {},
  ) => {
    const result: PeriodReplay = {
      deliveries: endpoints.map((endpointId) => ({ endpointId }) as DeliveryView),
      refused: found.slice(0, refused).map((delivery) => ({ delivery, reason: "refused" })),
      isInterrupted: false,
    };
    return command?.summarize?.(result, callWith({ from: "2031-01-31", ...flags }), isTrial);
  };

  it("counts the deliveries, and those of each endpoint", () => {
    const summary = summaryOf(["wep_1", "wep_2", "wep_1"]);
    expect(summary?.text).to.equal("3 deliveries of 2 endpoints are sent again.");
    expect(summary?.sections[0]?.items).to.deep.equal([
      { webhookEndpointId: "wep_1", count: 2 },
      { webhookEndpointId: "wep_2", count: 1 },
    ]);
    expect(summaryOf(["wep_1"])?.text).to.equal("1 delivery of 1 endpoint is sent again.");
    const trial = summaryOf(["wep_1"], { isTrial: true });
    expect(trial?.text).to.equal("1 delivery of 1 endpoint would be sent again.");
    const refused = summaryOf([], { refused: 2 });
    expect(refused?.text).to.equal("0 deliveries of 0 endpoints are sent again.");
    const one = summaryOf(["wep_1"], { refused: 1 });
    expect(one?.text).to.equal("1 delivery of 1 endpoint is sent again.");
  });

  it("names the period and the status without any delivery, and the command that lists others", () => {
    expect(summaryOf([])?.text).to.equal(
      "No delivery with the status dead_letter since 2031-01-31 matches, or each was sent again.",
    );
    const flags = { to: "2031-02-01", status: "succeeded" };
    expect(summaryOf([], { flags })?.text).to.equal(
      "No delivery with the status succeeded since 2031-01-31 and before 2031-02-01 matches, or each was sent again.",
    );
    const next = (count: number) => command?.next?.({ data: found.slice(0, count) }, callWith({}));
    expect(next(0)).to.equal("till webhook deliveries lists what there is");
    expect(next(1)).to.include("shows the result");
    expect(command?.next?.({ id: "whd_1" }, callWith({}))).to.include("shows the result");
  });
});
