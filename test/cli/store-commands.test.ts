import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { authenticateKey } from "../../src/features/api-keys/api-keys.ts";
import { logIn } from "../../src/features/auth/login.ts";
import { submitKyb } from "../../src/features/organizations/verification.ts";
import {
  addOrganization,
  updateOrganization,
} from "../../src/features/organizations/organizations.ts";
import { createApp, type Program } from "../../src/compose/app.ts";
import { AdminOrganizationListRecord } from "../../src/features/admin/records.ts";
import { systemActor } from "../../src/kernel/actor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { Id } from "../../src/kernel/id.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import { currentVersion } from "../../src/platform/database/schema/migrate.ts";
import { openDatabase } from "../../src/platform/database/open.ts";
import { applyMigrations } from "../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../src/platform/database/schema/migrations/index.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { legalFields } from "../support/app.ts";
import { describeCommands } from "../../src/cli/features.ts";
import { init, till, useFolders } from "../support/programs/till.ts";

const folders = useFolders();
const context = { actor: systemActor("tests"), requestId: null, ip: null };

/** The program on the store of a folder, as a server beside the command line would have it. */
async function withApp<T>(folder: string, work: (app: Program) => Promise<T>): Promise<T> {
  const { config } = await loadConfig({ mode: "cli", env: { TILL_DATA_DIR: folder } });
  const app = await createApp(config, "use", { logger: silentLogger });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

async function freshStore(): Promise<string> {
  const folder = join(await folders.make(), "data");
  const { code, stderr } = await init(["--data-dir", folder]);
  expect(code, stderr).to.equal(0);
  return folder;
}

/** An organization that waits for its review. */
async function pendingOrganization(folder: string): Promise<Id<"organization">> {
  return withApp(folder, async (app) => {
    const { id } = await app.db.write(context, (tx) =>
      addOrganization(tx, app, app.clock.now(), { name: "Nook", ownerId: null }),
    );
    await updateOrganization(app, context, id, legalFields, () => undefined);
    await submitKyb(app, context, id);
    return id;
  });
}

function audited(folder: string, action: string): Promise<Record<string, unknown>[]> {
  return withApp(folder, (app) =>
    app.db.all("SELECT * FROM audit_logs WHERE action = $1 ORDER BY id", [action]),
  );
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("till init", () => {
  it("creates folder, secret, store, organization and admin without a prompt", async () => {
    const folder = join(await folders.make(), "deep", "data");
    const { code, stdout, stderr } = await init(["--data-dir", folder]);
    expect(stderr).to.equal("");
    expect(code).to.equal(0);
    const { organization, user } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    expect(organization).to.include({
      name: "Shop",
      verificationStatus: "approved",
      status: "active",
    });
    expect(user).to.include({ email: "ada@example.com", name: "Ada", platformRole: "admin" });
    expect(await modeOf(folder)).to.equal("700");
    expect(await modeOf(join(folder, "secret"))).to.equal("600");
    expect(await modeOf(join(folder, "till.db"))).to.equal("600");
    const [entry] = await audited(folder, "organization.created");
    expect(entry).to.include({
      actor_type: "operator",
      actor_label: `${userInfo().username}@${hostname()}`,
    });
    expect(entry?.["request_id"]).to.match(/^req_/);
  });

  it("creates an admin who can log in with the given password", async () => {
    const folder = await freshStore();
    const session = await withApp(folder, (app) =>
      logIn(app, context, {
        email: "ada@example.com",
        password: "a long password of the tests 7",
      }),
    );
    expect(session.memberships.map(({ role }) => role)).to.deep.equal(["owner"]);
  });

  it("takes the password from a file too", async () => {
    const folder = await folders.make();
    const file = join(folder, "password");
    await writeFile(file, "another long password 9\n");
    const words = ["--admin-email", "a@example.com", "--admin-name", "A", "--organization", "S"];
    const data = ["--data-dir", join(folder, "data"), "--password-file", file];
    const { code, stdout } = await till(["init", ...words, ...data]);
    expect(code).to.equal(0);
    expect(stdout).to.include("a@example.com").and.not.include("another long password");
  });

  it("sets the platform's receive wallet from a flag, with the same output", async () => {
    const folder = join(await folders.make(), "data");
    const words = ["--receive-wallet", "tron:TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"];
    const { code, stdout, stderr } = await init(["--data-dir", folder, ...words]);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.have.all.keys("organization", "user");
    const set = await till(["billing", "receive-wallet", "--json", "--data-dir", folder]);
    const { wallet, ...rest } = JSON.parse(set.stdout) as { wallet: Record<string, unknown> };
    expect(rest).to.include({ network: "tron", tokenSymbol: "USDT" });
    expect(wallet).to.include({ address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", status: "active" });
  });

  it("refuses a second time and changes nothing", async () => {
    const folder = await freshStore();
    const count = (app: Program) =>
      app.db.all(
        "SELECT (SELECT COUNT(*) FROM users) + (SELECT COUNT(*) FROM organizations) + (SELECT COUNT(*) FROM audit_logs) AS n",
      );
    const before = [await withApp(folder, count), await readFile(join(folder, "secret"), "utf8")];
    const { code, stdout, stderr } = await init(["--data-dir", folder]);
    expect(code).to.equal(6);
    expect(stdout).to.equal("");
    expect(JSON.parse(stderr)).to.include({ code: "already_initialized", status: 409 });
    const after = [await withApp(folder, count), await readFile(join(folder, "secret"), "utf8")];
    expect(after).to.deep.equal(before);
    const { detail } = JSON.parse(stderr) as { detail: string };
    for (const existing of [join(folder, "till.db"), "Shop (org_", "ada@example.com", "none yet"]) {
      expect(detail).to.include(existing);
    }
  });

  it("writes the settings that are given as flags to till.yaml, which every command reads", async () => {
    const folder = join(await folders.make(), "data");
    const flags = [
      "--networks",
      "tron,base",
      "--base-url",
      "https://pay.example.com/",
      "--port",
      "9",
    ];
    const address = "tron:TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
    const given = [
      "--wallet",
      address,
      "--receive-wallet",
      address,
      "--backup-folder",
      `${folder}/b`,
    ];
    const made = await init(["--data-dir", folder, ...flags, ...given]);
    expect(made.code, made.stderr).to.equal(0);
    const path = join(folder, "till.yaml");
    expect(await modeOf(path)).to.equal("600");
    expect(await modeOf(join(folder, "b"))).to.equal("700");
    expect(parse(await readFile(path, "utf8"))).to.deep.equal({
      backupFolder: join(folder, "b"),
      port: 9,
      baseUrl: "https://pay.example.com",
      networks: ["tron", "base"],
    });
    const shown = await till(["config", "show", "--origin", "--json", "--data-dir", folder]);
    const { data } = JSON.parse(shown.stdout) as { data: { name: string; origin: object }[] };
    expect(data.find(({ name }) => name === "TILL_BASE_URL")).to.deep.include({
      value: "https://pay.example.com",
      origin: { source: "file", name: `baseUrl in ${path}` },
    });
    const wallets = await till(["wallet", "list", "-q", "--data-dir", folder]);
    expect(wallets.stdout, "one wallet for both").to.match(/^wal_\w+\n$/);
    expect((await readdir(folder)).filter((name) => name.startsWith("till.yaml"))).to.have.length(
      1,
    );
  });

  it("keeps the entries and comments of a till.yaml, and restores it if the store cannot be made", async () => {
    const folder = join(await folders.make(), "data");
    const path = join(folder, "till.yaml");
    const text = "# of our own\nlogLevel: warn # less\nport: 1\n";
    await mkdir(folder);
    await writeFile(path, text);
    // The secret cannot be created where a folder is.
    await mkdir(join(folder, "secret"));
    expect((await init(["--data-dir", folder, "--port", "2"])).code).not.to.equal(0);
    expect(await readFile(path, "utf8")).to.equal(text);
    expect((await readdir(folder)).sort()).to.deep.equal(["secret", "till.yaml"]);
    await rm(join(folder, "secret"), { recursive: true });
    const { code, stderr } = await init(["--data-dir", folder, "--port", "2"]);
    expect(code, stderr).to.equal(0);
    expect(await readFile(path, "utf8")).to.equal(text.replace("port: 1", "port: 2"));
    const elsewhere = ["--config", path, "--port", "3", "--data-dir", join(folder, "other")];
    const refused = await init(elsewhere);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include("--config names");
  });

  it("completes a store that was left incomplete", async () => {
    for (const made of [1, migrations.length - 1]) {
      const folder = join(await folders.make(), "data");
      await mkdir(folder);
      const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
      await applyMigrations(db, systemClock, migrations.slice(0, made));
      await db.close();
      const status = await till(["ops", "status", "--json", "--data-dir", folder]);
      expect(JSON.parse(status.stderr)).to.include({ code: "store_behind", status: 409 });
      const { code, stderr } = await init(["--data-dir", folder]);
      expect(code, stderr).to.equal(0);
      const again = await init(["--data-dir", folder]);
      expect(again.code).to.equal(6);
    }
  });

  it("lets one of two simultaneous runs win", async () => {
    const folder = join(await folders.make(), "data");
    const both = await Promise.all([init(["--data-dir", folder]), init(["--data-dir", folder])]);
    expect(both.map(({ code }) => code).sort()).to.deep.equal([0, 6]);
  });

  it("creates nothing if its input is wrong", async () => {
    const folder = join(await folders.make(), "data");
    const weak = await init(["--data-dir", folder], { stdin: "password\n" });
    expect(weak.code).to.equal(1);
    expect(JSON.parse(weak.stderr)).to.include({ code: "weak_password" });
    const email = await init(["--data-dir", folder, "--admin-email", "nobody"]);
    expect(email.code).to.equal(2);
    expect(email.stderr).to.include("/adminEmail");
    const receiving = "tron:TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
    for (const [words, code, told] of [
      [["--receive-wallet", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"], 2, "network:address"],
      [["--receive-wallet", "tron:TJRabPrwbZy45sbavfcjinPJC18kjpRTv9"], 2, "/address"],
      [["--receive-wallet", "dogecoin:D123"], 1, "Choose one of the enabled networks: tron"],
      [["--receive-wallet", "tron:TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"], 1, "contract of USDT"],
      [["--receive-wallet", "tron:xpubNOT"], 2, "/xpub"],
      [["--receive-wallet", receiving, "--receive-token", "DOGE"], 2, "Choose a token of TRON"],
      [["--receive-token", "USDT"], 2, "--receive-wallet"],
    ] as const) {
      const refused = await init(["--data-dir", folder, ...words]);
      expect(refused.code, refused.stderr).to.equal(code);
      expect(refused.stderr).to.include(told);
    }
    expect(await readdir(join(folder, ".."))).to.deep.equal([]);
  });

  it("completes what a killed run left", async () => {
    const leftovers: readonly ((folder: string) => Promise<void>)[] = [
      // Killed after the secret was made.
      async (folder) => {
        const { config } = await loadConfig({ mode: "cli", env: { TILL_DATA_DIR: folder } });
        await createApp(config, "create", { logger: silentLogger }).then((app) => app.close());
        await writeFile(join(folder, "till.db"), "");
      },
      // Killed between two migrations.
      async (folder) => {
        const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
        await applyMigrations(db, systemClock, migrations.slice(0, 2));
        await db.close();
      },
      // Killed before the one transaction.
      async (folder) => {
        const { config } = await loadConfig({ mode: "cli", env: { TILL_DATA_DIR: folder } });
        await createApp(config, "create", { logger: silentLogger }).then((app) => app.close());
      },
    ];
    for (const leave of leftovers) {
      const folder = await folders.make();
      await leave(folder);
      const { code, stderr } = await init(["--data-dir", folder]);
      expect(code, stderr).to.equal(0);
      expect((await init(["--data-dir", folder])).code).to.equal(6);
    }
  });
});

describe("commands on a store", () => {
  it("list organizations as the API does, as a table, and as ids", async () => {
    const folder = await freshStore();
    const id = await pendingOrganization(folder);
    const after = await till(["org", "list", "--json", "--data-dir", folder]);
    const before = await till(["--json", "--data-dir", folder, "org", "list"]);
    expect(before.stdout).to.equal(after.stdout);
    const list = AdminOrganizationListRecord.parse(JSON.parse(after.stdout));
    expect(list.data.map(({ name }) => name)).to.deep.equal(["Nook", "Shop"]);
    expect(list.data[1]).to.include({ ownerEmail: "ada@example.com", memberCount: 1 });

    const table = await till(["org", "list", "--data-dir", folder]);
    expect(table.stdout).to.match(new RegExp(`^${id} +Nook +pending_review`, "m"));
    for (const drawn of ["\u001b", "│", "─"]) expect(table.stdout).not.to.include(drawn);
    const ids = await till(["org", "list", "--quiet", "--data-dir", folder]);
    expect(ids.stdout).to.equal(`${list.data.map((one) => one.id).join("\n")}\n`);
  });

  it("filter and page a list", async () => {
    const folder = await freshStore();
    await pendingOrganization(folder);
    const list = async (...words: string[]) => {
      const { stdout, stderr } = await till([
        "org",
        "list",
        "--json",
        "--data-dir",
        folder,
        ...words,
      ]);
      expect(stderr).to.equal("");
      return AdminOrganizationListRecord.parse(JSON.parse(stdout));
    };
    expect((await list("--verification", "pending_review")).data).to.have.length(1);
    expect((await list("--search", "nOO")).data.map(({ name }) => name)).to.deep.equal(["Nook"]);
    expect((await list("--search", "%")).data).to.deep.equal([]);
    const first = await list("--limit", "1");
    const rest = await list("--limit", "1", "--cursor", first.nextCursor ?? "");
    expect([first, rest].map(({ data }) => data[0]?.name)).to.deep.equal(["Nook", "Shop"]);
    expect(rest.nextCursor).to.equal(null);
    const wrong = await till(["org", "list", "--limit", "0", "--data-dir", folder]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include("--limit must be a whole number");
  });

  it("page every list", async () => {
    const folder = await freshStore();
    const pages = (await describeCommands()).filter(
      ({ flags, arguments: words }) =>
        flags.some(({ flags: written }) => written.startsWith("--limit ")) &&
        words.every(({ isOptional }) => isOptional === true),
    );
    expect(pages.length).to.be.greaterThan(20);
    const env = { TILL_NETWORKS: "sandbox" };
    for (const { name } of pages) {
      const words = [...name.split(" "), "--limit", "1", "--json", "--data-dir", folder];
      const { code, stderr } = await till(words, { env });
      expect(code, `${name}: ${stderr}`).to.equal(0);
    }
  });

  it("approve only with --yes, preview with --dry-run, and explain a conflict", async () => {
    const folder = await freshStore();
    const id = await pendingOrganization(folder);
    const words = ["org", "approve", id, "--json", "--data-dir", folder];
    const status = async () => {
      const { stdout } = await till([
        "org",
        "list",
        "--search",
        id,
        "--json",
        "--data-dir",
        folder,
      ]);
      return AdminOrganizationListRecord.parse(JSON.parse(stdout)).data[0]?.verificationStatus;
    };

    const trial = await till([...words, "--dry-run"]);
    expect(trial.code, trial.stderr).to.equal(0);
    expect(JSON.parse(trial.stdout)).to.include({ id, verificationStatus: "approved" });
    expect(await status()).to.equal("pending_review");
    expect(await audited(folder, "organization.approved")).to.deep.equal([]);

    expect((await till(words)).code).to.equal(2);
    expect(await status()).to.equal("pending_review");

    const done = await till([...words, "--yes", "--note", "Welcome"]);
    expect(done.code, done.stderr).to.equal(0);
    expect(JSON.parse(done.stdout)).to.include({ id, reviewNote: "Welcome", memberCount: 0 });
    expect(await status()).to.equal("approved");
    const [entry] = await audited(folder, "organization.approved");
    expect(entry).to.include({ actor_type: "operator", organization_id: id });

    expect((await till([...words, "--yes"])).code).to.equal(6);
    const unknown = await till(["org", "approve", "org_nothing", "--yes", "--data-dir", folder]);
    expect(unknown.code).to.equal(5);
    expect(unknown.stderr).to.match(/^Not found\./);
  });

  it("create a key whose secret is shown once and works, and revoke it", async () => {
    const folder = await freshStore();
    const organization = (await till(["org", "list", "-q", "--data-dir", folder])).stdout.trim();
    const words = ["key", "create", "--organization", organization, "--name", "shop"];
    const expiresAt = "2131-01-31T00:00:00.000Z";
    const flags = ["--scopes", "read, write", "--expires-at", expiresAt];
    const made = await till([...words, ...flags, "--json", "--data-dir", folder]);
    expect(made.code, made.stderr).to.equal(0);
    const key = JSON.parse(made.stdout) as { id: string; secret: string };
    expect(key).to.deep.include({ scopes: ["read", "write"], expiresAt });
    expect(key.secret).to.match(/^till_live_/);
    const authenticate = () => withApp(folder, (app) => authenticateKey(app, key.secret));
    expect((await authenticate())?.principal.id).to.equal(key.id);

    const wrong = await till([...words, "--scopes", "all", "--data-dir", folder]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include("--scopes");

    const revoke = ["key", "revoke", key.id, "--data-dir", folder];
    expect((await till([...revoke, "--dry-run"])).code).to.equal(0);
    expect(await authenticate()).not.to.equal(null);
    const revoked = await till([...revoke, "--yes"]);
    expect(revoked.code, revoked.stderr).to.equal(0);
    expect(revoked.stderr).to.include(join(folder, "till.db"));
    expect(await authenticate()).to.equal(null);
  });

  it("never create a store", async () => {
    const folder = await folders.make();
    for (const words of [
      ["org", "list"],
      ["db", "migrate"],
    ]) {
      const { code, stderr } = await till([...words, "--data-dir", folder]);
      expect(code, words.join(" ")).to.equal(5);
      expect(stderr).to.include("till init");
    }
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("refuse a store with a missing or wrong secret, and create none", async () => {
    const folder = await freshStore();
    await rm(join(folder, "secret"));
    expect((await till(["org", "list", "--data-dir", folder])).code).to.equal(78);
    expect(await readdir(folder)).not.to.include("secret");
    await writeFile(join(folder, "secret"), "another secret, which is long enough as well\n");
    expect((await till(["org", "list", "--data-dir", folder])).code).to.equal(78);
  });

  it("offer the sandbox only where it is enabled", async () => {
    const folder = await freshStore();
    for (const words of [["mine"], ["mine", "x"], ["stall", "x"], ["reorg"]]) {
      const { code, stderr } = await till(["sandbox", ...words, "--data-dir", folder]);
      expect(code, words.join(" ")).to.equal(6);
      expect(stderr).to.include("TILL_NETWORKS=sandbox");
    }
    const env = { TILL_NETWORKS: "sandbox" };
    const mined = await till(["sandbox", "mine", "3", "--json", "--data-dir", folder], { env });
    expect(mined.code, mined.stderr).to.equal(0);
    expect(JSON.parse(mined.stdout)).to.have.all.keys("blockNumber", "blockHash", "blockTime");
    const reorg = await till(
      ["sandbox", "reorg", "--blocks", "2", "--json", "--data-dir", folder],
      { env },
    );
    expect(JSON.parse(reorg.stdout)).to.include.keys("fromBlockNumber", "transactionHashes");
    const deep = await till(["sandbox", "reorg", "--blocks", "x", "--data-dir", folder], { env });
    expect(deep.code).to.equal(2);
  });
});

describe("till db migrate", () => {
  it("copies an older store, readable by the owner only, before it changes it", async () => {
    const folder = await folders.make();
    const fresh = await freshStore();
    const secret = await readFile(join(fresh, "secret"), "utf8");
    await writeFile(join(folder, "secret"), secret, { mode: 0o600 });
    const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
    await applyMigrations(db, systemClock, migrations.slice(0, 2));
    await db.close();

    const plan = await till(["db", "migrate", "--plan", "--json", "--data-dir", folder]);
    expect(plan.code, plan.stderr).to.equal(0);
    const planned = JSON.parse(plan.stdout) as Record<string, unknown> & { migrations: object[] };
    expect(planned).to.include({
      from: migrations[1]?.version,
      backsUp: true,
      estimatedSeconds: 1,
    });
    expect(planned.migrations).to.have.length(migrations.length - 2);

    const behind = await till(["org", "list", "--data-dir", folder]);
    expect(behind.code).to.equal(6);
    expect(behind.stderr).to.include("till db migrate");

    const { code, stdout, stderr } = await till(["db", "migrate", "--json", "--data-dir", folder]);
    expect(code, stderr).to.equal(0);
    const { applied, backup } = JSON.parse(stdout) as {
      applied: { version: number }[];
      backup: string;
    };
    expect(applied.map(({ version }) => version)).to.deep.equal(
      migrations.slice(2).map(({ version }) => version),
    );
    expect(await modeOf(backup)).to.equal("600");
    expect((await readdir(folder)).filter((name) => name.endsWith(".partial"))).to.deep.equal([]);
    const back = await till([
      "restore",
      backup,
      "--no-migrate",
      "--yes",
      "--json",
      "--data-dir",
      folder,
    ]);
    expect(back.code, back.stderr).to.equal(0);
    const { formerStore, migration } = JSON.parse(back.stdout) as Record<string, unknown>;
    expect(migration).to.equal(migrations[1]?.version);
    const copy = await openDatabase({ sqliteFile: join(folder, "till.db") });
    expect(await currentVersion(copy)).to.equal(migrations[1]?.version);
    await copy.close();
    await rename(String(formerStore), join(folder, "till.db"));

    const again = await till(["db", "migrate", "--json", "--data-dir", folder]);
    expect(JSON.parse(again.stdout)).to.deep.equal({ applied: [], backup: null });
  });
});

describe("till config", () => {
  it("shows the source of each setting, with secrets masked", async () => {
    const folder = await folders.make();
    await writeFile(join(folder, "till.yaml"), "registration: open\n");
    const env = { TILL_PORT: "9000", TILL_METRICS_TOKEN: "a-token-of-the-tests" };
    const words = ["config", "show", "--origin", "--data-dir", folder, "--host", "0.0.0.0"];
    const { code, stdout } = await till([...words, "--json"], { env });
    expect(code).to.equal(0);
    const { data } = JSON.parse(stdout) as {
      data: { name: string; value: string | null; origin: { source: string } }[];
    };
    const shown = new Map(data.map((one) => [one.name, [one.value, one.origin.source]]));
    expect(shown.get("TILL_HOST")).to.deep.equal(["0.0.0.0", "flag"]);
    expect(shown.get("TILL_PORT")).to.deep.equal(["9000", "environment"]);
    expect(shown.get("TILL_REGISTRATION")).to.deep.equal(["open", "file"]);
    expect(shown.get("TILL_BILLING")).to.deep.equal(["off", "default"]);
    expect(stdout).not.to.include("a-token-of-the-tests");
    const table = await till(words, { env });
    expect(table.stdout).to.match(/^TILL_PORT +9000 +TILL_PORT$/m);
    expect(table.stdout).not.to.include("a-token-of-the-tests");
  });

  it("reports all errors at once and exits with 78", async () => {
    const env = { TILL_PORT: "many", TILL_BILLING: "maybe", TILL_PROT: "1" };
    const checked = await till(["config", "check"], { env });
    expect(checked.code).to.equal(78);
    for (const name of Object.keys(env)) expect(checked.stderr).to.include(name);
    expect(checked.stderr).not.to.match(/\n +at /);
    const shown = await till(["config", "show", "--json"], { env });
    expect(shown.code).to.equal(78);
    expect(JSON.parse(shown.stdout)).to.have.property("data");
    const { errors } = JSON.parse(shown.stderr) as { errors: { setting: string }[] };
    expect(errors.map(({ setting }) => setting)).to.have.members(Object.keys(env));
    const right = await till(["config", "check", "--json", "--data-dir", await folders.make()], {
      env: { TILL_BASE_URL: "https://pay.example.com" },
    });
    expect(right.code).to.equal(0);
    const { warnings } = JSON.parse(right.stdout) as { warnings: string[] };
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include("TILL_TRUST_PROXY");
  });
});
