import { defineProblem } from "../../kernel/errors.ts";

export const NotPaid = defineProblem({
  code: "not_paid",
  status: 409,
  title: "The invoice is not paid",
});

export const NothingToPay = defineProblem({
  code: "nothing_to_pay",
  status: 409,
  title: "Nothing should be paid now",
});

export const SignatureRefused = defineProblem({
  code: "signature_refused",
  status: 422,
  title: "The document cannot be verified",
});
