import { chmod, readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { createApp, type Program } from "../../../src/compose/app.ts";
import { jobs } from "../../../src/platform/jobs/table.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { createHttpServer } from "../../../src/server.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { till } from "../../support/programs/till.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const account = ["--admin-email", "ada@example.com", "--admin-name", "Ada", "--password-stdin"];

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

eachStore("till doctor", (store) => {
  let installation: Installation;
  let data: string;
  const apps: Program[] = [];
  const servers: Server[] = [];

  beforeEach(async () => {
    const settings = { TILL_NETWORKS: "sandbox" };
    installation = await makeInstallation(settings, await store.place("migrated"));
    data = installation.env["TILL_DATA_DIR"] ?? "";
    const words = ["init", ...account, "--organization", "Shop", "--registration", "closed"];
    const made = await installation.run(words, "a long password 7");
    expect(made.status, made.stderr).to.equal(0);
  });
  afterEach(async () => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(
      servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))),
    );
    await Promise.all(apps.splice(0).map((app) => app.close()));
    await installation.remove();
  });

  async function listen(server: Server): Promise<string> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  /** Starts a server without its background work, in this process. */
  async function serve(baseUrl?: string): Promise<string> {
    const more = baseUrl === undefined ? {} : { TILL_BASE_URL: baseUrl };
    const { config } = await loadConfig({ mode: "serve", env: { ...installation.env, ...more } });
    const app = await createApp(config, "migrate", { logger: silentLogger });
    apps.push(app);
    const url = await listen(createHttpServer(app));
    app.listensAt(url);
    await app.servers.begin();
    return url;
  }

  const readOrganizations = async () =>
    (await apps[0]?.db.all<{ readonly id: string }>('SELECT id AS "id" FROM organizations')) ?? [];

  async function examine(
    words: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
  ) {
    const env = { ...installation.env, ...more };
    const { code, stdout, stderr } = await till(["doctor", "--json", ...words], { env });
    const { data: findings } = JSON.parse(stdout) as { data: readonly Finding[] };
    const of = (check: string) => findings.filter((one) => one.check === check);
    const problems = findings
      .filter(({ status }) => status === "problem")
      .map(({ check }) => check);
    return { code, stderr, findings, of, problems };
  }

  it("finds no problem in a new installation whose server is stopped", async () => {
    const { code, stderr, of, problems } = await examine();
    expect(problems).to.deep.equal([]);
    expect(code, stderr).to.equal(0);
    expect(of("store")[0]?.message).to.match(store.dialect === "sqlite" ? /SQLite/ : /PostgreSQL/);
    expect(of("backup")[0]).to.include({ status: "warning" });
    expect(of("base URL")[0]).to.include({ status: "skipped" });
    expect(of("proxy")[0]?.message).to.include("TILL_TRUST_PROXY names none");
    const shown = await till(["doctor"], { env: installation.env });
    expect(shown.stdout).to.match(/^backup +warning +None has been made/m);
    expect(shown.stderr).to.include("backup: till backup, and set TILL_BACKUP_SCHEDULE.");
  });

  it("says whether providers are reached through a proxy, without its credentials", async () => {
    const without = { HTTPS_PROXY: "", HTTP_PROXY: "", NO_PROXY: "" };
    const direct = (await examine([], without)).of("way out");
    expect(direct.map(({ message }) => message)).to.deep.equal([
      "Providers and rate sources are reached without a proxy.",
    ]);
    const proxy = "http://ada:letmein@proxy.example:3128";
    const { findings, of } = await examine([], {
      ...without,
      HTTPS_PROXY: proxy,
      NO_PROXY: "node.internal",
    });
    expect(of("way out")).to.have.length(1);
    expect(of("way out")[0]?.message)
      .to.include("https:// through http://proxy.example:3128")
      .and.to.include("except the hosts in NO_PROXY: node.internal")
      .and.to.include("Webhooks use no proxy");
    expect(JSON.stringify(findings)).not.to.include("letmein");
  });

  it("warns of active keys with the scope write, and prints the commands that replace them", async () => {
    const key = async (scopes: string, ...flags: readonly string[]) => {
      const words = ["key", "create", "--name", "k", "--scopes", scopes, ...flags, "--json"];
      const { status, stdout, stderr } = await installation.run(words);
      expect(status, stderr).to.equal(0);
      return (JSON.parse(stdout) as { readonly id: string }).id;
    };
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await key("shop");
    await key("read,webhooks");
    const revoked = await key("write");
    expect((await installation.run(["key", "revoke", revoked, "--yes"])).status).to.equal(0);
    expect((await examine()).of("keys").map(({ status }) => status)).to.deep.equal(["ok"]);

    const active = [await key("read,write"), await key("write", "--expires-at", soon)];
    const found = await examine();
    expect(found.code, found.stderr).to.equal(0);
    expect(found.of("keys").map(({ status }) => status)).to.deep.equal(["warning", "warning"]);
    for (const [place, id] of active.entries()) {
      const { message = "", remedy = "" } = found.of("keys")[place] ?? {};
      expect(message).to.include(id);
      const [, replace = "", revoke = ""] =
        /till (key create .* --scopes shop), and then till (key revoke key_\w+)$/.exec(
          remedy ?? "",
        ) ?? [];
      expect(revoke).to.equal(`key revoke ${id}`);
      for (const words of [replace, revoke]) {
        const run = await installation.run([...words.split(" "), "--yes"]);
        expect(run.status, `${words}: ${run.stderr}`).to.equal(0);
      }
    }
    expect((await examine()).of("keys").map(({ status }) => status)).to.deep.equal(["ok"]);
    for (let count = 0; count < 7; count += 1) await key("write");
    const many = (await examine()).of("keys");
    expect(many).to.have.length(6);
    expect(many.at(-1)?.message).to.equal("More keys have the scope write.");
  });

  it("warns of a network whose default wallet is archived, as till config check does", async () => {
    const run = async (...words: readonly string[]) => {
      const { status, stdout, stderr } = await installation.run([...words, "--yes", "--json"]);
      expect(status, stderr).to.equal(0);
      return JSON.parse(stdout) as { readonly id: string; readonly warnings: readonly string[] };
    };
    const add = async (label: string, digit: string) => {
      const address = `0x${digit.repeat(40)}`;
      const words = ["--network", "sandbox", "--label", label, "--address", address];
      return (await run("wallet", "add", ...words)).id;
    };
    const statuses = async () => (await examine()).of("wallets").map(({ status }) => status);
    expect(await statuses()).to.deep.equal(["ok"]);
    const main = await add("Main", "1");
    const spare = await add("Spare", "2");
    expect(await statuses()).to.deep.equal(["ok"]);

    await run("wallet", "release", main);
    const [finding] = (await examine()).of("wallets");
    expect(finding).to.include({ status: "warning" });
    expect(finding?.message).to.match(/^org_\w+ has wallets on sandbox and no active default/);
    expect(finding?.remedy).to.include("till wallet default");
    expect((await run("config", "check")).warnings).to.include(finding?.message);

    await run("wallet", "default", "--wallet", spare);
    expect(await statuses()).to.deep.equal(["ok"]);
    expect((await run("config", "check")).warnings.join()).not.to.include("default");
  });

  it("names files that others can read or write, and missing folders; --fix repairs them", async () => {
    const file = join(data, "till.yaml");
    await chmod(data, 0o755);
    await chmod(file, 0o666);
    const backups = join(installation.folder, "backups");
    const flags = ["--backup-folder", backups];
    const bad = await examine(flags);
    expect(bad.code).to.equal(1);
    expect(bad.problems).to.include.members(["settings", "data folder", "settings file"]);
    expect(bad.of("settings file")[0]?.remedy).to.include(`chmod 600 ${file}`);
    const fixed = await examine([...flags, "--fix"]);
    expect(fixed.code, fixed.stderr).to.equal(0);
    const repaired = fixed.findings.filter(({ status }) => status === "fixed");
    expect(repaired.map(({ check }) => check)).to.have.members([
      ...["data folder", "settings file", "backup folder"],
    ]);
    expect((await stat(data)).mode & 0o777).to.equal(0o700);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await stat(backups)).isDirectory()).to.equal(true);
    const again = await examine(flags);
    expect(again.findings.some(({ status }) => status === "fixed")).to.equal(false);
    expect(again.of("backup folder")[0]).to.include({ status: "ok" });
    const closed = await examine(["--backup-folder", "/dev/fd"]);
    expect(closed.of("backup folder")[0]?.message).to.include("No backup can be written");
  });

  it("warns where commits are acknowledged before they are on disk, also in this database alone", async () => {
    const find = async () => (await examine()).of("durability")[0];
    if (store.dialect === "sqlite") {
      expect(await find()).to.include({ status: "ok" });
      return;
    }
    const url = installation.env["DATABASE_URL"] ?? "";
    const db = await store.open({ url });
    const offHere: string[] = [];
    for (const name of ["fsync", "full_page_writes", "synchronous_commit"]) {
      const [row] = await db.all(`SELECT current_setting('${name}') AS value`);
      if (row?.["value"] === "off") offHere.push(name);
    }
    const named = (finding: Finding | undefined) =>
      [...(finding?.message ?? "").matchAll(/(\w+) is off/g)].map(([, name]) => name);
    expect(named(await find())).to.deep.equal(offHere);
    const change = (text: string) =>
      db.write(testContext, (tx) =>
        tx.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} ${text}`),
      );
    await change("SET synchronous_commit = off");
    try {
      const found = await find();
      expect(found).to.include({ status: "warning" });
      expect(found?.remedy).to.include("synchronous_commit");
      expect(named(found)).to.deep.equal([...offHere, "synchronous_commit"]);
    } finally {
      await change("RESET synchronous_commit");
    }
  });

  it("asks the server through its base URL, and compares links and clock", async () => {
    const url = await serve();
    const good = await examine();
    expect(good.problems).to.deep.equal([]);
    expect(good.of("base URL")[0]?.message).to.include(url);
    expect(good.of("clock")[0]).to.include({ status: "ok" });
    await apps.pop()?.close();
    const foreign = await listen(
      createServer((_request, response) => {
        response.setHeader("Date", new Date(Date.now() - 3_600_000).toUTCString()).end("hello");
      }),
    );
    await serve(foreign);
    const bad = await examine([], { TILL_BASE_URL: "https://pay.example.com" });
    expect(bad.code).to.equal(1);
    expect(bad.problems).to.deep.equal(["base URL", "clock"]);
    expect(bad.of("base URL")[0]?.message).to.include("not as Till does");
    expect(bad.findings.find(({ message }) => message.includes("TILL_BASE_URL"))?.status).to.equal(
      "warning",
    );
  });

  it("asks each provider, and reports one that does not answer without its key", async () => {
    const more = {
      TILL_NETWORKS: "tron",
      TILL_TRON_RPC_URLS: "http://127.0.0.1:1/v1/0123456789abcdef0123456789abcdef",
    };
    const { code, of, findings, problems } = await examine([], more);
    expect(code).to.equal(1);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^provider tron /);
    expect(of(problems[0] ?? "")[0]?.message).to.match(/does not answer/);
    expect(JSON.stringify(findings)).not.to.include("0123456789abcdef");
  });

  it("collects a report without secrets, and never replaces a file with it", async () => {
    const token = "a-token-that-nobody-may-see";
    const env = { ...installation.env, TILL_METRICS_TOKEN: token };
    const path = join(installation.folder, "report.json");
    const made = await till(["doctor", "--report", path], { env });
    expect(made.code, made.stderr).to.equal(0);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    const text = await readFile(path, "utf8");
    const report = JSON.parse(text) as Record<string, unknown>;
    expect(report).to.have.all.keys(
      ...["createdAt", "versions", "findings", "store", "servers", "status", "settings"],
    );
    const given = env as Readonly<Record<string, string | undefined>>;
    for (const hidden of [token, given["TILL_SECRET"] ?? token])
      expect(text).not.to.include(hidden);
    const again = await till(["doctor", "--report", path], { env });
    expect(again.code).to.equal(2);
    expect(again.stderr).to.include("--report");
    const printed = await till(["doctor", "--report", "-"], { env });
    expect(JSON.parse(printed.stdout)).to.have.property("findings");
  });

  it("reports the store and its failures without names, hosts and addresses, unless asked", async () => {
    const baseUrl = "https://pay.shop.example";
    await serve(baseUrl);
    const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const [organization] = await readOrganizations();
    const now = Date.now();
    await apps[0]?.db.write(testContext, (tx) =>
      tx.insert(jobs, {
        id: "job_1",
        queue: "webhooks",
        name: "fan-out",
        payload: {},
        dedupeKey: null,
        organizationId: organization?.id ?? null,
        state: "failed",
        runAt: now,
        attempts: 3,
        maxAttempts: 3,
        leaseUntil: null,
        leaseToken: null,
        failedReason: `Shop cannot pay ${address}: 10.1.2.3 refused, https://hooks.shop.example/a?key=1 and Bearer 0123456789abcdef0123`,
        failedAt: now,
        createdAt: now,
      }),
    );
    const more = { env: { ...installation.env, TILL_BASE_URL: baseUrl } };
    const printed = async (...words: string[]) =>
      (await till(["doctor", "--report", "-", ...words], more)).stdout;
    const closed = await printed();
    const report = JSON.parse(closed) as {
      readonly store: {
        readonly database: string;
        readonly migration: number;
        readonly counts: Readonly<Record<string, number>>;
        readonly failures: readonly { readonly reason: string }[];
      };
    };
    expect(report.store.database).to.match(/^(SQLite 3|PostgreSQL 1\d)\.\d/);
    expect(report.store.migration).to.be.greaterThan(20);
    expect(report.store.counts).to.include({ organizations: 1, users: 1, invoices: 0 });
    const [failure] = report.store.failures;
    expect(failure?.reason).to.match(
      /^merchant-1 cannot pay address-1: ip-\d refused, https:\/\/host-\d\/a\?key=1 and Bearer \[redacted\]$/,
    );
    for (const hidden of ["shop.example", "10.1.2.3", address, '"Shop"'])
      expect(closed).not.to.include(hidden);
    const open = await printed("--report-addresses");
    for (const shown of [baseUrl, "10.1.2.3", address, "Shop cannot pay"])
      expect(open).to.include(shown);
    expect(open).not.to.include("0123456789abcdef0123");
  });

  it("reports a missing store and invalid settings, each with what to do", async () => {
    const nowhere = await examine([], { TILL_DATA_DIR: join(installation.folder, "nowhere") });
    if (store.dialect === "sqlite") expect(nowhere.of("store")[0]?.message).to.include("till init");
    const invalid = await examine([], { TILL_PORT: "many" });
    expect(invalid.code).to.equal(1);
    expect(invalid.of("settings")[0]?.message).to.include("TILL_PORT must be");
  });
});
