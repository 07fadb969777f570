// npm run prove:attacks: floods of a server by clients without a credential: sockets that send their headers or bodies
// slowly, and logins of one account or of many from as many addresses. Meanwhile other clients send requests and one user
// logs in. It fails if they notice more than docs/performance.md says, or if memory grows beyond its limit.
import { connect } from "node:net";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { password } from "../support/programs/till.ts";
import { openShop, quantile, residentMib, type Shop } from "./shop.ts";

const socketCount = Number(process.env["PROVE_SOCKETS"] ?? "500");
const loginsPerSecond = Number(process.env["PROVE_LOGINS"] ?? "100");
const seconds = Number(process.env["PROVE_SECONDS"] ?? "30");
/** How often a slow client sends a byte, others send a request and log in, and memory is read, in milliseconds. */
const byteMs = 1_000;
const requestMs = 100;
const loginMs = 1_000;
const sampleMs = 200;
/** How soon a server ends headers and bodies that are not complete; it looks once a second. */
const endedWithinMs = { headers: 12_000, bodies: 32_000 };
/** Limits of what others notice: the slowest of a hundred requests, and a login with its retries, in milliseconds. */
const targets = { requestMs: 1_000, loginMs: 10_000, residentMib: 300 };
/** The user of the shop. */
const user = "ada@example.com";

/** The clients that are not part of an attack. */
interface Others {
  /** The time of each request, in milliseconds. */
  readonly requests: number[];
  readonly failures: string[];
  /** The time of each login until it succeeded, in milliseconds, and its attempts. */
  readonly logins: number[];
  readonly attempts: number[];
  residentMib: number;
  stop(): Promise<void>;
}

function login(shop: Shop, from: string, email: string, given: string): Promise<Response> {
  return fetch(`${shop.server.url}/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": from },
    body: JSON.stringify({ email, password: given }),
  });
}

/** Starts the others: requests in turn, one user who logs in again and again, and a look at the memory. */
function startOthers(shop: Shop, checkoutId: string): Others {
  const ending = new AbortController();
  const isOver = () => ending.signal.aborted;
  const pause = (ms: number) => delay(ms, null, { signal: ending.signal }).catch(() => null);
  const { server, path, key } = shop;
  const calls = [
    () => fetch(`${server.url}/healthz`),
    () => fetch(`${server.url}/pay/${checkoutId}`),
    () => fetch(`${server.url}${path}/invoices?limit=20`, { headers: { "X-Service-Key": key } }),
    () =>
      fetch(`${server.url}${path}/invoices`, {
        method: "POST",
        headers: {
          "X-Service-Key": key,
          "Content-Type": "application/json",
          "Idempotency-Key": String(Math.random()),
        },
        body: JSON.stringify({
          amount: "25.00",
          settlementCurrency: "USD",
          tokenSymbol: "USDT",
          network: "sandbox",
        }),
      }),
  ];
  const others: Omit<Others, "stop"> = {
    requests: [],
    failures: [],
    logins: [],
    attempts: [],
    residentMib: 0,
  };

  async function request(count: number): Promise<void> {
    const startedAt = performance.now();
    const answer = await calls[count % calls.length]?.();
    await answer?.arrayBuffer();
    others.requests.push(performance.now() - startedAt);
    if (answer?.ok !== true) others.failures.push(`${String(answer?.status)} ${answer?.url ?? ""}`);
  }
  async function keepRequesting(): Promise<void> {
    for (let count = 0; !isOver(); count += 1) {
      await request(count).catch((error: unknown) => others.failures.push(String(error)));
      await pause(requestMs);
    }
  }
  async function keepLoggingIn(): Promise<void> {
    for (let count = 0; !isOver(); count += 1) {
      const startedAt = performance.now();
      let attempts = 0;
      let status = 0;
      while (status !== 200 && !isOver()) {
        attempts += 1;
        const from = `203.0.113.${String(count % 250)}`;
        const answer = await login(shop, from, user, password);
        await answer.arrayBuffer();
        ({ status } = answer);
        if (status === 503) await pause(Number(answer.headers.get("Retry-After")) * 1_000);
        else if (status !== 200) others.failures.push(`login ${String(status)}`);
      }
      if (status === 200) {
        others.logins.push(performance.now() - startedAt);
        others.attempts.push(attempts);
      }
      await pause(loginMs);
    }
  }
  async function keepMeasuring(): Promise<void> {
    while (!isOver()) {
      others.residentMib = Math.max(others.residentMib, await residentMib(server));
      await pause(sampleMs);
    }
  }
  const running = [keepRequesting(), keepLoggingIn(), keepMeasuring()];
  return Object.assign(others, {
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  });
}

/** The result of an attack: what it got, and which promises about the attacker are broken. */
interface Attack {
  readonly got: string;
  readonly faults: readonly string[];
}

/** Sends a request byte by byte. Returns the status of the answer and the time until the connection ended. */
function sendSlowly(shop: Shop, head: string): Promise<{ status: number; endedMs: number }> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let heard = "";
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(shop.server.url).port) });
    socket.write(head);
    const dripping = setInterval(() => socket.write("x"), byteMs);
    socket.on("data", (part) => (heard += part.toString("latin1")));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearInterval(dripping);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(heard)?.[1] ?? 0);
      resolve({ status, endedMs: performance.now() - startedAt });
    });
  });
}

async function sendAllSlowly(shop: Shop, part: "headers" | "bodies"): Promise<Attack> {
  const start = "POST /v1/auth/login HTTP/1.1\r\nHost: till\r\nContent-Type: application/json\r\n";
  const all = await Promise.all(
    Array.from({ length: socketCount }, (_, place) => {
      const from = `X-Forwarded-For: 10.1.${String(place >> 8)}.${String(place & 255)}\r\n`;
      const head = part === "headers" ? "X-Slow: " : "Content-Length: 1000\r\n\r\n{";
      return sendSlowly(shop, start + from + head);
    }),
  );
  const longestMs = Math.max(...all.map(({ endedMs }) => endedMs));
  const answered = all.filter(({ status }) => status === 408).length;
  return {
    got: `${String(answered)} of ${String(socketCount)} got 408, the last after ${(longestMs / 1_000).toFixed(1)} s`,
    faults: longestMs > endedWithinMs[part] ? ["a slow request was not ended in time"] : [],
  };
}

let addresses = 0;

/** Guesses passwords at a steady rate, each from another address. */
async function guess(shop: Shop, emailOf: (count: number) => string): Promise<Attack> {
  const statuses = new Map<number, number>();
  const guesses: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = loginsPerSecond * seconds;
  for (let count = 0; count < total; count += 1) {
    addresses += 1;
    const from = `10.${[16, 8, 0].map((bits) => (addresses >> bits) & 255).join(".")}`;
    guesses.push(
      login(shop, from, emailOf(count), "a wrong password").then(async (answer) => {
        await answer.arrayBuffer();
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }),
    );
    await delay(
      Math.max(0, startedAt + ((count + 1) * 1_000) / loginsPerSecond - performance.now()),
    );
  }
  await Promise.all(guesses);
  const perSecond = total / ((performance.now() - startedAt) / 1_000);
  const counts = [...statuses].map(([status, times]) => `${String(times)} × ${String(status)}`);
  const odd = [...statuses.keys()].filter((status) => status !== 401 && status !== 503);
  return {
    got: `${perSecond.toFixed(0)} guesses per second: ${counts.join(", ")}`,
    faults: odd.map((status) => `a guess was answered ${String(status)}`),
  };
}

const attacks: Readonly<Record<string, (shop: Shop) => Promise<Attack>>> = {
  "nobody attacks": async () => {
    await delay(seconds * 1_000);
    return { got: "nothing", faults: [] };
  },
  "slow headers": (shop) => sendAllSlowly(shop, "headers"),
  "slow bodies": (shop) => sendAllSlowly(shop, "bodies"),
  "logins of one account": (shop) => guess(shop, () => "grace@example.com"),
  "logins of many accounts": (shop) => guess(shop, (count) => `g${String(count)}@example.com`),
};

function report(name: string, { got, faults }: Attack, others: Others): void {
  const requests = others.requests.toSorted((one, other) => one - other);
  const logins = others.logins.toSorted((one, other) => one - other);
  const attempts = Math.max(0, ...others.attempts);
  const slowest = quantile(requests, 0.99);
  const longest = logins.at(-1) ?? Infinity;
  const ms = (time: number) => `${time.toFixed(0)} ms`;
  const broken = [
    ...faults,
    ...new Set(others.failures),
    ...(slowest > targets.requestMs ? ["requests waited too long"] : []),
    ...(longest > targets.loginMs ? ["a login took too long"] : []),
    ...(others.residentMib > targets.residentMib ? ["memory grew too much"] : []),
  ];
  const figures = [
    `${name}: ${got}`,
    `${String(requests.length)} requests of others ${ms(quantile(requests, 0.5))} (median), ${ms(slowest)} (p99)`,
    `${String(logins.length)} logins ${ms(quantile(logins, 0.5))} (median), ${ms(longest)} and ${String(attempts)} attempts at most`,
    `${others.residentMib.toFixed(0)} MiB at most`,
    `load ${(loadavg()[0] ?? 0).toFixed(1)}`,
  ];
  console.log(`${figures.join("; ")}${broken.length === 0 ? "" : "  (failed)"}`);
  for (const fault of broken) console.log(`  ${fault}`);
  if (broken.length > 0) process.exitCode = 1;
}

const shop = await openShop({ TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "1000" });
try {
  const [checkoutId = ""] = await shop.issue(1);
  for (const [name, attack] of Object.entries(attacks)) {
    const others = startOthers(shop, checkoutId);
    const result = await attack(shop);
    await others.stop();
    report(name, result, others);
  }
} finally {
  await shop.end();
}
