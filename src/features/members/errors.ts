import { defineProblem } from "../../kernel/errors.ts";

export const EmailUnavailable = defineProblem({
  code: "email_unavailable",
  status: 409,
  title: "The e-mail address has an account",
});
