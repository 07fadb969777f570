import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, notFound, Problem } from "../../../kernel/errors.ts";
import { findToken } from "../../../platform/chain/networks.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { isSameOption, type PaymentOption } from "../../organizations/checkout-policy.ts";
import { NetworkNotEnabled } from "../../wallets/rules.ts";
import {
  AmountTooSmall,
  InvoiceNotOpen,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  OptionLimitReached,
  OptionNotOffered,
  RateUnavailable,
  TokenNotEnabled,
  UnsupportedCurrency,
  WalletCapacityExhausted,
} from "../errors.ts";
import { announceChoice } from "../issuing/announce.ts";
import { issueInvoices } from "../issuing/issue.ts";
import { unlimited } from "../hooks.ts";
import { planIssue, readOffer } from "../issuing/plan.ts";
import { viewOf } from "../records.ts";
import { remainingAmount } from "../settlement/remaining.ts";
import { optionColumns, type InvoiceRow } from "../store.ts";
import { invoices } from "../table.ts";
import { formatMoney, money, settlementAsset } from "../../../kernel/money/money.ts";
import { putInForce } from "../settlement/terms-to-pay.ts";
import { optionsOf, quotesMax, quotesOf, type Quote } from "./quotes.ts";

/** An option as the payer names it. */
export type ChosenOption = Pick<PaymentOption, "network" | "tokenSymbol">;

/**
 * Puts another option of an invoice in force, for its payer. An option that is chosen for the first time gets a hold and
 * the current rate; one that was chosen before has kept both, until the invoice's deadline (docs/decisions/0042). Choosing
 * the option in force changes nothing and returns false. 404 for an unknown checkout; 409 `invoice_not_open`, `option_limit_reached`,
 * `no_default_wallet`, `wallet_capacity_exhausted`; 422 `option_not_offered`, `network_not_enabled`, `token_not_enabled`, `no_wallet`; 503
 * `rate_unavailable`, `network_not_ready`.
 */
export async function chooseOption(
  tx: Tx,
  app: InTx,
  at: Instant,
  checkoutId: string,
  chosen: ChosenOption,
): Promise<boolean> {
  const before = await tx.lockOne(invoices, "WHERE checkout_id = $1", [checkoutId]);
  if (before === null) throw notFound();
  const option = optionsOf(before).find((each) => isSameOption(each, chosen));
  if (option === undefined) {
    throw new OptionNotOffered(
      "The merchant does not offer this token on this network. Read the checkout again, and choose one of its options.",
    );
  }
  if (isSameOption(option, before)) return false;
  requireOpen(before, at);
  const quote = await quoteOf(tx, app, before, option, at);
  const current = putInForce(before, quote);
  const after: InvoiceRow = {
    ...current,
    remainingAmount: await remainingAmount(tx, app, at, current, current),
    version: before.version + 1,
    updatedAt: at,
  };
  const { version, updatedAt } = after;
  const set = { ...optionColumns(after), version, updatedAt };
  await tx.update(invoices, set, "WHERE id = $1", [after.id]);
  const tipHeight = (await networkState(tx, after.network))?.tipHeight ?? null;
  const [shownBefore, shown] = [before, after].map((row) => viewOf(row, app.baseUrl(), tipHeight));
  assert(shownBefore !== undefined && shown !== undefined, "two rows have two views");
  await announceChoice(tx, app, at, { before: shownBefore, after: shown });
  return true;
}

function requireOpen({ status, expiresAt }: InvoiceRow, at: Instant): void {
  const isOpen = status === "open" || status === "partially_paid";
  if (isOpen && expiresAt !== null && at < expiresAt) return;
  throw new InvoiceNotOpen(
    "The way to pay can be changed only while the invoice is open. Read the checkout to see its state.",
  );
}

/** Returns the rate and the hold that an option has, or takes them. */
async function quoteOf(
  tx: Tx,
  app: InTx,
  row: InvoiceRow,
  option: PaymentOption,
  at: Instant,
): Promise<Quote> {
  const quotes = quotesOf(row);
  const known = quotes.find((each) => isSameOption(each, option));
  if (known === undefined && quotes.length >= quotesMax) {
    throw new OptionLimitReached(
      `At most ${String(quotesMax)} options of an invoice can be chosen. Choose one of those that were chosen before.`,
    );
  }
  try {
    await requireEnabled(tx, app, option);
    return known ?? (await takeQuote(tx, app, row, option, at));
  } catch (error) {
    throw forPayer(error);
  }
}

/** Throws if the option's network or token has been disabled since the invoice was issued. */
async function requireEnabled(
  tx: Tx,
  app: InTx,
  { network: id, tokenSymbol }: PaymentOption,
): Promise<void> {
  const network = app.networks.enabled.get(id);
  if (network === undefined) throw new NetworkNotEnabled(unavailable);
  const state = await networkState(tx, id);
  const isDisabled = state?.disabledTokens.includes(tokenSymbol) === true;
  if (isDisabled || findToken(network, tokenSymbol) === null)
    throw new TokenNotEnabled(unavailable);
}

/** Freezes the rate of an option, and takes its hold. */
async function takeQuote(
  tx: Tx,
  app: InTx,
  row: InvoiceRow,
  { network, tokenSymbol, walletId }: PaymentOption,
  at: Instant,
): Promise<Quote> {
  const asset = settlementAsset(row.settlementCurrency, row.settlementDecimals);
  const terms = readOffer(app, {
    network,
    tokenSymbol,
    walletId,
    amount: formatMoney(money(row.amount, asset)),
    settlementCurrency: row.settlementCurrency,
    underpaymentTolerance: row.underpaymentTolerance,
    enteredAtLink: row.enteredAtLink,
  });
  // The invoice was issued and counted before: only its payer decides here.
  const planned = await planIssue(tx, app, unlimited, row.organizationId, terms, walletId, at);
  // The redirect of an issued invoice stays valid if the merchant allows other origins later.
  const plan = { ...planned, allowedOrigins: [] };
  const [issued] = await issueInvoices(tx, app, at, [{ draft: row, plan }]);
  if (issued === undefined || issued instanceof Problem) throw issued ?? notFound();
  const { payableAmount, walletAddress, exchangeRate, dustAmount } = issued;
  return {
    network,
    tokenSymbol,
    payableAmount,
    walletAddress,
    exchangeRate,
    dustAmount,
    tokenDecimals: terms.token.decimals,
    requiredConfirmations: issued.requiredConfirmations,
    walletId: issued.walletId,
    addressIndex: issued.addressIndex,
    askedAmount: null,
    remainingAmount: payableAmount,
    remainingAfter: 0n,
    seen: 0n,
    confirmed: 0n,
    latestBlock: null,
  };
}

const unavailable = "This way to pay is not available now. Choose another one.";

/** The problems of an option, which speak to merchants where they are thrown. */
const optionProblems = [
  AmountTooSmall,
  NetworkNotEnabled,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  RateUnavailable,
  TokenNotEnabled,
  WalletCapacityExhausted,
] as const;

function forPayer(error: unknown): unknown {
  // The operator has removed the pair that led from the currency to the token.
  if (error instanceof UnsupportedCurrency) return new TokenNotEnabled(unavailable);
  const Known = optionProblems.find((each) => error instanceof each);
  if (Known === undefined || !(error instanceof Problem)) return error;
  const { retryAfterSeconds } = error;
  return new Known(unavailable, retryAfterSeconds === null ? {} : { retryAfterSeconds });
}
