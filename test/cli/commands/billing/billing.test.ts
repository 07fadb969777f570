import { expect } from "chai";
import { makeInstallation, type Installation } from "../../../support/programs/program.ts";

describe("billing on the command line", () => {
  let till: Installation;
  let organization: string;

  before(async () => {
    till = await makeInstallation({ TILL_NETWORKS: "sandbox" });
    const made = await till.run(
      [
        ...["init", "--admin-email", "ada@example.com", "--admin-name", "Ada"],
        ...["--organization", "Platform", "--password-stdin", "--json"],
      ],
      "a long password of the tests 7\n",
    );
    expect(made.status, made.stderr).to.equal(0);
    organization = (JSON.parse(made.stdout) as { organization: { id: string } }).organization.id;
  });
  after(() => till.remove());

  const run = (...words: string[]) =>
    till.run(["billing", ...words, "--organization", organization]);
  const amountsOf = (json: string) =>
    (JSON.parse(json) as { data: { amount: string }[] }).data.map(({ amount }) => amount);

  it("grants nothing without confirmation, and nothing in a dry run", async () => {
    const credit = ["credit", "25.00", "--currency", "USD", "--reason", "Outage"];
    expect((await run(...credit)).status).to.not.equal(0);
    const tried = await run(...credit, "--dry-run", "--json");
    expect(JSON.parse(tried.stdout)).to.include({ amount: "25.00", status: "available" });
    expect(amountsOf((await run("credits", "--json")).stdout)).to.deep.equal([]);
    const granted = await run(...credit, "--yes", "--json");
    expect(granted.status, granted.stderr).to.equal(0);
    expect(amountsOf((await run("credits", "--json")).stdout)).to.deep.equal(["25.00"]);
  });

  it("names the wrong flag, and requires a reason", async () => {
    const wrong = await run("adjust", "--amount=0", "--currency", "USD", "--reason", "x", "--yes");
    expect(wrong.status).to.equal(2);
    expect(wrong.stderr).to.contain("--amount must not be zero");
    const silent = await run("discount", "15", "--yes");
    expect(silent.status).to.equal(2);
    expect(silent.stderr).to.contain("--reason");
  });
});
