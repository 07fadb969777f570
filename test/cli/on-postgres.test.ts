import { expect } from "chai";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../support/store/postgres.ts";
import { init, till, useFolders } from "../support/programs/till.ts";

describeOnPostgres("the command line on postgres", () => {
  const folders = useFolders();
  const made: string[] = [];
  after(async () => {
    await Promise.all(made.map(dropDatabase));
  });

  async function settings(): Promise<Record<string, string>> {
    const url = await freshDatabase();
    made.push(url);
    return {
      DATABASE_URL: url,
      TILL_SECRET: "a secret of the tests, longer than thirty-two bytes",
      TILL_DATA_DIR: await folders.make(),
    };
  }

  it("initializes PostgreSQL once, and works on it from any folder", async () => {
    const env = await settings();
    const early = await till(["org", "list"], { env });
    expect(early.code).to.equal(5);
    expect(early.stderr).to.include("till init");
    expect((await till(["db", "migrate"], { env })).code).to.equal(5);

    const both = await Promise.all([init([], { env }), init([], { env })]);
    expect(both.map(({ code }) => code).sort()).to.deep.equal([0, 6]);
    expect((await init([], { env })).code).to.equal(6);

    const { code, stdout } = await till(["org", "list", "--json"], { env });
    expect(code).to.equal(0);
    expect((JSON.parse(stdout) as { data: unknown[] }).data).to.have.length(1);
    const found = await till(["org", "list", "--search", "SHO", "--quiet"], { env });
    expect(found.stdout).to.match(/^org_\w+\n$/);
    expect((await till(["org", "list", "--search", "_", "-q"], { env })).stdout).to.equal("");
    expect((await till(["db", "migrate", "--json"], { env })).stdout).to.equal(
      `${JSON.stringify({ applied: [], backup: null })}\n`,
    );
  });

  it("lists users, never suspends the platform, and verifies the audit log", async () => {
    const env = await settings();
    await init([], { env });
    const made = ["user", "create", "--email", "bo@example.com", "--name", "Bo"];
    const stdin = "another long password 9";
    expect((await till([...made, "--password-stdin"], { env, stdin })).code).to.equal(0);
    const users = await till(["user", "list", "--json"], { env });
    const { data } = JSON.parse(users.stdout) as { data: { platformRole: string }[] };
    expect(data.map(({ platformRole }) => platformRole)).to.deep.equal(["none", "admin"]);
    const own = (await till(["org", "list", "-q"], { env })).stdout.trim();
    expect((await till(["org", "suspend", own, "--yes"], { env })).code).to.equal(6);
    const head = await till(["audit", "verify", "-q"], { env });
    expect(head.code, head.stderr).to.equal(0);
    const kept = ["audit", "verify", "--head", head.stdout.trim()];
    expect((await till(kept, { env })).code).to.equal(0);
    expect((await till(["analytics", "summary", "--json"], { env })).code).to.equal(0);
  });

  it("refuses the secret of another store", async () => {
    const env = await settings();
    expect((await init([], { env })).code).to.equal(0);
    const other = { ...env, TILL_SECRET: "another secret, just as long as the first one was" };
    const { code, stderr } = await till(["org", "list"], { env: other });
    expect(code).to.equal(78);
    expect(stderr).to.include("TILL_SECRET").and.not.include("just as long");
  });
});
