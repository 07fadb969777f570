import { defineProblem } from "../../kernel/errors.ts";

export const TooManyBuckets = defineProblem({
  code: "too_many_buckets",
  status: 422,
  title: "The chart would have too many points",
  remedy: "Choose a shorter period or a longer interval.",
});
