import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { init, till, useFolders } from "../support/programs/till.ts";

/** A wallet that nobody in particular has: the contract of no token. */
const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const enter = "\r";
const controlC = "\u0003";
const env = { TERM: "xterm" };

describe("prompts at a terminal", () => {
  const folders = useFolders();

  it("replace the flags of init, with the password hidden", async () => {
    const folder = join(await folders.make(), "data");
    const { code, stdout, stderr } = await till(["init", "--data-dir", folder], {
      env,
      person: [
        ["Networks", enter],
        ["Public base URL", `pay.example.com${enter}`],
        ["must be a URL", `${"\u007f".repeat(15)}https://pay.example.com${enter}`],
        ["Folder of the backups", `/dev/fd/backups${enter}`],
        ["No backup can be written", `${"\u007f".repeat(15)}${enter}`],
        ["When to back up", enter],
        ["Your e-mail address", `ada${enter}`],
        ["must be an e-mail address", `@example.com${enter}`],
        ["Your name", ` ${enter}`],
        ["must provide a value", `Ada${enter}`],
        ["The organization", `Shop${enter}`],
        ["Password of the admin", `password${enter}`],
        ["most common passwords", `${"\u007f".repeat(8)}a long password 7${enter}`],
        ["Repeat the password", `a long password 8${enter}`],
        ["Password of the admin", `a long password 7${enter}`],
        ["Repeat the password", `a long password 7${enter}`],
        ["Wallet for your invoices", `tron:${address}${enter}`],
        ["Wallet that receives", enter],
      ],
    });
    expect(code, stderr).to.equal(0);
    const file = await readFile(join(folder, "till.yaml"), "utf8");
    expect(parse(file)).to.deep.equal({
      networks: ["tron"],
      baseUrl: "https://pay.example.com",
      backupSchedule: "15 3 * * *",
    });
    const wallets = await till(["wallet", "list", "--json", "--data-dir", folder]);
    expect(wallets.stdout).to.include(address);
    expect(stderr).to.include("do not match").and.to.include("till billing receive-wallet");
    expect(stdout).to.include("ada@example.com").and.to.include("Shop");
    expect(stdout + stderr).not.to.include("a long password 7");
  });

  it("offer to set the platform's receive wallet, and set it", async () => {
    const folder = join(await folders.make(), "data");
    const words = ["--admin-email", "ada@example.com", "--admin-name", "Ada"];
    const made = await till(["init", ...words, "--organization", "Shop", "--data-dir", folder], {
      env,
      person: [
        ["Networks", enter],
        ["Public base URL", enter],
        ["Folder of the backups", enter],
        ["When to back up", `none${enter}`],
        ["Password of the admin", `a long password 7${enter}`],
        ["Repeat the password", `a long password 7${enter}`],
        ["Wallet for your invoices", enter],
        ["Wallet that receives", `tron:${address}${enter}`],
      ],
    });
    expect(made.code, made.stderr).to.equal(0);
    expect(await readFile(join(folder, "till.yaml"), "utf8")).not.to.include("backup");
    const set = await till(["billing", "receive-wallet", "--json", "--data-dir", folder]);
    expect(JSON.parse(set.stdout)).to.deep.include({ network: "tron", tokenSymbol: "USDT" });
  });

  it("grant access after a yes, and not after a no", async () => {
    const folder = join(await folders.make(), "data");
    await init(["--data-dir", folder]);
    const organization = (await till(["org", "list", "-q", "--data-dir", folder])).stdout.trim();
    const words = ["--organization", organization, "--scopes", "read", "--data-dir", folder, "-q"];
    const made = await till(["key", "create", ...words], {
      env,
      person: [["A name by which you recognize the key", `shop${enter}`]],
    });
    const id = made.stdout.trim();
    const revoke = ["key", "revoke", id, "--no-color", "--data-dir", folder];
    const question = `Revoke shop (${id}), active?`;
    for (const no of [`n${enter}`, enter]) {
      const declined = await till(revoke, { env, person: [[question, no]] });
      expect(declined.code).to.equal(3);
      expect(declined.stderr).to.include("Nothing was changed");
    }
    const done = await till(revoke, { env, person: [[question, `y${enter}`]] });
    expect(done.code).to.equal(0);
    expect(done.stdout).to.match(/Revoked +20/);
  });

  it("exit with 130 on Ctrl-C at any question, and create nothing", async () => {
    const folder = await folders.make();
    const questions: [string, string][] = [
      ["Networks", enter],
      ["Public base URL", enter],
      ["Folder of the backups", enter],
      ["When to back up", enter],
      ["Your e-mail address", `ada@example.com${enter}`],
      ["Your name", `Ada${enter}`],
      ["The organization", `Shop${enter}`],
      ["Password of the admin", `a long password 7${enter}`],
      ["Repeat the password", `a long password 7${enter}`],
      ["Wallet for your invoices", `tron:${address}${enter}`],
      ["Wallet that receives", enter],
    ];
    for (const [place, [question]] of questions.entries()) {
      const { code } = await till(["init", "--data-dir", join(folder, "data")], {
        env,
        person: [...questions.slice(0, place), [question, controlC]],
      });
      expect(code, question).to.equal(130);
      expect(await readdir(folder), question).to.deep.equal([]);
    }
  });
});
