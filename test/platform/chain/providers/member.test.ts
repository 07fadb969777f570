// The record that a pool keeps of a provider: only of calls that the provider was asked.
import { expect } from "chai";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { makePoolMember } from "../../../../src/platform/chain/providers/member.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { testNetworks } from "../../../support/merchants.ts";

describe("A provider of a pool", () => {
  it("has not answered a request that Till itself refuses because of its limits", async () => {
    const network = testNetworks("ethereum").get("ethereum");
    if (network === undefined) throw new Error("no such network");
    let now = 1_000_000;
    const clock = { now: () => now };
    const provider = "https://node.example";
    const member = makePoolMember(
      {
        network,
        clock,
        random: () => 0.5,
        alarms: createAlarms({ clock, logger: silentLogger }),
        providers: 1,
        onLeft: () => undefined,
      },
      {
        client: {
          provider,
          chainId: () => Promise.resolve(network.chainId),
        } as Partial<ChainClient> as ChainClient,
        budget: null,
      },
      0,
    );
    const ask = (error: ProviderError) =>
      member
        .ask(
          "transfers",
          () => Promise.reject(error),
          ({ kind }) => kind === "range_too_large",
        )
        .then(
          () => "answered",
          (thrown: unknown) => thrown,
        );
    const details = { kind: "range_too_large", provider } as const;
    const unasked = new ProviderError("too many blocks", { ...details, isUnasked: true });
    const refused = new ProviderError("too many blocks", details);
    const answeredAt = () => member.health(0, true).answeredAt;
    // Its chain is asked for first.
    expect(await ask(unasked)).to.equal(unasked);
    const first = now;
    expect(answeredAt()).to.equal(first);
    now += 3_600_000;
    expect(await ask(unasked)).to.equal(unasked);
    expect(answeredAt()).to.equal(first);
    expect(await ask(refused)).to.equal(refused);
    expect(answeredAt()).to.equal(now);
    expect(member.health(0, true).lastError).to.equal(null);
  });
});
