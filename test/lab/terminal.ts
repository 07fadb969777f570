// `npm run prove:terminal`: a server under 50 writes a second and four shells that each run 50 commands which write, one
// process after the other, on the same SQLite store. It fails if any write fails, if any log names a lock, or if the
// server's next request after `till key revoke`, `org approve` or `org suspend` is answered as before.
// TILL_PROVE_COMMANDS changes the number of commands of each shell.
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { legalFields } from "../support/app.ts";
import { builtProgram } from "../support/programs/built.ts";
import { password } from "../support/programs/till.ts";
import { openShop, quantile, type Shop } from "./shop.ts";

const shells = 4;
const commandsEach = Number(process.env["TILL_PROVE_COMMANDS"] ?? "50");
const writesPerSecond = 50;
/** Writes under way at a time. A server that keeps the pace has far fewer. */
const underWayMax = 200;
/** The share of the pace that counts as kept. */
const paceKept = 0.9;
/** The organizations that are approved and then suspended. */
const organizations = 3;
/** Every so many writes of a shell, it revokes a key. */
const revokeEvery = 10;

const shop = await openShop({
  TILL_VERIFICATION: "required",
  TILL_REGISTRATION: "open",
  TILL_RATE_LIMIT_REGISTRATION_PER_HOUR: "1000",
  TILL_RATE_LIMIT_SESSION_PER_MINUTE: "100000",
});
/** The times of all commands in milliseconds. */
const commandTimes: number[] = [];
/** Faults with their number. */
const faults = new Map<string, number>();
const fault = (text: string) => faults.set(text, (faults.get(text) ?? 0) + 1);
try {
  const begun = Date.now();
  const ending = new AbortController();
  const load = writeSteadily(shop, ending.signal);
  await Promise.all(Array.from({ length: shells }, (_none, shell) => runShell(shell)));
  const times = commandTimes.toSorted((one, other) => one - other);
  const seconds = (Date.now() - begun) / 1_000;
  ending.abort();
  const { answered, failed } = await load;
  const held = await decideOverOrganizations(organizations);

  console.log(`commands: ${String(times.length)}, of ${String(shells)} shells`);
  console.log(
    `time of a command: ${quantile(times, 0.5).toFixed(0)} ms median, ${quantile(times, 0.99).toFixed(0)} ms p99`,
  );
  console.log(
    `writes of the server: ${String(answered.length)} in ${seconds.toFixed(0)} s, ${(answered.length / seconds).toFixed(1)} each second, ${String(failed)} failed`,
  );
  const sorted = answered.sort((one, other) => one - other);
  console.log(
    `time of a write: ${quantile(sorted, 0.5).toFixed(0)} ms median, ${quantile(sorted, 0.99).toFixed(0)} ms p99`,
  );
  console.log(
    `decisions that held on the next request: ${String(held)} of ${String(2 * organizations)}`,
  );
  const verified = await command(["db", "verify", "--quiet"]);
  if (verified.code !== 0) fault(`db verify: ${verified.said}`);
  const pace = answered.length / seconds;
  if (pace < writesPerSecond * paceKept) fault(`only ${pace.toFixed(1)} writes a second`);
} finally {
  await shop.end();
}
for (const [text, count] of faults) console.error(`${String(count)} × ${text}`);
console.log(`kinds of faults: ${String(faults.size)}`);
process.exitCode = faults.size === 0 ? 0 : 1;

/** Writes by the API at a steady pace until it is aborted. Returns the times of all answers in milliseconds. */
async function writeSteadily(
  { server, path, key }: Shop,
  signal: AbortSignal,
): Promise<{ answered: number[]; failed: number }> {
  const answered: number[] = [];
  const underWay = new Set<Promise<void>>();
  let failed = 0;
  const begun = performance.now();
  for (let count = 0; !signal.aborted; count += 1) {
    if (underWay.size >= underWayMax) await Promise.race(underWay);
    const at = begun + (count * 1_000) / writesPerSecond;
    if (at > performance.now()) await delay(at - performance.now());
    const asked = performance.now();
    const body = { name: `Customer ${String(count)}`, email: `c${String(count)}@example.com` };
    const one = send(server.url, "POST", `${path}/customers`, { "X-Service-Key": key }, body)
      .then(({ status, text }) => {
        answered.push(performance.now() - asked);
        if (status === 201) return;
        failed += 1;
        fault(`a write of the server: ${String(status)} ${text}`);
      })
      .catch((error: unknown) => {
        failed += 1;
        const { cause } = error as { readonly cause?: unknown };
        fault(`a write of the server: ${String(error)} ${String(cause)}`);
      })
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
  return { answered, failed };
}

/** Runs commands one after the other, as a script in a shell does. */
async function runShell(shell: number): Promise<void> {
  for (let count = 0; count < commandsEach; count += 1) {
    const name = `Shell ${String(shell)}, ${String(count)}`;
    const isKey = count % revokeEvery === 0;
    const words = isKey
      ? ["key", "create", "--name", name, "--scopes", "read", "--json", "--yes"]
      : ["customer", "add", "--name", name];
    const { code, said, stdout } = await command(words);
    if (code !== 0 || /SQLITE_BUSY|is locked|lock/i.test(said)) {
      fault(`till ${words.join(" ")}: ${String(code)} ${said}`);
    } else if (isKey) {
      await revoke(JSON.parse(stdout) as { id: string; secret: string });
      count += 1;
    }
  }
}

/** Revokes a key that works, after which the server's next request refuses it. */
async function revoke({ id, secret }: { readonly id: string; readonly secret: string }) {
  const use = () =>
    send(shop.server.url, "GET", `${shop.path}/customers`, { "X-Service-Key": secret });
  expectStatus("a new key", (await use()).status, 200);
  const { code, said } = await command(["key", "revoke", id, "--yes"]);
  if (code !== 0) fault(`till key revoke: ${String(code)} ${said}`);
  expectStatus("a revoked key", (await use()).status, 401);
}

/** Approves and suspends organizations; returns how many decisions held at once. */
async function decideOverOrganizations(count: number): Promise<number> {
  let held = 0;
  for (let place = 0; place < count; place += 1) {
    const { url } = shop.server;
    const registered = await send(
      url,
      "POST",
      "/v1/auth/register",
      {},
      {
        email: `merchant${String(place)}@example.com`,
        password,
        name: "Bo",
        organizationName: `Nook ${String(place)}`,
      },
    );
    expectStatus("a registration", registered.status, 201);
    const session = JSON.parse(registered.text) as {
      accessToken: string;
      memberships: { organizationId: string }[];
    };
    const id = session.memberships[0]?.organizationId ?? "";
    const own = { Authorization: `Bearer ${session.accessToken}` };
    const path = `/v1/organizations/${id}`;
    expectStatus("its details", (await send(url, "PATCH", path, own, legalFields)).status, 200);
    expectStatus("its review", (await send(url, "POST", `${path}/kyb/submit`, own)).status, 200);
    const issue = async () => {
      const { text } = await send(url, "POST", `${path}/invoices`, own, {
        amount: "10.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "sandbox",
      });
      return text === "" ? "nothing" : ((JSON.parse(text) as { code?: string }).code ?? text);
    };
    const decided = async (verb: string, words: readonly string[], expected: string) => {
      const { code, said } = await command(["org", verb, id, ...words, "--yes"]);
      // A command that failed decided nothing, so the next request cannot show whether a decision holds.
      if (code !== 0) {
        fault(`till org ${verb}: ${String(code)} ${said}`);
        return;
      }
      const answer = await issue();
      if (answer === expected) held += 1;
      else fault(`after org ${verb}: ${answer} instead of ${expected}`);
    };
    const before = await issue();
    if (before !== "organization_not_verified") fault(`before: ${before}`);
    // An approved organization gets further: it has no wallet yet.
    await decided("approve", [], "no_wallet");
    await decided("suspend", [], "organization_suspended");
  }
  return held;
}

function expectStatus(subject: string, status: number, expected: number): void {
  if (status !== expected) fault(`${subject}: ${String(status)} instead of ${String(expected)}`);
}

async function send(
  url: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...headers,
      "Idempotency-Key": String(Math.random()),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Runs `till` as a process of its own. */
function command(
  words: readonly string[],
): Promise<{ code: number | null; said: string; stdout: string }> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(process.execPath, [builtProgram(), ...words], {
      env: { PATH: process.env["PATH"] ?? "", ...shop.installation.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (texts.stdout += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (texts.stderr += chunk.toString("utf8")));
    child.once("error", reject);
    child.once("close", (code) => {
      commandTimes.push(performance.now() - begun);
      resolve({ code, said: texts.stderr, stdout: texts.stdout });
    });
  });
}
