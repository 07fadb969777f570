// npm run prove:image: carries out the steps of the Dockerfile's build stage twice and compares the bytes; then builds the
// image with podman and runs it: the lines of README.md and docs/operating/install.md, one server with SQLite, and two on
// PostgreSQL behind nginx. PROVE_PARTS=bytes,image,servers chooses parts. Everything that it makes is removed, unless
// PROVE_KEEP names a folder in which the base images and the layers stay for the next run.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { provideBaseImages } from "./base-images.ts";
import { proveContents } from "./contents.ts";
import { engineUnavailableReason, openEngine } from "./engine.ts";
import { proveInstallPage, proveReadme } from "./lines.ts";
import { proveOneServer } from "./one-server.ts";
import { proveSameBytes } from "./same-bytes.ts";
import { makeTable, type Table } from "./table.ts";
import { proveTwoServers } from "./two-servers.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const parts = (process.env["PROVE_PARTS"] ?? "bytes,image,servers").split(",");
const kept = process.env["PROVE_KEEP"];

const table = makeTable();
const folder = mkdtempSync(join(tmpdir(), "till-image-"));
try {
  const checkout = join(folder, "checkout");
  mkdirSync(checkout);
  const archive = execFileSync("git", ["archive", "HEAD"], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x"], { cwd: checkout, input: archive });
  // A layer of an earlier run is used again only for files of the same times.
  execFileSync("find", [".", "-exec", "touch", "--no-dereference", "--date=@0", "{}", "+"], {
    cwd: checkout,
  });
  if (parts.includes("bytes"))
    await table.part("bytes", () => {
      proveSameBytes(table, checkout, folder);
    });
  if (parts.includes("image") || parts.includes("servers"))
    await table.part("image", () => proveImage(table, checkout));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (!table.print()) process.exitCode = 1;

async function proveImage(table: Table, checkout: string): Promise<void> {
  const reason = engineUnavailableReason();
  if (reason !== null) throw new Error(reason);
  const engine = await openEngine(kept ?? join(folder, "engine"), folder);
  try {
    const dockerfile = readFileSync(join(checkout, "Dockerfile"), "utf8");
    const { names, origin } = await provideBaseImages(engine, dockerfile, folder);
    table.figure("image", "base images", origin);
    table.figure("image", "engine", `${engine.versions}, ${process.arch} only`);
    // An image of an earlier run is not the one to prove.
    await engine.attempt(["untag", "till"]);
    await table.part("README", () => proveReadme(engine, table, checkout));
    await engine.clear();
    if ((await engine.attempt(["image", "exists", "till"])).status !== 0) return;
    if (parts.includes("image")) {
      await table.part("contents", () => proveContents(engine, table, checkout));
      await table.part("install.md", () => proveInstallPage(engine, table, checkout));
      await engine.clear();
      await table.part("one server", () => proveOneServer(engine, table));
    }
    await engine.clear();
    if (parts.includes("servers"))
      await table.part("two servers", () =>
        proveTwoServers(engine, table, { base: names.at(-1) ?? "", folder }),
      );
  } finally {
    await engine.end(kept !== undefined);
  }
}
