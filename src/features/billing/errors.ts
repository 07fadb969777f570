import { defineProblem } from "../../kernel/errors.ts";

export const CurrencyNotBilled = defineProblem({
  code: "currency_not_billed",
  status: 422,
  title: "Billing knows no such currency",
});
export const DiscountCurrencyMismatch = defineProblem({
  code: "discount_currency_mismatch",
  status: 422,
  title: "A fixed discount has a currency, a percentage has none",
});
export const BillingAmountTooLarge = defineProblem({
  code: "billing_amount_too_large",
  status: 422,
  title: "The amount is too large",
});
export const ReceiveWalletUnusable = defineProblem({
  code: "receive_wallet_unusable",
  status: 422,
  title: "The platform cannot be paid at this wallet",
});
