// Requests with an Idempotency-Key to servers in separate processes: concurrent ones are executed once, whichever
// server they reach, and one whose server died before it could answer is not executed again.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Database } from "../../src/platform/database/database.ts";
import { send, type Answer } from "../support/app.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { eachStore } from "../support/store/stores.ts";

const parallel = 50;
const perRound = 40;
/** The maximum time that a server runs before its state is checked, in milliseconds. */
const stepMsMax = 8;
/** The time after which everything that a server sent before it was stopped has arrived, in milliseconds. */
const arrivalMs = 30;
/** As much metadata as a customer may have, so that responses take a while to write. */
const metadata = Object.fromEntries(
  Array.from({ length: 50 }, (_, place) => [`name ${String(place)}`, "x".repeat(500)]),
);

eachStore("an Idempotency-Key", function (store) {
  let till: Installation;
  let servers: RunningServer[];
  let key: string;
  let path: string;
  let db: Database;

  before(async () => {
    const place = await store.place("empty");
    till = await makeInstallation(
      { TILL_NETWORKS: "sandbox", TILL_VERIFICATION: "off", TILL_RATE_LIMIT_SCALE: "0" },
      place,
    );
    const words = ["--admin-email", "admin@example.com", "--admin-name", "Admin"];
    const made = await till.run(
      ["init", ...words, "--organization", "Platform", "--password-stdin", "--json"],
      "a password of the tests 1\n",
    );
    expect(made.status, made.stderr).to.equal(0);
    const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
    const named = ["--organization", organization.id, "--name", "shop", "--json"];
    const created = await till.run(["key", "create", ...named, "--scopes", "read,write"]);
    expect(created.status, created.stderr).to.equal(0);
    key = (JSON.parse(created.stdout) as { secret: string }).secret;
    path = `/v1/organizations/${organization.id}/customers`;
    // Only one process may open a SQLite file.
    servers = await Promise.all(
      Array.from({ length: store.dialect === "postgres" ? 2 : 1 }, () => till.serve()),
    );
    const sqliteFile = join(till.env["TILL_DATA_DIR"] ?? "", "till.db");
    db = await store.open("url" in place ? place : { sqliteFile });
  });
  after(() => till.remove());

  const create = (server: RunningServer, name: string): Promise<Answer> =>
    send(server.url, "POST", path, {
      key,
      headers: { "idempotency-key": name },
      body: { name, metadata },
    });

  async function written(names: readonly string[]): Promise<readonly string[]> {
    const places = names.map((_name, place) => `$${String(place + 1)}`).join(", ");
    const found = await db.all<{ name: string }>(
      `SELECT name FROM customers WHERE name IN (${places})`,
      names,
    );
    return found.map(({ name }) => name);
  }

  /** Stops the server between an effect and its response; false if it has already answered everything. */
  async function stopBetween(
    { child }: RunningServer,
    names: readonly string[],
    answered: ReadonlySet<string>,
  ): Promise<boolean> {
    while (answered.size < names.length) {
      await delay(Math.random() * stepMsMax);
      child.kill("SIGSTOP");
      await delay(arrivalMs);
      const effects = await written(names);
      if (effects.some((name) => !answered.has(name))) return true;
      child.kill("SIGCONT");
    }
    return false;
  }

  async function named(name: string): Promise<number> {
    const [server] = servers as [RunningServer];
    const { body } = await send(server.url, "GET", `${path}?limit=100`, { key });
    return (body["data"] as { name: string }[]).filter((each) => each.name === name).length;
  }

  it(`of ${String(parallel)} requests at once is one request, whichever server they reach`, async () => {
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, place) =>
        create(servers[place % servers.length] as RunningServer, "at once"),
      ),
    );
    const given = answers.filter(({ status }) => status === 201);
    const told = answers.map(({ status, text }) => `${String(status)} ${text}`);
    expect(given, told.join("\n")).not.to.have.length(0);
    expect(new Set(given.map(({ text }) => text)).size, "different answers").to.equal(1);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, body } of refused) {
      expect([status, body["code"]]).to.deep.equal([409, "idempotency_key_in_flight"]);
    }
    expect(await named("at once")).to.equal(1);
  });

  it("is not done again when its server was killed before it answered", async () => {
    let unanswered = 0;
    for (let round = 0; unanswered === 0; round += 1) {
      const [server] = servers as [RunningServer];
      const names = Array.from(
        { length: perRound },
        (_, place) => `${String(round)}-${String(place)}`,
      );
      const answered = new Set<string>();
      const first = names.map(async (name) => {
        const answer = await create(server, name).catch(() => null);
        if (answer !== null) answered.add(name);
        return answer;
      });
      if (!(await stopBetween(server, names, answered))) continue;
      // Requests that are unanswered now will never be answered.
      await server.kill();
      const before = await Promise.all(first);
      servers[0] = await till.serve();
      const again = await Promise.all(
        names.map((name) => create(servers[0] as RunningServer, name)),
      );
      for (const [place, answer] of again.entries()) {
        expect(answer.status, answer.text).to.equal(201);
        const earlier = before[place] ?? null;
        if (earlier !== null) expect(answer.text).to.equal(earlier.text);
        else if (answer.headers.get("idempotent-replayed") === "true") unanswered += 1;
        expect(await named(names[place] ?? "")).to.equal(1);
      }
    }
  });
});
