// The page of versions: everything that the project's files or this machine can confirm is confirmed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { openDatabase } from "../../../src/platform/database/open.ts";
import { pairs } from "../../lab/woocommerce/parts.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const page = read("docs/operating/proven-with.md");
const rows = [...page.matchAll(/^\| (\S[^|]*?) +\| ([^|]*?) +\| ([^|]*?) +\|$/gm)];

/** Returns the versions of a part in the first table, as one text. */
function versionsOf(part: string): string {
  const found = rows.filter(([, name]) => name === part).map(([, , version]) => version);
  expect(found, part).not.to.deep.equal([]);
  return found.join(", ");
}

/** Returns a version that a program of this machine prints, or null without the program. */
function installed(program: string, flag: string, pattern: RegExp): string | null {
  const { error, stdout, stderr } = spawnSync(program, [flag], { encoding: "utf8" });
  return error === undefined ? (pattern.exec(stdout + stderr)?.[1] ?? null) : null;
}

/** The first two numbers, which updates of one release of Debian do not change. */
const series = (version: string) => /^\d+\.\d+/.exec(version)?.[0] ?? version;

describe("the page of what Till was proven with", () => {
  it("names the packages with the versions of the lock file", async () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { version: string }>;
    };
    const locked = (name: string) => packages[`node_modules/${name}`]?.version ?? "";
    expect(versionsOf("anvil")).to.equal(locked("@foundry-rs/anvil"));
    expect(versionsOf("Chromium")).to.include(`playwright-core ${locked("playwright-core")}`);
    const folder = mkdtempSync(join(tmpdir(), "till-versions-"));
    const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
    const [row] = await db.all<{ version: string }>('SELECT sqlite_version() AS "version"');
    await db.close();
    rmSync(folder, { recursive: true });
    expect(versionsOf("SQLite")).to.equal(
      `${row?.version ?? ""}, which the package sqlite3 ${locked("sqlite3")} contains`,
    );
  });

  it("names the versions of the nightly runs and of the image", () => {
    const nightly = read(".ci/nightly");
    const chosen = (name: string) =>
      new RegExp(`${name}:-([\\d ]+)`).exec(nightly)?.[1]?.split(" ") ?? [];
    const majors = (part: string) =>
      new Set(
        versionsOf(part)
          .match(/\d[\d.]*/g)
          ?.map((version) => version.replace(/\..*/, "")),
      );
    expect(majors("Node")).to.deep.equal(new Set(chosen("NIGHTLY_NODE")));
    expect(majors("PostgreSQL")).to.deep.equal(new Set(chosen("NIGHTLY_POSTGRES")));
    const [, node = "", suite = ""] = /^FROM node:([\d.]+)-(\w+)/m.exec(read("Dockerfile")) ?? [];
    expect(versionsOf("Node").split(", ")).to.include(node);
    expect(suite).to.equal("bookworm");
    expect(versionsOf("Debian")).to.match(/^12 /);
  });

  // The page is about the system of the repository's own checks; others have other versions of these programs.
  const onOwnSystem = process.env["TILL_TEST_NO_SKIP"] === "1" ? it : null;
  onOwnSystem?.("names the programs of this machine that the suite runs", () => {
    const programs = {
      Node: process.versions.node,
      PostgreSQL: installed("psql", "--version", /(\d+\.\d+)/),
      PgBouncer: installed("pgbouncer", "--version", /PgBouncer (\S+)/),
      nginx: installed("nginx", "-v", /nginx\/(\S+)/),
      PHP: installed("php", "--version", /^PHP (\S+)/m),
      Python: installed("python3", "--version", /Python (\S+)/),
      curl: installed("curl", "--version", /^curl (\S+)/m),
      MariaDB: installed("mariadbd", "--version", /Ver (\d+\.\d+\.\d+)/),
      podman: installed("podman", "--version", /version (\S+)/),
    };
    for (const [part, version] of Object.entries(programs)) {
      if (version === null) continue;
      // A nightly run has another version of Node or PostgreSQL, which the page names by its first number.
      const isMajor = part === "Node" || part === "PostgreSQL";
      const known = isMajor ? (version.split(".")[0] ?? "") : series(version);
      expect(versionsOf(part), part).to.match(
        new RegExp(`(^|[ ,])${known.replace(".", "\\.")}(\\D|$)`),
      );
    }
  });

  it("names the shops of the proof of the WooCommerce plug-in, and every network", () => {
    const versions = versionsOf("WordPress");
    for (const { wordpress, woocommerce } of pairs) {
      const release = wordpress.replace(".", "\\.");
      const shop = woocommerce.replaceAll(".", "\\.");
      expect(versions).to.match(
        new RegExp(`(^|, )${release}(\\.\\d+)? with WooCommerce ${shop}(,|$)`),
      );
    }
    const { networks } = parse(read("config/networks.yaml")) as { networks: object };
    const labs = [...read("test/support/chain/chain-lab.ts").matchAll(/network: "(\w+)"/g)].map(
      ([, name = ""]) => name,
    );
    const [, onAnvil = ""] = /^\| the networks ([\w, ]+?) +\|/m.exec(page) ?? [];
    expect(onAnvil.split(/, | and /)).to.have.members(labs);
    const [, never = ""] = page.split("## Never tried");
    for (const network of Object.keys(networks)) {
      if (labs.includes(network) || network === "sandbox") continue;
      expect(never, "no lab runs it on anvil").to.match(new RegExp(`\\b${network}\\b`));
    }
  });

  it("names every image of others in the deployment kit, and only scripts that exist", () => {
    const folder = "docs/operating/deploy/";
    const texts = readdirSync(new URL(folder, root)).map((name) => read(folder + name));
    const images = texts.flatMap((text) =>
      [...text.matchAll(/^\s+image: (\S+)/gm)].map(([, image = ""]) => image),
    );
    const others = images.filter((image) => !image.startsWith("till:"));
    expect(others).to.have.length.above(1);
    for (const image of others) expect(page).to.include(`\`${image}\``);
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(Object.keys(scripts)).to.include.members(named);
  });
});
