import { defineProblem } from "../../kernel/errors.ts";

export const NoSuchPair = defineProblem({
  code: "no_such_pair",
  status: 404,
  title: "Unknown currency pair",
});
export const NothingToAccept = defineProblem({
  code: "nothing_to_accept",
  status: 409,
  title: "The pair has no pending rate",
});
export const RatesIncomplete = defineProblem({
  code: "rates_incomplete",
  status: 503,
  title: "Some rates are unavailable",
});
