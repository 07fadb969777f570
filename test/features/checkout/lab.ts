import type { PayerRefund } from "../../../src/features/refunds/payer/payer-view.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import Koa from "koa";
import { createIdempotency } from "../../../src/http/pipeline/idempotency.ts";
import {
  sendProblems,
  identifyRequest,
  mountPages,
  refuseMethods,
  secureHeaders,
} from "../../../src/http/middleware.ts";
import type { RequestState } from "../../../src/http/pipeline/exchange.ts";
import { mountOperations } from "../../../src/http/pipeline/mount.ts";
import { createRateLimiter } from "../../../src/http/pipeline/rate-limits.ts";
import { representResponses } from "../../../src/http/representation.ts";
import { checkoutOperations } from "../../../src/features/checkout/api.ts";
import { checkoutPageToken } from "../../../src/features/checkout/checkouts.ts";
import { makeCheckoutCache, checkoutCacheOf } from "../../../src/features/checkout/cache.ts";
import { liveStreamsOf } from "../../../src/features/checkout/live.ts";
import { languagesOf, openLanguages } from "../../../src/features/checkout/page/languages.ts";
import { renderProblemPage } from "../../../src/features/checkout/page/problem-page.ts";
import type { CheckoutLedger, StoredCheckout } from "../../../src/features/checkout/store.ts";
import { checkoutPages } from "../../../src/features/checkout/pages.ts";
import type { PayerInvoice } from "../../../src/features/invoices/payer-view.ts";
import type {
  PayerPayment,
  SubmittedTransaction,
} from "../../../src/features/payments/payer-view.ts";
import { sandboxOf } from "../../../src/features/payments/sandbox/sandbox.ts";
import {
  findCurrency,
  money,
  parseMoney,
  tokenAsset,
  type Asset,
  type Money,
} from "../../../src/kernel/money/money.ts";
import { hour, minute, type Instant } from "../../../src/kernel/clock.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { ConfiguredNetwork } from "../../../src/platform/config/config.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import type {
  NetworkState,
  NetworkStateRow,
} from "../../../src/platform/chain/state/network-state.ts";
import {
  SandboxRefused,
  type Sandbox,
  type SandboxPayment,
} from "../../../src/platform/chain/sandbox/chain.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { appOf } from "../../support/context.ts";
import { testNetworks } from "../../support/merchants.ts";
import { serverSecret } from "../../support/secret.ts";
import { testContext } from "../../support/store/stores.ts";

export const startOfTime: Instant = Date.UTC(2026, 10, 21, 9, 30);
export const checkoutId = "chk_0123456789abcdefghjkmnpqrstvwxyz";
export const organizationId = "org_01jd7v0000secretsecretsecr";

const usd = findCurrency("USD") as Asset;
export const usdt = tokenAsset("USDT", 6);
export const inUsd = (text: string): Money => parseMoney(text, usd);
export const inUsdt = (text: string): Money => parseMoney(text, usdt);

const addresses = {
  tron: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
  ethereum: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  sandbox: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
} as const;
export type LabNetwork = keyof typeof addresses;

/** Results of the other features that checkout uses; tests change them between requests. */
export interface World {
  at: Instant;
  invoice: PayerInvoice | null;
  payments: LabPayment[];
  /** The transactions that payers submitted, with what became of them. */
  claims: Omit<SubmittedTransaction, "network">[];
  /** The refunds of the payments, newest first. */
  refunds: PayerRefund[];
  /** The payments whose next refund only the merchant may create. */
  leftToMerchant: PayerRefund["paymentId"][];
  merchantName: string;
  website: string | null;
  contactEmail: string | null;
  accentColor: string | null;
  allowedOrigins: readonly string[];
  /** The merchant's logo: a PNG file. */
  logo: Buffer | null;
  networkState: NetworkState | null;
  /** Ids of further checkouts, which are like the first one. */
  others: Set<string>;
  /** Thrown by the next looks at the store. */
  fault: Error | null;
  /** How often the store was asked whether checkouts have changed. */
  looks: number;
  /** How often checkouts were loaded. */
  loads: number;
  /** Actions of the test panel. */
  pressed: string[];
  /** The hashes that were submitted. */
  submitted: string[];
  /** Thrown when a hash is submitted. */
  refusal: Error | null;
  /** Thrown when an option is chosen. */
  choiceRefusal: Error;
  /** Thrown when a refund is asked for. */
  refundRefusal: Error;
  /** The networks that are read. */
  enabled: Map<string, ConfiguredNetwork>;
}

/** A payment, by default on the invoice's network. */
type LabPayment = Omit<PayerPayment, "network"> & Partial<Pick<PayerPayment, "network">>;

/** The payments and claims of the invoice, on its network unless they say otherwise. */
function ledgerOf({ invoice, payments, claims, refunds, leftToMerchant }: World): CheckoutLedger {
  const network = invoice?.network ?? "";
  return {
    payments: payments.map((payment) => ({ network, ...payment })),
    submitted: claims.map((claim) => ({ network, ...claim })),
    refunds: [...refunds],
    leftToMerchant: new Set(leftToMerchant),
  };
}

export interface Lab {
  readonly world: World;
  readonly url: string;
  readonly page: string;
  /** The token of the forms on the page. */
  readonly pageToken: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  press(action: string): Promise<Response>;
  /** Sends the form for a transaction's hash. */
  submit(transactionHash: string): Promise<Response>;
  /** Changes the invoice, and the time by a second. */
  change(changes: Partial<PayerInvoice>): void;
  close(): Promise<void>;
}

export function anInvoice(network: LabNetwork, changes: Partial<PayerInvoice> = {}): PayerInvoice {
  return {
    id: "inv_01jd7v0000000000000000000a",
    organizationId,
    startedAtLink: null,
    publicId: "P7K2-9QXD-4MTR",
    reference: "P7K2-9QXD",
    description: null,
    externalId: null,
    checkoutId,
    status: "open",
    exception: "none",
    network,
    options: [{ network, tokenSymbol: "USDT", isHeld: true }],
    hasRoom: true,
    quotes: [],
    walletAddress: addresses[network],
    isAddressShared: true,
    amount: inUsd("25.00"),
    paidAmount: inUsd("0.00"),
    payable: inUsdt("25.0001"),
    asked: inUsdt("25.0001"),
    received: money(0n, usdt),
    remaining: inUsdt("25.0001"),
    owed: money(0n, usdt),
    confirmations: { current: 0, required: network === "tron" ? 19 : 3 },
    latestBlock: null,
    excessSlack: 0n,
    checkoutUrl: `https://pay.example/shop/pay/${checkoutId}`,
    redirectUrl: null,
    expiresAt: startOfTime + hour,
    paidAt: null,
    managedBy: null,
    ...changes,
  };
}

export function aState(network: LabNetwork, at: Instant): NetworkState {
  return {
    network,
    chainId: 1,
    cursorHeight: 900,
    cursorTime: at,
    tipHeight: 1_000,
    tipHash: "0".repeat(64),
    tipTime: at,
    tipSeenAt: at,
    headHeight: 1_000,
    scannedAt: at,
    usualLagMs: 0,
    disabledTokens: [],
  };
}

const logoName = `logo.${"0".repeat(32)}.png`;

export const aHash = (digit: string): string => digit.repeat(64);

export function aPayment(changes: Partial<PayerPayment> = {}): LabPayment {
  return {
    id: "pay_01jd7v0000000000000000000a",
    transactionHash: aHash("a"),
    status: "confirmed",
    statusWhenBack: null,
    isExpectedBack: false,
    rule: "exact_amount",
    token: "USDT",
    tokenDecimals: 6,
    amount: inUsdt("25.0001").units,
    refundRequested: 0n,
    refunded: 0n,
    blockHeight: 950,
    isSpare: true,
    isMoved: false,
    blockTime: startOfTime + minute,
    ...changes,
  };
}

/** A refund of `aPayment`, on TRON. */
export function aRefund(changes: Partial<PayerRefund> = {}): PayerRefund {
  return {
    id: "rfd_01jd7v0000000000000000000a",
    paymentId: "pay_01jd7v0000000000000000000a",
    status: "requested",
    network: "tron",
    token: "USDT",
    tokenDecimals: 6,
    amount: inUsdt("25.0001").units,
    address: "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    transactionHash: null,
    refusal: null,
    reason: null,
    ...changes,
  };
}

/** The feature behind the API's own middleware, over fakes of the store and of what other features do. */
export async function openLab(
  network: LabNetwork,
  options: {
    readonly hasSandbox?: boolean;
    readonly basePath?: string;
    /** The merchant's own folder of languages; none by default. */
    readonly languagesFolder?: string;
    /** The limits; none by default. */
    readonly limits?: { readonly checkout?: number; readonly submit?: number };
  } = {},
): Promise<Lab> {
  const networks = testNetworks("tron", "ethereum", "sandbox");
  const world: World = {
    at: startOfTime,
    invoice: anInvoice(network),
    payments: [],
    refunds: [],
    leftToMerchant: [],
    claims: [],
    merchantName: "Café Zürich",
    website: null,
    contactEmail: null,
    accentColor: null,
    allowedOrigins: [],
    logo: null,
    networkState: aState(network, startOfTime),
    others: new Set(),
    fault: null,
    looks: 0,
    loads: 0,
    pressed: [],
    submitted: [],
    refusal: null,
    choiceRefusal: new Error("the lab has no options"),
    refundRefusal: new Error("the lab has no refunds"),
    enabled: new Map(networks),
  };
  const clock = { now: () => world.at };
  let seen = world.networkState;
  let stateVersion = 1;

  /** Returns the stored state of the network, whose version counts the changes of the world's. */
  function stateRow(): NetworkStateRow | null {
    if (world.networkState !== seen) stateVersion += 1;
    seen = world.networkState;
    return seen === null ? null : { ...seen, cursorHash: "", version: stateVersion };
  }

  const app = appOf({
    db: storeOf(world),
    clock,
    secret: serverSecret,
    networks: { known: networks, enabled: world.enabled, enabledIds: [...networks.keys()] },
    baseUrl: () => `https://pay.example${options.basePath ?? ""}`,
  });
  const kept = makeCheckoutCache(app, {
    versions(ids) {
      world.looks += 1;
      if (world.fault !== null) return Promise.reject(world.fault);
      const found = ids.flatMap((id) => storedIn(world, id));
      const networkVersion = stateRow()?.version ?? null;
      return Promise.resolve(
        new Map(
          found.map(({ version, invoice }) => [
            invoice.checkoutId,
            { version, network: invoice.network, networkVersion },
          ]),
        ),
      );
    },
    load(ids) {
      world.loads += 1;
      const found = ids.flatMap((id) => storedIn(world, id));
      return Promise.resolve(new Map(found.map((each) => [each.invoice.checkoutId, each])));
    },
    states() {
      const row = stateRow();
      return Promise.resolve(new Map(row === null ? [] : [[row.network, row]]));
    },
  });
  checkoutCacheOf.give(app, kept);
  languagesOf.give(
    app,
    openLanguages(options.languagesFolder ?? null, ({ name, message }) => {
      throw new Error(`${name} ${message}`);
    }),
  );
  const sandbox = networks.get("sandbox");
  sandboxOf.give(
    app,
    options.hasSandbox === false || sandbox === undefined
      ? null
      : { network: sandbox, sandbox: recordingSandbox(world) },
  );

  const koa = new Koa<RequestState>();
  koa.silent = true;
  const router = new Router<RequestState>();
  const quotas = {
    credential: 600,
    batch: 60,
    exports: 60,
    checkout: 6_000,
    verify: 1_000,
    organization: 60_000,
    newOrganization: 12_000,
    link: 1_000,
    linkInvoices: 1_000,
    linkRange: 1_000,
    submit: 10,
    login: 20,
    session: 120,
    registration: 10,
    ...options.limits,
  };
  const rateLimiter = createRateLimiter(quotas, options.limits === undefined ? 0 : 1);
  mountPages(checkoutPages, app, rateLimiter)(router);
  mountOperations(checkoutOperations, app, {
    gatekeeper: {} as never,
    idempotency: createIdempotency({ db: {} as never, clock, key: new Uint8Array(32) }),
    rateLimiter,
    logger: silentLogger,
    spend: null,
    strictResponses: true,
  })(router);
  koa.use(identifyRequest({ ids: createIds(systemRandom), clock, trustedProxies: [] }));
  koa.use(secureHeaders());
  koa.use(representResponses());
  koa.use(
    sendProblems({
      logger: silentLogger,
      baseUrl: () => "https://pay.example",
      problemPage: (problem) => renderProblemPage(app, problem),
    }),
  );
  koa.use(router.routes());
  koa.use(refuseMethods(router));
  const handle = koa.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  const sendForm = (path: string, fields: Record<string, string>): Promise<Response> =>
    fetch(`${url}/pay/${checkoutId}/${path}`, {
      method: "POST",
      body: new URLSearchParams(fields),
      redirect: "manual",
    });

  return {
    world,
    url,
    page: `${url}/pay/${checkoutId}`,
    pageToken: checkoutPageToken(app, checkoutId),
    get: (path, headers = {}) => fetch(url + path, { headers }),
    press: (action) => sendForm("sandbox", { action }),
    submit: (transactionHash) => sendForm("transactions", { transactionHash }),
    change(changes) {
      if (world.invoice !== null) world.invoice = { ...world.invoice, ...changes };
      world.at += 1_000;
    },
    close: () =>
      new Promise((resolve) => {
        liveStreamsOf(app).end();
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** Returns the checkout with this id, if there is one. */
function storedIn(world: World, checkoutId: string): StoredCheckout[] {
  const { invoice, networkState, others } = world;
  if (invoice === null || (invoice.checkoutId !== checkoutId && !others.has(checkoutId))) return [];
  const { current } = invoice.confirmations;
  const tipHeight = networkState?.tipHeight ?? 0;
  const stored = {
    // The confirmations that the test has set result from this block.
    invoice: {
      ...invoice,
      checkoutId,
      latestBlock: current === 0 ? null : tipHeight - current + 1,
    },
    ...ledgerOf(world),
    merchant: {
      displayName: world.merchantName,
      website: world.website,
      contactEmail: world.contactEmail,
      accentColor: world.accentColor,
      allowedOrigins: world.allowedOrigins,
      logoPath: world.logo === null ? null : `/pay/assets/${logoName}`,
    },
  };
  const version = JSON.stringify(stored, (name, value: unknown) => {
    if (name === "confirmations") return undefined;
    if (value instanceof Set) return [...(value as ReadonlySet<unknown>)];
    return typeof value === "bigint" ? String(value) : value;
  });
  return [{ ...stored, version }];
}

/**
 * A store in which nothing was counted before and that has the merchant's logo. Its transactions see no payments, and take
 * every submitted transaction for one that is looked for.
 */
function storeOf(world: World): Database {
  const tx = {
    dialect: "sqlite",
    context: testContext,
    all(sql: string) {
      if (!sql.includes("leftToMerchant")) return Promise.resolve([]);
      const network = world.invoice?.network ?? "";
      const claims = world.claims.map((each) => [network, each.transactionHash, "waiting", null]);
      const ledger = JSON.stringify([[], claims]);
      return Promise.resolve([{ ledger, refunds: "[]", leftToMerchant: "[]" }]);
    },
    // The first statement of a choice.
    lockOne: () => Promise.reject(world.choiceRefusal),
    // The invoice whose deadline the test panel ends; it has ended.
    lock() {
      world.pressed.push("expire");
      return Promise.resolve([]);
    },
    // The first statement of a refund.
    find: () => Promise.reject(world.refundRefusal),
    // The claim of a submitted hash.
    findOne: () => Promise.resolve(null),
    insert(_table: unknown, { transactionHash }: { readonly transactionHash: string }) {
      if (world.refusal !== null) return Promise.reject(world.refusal);
      world.submitted.push(transactionHash);
      world.claims.unshift({ transactionHash, result: "looking" });
      return Promise.resolve();
    },
    append: () => undefined,
    afterCommit: () => undefined,
  };
  const row = { network: "sandbox", tokenSymbol: "USDT", tokenDecimals: 0, remainingAmount: 10n };
  const store: Partial<Database> = {
    dialect: "sqlite",
    find: () => Promise.resolve([]),
    findOne(_table, _rest, [name] = []) {
      if (name === logoName && world.logo !== null) {
        return Promise.resolve({ image: world.logo.toString("base64") } as never);
      }
      const { walletAddress, id } = world.invoice ?? {};
      return Promise.resolve(name === id ? ({ ...row, id, walletAddress } as never) : null);
    },
    write: (_context, fn) => fn(tx as unknown as Tx),
  };
  return store as Database;
}

/** A chain of the sandbox that notes what is pressed. */
function recordingSandbox(world: World): Sandbox {
  const press = (what: string) => {
    world.pressed.push(what);
    return Promise.resolve({});
  };
  const sandbox = {
    pay: (_tx: unknown, { to, amount }: SandboxPayment) => press(`pay ${to} ${String(amount)}`),
    mine: (_tx: unknown, blocks: number) => press(`mine ${String(blocks)}`),
    async reorganize() {
      await press("reorganize");
      if (world.payments.length === 0) throw new SandboxRefused("There is no payment.");
    },
  };
  return sandbox as unknown as Sandbox;
}
