import { expect } from "chai";
import { encodeCall } from "../abi.ts";
import { startAnvil, type Anvil } from "../anvil.ts";
import { describeOnAnvil } from "../../suites/describe-on-anvil.ts";
import { compileContracts } from "./compile.ts";
import { committedContracts, runtimeBytecode } from "./compiled.ts";

describe("the compiled contracts", () => {
  it("are what the source compiles to", () => {
    expect(compileContracts()).to.deep.equal(committedContracts());
  });

  it("name a contract that is missing", () => {
    expect(() => runtimeBytecode("Nothing")).to.throw("Nothing");
  });
});

describeOnAnvil("a contract that is deployed", () => {
  let anvil: Anvil;

  before(async () => {
    anvil = await startAnvil({ chainId: 1 });
  });
  after(() => anvil.stop());

  it("leaves at its address the code that the lab puts there", async () => {
    for (const [name, { bytecode }] of Object.entries(committedContracts().contracts)) {
      const [from] = anvil.accounts;
      const hash = await anvil.rpc("eth_sendTransaction", [{ from, data: bytecode }]);
      await anvil.receipt(hash as string);
      const receipt = await anvil.rpc("eth_getTransactionReceipt", [hash]);
      const { contractAddress } = receipt as { contractAddress: string };
      expect(await anvil.rpc("eth_getCode", [contractAddress, "latest"]), name).to.equal(
        runtimeBytecode(name),
      );
    }
  });

  it("answers its constants without any storage", async () => {
    const answers: Record<string, unknown> = {};
    for (const name of ["UsdtLike", "UsdtLike18", "FakeUsdt"]) {
      const at = "0x1234123412341234123412341234123412341234";
      await anvil.rpc("anvil_setCode", [at, runtimeBytecode(name)]);
      const request = { to: at, data: encodeCall("decimals()", []) };
      answers[name] = Number(await anvil.rpc("eth_call", [request, "latest"]));
    }
    expect(answers).to.deep.equal({ UsdtLike: 6, UsdtLike18: 18, FakeUsdt: 6 });
  });
});
