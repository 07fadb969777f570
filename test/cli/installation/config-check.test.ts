import { expect } from "chai";
import { makeDesk } from "../billing-operator.ts";

describe("till config check", () => {
  const desk = makeDesk({ TILL_NETWORKS: "tron,base" });

  it("warns of networks with a single provider, and of no others", async () => {
    const store = await desk.store();
    const env = { TILL_TRON_RPC_URLS: "http://127.0.0.1:1/jsonrpc" };
    const alone = await store.till(["config", "check"], { env });
    expect(alone.code).to.equal(0);
    expect(alone.stderr).to.include("The settings are valid");
    expect(alone.stderr).to.include("Warning: TRON has only one provider");
    expect(alone.stderr).not.to.include("Base");
    const { warnings } = (await store.json(["config", "check"], { env })) as {
      warnings: readonly string[];
    };
    expect(warnings.filter((warning) => warning.includes("only one provider"))).to.have.length(1);
    const shipped = await store.till(["config", "check"]);
    expect(shipped.stderr)
      .to.include("The settings are valid")
      .and.not.to.include("only one provider");
  });
});
