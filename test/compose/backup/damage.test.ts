// Truncated, altered and foreign backups are refused before anything changes.
import { createHmac } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  createArchive,
  inspectBackup,
  readArchive,
} from "../../../src/platform/backup/backup-file.ts";
import { deriveKey } from "../../../src/platform/secrets/server-secret.ts";
import { startApp } from "../../support/app.ts";
import { serverSecret } from "../../support/secret.ts";
import { anyStore } from "../../support/store/stores.ts";
import { back, restore, usePlaces } from "./backups.ts";

const key = deriveKey(serverSecret, "backups");
/** Positions are this many bytes apart; a prime, so that they fall on every column of the blocks. */
const stride = 61;

anyStore("a damaged backup", (store) => {
  const places = usePlaces();

  async function small(): Promise<string> {
    const place = await store.place("migrated");
    await (await startApp({ place, background: false })).stop();
    const file = join(await places.folder(), "a.tar");
    await back(place, file, { verify: "no", withSecret: true });
    return file;
  }

  const outcomeOf = (file: string): Promise<string> =>
    inspectBackup(file).then(
      (backup) => (backup.isGenuine(key) ? "accepted" : "refused: not genuine"),
      (error: unknown) => `refused: ${(error as { code?: string }).code ?? String(error)}`,
    );

  it("is refused if one byte was changed anywhere, or if it was cut or extended", async () => {
    const file = await small();
    expect(await outcomeOf(file)).to.equal("accepted");
    const bytes = await readFile(file);
    const accepted: string[] = [];
    for (let at = 0; at < bytes.length; at += stride) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(file, altered);
      if ((await outcomeOf(file)) === "accepted") accepted.push(`byte ${String(at)}`);
    }
    for (const length of [
      0,
      1,
      511,
      512,
      bytes.length / 2,
      bytes.length - 1024,
      bytes.length - 1,
    ]) {
      await writeFile(file, bytes.subarray(0, length));
      expect(await outcomeOf(file)).to.equal("refused: backup_damaged");
    }
    for (const more of ["x", "\0", "\0".repeat(512)]) {
      await writeFile(file, Buffer.concat([bytes, Buffer.from(more)]));
      expect(await outcomeOf(file)).to.equal("refused: backup_damaged");
    }
    expect(accepted).to.deep.equal([]);
  });

  /** Rewrites a backup as somebody would who can compute checksums. */
  async function rewrite(
    file: string,
    change: (manifest: Record<string, unknown>) => void,
    ownKey: Uint8Array,
  ): Promise<void> {
    const members = [];
    for await (const member of readArchive(file)) members.push(member);
    const manifest = members.find(({ name }) => name === "manifest.json");
    const parsed = JSON.parse(String(manifest?.content)) as Record<string, unknown>;
    change(parsed);
    const text = Buffer.from(JSON.stringify(parsed));
    const archive = await createArchive(`${file}.forged`);
    for (const { name, content } of members) {
      const mac = createHmac("sha256", ownKey).update(text).digest("hex");
      if (name === "manifest.json") await archive.add(name, text);
      else if (name === "manifest.mac") await archive.add(name, Buffer.from(`${mac}\n`));
      else await archive.add(name, content);
    }
    await archive.finish();
    await archive.close();
  }

  it("is refused if its checksums were computed again without the secret", async () => {
    const file = await small();
    const forge = (manifest: Record<string, unknown>) => (manifest["auditHead"] = null);
    await rewrite(file, forge, new Uint8Array(32));
    const target = await places.sqlite();
    const refused = await restore(`${file}.forged`, target).catch(String);
    expect(refused).to.include("not a complete, unaltered backup").and.include("manifest");
  });

  it("names the version that can restore it if it is of a newer level or format", async () => {
    for (const newer of [{ migration: 9_999 }, { version: 2 }]) {
      const file = await small();
      const change = (manifest: Record<string, unknown>) =>
        Object.assign(manifest, newer, { tillVersion: "7.8.9" });
      await rewrite(file, change, key);
      const refused = await restore(`${file}.forged`, await places.sqlite()).catch(String);
      expect(refused).to.match(/^backup_too_new: .* Till 7\.8\.9/);
    }
  });

  it("names the version to go through if it is of a level before the baseline", async () => {
    const file = await small();
    await rewrite(file, (manifest) => Object.assign(manifest, { migration: 20 }), key);
    const refused = await restore(`${file}.forged`, await places.sqlite()).catch(String);
    expect(refused).to.match(/^backup_too_old: .*level 20.* Till 0\.2/);
  });

  it("is refused if it is another kind of file", async () => {
    const file = join(await places.folder(), "a.tar");
    await writeFile(file, Buffer.alloc(4_096, "SQLite format 3\0"));
    expect(await outcomeOf(file)).to.equal("refused: backup_damaged");
    await writeFile(file, Buffer.alloc(1_024));
    expect(await outcomeOf(file)).to.equal("refused: backup_damaged");
    expect(await outcomeOf(`${file}.missing`)).to.equal("refused: backup_missing");
  });
});
