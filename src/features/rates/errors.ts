import { defineProblem } from "../../kernel/errors.ts";

export const NoSuchPair = defineProblem({
  code: "no_such_pair",
  status: 404,
  title: "There is no such pair of currencies",
});
export const NothingToAccept = defineProblem({
  code: "nothing_to_accept",
  status: 409,
  title: "No rate of the pair waits to be confirmed",
});
export const RatesIncomplete = defineProblem({
  code: "rates_incomplete",
  status: 503,
  title: "Some rates could not be had",
});
