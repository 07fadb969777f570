import { expect } from "chai";
import { logIn } from "../../src/features/auth/login.ts";
import { createApp } from "../../src/compose/app.ts";
import { testWebhookEndpoint } from "../../src/features/webhooks/deliveries.ts";
import { createWebhookEndpoint } from "../../src/features/webhooks/endpoints.ts";
import type { Id } from "../../src/kernel/id.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../support/store/postgres.ts";
import { init, password, till, useFolders } from "../support/programs/till.ts";
import { context } from "./billing-operator.ts";

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

  it("ends logins, replays the undelivered webhooks of a period once, and adds up credits", async () => {
    const env = { ...(await settings()), TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" };
    await init([], { env });
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await till([...words, "--json"], { env });
      expect(code, stderr).to.equal(0);
      return (JSON.parse(stdout) as { data: { id: string }[] }).data;
    };
    const { config } = await loadConfig({ mode: "cli", env });
    const app = await createApp(config, "use", { logger: silentLogger });
    try {
      const own = (await till(["org", "list", "-q"], { env })).stdout.trim() as Id<"organization">;
      await logIn(app, context, { email: "ada@example.com", password });
      const endpoint = { url: "http://127.0.0.1:9/hook" };
      const made = await createWebhookEndpoint(app, context, own, endpoint);
      await testWebhookEndpoint(app, context, own, made.endpoint.id);
      await app.db.write(context, (tx) =>
        tx.run(
          "UPDATE webhook_deliveries SET status = 'dead_letter', due_at = NULL, completed_at = $1",
          [app.clock.now()],
        ),
      );
      const [session] = await run("session", "list");
      await till(["session", "end", session?.id ?? "", "--yes"], { env });
      expect(await run("session", "list")).to.deep.equal([]);
      expect(await run("queue", "failed")).to.have.length(1);
      const replay = ["webhook", "replay", "--organization", own, "--from", "2020-01-01T00:00:00Z"];
      expect(await run(...replay, "--yes")).to.have.length(1);
      expect(await run(...replay, "--yes")).to.deep.equal([]);
      const credit = ["billing", "credit", "5.00", "--currency", "USD", "--reason", "Outage"];
      await till([...credit, "--yes"], { env });
      const { stderr } = await till([...credit, "--dry-run"], { env });
      expect(stderr).to.match(/Usable credit +5\.00 USD → 10\.00 USD/);
    } finally {
      await app.close();
    }
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
