import { parseOptions } from "@node-rs/argon2";
import { expect } from "chai";
import { readFile } from "node:fs/promises";
import {
  createPasswords,
  passwordFault,
  PasswordsBusy,
} from "../../../src/platform/secrets/passwords.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const good = "a quite uncommon phrase";
const caller = { account: "ada@example.com", clients: [] };

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
    expect(await passwords.verify(long, hash, caller)).to.equal(true);
    expect(await passwords.verify(long.replace("1", "2"), hash, caller)).to.equal(false);
    expect(await passwords.verify("", hash, caller)).to.equal(false);
    expect(await passwords.verify(`${long} `, hash, caller)).to.equal(false);
  });

  it("match in every Unicode composition", async () => {
    const hash = await passwords.hash("caf\u00e9 cr\u00e8me br\u00fbl\u00e9e");
    expect(
      await passwords.verify("cafe\u0301 cre\u0300me bru\u0302le\u0301e", hash, caller),
    ).to.equal(true);
  });

  it("of an unknown user never match, and take as long to verify", async () => {
    expect(await passwords.verify(good, null, caller)).to.equal(false);
    const hash = await passwords.hash(good);
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      known.push(await cpuOf(() => passwords.verify("not the password", hash, caller)));
      unknown.push(await cpuOf(() => passwords.verify("not the password", null, caller)));
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
      const flaw = await passwordFault(password);
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
      expect(await passwordFault(password), password).to.have.property("code", "too_common");
    }
    expect(await passwordFault(good)).to.equal(null);
  });

  it("are refused if they equal the account's e-mail address, ignoring case", async () => {
    const email = "merchant@example.com";
    for (const password of [email, "Merchant@Example.COM"]) {
      expect(await passwordFault(password, email)).to.have.property("code", "is_email");
      expect(await passwordFault(password)).to.equal(null);
    }
    expect(await passwordFault(good, email)).to.equal(null);
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
  const hashed = createPasswords().hash(good);

  it("refuses callers beyond its limit and tells them when to retry", async () => {
    const passwords = createPasswords({
      activeMax: 2,
      waitingMax: 3,
      waitingKept: 0,
      waitingMaxOfAccount: 3,
    });
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
    const passwords = createPasswords({
      activeMax: 1,
      waitingMax: 5,
      waitingKept: 0,
      waitingMaxOfAccount: 5,
    });
    const outcomes = await Promise.allSettled([
      passwords.verify(good, "not a hash", caller),
      passwords.hash(good),
      passwords.verify(good, "not a hash", caller),
      passwords.hash(good),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal([
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(await passwords.verify(good, await passwords.hash(good), caller)).to.equal(true);
  });

  it("refuses an account that has its part of the queue, and lets others take turns with it", async () => {
    const passwords = createPasswords({
      activeMax: 1,
      waitingMax: 8,
      waitingKept: 0,
      waitingMaxOfAccount: 4,
    });
    const ended: string[] = [];
    const check = (of: string) =>
      passwords.verify(good, null, { account: of, clients: [] }).then(
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

  /** The ranges of an address in the given /48 and /64. */
  const from = (firm: number, home: number) => {
    const start = `2001:db8:${firm.toString(16)}`;
    const [upper, lower] = [home >> 8, home & 0xff].map((part) => part.toString(16));
    return [
      `${start}:${upper ?? ""}${lower ?? ""}::/64`,
      `${start}:${upper ?? ""}00::/56`,
      `${start}::/48`,
    ];
  };

  it("checks real users before most of the others during a flood of made-up accounts from one /48", async () => {
    const passwords = createPasswords();
    let isOver = false;
    let made = 0;
    let checked = 0;
    const flood = Array.from({ length: 200 }, async () => {
      while (!isOver) {
        made += 1;
        const unknown = { account: `${String(made)}@example.com`, clients: from(1, made % 65_536) };
        await passwords.verify(good, null, unknown).then(
          () => (checked += 1),
          () => undefined,
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const hash = await hashed;
    for (let user = 0; user < 20; user += 1) {
      const real = { account: `user-${String(user)}@example.com`, clients: from(2 + user, 1) };
      const before = checked;
      expect(await passwords.verify(good, hash, real)).to.equal(true);
      // The checks that run, and one of the range of the flood, come first: not those that wait.
      expect(checked - before).to.be.at.most(8);
    }
    isOver = true;
    await Promise.all(flood);
    expect(made).to.be.above(500);
  });

  it("lets one account be checked for its user while strangers try it from elsewhere", async () => {
    const passwords = createPasswords();
    const { account } = caller;
    const strangers = Array.from({ length: 300 }, (_, home) =>
      passwords.verify("a guess", null, { account, clients: from(1, home) }),
    );
    const outcomes = Promise.allSettled(strangers);
    const own = passwords.verify(good, await hashed, { account, clients: from(2, 1) });
    expect(await own).to.equal(true);
    expect((await outcomes).filter(({ status }) => status === "rejected")).to.have.length.above(
      200,
    );
  });

  it("keeps places for accounts that logged in lately from the same range, also in a flood from it", async () => {
    const limits = { activeMax: 1, waitingMax: 8, waitingKept: 2, waitingMaxOfAccount: 4 };
    const passwords = createPasswords(limits);
    const hash = await hashed;
    const user = { account: "user@example.com", clients: from(1, 1) };
    expect(await passwords.verify(good, hash, user)).to.equal(true);
    const flood = Array.from({ length: 50 }, (_, home) =>
      passwords.verify(good, null, {
        account: `${String(home)}@example.com`,
        clients: from(1, 2 + home),
      }),
    );
    const outcomes = Promise.allSettled(flood);
    const newcomer = passwords.verify(good, hash, { ...user, account: "new@example.com" });
    const refused = newcomer.catch((error: unknown) => error);
    expect(await passwords.verify(good, hash, user)).to.equal(true);
    expect(await refused).to.be.instanceOf(PasswordsBusy);
    const statuses = (await outcomes).map(({ status }) => status);
    expect(statuses.filter((status) => status === "fulfilled")).to.have.length(7);
  });

  it("refuses first those of the smallest range with the most waiters", async () => {
    const limits = { activeMax: 1, waitingMax: 4, waitingKept: 0, waitingMaxOfAccount: 4 };
    const passwords = createPasswords(limits);
    const check = (name: string, clients: readonly string[]) =>
      passwords.verify(good, null, { account: name, clients }).then(
        () => `${name} is checked`,
        () => `${name} is refused`,
      );
    const results = await Promise.all([
      check("running", from(9, 9)),
      check("neighbor", from(1, 0x0100)),
      check("first of a home", from(1, 0x0201)),
      check("second of a home", from(1, 0x0201)),
      check("elsewhere", from(2, 1)),
      check("newcomer", from(3, 1)),
    ]);
    expect(results.filter((result) => result.endsWith("refused"))).to.deep.equal([
      "second of a home is refused",
    ]);
  });

  it("gives new passwords no more than one account's part, so that logins go on", async () => {
    const passwords = createPasswords({
      activeMax: 1,
      waitingMax: 8,
      waitingKept: 0,
      waitingMaxOfAccount: 4,
    });
    const made = Array.from({ length: 12 }, () => passwords.hash(good));
    const login = passwords.verify(good, null, caller);
    const outcomes = await Promise.allSettled(made);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(5);
    expect(await login).to.equal(false);
  });
});

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs();
  await work();
  return cpuMs() - before;
}
