// Accounts, on the command line.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { z } from "zod";
import { resetPassword } from "../../src/features/auth/passwords.ts";
import { logIn } from "../../src/features/auth/login.ts";
import { UserRecord } from "../../src/features/members/records.ts";
import { context, makeDesk } from "./billing-operator.ts";

const UserList = z.strictObject({
  data: z.array(z.strictObject(UserRecord.shape)),
  nextCursor: z.string().nullable(),
});
const password = "another long password 9";
const bo = ["--email", "Bo@example.com", "--name", "Bo"];

describe("till user", () => {
  const desk = makeDesk();

  it("lists all users, newest first, in pages", async () => {
    const store = await desk.store();
    await store.json(["user", "create", ...bo, "--password-stdin"], { stdin: `${password}\n` });
    const { data } = UserList.parse(await store.json(["user", "list"]));
    expect(data.map(({ email, platformRole }) => [email, platformRole])).to.deep.equal([
      ["bo@example.com", "none"],
      ["ada@example.com", "admin"],
    ]);
    const first = UserList.parse(await store.json(["user", "list", "--limit", "1"]));
    const words = ["user", "list", "--limit", "1", "--cursor", first.nextCursor ?? ""];
    const rest = UserList.parse(await store.json(words));
    expect([...first.data, ...rest.data]).to.deep.equal(data);
    expect(rest.nextCursor).to.equal(null);
    const table = await store.till(["user", "list"]);
    expect(table.stdout).to.match(/^usr_\w+ +bo@example\.com +Bo +none +20/m);
    expect(table.stdout).not.to.include("argon2");
  });

  it("creates an account that can log in, with the password from standard input or a file", async () => {
    const store = await desk.store();
    const made = await store.json(["user", "create", ...bo, "--password-stdin"], {
      stdin: `${password}\n`,
    });
    expect(UserRecord.parse(made)).to.include({ email: "bo@example.com", name: "Bo" });
    const file = join(store.folder, "password");
    await writeFile(file, `${password}\n`);
    const cy = ["--email", "cy@example.com", "--name", "Cy", "--password-file", file];
    expect((await store.till(["user", "create", ...cy])).stdout).not.to.include(password);
    for (const email of ["bo@example.com", "cy@example.com"]) {
      const session = await store.withApp((app) => logIn(app, context, { email, password }));
      expect(session.memberships).to.deep.equal([]);
    }
    const [, entry] = await store.audited("user.created");
    expect(entry).to.include({ actor_type: "operator" });
    expect(JSON.stringify(entry)).not.to.include(password);
  });

  it("adds the user to an organization after a yes", async () => {
    const store = await desk.store();
    const organization = await store.platformId();
    const words = ["user", "create", ...bo, "--organization", organization, "--role", "admin"];
    const run = (...flags: string[]) =>
      store.till([...words, "--password-stdin", "--json", ...flags], { stdin: password });
    expect((await run()).stderr).to.include("--yes");
    expect((await run("--dry-run")).code).to.equal(0);
    const trialOf = (given: readonly string[]) =>
      store.till([...given, "--password-stdin", "--dry-run"], { stdin: password });
    const account = / {2}Account +- → bo@example\.com\n/;
    const role = / {2}Role +- → (admin|member)\n/;
    const member = await trialOf(words);
    expect(member.stderr).to.match(account).and.to.match(role);
    const alone = await trialOf(["user", "create", ...bo]);
    expect(alone.stderr)
      .to.match(/^A new user\n/)
      .and.to.match(account)
      .and.not.to.match(role);
    expect(UserList.parse(await store.json(["user", "list"])).data).to.have.length(1);
    const done = await run("--yes");
    expect(done.code, done.stderr).to.equal(0);
    expect(JSON.parse(done.stdout)).to.include({ platformRole: "admin" });
    const unknown = ["user", "create", "--email", "di@example.com", "--name", "Di"];
    const nowhere = [...unknown, "--organization", "org_nothing", "--yes", "--password-stdin"];
    expect((await store.till(nowhere, { stdin: password })).code).to.equal(5);
    expect(UserList.parse(await store.json(["user", "list"])).data).to.have.length(2);
  });

  it("prompts for the password, hidden, and for other missing input", async () => {
    const store = await desk.store();
    const { code, stdout, stderr } = await store.till(["user", "create"], {
      env: { TERM: "xterm" },
      person: [
        ["E-mail address", "bo@example.com\r"],
        ["Name", "Bo\r"],
        ["Password of the new user", `${password}\r`],
        ["Repeat the password", `${password}\r`],
      ],
    });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include("bo@example.com");
    expect(stdout + stderr).not.to.include(password);
  });

  it("names all missing flags, and refuses wrong input", async () => {
    const store = await desk.store();
    const nothing = await store.till(["user", "create"]);
    expect(nothing.code).to.equal(2);
    for (const flag of ["--email", "--name", "--password-stdin or --password-file"]) {
      expect(nothing.stderr).to.include(flag);
    }
    const cases: readonly (readonly [readonly string[], string, number, string])[] = [
      [bo, "password", 1, "Choose another"],
      [["--email", "nobody", "--name", "Bo"], password, 2, "--email"],
      [["--email", "ada@example.com", "--name", "Ada"], password, 6, "has an account"],
      [[...bo, "--role", "admin"], password, 2, "--role requires --organization"],
      [[...bo, "--role", "king"], password, 2, "--role"],
      [bo, "", 2, "empty"],
    ];
    for (const [flags, stdin, code, words] of cases) {
      const run = await store.till(["user", "create", ...flags, "--password-stdin"], { stdin });
      expect(run.code, run.stderr).to.equal(code);
      expect(run.stderr).to.include(words);
    }
    expect(UserList.parse(await store.json(["user", "list"])).data).to.have.length(1);
  });

  it("creates a token that sets a new password once", async () => {
    const store = await desk.store();
    const words = ["user", "reset-password", "Ada@example.com"];
    expect((await store.till(words)).stderr).to.include("--yes");
    expect((await store.till([...words, "--dry-run"])).code).to.equal(2);
    const reset = (await store.json([...words, "--yes"])) as Record<string, string>;
    expect(reset).to.have.all.keys("userId", "email", "resetToken", "expiresAt");
    const resetToken = reset["resetToken"] ?? "";
    const use = () =>
      store.withApp((app) => resetPassword(app, context, { resetToken, newPassword: password }));
    await use();
    const login = { email: "ada@example.com", password };
    expect((await store.withApp((app) => logIn(app, context, login))).user.name).to.equal("Ada");
    const again = await use().catch((error: unknown) => error);
    expect(again).to.be.an("error").and.have.property("code", "invalid_reset_token");

    const quiet = await store.till([...words, "--yes", "--quiet"]);
    expect(quiet.stdout)
      .to.match(/^\S+\n$/)
      .and.not.equal(`${resetToken}\n`);
    const [entry] = await store.audited("user.password_reset_created");
    expect(entry).to.include({ actor_type: "operator" });
    expect(JSON.stringify(entry)).not.to.include(resetToken);
    const unknown = await store.till(["user", "reset-password", "who@example.com", "--yes"]);
    expect(unknown.code).to.equal(5);
    expect(unknown.stderr).to.include("No user has the e-mail address");
  });
});
