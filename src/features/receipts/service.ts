import { bind, type Bound } from "../../kernel/bind.ts";
import { second, type Clock } from "../../kernel/clock.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import type { CheckoutService } from "../checkout/service.ts";
import type { CheckoutSession } from "../checkout/present.ts";
import { NothingToPay, NotPaid } from "./errors.ts";
import type { ReceiptKeys } from "./keys.ts";
import {
  checkSigned,
  signClaims,
  type ClaimsOf,
  type KeySet,
  type SignatureFault,
  type SignedKind,
  type Verified,
} from "./signed-text.ts";

export interface SignedDocument<Kind extends SignedKind> {
  readonly jws: string;
  readonly claims: ClaimsOf<Kind>;
}

export type ReceiptService = Bound<typeof methods>;

interface Deps {
  readonly clock: Clock;
  readonly keys: ReceiptKeys;
  readonly checkout: Pick<CheckoutService, "session" | "confirmedSession">;
  /** Every network in the table. */
  readonly networks: ReadonlyMap<string, Network>;
  readonly baseUrl: () => string;
}

const methods = { receipt, paymentRequest, publishedKeys, rotateKey, check, isOver, basePath };

export function makeReceiptService(deps: Deps): ReceiptService {
  return bind(deps, methods);
}

/** Returns the signed receipt of a paid invoice. 404 if there is no such checkout, 409 `not_paid`. */
async function receipt(self: Deps, checkoutId: string): Promise<SignedDocument<"receipt">> {
  // Amounts on the page include payments that a reorganization may still remove; a signature stays.
  const session = await self.checkout.confirmedSession(checkoutId);
  const paid = session?.receipt ?? null;
  if (session === null || paid === null) {
    throw new NotPaid("A receipt exists once the invoice is paid and every payment is confirmed.");
  }
  const { invoice } = session;
  return signed(self, "receipt", {
    ...issued(self, session),
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
async function paymentRequest(
  self: Deps,
  checkoutId: string,
): Promise<SignedDocument<"payment_request">> {
  const session = await self.checkout.session(checkoutId);
  const { invoice } = session;
  const network = self.networks.get(invoice.network);
  // Without its network nothing is to be paid; the type does not know it.
  if (session.nextAction !== "pay" || network === undefined) {
    throw new NothingToPay(`The payment's state is ${session.state}.`);
  }
  const token = findToken(network, invoice.tokenSymbol);
  return signed(self, "payment_request", {
    ...issued(self, session),
    chainId: network.chainId,
    tokenContract: token === null ? null : network.kind.formatAddress(token.contract),
    remainingAmount: invoice.remainingAmount,
    expiresAt: invoice.expiresAt,
  });
}

/** Returns the public keys with which receipts and payment requests can be verified, the current one first. */
function publishedKeys(self: Deps): Promise<KeySet> {
  return self.keys.published();
}

/** Replaces the signing key. Documents that earlier keys signed stay valid. */
function rotateKey(self: Deps, context: WriteContext): Promise<KeySet> {
  return self.keys.rotate(context);
}

/** Returns the content of a document that this instance signed, or why it is refused. */
async function check(self: Deps, text: string): Promise<Verified | SignatureFault> {
  return checkSigned(text, await self.keys.published());
}

/** Whether a document is a payment request whose time is over. */
function isOver({ clock }: Deps, { kind, claims }: Verified): boolean {
  return kind === "payment_request" && Date.parse(claims.expiresAt) < clock.now();
}

/** Returns the path prefix of this instance, without a trailing slash. */
function basePath(self: Deps): string {
  return new URL(self.baseUrl()).pathname.replace(/\/$/, "");
}

function issued(self: Deps, session: CheckoutSession) {
  const { invoice } = session;
  return {
    iss: self.baseUrl(),
    iat: Math.floor(self.clock.now() / second),
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
  self: Deps,
  kind: Kind,
  claims: ClaimsOf<Kind>,
): Promise<SignedDocument<Kind>> {
  return { jws: await signClaims(await self.keys.current(), kind, claims), claims };
}
