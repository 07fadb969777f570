import { expect } from "chai";
import { createApp, type Program } from "../../../src/compose/app.ts";
import { comparedSettings } from "../../../src/compose/servers.ts";
import { serverProbes } from "../../../src/features/admin/status/servers.ts";
import type { Clock } from "../../../src/kernel/clock.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { systemContext } from "../../../src/platform/database/database.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { till } from "../../support/programs/till.ts";
import { eachStore } from "../../support/store/stores.ts";

const account = ["--admin-email", "ada@example.com", "--admin-name", "Ada", "--password-stdin"];
const [one, other] = ["https://pay.example.com", "https://till.example.org/pay"];

eachStore("the settings of running servers", (store) => {
  let installation: Installation;
  const servers: Program[] = [];

  beforeEach(async () => {
    const settings = { TILL_NETWORKS: "sandbox" };
    installation = await makeInstallation(settings, await store.place("migrated"));
    const words = ["init", ...account, "--organization", "Shop"];
    const made = await installation.run(words, "a long password 7");
    expect(made.status, made.stderr).to.equal(0);
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((app) => app.close()));
    await installation.remove();
  });

  function run(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
    return till(words, { env: { ...installation.env, ...more } });
  }

  /** Starts a server without its background work, in this process. */
  async function serve(
    more: Readonly<Record<string, string>> = {},
    clock: Clock = { now: () => Date.now() },
  ): Promise<Program> {
    const env = { ...installation.env, ...more };
    const { config } = await loadConfig({ mode: "serve", env });
    const app = await createApp(config, "migrate", { logger: silentLogger, clock });
    servers.push(app);
    app.listensAt("http://127.0.0.1:4321");
    await app.servers.begin();
    return app;
  }

  /** Creates a payment link; returns its URL without its id. */
  async function link(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const words = [
      "--settlement-currency",
      "USD",
      "--token-symbol",
      "USDT",
      "--network",
      "sandbox",
    ];
    const made = await run(["link", "create", ...words, "--amount", "5", "--json"], more);
    expect(made.code, made.stderr).to.equal(0);
    return (JSON.parse(made.stdout) as { url: string }).url.replace(/\/link\/lnk_\w+$/, "");
  }

  async function differences(more: Readonly<Record<string, string>> = {}) {
    const { code, stdout, stderr } = await run(["config", "check", "--json"], more);
    expect(code, stderr).to.equal(0);
    const { ok, differences } = JSON.parse(stdout) as {
      ok: boolean;
      differences: { setting: string; own: string; server: string }[];
    };
    expect(ok).to.equal(true);
    const strict = await run(["config", "check", "--same-as-server", "--json"], more);
    const isSame = differences.length === 0;
    expect(strict.code).to.equal(isSame ? 0 : 6);
    expect(JSON.parse(strict.stdout)).to.deep.include({ ok: isSame, differences });
    return differences.map(({ setting, own, server }) => [setting, own, server]);
  }

  it("decide with what the links of commands begin, also after the server has ended", async () => {
    const app = await serve({ TILL_BASE_URL: one });
    expect(await link()).to.equal(one);
    await app.close();
    expect(await link()).to.equal(one);
    const said = await run(["link", "list"], { TILL_BASE_URL: other });
    expect(said.stderr.split("\n").filter((line) => line.includes(other))).to.have.length(1);
    const same = await run(["link", "list"], { TILL_BASE_URL: one });
    expect(same.stderr).not.to.include(one);
    await serve({ TILL_BASE_URL: other });
    expect(await link({ TILL_BASE_URL: one })).to.equal(other);
  });

  it("decide on which networks commands issue, as long as the server runs", async () => {
    const more = { TILL_NETWORKS: "tron,base" };
    const terms = ["--settlement-currency", "USD", "--token-symbol", "USDT", "--amount", "5"];
    const create = (network: string) =>
      run(["link", "create", ...terms, "--network", network], more);
    const refused = await create("sandbox");
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include("tron, base").and.not.to.include("running server");
    const app = await serve();
    const made = await create("sandbox");
    expect(made.code, made.stderr).to.equal(0);
    const note =
      "The running server's networks count: sandbox; this command's TILL_NETWORKS is base,tron.";
    expect(made.stderr.split("\n").filter((line) => line === note)).to.have.length(1);
    const other = await create("tron");
    expect(other.code).to.equal(1);
    expect(other.stderr).to.include("networks: sandbox").and.include(note);
    // Lists follow too.
    const shown = await run(["chain", "status"], more);
    expect(shown.stdout + shown.stderr).to.include(note);
    await app.close();
    expect((await create("sandbox")).code).to.equal(1);
  });

  /** Puts other settings in the place of those that a server recorded. */
  async function record(
    app: Program,
    more: { version?: string; networks?: string[] },
  ): Promise<void> {
    const settings = { ...comparedSettings(app.config, one), startedAt: Date.now(), ...more };
    await app.db.write(systemContext("servers"), (tx) =>
      tx.update(serverProbes, { settings }, "WHERE server = $1", [app.servers.name]),
    );
  }

  it("keep a command from guessing about networks that only the server knows", async () => {
    const app = await serve();
    const create = ["key", "create", "--name", "Shop", "--scopes", "read", "--json"];
    const terms = ["--settlement-currency", "USD", "--token-symbol", "USDT", "--amount", "5"];
    await record(app, { networks: ["sandbox", "wood"] });
    for (const words of [
      ["chain", "status"],
      ["chain", "status", "--probe"],
      ["chain", "scan", "--network", "wood", "--from", "1", "--to", "2", "--yes"],
      [
        "wallet",
        "add",
        "--network",
        "wood",
        "--label",
        "Till",
        "--address",
        `0x${"ab".repeat(20)}`,
        "--yes",
      ],
      ["link", "create", ...terms, "--network", "wood"],
      ["invoice", "create", ...terms, "--network", "wood"],
    ]) {
      const refused = await run(words);
      expect(refused.code, `${words.join(" ")}: ${refused.stderr}`).to.equal(78);
      expect(refused.stdout).to.equal("");
      expect(refused.stderr).to.include("wood").and.include("TILL_NETWORKS_FILE");
    }
    // All others work, and say in a line which networks they do without.
    const unlisted = "Not in this command's network table: wood.";
    for (const words of [
      ["org", "list"],
      ["payments", "list"],
      ["customer", "add", "--name", "Ann"],
      ["link", "create", ...terms, "--network", "sandbox"],
      create,
    ]) {
      const done = await run(words);
      expect(done.code, `${words.join(" ")}: ${done.stderr}`).to.equal(0);
      // Nothing says that the money of an unknown network has no value.
      if (words === create) expect(done.stdout).to.include("till_live_");
      if (words.includes("add")) expect(done.stderr).to.include(unlisted);
    }
    // Without a network, nothing says that money has no value.
    await record(app, { networks: [] });
    const made = await run(create);
    expect(made.code, made.stderr).to.equal(0);
    expect(made.stdout).to.include("till_live_").and.not.to.include("till_test_");
  });

  it("include the version, of which a command of another one speaks", async () => {
    const app = await serve();
    await record(app, { version: "0.0.9" });
    const said = await run(["org", "list"]);
    expect(said.code).to.equal(0);
    expect(said.stderr).to.match(/^The running server is Till 0\.0\.9, this command \d\S+\.$/m);
  });

  it("are compared by config check while they run, and not once they ended or were killed", async () => {
    const app = await serve({ TILL_BASE_URL: one });
    expect(await differences({ TILL_BASE_URL: one })).to.deep.equal([]);
    expect(await differences()).to.deep.equal([["TILL_BASE_URL", "not set", one]]);
    const more = { TILL_BASE_URL: other, TILL_NETWORKS: "tron,base" };
    expect(await differences(more)).to.deep.equal([
      ["TILL_BASE_URL", other, one],
      ["TILL_NETWORKS", "base,tron", "sandbox"],
    ]);
    for (const [flags, code] of [
      [[], 0],
      [["--same-as-server"], 6],
    ] as const) {
      const said = await run(["config", "check", ...flags], more);
      expect(said.code, said.stderr).to.equal(code);
      expect(said.stderr).to.match(/The server that has run since \S+ differs in TILL_NETWORKS: /);
    }
    await app.close();
    expect(await differences(more)).to.deep.equal([]);
    // A killed server reports no more, and its row is not marked.
    await serve({}, { now: () => Date.now() - 61_000 });
    expect(await differences(more)).to.deep.equal([]);
  });

  it("are compared by a server that starts beside another one", async () => {
    await serve({ TILL_BASE_URL: one });
    const second = await serve({ TILL_BASE_URL: other });
    const found = (await second.servers.differences()).map(({ setting }) => setting);
    // A SQLite store has only one server, so the first one was killed.
    expect(found).to.deep.equal(store.dialect === "sqlite" ? [] : ["TILL_BASE_URL"]);
  });
});
