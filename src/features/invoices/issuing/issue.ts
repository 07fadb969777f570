import type { InTx } from "../../../app.ts";
import { second, type Instant } from "../../../kernel/clock.ts";
import { Defect, invalidField, Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatRate } from "../../../kernel/money/ratio.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { lockOrganizationShared } from "../../organizations/issuing.ts";
import { mayReturnTo } from "../../organizations/checkout-policy.ts";
import { lockActiveShared, lockReceivingShared, type WalletRow } from "../../wallets/store.ts";
import { NoWallet, WalletCapacityExhausted } from "../errors.ts";
import { holdAmounts, marksOf, type HoldMark, type HoldTerms } from "../holds/holds.ts";
import { hasFormer, holdAddresses } from "../holds/addresses.ts";
import { quotesOf } from "../options/quotes.ts";
import { dueAmount } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";
import { noDefaultWallet, searchAt, type IssuePlan } from "./plan.ts";

/** An invoice that may be issued. */
export interface Issuable {
  readonly draft: InvoiceRow;
  readonly plan: IssuePlan;
}

/** An address or an amount that distinguishes an invoice at a wallet. */
interface AddressedAmount {
  readonly payableAmount: bigint;
  readonly walletAddress: string;
  /** Null at a wallet with one address. */
  readonly addressIndex: number | null;
}

/** An invoice that has just been issued. */
type IssuedInvoice = InvoiceRow &
  AddressedAmount & { readonly exchangeRate: string; readonly dustAmount: bigint };

/** An invoice with the wallet that it tries. */
interface Attempt<W extends WalletRow = WalletRow> extends Issuable {
  readonly wallet: W;
  readonly expiresAt: Instant;
  readonly lateUntil: Instant;
}

/**
 * Returns the draft as issued, and takes its hold; does not store the invoice. The permission to issue and the wallets
 * are read again, because they may have changed since the plan was read.
 */
export async function issueInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  draft: InvoiceRow,
  plan: IssuePlan,
): Promise<InvoiceRow> {
  await plan.decision.grant(tx, at, isCountedAtIssue(draft) ? 1 : 0);
  const [row] = await issueInvoices(tx, app, at, [{ draft, plan }]);
  if (row === undefined) throw new Defect("an invoice was not issued");
  if (row instanceof Problem) throw row;
  return row;
}

/**
 * Returns the drafts of one organization as issued, in order, and takes their holds; does not store the invoices. An
 * invoice that has no wallet with a free address or amount gets a problem instead, and no hold.
 */
export async function issueInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  issuables: readonly Issuable[],
): Promise<readonly (IssuedInvoice | Problem)[]> {
  const rows = new Map<Issuable, IssuedInvoice>();
  const allowed = issuables.filter(({ draft, plan }) => returnsToAllowedOrigin(draft, plan));
  const walletsOf = await lockWalletsShared(tx, allowed);
  const rounds = Math.max(0, ...allowed.map((each) => walletsOf(each).length));
  for (let round = 0; round < rounds && rows.size < allowed.length; round += 1) {
    const attempts = new Map<Issuable, Attempt>();
    for (const issuable of allowed) {
      const { draft, plan } = issuable;
      const wallet = walletsOf(issuable)[round];
      if (wallet === undefined || rows.has(issuable)) continue;
      // An invoice that was issued in another token keeps its deadline and its late window.
      const expiresAt = draft.expiresAt ?? at + draft.expiresInSeconds * second;
      const lateUntil = draft.lateUntil ?? expiresAt + plan.lateWindowMs;
      attempts.set(issuable, { draft, plan, wallet, expiresAt, lateUntil });
    }
    const taken = await takeHolds(tx, app, [...attempts.values()], at);
    for (const [issuable, attempt] of attempts) {
      const amount = taken.get(attempt);
      if (amount !== undefined) rows.set(issuable, issuedRow(app, attempt, amount, at));
    }
  }
  return issuables.map(
    (each) =>
      rows.get(each) ??
      (allowed.includes(each)
        ? unissuedProblem(each.plan, walletsOf(each).length > 0)
        : redirectRefusal(each.plan)),
  );
}

/**
 * Locks the active wallets that invoices try until the transaction ends, and returns a function that gives those of an
 * invoice, in order. An invoice that names no wallet is never issued at one that was the default when its plan was read
 * and is not any more.
 */
async function lockWalletsShared(
  tx: Tx,
  issuables: readonly Issuable[],
): Promise<(issuable: Issuable) => readonly WalletRow[]> {
  const isActive = onceEach((walletId: Id<"wallet">) => lockActiveShared(tx, walletId));
  const receiving = onceEach(async (network: string): Promise<readonly WalletRow[]> => {
    const organizationId = issuables[0]?.draft.organizationId;
    if (organizationId === undefined) return [];
    // A change of a default locks the organization, and so waits for the end of this transaction.
    await lockOrganizationShared(tx, organizationId);
    return lockReceivingShared(tx, organizationId, network);
  });
  const locked = new Map<Issuable, readonly WalletRow[]>();
  for (const issuable of issuables) {
    const { plan } = issuable;
    const [named] = plan.wallets;
    if (!plan.isWalletNamed) locked.set(issuable, await receiving(plan.terms.network.id));
    else if (named !== undefined && (await isActive(named.id))) locked.set(issuable, [named]);
  }
  return (issuable) => locked.get(issuable) ?? [];
}

function returnsToAllowedOrigin(
  { redirectUrl }: InvoiceRow,
  { allowedOrigins }: IssuePlan,
): boolean {
  return redirectUrl === null || mayReturnTo(allowedOrigins, redirectUrl);
}

function redirectRefusal({ allowedOrigins }: IssuePlan): Problem {
  return invalidField(
    "/redirectUrl",
    "invalid_value",
    `must be on one of the organization's allowed origins: ${allowedOrigins.join(", ")}`,
  );
}

function issuedRow(
  app: InTx,
  { draft, plan, wallet, expiresAt, lateUntil }: Attempt,
  amount: AddressedAmount,
  at: Instant,
): IssuedInvoice {
  return {
    ...draft,
    ...amount,
    remainingAmount: amount.payableAmount,
    status: "open",
    checkoutId: app.ids.unguessable("chk"),
    exchangeRate: formatRate(plan.rate),
    dustAmount: plan.terms.token.dust,
    walletId: wallet.id,
    requiredConfirmations: plan.terms.network.confirmations,
    issuedAt: at,
    countedAt: isCountedAtIssue(draft) ? at : null,
    expiresAt,
    lateUntil,
  };
}

/** Whether an invoice counts against its plan when it is issued: not if a stranger could use up the plan with it. */
function isCountedAtIssue({ managedBy, startedAtLink }: InvoiceRow): boolean {
  return managedBy === null && startedAtLink === null;
}

function unissuedProblem({ isWalletNamed, terms }: IssuePlan, hasWallet: boolean): Problem {
  if (hasWallet) {
    return new WalletCapacityExhausted(
      isWalletNamed
        ? "Other invoices hold every amount near this price at the wallet. Name another wallet, or one with an extended public key, which gives every invoice its own address."
        : "Other invoices hold every amount near this price at the network's default wallet and its reserves. An owner can make a wallet with an extended public key the default, which gives every invoice its own address, or add a reserve.",
    );
  }
  return isWalletNamed
    ? new NoWallet("The wallet has just been archived. Choose another wallet, then try again.")
    : noDefaultWallet(terms.network);
}

/** Takes an address or an amount for each attempt that finds a free one. */
async function takeHolds(
  tx: Tx,
  app: InTx,
  attempts: readonly Attempt[],
  at: Instant,
): Promise<ReadonlyMap<Attempt, AddressedAmount>> {
  const taken = new Map<Attempt, AddressedAmount>();
  const marks = await marksOfAttempts(tx, attempts, at);
  const termsOf = (attempt: Attempt) => holdTerms(attempt, marks, at);
  const byKey = new Map<Id<"wallet">, Attempt[]>();
  for (const attempt of attempts) {
    const { id, xpub } = attempt.wallet;
    if (xpub !== null) byKey.set(id, [...(byKey.get(id) ?? []), attempt]);
  }
  for (const its of byKey.values()) {
    for (const attempt of its) {
      const shared = await shareOwnAddress(tx, attempt, at);
      if (shared !== null) taken.set(attempt, shared);
    }
    const others = its.filter((attempt) => !taken.has(attempt));
    await takeOwnAddresses(tx, app, others, termsOf, taken);
  }
  await takeAmounts(tx, app, attempts, termsOf, taken);
  return taken;
}

/** Returns the marks of the holds that attempts take. */
async function marksOfAttempts(
  tx: Tx,
  attempts: readonly Attempt[],
  at: Instant,
): Promise<ReadonlyMap<Attempt, HoldMark>> {
  const marks = new Map<Attempt, HoldMark>();
  for (const [network, its] of groupByNetwork(attempts)) {
    const heldBefore = its.filter(({ draft }) =>
      quotesOf(draft).some((quote) => quote.network === network.id),
    );
    const idsOf = (some: readonly Attempt[]) => some.map(({ draft }) => draft.id);
    const asked = { invoiceIds: idsOf(its), heldBefore: idsOf(heldBefore) };
    const found = await marksOf(tx, network, asked, at);
    for (const attempt of its) {
      const mark = found.get(attempt.draft.id);
      if (mark !== undefined) marks.set(attempt, mark);
    }
  }
  return marks;
}

function groupByNetwork(attempts: readonly Attempt[]): ReadonlyMap<Network, readonly Attempt[]> {
  const groups = new Map<Network, Attempt[]>();
  for (const attempt of attempts) {
    const { network } = attempt.plan.terms;
    groups.set(network, [...(groups.get(network) ?? []), attempt]);
  }
  return groups;
}

/**
 * Puts a further option of an invoice at the address that it has on the option's network at the same wallet: its hold
 * there accepts any token until the end of the late window. Not at a recycled address, whose earlier invoice may have asked
 * for the amount of the option.
 */
async function shareOwnAddress(
  tx: Tx,
  { draft, plan, wallet }: Attempt,
  at: Instant,
): Promise<AddressedAmount | null> {
  const { kind } = plan.terms.network;
  const own = quotesOf(draft).find(
    ({ network, walletId, addressIndex }) =>
      network === wallet.network && walletId === wallet.id && addressIndex !== null,
  );
  const address = own === undefined ? null : kind.parseAddress(own.walletAddress);
  if (own === undefined || address?.ok !== true) return null;
  if (await hasFormer(tx, wallet.network, address.address, at)) return null;
  const { walletAddress, addressIndex } = own;
  return { payableAmount: plan.price, walletAddress, addressIndex };
}

/** Takes an address of its own for each invoice at one wallet with an extended key. */
async function takeOwnAddresses(
  tx: Tx,
  app: InTx,
  attempts: readonly Attempt[],
  termsOf: (attempt: Attempt) => HoldTerms,
  amounts: Map<Attempt, AddressedAmount>,
): Promise<void> {
  const [first] = attempts;
  if (first === undefined || first.wallet.xpub === null) return;
  const { xpub } = first.wallet;
  const { network } = first.plan.terms;
  const taken = await holdAddresses(
    tx,
    app,
    { ...first.wallet, xpub },
    network,
    attempts.map((attempt) => {
      const { terms, price } = attempt.plan;
      return { ...termsOf(attempt), token: terms.token.symbol, price };
    }),
    first.draft.startedAtLink === null ? "merchant" : "link",
  );
  for (const [index, derived] of taken.entries()) {
    const attempt = attempts[index];
    if (attempt === undefined) continue;
    amounts.set(attempt, {
      payableAmount: attempt.plan.price,
      walletAddress: network.kind.formatAddress(derived.address),
      addressIndex: derived.index,
    });
  }
}

/** Takes an amount for each invoice at a wallet with one address. */
async function takeAmounts(
  tx: Tx,
  app: InTx,
  attempts: readonly Attempt[],
  termsOf: (attempt: Attempt) => HoldTerms,
  taken: Map<Attempt, AddressedAmount>,
): Promise<void> {
  const asking = attempts.flatMap((attempt) => {
    const { plan, wallet } = attempt;
    const isFirst = wallet.id === plan.wallets[0]?.id;
    const search = isFirst
      ? plan.search
      : searchAt(app.randomBytes, wallet, plan.terms, plan.price);
    return search === null ? [] : [{ attempt, search }];
  });
  if (asking.length === 0) return;
  const amounts = await holdAmounts(
    tx,
    app,
    asking.map(({ attempt, search }) => ({
      ...termsOf(attempt),
      search,
      leastOf: (amount) => dueAmount(amount, attempt.plan.terms.tolerance),
    })),
  );
  for (const [index, { attempt, search }] of asking.entries()) {
    const payableAmount = amounts[index] ?? null;
    if (payableAmount === null) continue;
    const walletAddress = attempt.plan.terms.network.kind.formatAddress(search.address);
    taken.set(attempt, { payableAmount, walletAddress, addressIndex: null });
  }
}

function holdTerms(
  attempt: Attempt,
  marks: ReadonlyMap<Attempt, HoldMark>,
  at: Instant,
): HoldTerms {
  const { draft, lateUntil } = attempt;
  const mark = marks.get(attempt);
  if (mark === undefined) throw new Defect("a hold has no mark");
  return { invoiceId: draft.id, startsAt: at, endsAt: lateUntil, mark };
}

/** Returns a function that calls `ask` once for each key. */
function onceEach<K, T>(ask: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const asked = new Map<K, Promise<T>>();
  return (key) => {
    const known = asked.get(key) ?? ask(key);
    asked.set(key, known);
    return known;
  };
}
