import type { AddressInfo } from "node:net";
import { Agent, request as openRequest, type Server } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { decideVerification } from "../../src/features/organizations/verification.ts";
import { createApp, type Program, type Externals } from "../../src/compose/app.ts";
import { systemActor } from "../../src/kernel/actor.ts";
import type { Clock, Instant } from "../../src/kernel/clock.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { createHttpServer } from "../../src/server.ts";
import { expectDeclared } from "./declared.ts";
import { noteProblem } from "./problems-seen.ts";
import { secret } from "./secret.ts";
import { expectSoundPlace } from "./store/expect-store-is-consistent.ts";

/** The machine's time plus an offset that the test sets. */
export interface MovingClock extends Clock {
  advance(milliseconds: number): void;
}

export function movingClock(start?: Instant): MovingClock {
  let added = start === undefined ? 0 : start - Date.now();
  return {
    now: () => Date.now() + added,
    advance(milliseconds) {
      added += milliseconds;
    },
  };
}

/** A clock that stands still until the test moves it, for events within one millisecond or in the next. */
export function stillClock(start: number): MovingClock {
  let now = start;
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; null if it is empty. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface RequestOptions {
  readonly key?: string;
  readonly token?: string;
  readonly body?: unknown;
  /** The raw body, in place of `body`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApp {
  readonly app: Program;
  readonly clock: MovingClock;
  readonly server: Server;
  /** Without a trailing slash. */
  readonly url: string;
  /** Sends a request; `path` starts at the root. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface AppOptions {
  /**
   * The place of the store, which its creator verifies; by default a fresh SQLite file, which is verified as by `till
   * db verify` when the app stops.
   */
  readonly place?: StoreOptions;
  /** Settings by environment variable. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly clock?: MovingClock;
  readonly outside?: Partial<Externals>;
  /** False to run no background work, for tests that inspect intermediate states. */
  readonly background?: boolean;
}

/** The minimum cost of argon2id: the real cost would take a large part of the suite's time. */
const leastCost = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Starts the whole program on a free port, as `till serve` does. */
export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? movingClock();
  const ownFolder = options.place === undefined ? await mkdtemp(join(tmpdir(), "till app ")) : null;
  const place = options.place ?? { sqliteFile: join(ownFolder ?? "", "till.db") };
  const store: Record<string, string> =
    "url" in place
      ? { DATABASE_URL: place.url, TILL_SECRET: secret }
      : { TILL_DATA_DIR: dirname(place.sqliteFile), TILL_SECRET: secret };
  const { config } = await loadConfig({
    mode: "serve",
    env: {
      TILL_REGISTRATION: "open",
      TILL_NETWORKS: "sandbox",
      TILL_RATE_LIMIT_SCALE: "0",
      // Tests make no requests to public sources of rates.
      TILL_RATES: "off",
      TILL_PORT: "0",
      ...store,
      ...options.settings,
    },
  });
  const app = await createApp(config, "create", {
    clock,
    logger: silentLogger,
    strictResponses: true,
    refusesNesting: true,
    passwordCost: leastCost,
    ...options.outside,
  });
  const server = createHttpServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  app.listensAt(url);
  if (options.background !== false) await app.start();
  return {
    app,
    clock,
    server,
    url,
    request: (method, path, request) => send(url, method, path, request),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await app.close();
      if (ownFolder === null) return;
      try {
        await expectSoundPlace(place);
      } finally {
        await rm(ownFolder, { recursive: true, force: true });
      }
    },
  };
}

export async function send(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const response = await exchange(url + path, method, body, {
    Accept: "*/*",
    ...(options.key === undefined ? {} : { "X-Service-Key": options.key }),
    ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
    ...(body === null ? {} : { "Content-Type": "application/json" }),
    ...options.headers,
  });
  const { status, headers, text } = response;
  const isJson = text !== "" && headers.get("Content-Type")?.includes("json") === true;
  const answered = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  if (status < 200 || status >= 300) noteProblem(method, path, answered);
  expectDeclared(method, path, response);
  return { status, headers, body: answered, text };
}

const agent = new Agent({ keepAlive: true });

/** Returns the text of an answer; null if it is not what its encoding says. */
function decoded(bytes: Buffer, encoding: string | undefined): string | null {
  // HEAD and 304 have the encoding of a body that they do not have.
  if (bytes.length === 0 || encoding === undefined) return bytes.toString("utf8");
  try {
    if (encoding === "gzip") return gunzipSync(bytes).toString("utf8");
    if (encoding === "br") return brotliDecompressSync(bytes).toString("utf8");
  } catch {
    // Cut off, or not compressed.
  }
  return null;
}

/** Sends a request and reads the answer, with a fraction of the CPU time of `fetch`. */
function exchange(
  url: string,
  method: string,
  body: string | Uint8Array | null,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<Answer, "status" | "headers" | "text">> {
  return new Promise((resolve, reject) => {
    // Without its length, a body with GET or DELETE would be taken for the next request.
    const length = body === null ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const options = { method, agent, headers: { ...length, ...headers } };
    const request = openRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const pairs = response.rawHeaders.flatMap((name, place, all): [string, string][] =>
          place % 2 === 0 ? [[name, all[place + 1] ?? ""]] : [],
        );
        const text = decoded(Buffer.concat(chunks), response.headers["content-encoding"]);
        if (text === null) reject(new Error("the answer cannot be decoded"));
        else resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), text });
      });
    });
    request.on("error", reject);
    request.end(body ?? undefined);
  });
}

export interface Person {
  readonly token: string;
  readonly userId: string;
  readonly organizationId: string;
  readonly email: string;
}

export const password = "a long password of the tests 7";
let people = 0;

/** Registers a user with an organization through the API. */
export async function register(app: TestApp, name = "Ada"): Promise<Person> {
  people += 1;
  // Several processes may use one store.
  const email = `person${String(people)}-${String(process.pid)}@example.com`;
  const answer = await app.request("POST", "/v1/auth/register", {
    body: { email, password, name, organizationName: `${name}'s shop` },
  });
  if (answer.status !== 201) throw new Error(`register answered ${answer.text}`);
  const session = answer.body as {
    accessToken: string;
    user: { id: string };
    memberships: { organizationId: string }[];
  };
  return {
    token: session.accessToken,
    userId: session.user.id,
    organizationId: session.memberships[0]?.organizationId ?? "",
    email,
  };
}

export const legalFields = {
  legalName: "Ada's Shop Ltd",
  registrationNumber: "HRB 1",
  country: "DE",
  address: "1 Main Street",
  contactEmail: "ada@example.com",
  businessDescription: "Books",
} as const;

/** Makes a wallet the default of its network, as the organization's owner does. */
export async function makeDefault(
  app: TestApp,
  { organizationId, email }: Pick<Person, "organizationId" | "email">,
  network: string,
  walletId: unknown,
): Promise<void> {
  // The session that the owner came with may have expired since.
  const session = await expectStatus(
    app.request("POST", "/v1/auth/login", { body: { email, password } }),
    200,
  );
  const token = String(session.body["accessToken"]);
  const path = `/v1/organizations/${organizationId}/default-wallets/${network}`;
  await expectStatus(app.request("PUT", path, { token, body: { walletId } }), 200);
}

/** Registers a user with an approved organization, and creates an API key for it. */
export async function approvedMerchant(app: TestApp): Promise<Person & { readonly key: string }> {
  const person = await register(app);
  const path = `/v1/organizations/${person.organizationId}`;
  await expectStatus(app.request("PATCH", path, { token: person.token, body: legalFields }), 200);
  await expectStatus(app.request("POST", `${path}/kyb/submit`, { token: person.token }), 200);
  const { db, clock } = app.app;
  const operator = { actor: systemActor("tests"), requestId: null, ip: null };
  await db.write(operator, (tx) =>
    decideVerification(tx, app.app, clock.now(), person.organizationId as `org_${string}`, {
      decision: "approve",
    }),
  );
  const made = await expectStatus(
    app.request("POST", `${path}/api-keys`, {
      token: person.token,
      body: { name: "shop", scopes: ["read", "write"] },
    }),
    201,
  );
  return { ...person, key: made.body["secret"] as string };
}

export async function expectStatus(answering: Promise<Answer>, status: number): Promise<Answer> {
  const answer = await answering;
  if (answer.status !== status) {
    throw new Error(`expected ${String(status)}, was ${String(answer.status)}: ${answer.text}`);
  }
  return answer;
}
