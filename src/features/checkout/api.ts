import { publicAccess } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import { TooManyClaims } from "../payments/errors.ts";
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
  WalletCapacityExhausted,
} from "../invoices/errors.ts";
import {
  NotFromPaymentPage,
  NotRefundable,
  RefundAddressRefused,
  RefundTooEarly,
  TooManyRefundRequests,
} from "../refunds/errors.ts";
import { rejectedRequestsMax } from "../refunds/rules.ts";
import {
  chooseCheckoutOption,
  getCheckoutSession,
  requestCheckoutRefund,
  submitCheckoutTransaction,
} from "./checkouts.ts";
import { checkoutPages } from "./pages.ts";
import { prunePayerActs } from "./payer-limits.ts";
import {
  CheckoutSessionRecord,
  ChooseOptionRequest,
  RequestRefundRequest,
  SubmitTransactionRequest,
} from "./records.ts";
import type { CheckoutSession } from "./session.ts";

export const checkoutOperations = [
  operation({
    id: "getCheckoutSession",
    group: "Checkout",
    method: "GET",
    path: "/checkout/{checkoutId}",
    summary: "Get the payer's view of an invoice",
    description:
      "The checkout id cannot be guessed and serves as the credential. The response is current. Poll with `If-None-Match` to save traffic.",
    access: publicAccess,
    response: { status: 200, record: CheckoutSessionRecord },
    errors: [],
    limit: "checkout",
    handle: (app, call) => getCheckoutSession(app, call.params.checkoutId),
    present: (session: CheckoutSession) => session,
  }),
  operation({
    id: "submitCheckoutTransaction",
    group: "Checkout",
    method: "POST",
    path: "/checkout/{checkoutId}/transactions",
    summary: "Submit the transaction that paid an invoice",
    description:
      "For a payment that was not detected automatically. The transaction is read from its network later; what matches by the usual rules is counted, anything else waits for the merchant's decision.",
    access: publicAccess,
    request: { body: SubmitTransactionRequest },
    response: { status: 202, record: CheckoutSessionRecord },
    errors: [TooManyClaims],
    limit: "submit",
    handle: (app, call) =>
      submitCheckoutTransaction(
        app,
        call.context,
        call.params.checkoutId,
        call.body.transactionHash,
      ),
    present: (session: CheckoutSession) => session,
  }),
  operation({
    id: "requestCheckoutRefund",
    group: "Checkout",
    method: "POST",
    path: "/checkout/{checkoutId}/refund",
    summary: "Ask for a refund of what an invoice does not need",
    description: `For overpaid, double, late and partial payments, and payments of a canceled invoice; \`refundable\` of the session has the hash to give. The merchant decides, and sends the refund. While a refund of the payment is open, further requests change nothing and return the session with that refund. After the merchant has rejected ${String(rejectedRequestsMax)} requests for a payment, further ones are refused, and only the merchant can record its refund. Only the form on the payment's page has the \`pageToken\`: whoever knows nothing but the id of the checkout cannot name where money goes.`,
    access: publicAccess,
    request: { body: RequestRefundRequest },
    response: { status: 202, record: CheckoutSessionRecord },
    errors: [
      NotFromPaymentPage,
      NotRefundable,
      RefundTooEarly,
      TooManyRefundRequests,
      RefundAddressRefused,
    ],
    limit: "submit",
    handle: (app, call) =>
      requestCheckoutRefund(app, call.context, call.params.checkoutId, call.body),
    present: ({ session }: Awaited<ReturnType<typeof requestCheckoutRefund>>) => session,
  }),
  operation({
    id: "chooseCheckoutOption",
    group: "Checkout",
    method: "POST",
    path: "/checkout/{checkoutId}/option",
    summary: "Choose the token and network in which an invoice is paid",
    description:
      "Puts one of the session's `options` in force. An option that is chosen for the first time gets the current rate, which is then locked until the deadline. Addresses and amounts that were shown before can still be paid, each at the rate that was locked for it. Choosing the option in force changes nothing.",
    access: publicAccess,
    request: { body: ChooseOptionRequest },
    response: { status: 200, record: CheckoutSessionRecord },
    errors: [
      OptionNotOffered,
      OptionLimitReached,
      InvoiceNotOpen,
      NetworkNotEnabled,
      TokenNotEnabled,
      AmountTooSmall,
      NoDefaultWallet,
      NoWallet,
      WalletCapacityExhausted,
      RateUnavailable,
      NetworkNotReady,
    ],
    limit: "submit",
    handle: (app, call) =>
      chooseCheckoutOption(app, call.context, call.params.checkoutId, call.body),
    present: (session: CheckoutSession) => session,
  }),
];

export const checkoutModule: FeatureModule = {
  operations: checkoutOperations,
  pages: checkoutPages,
  prunings: { "prune payer acts": prunePayerActs },
};
