import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Problem } from "../../../src/kernel/errors.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import {
  deriveKey,
  fingerprint,
  formerFingerprint,
  loadServerSecret,
  SecretUnusable,
  type SecretSource,
} from "../../../src/platform/secrets/server-secret.ts";
import { compiledProgram } from "../../support/programs/built.ts";

const given = "a secret that is long enough to be used by a server";

describe("the server's secret", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "till-secret-"));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  function load(source: Partial<SecretSource>) {
    return loadServerSecret({
      text: null,
      file: null,
      dataFolder: null,
      randomBytes: systemRandom,
      ...source,
    });
  }

  async function refusal(source: Partial<SecretSource>): Promise<Problem> {
    const outcome = await load(source).catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(SecretUnusable);
    return outcome as Problem;
  }

  it("is generated in the data folder on first use and reused afterwards", async () => {
    const first = await load({ dataFolder: folder });
    const second = await load({ dataFolder: folder });
    expect(fingerprint(second)).to.equal(fingerprint(first));
    expect(await readdir(folder)).to.deep.equal(["secret"]);
    expect((await readFile(join(folder, "secret"), "utf8")).trim()).to.match(/^[\w-]{43}$/);
  });

  it("is in a file that only its owner can read, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      await load({ dataFolder: folder });
    } finally {
      process.umask(before);
    }
    expect((await stat(join(folder, "secret"))).mode & 0o777).to.equal(0o600);
  });

  it("has the permissions of its file restricted again after they were widened", async () => {
    await load({ dataFolder: folder });
    await chmod(join(folder, "secret"), 0o644);
    await load({ dataFolder: folder });
    expect((await stat(join(folder, "secret"))).mode & 0o777).to.equal(0o600);
  });

  it("is the same for concurrent callers", async () => {
    const loaded = await Promise.all(
      Array.from({ length: 20 }, () => load({ dataFolder: folder })),
    );
    expect(new Set(loaded.map(fingerprint)).size).to.equal(1);
    expect(await readdir(folder)).to.deep.equal(["secret"]);
  });

  it("is the same for processes that start at the same time", async () => {
    const script = compiledProgram(new URL("print-fingerprint.ts", import.meta.url));
    const printed = await Promise.all(Array.from({ length: 3 }, () => run(script, folder)));
    expect(printed[0]).to.match(/^[0-9a-f]{32}$/);
    expect(new Set(printed).size).to.equal(1);
    expect(await readdir(folder)).to.deep.equal(["secret"]);
  });

  it("may be given as text, which overrides a file, or in a file", async () => {
    const path = join(folder, "given");
    await writeFile(path, `${given}\n`);
    const asText = await load({ text: given, file: join(folder, "absent") });
    const inFile = await load({ file: path, dataFolder: folder });
    expect(fingerprint(asText)).to.equal(fingerprint(inFile));
    expect(await readdir(folder)).to.deep.equal(["given"]);
  });

  it("is refused if too short, with a message that names its origin and not its value", async () => {
    const short = "only-31-bytes-of-secret-in-here";
    const asText = await refusal({ text: short });
    expect(asText.message).to.contain("TILL_SECRET").and.contain("31 bytes").and.not.contain(short);
    expect(asText.code).to.equal("secret_unusable");
    await refusal({ text: "" });
    await refusal({ text: `${short}   \n` });
    const path = join(folder, "short");
    await writeFile(path, short);
    expect((await refusal({ file: path })).message).to.contain(path);
  });

  it("is refused if its file is missing, empty or a folder", async () => {
    const absent = await refusal({ file: join(folder, "absent") });
    expect(absent.message).to.contain("the file or folder does not exist");
    expect((await refusal({ file: folder })).message).to.contain("it is a folder");
    await writeFile(join(folder, "secret"), "");
    expect((await refusal({ dataFolder: folder })).message).to.contain("0 bytes");
    const missing = await refusal({ dataFolder: join(folder, "no-such-folder") });
    expect(missing.message).to.contain("TILL_SECRET_FILE");
  });

  it("must be given if it cannot be generated", async () => {
    expect((await refusal({})).message).to.contain("Set TILL_SECRET or TILL_SECRET_FILE");
  });

  it("is not shown by printing it", async () => {
    const secret = await load({ text: given });
    const base64 = Buffer.from(given).toString("base64");
    for (const shown of [
      inspect(secret),
      JSON.stringify(secret),
      inspect({ secret }, { depth: 9 }),
    ]) {
      expect(shown).to.not.contain("secret that is long").and.not.contain(base64);
    }
  });

  it("derives a different key for each purpose", async () => {
    const secret = await load({ text: given });
    const other = await load({ text: `${given}.` });
    const access = deriveKey(secret, "access-tokens");
    expect(access).to.have.length(32);
    expect(deriveKey(secret, "access-tokens")).to.deep.equal(access);
    expect(deriveKey(secret, "refresh-tokens")).to.not.deep.equal(access);
    expect(deriveKey(other, "access-tokens")).to.not.deep.equal(access);
    expect(fingerprint(other)).to.not.equal(fingerprint(secret));
  });

  it("derives the same keys in every release", async () => {
    const secret = await load({ text: given });
    expect(fingerprint(secret)).to.equal("e5035191fbd7556b7d8608dee2580ba9");
    expect(formerFingerprint(secret)).to.equal("13b94836b8b1021889d83432c5bfae84");
    expect(Buffer.from(deriveKey(secret, "webhook-secrets")).toString("hex")).to.equal(
      "c0f73ab2108f74a0ca072954664cf75cbe4bfbec0402b8e7d2a863f2d19ddbb1",
    );
  });
});

async function run(script: string, folder: string): Promise<string> {
  const child = spawn(process.execPath, [script, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await once(child, "close");
  return printed.trim();
}
