import type { App } from "../../app.ts";
import { second } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { findToken } from "../../platform/chain/networks.ts";
import { getCheckoutSession, getConfirmedSession } from "../checkout/checkouts.ts";
import type { CheckoutSession } from "../checkout/session.ts";
import { currentReceiptKey } from "./keys.ts";
import { signClaims, type ClaimsOf, type SignedKind } from "./signed-text.ts";

export const NotPaid = defineProblem({
  code: "not_paid",
  status: 409,
  title: "The invoice is not paid",
  remedy: "Ask again after `invoice.paid`: a receipt exists once every payment is confirmed.",
});

export const NothingToPay = defineProblem({
  code: "nothing_to_pay",
  status: 409,
  title: "Nothing should be paid now",
  remedy: "Read the checkout session: in its state nobody should send money.",
});

export interface SignedDocument<Kind extends SignedKind> {
  readonly jws: string;
  readonly claims: ClaimsOf<Kind>;
}

/** Returns the signed receipt of a paid invoice. 404 if there is no such checkout, 409 `not_paid`. */
export async function signReceipt(
  app: App,
  checkoutId: string,
): Promise<SignedDocument<"receipt">> {
  // Amounts on the page include payments that a reorganization may still remove; a signature stays.
  const session = await getConfirmedSession(app, checkoutId);
  const paid = session?.receipt ?? null;
  if (session === null || paid === null) {
    throw new NotPaid("A receipt exists once the invoice is paid and every payment is confirmed.");
  }
  const { invoice } = session;
  return signed(app, "receipt", {
    ...issued(app, session),
    description: invoice.description,
    externalId: invoice.externalId,
    merchantWebsite: session.merchantWebsite,
    merchantContactEmail: session.merchantContactEmail,
    amount: paid.amount,
    paidAmount: paid.paidAmount,
    settlementCurrency: paid.settlementCurrency,
    receivedAmount: invoice.receivedAmount,
    paidAt: paid.paidAt,
    transactionHashes: paid.transactionHashes,
  });
}

/**
 * Returns the address and the amount that a payer is asked for, signed. 404 if there is no such checkout, 409
 * `nothing_to_pay`.
 */
export async function signPaymentRequest(
  app: App,
  checkoutId: string,
): Promise<SignedDocument<"payment_request">> {
  const session = await getCheckoutSession(app, checkoutId);
  const { invoice } = session;
  const network = app.networks.known.get(invoice.network);
  // Without its network nothing is to be paid; the type does not know it.
  if (session.nextAction !== "pay" || network === undefined) {
    throw new NothingToPay(`The payment's state is ${session.state}.`);
  }
  const token = findToken(network, invoice.tokenSymbol);
  return signed(app, "payment_request", {
    ...issued(app, session),
    chainId: network.chainId,
    tokenContract: token === null ? null : network.kind.formatAddress(token.contract),
    remainingAmount: invoice.remainingAmount,
    expiresAt: invoice.expiresAt,
  });
}

function issued({ baseUrl, clock }: App, session: CheckoutSession) {
  const { invoice } = session;
  return {
    iss: baseUrl(),
    iat: Math.floor(clock.now() / second),
    checkoutId: session.id,
    invoiceId: invoice.id,
    reference: invoice.reference,
    merchantDisplayName: session.merchantDisplayName,
    network: invoice.network,
    tokenSymbol: invoice.tokenSymbol,
    walletAddress: invoice.walletAddress,
    isTest: session.isTest,
  };
}

async function signed<Kind extends SignedKind>(
  app: App,
  kind: Kind,
  claims: ClaimsOf<Kind>,
): Promise<SignedDocument<Kind>> {
  return { jws: await signClaims(await currentReceiptKey(app), kind, claims), claims };
}
