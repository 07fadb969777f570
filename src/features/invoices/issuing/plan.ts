import { perApp, type InTx } from "../../../app.ts";
import { second, type Instant } from "../../../kernel/clock.ts";
import { Defect, invalidField, NotFound, type Problem } from "../../../kernel/errors.ts";
import type { Id, RandomBytes } from "../../../kernel/id.ts";
import {
  findCurrency,
  parseMoneyField,
  tokenAsset,
  type Asset,
  type Money,
} from "../../../kernel/money/money.ts";
import {
  convert,
  formatPercent,
  maxTolerancePercent,
  parRate,
  parsePercentField,
  powerOfTen,
  type Rate,
  type Ratio,
} from "../../../kernel/money/ratio.ts";
import { createRecentStates } from "../../../platform/chain/state/network-state.ts";
import type { Foreseen, Reader } from "../../../platform/database/database.ts";
import { issuingSettingsOf } from "../../organizations/store.ts";
import {
  distinctOptions,
  type OptionInput,
  type PaymentOption,
} from "../../organizations/checkout-policy.ts";
import { findToken, type Network, type NetworkToken } from "../../../platform/chain/networks.ts";
import { rateQuotesOf } from "../../rates/quotes.ts";
import { NetworkNotEnabled } from "../../wallets/rules.ts";
import { findWallet, hasWallet, receivingWallets, type WalletRow } from "../../wallets/store.ts";
import {
  AmountTooLarge,
  AmountTooSmall,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  RateUnavailable,
  TokenNotEnabled,
  UnsupportedCurrency,
} from "../errors.ts";
import type { IssuingDecision } from "../hooks.ts";
import { heldAmounts, searchAmount, type AmountSearch } from "../holds/amount-search.ts";
import { payablePrice } from "../holds/amounts.ts";
import type { EntryOrigin } from "../table.ts";

const notReadyRetrySeconds = 10;

/** The states of networks, at most a second old: whether a network was read, and its disabled tokens. */
const recentStatesIn = perApp(({ clock }) => createRecentStates(clock, second));

/** The inputs of an issue that do not depend on its amount, read before its transaction. */
export interface IssueBasis {
  readonly decision: IssuingDecision;
  readonly rate: Rate;
  /** Time after the deadline for which payments still match the invoice, in milliseconds. */
  readonly lateWindowMs: number;
  /** The origins to which payers may be sent back; empty: anywhere. */
  readonly allowedOrigins: readonly string[];
  /** The wallet that the request names; otherwise the network's default and its reserves, in order. At least one. */
  readonly wallets: readonly WalletRow[];
  /** Whether the request names the wallet. */
  readonly isWalletNamed: boolean;
}

/** The inputs of an issue. */
export interface IssuePlan extends IssueBasis {
  readonly terms: InvoiceTerms;
  /** In the token's smallest unit, before any surcharge. */
  readonly price: bigint;
  /** The search for an amount at the first wallet; null if that has an extended key. */
  readonly search: AmountSearch | null;
}

/** Plans an issue if the organization may issue invoices: see `mayIssue` of the hooks. */
export async function planIfAllowed(
  reader: Reader,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  terms: InvoiceTerms & { readonly walletId: Id<"wallet"> | null },
): Promise<IssuePlan> {
  const decision = await app.hooks.mayIssue(reader, app, organizationId);
  return planIssue(reader, app, decision, organizationId, terms, terms.walletId, at);
}

/**
 * Determines the rate of an invoice and its wallets, once `decision` permits to issue it. Throws an error that says what
 * is missing.
 */
export async function planIssue(
  reader: Reader,
  app: InTx,
  decision: IssuingDecision,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssuePlan> {
  const basis = await readBasis(reader, app, decision, organizationId, terms, walletId, at);
  return planOf(app, basis, terms);
}

/** Reads the part of a plan that all invoices in the same token, network, currency and wallet share. */
export async function readBasis(
  reader: Reader,
  app: InTx,
  decision: IssuingDecision,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
  at: Instant,
): Promise<IssueBasis> {
  const rate = await quoteTerms(reader, app, terms, at);
  const wallets = await walletsToTry(reader, organizationId, terms, walletId);
  const state = await recentStatesIn(app)(reader, terms.network.id);
  if (state === null) {
    throw new NetworkNotReady(
      `No block of ${terms.network.title} has been seen yet, so payments could not be detected. Try again shortly; if the problem persists, the operator must check the network's providers.`,
      { retryAfterSeconds: notReadyRetrySeconds },
    );
  }
  if (state.disabledTokens.includes(terms.token.symbol)) {
    throw tokenDisabled(terms.network, terms.token.symbol);
  }
  const settings = await issuingSettingsOf(reader, organizationId);
  return { decision, rate, wallets, isWalletNamed: walletId !== null, ...settings };
}

/** Throws `token_not_enabled` if the token of an option is disabled on its network. */
export async function requireTokensInUse(
  reader: Reader,
  app: InTx,
  options: readonly PaymentOption[],
): Promise<void> {
  for (const { network: id, tokenSymbol } of options) {
    const network = app.networks.enabled.get(id);
    const state = await recentStatesIn(app)(reader, id);
    if (network === undefined || state?.disabledTokens.includes(tokenSymbol) !== true) continue;
    throw tokenDisabled(network, tokenSymbol);
  }
}

/** Completes a plan with the price of an invoice. Throws `amount_too_small`. */
export function planOf(app: InTx, basis: IssueBasis, terms: InvoiceTerms): IssuePlan {
  const exact = convert(terms.amount, basis.rate, terms.tokenAsset, "up").units;
  const isGivenInToken = terms.amount.asset.code === terms.token.symbol;
  const price = payablePrice(exact, terms.token, isGivenInToken);
  if (price >= terms.token.dust) {
    const [wallet] = basis.wallets;
    const search = wallet === undefined ? null : searchAt(app.randomBytes, wallet, terms, price);
    return { ...basis, terms, price, search };
  }
  throw new AmountTooSmall(
    `On ${terms.network.title}, payments of this size are ignored as dust. Choose a larger amount, or combine several in one invoice.`,
  );
}

/** Starts the search for an amount at a wallet; null if that has an extended key, which needs none. */
export function searchAt(
  randomBytes: RandomBytes,
  { organizationId, address, xpub }: WalletRow,
  { network, token, enteredAtLink }: InvoiceTerms,
  price: bigint,
): AmountSearch | null {
  if (xpub !== null || address === null) return null;
  const target = { organizationId, network: network.id, address, token: token.symbol };
  return searchAmount(target, price, token, { holder: null, enteredAtLink }, randomBytes);
}

/** Returns what the write that issues the invoice will ask. */
export function foreseenOf(plan: IssuePlan | null): Foreseen | null {
  const search = plan?.search ?? null;
  return search === null ? null : { question: heldAmounts, asked: search };
}

async function walletsToTry(
  reader: Reader,
  organizationId: Id<"organization">,
  terms: InvoiceTerms,
  walletId: Id<"wallet"> | null,
): Promise<readonly WalletRow[]> {
  const { network } = terms;
  if (walletId === null) {
    const wallets = await receivingWallets(reader, organizationId, network.id);
    if (wallets.length > 0) return wallets;
    if (await hasWallet(reader, organizationId, network.id)) throw noDefaultWallet(network);
    throw new NoWallet(`Register a wallet for ${network.title}, then try again.`);
  }
  const wallet = await requireWallet(reader, organizationId, walletId);
  if (wallet.status === "active" && wallet.network === network.id) return [wallet];
  throw new NoWallet(
    `The wallet in walletId is not an active wallet of ${terms.network.title}. Choose another wallet, or omit walletId.`,
  );
}

/** Returns the problem of an invoice without a walletId on a network whose default and reserves are not active. */
export function noDefaultWallet({
  id,
  title,
}: Pick<Network, "id" | "title">): InstanceType<typeof NoDefaultWallet> {
  return new NoDefaultWallet(
    `The organization has wallets on ${title}, and none that is its active default or a reserve. An owner must choose one with PUT /v1/organizations/{organizationId}/default-wallets/${id}, or the operator with: till wallet default --network ${id} --wallet wal_…. Until then, name a walletId.`,
  );
}

/**
 * Returns the organization's wallet that a request names. A missing wallet and that of another organization get the
 * same 404.
 */
async function requireWallet(
  reader: Reader,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
): Promise<WalletRow> {
  const wallet = await findWallet(reader, organizationId, walletId);
  if (wallet !== null) return wallet;
  throw new NotFound("No wallet with this walletId is visible to this credential.");
}

/** The number of characters of an unknown currency code that an error message repeats. */
const shownCodeLengthMax = 20;
/** The largest amount of an invoice, in whole units of the settlement currency. */
const largestAmount = 10n ** 12n;

export type Networks = ReadonlyMap<string, Network>;

/** The money fields of an invoice, as a request states them. */
export interface TermsInput {
  readonly amount: string;
  readonly settlementCurrency: string;
  readonly tokenSymbol: string;
  readonly network: string;
  /** In percent; absent: none. */
  readonly underpaymentTolerance?: string | undefined;
  /** The link at which a payer without a credential entered the amount; absent: the merchant stated it. */
  readonly enteredAtLink?: EntryOrigin | null | undefined;
}

/** The parsed and validated terms of a request. */
interface InvoiceTerms {
  readonly network: Network;
  readonly token: NetworkToken;
  readonly tokenAsset: Asset;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly tolerance: Ratio;
  /** In percent, in its shortest notation. */
  readonly underpaymentTolerance: string;
  readonly enteredAtLink: EntryOrigin | null;
}

/** Parses the terms of a request. A malformed field is a 400, an unavailable network, token or currency a 422. */
function readTerms(app: InTx, input: TermsInput): InvoiceTerms {
  const { enabled: networks } = app.networks;
  const tolerance = parsePercentField(
    "/underpaymentTolerance",
    input.underpaymentTolerance ?? "0",
    maxTolerancePercent,
  );
  const network = networks.get(input.network);
  if (network === undefined) {
    throw new NetworkNotEnabled(
      `Choose one of the enabled networks: ${[...networks.keys()].join(", ")}.`,
    );
  }
  const token = findToken(network, input.tokenSymbol);
  if (token === null) throw tokenNotEnabled(network);
  const settlement = findAsset(networks, network, input.settlementCurrency);
  if (settlement === null) throw unsupportedCurrency(app, token, input.settlementCurrency);
  const amount = parseMoneyField("/amount", input.amount, settlement);
  requireRoute(app, token, settlement.code);
  if (amount.units > largestAmount * powerOfTen(settlement.decimals)) {
    throw new AmountTooLarge(
      `The largest amount of an invoice is ${String(largestAmount)} ${settlement.code}. Split it into several invoices.`,
    );
  }
  return {
    network,
    token,
    tokenAsset: tokenAsset(token.symbol, token.decimals),
    amount,
    tolerance,
    underpaymentTolerance: formatPercent(tolerance),
    enteredAtLink: input.enteredAtLink ?? null,
  };
}

function tokenNotEnabled(network: Network): InstanceType<typeof TokenNotEnabled> {
  const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
  return new TokenNotEnabled(`Choose a token that is enabled on ${network.title}: ${symbols}.`);
}

/** Creates the error for a token of the table whose contract does not report the configured decimals. */
function tokenDisabled(network: Network, symbol: string): Problem {
  return new TokenNotEnabled(
    `${symbol} on ${network.title} is disabled for now, because its contract does not report the configured decimals. Choose another token, or ask the operator to look at the network's alarms.`,
  );
}

/** Finds an ISO 4217 currency, or an enabled token; a token of the invoice's own network comes first. */
function findAsset(networks: Networks, network: Network, code: string): Asset | null {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  for (const each of [network, ...networks.values()]) {
    const token = findToken(each, code);
    if (token !== null) return tokenAsset(token.symbol, token.decimals);
  }
  return null;
}

/** Rejects a currency that neither a peg nor a configured pair connects with the token: 422. */
function requireRoute(app: InTx, token: NetworkToken, code: string): void {
  const { enabled: networks } = app.networks;
  if (isPar(networks, token, code)) return;
  const leading = rateQuotesOf(app).leadingTo([token.symbol, ...token.pegs]);
  const isQuoted = [code, ...worths(networks, code)].some((each) => leading.includes(each));
  if (!isQuoted) throw unsupportedCurrency(app, token, code);
}

/** Creates the error, with the currencies in which an invoice in this token can be priced. */
function unsupportedCurrency(app: InTx, token: NetworkToken, code: string) {
  const leading = rateQuotesOf(app).leadingTo([token.symbol, ...token.pegs]);
  const offered = [...new Set([...leading, ...token.pegs, token.symbol])].sort();
  return new UnsupportedCurrency(
    `No exchange rate leads from ${JSON.stringify(code.slice(0, shownCodeLengthMax))} to ${token.symbol}. Settle in one of: ${offered.join(", ")}.`,
  );
}

/**
 * Finds the rate from the settlement currency to the token: 1 if both are the same or pegged to each other by
 * configuration; otherwise the quote between them, or between the currencies to which they are pegged. An invoice is
 * never issued at an outdated rate: if no source has returned one lately, this throws a 503 with the time until the
 * next poll.
 */
async function quoteTerms(
  reader: Reader,
  app: InTx,
  terms: InvoiceTerms,
  at: Instant,
): Promise<Rate> {
  const { enabled: networks } = app.networks;
  const { token, amount } = terms;
  const { code } = amount.asset;
  const asked = { from: code, to: token.symbol };
  if (isPar(networks, token, code)) return parRate({ ...asked, source: "configuration", at });
  const found = await rateQuotesOf(app).find(
    reader,
    [...new Set([code, ...worths(networks, code)])],
    [token.symbol, ...token.pegs],
    at,
  );
  if (found.ok) return { ...found.rate, ...asked };
  if (found.reason === "missing") {
    throw new Defect(`terms in ${code} were accepted, but no pair leads to ${token.symbol}`);
  }
  const accepted = [...token.pegs, token.symbol].join(" or ");
  throw new RateUnavailable(
    `No source has returned an exchange rate from ${code} to ${token.symbol} lately. Try again shortly, or settle in ${accepted}.`,
    { retryAfterSeconds: Math.ceil(found.retryAfterMs / second) },
  );
}

/** True if one unit of the currency counts as one token by configuration. */
function isPar(networks: Networks, token: NetworkToken, code: string): boolean {
  return code === token.symbol || worths(networks, code).some((each) => token.pegs.includes(each));
}

/** Returns the currencies of which one unit counts as one unit of this one. */
function worths(networks: Networks, code: string): readonly string[] {
  if (findCurrency(code) !== null) return [code];
  return [...networks.values()].flatMap((network) => findToken(network, code)?.pegs ?? []);
}

/** The fields of a request that name one option, or several. */
export interface OptionFields {
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  readonly walletId?: Id<"wallet"> | null | undefined;
  readonly paymentOptions?: readonly OptionInput[] | undefined;
}

/** The money fields of an invoice that do not depend on its option. */
type Priced = Omit<TermsInput, "network" | "tokenSymbol">;

/** The options of an invoice, with the terms of the first one. */
export interface OfferedTerms extends InvoiceTerms {
  /** At least one. */
  readonly options: readonly PaymentOption[];
  /** The wallet that the first option names. */
  readonly walletId: Id<"wallet"> | null;
}

/** True if a request names no option, so that those of the organization apply. */
export function namesNoOption({ network, tokenSymbol, paymentOptions }: OptionFields): boolean {
  return network === undefined && tokenSymbol === undefined && paymentOptions === undefined;
}

/**
 * Parses the terms of a request for each of its options. `usual` are the organization's options, for a request that names
 * none. A malformed field, or options that contradict each other, are a 400; an unavailable network, token or currency
 * is a 422.
 */
export function readOffer(
  app: InTx,
  input: OptionFields & Priced,
  usual: readonly PaymentOption[] | null = null,
): OfferedTerms {
  const options = requestedOptions(input, usual);
  const { amount, settlementCurrency, underpaymentTolerance, enteredAtLink } = input;
  const priced = { amount, settlementCurrency, underpaymentTolerance, enteredAtLink };
  const [terms] = options.map(({ network, tokenSymbol }) =>
    readTerms(app, { ...priced, network, tokenSymbol }),
  );
  if (terms === undefined) throw noOption("network");
  return { ...terms, options, walletId: options[0]?.walletId ?? null };
}

function requestedOptions(
  input: OptionFields,
  usual: readonly PaymentOption[] | null,
): readonly PaymentOption[] {
  const { network, tokenSymbol, walletId, paymentOptions } = input;
  if (paymentOptions !== undefined) {
    if (network !== undefined || tokenSymbol !== undefined || walletId != null) {
      throw invalidField(
        "/paymentOptions",
        "conflict",
        "cannot be combined with network, tokenSymbol or walletId: name them in the options",
      );
    }
    return distinctOptions(paymentOptions);
  }
  if (network !== undefined && tokenSymbol !== undefined) {
    return [{ network, tokenSymbol, walletId: walletId ?? null }];
  }
  if (usual === null || !namesNoOption(input)) {
    throw noOption(network === undefined ? "network" : "tokenSymbol");
  }
  if (walletId == null) return usual;
  throw invalidField("/walletId", "conflict", "requires network and tokenSymbol");
}

function noOption(field: "network" | "tokenSymbol") {
  return invalidField(
    `/${field}`,
    "required",
    "is required: send network and tokenSymbol, or paymentOptions, or set the organization's paymentOptions in its payment policy",
  );
}

/** Throws unless the wallets that options name are the organization's; of several options also unless they fit. */
export async function requireWallets(
  reader: Reader,
  organizationId: Id<"organization">,
  options: readonly PaymentOption[],
): Promise<void> {
  for (const { walletId, network } of options) {
    if (walletId === null) continue;
    const wallet = await requireWallet(reader, organizationId, walletId);
    if (options.length === 1 || (wallet.network === network && wallet.status === "active"))
      continue;
    throw new NoWallet(
      `The wallet ${walletId} is not an active wallet of ${network}. Choose another wallet for this option, or omit its walletId.`,
    );
  }
}
