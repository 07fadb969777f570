import { parseOptions } from "@node-rs/argon2";
import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { createPasswords, PasswordsBusy } from "../../../src/platform/secrets/passwords.ts";

const good = "a quite uncommon phrase";
const account = "ada@example.com";

describe("passwords", () => {
  const passwords = createPasswords();

  it("are hashed with argon2id at the cost that OWASP recommends", async () => {
    const hash = await passwords.hash(good);
    expect(hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(parseOptions(hash)).to.include({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    expect(await passwords.hash(good)).to.not.equal(hash);
  });

  it("are verified in full length", async () => {
    const long = `${"x".repeat(72)}1${"y".repeat(20)}`;
    const hash = await passwords.hash(long);
    expect(await passwords.verify(long, hash, account)).to.equal(true);
    expect(await passwords.verify(long.replace("1", "2"), hash, account)).to.equal(false);
    expect(await passwords.verify("", hash, account)).to.equal(false);
    expect(await passwords.verify(`${long} `, hash, account)).to.equal(false);
  });

  it("match in every Unicode composition", async () => {
    const hash = await passwords.hash("caf\u00e9 cr\u00e8me br\u00fbl\u00e9e");
    expect(
      await passwords.verify("cafe\u0301 cre\u0300me bru\u0302le\u0301e", hash, account),
    ).to.equal(true);
  });

  it("of an unknown user never match, and take as long to verify", async () => {
    expect(await passwords.verify(good, null, account)).to.equal(false);
    const hash = await passwords.hash(good);
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      known.push(await elapsed(() => passwords.verify("not the password", hash, account)));
      unknown.push(await elapsed(() => passwords.verify("not the password", null, account)));
    }
    // Coarse limits for a busy machine; without the hash the ratio would be a thousandth.
    expect(Math.min(...unknown) / Math.min(...known)).to.be.within(0.5, 2);
  });

  it("have 8 to 256 characters, counted as code points", async () => {
    const cases: readonly [string, string | null][] = [
      ["", "invalid_length"],
      ["7 chars", "invalid_length"],
      ["8 chars.", null],
      ["😀".repeat(4), "invalid_length"],
      ["😀🚀🎯🧭🔑🪙📦🧾", null],
      ["ab ".repeat(85) + "c", null],
      ["ab ".repeat(85) + "cd", "invalid_length"],
      ["🚀".repeat(256), null],
      ["🚀".repeat(257), "invalid_length"],
    ];
    for (const [password, code] of cases) {
      const flaw = await passwords.check(password);
      expect(flaw === null ? null : flaw.code, password.slice(0, 20)).to.equal(code);
    }
  });

  it("are refused if they are common ones, ignoring case", async () => {
    for (const password of [
      "password",
      "PassWord123",
      "12345678",
      "qwertyuiop",
      "1Q2w3e4R",
      "iloveyou",
      "ｐａｓｓｗｏｒｄ",
    ]) {
      expect(await passwords.check(password), password).to.have.property("code", "too_common");
    }
    expect(await passwords.check(good)).to.equal(null);
  });

  it("are refused if they equal the account's e-mail address, ignoring case", async () => {
    const email = "merchant@example.com";
    for (const password of [email, "Merchant@Example.COM"]) {
      expect(await passwords.check(password, email)).to.have.property("code", "is_email");
      expect(await passwords.check(password)).to.equal(null);
    }
    expect(await passwords.check(good, email)).to.equal(null);
  });

  it("are refused by a list of more than 300 distinct, normalized passwords of at least 8 characters", async () => {
    const url = new URL("../../../src/platform/secrets/common-passwords.txt", import.meta.url);
    const lines = (await readFile(url, "utf8")).trimEnd().split("\n");
    expect(lines.length).to.be.above(300);
    expect(new Set(lines).size).to.equal(lines.length);
    for (const line of lines) {
      expect(line, line).to.equal(line.normalize("NFKC").toLowerCase());
      expect(Array.from(line).length, line).to.be.at.least(8);
    }
  });
});

describe("the queue for hashing passwords", () => {
  it("refuses callers beyond its limit and tells them when to retry", async () => {
    const passwords = createPasswords({ activeMax: 2, waitingMax: 3, waitingMaxOfAccount: 3 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => passwords.hash(good)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).to.have.length(15);
    for (const { reason } of refused) {
      expect(reason).to.be.instanceOf(PasswordsBusy);
      expect(reason).to.include({ code: "busy", status: 503, retryAfterSeconds: 1 });
    }
  });

  it("serves all callers within its limit, and continues after a failure", async () => {
    const passwords = createPasswords({ activeMax: 1, waitingMax: 5, waitingMaxOfAccount: 5 });
    const outcomes = await Promise.allSettled([
      passwords.verify(good, "not a hash", account),
      passwords.hash(good),
      passwords.verify(good, "not a hash", account),
      passwords.hash(good),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal([
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(await passwords.verify(good, await passwords.hash(good), account)).to.equal(true);
  });

  it("refuses an account that has its part of the queue, and lets others take turns with it", async () => {
    const passwords = createPasswords({ activeMax: 1, waitingMax: 8, waitingMaxOfAccount: 4 });
    const ended: string[] = [];
    const check = (of: string) =>
      passwords.verify(good, null, of).then(
        () => ended.push(of),
        () => ended.push(`${of} is refused`),
      );
    const attacked = Array.from({ length: 7 }, () => check("attacked"));
    await Promise.all([...attacked, check("other"), check("other"), check("third")]);
    expect(ended).to.deep.equal([
      ...["attacked is refused", "attacked is refused", "attacked", "attacked", "other", "third"],
      ...["attacked", "other", "attacked", "attacked"],
    ]);
  });

  it("gives new passwords no more than one account's part, so that logins go on", async () => {
    const passwords = createPasswords({ activeMax: 1, waitingMax: 8, waitingMaxOfAccount: 4 });
    const made = Array.from({ length: 12 }, () => passwords.hash(good));
    const login = passwords.verify(good, null, account);
    const outcomes = await Promise.allSettled(made);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(5);
    expect(await login).to.equal(false);
  });
});

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
