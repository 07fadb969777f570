import { defineProblem } from "../../kernel/errors.ts";

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

export const SignatureRefused = defineProblem({
  code: "signature_refused",
  status: 422,
  title: "The document cannot be verified",
});
