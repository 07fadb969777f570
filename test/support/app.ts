import { Agent, request as openRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createApiKey } from "../../src/features/api-keys/api-keys.ts";
import { addMembership } from "../../src/features/members/members.ts";
import { addOrganization } from "../../src/features/organizations/organizations.ts";
import { decideVerification } from "../../src/features/organizations/verification.ts";
import { createApp, type Program, type Externals } from "../../src/compose/app.ts";
import type { Role } from "../../src/http/declare/permissions.ts";
import type { Id } from "../../src/kernel/id.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { createHttpServer } from "../../src/server.ts";
import { movingClock, type MovingClock } from "./clock.ts";
import { expectDeclared } from "./declared.ts";
import { noteProblem } from "./problems-seen.ts";
import { secret } from "./secret.ts";
import { anyStore, eachStore, testContext, type TestStore } from "./store/stores.ts";
import { until } from "./until.ts";
import { expectSoundPlace } from "./store/expect-store-is-consistent.ts";

/** A record of an answer. */
export type Json = Readonly<Record<string, unknown>>;

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

/**
 * Configurations that were read before, by their settings: to read the shipped tables of networks, plans and rates takes
 * a third of a start. Files that a test names, or has in the data folder, may change.
 */
const configs = new Map<string, Config>();

async function configOf(place: StoreOptions, settings: AppOptions["settings"]): Promise<Config> {
  const own = "url" in place ? { databaseUrl: place.url } : { dataDir: dirname(place.sqliteFile) };
  const given = JSON.stringify([Object.keys(own), settings]);
  const hasFiles =
    /_(FILE|FOLDER|DIR)"/.test(given) ||
    ("dataDir" in own && existsSync(join(own.dataDir, "till.yaml")));
  const known = hasFiles ? undefined : configs.get(given);
  if (known !== undefined) return { ...known, ...own };
  const { config } = await loadConfig({
    mode: "serve",
    env: {
      TILL_REGISTRATION: "open",
      TILL_NETWORKS: "sandbox",
      TILL_RATE_LIMIT_SCALE: "0",
      // Tests make no requests to public sources of rates.
      TILL_RATES: "off",
      TILL_PORT: "0",
      TILL_SECRET: secret,
      ...("databaseUrl" in own
        ? { DATABASE_URL: own.databaseUrl }
        : { TILL_DATA_DIR: own.dataDir }),
      ...settings,
    },
  });
  if (!hasFiles) configs.set(given, config);
  return config;
}

/** Starts the whole program on a free port, as `till serve` does. */
export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  const clock = options.clock ?? movingClock();
  const ownFolder = options.place === undefined ? await mkdtemp(join(tmpdir(), "till app ")) : null;
  const place = options.place ?? { sqliteFile: join(ownFolder ?? "", "till.db") };
  const app = await createApp(await configOf(place, options.settings), "create", {
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

/** The program under test; it runs from the suite's first test on. */
export interface Served {
  readonly app: TestApp;
  readonly store: TestStore;
}

type Suite = (served: Served) => void;

/** Runs a suite against the whole program, on SQLite and on PostgreSQL, each with a store of its own. */
export function eachServed(title: string, body: Suite, options: AppOptions = {}): void {
  eachStore(title, (store) => {
    serve(store, body, options);
  });
}

/** `eachServed` for subjects in which the database has no part, as defined by `anyStore`. */
export function anyServed(title: string, body: Suite, options: AppOptions = {}): void {
  anyStore(title, (store) => {
    serve(store, body, options);
  });
}

function serve(store: TestStore, body: Suite, options: AppOptions): void {
  describe("served", () => {
    let running: TestApp | undefined;
    before(async () => {
      running = await startApp({ place: await store.place("migrated"), ...options });
    });
    after(async () => {
      await running?.stop();
    });
    body({
      store,
      get app() {
        if (running === undefined) throw new Error("the program does not run yet");
        return running;
      },
    });
  });
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

export async function expectStatus(answering: Promise<Answer>, status: number): Promise<Answer> {
  const answer = await answering;
  if (answer.status !== status) {
    throw new Error(`expected ${String(status)}, was ${String(answer.status)}: ${answer.text}`);
  }
  return answer;
}

/** Returns all entries of a list, page by page; `between` runs after each page. */
export async function walk(
  app: TestApp,
  path: string,
  token: string,
  limit: number,
  between: (page: number) => Promise<void> = () => Promise.resolve(),
): Promise<Json[]> {
  const items: Json[] = [];
  let cursor: string | null = null;
  for (let page = 0; page === 0 || cursor !== null; page += 1) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(cursor === null ? {} : { cursor }),
    });
    const { body } = await expectStatus(
      app.request("GET", `${path}?${query.toString()}`, { token }),
      200,
    );
    items.push(...(body["data"] as Json[]));
    cursor = body["nextCursor"] as string | null;
    await between(page);
  }
  return items;
}

export interface Person {
  readonly token: string;
  readonly userId: string;
  readonly organizationId: string;
  /** The path of the organization. */
  readonly path: string;
  readonly email: string;
}

export const password = "a long password of the tests 7";
let people = 0;

/** Registers a user with an organization through the API. */
export async function register(app: TestApp, name = "Ada"): Promise<Person> {
  people += 1;
  // Several processes may use one store.
  const email = `person${String(people)}-${String(process.pid)}@example.com`;
  const registration = { email, password, name, organizationName: `${name}'s shop` };
  const answer = app.request("POST", "/v1/auth/register", { body: registration });
  const session = (await expectStatus(answer, 201)).body as {
    accessToken: string;
    user: { id: string };
    memberships: { organizationId: string }[];
  };
  const { accessToken: token, user } = session;
  return { token, userId: user.id, email, ...homeOf(session.memberships[0]?.organizationId ?? "") };
}

const homeOf = (organizationId: string): Pick<Person, "organizationId" | "path"> => ({
  organizationId,
  path: `/v1/organizations/${organizationId}`,
});

/** Logs in, because tokens expire as a clock is moved; returns the access token. */
export async function logIn(app: TestApp, { email }: Pick<Person, "email">): Promise<string> {
  const body = { email, password };
  const session = await expectStatus(app.request("POST", "/v1/auth/login", { body }), 200);
  return session.body["accessToken"] as string;
}

/** Registers a user as a member of another user's organization, which becomes their `organizationId`. */
export async function colleague(app: TestApp, of: Person, role: Role): Promise<Person> {
  const person = await register(app, role);
  const { db, clock } = app.app;
  await db.write(testContext, (tx) =>
    addMembership(tx, app.app, clock.now(), {
      userId: person.userId as Id<"user">,
      organizationId: of.organizationId as Id<"organization">,
      role,
    }),
  );
  return { ...person, ...homeOf(of.organizationId) };
}

/** Creates an API key through the API and returns its secret. */
export async function keyOf(
  app: TestApp,
  of: Person,
  ...scopes: readonly string[]
): Promise<string> {
  const made = app.request("POST", `${of.path}/api-keys`, {
    token: of.token,
    body: { name: scopes.join(" "), scopes },
  });
  return (await expectStatus(made, 201)).body["secret"] as string;
}

/** A person who sells with an API key of their organization, and what they do below the organization with it. */
export interface Merchant extends Person {
  readonly key: string;
  post(path: string, body?: unknown): Promise<Answer>;
  /** Returns a record that must exist. */
  get(path: string): Promise<Json>;
  list(path: string): Promise<Json[]>;
  /** Registers a wallet, by default on the sandbox. */
  addWallet(wallet: Json): Promise<Json>;
  /** Issues an invoice, by default for 25.00 USD in USDT on the sandbox, once the network was reached. */
  issue(terms?: Json): Promise<Json>;
}

/** The terms of an invoice, unless a test has others. */
export const order = {
  amount: "25.00",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
} as const;

/** The networks, or options of several, at which an invoice of an app was issued: their blocks are known. */
const networksRead = new WeakMap<TestApp, Set<string>>();

export function merchantOf(app: TestApp, person: Person, key: string): Merchant {
  const { path } = person;
  const merchant: Merchant = {
    ...person,
    key,
    post: (below, body) => app.request("POST", path + below, { key, body }),
    get: async (below) => (await expectStatus(app.request("GET", path + below, { key }), 200)).body,
    list: async (below) => (await merchant.get(below))["data"] as Json[],
    async addWallet(wallet) {
      const body = { label: "Till", network: "sandbox", ...wallet };
      return (await expectStatus(merchant.post("/wallets", body), 201)).body;
    },
    async issue(terms = {}) {
      const invoice = { ...order, ...terms };
      const post = () => merchant.post("/invoices", invoice);
      const network = JSON.stringify([invoice.network, terms["paymentOptions"]]);
      const read = networksRead.get(app) ?? new Set();
      networksRead.set(app, read);
      const answer = until(
        "a network that is read",
        post,
        ({ body }) => read.has(network) || body["code"] !== "network_not_ready",
      );
      const issued = await expectStatus(answer, 201);
      read.add(network);
      return issued.body;
    },
  };
  return merchant;
}

export const legalFields = {
  legalName: "Ada's Shop Ltd",
  registrationNumber: "HRB 1",
  country: "DE",
  address: "1 Main Street",
  contactEmail: "ada@example.com",
  businessDescription: "Books",
} as const;

/** Registers a user with an approved organization, and creates an API key for it. */
export async function approvedMerchant(app: TestApp): Promise<Merchant> {
  const person = await register(app);
  const { organizationId, path, token } = person;
  await expectStatus(app.request("PATCH", path, { token, body: legalFields }), 200);
  await expectStatus(app.request("POST", `${path}/kyb/submit`, { token }), 200);
  const { db, clock } = app.app;
  await db.write(testContext, (tx) =>
    decideVerification(tx, app.app, clock.now(), organizationId as Id<"organization">, {
      decision: "approve",
    }),
  );
  const key = { name: "shop", scopes: ["read", "write"] };
  const made = app.request("POST", `${path}/api-keys`, { token, body: key });
  return merchantOf(app, person, (await expectStatus(made, 201)).body["secret"] as string);
}

/** Makes a wallet the default of its network, as the organization's owner does. */
export async function makeDefault(
  app: TestApp,
  owner: Pick<Person, "path" | "email">,
  network: string,
  walletId: unknown,
): Promise<void> {
  // The session that the owner came with may have expired since.
  const token = await logIn(app, owner);
  const path = `${owner.path}/default-wallets/${network}`;
  await expectStatus(app.request("PUT", path, { token, body: { walletId } }), 200);
}

const operator = {
  actor: { type: "operator", id: null, label: "tests@localhost" },
  requestId: null,
  ip: null,
} as const;

/** Creates the platform organization, as `till init` does, and returns an API key of it with the scope `platform`. */
export async function platformKey(app: TestApp): Promise<string> {
  const organizationId = await addPlatform(app, null);
  const { secret } = await createApiKey(app.app, operator, organizationId, {
    name: "review",
    scopes: ["platform"],
  });
  return secret;
}

/** Creates the platform organization with a registered user as its owner, whose `organizationId` it becomes. */
export async function platformAdmin(app: TestApp): Promise<Person> {
  const person = await register(app, "Olga");
  return { ...person, ...homeOf(await addPlatform(app, person.userId as Id<"user">)) };
}

async function addPlatform(
  { app }: TestApp,
  ownerId: Id<"user"> | null,
): Promise<Id<"organization">> {
  const platform = { name: "Platform", ownerId, isPlatform: true };
  const { id } = await app.db.write(operator, (tx) =>
    addOrganization(tx, app, app.clock.now(), platform),
  );
  return id;
}

/** Approves an organization with the operation that the platform's reviewers use. */
export async function approve(app: TestApp, key: string, organizationId: string): Promise<void> {
  await expectStatus(
    app.request("POST", `/v1/admin/organizations/${organizationId}/verification`, {
      key,
      body: { decision: "approve" },
    }),
    200,
  );
}
